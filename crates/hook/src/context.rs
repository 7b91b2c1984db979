//! What a session tells: the latest messages of the person and of the agent, what the model was already shown, and how a command
//! ended. Read from the end of the client's log, since a hook has only milliseconds.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use memchr::{memchr, memmem};
use serde::Deserialize;
use tamis_clients::Client;
use tamis_logs::event::{EventBody, EventStream, LogEvent, Millis, output_of};
use tamis_logs::latest_messages::LatestMessages;
use tamis_logs::lines::{Chunk, open_regular};
use tamis_logs::readers::gemini;
use tamis_logs::reading::{LogItem, each_event, reader_of};
use tamis_logs::tool_kinds::{CallDetails, WrittenText, written_texts};
use tamis_logs::usage::{Claim, ExclusionReason, PromptTokens};
use tamis_prune::{SentPrompt, ShownMemory};
use tamis_text::strip_line_numbers;

use crate::claude_branch::{ClaudeBranch, OLDER_RESULT_BYTES};
use crate::payload::HookPayload;

/// How much of a log is read: more than twice what counts as shown, since results are in it twice.
const TAIL_BYTES: u64 = 1 << 20;
/// The first line of a log of Gemini CLI, without which the others are not read.
const LONGEST_HEAD: u64 = 64 << 10;

/// Between two looks at a log that does not have the call yet.
const LOG_POLL: Duration = Duration::from_millis(2);

/// What a session tells.
pub(crate) struct SessionContext {
    pub(crate) messages: LatestMessages,
    /// None where it is not known what the model has in its context.
    pub(crate) memory: Option<ShownMemory>,
    /// Calls without a result yet, this one among them.
    pub(crate) open_calls: usize,
    /// Of the command whose output this is, where the log has it.
    pub(crate) exit_code: Option<i64>,
}

impl SessionContext {
    /// The context where only the latest messages are known.
    pub(crate) fn of_messages(person: &str, agent: &str) -> SessionContext {
        let mut messages = LatestMessages::default();
        messages.person_wrote(person);
        messages.agent_wrote(agent);
        SessionContext { messages, memory: None, open_calls: 1, exit_code: None }
    }
}

/// Reads the log that the client names. Claude Code writes its log late: until `wait_until`, the call's record is waited for.
pub(crate) fn read(
    client: Client,
    payload: &HookPayload<'_>,
    wait_until: Instant,
    now: SystemTime,
) -> io::Result<SessionContext> {
    let call_id = payload.tool_use_id.as_deref();
    let mut collector = Collector::new(client, call_id);
    match client {
        Client::ClaudeCode => {
            let (path, tail) = tail_with_call(payload, wait_until)?;
            let call_id = call_id.filter(|id| has_open_call(&tail, id));
            collector.has_call = call_id.is_some();
            let results = client.shown_results();
            let branch = ClaudeBranch::read(&tail, &path, call_id, results, OLDER_RESULT_BYTES);
            collector.read_lines(client, &path, &branch.messages);
            collector.texts.clear();
            collector.calls.clear();
            collector.read_lines(client, &path, &branch.recent);
            collector.has_all_results &= branch.has_all_results;
            collector.message_calls = branch.message_calls;
        }
        Client::Codex => {
            let path = log_of(payload)?;
            let tail = tail_of(&path, TAIL_BYTES)?;
            let lines = collector.without_mirrors(&tail);
            collector.read_lines(client, &path, &lines);
        }
        Client::Gemini => {
            let path = log_of(payload)?;
            collector.read_gemini(&path, &tail_of(&path, TAIL_BYTES)?)?;
        }
        Client::OpenCode => {}
    }
    Ok(collector.finish(now))
}

/// The log that a call names.
pub(crate) fn log_of(payload: &HookPayload<'_>) -> io::Result<PathBuf> {
    let missing = || io::Error::new(io::ErrorKind::NotFound, "the call names no log");
    let path = Path::new(payload.transcript_path.as_deref().ok_or_else(missing)?);
    // A subagent has a context of its own, and a log of its own.
    match &payload.agent_id {
        Some(agent) => log_of_subagent(path, agent).ok_or_else(missing),
        None => Ok(path.to_owned()),
    }
}

/// Claude Code's log of a subagent: in a folder beside its parent's log, or in a folder of that.
fn log_of_subagent(parent: &Path, agent: &str) -> Option<PathBuf> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if agent.is_empty() || !agent.chars().all(is_name) {
        return None;
    }
    let folder = parent.with_extension("").join("subagents");
    let name = format!("agent-{agent}.jsonl");
    let below = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path().join(&name));
    let path = folder.join(&name);
    if path.is_file() { Some(path) } else { below.into_iter().find(|path| path.is_file()).or(Some(path)) }
}

