//! One session played again: each tool result of some size goes through the sieve, and what follows shows what its cuts
//! would have cost.

use std::borrow::Cow;
use std::collections::HashSet;
use std::time::Duration;

use tamis_clients::Client;
use tamis_logs::event::{
    EventBody, EventStream, LogEvent, LoggedCall, LoggedResult, Millis, output_of, strings_of,
};
use tamis_logs::latest_messages::LatestMessages;
use tamis_logs::tool_kinds::{CallDetails, ToolKind, replaced, written, written_texts};
use tamis_logs::usage::{Claim, ExclusionReason, UsageReport};
use tamis_prune::{SentPrompt, ShownMemory, overheard_goal};
use tamis_sieve::{MarkerForm, PruneOptions, PruneRequest, Sieve, prune_ids_in};
use tamis_text::{TextKind, estimate_tokens, split_lines};
use tamis_trace::accounting::{ReportVerdict, UsageAccount};

use super::ReplayedCall;
use super::client_output::{sent_part, without_notes};
use super::cut_lines::{CutLine, Cutout, Watched, line_hashes};
use super::lines::{Known, bare_line, hash_of, says_anything, unnumbered};
use super::reads::{FileEdits, ReadTarget};
use super::recorder::Recorder;
use super::report::ReplayedResult;
use super::result_kind::SavingsPartKind;

/// Calls whose results have not come, of which this many are remembered.
const MOST_OPEN_CALLS: usize = 256;

/// A result on its way, until it is settled.
pub(super) struct Pending {
    pub(super) result: ReplayedResult,
    /// Tokens of each cut block, with its first and last line.
    pub(super) blocks: Vec<(usize, usize, u64)>,
}

pub(super) struct Replay {
    main: Conversation,
    sidechain: Conversation,
    account: UsageAccount,
}

/// One stream of a session.
struct Conversation {
    client: Client,
    messages: LatestMessages,
    open: Vec<(Option<String>, String, CallDetails)>,
    known: Known,
    watched: Watched,
    memory: ShownMemory,
    edits: FileEdits,
    requests: u64,
    last_request_at: Option<Millis>,
    /// For each pruned result its tool, the tokens saved, and the number of requests before it.
    out_of_context: Vec<(String, u64, u64)>,
}

impl Replay {
    /// A replay of one session. `shown_window` replaces what the client is known to keep in context.
    pub(super) fn new(client: Client, shown_window: Option<usize>) -> Replay {
        let [main, sidechain] = [(); 2].map(|()| Conversation::new(client, shown_window));
        Replay { main, sidechain, account: UsageAccount::default() }
    }

    pub(super) fn take(&mut self, number: u64, event: &LogEvent<'_>, sieve: &Sieve, recorder: &mut Recorder) {
        let conversation =
            if event.stream == EventStream::Sidechain { &mut self.sidechain } else { &mut self.main };
        match &event.body {
            EventBody::TokenUsage(report) => {
                if self.account.take(report, event.at).verdict == ReportVerdict::First {
                    conversation.last_request_at = event.at;
                    conversation.requests += 1;
                    conversation.memory.add_request(prompt_of(report));
                } else if report.claim == Claim::Excluded(ExclusionReason::Empty) {
                    // It failed, or its size is not known.
                    conversation.memory.add_request(SentPrompt::default());
                }
            }
            EventBody::Compaction(_) => conversation.end(recorder),
            EventBody::User(content) => conversation.person_said(&content.to_text()),
            EventBody::SlashCommand { command, arguments } => {
                conversation.person_said(&format!("{command} {arguments}"));
            }
            EventBody::Notification(content) => {
                if event.body.is_rollback() {
                    conversation.memory.forget();
                }
                conversation.gave(&content.to_text());
            }
            EventBody::Summary(content) => {
                // Codex and Gemini CLI compact with nothing but a summary in the log.
                conversation.memory.forget();
                conversation.gave(&content.to_text());
            }
            EventBody::Message(content) | EventBody::Reasoning(content) => {
                let text = content.to_text();
                conversation.watched.quoted(&text, number);
                conversation.messages.agent_wrote(&text);
            }
            EventBody::ToolCall(call) => conversation.called(call, number),
            EventBody::ToolResult(result) => {
                conversation.note_pause(event.at);
                conversation.answered(result, number, sieve, recorder);
            }
        }
    }

    pub(super) fn finish(mut self, recorder: &mut Recorder) {
        self.main.end(recorder);
        self.sidechain.end(recorder);
    }
}

