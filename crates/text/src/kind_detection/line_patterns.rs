//! What single lines of code, logs and documents look like.

use crate::interner::hash;
use crate::timestamps::{Timestamp, timestamp};

/// Keywords that begin lines of code in some language, followed by a space or an opening bracket.
#[rustfmt::skip]
const CODE_WORDS: [&str; 58] = [
    "import", "from", "use", "package", "def", "class", "fn", "func", "function", "pub", "struct",
    "enum", "trait", "impl", "interface", "type", "const", "let", "var", "static", "public", "private",
    "protected", "return", "if", "for", "while", "else", "switch", "match", "case", "export", "async",
    "await", "namespace", "template", "typedef", "void", "int", "char", "bool", "unsigned", "final",
    "abstract", "override", "mod", "extern", "module", "require", "local", "end", "elif", "try",
    "except", "catch", "with", "defer", "assert",
];

/// Prefixes of lines of logs, diffs and other command output.
#[rustfmt::skip]
const LOG_STARTS: [&str; 34] = [
    "diff --git", "index ", "@@ -", "+++ ", "--- ", "=== RUN", "=== PAUSE", "=== CONT", "PASS", "FAIL",
    "ok  \t", "?   \t", "Exit code", "exit status", "$ ", "total ", "drwx", "-rw", "lrwx", "Compiling ",
    "Finished ", "warning:", "error:", "error[", "WARN", "ERROR", "INFO", "DEBUG", "npm ", "Traceback ",
    "On branch", "commit ", "make: ", "make[",
];

/// Severities in log lines.
const LEVELS: [&str; 8] = ["INFO", "WARN", "ERROR", "DEBUG", "TRACE", "FATAL", "NOTICE", "CRITICAL"];

/// A Markdown heading.
pub(super) fn is_heading(line: &str) -> bool {
    let level = line.bytes().take_while(|&b| b == b'#').count();
    (1..=6).contains(&level) && line.as_bytes().get(level) == Some(&b' ') && line.len() > level + 1
}

/// Whether the line looks like one of a log or of a command's output.
pub(super) fn is_log_line(line: &str, trimmed: &str) -> bool {
    if starts_with_address(trimmed)
        || starts_with_count(trimmed)
        || (trimmed.starts_with("{\"") && trimmed.ends_with('}'))
    {
        return true;
    }
    if LOG_STARTS.iter().any(|start| line.starts_with(start))
        || starts_with_time(trimmed)
        || is_dated(trimmed)
    {
        return true;
    }
    if trimmed.starts_with("--- ")
        || trimmed.starts_with("=== ")
        || trimmed.starts_with("Compiling ")
        || trimmed.starts_with("at ")
    {
        return true;
    }
    if is_numbered_match(trimmed) {
        return true;
    }
    let head: &str = trimmed.get(..trimmed.len().min(48)).unwrap_or("");
    LEVELS.iter().any(|level| {
        head.find(level).is_some_and(|at| {
            let before = at.checked_sub(1).map(|i| head.as_bytes()[i]);
            let after = head.as_bytes().get(at + level.len()).copied();
            let edge = |b: Option<u8>| b.is_none_or(|b| matches!(b, b' ' | b'[' | b']' | b':' | b'|' | b'='));
            edge(before) && edge(after) && (at > 0 || after.is_some())
        })
    })
}

/// `[0001] `, a step counter.
fn starts_with_count(line: &str) -> bool {
    let Some((count, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) else {
        return false;
    };
    !count.is_empty()
        && count.len() <= 12
        && count.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'/' | b'.' | b' '))
}

