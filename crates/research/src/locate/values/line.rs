//! Whether a line gives a value, and how surely.

use tamis_syntax::is_comment_line;
use tamis_text::words::each_word;

use crate::question::ValueForm;

/// Longer lines are generated, or texts.
const MAX_LENGTH: usize = 300;

/// How a number stands in a line, and how surely it is the value of what the line names.
const ALONE: f64 = 1.0;
const RETURNED: f64 = 0.8;
const FIRST_OF_MORE: f64 = 0.7;
const COMPARED: f64 = 0.6;
const ONE_ARGUMENT_OF_MORE: f64 = 0.45;
const ANYWHERE: f64 = 0.2;
/// A flag more often than a value.
const ZERO_OR_ONE: f64 = 0.55;
const TEXT: f64 = 0.8;
const TEXT_ANYWHERE: f64 = 0.5;
/// A constant that has the name of a default or a limit.
const NAMED: f64 = 0.35;

/// From 0, for a line that gives no value of this form, to 1.
pub(super) fn value_strength(line: &str, form: ValueForm) -> f64 {
    let text = line.trim();
    if text.is_empty() || line.len() > MAX_LENGTH || is_comment(line) || is_import_or_assertion(text) {
        return 0.0;
    }
    let text = without_comment(text);
    if form == ValueForm::Variable {
        return if names_variable(text) { 1.0 } else { 0.0 };
    }
    let plain = without_texts(text);
    let number = numbers(&plain).map(|(at, length)| strength_of(&plain, at, length)).fold(0.0, f64::max);
    if number > 0.0 {
        return number;
    }
    let gives = text.contains(['=', ':']);
    if form == ValueForm::Text && plain.contains('"') {
        return if gives { TEXT } else { TEXT_ANYWHERE };
    }
    let mut is_named = false;
    each_word(text, |word, _| {
        is_named |= matches!(word, "default" | "defaults" | "max" | "maximum" | "min" | "minimum");
    });
    if is_named && gives { NAMED } else { 0.0 }
}

pub(super) fn is_comment(line: &str) -> bool {
    let text = line.trim_start();
    let directive = text.strip_prefix('#').map_or("", str::trim_start);
    let is_directive = directive.starts_with("define ") || directive.starts_with('[');
    // `--port 8000` in a script, and `*limit = 5;`
    let is_argument =
        text.strip_prefix("--").is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic()));
    let is_pointer =
        text.strip_prefix('*').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '_'));
    is_comment_line(text) && !is_directive && !is_argument && !is_pointer
}

/// Whether a line gives no value of its own: an import, or what a test expects.
fn is_import_or_assertion(text: &str) -> bool {
    let is_assertion = text.strip_prefix("assert").is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_uppercase() || matches!(c, ' ' | '(' | '_' | '!' | '.'))
    });
    is_assertion
        || ["import ", "from ", "use ", "#include", "package "].iter().any(|word| text.starts_with(word))
}

/// The line up to a comment behind it.
fn without_comment(text: &str) -> &str {
    let end = [" //", " # ", "\t//", " /*"].iter().filter_map(|sign| text.find(sign)).min();
    &text[..end.unwrap_or(text.len())]
}

/// The line with every text in quotes as `""`, except one that is a number.
fn without_texts(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find(['"', '\'', '`']) {
        let quote = &rest[open..=open];
        plain.push_str(&rest[..open]);
        let Some(length) = rest[open + 1..].find(quote) else {
            plain.push_str(&rest[open..]);
            return plain;
        };
        let inside = &rest[open + 1..open + 1 + length];
        if is_number_with_unit(inside) {
            plain.push_str(inside);
        } else {
            plain.push_str("\"\"");
        }
        rest = &rest[open + length + 2..];
    }
    plain.push_str(rest);
    plain
}

/// `161`, `30s`, `8m`.
fn is_number_with_unit(text: &str) -> bool {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    unit.len() < text.len() && unit.len() <= 2 && unit.chars().all(|c| c.is_ascii_alphabetic())
}

/// The places and lengths of numbers that are no part of a name.
fn numbers(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let start = at;
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
            if !is_word(bytes[at]) {
                at += 1;
                continue;
            }
            while at < bytes.len()
                && (is_word(bytes[at]) || (bytes[at] == b'.' && bytes[start].is_ascii_digit()))
            {
                at += 1;
            }
            let is_after = start > 0 && matches!(bytes[start - 1], b'.' | b'#' | b'$' | b'%');
            if bytes[start].is_ascii_digit() && !is_after {
                return Some((start, at - start));
            }
        }
        None
    })
}

