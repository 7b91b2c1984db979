//! Search results: `path:line:text` with context, results grouped under their file, and results of one file.

use super::RecordForm::Search;
use super::RecordRole::{Detail, Entry, Filler, Header};
use super::Source;
use super::located::{is_path, located};

/// Number of results in a row that make a listing.
const FEWEST: usize = 3;

pub(super) fn read(source: &mut Source<'_>, at: usize) -> Option<usize> {
    read_located(source, at)
        .or_else(|| read_grouped(source, at))
        .or_else(|| read_unnumbered(source, at))
        .or_else(|| read_one_file(source, at))
}

fn read_located(source: &mut Source<'_>, at: usize) -> Option<usize> {
    let is_result = |at: usize| located(source.line(at)).is_some();
    let is_separator = |at: usize| source.line(at) == "--";
    if !is_result(at)
        || (at..at + FEWEST).any(|next| !is_result(next) && !is_separator(next) && source.has(next))
    {
        return None;
    }
    if !source.has(at + FEWEST - 1) && at > 0 {
        return None;
    }
    let mut next = at;
    // The function that git prints before the matches in it.
    let mut function = None;
    while source.has(next) {
        let line = source.line(next);
        if line == "--" {
            source.extend(Search, Filler, next, None);
            function = None;
        } else if let Some(place) = located(line) {
            match place.sign {
                b'=' => function = Some(source.add(Search, Header, next..next + 1, None)),
                b'-' => source.extend(Search, Detail, next, None),
                _ => {
                    source.add(Search, Entry, next..next + 1, function);
                }
            }
        } else if !is_interruption(source, next) {
            break;
        } else {
            source.extend(Search, Filler, next, None);
        }
        next += 1;
    }
    Some(next)
}

/// `Binary file x matches`, or one blank line between results.
fn is_interruption(source: &Source<'_>, at: usize) -> bool {
    let line = source.line(at);
    let blank = line.trim().is_empty() && located(source.line(at + 1)).is_some();
    blank || line.starts_with("Binary file ") && line.ends_with(" matches")
}

/// A path on its own line, its numbered results below, and a blank line between files.
fn read_grouped(source: &mut Source<'_>, at: usize) -> Option<usize> {
    let opens = |at: usize| is_path(source.line(at)) && numbered(source.line(at + 1)).is_some();
    if !opens(at) {
        return None;
    }
    let more = numbered(source.line(at + 2)).is_some()
        || source.line(at + 2) == "--"
        || opens(at + 3)
        || opens(at + 2);
    if !more {
        return None;
    }
    let mut next = at;
    let mut file = None;
    while source.has(next) {
        let line = source.line(next);
        let names_file = is_path(line) && numbered(source.line(next + 1)).is_some();
        if names_file {
            file = Some(source.add(Search, Header, next..next + 1, None));
        } else if let (Some((_, sign, _)), Some(_)) = (numbered(line), file) {
            if sign == b':' {
                source.add(Search, Entry, next..next + 1, file);
            } else {
                source.extend(Search, Detail, next, file);
            }
        } else if line == "--" || line.is_empty() && is_path(source.line(next + 1)) {
            source.extend(Search, Filler, next, None);
        } else {
            break;
        }
        next += 1;
    }
    Some(next)
}

/// `path:text`, as grep writes without `-n`. Some path must repeat, otherwise it may be anything.
fn read_unnumbered(source: &mut Source<'_>, at: usize) -> Option<usize> {
    let path = |at: usize| unnumbered(source.line(at));
    let first = path(at)?;
    let run = (at..at + 2 * FEWEST).take_while(|&next| path(next).is_some()).count();
    let repeats = (at + 1..at + run).any(|next| path(next) == path(next - 1));
    if run < FEWEST || !repeats || !first.contains('/') && !has_extension(first) {
        return None;
    }
    let mut next = at;
    while source.has(next) && (unnumbered(source.line(next)).is_some() || source.line(next) == "--") {
        let role = if source.line(next) == "--" { Filler } else { Entry };
        source.add(Search, role, next..next + 1, None);
        next += 1;
    }
    Some(next)
}

fn unnumbered(line: &str) -> Option<&str> {
    let (path, text) = line.split_once(':')?;
    // `tests/a.py::test_b` names a test.
    (!text.starts_with(':') && is_path(path) && (path.contains('/') || has_extension(path))).then_some(path)
}

fn has_extension(path: &str) -> bool {
    const EXTENSIONS: [&str; 36] = [
        "rs", "py", "js", "ts", "tsx", "jsx", "go", "c", "h", "cc", "cpp", "hpp", "java", "kt", "rb", "php",
        "cs", "swift", "md", "rst", "txt", "toml", "yaml", "yml", "json", "html", "css", "scss", "sh", "sql",
        "xml", "lock", "vue", "lua", "pl", "scala",
    ];
    path.rsplit_once('.').is_some_and(|(_, end)| EXTENSIONS.contains(&end))
}

/// Results of one file: `12:text`, with numbers that rise and skip.
fn read_one_file(source: &mut Source<'_>, at: usize) -> Option<usize> {
    let number = |at: usize| {
        let line = source.line(at);
        numbered(line).filter(|(_, _, text)| !is_time(text)).map(|(number, _, _)| number)
    };
    let mut last = number(at)?;
    let mut skips = false;
    let mut seen = 1;
    let mut next = at + 1;
    // A file's first results may follow one another, so a few more lines decide.
    while next < at + 40 && source.has(next) {
        match number(next) {
            Some(number) if number > last => {
                skips |= number > last + 1;
                last = number;
                seen += 1;
            }
            None if source.line(next) == "--" => skips = true,
            _ => break,
        }
        next += 1;
    }
    if seen < FEWEST || !skips {
        return None;
    }
    let mut next = at;
    while source.has(next) {
        match numbered(source.line(next)) {
            Some((_, b':', _)) => {
                source.add(Search, Entry, next..next + 1, None);
            }
            Some(_) => source.extend(Search, Detail, next, None),
            None if source.line(next) == "--" => source.extend(Search, Filler, next, None),
            None => break,
        }
        next += 1;
    }
    Some(next)
}

/// The number, the sign behind it and the text of `12:text` or `12-text`.
fn numbered(line: &str) -> Option<(u64, u8, &str)> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let sign = *line.as_bytes().get(digits)?;
    if !(1..=7).contains(&digits) || !matches!(sign, b':' | b'-') {
        return None;
    }
    Some((line[..digits].parse().ok()?, sign, &line[digits + 1..]))
}

/// What is behind the hour of a time, or behind the year of a date.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 3
        && bytes[0].is_ascii_digit()
        && bytes[1].is_ascii_digit()
        && matches!(bytes[2], b':' | b'-' | b'.')
}
