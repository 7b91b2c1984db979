// Generated from the Rust types by a test of the crate `dashboard`: UPDATE_SNAPSHOTS=1 writes it.

export type LiveCall = { session: string, client: string, client_name: string, project: string | null, is_subagent: boolean, 
/**
 * The number of this event in its session.
 */
event: number, at: number | null, 
/**
 * Of a result, the number of its call's event, where that is known.
 */
of: number | null, is_result: boolean, failed: boolean, tool: string | null, argument: string | null, };

export type LiveMessage = { "type": "hello", server: string, at: number, 
/**
 * The number of the last event of agents; none where agents are not served.
 */
events_last: number | null, } | { "type": "call" } & LiveCall | { "type": "session" } & NowSession | { "type": "gap" };

export type NowActivity = "call" | "question" | "thinking" | "message" | "interrupted" | "command";

export type NowAgent = { id: string, type: string, status: string, task: string, 
/**
 * The name of its repository's folder.
 */
repository: string | null, 
/**
 * How often its work was reviewed.
 */
reviews: number, pull_request: number | null, since: number, };

export type NowClient = { 
/**
 * As users name it on the command line.
 */
name: string, display_name: string, is_installed: boolean, is_connected: boolean, 
/**
 * The command that connects it.
 */
command: string, };

export type NowClientReach = { name: string, display_name: string, verdict: NowVerdict, 
/**
 * Sessions that were replayed.
 */
sessions: number, tokens_read: number, 
/**
 * What its hooks or a gateway would save of all tokens read, whichever saves more; -1 to 1.
 */
net_share: number, };

export type NowContext = { tokens: number, 
/**
 * The model's window, where it is known.
 */
window: number | null, 
/**
 * The largest known window, if the request was larger: the model's window is larger too.
 */
above: number | null, };

export type NowDoing = { activity: NowActivity, tool: string | null, 
/**
 * What the call is about: a path, a command, a question; of a message, its beginning.
 */
text: string | null, 
/**
 * The number of its event.
 */
event: number | null, 
/**
 * Calls without a result, this one included.
 */
open_calls: number, };

export type NowFigures = { 
/**
 * When they were computed; none before the first time.
 */
at: number | null, 
/**
 * When the reader's day began.
 */
since: number, 
/**
 * Whether newer ones are on their way.
 */
is_computing: boolean, spent: NowSpent | null, saved_today: NowSaved | null, saved_total: NowSaved | null, 
/**
 * How far back the total goes.
 */
total_days: number, problem: string | null, };

export type NowPhase = { from: number, state: NowState, };

export type NowReach = { 
/**
 * When it was measured; none before the first time.
 */
at: number | null, is_computing: boolean, problem: string | null, clients: Array<NowClientReach>, };

export type NowSaved = { net_tokens: number, net_usd: number | null, unpriced: Array<string>, results_cut: number, recoveries: number, rereads: number, 
/**
 * Prunes that are in no log, so that it is not known how many requests carried them: in no other figure.
 */
unlinked_prunes: number, 
/**
 * What these cut, once each.
 */
unlinked_tokens: number, };

export type NowSession = { id: string, short_id: string, client: string, client_name: string, 
/**
 * The name of its folder.
 */
project: string | null, path: string | null, 
/**
 * What it is about: its title, or the first prompt.
 */
title: string | null, doing: NowDoing, phases: Array<NowPhase>, context: NowContext | null, 
/**
 * Of the latest request.
 */
model: string | null, 
/**
 * Its own and its subagents', each request once.
 */
tokens: number, 
/**
 * What these cost, as far as the models have prices; none if none has.
 */
usd: number | null, 
/**
 * Models without a price.
 */
unpriced: Array<string>, subagents: number, 
/**
 * Its own and its subagents'.
 */
calls: number, failed_calls: number, started: number | null, last_activity: number, };

export type NowSpent = { tokens: number, requests: number, 
/**
 * As far as the models have prices; none if none has.
 */
usd: number | null, unpriced: Array<string>, };

export type NowStart = { clients: Array<NowClient>, reach: NowReach, };

export type NowState = "working" | "waiting" | "maybe_waiting" | "idle";

export type NowVerdict = "worth_it" | "not_worth_it" | "too_little_to_tell";

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

export type PageConfidence = "low" | "medium" | "high";

export type PageContextPoint = { event: number, at: number | null, 
/**
 * Tokens that the model read.
 */
context: number, 
/**
 * Of these, from the cache.
 */
cached: number, output: number, };

export type PageCut = { 
/**
 * 1-based, inclusive.
 */
from: number, to: number, cause: PageCutCause, 
/**
 * The definition, section or earlier result that it belongs to, where that is known.
 */
place: string | null, };

export type PageCutCause = "repetitions" | "tests" | "header" | "comments" | "unrelated" | "less_relevant" | "already_shown";

export type PageCutReason = { cause: PageCutCause, place: string | null, };

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

export type PageFinding = { summary: string, key_findings: Array<string>, 
/**
 * `path`, `path:line`, `path:first-last`. They are names of files, and passed back as they are.
 */
references: Array<string>, confidence: PageConfidence, notes: Array<string>, };

export type PageHandoff = { name: string, path: string, written: number | null, question: string, summary: string, key_findings: Array<string>, references: Array<PageHandoffReference>, constraints: Array<string>, notes: string | null, };

