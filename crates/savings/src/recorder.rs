//! Collects what a replay gives.

use std::collections::HashSet;

use tamis_clients::Client;
use tamis_trace::preview;

use super::SavingsOptions;
use super::cut_lines::{Cutout, Need};
use super::replay::Pending;
use super::report::{NeededLine, ReplayedResult, SavingsPart, SavingsReport, SavingsSums};
use super::result_kind::SavingsPartKind;

/// Tokens of a call that recovers lines, without the lines.
const RECOVERY_CALL: u64 = 150;
/// Needed lines that are shown of one result.
const LINES_SHOWN: usize = 3;
const LINE_CHARS: usize = 160;

#[derive(Default)]
pub(super) struct Recorder {
    pub(super) options: SavingsOptions,
    pub(super) savings: SavingsReport,
    pub(super) session: String,
    pub(super) provider: Option<Client>,
    met: HashSet<u64>,
}

impl Recorder {
    pub(super) fn new(options: SavingsOptions) -> Recorder {
        Recorder { options, ..Recorder::default() }
    }

    fn each_sums(&mut self, tool: &str, enter: impl Fn(&mut SavingsSums)) {
        enter(&mut self.savings.totals);
        enter(self.savings.by_tool.entry(tool.to_owned()).or_default());
        if let Some(provider) = self.provider {
            enter(self.savings.by_provider.entry(provider.id()).or_default());
        }
    }

    /// Whether this result of this call was met before, in a log that was copied.
    pub(super) fn is_copy(&mut self, key: u64) -> bool {
        !self.met.insert(key)
    }

    /// Takes a result that was put through the sieve, cut or not.
    pub(super) fn seen(&mut self, result: &ReplayedResult) {
        self.each_sums(&result.tool, |sums| sums.seen(result));
        let (cut_tokens, cut_lines) = (result.tokens_cut(), result.cut_lines);
        let of_kind = self.part(result.kind);
        of_kind.results += 1;
        of_kind.tokens_before += result.tokens_before;
        of_kind.results_cut += u64::from(cut_lines > result.shown_lines);
        of_kind.tokens_cut += cut_tokens.saturating_sub(result.shown_tokens);
        of_kind.lines_cut += cut_lines - result.shown_lines;
        if result.shown_lines > 0 {
            let shown = self.part(SavingsPartKind::AlreadyShown.name());
            shown.results += 1;
            shown.results_cut += 1;
            shown.tokens_cut += result.shown_tokens.min(cut_tokens);
            shown.lines_cut += result.shown_lines;
        }
    }

    /// Takes the tokens of runs that were already shown, cut or not.
    pub(super) fn found_shown(&mut self, tokens: u64) {
        self.part(SavingsPartKind::AlreadyShown.name()).tokens_before += tokens;
    }

    fn part(&mut self, name: &'static str) -> &mut SavingsPart {
        self.savings.parts.entry(name).or_default()
    }

    /// Takes a result once later needs of its cut lines are known.
    pub(super) fn settled(&mut self, cutout: Cutout) {
        let Pending { mut result, blocks } = cutout.of;
        result.session_id = self.session.clone();
        let needed: Vec<_> = cutout.lines.iter().filter_map(|line| Some((line, line.need?))).collect();
        // The agent had these from where they were shown first, and read them for the third time.
        let (shown, needed): (Vec<_>, Vec<_>) = needed.into_iter().partition(|(line, _)| line.is_shown);
        result.shown_lines_read_again = shown.len() as u64;
        for (line, (need, event)) in &needed {
            let how = match need {
                Need::Edited => {
                    result.lines_edited += 1;
                    "edited"
                }
                Need::Quoted => {
                    result.lines_quoted += 1;
                    "quoted"
                }
                Need::ReadAgain => {
                    result.lines_read_again += 1;
                    "read_again"
                }
            };
            self.part(result.kind).lines_needed += 1;
            if result.needed.len() < LINES_SHOWN {
                let text = preview(&line.text, LINE_CHARS);
                result.needed.push(NeededLine { line: line.number as u64, text, how, by_event: *event });
            }
        }
        if !needed.is_empty() {
            let holds = |first: usize, last: usize| {
                needed.iter().any(|(line, _)| (first..=last).contains(&line.number))
            };
            let lines: u64 = blocks
                .iter()
                .filter(|(first, last, _)| holds(*first, *last))
                .map(|(.., tokens)| tokens)
                .sum();
            result.recovery_tokens = RECOVERY_CALL + lines;
        }
        let tool = result.tool.clone();
        self.each_sums(&tool, |sums| sums.settled(&result));
        let most = self.options.examples;
        keep_largest(&mut self.savings.largest, &result, most, ReplayedResult::tokens_cut);
        if !result.needed.is_empty() {
            let needed =
                |result: &ReplayedResult| (result.lines_edited, result.lines_quoted, result.lines_read_again);
            keep_largest(&mut self.savings.worst, &result, most, needed);
        }
    }

    /// Takes tokens that would not have been sent again.
    pub(super) fn not_resent(&mut self, tool: &str, tokens: u64) {
        self.each_sums(tool, |sums| sums.tokens_not_resent += tokens);
    }
}

/// Keeps a list of the largest, the largest first.
fn keep_largest<K: Ord>(
    list: &mut Vec<ReplayedResult>,
    new: &ReplayedResult,
    most: usize,
    key: impl Fn(&ReplayedResult) -> K,
) {
    let place = list.partition_point(|known| key(known) >= key(new));
    if place < most {
        list.insert(place, new.clone());
        list.truncate(most);
    }
}
