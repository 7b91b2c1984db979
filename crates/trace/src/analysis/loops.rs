//! Going in circles: one call again and again for the same result, two calls in turns, one file read and edited over and
//! over.

use tamis_logs::event::EventStream;
use tamis_logs::tool_kinds::ToolKind;

use super::calls::{Answered, Called, hash_of, shown_path};
use super::findings::{Findings, Severity, Spot};
use super::recent::Recent;
use super::rules::{Lens, Rule};

/// The same call with the same result is a loop from here on.
const SAME: u64 = 3;
/// Calls of two kinds in turns are a loop from here on.
const IN_TURNS: u64 = 6;
/// A file that is read again after an edit so often.
const CHURNED: u64 = 3;

#[derive(Default)]
pub(super) struct Loops {
    same: Recent<Same>,
    files: Recent<Churn>,
    in_turns: [InTurns; 2],
    found_in_turns: Vec<(Spot, u64, String)>,
}

#[derive(Default)]
struct Same {
    times: u64,
    bytes: u64,
    shown: String,
    spot: Option<Spot>,
}

#[derive(Default)]
struct Churn {
    edited: bool,
    rounds: u64,
    path: String,
    spot: Option<Spot>,
}

/// The last calls of a stream.
#[derive(Default)]
struct InTurns {
    last: Option<(u64, String)>,
    before: Option<(u64, String)>,
    /// Calls that each were the last but one.
    length: u64,
    spot: Option<Spot>,
}

/// Circles that are reported; more are only counted.
const MOST_REPORTED: usize = 1_000;

impl Loops {
    pub(super) fn called(&mut self, call: &Called) {
        if matches!(call.used.tool_kind, ToolKind::Poll | ToolKind::Plan | ToolKind::Ask) {
            return;
        }
        let stream = &mut self.in_turns[usize::from(call.stream == EventStream::Sidechain)];
        let goes_on = stream.before.as_ref().is_some_and(|(key, _)| *key == call.key)
            && stream.last.as_ref().is_some_and(|(key, _)| *key != call.key);
        if goes_on {
            stream.length = if stream.length == 0 { 3 } else { stream.length + 1 };
            stream.spot = Some(call.spot);
        } else {
            self.found_in_turns.extend(stream.ended().filter(|_| self.found_in_turns.len() < MOST_REPORTED));
        }
        stream.before = stream.last.replace((call.key, call.shown()));
    }

    pub(super) fn answered(&mut self, answer: &Answered<'_>) {
        let call = answer.call;
        if !matches!(call.used.tool_kind, ToolKind::Poll | ToolKind::Plan | ToolKind::Ask) && !answer.declined
        {
            let same = self.same.at(hash_of((call.key, answer.key)));
            same.times += 1;
            same.bytes = answer.bytes;
            if same.times >= SAME {
                same.shown = call.shown();
                same.spot = Some(answer.spot);
            }
        }
        let file = match call.used.paths.first() {
            Some(path) if !answer.failed => path,
            _ => return,
        };
        match call.used.tool_kind {
            ToolKind::Edit | ToolKind::Write => self.files.at(hash_of(file)).edited = true,
            ToolKind::Read => {
                let churn = self.files.at(hash_of(file));
                if std::mem::take(&mut churn.edited) {
                    churn.rounds += 1;
                    churn.path = file.clone();
                    churn.spot = Some(answer.spot);
                }
            }
            _ => {}
        }
    }

    pub(super) fn finish(mut self, findings: &mut Findings) {
        for same in self.same.into_values() {
            let Some(spot) = same.spot else { continue };
            findings.count(Rule::SameCall, 1);
            let severity = if same.times >= 2 * SAME { Severity::Critical } else { Severity::Warning };
            let message = format!("the same call gave the same result {} times: {}", same.times, same.shown);
            findings.report(Lens::Loops, severity, spot, &message);
        }
        let still = self.in_turns.iter_mut().filter_map(InTurns::ended);
        for (spot, length, shown) in self.found_in_turns.into_iter().chain(still) {
            findings.count(Rule::Alternating, 1);
            let severity = if length >= 2 * IN_TURNS { Severity::Critical } else { Severity::Warning };
            findings.report(
                Lens::Loops,
                severity,
                spot,
                &format!("{length} calls of two kinds in turns: {shown}"),
            );
        }
        for churn in self.files.into_values().filter(|churn| churn.rounds >= CHURNED) {
            let Some(spot) = churn.spot else { continue };
            findings.count(Rule::Churn, 1);
            let severity = if churn.rounds >= 2 * CHURNED { Severity::Warning } else { Severity::Info };
            let message =
                format!("{} was read again after an edit {} times", shown_path(&churn.path), churn.rounds);
            findings.report(Lens::Loops, severity, spot, &message);
        }
    }
}

impl InTurns {
    fn ended(&mut self) -> Option<(Spot, u64, String)> {
        let length = std::mem::take(&mut self.length);
        let (spot, (_, before), (_, last)) = (self.spot?, self.before.as_ref()?, self.last.as_ref()?);
        (length >= IN_TURNS).then(|| (spot, length, format!("{before} | {last}")))
    }
}
