//! Values as TOML writes them, on one line.

use std::fmt::Write as _;

/// A key: bare where TOML allows it, else quoted.
pub(crate) fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { string(name) }
}

/// A basic string.
pub(crate) fn string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// An array of strings.
pub(crate) fn strings(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| string(text)).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn toml_reads_back_what_was_written(name in ".*", text in any::<String>(), texts in proptest::collection::vec(any::<String>(), 0..5)) {
            let line = format!("servers.{}.text={}\nservers.{}.texts={}", key(&name), string(&text), key(&name), strings(&texts));
            prop_assert_eq!(line.lines().count(), 2);
            let table: toml::Table = line.parse().unwrap();
            let server = &table["servers"][&name];
            prop_assert_eq!(server["text"].as_str(), Some(text.as_str()));
            let read: Vec<_> = server["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
            prop_assert_eq!(read, texts);
        }

        #[test]
        fn nothing_breaks_the_line(text in "[\\x00-\\x1f\\x7f\\u{80}-\\u{9f}\"\\\\\u{2028}]*") {
            prop_assert!(!string(&text).contains(['\n', '\r']));
            let table: toml::Table = format!("a={}", string(&text)).parse().unwrap();
            prop_assert_eq!(table["a"].as_str(), Some(text.as_str()));
        }
    }
}
