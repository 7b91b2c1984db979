// Generated from the Rust types by a test of the crate `dashboard`: UPDATE_SNAPSHOTS=1 writes it.

export type AgentState = "working" | "in_review" | "pull_request" | "ended";

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
events_last: number | null, } | { "type": "call" } & LiveCall | { "type": "session" } & NowSession | { "type": "prune" } | { "type": "gap" };

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

export type PageAbandon = { 
/**
 * Files with changes that no commit has.
 */
uncommitted: number, 
/**
 * The first of them.
 */
uncommitted_paths: Array<string>, 
/**
 * Commits that no remote and no branch of the user's has.
 */
unpushed: number, 
/**
 * Whatever else is nowhere else, in words.
 */
others: Array<string>, worktree_stays: boolean, branch_stays: boolean, 
/**
 * Files and folders that git ignores, which go with the worktree and into no reference.
 */
ignored: number, ignored_paths: Array<string>, 
/**
 * The reference from which what is removed can be restored.
 */
undo: string, 
/**
 * A reviewer that ends with it.
 */
reviewer: string | null, };

export type PageAgent = { agent: PageInstance, 
/**
 * The reviews of its work, first to last; for a reviewer, those of the agent that it reviews.
 */
reviews: Array<PageReview>, 
/**
 * Feedback to it, or by it, first to last.
 */
feedback: Array<PageFeedback>, 
/**
 * For a reviewer: the agent that it reviews.
 */
coding: PageInstance | null, used: PageReviewUse, limits: PageReviewLimits, coordination: PageCoordination, 
/**
 * The command that attaches a terminal, while its agent should be running.
 */
attach: string | null, };

export type PageAgentCounts = { working: number, in_review: number, pull_request: number, ended: number, };

export type PageAgentEvent = { seq: number, at: number, kind: 'instance_created' | 'status_changed' | 'tool_called' | 'repaired' | 'config_changed', tool: string | null, success: boolean | null, before: string | null, after: string | null, commit: string | null, error: string | null, details: Array<PageEventDetail>, };

export type PageAgentEvents = { events: Array<PageAgentEvent>, 
/**
 * Pass it as `before` for the events before these. None: there are none.
 */
before: number | null, };

export type PageAgentLog = { 
/**
 * The screen of its session, or the log that was kept.
 */
source: 'screen' | 'log' | 'none', text: string, 
/**
 * There is more before it.
 */
is_cut: boolean, 
/**
 * Whether its agent runs now.
 */
is_running: boolean, exit_code: number | null, };

export type PageAgents = { 
/**
 * Those at work first, then by their last change.
 */
families: Array<PageFamily>, 
/**
 * The number that fits the request, with those that are not in this answer.
 */
total: number, 
/**
 * Of all, whatever was requested.
 */
counts: PageAgentCounts, limits: PageReviewLimits, coordination: PageCoordination, 
/**
 * What a new agent can be, the default first.
 */
agents: Array<string>, 
/**
 * Repositories that agents worked in, the latest first.
 */
repositories: Array<string>, 
/**
 * The number of the last event, for the live connection.
 */
last_event: number, };

export type PageCheckFinding = { subject: string, verdict: 'fine' | 'note' | 'problem', message: string, fix: string | null, };

export type PageClient = { name: string, display_name: string, is_installed: boolean, mcp: PageConnection, 
/**
 * None for a client without hooks.
 */
hooks: PageConnection | null, 
/**
 * The command that connects it.
 */
setup: string, };

export type PageClientVersion = { client: string, program: string, version: string | null, };

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

export type PageConfiguration = { 
/**
 * The program that runs.
 */
program: string, data_folder: string, 
/**
 * The user's file of settings, which need not exist.
 */
file: string | null, 
/**
 * The folders that research reads.
 */
roots: Array<string>, settings: Array<PageSetting>, 
/**
 * What was ignored, and why.
 */
warnings: Array<string>, };

export type PageConnection = { state: 'active' | 'off' | 'untrusted' | 'other' | 'unreadable' | 'none', 
/**
 * The files that say so.
 */
places: Array<string>, };

export type PageContextPoint = { event: number, at: number | null, 
/**
 * Tokens that the model read.
 */
context: number, 
/**
 * Of these, from the cache.
 */
cached: number, output: number, };

