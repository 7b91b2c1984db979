//! Files read again though nothing had changed them.
//!
//! A file counts as unchanged as long as no tool edited it, no command named it, and, where exactly the same part was read,
//! the result was the same. After a compaction the agent no longer has what it read, so reading it again is not waste.

use tamis_logs::event::EventStream;
use tamis_logs::tool_kinds::{ToolKind, may_be_one_file};

use super::calls::{Answered, hash_of, shown_path};
use super::findings::{Findings, Severity, Spot, many, rounded};
use super::recent::Recent;
use super::rules::{Lens, Rule};

/// Parts of one file that are remembered.
const MOST_PARTS: usize = 64;
/// Results below this are a client's word that nothing changed.
const LEAST_BYTES: u64 = 200;
/// Once more, and little of it, is nothing.
const WASTED_TIMES: u64 = 2;
const WASTED_BYTES: u64 = 8_000;
/// Files that commands are looked through for.
const MOST_FILES: usize = 512;

#[derive(Default)]
pub(super) struct Reads {
    files: Recent<File>,
    /// What was read lately, for commands that may have changed it.
    lately: Vec<(u64, String)>,
}

#[derive(Default)]
struct File {
    path: String,
    parts: Vec<Part>,
    again: u64,
    bytes_again: u64,
    spot: Option<Spot>,
}

struct Part {
    first: u64,
    last: u64,
    result: u64,
}

impl Reads {
    pub(super) fn compacted(&mut self) {
        for (key, _) in self.lately.drain(..) {
            if let Some(file) = self.files.known(key) {
                file.parts.clear();
            }
        }
    }

    pub(super) fn answered(&mut self, answer: &Answered<'_>) {
        let used = &answer.call.used;
        // A subagent does not have what its parent read.
        if answer.call.stream == EventStream::Sidechain || answer.declined {
            return;
        }
        match used.tool_kind {
            ToolKind::Read if !answer.failed => self.read(answer),
            ToolKind::Edit | ToolKind::Write => {
                self.changed(|path| used.paths.iter().any(|edited| may_be_one_file(path, edited)));
            }
            ToolKind::Run => {
                let command = used.words.as_deref().unwrap_or_default();
                self.changed(|path| command.contains(path.rsplit('/').next().unwrap_or(path)));
            }
            _ => {}
        }
    }

    fn changed(&mut self, is_changed: impl Fn(&str) -> bool) {
        let files = &mut self.files;
        self.lately.retain(|(key, path)| {
            let changed = is_changed(path);
            if changed && let Some(file) = files.known(*key) {
                file.parts.clear();
            }
            !changed
        });
    }

    fn read(&mut self, answer: &Answered<'_>) {
        let (Some(path), true) = (answer.call.used.paths.first(), answer.bytes >= LEAST_BYTES) else {
            return;
        };
        let key = hash_of(path);
        let (first, many) = answer.call.used.range.unwrap_or((1, u64::MAX));
        let part = Part { first, last: first.saturating_add(many - u64::from(many > 0)), result: answer.key };
        let file = self.files.at(key);
        if file.parts.is_empty() {
            file.path = path.clone();
            self.lately.retain(|(known, _)| *known != key);
            if self.lately.len() == MOST_FILES {
                self.lately.remove(0);
            }
            self.lately.push((key, path.clone()));
        }
        let exactly = |known: &&Part| known.first == part.first && known.last == part.last;
        if file.parts.iter().find(exactly).is_some_and(|known| known.result != part.result) {
            // Something outside the log changed it.
            file.parts.clear();
        } else if file.parts.iter().any(|known| known.first <= part.last && part.first <= known.last) {
            file.again += 1;
            file.bytes_again += answer.bytes;
            file.spot = Some(answer.spot);
        }
        if file.parts.len() < MOST_PARTS {
            file.parts.push(part);
        }
    }

    pub(super) fn finish(self, findings: &mut Findings) {
        for file in self.files.into_values() {
            let Some(spot) = file.spot else { continue };
            if file.again < WASTED_TIMES && file.bytes_again < WASTED_BYTES {
                continue;
            }
            findings.count(Rule::ReadAgain, 1);
            let tokens = file.bytes_again / 4;
            let severity =
                if file.again >= 3 || tokens >= 10_000 { Severity::Warning } else { Severity::Info };
            let message = format!(
                "{} was read again {} with nothing changed: about {} tokens",
                shown_path(&file.path),
                many(file.again, "time", "times"),
                rounded(tokens)
            );
            findings.report(Lens::RepeatedReads, severity, spot, &message);
        }
    }
}
