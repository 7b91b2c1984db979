//! Outlier detection in logs: the one request that failed, the one disk that is full.
//!
//! Found without the goal, by three signs: a number far from the mean of its template, a template that is rare in a
//! repetitive log, and an HTTP status of 400 or more.

use crate::EngineError;
use crate::logs::{LINE_BYTES, is_number};

/// A template needs this many lines for a meaningful mean.
const ENOUGH_LINES: u32 = 30;
/// Only this many numbers of a line are compared, from the left.
const FIELDS: usize = 16;
/// A value further from the mean than this many standard deviations is an outlier.
const DEVIATIONS: f64 = 6.0;
/// A template with up to `RARE` lines is rare, in a log where most templates have `REPEATED` lines or more.
const RARE: u32 = 2;
const REPEATED: u32 = 5;

pub(crate) fn find(
    lines: &[&str],
    template: &[u32],
    counts: &[u32],
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<bool>, EngineError> {
    let mut stands_out: Vec<bool> = lines.iter().map(|line| has_failed_http_status(line)).collect();
    mark_rare(lines, template, counts, &mut stands_out);

    // Only templates with enough lines get sums, which saves memory.
    let mut slot = vec![u32::MAX; counts.len()];
    let mut slots = 0u32;
    for (slot, &count) in slot.iter_mut().zip(counts) {
        if count >= ENOUGH_LINES {
            *slot = slots;
            slots += 1;
        }
    }
    let mut sums = vec![[(0.0f64, 0.0f64); FIELDS]; slots as usize];
    let usual = |line: usize| slot.get(template[line] as usize).copied().filter(|&slot| slot != u32::MAX);
    for (number, line) in lines.iter().enumerate() {
        if number % 512 == 0 && interrupted() {
            return Err(EngineError::Interrupted);
        }
        if let Some(slot) = usual(number) {
            each_value(line, |field, value| {
                let (sum, squares) = &mut sums[slot as usize][field];
                *sum += value;
                *squares += value * value;
            });
        }
    }
    for (number, line) in lines.iter().enumerate() {
        if number % 512 == 0 && interrupted() {
            return Err(EngineError::Interrupted);
        }
        if let Some(slot) = usual(number) {
            let count = f64::from(counts[template[number] as usize]);
            each_value(line, |field, value| {
                let (sum, squares) = sums[slot as usize][field];
                let mean = sum / count;
                let variance = (squares / count - mean * mean).max(0.0);
                stands_out[number] |= (value - mean).abs() > DEVIATIONS * variance.sqrt().max(1e-9);
            });
        }
    }
    Ok(stands_out)
}

/// Marks lines of rare templates, if the log is mostly repetition.
fn mark_rare(lines: &[&str], template: &[u32], counts: &[u32], stands_out: &mut [bool]) {
    let count = |line: usize| counts[template[line] as usize];
    let written = |line: &usize| !lines[*line].trim().is_empty();
    let all = (0..lines.len()).filter(written).count();
    let repeated = (0..lines.len()).filter(written).filter(|&line| count(line) >= REPEATED).count();
    let rare = (0..lines.len()).filter(written).filter(|&line| count(line) <= RARE).count();
    if repeated * 2 >= all && rare * 5 <= all {
        for line in (0..lines.len()).filter(written).filter(|&line| count(line) <= RARE) {
            stands_out[line] = true;
        }
    }
}

/// Visits the decimal numbers of a line, each with its position among everything that the template masks.
fn each_value(line: &str, mut take: impl FnMut(usize, f64)) {
    let bytes = &line.as_bytes()[..line.len().min(LINE_BYTES)];
    let words = bytes.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| is_number(word));
    for (field, word) in words.take(FIELDS).enumerate() {
        // Up to 15 digits, which a float holds exactly.
        if word.len() <= 15 && word.iter().all(u8::is_ascii_digit) {
            take(field, word.iter().fold(0.0, |value, digit| value * 10.0 + f64::from(digit - b'0')));
        }
    }
}

/// Whether the line reports an HTTP status of 400 or more.
pub(crate) fn has_failed_http_status(line: &str) -> bool {
    let bytes = &line.as_bytes()[..line.len().min(LINE_BYTES)];
    let edge = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'.');
    (0..bytes.len().saturating_sub(2)).any(|at| {
        matches!(bytes[at], b'4' | b'5')
            && bytes[at + 1].is_ascii_digit()
            && bytes[at + 2].is_ascii_digit()
            && edge(at.checked_sub(1).and_then(|before| bytes.get(before)))
            && edge(bytes.get(at + 3))
            && is_status_label(&bytes[..at])
    })
}

/// Whether the bytes before a number mark it as a status: `HTTP/1.1" `, `"status": `, `status=`, `status_code=`.
fn is_status_label(before: &[u8]) -> bool {
    let near = |word: &[u8], reach: usize| {
        let end = &before[before.len().saturating_sub(reach)..];
        end.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
    };
    near(b"status", 16) || near(b"http/", 11)
}

#[cfg(test)]
mod tests {
    use tamis_text::TextKind;

    use super::*;
    use crate::logs::repetition;

    fn outstanding(lines: &[String]) -> Vec<usize> {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let found = repetition(TextKind::Logs, &lines, &|| false).expect("nothing interrupts").stands_out;
        (0..lines.len()).filter(|&line| found[line]).collect()
    }

    #[test]
    fn an_unusual_number_stands_out() {
        let mut log: Vec<_> =
            (0..200).map(|n| format!("10:{:02}:{:02} disk usage {}%", n / 60, n % 60, 30 + n % 25)).collect();
        assert_eq!(outstanding(&log), [0usize; 0]);
        log[77] = "10:01:17 disk usage 99%".to_owned();
        assert_eq!(outstanding(&log), [77]);
    }

    #[test]
    fn a_failed_status_stands_out() {
        for line in [
            r#"10.0.0.1 - - [02/Mar/2026] "GET /a HTTP/1.1" 502 17"#,
            r#"{"path":"/a","status":503,"ms":12}"#,
            "request done status=404 size=12",
        ] {
            assert!(has_failed_http_status(line), "{line}");
        }
        for line in
            [r#""GET /a HTTP/1.1" 200 404"#, "took 500 ms", "status ok after 5.400 s", "HTTP/1.1 4042"]
        {
            assert!(!has_failed_http_status(line), "{line}");
        }
    }

    #[test]
    fn a_rare_template_stands_out_among_repeated_ones() {
        let mut log: Vec<_> = (0..100).map(|n| format!("session {n} opened for alice")).collect();
        log[40] = "session 40 opened for bob".to_owned();
        assert_eq!(outstanding(&log), [40]);
        let prose: Vec<_> = (0..26u8).map(|n| format!("a {} line", char::from(b'a' + n))).collect();
        assert_eq!(outstanding(&prose), [0usize; 0], "where all differ, none does");
    }
}