export type PageCoordination = { 
/**
 * This server does.
 */
is_here: boolean, 
/**
 * The address of the one that does, if it is another.
 */
elsewhere: string | null, };

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

export type PageDiff = { from: string, to: string, files_changed: number, insertions: number, deletions: number, commits: number, 
/**
 * The commits' first lines, oldest first; the first of many.
 */
subjects: Array<string>, 
/**
 * The first of many.
 */
files: Array<PageDiffFile>, };

export type PageDiffFile = { path: string, kind: 'added' | 'deleted' | 'modified', 
/**
 * None for a binary file.
 */
insertions: number | null, deletions: number | null, hunks: Array<PageDiffHunk>, 
/**
 * Whether there are more lines than these.
 */
is_cut: boolean, };

export type PageDiffHunk = { old_start: number, new_start: number, context: string, lines: Array<PageDiffLine>, };

export type PageDiffLine = { sign: '+' | '-' | ' ', text: string, };

export type PageDoctor = { at: number, took_ms: number, findings: Array<PageCheckFinding>, versions: Array<PageClientVersion>, };

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

export type PageEventDetail = { name: string, value: string, };

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

export type PageFamily = { agent: PageInstance, state: AgentState, reviews: Array<PageReview>, used: PageReviewUse, };

export type PageFeedback = { id: string, reviewer: string, coding: string, iteration: number, wants: 'needs_work' | 'suggestions' | 'clarification', priority: string | null, text: string, items: Array<string>, 
/**
 * The file that it arrives as, relative to the worktree.
 */
path: string, commit: string | null, created: number, delivered: number | null, 
/**
 * When the coding agent was notified in its session.
 */
notified: number | null, };

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

export type PageInstance = { id: string, type: 'coding' | 'review' | 'planning', status: 'STARTED' | 'WAITING_REVIEW' | 'PR_CREATED' | 'PR_MERGED' | 'PR_CLOSED' | 'ABANDONED' | 'TERMINATED', 
/**
 * Whether its agent should be running.
 */
is_live: boolean, phase: 'preparing' | 'ready' | 'ending' | 'kept' | 'gone', reason: string | null, task: string, issue: number | null, issue_title: string | null, 
/**
 * `claude`, `codex`, `gemini`, `opencode` or `command`.
 */
agent: string, arguments: Array<string>, repository: string, branch: string, base_branch: string | null, base_commit: string, worktree: string, exit_code: number | null, pr_number: number | null, pr_url: string | null, rejected_requests: number, created: number, updated: number, ended: number | null, };

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

export type PageReview = { coding: string, reviewer: string, iteration: number, commit: string, outcome: 'feedback' | 'approved' | 'ended' | 'timed_out' | null, 
/**
 * What the reviewer wants, where it gave feedback.
 */
wants: 'needs_work' | 'suggestions' | 'clarification' | null, 
/**
 * The number of its actionable items.
 */
items: number, created: number, ended: number | null, };

export type PageReviewLimits = { max_iterations: number, auto_abandon_after: number, timeout_hours: number, default_max_iterations: number, default_auto_abandon_after: number, default_timeout_hours: number, };

export type PageReviewUse = { iterations: number, 
/**
 * Reviews without a pull request, and requests that were refused at the limit.
 */
failed: number, 
/**
 * When the running review began.
 */
reviewing_since: number | null, };

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

export type PageSetting = { name: string, about: string, 
/**
 * What its values look like.
 */
kind: string, value: string | null, default: string | null, source: 'flag' | 'variable' | 'project' | 'user' | 'default' | 'unset', 
/**
 * The variable or file, in words.
 */
source_name: string, variables: Array<string>, 
/**
 * What it would be if the server were started now, where that differs.
 */
after_restart: string | null, };

export type PageSettings = { version: string, machine: string, started: number, configuration: PageConfiguration, storage: PageStorage, clients: Array<PageClient>, };

export type PageStatus = { version: string, 
/**
 * The name of the machine.
 */
machine: string, started: number, };

export type PageStorage = { items: Array<PageStored>, problems: Array<string>, };

export type PageStored = { name: string, 
/**
 * What it is for.
 */
about: string, count: number | null, 
/**
 * What is counted: `file`, `row`.
 */
unit: string, bytes: number | null, path: string, 
/**
 * The command that removes it.
 */
removal: string | null, };

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
