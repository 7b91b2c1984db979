//! What a replay reports.

use std::collections::BTreeMap;

use serde::Serialize;
use tamis_redact::Redacted;

/// What a replay found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SavingsReport {
    pub sessions: u64,
    /// Sessions whose logs could not be read.
    pub sessions_unread: u64,
    /// Whether there are more sessions than were requested.
    pub more_sessions: bool,
    pub totals: SavingsSums,
    /// Tokens of all results, pruned or not, as far as the clients sent them.
    #[serde(skip)]
    pub result_tokens: u64,
    pub by_tool: BTreeMap<String, SavingsSums>,
    pub by_provider: BTreeMap<&'static str, SavingsSums>,
    /// What was cut because it was already shown, and everything else by the kind of its result.
    pub parts: BTreeMap<&'static str, SavingsPart>,
    pub skipped: SkippedResults,
    /// Results with the most cut lines that were needed afterwards.
    pub worst: Vec<ReplayedResult>,
    /// Results with the most tokens cut.
    pub largest: Vec<ReplayedResult>,
    pub rules: &'static [&'static str],
}

/// Sums over results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SavingsSums {
    /// Results that were put through the sieve.
    pub results: u64,
    /// Of those, how many were cut.
    pub results_cut: u64,
    pub tokens_before: u64,
    pub tokens_after: u64,
    pub tokens_cut: u64,
    pub lines: u64,
    pub lines_cut: u64,
    pub results_with_edited_line: u64,
    pub results_with_quoted_line: u64,
    pub results_with_reread_line: u64,
    /// With a line that was edited, quoted or read again.
    pub results_with_needed_line: u64,
    pub lines_edited: u64,
    pub lines_quoted: u64,
    pub lines_read_again: u64,
    /// Lines that were cut because they were already shown, and read once more later. They are not counted as needed: the
    /// agent would have had them from where they were shown first.
    pub shown_lines_read_again: u64,
    /// What recovering the needed lines would have cost.
    pub recovery_tokens: u64,
    /// `tokens_cut` less `recovery_tokens`.
    pub net_tokens: i64,
    pub tokens_not_resent: u64,
    /// Of the cut lines, the share that was edited, quoted or read again afterwards, 0 to 1.
    pub needed_share: f64,
}

/// What was cut for one reason, or of one kind of result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SavingsPart {
    /// Results of this kind, or with lines that were already shown.
    pub results: u64,
    pub results_cut: u64,
    /// Tokens of these results; of what was already shown, the tokens that were shown.
    pub tokens_before: u64,
    pub tokens_cut: u64,
    pub lines_cut: u64,
    pub lines_needed: u64,
}

/// Results that were not put through the sieve, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SkippedResults {
    pub too_small: u64,
    pub too_large: u64,
    pub already_pruned: u64,
    /// The same result of the same call in another log.
    pub copies: u64,
    pub without_goal: u64,
    /// Of tools that tamis would not stand before, or failed.
    pub other: u64,
}

/// One result, played again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReplayedResult {
    pub session_id: String,
    pub event_index: u64,
    pub tool: String,
    pub path: Option<String>,
    pub tokens_before: u64,
    pub tokens_after: u64,
    pub lines: u64,
    pub cut_lines: u64,
    pub lines_edited: u64,
    pub lines_quoted: u64,
    pub lines_read_again: u64,
    pub recovery_tokens: u64,
    /// Of the parts, the one that its other cuts belong to.
    pub kind: &'static str,
    /// Of its tokens, those that were already shown and cut for that.
    pub shown_tokens: u64,
    pub shown_lines: u64,
    pub shown_lines_read_again: u64,
    /// Some of the needed lines.
    pub needed: Vec<NeededLine>,
}

/// A line that would have been cut, and was needed afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NeededLine {
    /// 1-based, in the result.
    pub line: u64,
    pub text: Redacted,
    /// `edited`, `quoted` or `read_again`.
    pub how: &'static str,
    /// The event that needed it.
    pub by_event: u64,
}

impl SavingsSums {
    /// Cut lines that were edited, quoted or read again.
    pub fn lines_needed(&self) -> u64 {
        self.lines_edited + self.lines_quoted + self.lines_read_again
    }

    pub(super) fn seen(&mut self, result: &ReplayedResult) {
        self.results += 1;
        self.results_cut += u64::from(result.cut_lines > 0);
        self.tokens_before += result.tokens_before;
        self.tokens_after += result.tokens_after;
        self.tokens_cut += result.tokens_before.saturating_sub(result.tokens_after);
        self.lines += result.lines;
        self.lines_cut += result.cut_lines;
        self.close();
    }

    pub(super) fn settled(&mut self, result: &ReplayedResult) {
        self.results_with_edited_line += u64::from(result.lines_edited > 0);
        self.results_with_quoted_line += u64::from(result.lines_quoted > 0);
        self.results_with_reread_line += u64::from(result.lines_read_again > 0);
        self.results_with_needed_line += u64::from(result.lines_needed() > 0);
        self.lines_edited += result.lines_edited;
        self.lines_quoted += result.lines_quoted;
        self.lines_read_again += result.lines_read_again;
        self.shown_lines_read_again += result.shown_lines_read_again;
        self.recovery_tokens += result.recovery_tokens;
        self.close();
    }

    fn close(&mut self) {
        let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        self.net_tokens = signed(self.tokens_cut) - signed(self.recovery_tokens);
        self.needed_share = self.lines_needed() as f64 / self.lines_cut.max(1) as f64;
    }
}

impl ReplayedResult {
    pub(super) fn lines_needed(&self) -> u64 {
        self.lines_edited + self.lines_quoted + self.lines_read_again
    }

    pub(super) fn tokens_cut(&self) -> u64 {
        self.tokens_before.saturating_sub(self.tokens_after)
    }
}
