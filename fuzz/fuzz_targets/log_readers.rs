//! Log readers: nothing in a log makes them fail, and a reader that resumes from a state gives the same events.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tamis_logs::readers::claude::ClaudeReader;
use tamis_logs::readers::codex::CodexReader;
use tamis_logs::readers::{LineReader, ParsedLog, gemini};

fn read(reader: &mut dyn LineReader, lines: &[&str]) -> String {
    let mut all = String::new();
    for line in lines {
        let mut record = ParsedLog::default();
        reader.read(line, &mut record);
        all.push_str(&format!("{record:?}\n"));
    }
    all
}

fn check<R: LineReader>(new: impl Fn() -> R, resume: impl Fn(&str) -> Option<R>, lines: &[&str]) {
    let whole = read(&mut new(), lines);
    let (first, second) = lines.split_at(lines.len() / 2);
    let mut before = new();
    let mut in_parts = read(&mut before, first);
    let mut after = resume(&before.state()).expect("a reader resumes from its own state");
    in_parts.push_str(&read(&mut after, second));
    assert_eq!(in_parts, whole);
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let lines: Vec<&str> = text.split('\n').filter(|line| !line.is_empty()).collect();
    check(ClaudeReader::new, ClaudeReader::resume, &lines);
    check(CodexReader::default, CodexReader::resume, &lines);
    drop(gemini::read(&text));
});
