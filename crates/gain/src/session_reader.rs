//! Reads the log of a session for what tamis changed in it, and for the requests that carried it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;

use tamis_clients::Client;
use tamis_logs::event::{
    EventBody, EventStream, LogEvent, LoggedCall, LoggedResult, Millis, output_of, strings_of,
};
use tamis_logs::tool_kinds::{CallDetails, ToolKind};
use tamis_logs::usage::{Claim, UsageReport};
use tamis_savings::{FileEdits, ReadTarget, bare_line, is_distinctive};
use tamis_sieve::prune_ids_in;
use tamis_text::estimate_tokens;
use tamis_trace::Session;

use crate::facts::{ContextFacts, Effect, EffectSize, RequestFacts};
use crate::ledger_rows::{LedgerRows, ResultCall, sizes};

/// The tools that recover lines, whatever a client puts before their names.
const RECOVERY_TOOLS: &[&str] = &["recover_text", "recover_range"];

/// Codex's tool that shows what a command printed since.
const CONTINUING_TOOL: &str = "write_stdin";

pub(crate) struct SessionReader<'a> {
    main: Conversation,
    sidechain: Conversation,
    client: Client,
    project: Option<String>,
    rows: &'a mut LedgerRows,
    /// Requests that an earlier log has.
    counted: &'a mut HashSet<u64>,
    original: &'a dyn Fn(&str) -> Option<String>,
    contexts: Vec<ContextFacts>,
    events: u64,
    /// The time of the last event that has one.
    last_at: Option<Millis>,
}

/// One stream of a session, since its last compaction.
#[derive(Default)]
struct Conversation {
    requests: Vec<RequestFacts>,
    by_key: HashMap<u64, usize>,
    calls: Vec<Call>,
    /// Calls whose request was not reported yet.
    unreported: Vec<usize>,
    open: HashMap<String, usize>,
    effects: Vec<OpenEffect>,
    cutouts: Vec<Cutout>,
    edits: FileEdits,
}

struct Call {
    name: String,
    details: CallDetails,
    /// The prune that it recovers from; empty if it names none.
    recovers: Option<String>,
    size: u64,
    request: Option<usize>,
}

struct OpenEffect {
    effect: Effect,
    call: usize,
}

/// A result that was cut, for finding calls that read it again.
struct Cutout {
    prune_id: String,
    tool: String,
    door: String,
    target: ReadTarget,
    event: u64,
    /// Hashes of the lines that the result has, and of those that were cut, where the original is still stored.
    shown: HashSet<u64>,
    cut: Option<HashSet<u64>>,
}

impl<'a> SessionReader<'a> {
    pub(crate) fn new(
        session: &Session,
        rows: &'a mut LedgerRows,
        counted: &'a mut HashSet<u64>,
        original: &'a dyn Fn(&str) -> Option<String>,
    ) -> SessionReader<'a> {
        SessionReader {
            main: Conversation::default(),
            sidechain: Conversation::default(),
            client: session.provider,
            project: session.root().map(|root| root.to_string()),
            rows,
            counted,
            original,
            contexts: Vec::new(),
            events: 0,
            last_at: None,
        }
    }

    pub(crate) fn take(&mut self, event: &LogEvent<'_>) -> ControlFlow<()> {
        self.events += 1;
        self.last_at = event.at.or(self.last_at);
        let is_side = event.stream == EventStream::Sidechain;
        let conversation = if is_side { &mut self.sidechain } else { &mut self.main };
        match &event.body {
            EventBody::TokenUsage(report) => conversation.reported(report, event.at, self.counted),
            EventBody::ToolCall(call) => conversation.called(call, self.events),
            EventBody::ToolResult(result) => {
                let source = ResultSource {
                    client: self.client,
                    at: event.at,
                    last_at: self.last_at,
                    event: self.events,
                    original: self.original,
                };
                conversation.answered(result, &source, self.rows);
            }
            EventBody::Compaction(_) => self.end(is_side),
            // Codex and Gemini CLI compact with nothing but a summary in the log.
            EventBody::Summary(_) if self.client != Client::ClaudeCode => self.end(is_side),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// The context ends here.
    fn end(&mut self, is_side: bool) {
        let conversation = if is_side { &mut self.sidechain } else { &mut self.main };
        let Conversation { requests, calls, effects, .. } = std::mem::take(conversation);
        if effects.is_empty() {
            return;
        }
        let effects = effects.into_iter().map(|open| open.close(&calls)).collect();
        self.contexts.push(ContextFacts {
            client: self.client,
            project: self.project.clone(),
            requests,
            effects,
        });
    }

    pub(crate) fn finish(mut self) -> Vec<ContextFacts> {
        self.end(false);
        self.end(true);
        self.contexts
    }
}

/// Where a result is from.
struct ResultSource<'a> {
    client: Client,
    at: Option<Millis>,
    /// Its time, or that of the last event before it that has one.
    last_at: Option<Millis>,
    event: u64,
    original: &'a dyn Fn(&str) -> Option<String>,
}

