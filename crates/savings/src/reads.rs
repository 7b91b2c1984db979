//! Which files a call reads, and whether a later call reads the same again.

use std::collections::HashMap;

use tamis_logs::tool_kinds::{CallDetails, ToolKind, may_be_one_file};

/// Programs whose arguments are files that they print.
const PRINTERS: &[&str] =
    &["cat", "sed", "nl", "head", "tail", "less", "more", "bat", "awk", "grep", "rg", "egrep", "jq"];

/// What a call reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadTarget {
    pub files: Vec<String>,
    /// The command, pattern or address.
    words: Option<String>,
}

impl ReadTarget {
    pub fn of(call: &CallDetails) -> ReadTarget {
        let words = call.words.as_ref().map(|words| words.trim().to_owned());
        let words = words.filter(|words| !words.is_empty());
        let mut files = call.paths.clone();
        if call.tool_kind == ToolKind::Run {
            files.extend(words.iter().flat_map(|command| printed_files(command)));
        }
        ReadTarget { files, words }
    }

    /// Whether both read one file.
    pub fn shares_file(&self, other: &ReadTarget) -> bool {
        self.files.iter().any(|one| other.files.iter().any(|other| may_be_one_file(one, other)))
    }

    /// Whether both are the same command or search.
    pub fn is_repeated_by(&self, other: &ReadTarget) -> bool {
        self.words.is_some() && self == other
    }
}

/// Which files the agent edited, and when.
#[derive(Default)]
pub struct FileEdits {
    /// Each path with the last event that edited it.
    files: HashMap<String, u64>,
    last: Option<u64>,
}

impl FileEdits {
    pub fn add(&mut self, paths: &[String], event: u64) {
        self.last = Some(event);
        self.files.extend(paths.iter().map(|path| (path.clone(), event)));
    }

    /// Whether one of these files was edited after this event.
    pub fn changed(&self, files: &[String], since: u64) -> bool {
        let is_one_of = |path: &str| files.iter().any(|file| may_be_one_file(path, file));
        self.files.iter().any(|(path, event)| *event > since && is_one_of(path))
    }

    /// Whether any file was edited after this event.
    pub fn changed_any(&self, since: u64) -> bool {
        self.last.is_some_and(|last| last > since)
    }
}

/// The files that a command line prints, as far as its words show them.
fn printed_files(command: &str) -> Vec<String> {
    let mut files = Vec::new();
    for part in command.split(['|', ';', '\n', '&']) {
        let mut words = part.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
        let program = words.find(|word| !word.contains('=')).unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or(program);
        if PRINTERS.contains(&program) {
            files.extend(words.filter(|word| is_file_name(word)).map(str::to_owned));
        }
    }
    files
}

/// Whether a word looks like a file's path, and not like an option, a script or a pattern.
fn is_file_name(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let is_plain = |letter: char| letter.is_alphanumeric() || "._-+@/~[]()".contains(letter);
    !word.starts_with(['-', '.'])
        && word.chars().all(is_plain)
        && (word.contains('/')
            || name.split_once('.').is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty()))
        && word.chars().any(char::is_alphabetic)
        || word.starts_with("./") && is_file_name(&word[2..])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_are_found_in_the_commands_that_print_them() {
        for (command, files) in [
            ("sed -n '1,200p' src/a.rs", "src/a.rs"),
            ("cd /w && nl -ba src/a.rs | sed -n '20,40p'", "src/a.rs"),
            ("cat a.rs b.rs; tail -50 /var/log/x.log", "a.rs b.rs /var/log/x.log"),
            ("LC_ALL=C head -n 5 \"./Makefile.am\"", "./Makefile.am"),
            ("rg -n 'fn main' crates/cli/src/main.rs", "crates/cli/src/main.rs"),
            ("cargo test -p x", ""),
            ("git diff a.rs", ""),
            ("awk '{print $1}' f.txt", "f.txt"),
            ("sed -n 1,5p", ""),
        ] {
            assert_eq!(printed_files(command).join(" "), files, "{command}");
        }
    }

    #[test]
    fn a_later_call_may_read_the_same() {
        let target =
            |name: &str, arguments: serde_json::Value| ReadTarget::of(&CallDetails::of(name, &arguments));
        let read = target("Read", json!({"file_path": "/w/src/a.rs"}));
        let printed = target("Bash", json!({"command": "sed -n 5,9p src/a.rs"}));
        let tests = target("Bash", json!({"command": "cargo test"}));
        assert!(read.shares_file(&printed) && printed.shares_file(&read) && !read.shares_file(&tests));
        assert!(tests.is_repeated_by(&target("Bash", json!({"command": " cargo test\n"}))));
        assert!(!tests.is_repeated_by(&target("Bash", json!({"command": "cargo test -q"}))));
        assert!(!read.is_repeated_by(&read.clone()), "a file is compared by its lines");
    }
}
