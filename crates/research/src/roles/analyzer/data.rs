//! What code touches that is not code: environment variables, configuration keys, constants, files by name.
//!
//! Recognised from the words of lines: a key that is computed at run time is missed.

use tamis_syntax::LineSpan;

use crate::code_lines::CodeLines;

/// Something that is read or named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Datum {
    pub(super) kind: DatumKind,
    pub(super) name: String,
    /// From 1.
    pub(super) line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DatumKind {
    Environment,
    Configuration,
    File,
    Constant,
}

impl DatumKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            DatumKind::Environment => "environment variable ",
            DatumKind::Configuration => "setting ",
            DatumKind::File => "file ",
            DatumKind::Constant => "",
        }
    }
}

/// How environment variables are read, in several languages.
const ENVIRONMENTS: [&str; 9] =
    ["environ", "getenv", "env::var", "Getenv", "LookupEnv", "process.env", "ENV[", "ENV.fetch", "env!"];
/// What variables that hold settings are called at the end.
const SETTINGS: [&str; 5] = ["config", "settings", "conf", "cfg", "options"];
/// Files that are named in code because they mean something.
const FILES: [&str; 12] =
    ["toml", "ini", "cfg", "json", "yaml", "yml", "conf", "lock", "db", "sqlite", "sqlite3", "env"];
/// In capitals, and not a constant.
const NO_CONSTANTS: [&str; 8] = ["NULL", "TRUE", "FALSE", "TODO", "FIXME", "NOTE", "NOQA", "ENV"];

/// What these lines touch, each once.
pub(super) fn data(lines: &[&str], span: LineSpan, path: &str) -> Vec<Datum> {
    let code = CodeLines::of(lines, path);
    let mut found: Vec<Datum> = Vec::new();
    for (number, line) in lines.iter().enumerate().take(span.last + 1).skip(span.first) {
        let line = &line[..line.floor_char_boundary(400)];
        for (start, word) in words(line) {
            let is_code = code.is_code(lines, number, start);
            let found_here =
                if is_code { in_code(line, start, word) } else { quoted_file(line, start, word) };
            if let Some((kind, name)) = found_here
                && !found.iter().any(|known| known.name == name)
            {
                found.push(Datum { kind, name: name.to_owned(), line: number + 1 });
            }
        }
    }
    found.sort();
    found
}

fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter_map(move |word| {
        let start = at;
        // The separator is one character of any length.
        at += word.len() + line[at + word.len()..].chars().next().map_or(0, char::len_utf8);
        (!word.is_empty()).then_some((start, word))
    })
}

fn in_code<'a>(line: &'a str, start: usize, word: &'a str) -> Option<(DatumKind, &'a str)> {
    let after = &line[start + word.len()..];
    let environment = ENVIRONMENTS.iter().find_map(|sign| {
        line[start..].strip_prefix(sign).filter(|_| sign.starts_with(word) || *sign == word)
    });
    if let Some(rest) = environment {
        let name = rest.trim_start_matches(|c: char| !c.is_ascii_uppercase() && !c.is_ascii_lowercase());
        let name = name.strip_prefix("get").map_or(name, |rest| rest.trim_start_matches(['(', '"', '\'']));
        let name = leading_word(name);
        return is_constant(name).then_some((DatumKind::Environment, name));
    }
    let lower = word.to_lowercase();
    if SETTINGS.iter().any(|known| lower.ends_with(known)) {
        let key = after.strip_prefix(".get(").or_else(|| after.strip_prefix('['));
        let key = key.and_then(|key| key.strip_prefix(['"', '\''])).map(leading_key);
        let key = key.or_else(|| after.strip_prefix('.').map(leading_word).filter(|key| is_constant(key)));
        return key.filter(|key| key.len() > 1).map(|key| (DatumKind::Configuration, key));
    }
    let is_long = word.len() >= 5 || word.contains('_');
    let defined = line[..start].trim_end().ends_with(['.', '"', '\'']) && !line[..start].ends_with("self.");
    (is_long && is_constant(word) && !defined && !NO_CONSTANTS.contains(&word))
        .then_some((DatumKind::Constant, word))
}

/// `"pyproject.toml"`.
fn quoted_file<'a>(line: &'a str, start: usize, word: &str) -> Option<(DatumKind, &'a str)> {
    if !line[..start].ends_with(['"', '\'']) || line.trim_start().starts_with(['#', '/', '*']) {
        return None;
    }
    let end = line[start..].find(['"', '\''])?;
    let name = &line[start..start + end];
    let ending = name[word.len()..].rsplit_once('.').map(|(_, ending)| ending)?;
    let plain = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'));
    (plain && name.len() < 60 && FILES.contains(&ending)).then_some((DatumKind::File, name))
}

fn leading_word(text: &str) -> &str {
    &text[..text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len())]
}

fn leading_key(text: &str) -> &str {
    let end =
        text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))).unwrap_or(text.len());
    &text[..end]
}

fn is_constant(word: &str) -> bool {
    word.len() > 1
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expected: &[&str]) {
        let lines: Vec<&str> = text.split('\n').collect();
        let found = data(&lines, LineSpan { first: 0, last: lines.len() }, path);
        let found_here: Vec<String> =
            found.iter().map(|datum| format!("{}{}:{}", datum.kind.word(), datum.name, datum.line)).collect();
        assert_eq!(found_here, expected);
    }

    #[test]
    fn data_that_code_touches_is_found() {
        check(
            "a.py",
            "x = os.environ.get(\"FLASK_DEBUG\")\ny = app.config['SECRET_KEY']\nz = settings.DEBUG_MODE\nopen('pyproject.toml')\nreturn MAX_SIZE # OLD_SIZE\nos.getenv('HOME_DIR')\nprint(\"NOT_THIS\")",
            &[
                "environment variable FLASK_DEBUG:1",
                "environment variable HOME_DIR:6",
                "setting DEBUG_MODE:3",
                "setting SECRET_KEY:2",
                "file pyproject.toml:4",
                "MAX_SIZE:5",
            ],
        );
        check(
            "a.rs",
            "std::env::var(\"TAMIS_LOG\")?; // OTHER_NAME\nlet é = LIMIT;",
            &["environment variable TAMIS_LOG:1", "LIMIT:2"],
        );
        check("a.js", "process.env.NODE_ENV === NULL", &["environment variable NODE_ENV:1"]);
    }
}
