//! Tracks which brackets, strings and comments are open at the start of each line, without knowing the language.
//!
//! Nothing is defined inside `(…)`, in a comment or in a multi-line string. Syntax differs between languages, so a line
//! may be misread: indentation then corrects the brackets, and a string without an end is abandoned.

/// The maximum number of lines of a comment or docstring. A longer one was misread.
const LONGEST_TEXT: usize = 3000;
/// The same for strings, whose quotes are easily misread.
const LONGEST_STRING: usize = 500;

/// A string or comment of several lines. Lines that begin inside it are not code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    /// `/* … */`
    Comment,
    /// Go's raw strings, JavaScript's templates.
    Backtick,
    /// A string in triple quotes.
    Triple(u8),
    /// `r#"…"#`, with this many `#`.
    Raw(usize),
    /// `"…"` over several lines: only if the line ends right after the quote or with a backslash.
    Quote,
    /// A `#define` whose line ends with a backslash.
    Directive,
}

/// The state between two lines.
#[derive(Debug, Default)]
pub(crate) struct Nesting {
    /// Open brackets, with the indentation of the line that opened them.
    open: Vec<(u8, usize)>,
    text: Option<Text>,
    text_lines: usize,
    /// Whether a comment or string was given up because it had no end.
    gave_up: bool,
}

impl Nesting {
    /// Whether the next line begins inside a comment or string.
    pub(crate) fn in_text(&self) -> bool {
        self.text.is_some()
    }

    /// Whether a comment or string has no end, so that what was taken for text may be code.
    pub(crate) fn has_unclosed_text(&self) -> bool {
        self.gave_up || self.in_text()
    }

    /// Whether the next line begins inside round or square brackets: an argument, an element, a condition.
    pub(crate) fn in_list(&self) -> bool {
        matches!(self.open.last(), Some((b'(' | b'[', _)))
    }

    /// Drops brackets that a line of this indentation shows to be closed.
    pub(crate) fn settle(&mut self, width: usize, closer: bool) {
        while self.open.last().is_some_and(|&(_, opened)| opened > width || (opened == width && !closer)) {
            self.open.pop();
        }
    }

    /// Reads a line. The end of a `clipped` line is unknown, so its brackets are ignored.
    pub(crate) fn read(&mut self, line: &str, width: usize, clipped: bool) {
        if clipped {
            self.text = None;
            return;
        }
        let bytes = line.as_bytes();
        let mut at = 0;
        if self.text.is_none() && is_directive(bytes) {
            self.enter(Text::Directive, bytes, 0);
            return;
        }
        // A comment in Lua, SQL or Haskell. In other languages `--` is not followed by a space.
        if self.text.is_none() && bytes.starts_with(b"-- ") {
            return;
        }
        if let Some(text) = self.text {
            let Some(end) = text.end(bytes, 0) else {
                self.text_lines += 1;
                let longest = if matches!(text, Text::Comment | Text::Triple(_)) {
                    LONGEST_TEXT
                } else {
                    LONGEST_STRING
                };
                if self.text_lines > longest {
                    self.text = None;
                    self.gave_up = true;
                }
                return;
            };
            self.text = None;
            at = end;
        }
        while let Some(skipped) =
            bytes.get(at..).and_then(|rest| rest.iter().position(|&byte| SIGNS[byte as usize]))
        {
            at += skipped;
            at = self.sign(bytes, at, width);
        }
    }

    /// Handles the character at `at`, and returns where to continue.
    fn sign(&mut self, bytes: &[u8], at: usize, width: usize) -> usize {
        match bytes[at] {
            open @ (b'(' | b'[' | b'{') => self.open.push((open, width)),
            b')' => self.close(b'('),
            b']' => self.close(b'['),
            // Its opening brace was dropped already: `case` is not indented deeper than its `switch (…) {`.
            b'}' if at == 0 && self.open.last().is_some_and(|&(_, opened)| opened < width) => {}
            b'}' => {
                // A brace also closes brackets that were left open inside it.
                while self.in_list() {
                    self.open.pop();
                }
                self.open.pop();
            }
            b'\\' => return at + 2,
            b'"' => return self.double_quote(bytes, at),
            b'\'' => return self.single_quote(bytes, at),
            b'`' => return self.enter(Text::Backtick, bytes, at + 1),
            b'/' => return self.slash(bytes, at),
            b'#' if opens_comment(bytes, at) => return bytes.len(),
            _ => {}
        }
        at + 1
    }

    fn close(&mut self, bracket: u8) {
        if self.open.last().is_some_and(|&(open, _)| open == bracket) {
            self.open.pop();
        }
    }

    /// Skips to the end of a string or comment, which may be on a later line.
    fn enter(&mut self, text: Text, bytes: &[u8], at: usize) -> usize {
        text.end(bytes, at).unwrap_or_else(|| {
            self.text = Some(text);
            self.text_lines = 0;
            bytes.len()
        })
    }

    fn double_quote(&mut self, bytes: &[u8], at: usize) -> usize {
        let signs = bytes[..at].iter().rev().take_while(|&&byte| byte == b'#').count();
        if signs > 0 && bytes[..at - signs].ends_with(b"r") {
            return self.enter(Text::Raw(signs), bytes, at + 1);
        }
        if bytes[at..].starts_with(b"\"\"\"") {
            return self.enter(Text::Triple(b'"'), bytes, at + 3);
        }
        if let Some(end) = Text::Quote.end(bytes, at + 1) {
            return end;
        }
        if at + 1 == bytes.len() || bytes.ends_with(b"\\") {
            return self.enter(Text::Quote, bytes, bytes.len());
        }
        bytes.len()
    }

