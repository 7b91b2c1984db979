//! Lines that begin with a place: `path:line:text`, `path:line:column: text`, `path-line-text`.

/// A line that begins with a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Located<'a> {
    pub(super) path: &'a str,
    /// The byte behind the path and behind the number: `:` for a match, `-` or `=` for context.
    pub(super) sign: u8,
    pub(super) has_column: bool,
    pub(super) text: &'a str,
}

/// Paths are not longer.
const PATH_BYTES: usize = 400;

/// The place that a line begins with. Signs of context are looked for last: paths have hyphens and dates in them.
pub(super) fn located(line: &str) -> Option<Located<'_>> {
    located_while(line, may_continue_path)
}

/// The place that a line begins with, where the line is given up at the first byte behind which a path cannot go on.
fn located_while(line: &str, may_continue: fn(&[u8], usize) -> bool) -> Option<Located<'_>> {
    located_by(line, |sign| matches!(sign, b':' | 0 | b'('), may_continue)
        .or_else(|| located_by(line, |sign| matches!(sign, b'-' | b'='), may_continue))
}

fn located_by(
    line: &str,
    is_sign: impl Fn(u8) -> bool,
    may_continue: fn(&[u8], usize) -> bool,
) -> Option<Located<'_>> {
    let bytes = line.as_bytes();
    let limit = bytes.len().min(PATH_BYTES);
    for at in 1..limit {
        if !may_continue(bytes, at - 1) {
            return None;
        }
        let sign = bytes[at];
        if !is_sign(sign) || !bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
            continue;
        }
        let digits = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = at + 1 + digits;
        let behind = bytes.get(end).copied();
        if digits > 7 || !(is_path(&line[..at]) || sign == b':' && is_path_with_spaces(&line[..at])) {
            continue;
        }
        // `path(12,5): text`, as compilers for Windows and TypeScript write.
        if sign == b'(' {
            let close = line[end..].find("):").filter(|&close| close <= 8)?;
            let place = &line[end..end + close];
            if !place.bytes().all(|byte| byte.is_ascii_digit() || byte == b',') {
                continue;
            }
            let text = &line[end + close + 2..];
            return Some(Located { path: &line[..at], sign: b':', has_column: true, text });
        }
        if is_time(bytes, at) || is_date(bytes, at) {
            continue;
        }
        let closing = if sign == 0 { b':' } else { sign };
        let ends_with_number = sign == b':' && behind.is_none();
        if behind != Some(closing) && !ends_with_number {
            continue;
        }
        end = (end + 1).min(bytes.len());
        let column = bytes[end..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let has_column =
            closing == b':' && (1..=5).contains(&column) && bytes.get(end + column) == Some(&b':');
        let text = if has_column { &line[end + column + 1..] } else { &line[end..] };
        // `path:12:5 - error TS2345: text`, as TypeScript writes for people.
        if closing == b':' && (1..=5).contains(&column) && line[end + column..].starts_with(" - ") {
            let text = &line[end + column + 2..];
            return Some(Located { path: &line[..at], sign: closing, has_column: true, text });
        }
        return Some(Located { path: &line[..at], sign: closing, has_column, text });
    }
    None
}

/// `api.log.2026-05-16_13:53:08`: two digits before the sign and twice behind it.
fn is_time(line: &[u8], at: usize) -> bool {
    let is_two = |from: usize| {
        let digit = |at: usize| line.get(at).is_some_and(u8::is_ascii_digit);
        digit(from) && digit(from + 1) && !digit(from + 2)
    };
    line[at] == b':'
        && at >= 3
        && !line[at - 3].is_ascii_alphanumeric()
        && is_two(at - 2)
        && is_two(at + 1)
        && line.get(at + 3) == Some(&b':')
        && is_two(at + 4)
}

/// `api.log.2026-05-16`: a year before the sign, and a month behind it.
fn is_date(line: &[u8], at: usize) -> bool {
    let digits =
        |from: usize, to: usize| line.get(from..to).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    line[at] == b'-'
        && at >= 4
        && digits(at - 4, at)
        && matches!(&line[at - 4..at - 2], b"19" | b"20")
        && !at.checked_sub(5).is_some_and(|before| line[before].is_ascii_alphanumeric())
        && digits(at + 1, at + 3)
        && line.get(at + 3) == Some(&b'-')
        && digits(at + 4, at + 6)
}

/// Whether a path that begins the line may go on behind the byte at this place. All bytes before it may be in a path.
fn may_continue_path(line: &[u8], at: usize) -> bool {
    match line[at] {
        b'"' | b'\t' | b'<' | b'>' | b'{' | b'}' | b';' | b'\'' | b'`' | b'|' | b',' | b'=' | b'*' | b'?'
        | b'!' | b'$' | b'&' => false,
        // Only a path with a folder may have spaces.
        b' ' => line[..at].contains(&b'/'),
        // Only behind the letter of a drive.
        b':' => at == 1 && matches!(line.get(2), Some(b'\\' | b'/')),
        _ => true,
    }
}

/// Whether a text is a path as tools print it: no spaces or brackets, letters in it, and a slash, a dot or a known name.
pub(super) fn is_path(text: &str) -> bool {
    if text.is_empty() || text.len() > PATH_BYTES {
        return false;
    }
    let mut marked = false;
    let mut letters = false;
    for byte in text.bytes() {
        match byte {
            b' ' | b'\t' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' | b'{' | b'}' | b';' | b',' | b'='
            | b'*' | b'?' | b'!' | b'$' | b'&' => return false,
            b'/' | b'.' | b'\\' => marked = true,
            _ => letters |= byte.is_ascii_alphabetic() || byte >= 0x80,
        }
    }
    if !letters || !(marked || is_known_name(text)) || text.contains("://") {
        return false;
    }
    let drive = text.as_bytes().get(1) == Some(&b':') && matches!(text.as_bytes().get(2), Some(b'\\' | b'/'));
    !text[if drive { 2 } else { 0 }..].contains(':')
}

/// A path with spaces: it has a folder before the first of them.
fn is_path_with_spaces(text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or_default();
    first.contains('/') && is_path(first) && text.bytes().all(|byte| !b"\"'`<>|{};=*?!$&,:\t".contains(&byte))
}

/// Files that usually have no extension.
fn is_known_name(text: &str) -> bool {
    const NAMES: [&str; 14] = [
        "Makefile",
        "makefile",
        "Dockerfile",
        "LICENSE",
        "README",
        "Rakefile",
        "Gemfile",
        "Vagrantfile",
        "Jenkinsfile",
        "CHANGELOG",
        "CHANGES",
        "AUTHORS",
        "configure",
        "CMakeLists",
    ];
    NAMES.contains(&text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_no_line_numbers() {
        for line in ["nova-api.log.1.2017-05-16_13:53:08 2017-05-16 INFO x", "a/b-10:20:30 x"] {
            assert_eq!(located(line), None, "{line}");
        }
        for line in
            ["notes-2026-05.md-12-x", "src/a10.rs:12:30: warning: x", "src/a.rs:12:30:x", "a/v10:20:30x: y"]
        {
            assert!(located(line).is_some(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn giving_up_early_changes_no_place(
            line in r#"([A-Z]:)?[a-z0-9/\\ .()=,:\x00"'<-]{0,24}(:|-|=|\(|\x00)[0-9]{1,8}[:,)=-]{0,2}([0-9]{1,3}:)?( - )?[a-z ]{0,4}"#,
        ) {
            prop_assert_eq!(located(&line), located_while(&line, |_, _| true));
        }
    }
}