impl Conversation {
    fn reported(&mut self, report: &UsageReport<'_>, at: Option<Millis>, counted: &mut HashSet<u64>) {
        let key = match report.claim {
            Claim::Excluded(_) => return,
            Claim::Once => None,
            Claim::Request(key) => Some(key),
        };
        let known = key.and_then(|key| self.by_key.get(&key)).copied();
        let index = match known {
            Some(index) => {
                let tokens = &mut self.requests[index].tokens;
                if report.tokens.output >= tokens.output {
                    *tokens = report.tokens;
                }
                Some(index)
            }
            None if key.is_some_and(|key| !counted.insert(key)) => None,
            None => {
                let model = report.model.as_deref().unwrap_or_default().to_owned();
                self.requests.push(RequestFacts { at, model, tokens: report.tokens });
                let index = self.requests.len() - 1;
                self.by_key.extend(key.map(|key| (key, index)));
                Some(index)
            }
        };
        for call in self.unreported.drain(..) {
            self.calls[call].request = index;
        }
    }

    fn called(&mut self, call: &LoggedCall<'_>, event: u64) {
        let arguments = call.arguments.to_value();
        let details = CallDetails::of(&call.name, &arguments);
        if matches!(details.tool_kind, ToolKind::Edit | ToolKind::Write) {
            self.edits.add(&details.paths, event);
        }
        let mut strings = Vec::new();
        strings_of(&arguments, &mut strings);
        let recovers = is_recovery(&call.name, &details)
            .then(|| strings.iter().find_map(|text| prune_id_of(text)).unwrap_or_default().to_owned());
        let index = self.calls.len();
        self.open.extend(call.id.as_deref().map(|id| (id.to_owned(), index)));
        self.unreported.push(index);
        self.calls.push(Call {
            name: call.name.clone().into_owned(),
            details,
            recovers,
            size: strings.iter().map(|text| estimate_tokens(text) as u64).sum::<u64>() + frame_tokens(call),
            request: None,
        });
    }

    fn answered(&mut self, result: &LoggedResult<'_>, source: &ResultSource<'_>, rows: &mut LedgerRows) {
        let Some(id) = result.id.as_deref() else { return };
        let Some(call) = self.open.remove(id) else { return };
        let text = output_of(&result.content);
        // A request that is reported after the results of its calls does not carry them.
        let is_caller_to_come = self.unreported.contains(&call);
        let first_carrier = self.requests.len() + usize::from(is_caller_to_come);
        let Call { name, details, recovers, size, .. } = &self.calls[call];
        let size = size + estimate_tokens(&text) as u64;
        // Without a time it would be before all that is reported, and its cost not counted.
        let last_at = source.last_at.or(self.effects.last().map(|open| open.effect.at));
        let effect = |tool: &str, door: &str, at: Millis, size: EffectSize| OpenEffect {
            effect: Effect {
                at,
                tool: tool.to_owned(),
                door: door.to_owned(),
                size,
                is_copy: false,
                caller: None,
                first_carrier,
            },
            call,
        };
        if let Some(prune_id) = recovers {
            let linked_at = rows.link_recovery(prune_id, source.at);
            let prune = rows.prune(prune_id);
            let (tool, door) = prune.map_or((name.as_str(), ""), |prune| (&prune.tool, &prune.door));
            let at =
                source.at.or(linked_at).or(last_at).or(prune.map(|prune| prune.at_ms)).unwrap_or_default();
            let size = EffectSize::Recovery { size, is_only_call: false };
            self.effects.push(effect(tool, door, at, size));
            return;
        }
        let target = ReadTarget::of(details);
        let ids: BTreeSet<&str> = prune_ids_in(&text).collect();
        let result_call = ResultCall { id, continues_other: name == CONTINUING_TOOL };
        let prunes: Vec<_> = ids.iter().filter_map(|id| rows.link(id, result_call, source.at)).collect();
        if prunes.is_empty() {
            rows.note_unpruned(id);
        }
        let lines = line_hashes(&text);
        let again =
            self.cutouts.iter().rev().find(|cutout| cutout.is_read_again(&target, &lines, &ids, &self.edits));
        if let Some(cutout) = again {
            let at = prunes.first().map(|(prune, _)| prune.at_ms).or(last_at).unwrap_or_default();
            let size = EffectSize::Reread { size, is_only_call: false };
            self.effects.push(effect(&cutout.tool, &cutout.door, at, size));
            return;
        }
        for (prune, is_copy) in prunes {
            let (before, after, markers) = sizes(&prune, source.client);
            let size = EffectSize::Cut { before, after, markers };
            let mut open = effect(&prune.tool, &prune.door, prune.at_ms, size);
            open.effect.is_copy = is_copy;
            self.effects.push(open);
            let cut = (source.original)(&prune.prune_id).map(|original| &line_hashes(&original) - &lines);
            self.cutouts.push(Cutout {
                prune_id: prune.prune_id,
                tool: prune.tool,
                door: prune.door,
                target: target.clone(),
                event: source.event,
                shown: lines.clone(),
                cut,
            });
        }
    }
}