/// The prompt of a request, as far as the log tells.
fn prompt_of<'r>(report: &'r UsageReport<'_>) -> SentPrompt<'r> {
    let model = report.model.as_deref().unwrap_or_default();
    report.prompt.map_or(SentPrompt { model, ..SentPrompt::default() }, |prompt| SentPrompt {
        tokens: prompt.all,
        cached_tokens: prompt.cached,
        model,
    })
}

impl Conversation {
    fn new(client: Client, shown_window: Option<usize>) -> Conversation {
        let memory = match shown_window {
            Some(window) => ShownMemory::new(window),
            None => ShownMemory::new(client.shown_window())
                .with_clearing(client.shown_results(), client.cleared_tokens()),
        };
        Conversation {
            client,
            messages: LatestMessages::default(),
            open: Vec::new(),
            known: Known::default(),
            watched: Watched::default(),
            memory,
            edits: FileEdits::default(),
            requests: 0,
            last_request_at: None,
            out_of_context: Vec::new(),
        }
    }

    fn person_said(&mut self, text: &str) {
        self.gave(text);
        self.messages.person_wrote(text);
    }

    /// The agent has these lines, whatever is cut elsewhere.
    fn gave(&mut self, text: &str) {
        for line in line_hashes(text) {
            if self.known.add(line) {
                self.watched.given(line);
            }
        }
    }

    fn called(&mut self, call: &LoggedCall<'_>, number: u64) {
        let arguments = call.arguments.to_value();
        let used = CallDetails::of(&call.name, &arguments);
        let label = used.target().unwrap_or(&call.name);
        let texts = written_texts(&used, label, &arguments);
        self.memory.add_call(texts.into_iter().map(|written| (written.label, written.text)));
        match used.tool_kind {
            ToolKind::Edit | ToolKind::Write => {
                self.edits.add(&used.paths, number);
                for text in replaced(&arguments) {
                    self.watched.edited(&used.paths, &text, number);
                }
                for text in written(&arguments) {
                    self.watched.quoted(&text, number);
                    self.gave(&text);
                }
            }
            // A path that is read is not a quotation.
            ToolKind::Read | ToolKind::Plan => {}
            _ => {
                let mut strings = Vec::new();
                strings_of(&arguments, &mut strings);
                strings.iter().for_each(|text| self.watched.quoted(text, number));
            }
        }
        if self.open.len() == MOST_OPEN_CALLS {
            self.open.remove(0);
        }
        let id = call.id.as_ref().map(|id| id.clone().into_owned());
        self.open.push((id, call.name.clone().into_owned(), used));
    }

    /// After a long pause, the next request may come without older results.
    fn note_pause(&mut self, at: Option<Millis>) {
        let pause = at.zip(self.last_request_at).map(|(at, last)| at - last);
        let limit = self.client.clearing_pause().and_then(|limit| Millis::try_from(limit.as_millis()).ok());
        if pause.zip(limit).is_some_and(|(pause, limit)| pause >= limit) {
            self.memory.may_be_cleared();
        }
    }

