//! Failed calls: which were put right, which never, and which were only tried again.
//!
//! A failure counts as put right when the same thing succeeded later (the same file edited, the same command run), or when
//! the agent got there another way within the turn (the same program run, another file read). What a user declined is not a
//! failure.

use std::collections::BTreeMap;

use tamis_logs::tool_kinds::{ToolKind, may_be_one_file};

use super::calls::{Answered, Called, hash_of};
use super::findings::{Findings, Severity, Spot, many};
use super::recent::Recent;
use super::rules::{Lens, Rule};

/// Failures that may still be put right; the oldest is given up beyond this.
const MOST_OPEN: usize = 256;

#[derive(Default)]
pub(super) struct Failures {
    turns: BTreeMap<u64, TurnFailures>,
    open: Vec<Open>,
    again: Recent<Again>,
    /// Counts up with each successful change of a file.
    changes: u64,
}

#[derive(Default)]
struct TurnFailures {
    calls: u64,
    failed: BTreeMap<String, u64>,
    never_put_right: u64,
    /// Of those, or of all: the one to look at.
    shown: Option<(Spot, String)>,
}

struct Open {
    spot: Spot,
    shown: String,
    tool_kind: ToolKind,
    name: String,
    target: Option<String>,
}

#[derive(Default)]
struct Again {
    changes: u64,
    failed: u64,
    shown: String,
    spot: Option<Spot>,
}

impl Failures {
    pub(super) fn called(&mut self, call: &Called) {
        self.turns.entry(call.spot.turn).or_default().calls += 1;
    }

    pub(super) fn answered(&mut self, answer: &Answered<'_>) {
        let Called { name, used, .. } = answer.call;
        if answer.declined {
            return;
        }
        if !answer.failed {
            self.open.retain(|open| !open.is_put_right_by(answer));
            self.changes += u64::from(matches!(used.tool_kind, ToolKind::Edit | ToolKind::Write));
            return;
        }
        let turn = self.turns.entry(answer.spot.turn).or_default();
        *turn.failed.entry(name.clone()).or_default() += 1;
        turn.shown.get_or_insert_with(|| (answer.spot, answer.call.shown()));
        if self.open.len() == MOST_OPEN {
            let given_up = self.open.remove(0);
            give_up(&mut self.turns, given_up);
        }
        self.open.push(Open {
            spot: answer.spot,
            shown: answer.call.shown(),
            tool_kind: used.tool_kind,
            name: name.clone(),
            target: used.target().map(str::to_owned),
        });
        let again = self.again.at(answer.call.key);
        if again.failed > 0 && again.changes != self.changes {
            again.failed = 0;
        }
        again.failed += 1;
        again.changes = self.changes;
        if again.failed > 1 {
            again.shown = answer.call.shown();
            again.spot = Some(answer.spot);
        }
    }

    /// A result that failed, whose call is not in the log: nothing can be known to have put it right.
    pub(super) fn failed_without_call(&mut self, spot: Spot) {
        let turn = self.turns.entry(spot.turn).or_default();
        *turn.failed.entry("unknown tool".to_owned()).or_default() += 1;
        if turn.never_put_right == 0 {
            turn.shown = Some((spot, "a result whose call is not in the log".to_owned()));
        }
        turn.never_put_right += 1;
    }

