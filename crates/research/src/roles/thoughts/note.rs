//! A note: its title, its date, and its most relevant lines.

use crate::SourceFile;
use crate::question::Question;
use crate::roles::format::brief;

/// A parsed note.
pub(super) struct NoteFile<'a> {
    pub(super) title: String,
    /// `2025-01-31`, from its name or its front matter.
    pub(super) date: Option<String>,
    lines: Vec<&'a str>,
    /// The first line behind the front matter.
    begin: usize,
}

/// A relevant line.
pub(super) struct RelevantLine {
    /// From 1.
    pub(super) number: usize,
    heading: Option<String>,
    text: String,
}

/// Words that mark decisions.
#[rustfmt::skip]
const DECISIONS: [&str; 13] = [
    "decision", "decided", "decide", "we will", "chose", "chosen", "conclusion", "resolved", "because", "therefore",
    "must not", "status:", "outcome",
];

/// Whether a file is one that people write notes into.
pub(super) fn is_note(path: &str) -> bool {
    let ending =
        path.rsplit('/').next().and_then(|file| file.rsplit_once('.')).map_or("", |(_, ending)| ending);
    ["md", "markdown", "mdx", "txt", "rst", "org", "adoc"]
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
}

impl<'a> NoteFile<'a> {
    pub(super) fn of(source: &'a SourceFile) -> NoteFile<'a> {
        let lines = source.lines();
        let fenced = lines.first().is_some_and(|line| line.trim_end() == "---");
        let end = lines.iter().skip(1).take(60).position(|line| line.trim_end() == "---").filter(|_| fenced);
        let begin = end.map_or(0, |end| end + 2).min(lines.len());
        let field = |name: &str| {
            let front = lines.iter().take(begin);
            let found = front
                .filter_map(|line| line.split_once(':'))
                .find(|(key, _)| key.trim().eq_ignore_ascii_case(name));
            found
                .map(|(_, value)| value.trim().trim_matches(['"', '\'']).to_owned())
                .filter(|value| !value.is_empty())
        };
        let file = source.place.path.rsplit('/').next().unwrap_or(&source.place.path);
        let heading = || lines.iter().skip(begin).find_map(|line| heading(line)).map(str::to_owned);
        // A line that is underlined, as in reStructuredText.
        let ruled =
            |line: &str| line.len() > 2 && line.bytes().all(|byte| matches!(byte, b'=' | b'-' | b'~'));
        let underlined = || {
            let two = lines.windows(2).skip(begin).take(20);
            let mut titles =
                two.filter(|two| ruled(two[1].trim_end()) && two[0].contains(char::is_alphabetic));
            titles.next().map(|two| two[0].trim().to_owned())
        };
        let title = field("title").or_else(heading).or_else(underlined).unwrap_or_else(|| file.to_owned());
        let named = ["date", "created", "last_updated", "updated"]
            .into_iter()
            .find_map(|name| date_in(&field(name)?));
        NoteFile { title, date: date_in(&source.place.path).or(named), lines, begin }
    }

    /// The lines that have most of the question's words, those that decide something before others.
    pub(super) fn relevant_lines(&self, question: &Question, most: usize) -> Vec<RelevantLine> {
        let mut under: Option<&str> = None;
        let mut fence = false;
        let mut found: Vec<(f64, usize, Option<String>)> = Vec::new();
        for (number, line) in self.lines.iter().enumerate().skip(self.begin) {
            let line = &line[..line.floor_char_boundary(600)];
            if line.trim_start().starts_with("```") {
                fence = !fence;
            }
            if line.trim().is_empty() || fence {
                continue;
            }
            let words = question.matched_stems(line).len() as f64;
            let is_heading = heading(line).is_some();
            let context = under.map_or(0.0, |heading| 0.5 * question.matched_stems(heading).len() as f64);
            let lower = line.to_lowercase();
            let above = under.map(str::to_lowercase).unwrap_or_default();
            let decides = DECISIONS.iter().any(|word| lower.contains(word) || above.contains(word));
            if is_heading {
                under = heading(line);
            }
            let score =
                words + context + if decides { 1.5 } else { 0.0 } - if is_heading { 0.6 } else { 0.0 };
            // The title is shown already, and a heading without the words is not relevant.
            let idle = heading(line).is_some_and(|heading| words == 0.0 || heading == self.title);
            if !idle && (words > 0.0 || (decides && context > 0.0)) {
                let above = under.filter(|_| !is_heading).map(str::to_owned);
                found.push((score, number, above));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found.truncate(most);
        let lines = found.into_iter().map(|(_, number, above)| RelevantLine {
            number: number + 1,
            // The title is shown already.
            heading: above.filter(|above| *above != self.title),
            text: self.sentence(number),
        });
        lines.collect()
    }

    /// A line, and what it goes on with when it was broken for its length.
    fn sentence(&self, number: usize) -> String {
        let mut text = plain(self.lines[number]);
        if heading(self.lines[number]).is_some() {
            return text;
        }
        for line in self.lines.iter().skip(number + 1).take(2) {
            let next = line.trim();
            let opens = next.starts_with(['#', '-', '*', '>', '+', '|', '`', '='])
                || next.starts_with(char::is_numeric);
            if next.is_empty() || opens || text.ends_with(['.', ':', '!', '?', '|']) || text.len() < 40 {
                break;
            }
            text.push(' ');
            text.push_str(&plain(&next[..next.floor_char_boundary(300)]));
        }
        text
    }
}

impl RelevantLine {
    pub(super) fn render(&self) -> String {
        let heading =
            self.heading.as_ref().map_or(String::new(), |heading| format!("{}: ", brief(heading, 60)));
        format!("{heading}{}", brief(&self.text, 150))
    }
}

fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(['#', '*', '=']);
    let marked = rest.len() < line.len() && rest.starts_with(' ') && !line.starts_with("* ");
    marked
        .then(|| rest.trim().trim_end_matches('#').trim())
        .filter(|heading| heading.contains(char::is_alphabetic))
}

/// Without the signs that only a renderer needs.
fn plain(line: &str) -> String {
    let line = line.trim().trim_start_matches(['#', '-', '*', '>', '+']).trim();
    line.replace("**", "").replace("__", "")
}

/// The first date in a text: `2025-01-31`, `2025_01_31` or `20250131`.
fn date_in(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let digits = |at: usize, many: usize| {
        let part = bytes.get(at..at + many)?;
        part.iter().all(u8::is_ascii_digit).then(|| String::from_utf8_lossy(part).into_owned())
    };
    (0..bytes.len()).find_map(|at| {
        if at > 0 && bytes[at - 1].is_ascii_digit() {
            return None;
        }
        let year = digits(at, 4)?;
        let gap = usize::from(matches!(bytes.get(at + 4), Some(b'-' | b'_')));
        let (month, day) = (digits(at + 4 + gap, 2)?, digits(at + 6 + 2 * gap, 2)?);
        let more = bytes.get(at + 8 + 2 * gap).is_some_and(u8::is_ascii_digit);
        let sound = ("1970".."2200").contains(&year.as_str())
            && ("01"..="12").contains(&month.as_str())
            && ("01"..="31").contains(&day.as_str());
        (sound && !more && (gap == 0 || bytes.get(at + 7) == bytes.get(at + 4)))
            .then(|| format!("{year}-{month}-{day}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_found_where_they_are_dates() {
        for (text, expected) in [
            ("notes/2025-01-31-auth.md", Some("2025-01-31")),
            ("20250131.md", Some("2025-01-31")),
            ("a/2025_01_31 x", Some("2025-01-31")),
            ("2025-13-01", None),
            ("120250131", None),
            ("202501311", None),
            ("v1.2.3", None),
            ("2025", None),
        ] {
            assert_eq!(date_in(text).as_deref(), expected, "{text}");
        }
        assert_eq!((heading("## Why ##"), heading("* item"), heading("#tag")), (Some("Why"), None, None));
    }
}