/// How surely a number is the value of what the line names.
fn strength_of(text: &str, at: usize, length: usize) -> f64 {
    let is_alone = ends_with_value(&text[at + length..]);
    let share = |alone: f64, others: f64| if is_alone { alone } else { others };
    let before = text[..at].trim_end_matches([' ', '-']);
    // `Duration::from_secs(`, `15 * time.Second`
    let before = match before.strip_suffix('(') {
        Some(call) => {
            let name = call.trim_end_matches(|c: char| c.is_alphanumeric() || "_.:".contains(c));
            let is_method =
                name.len() == call.len() || name.is_empty() || call[name.len()..].starts_with('.');
            // A function called by itself takes it as its only argument.
            if is_method
                || name.ends_with([')', ' ']) && !name.trim_end().ends_with(['=', ':', ',', '?', '|'])
            {
                return small(text, at, length) * share(FIRST_OF_MORE, ONE_ARGUMENT_OF_MORE);
            }
            name.trim_end()
        }
        None => before,
    };
    let strength = match before.as_bytes() {
        [.., b'=' | b'!' | b'<' | b'>', b'='] | [.., b'<'] => COMPARED,
        [.., b'=', b'>'] => FIRST_OF_MORE,
        [.., b'>'] => COMPARED,
        [.., b'='] | [.., b':'] | [.., b'|', b'|'] | [.., b'?', b'?'] => share(ALONE, FIRST_OF_MORE),
        [.., b'(' | b','] => share(FIRST_OF_MORE, ONE_ARGUMENT_OF_MORE),
        _ if before.ends_with("return") => RETURNED,
        _ if is_definition(before) => ALONE,
        _ => ANYWHERE,
    };
    small(text, at, length) * strength
}

fn small(text: &str, at: usize, length: usize) -> f64 {
    if matches!(&text[at..at + length], "0" | "1") { ZERO_OR_ONE } else { 1.0 }
}

/// `#define NAME`
fn is_definition(before: &str) -> bool {
    let directive = before.strip_prefix('#').map_or("", str::trim_start);
    directive.strip_prefix("define ").is_some_and(|name| !name.trim().contains(' '))
}

/// Whether what follows a number only goes on with it: a unit, a factor, closing brackets.
fn ends_with_value(rest: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || "_.:".contains(c);
    let mut rest = rest.trim_start_matches(is_name);
    loop {
        let trimmed = rest.trim_start();
        let Some(factor) = ["*", "+", "<<"].iter().find_map(|sign| trimmed.strip_prefix(sign)) else { break };
        rest = factor.trim_start().trim_start_matches(is_name);
    }
    rest.chars().all(|c| " )]},;".contains(c))
}

/// Whether a line names an environment variable: `getenv("APP_PORT")`, `process.env.APP_PORT`, `APP_PORT: str = "info"`.
fn names_variable(text: &str) -> bool {
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let lower = text.to_ascii_lowercase();
    let reads = lower.contains("env") || text.contains(['"', '\'']);
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| {
        let is_variable = word.len() > 2 && word.contains('_') && word.chars().all(is_name);
        let is_set = text.strip_prefix(word).is_some_and(|rest| rest.trim_start().starts_with(['=', ':']));
        is_variable && (reads || is_set)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_more_surely_a_value_the_more_directly_it_is_given() {
        for (line, strength) in [
            ("    port: int = 8000,", ALONE),
            ("const defaultTimeout = 30 * time.Second", ALONE),
            ("#define KEY_MAX_LENGTH 250", ALONE),
            ("private static final long MAX_LIFETIME = MINUTES.toMillis(30);", ALONE),
            ("settings.item_size_max = 1024 * 1024; /* upper limit */", ALONE),
            ("timeout: Duration::from_secs(90),", ALONE),
            ("const port = config.port || 3001;", ALONE),
            ("port: monitor.port || \"161\",", ALONE),
            ("ttl = \"30s\"", ALONE),
            ("default=8000,", ALONE),
            ("return 50", RETURNED),
            ("limited(10)", FIRST_OF_MORE),
            ("if len(password) < 6 {", COMPARED),
            ("retries = 0", ZERO_OR_ONE),
            ("call(name, 20, other)", ONE_ARGUMENT_OF_MORE),
            ("backoff % 50", ANYWHERE),
            ("maxPoolSize = DEFAULT_POOL_SIZE;", NAMED),
            ("assertion_timeout = 30", ALONE),
            ("*limit = 5;", ALONE),
            ("# define LIMIT 5", ALONE),
            ("--timeout 30 \\", ANYWHERE),
            ("admin: other", 0.0),
            ("minutes: other", 0.0),
            ("// port = 8000", 0.0),
            ("-- port = 8000", 0.0),
            (" * port: 8000", 0.0),
            ("import utf8", 0.0),
            ("name = other", 0.0),
            ("assertEquals(5, config.idle)", 0.0),
            ("", 0.0),
        ] {
            assert_eq!(value_strength(line, ValueForm::Number), strength, "{line}");
        }
        assert_eq!(value_strength("password = \"changeme\"", ValueForm::Text), TEXT);
    }

    #[test]
    fn environment_variables_are_named_in_capitals() {
        for (line, is_named) in [
            ("pwdb = getenv(\"APP_PASSWORD_FILE\");", true),
            ("const dir = process.env.DATA_DIR || \"./data/\";", true),
            ("LOG_LEVEL: str = \"INFO\"", true),
            ("if (count > MAX_COUNT) {", false),
            ("log_level = env", false),
        ] {
            assert_eq!(value_strength(line, ValueForm::Variable) > 0.0, is_named, "{line}");
        }
    }
}