    pub(super) fn finish(mut self, findings: &mut Findings) {
        for open in std::mem::take(&mut self.open) {
            give_up(&mut self.turns, open);
        }
        for turn in self.turns.into_values() {
            let failed: u64 = turn.failed.values().sum();
            let Some((spot, shown)) = turn.shown else { continue };
            let lost = turn.never_put_right;
            findings.count(Rule::NeverPutRight, lost);
            findings.count(Rule::PutRight, failed - lost);
            let of_calls = many(turn.calls.max(failed), "tool call", "tool calls");
            let message = match (failed, lost) {
                (1, 0) => format!("1 of {of_calls} failed and was put right: {shown}"),
                (1, _) => format!("1 of {of_calls} failed and was never put right: {shown}"),
                (_, 0) => {
                    format!("{failed} of {of_calls} failed and were put right: {}", by_tool(&turn.failed))
                }
                (_, lost) => {
                    format!(
                        "{failed} of {of_calls} failed ({}); {lost} never put right: {shown}",
                        by_tool(&turn.failed)
                    )
                }
            };
            let severity = match lost {
                0 => Severity::Info,
                _ if lost >= 3 || lost == 2 && turn.calls <= 4 => Severity::Critical,
                _ => Severity::Warning,
            };
            findings.report(Lens::Failures, severity, spot, &message);
        }
        for again in self.again.into_values() {
            let (Some(spot), true) = (again.spot, again.failed > 1) else { continue };
            findings.count(Rule::FailedAgain, again.failed - 1);
            let severity = if again.failed > 2 { Severity::Critical } else { Severity::Warning };
            let message = format!(
                "the same call failed {} times with no file changed between: {}",
                again.failed, again.shown
            );
            findings.report(Lens::Failures, severity, spot, &message);
        }
    }
}

/// `Bash 9, Edit 6 and 3 others`.
fn by_tool(failed: &BTreeMap<String, u64>) -> String {
    let mut tools: Vec<(&String, &u64)> = failed.iter().collect();
    tools.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let named: Vec<String> = tools.iter().take(3).map(|(name, count)| format!("{name} {count}")).collect();
    let others: u64 = tools.iter().skip(3).map(|(_, count)| **count).sum();
    match others {
        0 => named.join(", "),
        _ => format!("{} and {others} more", named.join(", ")),
    }
}

fn give_up(turns: &mut BTreeMap<u64, TurnFailures>, open: Open) {
    let turn = turns.entry(open.spot.turn).or_default();
    if turn.never_put_right == 0 {
        turn.shown = Some((open.spot, open.shown));
    }
    turn.never_put_right += 1;
}

impl Open {
    fn is_put_right_by(&self, answer: &Answered<'_>) -> bool {
        let (name, used) = (&answer.call.name, &answer.call.used);
        let same_turn = answer.spot.turn == self.spot.turn;
        let (Some(target), Some(other)) = (self.target.as_deref(), used.target()) else {
            return same_turn && *name == self.name;
        };
        match (self.tool_kind, used.tool_kind) {
            (ToolKind::Edit | ToolKind::Write, ToolKind::Edit | ToolKind::Write) => {
                used.paths.iter().any(|path| may_be_one_file(path, target))
            }
            (ToolKind::Run, ToolKind::Run) => {
                target == other || same_turn && program_of(target) == program_of(other)
            }
            (ToolKind::Read | ToolKind::Search, ToolKind::Read | ToolKind::Search) => same_turn,
            _ => *name == self.name && (target == other || same_turn),
        }
    }
}

/// A command's program, with its first word where that says what it does: `cargo test`, `grep`.
fn program_of(command: &str) -> u64 {
    let mut rest = command.trim_start();
    while rest.starts_with("cd ")
        && let Some((_, after)) = rest.split_once("&&")
    {
        rest = after.trim_start();
    }
    let mut words = rest.split_whitespace().skip_while(|word| word.contains('=') && !word.starts_with('-'));
    let program = words.next().unwrap_or_default();
    let first = words.next().filter(|word| HAVE_COMMANDS.contains(&program) && !word.starts_with('-'));
    hash_of((program, first))
}

/// Programs that do many things, as their first word says.
#[rustfmt::skip]
const HAVE_COMMANDS: &[&str] = &[
    "apt", "apt-get", "brew", "bun", "bundle", "cargo", "deno", "docker", "dotnet", "gh", "git", "go", "gradle", "kubectl",
    "make", "mvn", "node", "npm", "npx", "pip", "pnpm", "poetry", "python", "python3", "rails", "rustup", "swift", "terraform",
    "uv", "yarn",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_with_its_first_word() {
        let same = |one, other| program_of(one) == program_of(other);
        assert!(same("cargo test -p a", "cd /w && RUST_LOG=x cargo test"));
        assert!(same("grep -n x a", "grep y b.rs"));
        assert!(!same("cargo test", "cargo build"));
        assert!(!same("ls", "cargo"));
        assert!(same("", "  "));
    }
}
