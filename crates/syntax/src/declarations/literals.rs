//! Names in strings: routes, flags, environment variables and dotted keys; tables and columns of SQL.

use std::ops::Range;

use super::words::identifier;
use super::{DeclarationKind, Found};

/// Functions that read environment variables, and that declare routes and flags.
#[rustfmt::skip]
const REGISTERS: [&str; 64] = [
    "ENV", "LookupEnv", "Getenv", "env", "environ", "fetch", "getenv", "var", "var_os",
    "DELETE", "GET", "Handle", "HandleFunc", "PATCH", "POST", "PUT", "Route", "add_route", "add_url_rule", "all", "any", "delete",
    "endpoint", "get", "handle", "head", "mount", "nest", "on", "options", "patch", "path", "post", "put", "re_path", "register",
    "resource", "route", "scope", "service", "url", "use",
    "Arg", "Bool", "BoolP", "BoolVar", "BoolVarP", "Flag", "Int", "IntP", "IntVar", "Option", "String", "StringP", "StringVar",
    "StringVarP", "add_argument", "add_option", "arg", "defineProperty", "flag", "long", "new", "option",
];
const LONGEST: usize = 80;

pub(super) fn each_literal(text: &str, found: &mut Found<'_>) {
    for sign in ["process.env.", "import.meta.env."] {
        for (at, _) in text.match_indices(sign) {
            identifier(text, at + sign.len())
                .into_iter()
                .for_each(|name| found(name, DeclarationKind::Literal));
        }
    }
    let Some(first) = text.find(['"', '\'', '`']) else { return };
    let mut at = first;
    for _ in 0..12 {
        let Some(open) = text[at..].find(['"', '\'', '`']) else { return };
        let open = at + open;
        let quote = text.as_bytes()[open] as char;
        let Some(length) = text[open + 1..].find(quote) else { return };
        if length > 0 && length <= LONGEST {
            literal(text, open + 1..open + 1 + length, found);
        }
        at = open + length + 2;
    }
}

fn literal(text: &str, range: Range<usize>, found: &mut Found<'_>) {
    let content = &text[range.clone()];
    // `-p, --port <number>`
    if let Some(dashes) = content.find("--") {
        let at = range.start + dashes + 2;
        let length = text[at..range.end].find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_')));
        let name = at..length.map_or(range.end, |length| at + length);
        if content.starts_with('-') && !name.is_empty() {
            found(name, DeclarationKind::Literal);
        }
        return;
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if content.contains(char::is_whitespace) || !content.contains(is_word) {
        return;
    }
    let is_compound =
        content.contains(['-', '.']) && content.chars().all(|c| is_word(c) || matches!(c, '-' | '.'));
    // What is in capitals is an environment variable, or named like one.
    let is_capital = || {
        content.contains('_')
            && content.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    if is_compound || is_capital() || declares(&text[..range.start - 1]) {
        found(range, DeclarationKind::Literal);
    }
}

/// Whether what is before a string declares it: `app.get(`, `long = `, `StringVar(&port, `, `@GetMapping(`.
fn declares(before: &str) -> bool {
    let Some(sign) = before.rfind(['(', '[', '=']) else { return false };
    let call = before[..sign].trim_ascii_end();
    let word = call
        .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
        .map_or(call, |at| &call[at + call[at..].chars().next().map_or(1, char::len_utf8)..]);
    REGISTERS.contains(&word) || word.ends_with("Mapping")
}

/// `create table name`, `name text not null`, in any case.
pub(super) fn each_table(text: &str, found: &mut Found<'_>) {
    #[rustfmt::skip]
    const TYPES: [&str; 20] = [
        "TEXT", "INTEGER", "INT", "BLOB", "REAL", "VARCHAR", "BOOLEAN", "TIMESTAMP", "SERIAL", "UUID", "BIGINT", "NUMERIC",
        "DATE", "JSON", "JSONB", "CHAR", "DECIMAL", "FLOAT", "DOUBLE", "SMALLINT",
    ];
    if let Some(name) = identifier(text, 0)
        && text[name.end..].starts_with(' ')
    {
        let column = text[name.end..].trim_ascii_start();
        let kind = column.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
        if kind.starts_with(|c: char| c.is_ascii_uppercase()) && TYPES.contains(&kind) {
            found(name, DeclarationKind::Value);
        }
    }
    let Some(at) = find_word(text, "create") else { return };
    let mut at = at + "create".len();
    let mut is_object = false;
    loop {
        at += text[at..].len() - text[at..].trim_start_matches([' ', '"', '`', '[', '\'']).len();
        let Some(word) = identifier(text, at) else { return };
        let lowered = text[word.clone()].to_ascii_lowercase();
        match lowered.as_str() {
            "table" | "view" | "index" | "function" | "trigger" | "type" | "procedure" | "sequence"
            | "schema" => {
                is_object = true;
            }
            "or" | "replace" | "temp" | "temporary" | "unique" | "virtual" | "materialized" | "if"
            | "not" | "exists" | "unlogged" | "external" => {}
            _ if !is_object => return,
            _ => {
                // `schema.name`
                let member = text[word.end..].strip_prefix('.').and_then(|_| identifier(text, word.end + 1));
                return found(member.unwrap_or(word), DeclarationKind::Definition);
            }
        }
        at = word.end;
    }
}

/// Where a word begins, in any case.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let first = word.as_bytes()[0];
    (0..bytes.len().saturating_sub(word.len())).find(|&at| {
        bytes[at].eq_ignore_ascii_case(&first)
            && bytes[at..at + word.len()].eq_ignore_ascii_case(word.as_bytes())
            && bytes[at + word.len()] == b' '
            && (at == 0 || !bytes[at - 1].is_ascii_alphanumeric())
    })
}