/// `10.0.0.1 `, as access logs begin.
fn starts_with_address(line: &str) -> bool {
    let word = line.split(' ').next().unwrap_or_default();
    word.len() < line.len()
        && word.split('.').count() == 4
        && word
            .split('.')
            .all(|part| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
}

/// `2024-05-01`, `2024/05/01`, `12:34:56`, `[12:34`, `May  1 12:34:56`.
fn starts_with_time(line: &str) -> bool {
    let bytes = line.as_bytes();
    // Build services put names before the time, so `2024-05-01T12` counts a little further right too.
    let dated = |window: &[u8]| {
        window[0] == b'2'
            && window[4] == b'-'
            && window[7] == b'-'
            && window[10] == b'T'
            && window[9].is_ascii_digit()
    };
    if bytes[..bytes.len().min(90)].windows(12).any(dated) {
        return true;
    }
    let bytes = if bytes.first() == Some(&b'[') { &bytes[1..] } else { bytes };
    let shape: Vec<u8> = bytes.iter().take(10).map(|&b| if b.is_ascii_digit() { b'0' } else { b }).collect();
    if matches!(shape.as_slice(), b"0000-00-00" | b"0000/00/00") || shape.starts_with(b"00:00:00") {
        return true;
    }
    const MONTHS: [&[u8]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    MONTHS.iter().any(|month| shape.starts_with(month))
        && matches!(&shape[3..], [b' ', b'0' | b' ', b'0', b' ', ..])
}

/// Whether a line begins with a date and a time in any form, perhaps behind a few words. In code, quotes or brackets are before them.
fn is_dated(line: &str) -> bool {
    const HEAD_BYTES: usize = 64;
    let head = &line[..line.floor_char_boundary(HEAD_BYTES)];
    let head = head.split(['"', '\'', '`', '(', '=', '{', '<', ';']).next().unwrap_or_default();
    // Most lines of code have no number of two digits, and every time has.
    let has_number = || head.as_bytes().windows(2).any(|pair| pair.iter().all(u8::is_ascii_digit));
    if !has_number() {
        return false;
    }
    // A word may come before, such as a file or a host, and no comment, row or key.
    let before = head.find(|sign: char| sign.is_ascii_digit()).map_or("", |digit| head[..digit].trim());
    let is_plain = !before.contains(['#', '/', '|', '$', '*'])
        && !before.ends_with(':')
        && before.split_whitespace().nth(1).is_none()
        && !["On", "In", "At", "Since", "From", "Until"].contains(&before);
    if !is_plain && !before.starts_with('[') {
        return false;
    }
    match timestamp(head) {
        Timestamp { date: Some(_), time: Some(_) } => true,
        // `10535 04:01:24.381882 openat(…`
        Timestamp { date: None, time: Some(_) } => {
            let first =
                head.find(|sign: char| !(sign.is_ascii_digit() || matches!(sign, ' ' | ':' | '.' | '[')));
            first.is_none_or(|first| head[..first].matches(':').count() == 2)
        }
        _ => false,
    }
}

/// What a line of several words is but for its numbers, if it begins with one or with a sign. Statements, and rows of data, end with a
/// sign.
pub(super) fn template(trimmed: &str) -> Option<u64> {
    const FEWEST_WORDS: usize = 5;
    if trimmed.starts_with(char::is_alphabetic)
        || trimmed.ends_with([';', ',', '{', '}', '(', '[', ']', ':', '\\'])
        || !trimmed.bytes().any(|byte| byte.is_ascii_digit())
        || trimmed.split_whitespace().nth(FEWEST_WORDS - 1).is_none()
    {
        return None;
    }
    let words = trimmed.split(|letter: char| letter.is_ascii_digit()).filter(|part| !part.is_empty());
    Some(words.fold(0, |template: u64, part| template.rotate_left(5) ^ hash(part.as_bytes())))
}

/// `06e9376 Words`, as `git log --oneline` writes.
pub(super) fn starts_with_hash(line: &str) -> bool {
    let digits = line.bytes().take_while(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b)).count();
    (7..=40).contains(&digits)
        && line.as_bytes().get(digits) == Some(&b' ')
        && line.bytes().take(digits).any(|b| b.is_ascii_digit())
}

/// What grep and compilers print: `12:`, `12-`, `path/file.rs:12:`, `file.go-12-`.
fn is_numbered_match(line: &str) -> bool {
    let bytes = line.as_bytes();
    let mut at = 0;
    let limit = bytes.len().min(160);
    if !bytes.first().is_some_and(u8::is_ascii_digit) {
        // A path: no spaces, some dot or slash, then `:` or `-` and digits.
        let mut marked = false;
        loop {
            if at >= limit || bytes[at] == b' ' || bytes[at] == b'(' || bytes[at] == b'"' {
                return false;
            }
            if matches!(bytes[at], b':' | b'-') && marked && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
            {
                at += 1;
                break;
            }
            marked |= matches!(bytes[at], b'.' | b'/');
            at += 1;
        }
    }
    let digits = bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    digits > 0
        && digits < 7
        && matches!(bytes.get(at + digits), Some(b':' | b'-' | b'\t'))
        && bytes.len() < at + digits + 400
}

/// How many votes for code a line has.
pub(super) fn code_weight(trimmed: &str) -> u32 {
    let bytes = trimmed.as_bytes();
    let last = bytes[bytes.len() - 1];
    if trimmed.starts_with("//")
        || trimmed.starts_with("/*")
        || trimmed.starts_with("#include")
        || trimmed.starts_with("#!")
    {
        return 2;
    }
    if trimmed.starts_with("#[")
        || trimmed.starts_with("#define")
        || trimmed.starts_with("#if")
        || trimmed.starts_with('@')
    {
        return 2;
    }
    if matches!(last, b';' | b'{' | b'}') || matches!(trimmed, ")" | ");" | "]" | "]," | "}," | ")," | "end")
    {
        return 2;
    }
    if matches!(last, b'(' | b',') && trimmed.contains(['=', '(', '"']) {
        return 2;
    }
    let word = bytes.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let opens =
        CODE_WORDS.contains(&&trimmed[..word]) && matches!(bytes.get(word), Some(b' ' | b'(' | b'!' | b':'));
    let signs = bytes
        .iter()
        .filter(|b| matches!(b, b'(' | b')' | b'=' | b'{' | b'}' | b'[' | b']' | b';' | b'<' | b'>'))
        .count();
    if opens && (signs > 0 || last == b':') {
        return 2;
    }
    if matches!(&trimmed[..word], "import" | "package" | "use")
        && bytes.iter().filter(|&&b| b == b' ').count() == 1
    {
        return 2;
    }
    if signs >= 2 && !trimmed.contains(". ") && !is_markdown(trimmed) {
        return 1;
    }
    if is_setting(trimmed) {
        return 1;
    }
    u32::from(last == b':' && word > 0 && !trimmed.contains(' '))
        + u32::from(signs == 1 && trimmed.contains(" = "))
}

/// `key: value` or `- item` as in YAML: a key without spaces, a value of few words.
fn is_setting(trimmed: &str) -> bool {
    let item = trimmed.strip_prefix("- ").unwrap_or(trimmed);
    let few = |text: &str| text.split_whitespace().count() <= 3;
    match item.split_once(':') {
        Some((key, value)) => {
            !key.contains([' ', '*', '`', '[']) && (value.is_empty() || value.starts_with(' ')) && few(value)
        }
        None => item.len() < trimmed.len() && !item.contains([' ', '`', '*', '[']),
    }
}

/// Whether the line has Markdown syntax other than a heading.
pub(super) fn is_markdown(trimmed: &str) -> bool {
    let numbered = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    ["- ", "* ", "> ", "+ ", "| ", "|-", "![", "[!", "- ["].iter().any(|start| trimmed.starts_with(start))
        || (numbered > 0 && numbered < 3 && trimmed[numbered..].starts_with(". "))
        || trimmed.contains("](")
        || trimmed.starts_with("**")
}

/// Several words, mostly letters: a sentence.
pub(super) fn is_prose(trimmed: &str) -> bool {
    let spaces = trimmed.bytes().filter(|&b| b == b' ').count();
    let letters = trimmed.bytes().filter(|b| b.is_ascii_alphabetic() || *b >= 0x80).count();
    spaces >= 4 && letters * 10 >= trimmed.len() * 7 && !trimmed.contains("  ")
}