export type PageHandoffReference = { reference: string, state: PageReferenceState, };

export type PageHandoffRow = { name: string, question: string, written: number | null, references: number, };

export type PageInsight = { 
/**
 * `critical`, `warning` or `info`.
 */
severity: string, lens: string, message: string, turn: number, event: number, };

export type PageNow = { 
/**
 * The server's time.
 */
at: number, machine: string, hours: number, 
/**
 * The last active first, subagents with their parents.
 */
sessions: Array<NowSession>, 
/**
 * Whether there are more than are listed.
 */
has_more: boolean, 
/**
 * Whether there is any session, however old.
 */
has_history: boolean, 
/**
 * Whether logs are still being read for the first time.
 */
is_indexing: boolean, agents: Array<NowAgent>, figures: NowFigures, };

export type PageOriginalLines = { 
/**
 * The number of the first line.
 */
from: number, lines: Array<string>, 
/**
 * The lines of the whole text; none if it is too large to be counted.
 */
total: number | null, };

export type PagePrune = { id: string, at: number, tool: string, door: string, client: string | null, session: string | null, project: string | null, model: string | null, kind: string, 
/**
 * Counted with the empty line after a last newline.
 */
lines_before: number, lines_after: number, tokens_before: number, tokens_after: number, 
/**
 * Of those after, the markers, where they were counted.
 */
marker_tokens: number | null, elapsed_us: number, 
/**
 * Why nothing was cut, where that is a problem.
 */
fallback: string | null, recoveries: number, recovered_tokens: number, 
/**
 * Whether the original can still be recovered.
 */
is_kept: boolean, 
/**
 * While the original is kept.
 */
goal: string | null, };

export type PagePruneDetails = { id: string, 
/**
 * The calls that got this id, the latest first. None if the ledger no longer has them.
 */
calls: Array<PagePrune>, is_kept: boolean, goal: string | null, 
/**
 * None: not known.
 */
cuts: Array<PageCut> | null, 
/**
 * Whether the cuts were worked out again, because they were not recorded.
 */
is_repeated: boolean, recoveries: Array<PageRecovery>, };

export type PagePruneList = { total: number, rows: Array<PagePrune>, };

export type PagePruneOutcome = "any" | "cut" | "whole" | "recovered";

export type PagePruneSpan = { at: number, tokens_before: number, tokens_after: number, };

export type PagePruneSummary = { calls: number, cut_calls: number, fallbacks: number, lines_before: number, lines_after: number, tokens_before: number, tokens_after: number, recoveries: number, recovered_tokens: number, clients: Array<string>, tools: Array<string>, 
/**
 * The course over time.
 */
spans: Array<PagePruneSpan>, 
/**
 * Why rows of the ledger are missing, if that is known.
 */
problem: string | null, };

export type PageRecovery = { at: number, tool: string, door: string, client: string | null, session: string | null, 
/**
 * 1-based, inclusive. None: not recorded.
 */
ranges: Array<[number, number]> | null, lines: number, tokens: number, };

export type PageReferenceLines = { path: string, 
/**
 * The number of the first line.
 */
from: number, lines: Array<string>, 
/**
 * The lines that the reference names.
 */
named: [number, number] | null, 
/**
 * The lines of the file.
 */
total: number, };

export type PageReferenceState = "unchanged" | "changed" | "line_gone" | "missing";

export type PageReport = { question: string, roots: Array<string>, 
/**
 * What all roles found out together; none if one role was asked.
 */
synthesis: PageFinding | null, roles: Array<PageRoleOutcome>, keywords: Array<string>, models: Array<string>, files_scanned: number, files_read: number, elapsed_ms: number, 
/**
 * What is missing, and why.
 */
partial: Array<string>, 
/**
 * The name of the memo.
 */
memo: string | null, };

export type PageResearch = { 
/**
 * Paths, which requests pass back.
 */
roots: Array<string>, 
/**
 * The folder of memos and handoffs.
 */
folder: string, 
/**
 * The latest first.
 */
handoffs: Array<PageHandoffRow>, };

export type PageResearchEvent = { "type": "progress", done: number, total: number, step: PageResearchStep, role: string | null, message: string, } | { "type": "report", report: PageReport, } | { "type": "failed", message: string, hint: string | null, };

export type PageResearchStep = "role_began" | "role_ended" | "composing" | "writing";

export type PageRoleOutcome = { role: string, finding: PageFinding | null, error: string | null, elapsed_ms: number, };

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

export type PageTrial = { kind: string, lines: number, tokens_before: number, 
/**
 * Milliseconds for one threshold, which is what a prune takes.
 */
elapsed_ms: number, 
/**
 * How likely each line is needed, in percent.
 */
scores: Array<number>, 
/**
 * What cuts refer to.
 */
reasons: Array<PageCutReason>, 
/**
 * By rising threshold.
 */
results: Array<PageTrialResult>, 
/**
 * Which of them has the threshold of callers that do not choose one.
 */
default_result: number, };

export type PageTrialResult = { threshold: number, 
/**
 * First line, last line, and the index of the reason.
 */
cuts: Array<[number, number, number]>, tokens_after: number, };

export type PageTurn = { number: number, first_event: number, events: number, at: number | null, ended: number | null, prompt: string, steps: number, tool_calls: number, failed: number, tools: Array<string>, tokens: number, largest_context: number, };
