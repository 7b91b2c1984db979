//! Tokens: turns far above the others, requests that lost the prompt cache, and how the context grew.

use tamis_logs::event::{EventStream, Millis, seconds_between};
use tamis_logs::usage::{Tokens, UsageReport};

use super::calls::Answered;
use super::findings::{Findings, Largest, Severity, Spot, lasting, many, rounded};
use super::rules::{Lens, Rule};
use crate::accounting::{ReportVerdict, UsageAccount};

/// A turn is large from this multiple of the median and this number of tokens on, where there are turns to compare with.
const TIMES_THE_MEDIAN: u64 = 5;
const LARGE_TURN: u64 = 100_000;
const TURNS_TO_COMPARE: usize = 5;
/// Below this a context is small, and its jumps and misses are of no account.
const LARGE_CONTEXT: u64 = 20_000;
const JUMP: u64 = 25_000;
/// Jumps and misses that are reported one by one.
const MOST_REPORTED: usize = 3;

#[derive(Default)]
pub(super) struct Spending {
    account: UsageAccount,
    turns: Vec<(Spot, Tokens, u64)>,
    last: Option<(Tokens, Option<Millis>)>,
    /// The largest result since the last request.
    largest_result: Option<(u64, Spot, String)>,
    misses: Largest<MOST_REPORTED>,
    jumps: Largest<MOST_REPORTED>,
    has_cache: bool,
    /// Whether jumps of the context are reported.
    reports_jumps: bool,
    pub(super) sums: ContextSums,
}

/// What a session's contexts came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ContextSums {
    pub(super) tokens: Tokens,
    pub(super) requests: u64,
    pub(super) largest_context: u64,
    pub(super) compactions: u64,
}

impl Spending {
    pub(super) fn new(reports_jumps: bool) -> Spending {
        Spending { reports_jumps, ..Spending::default() }
    }

    pub(super) fn answered(&mut self, answer: &Answered<'_>) {
        if answer.call.stream != EventStream::Sidechain
            && self.largest_result.as_ref().is_none_or(|(bytes, ..)| answer.bytes > *bytes)
        {
            self.largest_result = Some((answer.bytes, answer.spot, answer.call.shown()));
        }
    }

    /// The client made the conversation shorter.
    pub(super) fn compacted(&mut self) {
        self.sums.compactions += 1;
        self.last = None;
    }

    /// Whether the conversation was made shorter, as the tokens show it.
    pub(super) fn report(
        &mut self,
        report: &UsageReport<'_>,
        spot: Spot,
        at: Option<Millis>,
        stream: EventStream,
    ) -> bool {
        let entry = self.account.take(report, at);
        self.sums.tokens = self.sums.tokens.plus(entry.added);
        match self.turns.last_mut().filter(|(known, ..)| known.turn == spot.turn) {
            Some((_, tokens, requests)) => {
                *tokens = tokens.plus(entry.added);
                *requests += u64::from(entry.verdict == ReportVerdict::First);
            }
            None => self.turns.push((spot, entry.added, u64::from(entry.verdict == ReportVerdict::First))),
        }
        if entry.verdict != ReportVerdict::First {
            return false;
        }
        self.sums.requests += 1;
        let now = report.tokens;
        self.sums.largest_context = self.sums.largest_context.max(now.read());
        if stream == EventStream::Sidechain || now.read() == 0 {
            return false;
        }
        self.has_cache |= now.cache_read > 0;
        let before = self.last.replace((now, at));
        let largest_result = self.largest_result.take();
        let Some((before, before_at)) = before.filter(|(before, _)| before.read() >= LARGE_CONTEXT) else {
            return false;
        };
        if now.read() * 2 < before.read() {
            self.sums.compactions += 1;
            return true;
        }
        let again = before.read().min(now.input.saturating_add(now.cache_creation));
        if self.has_cache && now.cache_read * 2 < before.read() && again >= LARGE_CONTEXT {
            let pause = seconds_between(before_at, at);
            self.misses.add(again, spot, || {
                let after = if pause >= 240 {
                    format!(" after a pause of {}", lasting(pause))
                } else {
                    String::new()
                };
                format!("{} tokens of context were read without the prompt cache{after}", rounded(again))
            });
        }
        let grown = now.read().saturating_sub(before.read());
        if grown >= JUMP && grown * 3 >= before.read() {
            let (largest, evidence) = match largest_result {
                Some((bytes, spot, shown)) if bytes / 4 >= grown / 4 => {
                    (format!("; largest result before it: {shown} ({} KB)", bytes / 1024), spot)
                }
                _ => (String::new(), spot),
            };
            self.jumps.add(grown, evidence, || {
                format!(
                    "the context jumped from {} to {}{largest}",
                    rounded(before.read()),
                    rounded(now.read())
                )
            });
        }
        false
    }

    pub(super) fn finish(self, findings: &mut Findings) -> ContextSums {
        let mut totals: Vec<u64> =
            self.turns.iter().map(|(_, tokens, _)| tokens.total()).filter(|total| *total > 0).collect();
        if totals.len() >= TURNS_TO_COMPARE {
            let middle = totals.len() / 2;
            let median = *totals.select_nth_unstable(middle).1;
            let least = LARGE_TURN.max(median.saturating_mul(TIMES_THE_MEDIAN));
            for (spot, tokens, requests) in self.turns.iter().filter(|(_, tokens, _)| tokens.total() >= least)
            {
                findings.count(Rule::LargeTurn, 1);
                let times = tokens.total() / median.max(1);
                let severity =
                    if times >= 4 * TIMES_THE_MEDIAN { Severity::Critical } else { Severity::Warning };
                let message = format!(
                    "{} tokens in {}, {times} times the median turn ({}); {} of them output",
                    rounded(tokens.total()),
                    many(*requests, "request", "requests"),
                    rounded(median),
                    rounded(tokens.output)
                );
                findings.report(Lens::TokenUsage, severity, *spot, &message);
            }
        }
        findings.count(Rule::CacheMiss, self.misses.many);
        self.misses.report(Lens::TokenUsage, "such requests", findings);
        if self.reports_jumps {
            findings.count(Rule::ContextJump, self.jumps.many);
            self.jumps.report(Lens::ContextGrowth, "jumps", findings);
        }
        self.sums
    }
}

impl Largest<MOST_REPORTED> {
    fn report(self, lens: Lens, name: &str, findings: &mut Findings) {
        for (index, (tokens, spot, mut message)) in self.kept.into_iter().enumerate() {
            if index == 0 && self.many > MOST_REPORTED as u64 {
                message = format!("{message}; {} {name} together {} tokens", self.many, rounded(self.sum));
            }
            let severity = if tokens >= 100_000 { Severity::Warning } else { Severity::Info };
            findings.report(lens, severity, spot, &message);
        }
    }
}
