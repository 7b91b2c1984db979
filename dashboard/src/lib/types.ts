// Generated from the Rust types by a test of the crate `dashboard`: UPDATE_SNAPSHOTS=1 writes it.

export type PageComparedSession = { row: PageSessionRow, messages: number, requests: number, tokens: PageSessionTokens, largest_context: number, compactions: number, 
/**
 * Of 100.
 */
score: number, };

export type PageComparedTool = { name: string, calls: [number, number], failed: [number, number], result_bytes: [number, number], };

export type PageComparison = { sides: [PageComparedSession, PageComparedSession], 
/**
 * Those that were used most differently first.
 */
tools: Array<PageComparedTool>, };

export type PageContextPoint = { event: number, at: number | null, 
/**
 * Tokens that the model read.
 */
context: number, 
/**
 * Of these, from the cache.
 */
cached: number, output: number, };

export type PageDeduction = { lens: string, what: string, count: number, points: number, };

export type PageEvent = { row: PageEventRow, 
/**
 * A message, a result, or JSON.
 */
text: string, 
/**
 * Whether the text is JSON: the arguments of a call, a report of tokens.
 */
is_json: boolean, 
/**
 * Bytes at its end that are left out.
 */
left_out: number, };

export type PageEventKind = "user" | "command" | "message" | "reasoning" | "call" | "result" | "usage" | "notification" | "compaction" | "summary";

export type PageEventList = { 
/**
 * Events of the whole session.
 */
total: number, rows: Array<PageEventRow>, };

export type PageEventRow = { number: number, at: number | null, kind: PageEventKind, 
/**
 * `main`, `sidechain` or `subagent`.
 */
stream: string, 
/**
 * The tool that was called, or whose result it is.
 */
tool: string | null, 
/**
 * The beginning of its text, or what a call is about.
 */
preview: string, failed: boolean, 
/**
 * Its size in the log.
 */
bytes: number, 
/**
 * Of a call, or of the call whose result it is.
 */
duration: number | null, 
/**
 * The result of a call, or the call of a result.
 */
partner: number | null, 
/**
 * Tokens that were read for a request and written, of a report of tokens.
 */
context: number | null, output: number | null, };

export type PageInsight = { 
/**
 * `critical`, `warning` or `info`.
 */
severity: string, lens: string, message: string, turn: number, event: number, };

export type PageSearchMatch = { session: string, event: number, at: number | null, kind: PageEventKind, stream: string, failed: boolean, tool: string | null, excerpt: string, 
/**
 * Where the query is in the excerpt: starts and ends, in UTF-16 units.
 */
marks: Array<[number, number]>, };

export type PageSearchResults = { matches: Array<PageSearchMatch>, 
/**
 * The sessions of the matches.
 */
sessions: Array<PageSearchSession>, 
/**
 * Continues after the last match; none when there is no more.
 */
next: string | null, 
/**
 * Whether the search ended at its time limit, with what was found until then.
 */
ended_early: boolean, millis: number, };

export type PageSearchSession = { id: string, client_name: string, root: string | null, title: string | null, started: number | null, ended: number | null, relation: string | null, };

export type PageSession = { 
/**
 * Tokens and money include its subagents'.
 */
row: PageSessionRow, 
/**
 * Enough of the id for a command.
 */
short_id: string, 
/**
 * The version of the client.
 */
version: string | null, 
/**
 * The kind of subagent.
 */
agent: string | null, 
/**
 * `subagent` or `fork` of the session above it.
 */
relation: string | null, parent: PageSessionParent | null, messages: number, requests: number, 
/**
 * What it used, its subagents included.
 */
tokens: PageSessionTokens, 
/**
 * What it used itself.
 */
own_tokens: number, 
/**
 * The dates of the prices.
 */
price_dates: Array<string>, models: Array<PageSessionModel>, tools: Array<PageSessionTool>, 
/**
 * Its subagents and forks.
 */
subagents: Array<PageSubagent>, turns: Array<PageTurn>, };

export type PageSessionAnalysis = { 
/**
 * 100, less the points of all deductions.
 */
score: number, deductions: Array<PageDeduction>, 
/**
 * The most severe first.
 */
insights: Array<PageInsight>, insights_left_out: number, declined: number, largest_context: number, compactions: number, 
/**
 * Output in a thousand tokens.
 */
output_per_mille: number, };

export type PageSessionClient = { id: string, name: string, sessions: number, };

export type PageSessionFilters = { clients: Array<PageSessionClient>, 
/**
 * The latest first.
 */
projects: Array<PageSessionProject>, 
/**
 * Where logs are searched.
 */
places: Array<string>, };

export type PageSessionList = { 
/**
 * Sessions in the whole list.
 */
total: number, rows: Array<PageSessionRow>, 
/**
 * The logs are being read for the first time: more will come.
 */
is_indexing: boolean, };

export type PageSessionModel = { 
/**
 * Empty when the log does not say.
 */
model: string, requests: number, tokens: PageSessionTokens, 
/**
 * None when the price is not known.
 */
usd: number | null, };

export type PageSessionOutline = { 
/**
 * One letter for each event: `u` prompt, `s` slash command, `m` message, `r` reasoning, `c` call, `f` call that failed,
 * `o` result, `x` result of a failure, `t` tokens, `n` notification, `p` compaction, `y` summary. Capital in a side conversation.
 */
kinds: string, 
/**
 * How full the context was at each request, or at those that show its course best.
 */
growth: Array<PageContextPoint>, requests: number, 
/**
 * Events at which the context was compacted.
 */
compactions: Array<number>, };

export type PageSessionParent = { id: string, title: string | null, };

export type PageSessionProject = { hash: string, root: string | null, sessions: number, };

export type PageSessionRow = { id: string, 
/**
 * The client's id: `claude_code`.
 */
client: string, client_name: string, 
/**
 * The hash of the project; none when the log does not say where it was.
 */
project: string | null, root: string | null, title: string | null, 
/**
 * The beginning of the first prompt.
 */
prompt: string | null, started: number | null, ended: number | null, turns: number, events: number, tool_calls: number, failed: number, tokens: number, 
/**
 * None when the price is not known.
 */
usd: number | null, 
/**
 * Tokens whose price is not known.
 */
unpriced: number, subagents: number, model: string | null, };

export type PageSessionTokens = { input: number, cache_read: number, cache_creation: number, output: number, reasoning: number, total: number, };

export type PageSessionTool = { name: string, calls: number, failed: number, result_bytes: number, };

export type PageStatus = { version: string, 
/**
 * The name of the machine.
 */
machine: string, started: number, };

export type PageSubagent = { row: PageSessionRow, agent: string | null, relation: string | null, };

export type PageTurn = { number: number, first_event: number, events: number, at: number | null, ended: number | null, prompt: string, steps: number, tool_calls: number, failed: number, tools: Array<string>, tokens: number, largest_context: number, };