/// Waits until the log has the call, and returns the log's path and end; at `wait_until`, the end as it is.
fn tail_with_call(payload: &HookPayload<'_>, wait_until: Instant) -> io::Result<(PathBuf, String)> {
    let mut looked_at = None;
    loop {
        let is_late = Instant::now() >= wait_until;
        let path = log_of(payload)?;
        let size = path.metadata().map_or(0, |metadata| metadata.len());
        if is_late || looked_at != Some((path.clone(), size)) {
            match tail_of(&path, TAIL_BYTES) {
                Ok(tail)
                    if is_late
                        || payload.tool_use_id.as_deref().is_none_or(|id| has_open_call(&tail, id)) =>
                {
                    return Ok((path, tail));
                }
                Err(error) if is_late || error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => looked_at = Some((path, size)),
            }
        }
        thread::sleep(LOG_POLL);
    }
}

/// Whether a log has this call, and no result of it. Some servers number calls from 0 again, so an earlier call may have had the
/// same id.
fn has_open_call(tail: &str, call_id: &str) -> bool {
    let last = |text: String| memmem::rfind(tail.as_bytes(), text.as_bytes());
    let call = last(format!("\"id\":\"{call_id}\""));
    call.is_some() && call > last(format!("\"tool_use_id\":\"{call_id}\""))
}

/// The last whole lines of a log.
pub(crate) fn tail_of(path: &Path, max_bytes: u64) -> io::Result<String> {
    let mut file = open_regular(path)?;
    let size = file.metadata()?.len();
    let start = size.saturating_sub(max_bytes);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::with_capacity(usize::try_from(size - start).unwrap_or(0) + 1);
    file.take(max_bytes).read_to_end(&mut bytes)?;
    if start > 0 {
        let first_line = memchr(b'\n', &bytes).map_or(bytes.len(), |end| end + 1);
        bytes.drain(..first_line);
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// A record of Codex that repeats another one as the client sees it.
#[derive(Deserialize)]
struct Mirror<'a> {
    #[serde(borrow)]
    payload: MirrorPayload<'a>,
}

#[derive(Deserialize)]
struct MirrorPayload<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    item: Option<MirrorItem<'a>>,
}

#[derive(Deserialize)]
struct MirrorItem<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(default)]
    exit_code: Option<i64>,
}