impl OpenEffect {
    /// The effect, once the requests of all calls are known.
    fn close(self, calls: &[Call]) -> Effect {
        let OpenEffect { mut effect, call } = self;
        effect.caller = calls[call].request;
        let is_only = effect.caller.is_some()
            && calls.iter().filter(|other| other.request == effect.caller).count() == 1;
        match &mut effect.size {
            EffectSize::Recovery { is_only_call, .. } | EffectSize::Reread { is_only_call, .. } => {
                *is_only_call = is_only;
            }
            EffectSize::Cut { .. } => {}
        }
        effect
    }
}

impl Cutout {
    /// Whether a call with these lines in its result, and these prune ids, reads again what was cut here.
    fn is_read_again(
        &self,
        target: &ReadTarget,
        lines: &HashSet<u64>,
        ids: &BTreeSet<&str>,
        edits: &FileEdits,
    ) -> bool {
        let is_same = self.target.shares_file(target) && !edits.changed(&target.files, self.event)
            || self.target.is_repeated_by(target) && !edits.changed_any(self.event);
        is_same
            && (ids.contains(self.prune_id.as_str())
                || match &self.cut {
                    Some(cut) => !cut.is_disjoint(lines),
                    None => !lines.is_subset(&self.shown),
                })
    }
}

/// Hashes of the lines that cannot be the same by coincidence.
fn line_hashes(text: &str) -> HashSet<u64> {
    let lines = text.split('\n').map(bare_line).filter(|line| is_distinctive(line));
    lines
        .map(|line| {
            let mut hasher = DefaultHasher::new();
            line.hash(&mut hasher);
            hasher.finish()
        })
        .collect()
}

/// What a client sends around a call and its result: the tool's name, the id in both, and their types.
fn frame_tokens(call: &LoggedCall<'_>) -> u64 {
    let id = call.id.as_deref().unwrap_or_default();
    (estimate_tokens(&call.name) + 2 * estimate_tokens(id) + 5) as u64
}

/// Whether a call recovers lines: by our tool, or by `tamis recover` in a shell.
fn is_recovery(name: &str, details: &CallDetails) -> bool {
    if RECOVERY_TOOLS.iter().any(|tool| name.ends_with(tool)) {
        return true;
    }
    let command = details.words.as_deref().filter(|_| details.tool_kind == ToolKind::Run).unwrap_or_default();
    let words: Vec<&str> = command
        .split(|letter: char| letter.is_whitespace() || ";|&()`'\"$".contains(letter))
        .filter(|word| !word.is_empty())
        .collect();
    // `cargo test -p tamis recover` recovers nothing.
    command.contains("prn_")
        && words.windows(2).any(|pair| pair[0].rsplit('/').next() == Some("tamis") && pair[1] == "recover")
}

/// The first prune id, or beginning of one, in a text.
fn prune_id_of(text: &str) -> Option<&str> {
    let start = text.find("prn_")?;
    let rest = &text[start..];
    let end =
        rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
    Some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn recoveries_are_recognised_with_their_ids() {
        for (name, arguments, expected) in [
            ("mcp__tamis__recover_text", json!({"prune_id": "prn_abc"}), true),
            ("tamis_recover_range", json!({"prune_id": "prn_abc"}), true),
            ("Bash", json!({"command": "/usr/bin/tamis recover prn_abc 1-4 | head"}), true),
            ("exec_command", json!({"cmd": "cd x; tamis recover prn_abc"}), true),
            ("Bash", json!({"command": "grep recover tamis.log"}), false),
            ("Bash", json!({"command": "cargo test -p tamis recover"}), false),
            ("Read", json!({"file_path": "/tamis recover"}), false),
        ] {
            let details = CallDetails::of(name, &arguments);
            assert_eq!(is_recovery(name, &details), expected, "{name} {arguments}");
        }
        assert_eq!(
            prune_id_of("[tamis cut 6-44: x; restore: tamis recover prn_a1b2 6-44]"),
            Some("prn_a1b2")
        );
        assert_eq!(prune_id_of("nothing"), None);
    }
}