    /// A string, a character, a lifetime or an apostrophe.
    fn single_quote(&mut self, bytes: &[u8], at: usize) -> usize {
        let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
        let prefix = matches!(before, b'b' | b'f' | b'r' | b'u' | b'B' | b'F' | b'R' | b'U')
            && !(at > 1 && is_word(bytes[at - 2]));
        if is_word(before) && !prefix {
            return at + 1;
        }
        if bytes[at..].starts_with(b"'''") {
            return self.enter(Text::Triple(b'\''), bytes, at + 3);
        }
        if bytes.get(at + 1) != Some(&b'\\') && bytes.get(at + 2) == Some(&b'\'') {
            return at + 3;
        }
        let word = bytes[at + 1..].iter().take_while(|&&byte| is_word(byte)).count();
        let after = bytes.get(at + 1 + word);
        let lifetime = word > 0
            && after != Some(&b'\'')
            && (matches!(before, b'<' | b'&') || matches!(after, Some(b'>' | b',' | b')' | b'+')));
        if lifetime {
            return at + 1 + word;
        }
        end_of_quote(bytes, at + 1, b'\'').unwrap_or(at + 1)
    }

    /// A comment, a regular expression or a division.
    fn slash(&mut self, bytes: &[u8], at: usize) -> usize {
        let before = bytes[..at].last().copied().unwrap_or(b' ');
        match bytes.get(at + 1) {
            Some(b'/') if before != b':' => return bytes.len(),
            Some(b'*') if !is_word(before) && !matches!(before, b'*' | b'.' | b'/' | b'}') => {
                return self.enter(Text::Comment, bytes, at + 2);
            }
            _ => {}
        }
        let operator = bytes[..at].iter().rev().find(|byte| !byte.is_ascii_whitespace());
        if matches!(
            operator,
            Some(b'(' | b',' | b'=' | b':' | b'[' | b'!' | b'&' | b'|' | b'?' | b'{' | b';')
        ) {
            return end_of_pattern(bytes, at + 1).unwrap_or(at + 1);
        }
        at + 1
    }
}

impl Text {
    /// The position after the end of this string or comment, if it ends in `bytes` from `at` on.
    fn end(self, bytes: &[u8], at: usize) -> Option<usize> {
        match self {
            Text::Comment => pair(bytes, at, |one, other| one == b'*' && other == b'/'),
            Text::Backtick => end_of_quote(bytes, at, b'`'),
            Text::Quote => end_of_quote(bytes, at, b'"'),
            Text::Directive => (!bytes.ends_with(b"\\")).then_some(bytes.len()),
            Text::Triple(quote) => {
                let found = bytes.get(at..)?.windows(3).position(|three| three == [quote; 3])?;
                Some(at + found + 3)
            }
            Text::Raw(signs) => {
                let rest = bytes.get(at..)?;
                let ends = |&found: &usize| {
                    rest[found] == b'"'
                        && rest[found + 1..].iter().take(signs).filter(|&&b| b == b'#').count() == signs
                };
                (0..rest.len()).find(ends).map(|found| at + found + 1 + signs)
            }
        }
    }
}

fn pair(bytes: &[u8], at: usize, is_end: impl Fn(u8, u8) -> bool) -> Option<usize> {
    let found = bytes.get(at..)?.windows(2).position(|two| is_end(two[0], two[1]))?;
    Some(at + found + 2)
}

/// The position after the next unescaped `quote`.
fn end_of_quote(bytes: &[u8], at: usize, quote: u8) -> Option<usize> {
    let mut escaped = false;
    let found = bytes.get(at..)?.iter().position(|&byte| {
        let ends = byte == quote && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })?;
    Some(at + found + 1)
}

/// The position after the slash that ends a regular expression. A slash in `[…]` does not.
fn end_of_pattern(bytes: &[u8], at: usize) -> Option<usize> {
    let (mut escaped, mut listed) = (false, false);
    let found = bytes.get(at..)?.iter().position(|&byte| {
        let plain = !escaped;
        escaped = byte == b'\\' && plain;
        listed = (listed || (byte == b'[' && plain)) && !(byte == b']' && plain);
        byte == b'/' && plain && !listed
    })?;
    Some(at + found + 1)
}

/// Whether the line is a preprocessor directive, and not `#[attribute]` or `#private() {`.
fn is_directive(bytes: &[u8]) -> bool {
    bytes.first() == Some(&b'#')
        && !matches!(bytes.get(1), Some(b'[' | b'!'))
        && [&b"define"[..], b"if", b"el", b"endif", b"include", b"pragma", b"error", b"undef"]
            .iter()
            .any(|word| bytes[1..].trim_ascii_start().starts_with(word))
}

/// Whether the `#` at `at` begins a comment: it has white space on both sides, or the line begins like `#don't`. The
/// apostrophe or backtick of such a comment would otherwise open a string that hides the definitions below. But
/// `#private = 1`, `#private(…)` and `#[attribute]` are code.
fn opens_comment(bytes: &[u8], at: usize) -> bool {
    let rest = &bytes[at + 1..];
    if at > 0 && !bytes[at - 1].is_ascii_whitespace() {
        return false;
    }
    if matches!(rest.first(), None | Some(b' ' | b'#' | b'\t')) {
        return true;
    }
    let word = rest.iter().take_while(|&&byte| is_word(byte)).count();
    let after = rest[word..].trim_ascii_start().first();
    let continues = |&byte: &u8| is_word(byte) || matches!(byte, b'\'' | b'`' | b',' | b'.');
    at == 0 && word > 0 && after.is_some_and(continues)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The bytes that may open or close a bracket, string or comment.
static SIGNS: [bool; 256] = {
    let mut signs = [false; 256];
    let list = b"()[]{}\"'`/#\\";
    let mut at = 0;
    while at < list.len() {
        signs[list[at] as usize] = true;
        at += 1;
    }
    signs
};
