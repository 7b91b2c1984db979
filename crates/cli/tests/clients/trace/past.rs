//! A home with a few megabytes of past sessions, generated alike on every run, with secrets in what was said and printed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

#[path = "../../../../logs/examples/generate/generator/mod.rs"]
#[allow(dead_code, reason = "what was generated is counted for others")]
mod generator;

/// What was planted.
#[derive(Clone, Debug)]
pub(crate) struct Past {
    /// Words that occur nowhere but right before a secret.
    pub(crate) traces: Vec<String>,
}

/// Of kinds that are known by their form. In two pieces each, so that secret scanners do not report this file.
const SECRETS: [[&str; 2]; 3] = [
    ["ghp_", "h8Kq2ZpXv4RtLm9WcYb3NsJd7FgQe6Ua1TxE"],
    ["AKIA", "Q4ZX7RWM2KTNV6PJ"],
    [
        "sk-ant-api03-",
        "b7Qm2Xw9LkTz4Vr8NcYp3HsJd6FgQe1Ua5TxEoRi0Kq2ZpXv4RtLm9WcYb3NsJd7FgQe6Ua1TxEhBnMcVlKjA-Wq3ZrTAA",
    ],
];

pub(crate) fn secrets() -> Vec<String> {
    SECRETS.iter().map(|pieces| pieces.concat()).collect()
}

/// Writes the logs of Claude Code, Codex and Gemini CLI into a home.
pub(crate) fn furnish(home: &Path) -> Past {
    let options = generator::Options { bytes: 6 << 20, seed: 5, needles: 20 };
    generator::generate(home, &options).expect("logs");
    let places = fs::read_to_string(home.join("needles.jsonl")).expect("a list of what was planted");
    let places = places.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    // Those that JSON writes as they are.
    let places: BTreeSet<(String, String)> = places
        .filter(|place| place["form"] == "phrase" || place["form"] == "word")
        .map(|place| (text(&place["phrase"]), text(&place["path"])))
        .collect();
    for ((phrase, path), secret) in places.iter().zip(secrets().iter().cycle()) {
        let path = home.join(path);
        let log = fs::read_to_string(&path).expect("a log");
        // Their first letter may be a capital.
        let tail = &phrase[1..];
        assert!(log.contains(tail), "{phrase} is not in {}", path.display());
        fs::write(&path, log.replace(tail, &format!("{tail} {secret}"))).expect("a log");
    }
    let traces: BTreeSet<String> = places.into_iter().map(|(phrase, _)| phrase).collect();
    assert!(traces.len() > 5, "{traces:?}");
    Past { traces: traces.into_iter().take(3).collect() }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}