    fn answered(&mut self, result: &LoggedResult<'_>, number: u64, sieve: &Sieve, recorder: &mut Recorder) {
        let text = without_notes(self.client, output_of(&result.content));
        let of = self.open.iter().position(|(id, ..)| id.as_deref() == result.id.as_deref());
        let Some((id, tool, used)) = of.map(|index| self.open.remove(index)) else {
            recorder.savings.skipped.other += 1;
            return self.received("", &text);
        };
        let logged_bytes = text.len();
        let text = sent_part(self.client, used.tool_kind, text);
        let sent_bytes = text.len();
        let file = if used.tool_kind == ToolKind::Read { unnumbered(&text) } else { None };
        let text = file.map_or(text, Cow::Owned);
        let target = ReadTarget::of(&used);
        self.watched.read_again(&target, &text, number, &self.edits);
        let label = used.target().unwrap_or(&tool).to_owned();
        let options = &recorder.options;
        let skipped = &mut recorder.savings.skipped;
        recorder.savings.result_tokens += estimate_tokens(&text) as u64;
        let call = ReplayedCall {
            client: self.client,
            tool: &tool,
            details: &used,
            has_failed: result.failed,
            bytes: sent_bytes,
        };
        let prunable = match (options.reaches, used.tool_kind) {
            (Some(reaches), _) => reaches(&call),
            (None, ToolKind::Run) => true,
            (None, ToolKind::Read | ToolKind::Search | ToolKind::Fetch) => !result.failed,
            _ => false,
        };
        let reason = if !prunable {
            Some(&mut skipped.other)
        } else if sent_bytes < options.least_bytes {
            Some(&mut skipped.too_small)
        } else if logged_bytes > options.most_bytes {
            Some(&mut skipped.too_large)
        } else if prune_ids_in(&text).next().is_some() {
            Some(&mut skipped.already_pruned)
        } else {
            None
        };
        if let Some(reason) = reason {
            *reason += 1;
            return self.received(&label, &text);
        }
        if recorder.is_copy(hash_of((id, text.as_ref()))) {
            recorder.savings.skipped.copies += 1;
            return self.received(&label, &text);
        }
        let goal = overheard_goal(self.messages.agent(), used.subject(), self.messages.person());
        if goal.is_empty() {
            recorder.savings.skipped.without_goal += 1;
            return self.received(&label, &text);
        }
        let lines = split_lines(&text);
        let tokens_of =
            |first: usize, last: usize| estimate_tokens(&lines[first - 1..last].join("\n")) as u64;
        let runs = self.memory.runs_among(&text, self.open.len() + 1);
        recorder.found_shown(runs.iter().map(|run| tokens_of(run.first_line, run.last_line)).sum());
        let pruned = sieve.dry_run(
            &PruneRequest {
                text: &text,
                goal: &goal,
                kind: TextKind::detect(&text),
                options: PruneOptions {
                    threshold: recorder.options.threshold,
                    timeout: Duration::MAX,
                    markers: MarkerForm::Short,
                    ..PruneOptions::default()
                },
                shown: &runs,
            },
            &|| false,
        );
        let cuts: Vec<(usize, usize)> =
            pruned.annotations.iter().map(|cut| (cut.original_start_line, cut.original_end_line)).collect();
        let is_shown = |first: usize, last: usize| {
            runs.iter().any(|run| run.first_line <= first && last <= run.last_line)
        };
        let (mut shown_lines, mut shown_tokens) = (0, 0);
        for cut in &pruned.annotations {
            let (first, last) = (cut.original_start_line, cut.original_end_line);
            if is_shown(first, last) {
                shown_lines += (last - first + 1) as u64;
                shown_tokens += tokens_of(first, last).saturating_sub(estimate_tokens(&cut.marker) as u64);
            }
        }
        let replayed = ReplayedResult {
            event_index: number,
            tool,
            path: used.paths.first().cloned(),
            tokens_before: pruned.stats.tokens_est_before as u64,
            tokens_after: pruned.stats.tokens_est_after as u64,
            lines: pruned.stats.original_lines as u64,
            cut_lines: pruned.stats.pruned_lines as u64,
            kind: SavingsPartKind::of_result(used.tool_kind, &text).name(),
            shown_tokens,
            shown_lines,
            ..ReplayedResult::default()
        };
        recorder.seen(&replayed);
        self.memory.add(label, text.as_ref(), &cuts);
        // Kept lines are known before cut lines are compared with them.
        let mut next = 1;
        for (first, last) in cuts.iter().copied().chain([(lines.len() + 1, lines.len())]) {
            lines[next - 1..first - 1].iter().for_each(|line| self.gave(line));
            next = last + 1;
        }
        if cuts.is_empty() {
            return;
        }
        let saved = replayed.tokens_before.saturating_sub(replayed.tokens_after);
        self.out_of_context.push((replayed.tool.clone(), saved, self.requests));
        let mut cut_lines = Vec::new();
        // A line that stands there several times is needed once.
        let mut watched = HashSet::new();
        for (first, last) in &cuts {
            let is_shown = is_shown(*first, *last);
            for number in *first..=*last {
                let line = bare_line(lines[number - 1]);
                let is_news = is_shown || !self.known.has(hash_of(line));
                if says_anything(line) && is_news && watched.insert(line) {
                    cut_lines.push(CutLine::new(number, line, is_shown));
                }
            }
        }
        let blocks = cuts.iter().map(|(first, last)| (*first, *last, tokens_of(*first, *last))).collect();
        let pending = Pending { result: replayed, blocks };
        let cutout = Cutout { of: pending, event: number, target, lines: cut_lines };
        for settled in self.watched.add(cutout) {
            recorder.settled(settled);
        }
    }

    /// The agent has all of a result.
    fn received(&mut self, label: &str, text: &str) {
        self.memory.add(label, text, &[]);
        self.gave(text);
    }

    /// The context ends here: the session does, or it was made shorter.
    fn end(&mut self, recorder: &mut Recorder) {
        for cutout in self.watched.settle() {
            recorder.settled(cutout);
        }
        self.known.clear();
        self.memory.forget();
        self.open.clear();
        for (tool, saved, since) in self.out_of_context.drain(..) {
            // The first request would have read it once, which is the saving itself.
            recorder.not_resent(&tool, saved * (self.requests - since).saturating_sub(1));
        }
    }
}