/// Passes the events of some lines of a log to `visit`.
pub(crate) fn each_event_of(
    client: Client,
    path: &Path,
    lines: &[&str],
    visit: &mut dyn FnMut(&LogEvent<'_>),
) {
    let Some(mut reader) = reader_of(client, &path.to_string_lossy(), "") else { return };
    for line in lines {
        let chunk = Chunk::Lines { at: 0, bytes: line.as_bytes() };
        each_event(&chunk, reader.as_mut(), &mut |item| {
            if let LogItem::Event(event, _) = item {
                visit(event);
            }
        });
    }
}

/// What the model has in its context, with what the call was about.
enum SessionText {
    /// What the agent wrote in a call.
    Written(Vec<WrittenText>),
    Result {
        label: String,
        text: String,
    },
    Request {
        prompt: Option<PromptTokens>,
        model: String,
    },
}

/// Takes in the events of a log, the last of which count.
struct Collector {
    client: Client,
    session: SessionContext,
    /// What the model has read and written since the context was last compacted.
    texts: Vec<SessionText>,
    /// Whether no result since then is missing, and no call of one.
    has_all_results: bool,
    /// The call whose output is being pruned: it was not shown yet.
    call_id: Option<String>,
    /// Whether that call is in what was read. If it is not, the latest request is missing, or these lines lead to something else:
    /// they were rewound, or another process goes on with the same session.
    has_call: bool,
    /// What each call was about, by its id.
    calls: HashMap<String, String>,
    /// Calls of the message that the call is in, as far as they are logged: their results are sent together.
    message_calls: usize,
    last_request_at: Option<Millis>,
    /// Requests are reported several times, once for each part of the answer.
    requests: HashSet<u64>,
}

impl Collector {
    fn new(client: Client, call_id: Option<&str>) -> Collector {
        let messages = LatestMessages::default();
        let session = SessionContext { messages, memory: None, open_calls: 1, exit_code: None };
        let call_id = call_id.map(str::to_owned);
        Collector {
            client,
            session,
            texts: Vec::new(),
            has_all_results: client == Client::ClaudeCode,
            call_id,
            has_call: client != Client::ClaudeCode,
            calls: HashMap::new(),
            message_calls: 1,
            last_request_at: None,
            requests: HashSet::new(),
        }
    }

    /// The session, with those results that are certain to be in the model's context.
    fn finish(mut self, now: SystemTime) -> SessionContext {
        if !self.has_call {
            return self.session;
        }
        let cleared_tokens = if self.has_all_results { self.client.cleared_tokens() } else { 0 };
        let mut memory = ShownMemory::new(self.client.shown_window())
            .with_clearing(self.client.shown_results(), cleared_tokens);
        for text in self.texts.drain(..) {
            match text {
                SessionText::Written(texts) => {
                    memory.add_call(texts.into_iter().map(|written| (written.label, written.text)));
                }
                SessionText::Result { label, text } => memory.add(label, text, &[]),
                SessionText::Request { prompt, model } => {
                    let tokens = prompt.map_or(0, |prompt| prompt.all);
                    let cached_tokens = prompt.map_or(0, |prompt| prompt.cached);
                    memory.add_request(SentPrompt { tokens, cached_tokens, model: &model });
                }
            }
        }
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let is_paused =
            self.client.clearing_pause().zip(self.last_request_at).is_some_and(|(limit, last)| {
                let last = Duration::from_millis(u64::try_from(last).unwrap_or(0));
                now.saturating_sub(last) >= limit
            });
        if is_paused {
            memory.may_be_cleared();
        }
        self.session.memory = Some(memory);
        self.session.open_calls = self.calls.len().max(self.message_calls);
        self.session
    }

    fn read_lines(&mut self, client: Client, path: &Path, lines: &[&str]) {
        each_event_of(client, path, lines, &mut |event| self.take(event));
    }

    /// The records of Codex without what commands printed before it was replaced. Notes how the command ended whose output is
    /// being pruned, and forgets what was taken back.
    fn without_mirrors<'a>(&mut self, tail: &'a str) -> Vec<&'a str> {
        let mut kept = Vec::new();
        for line in tail.lines() {
            let may_mirror = line.contains("\"CommandExecution\"") || line.contains("\"thread_rolled_back\"");
            match may_mirror.then(|| serde_json::from_str::<Mirror<'_>>(line)) {
                Some(Ok(Mirror { payload })) if payload.kind == "thread_rolled_back" => kept.clear(),
                Some(Ok(Mirror { payload: MirrorPayload { item: Some(item), .. } }))
                    if item.kind == "CommandExecution" =>
                {
                    if item.id.is_some() && item.id.as_deref() == self.call_id.as_deref() {
                        self.session.exit_code = item.exit_code;
                    }
                }
                _ => kept.push(line),
            }
        }
        kept
    }

    /// A log of Gemini CLI: later lines may change what the model has in its context, so only those after the last change count.
    fn read_gemini(&mut self, path: &Path, tail: &str) -> io::Result<()> {
        let mut head = String::new();
        BufReader::new(File::open(path)?.take(LONGEST_HEAD)).read_line(&mut head)?;
        let changes =
            |line: &str| line.starts_with("{\"$rewindTo\"") || line.starts_with("{\"$set\":{\"messages\"");
        let lines: Vec<&str> = tail.lines().collect();
        let start = lines.iter().rposition(|line| changes(line)).map_or(0, |last| last + 1);
        let text = format!("{}\n{}", head.trim_end(), lines[start..].join("\n"));
        let Some(log) = gemini::read(&text) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a log of Gemini CLI"));
        };
        log.events.iter().for_each(|event| self.take(event));
        Ok(())
    }

    fn take(&mut self, event: &LogEvent<'_>) {
        if event.stream == EventStream::Sidechain {
            return;
        }
        match &event.body {
            EventBody::User(_) | EventBody::SlashCommand { .. } => {
                self.session.messages.person_wrote(&event.body.prompt());
            }
            EventBody::Message(content) | EventBody::Reasoning(content) => {
                self.session.messages.agent_wrote(&content.to_text());
            }
            EventBody::ToolCall(call) => {
                let arguments = call.arguments.to_value();
                let details = CallDetails::of(&call.name, &arguments);
                let label = details.target().unwrap_or(&call.name).to_owned();
                self.texts.push(SessionText::Written(written_texts(&details, &label, &arguments)));
                self.calls.extend(call.id.as_ref().map(|id| (id.to_string(), label)));
            }
            EventBody::ToolResult(result) => {
                let id = result.id.as_deref();
                // Claude Code logs it after the hook, so a result with this id is of an earlier call.
                let is_own = self.client != Client::ClaudeCode && id == self.call_id.as_deref();
                if id.is_some() && is_own {
                    return;
                }
                let label = id.map_or(Some(String::new()), |id| self.calls.remove(id));
                // Of the first results that are read, the calls may be missing, and with them what is known of their requests. Such
                // a result is one of the latest all the same.
                let text = match &label {
                    Some(_) => strip_line_numbers(&output_of(&result.content)).into_owned(),
                    None => String::new(),
                };
                self.has_all_results &= label.is_some();
                self.texts.push(SessionText::Result { label: label.unwrap_or_default(), text });
            }
            EventBody::Compaction(_) | EventBody::Summary(_) => self.texts.clear(),
            EventBody::TokenUsage(report) => {
                let model = report.model.as_deref().unwrap_or_default().to_owned();
                self.last_request_at = event.at.or(self.last_request_at);
                match report.claim {
                    Claim::Request(key) if !self.requests.insert(key) => {}
                    Claim::Request(_) | Claim::Once => {
                        self.texts.push(SessionText::Request { prompt: report.prompt, model });
                    }
                    // It failed, or its size is not known.
                    Claim::Excluded(ExclusionReason::Empty) => {
                        self.texts.push(SessionText::Request { prompt: None, model });
                    }
                    Claim::Excluded(_) => {}
                }
            }
            EventBody::Notification(_) => {}
        }
    }
}
