//! Configuration files as text in which entries are added and removed, while all other bytes stay.

mod json;
mod toml;

use serde_json::{Value, json};

/// The format of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// With comments and trailing commas, which most clients allow.
    Json,
    Toml,
    /// Any text. The whole file is one entry.
    Whole,
}

/// A table that was added to a file, and the keys that lead to it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Entry {
    pub(crate) keys: Vec<String>,
    /// In the order in which they are written.
    pub(crate) fields: Vec<(String, Value)>,
    /// Whether the table is an element of the array at these keys, beside elements of others.
    #[serde(default)]
    pub(crate) is_element: bool,
}

/// Whether a file has an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Absent,
    Same,
    /// Something else is in its place: an entry of the user, or one of tamis that the user changed.
    Other,
}

/// The field of an entry that is a whole file.
const TEXT: &str = "text";

impl Entry {
    /// The entry of a file that holds nothing else.
    pub(crate) fn whole(text: String) -> Entry {
        Entry { keys: Vec::new(), fields: vec![(TEXT.to_owned(), Value::String(text))], is_element: false }
    }

    pub(crate) fn value(&self) -> Value {
        Value::Object(self.fields.iter().cloned().collect())
    }

    fn text(&self) -> &str {
        self.fields.first().and_then(|(_, value)| value.as_str()).unwrap_or_default()
    }

    /// The number of tables and arrays around it.
    fn containers(&self) -> usize {
        if self.is_element { self.keys.len() } else { self.keys.len().saturating_sub(1) }
    }
}

/// Why a file cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    #[error("{0}")]
    Syntax(String),
    #[error("`{0}` is not a table")]
    NotATable(String),
    #[error("`{0}` is not an array")]
    NotAnArray(String),
    #[error("the file is not UTF-8")]
    NotText,
}

impl Format {
    /// The value at these keys.
    pub(crate) fn get(self, text: &str, keys: &[String]) -> Result<Option<Value>, DocumentError> {
        match self {
            Format::Json => json::get(text, keys),
            Format::Toml => toml::get(text, keys),
            Format::Whole => Ok((!text.is_empty()).then(|| json!({ TEXT: text }))),
        }
    }

    /// Whether the text has the entry. An element that runs the hook of this client takes the place of any other that does.
    pub(crate) fn presence(self, text: &str, entry: &Entry, client: &str) -> Result<Presence, DocumentError> {
        let Some(found) = self.get(text, &entry.keys)? else { return Ok(Presence::Absent) };
        let value = entry.value();
        if !entry.is_element {
            return Ok(if found == value { Presence::Same } else { Presence::Other });
        }
        let Value::Array(elements) = found else { return Err(not_an_array(&entry.keys)) };
        Ok(if elements.contains(&value) {
            Presence::Same
        } else if elements.iter().any(|element| runs_hook(element, client)) {
            Presence::Other
        } else {
            Presence::Absent
        })
    }

    /// The text with the entry added, or its value replaced.
    pub(crate) fn with(self, text: &str, entry: &Entry) -> Result<String, DocumentError> {
        match self {
            Format::Json => json::with(text, entry),
            Format::Toml => toml::with(text, entry),
            Format::Whole => Ok(entry.text().to_owned()),
        }
    }

    /// The text without the entry, and without tables and arrays around it that are then empty, as far as `created` of them were
    /// created with it.
    pub(crate) fn without(self, text: &str, entry: &Entry, created: usize) -> Result<String, DocumentError> {
        match self {
            Format::Json => json::without(text, entry, created),
            Format::Toml => toml::without(text, entry, created),
            Format::Whole => Ok(String::new()),
        }
    }

    /// The number of commas that strict parsers would miss or refuse.
    pub(crate) fn comma_flaws(self, text: &str) -> usize {
        match self {
            Format::Json => json::comma_flaws(text),
            Format::Toml | Format::Whole => 0,
        }
    }

    /// The number of tables and arrays around an entry that do not exist yet.
    pub(crate) fn missing_containers(self, text: &str, entry: &Entry) -> Result<usize, DocumentError> {
        let mut missing = 0;
        for end in 1..=entry.containers() {
            if self.get(text, &entry.keys[..end])?.is_none() {
                missing += 1;
            }
        }
        Ok(missing)
    }
}

fn not_an_array(keys: &[String]) -> DocumentError {
    DocumentError::NotAnArray(keys.last().cloned().unwrap_or_default())
}

/// Whether a value has a command that runs `tamis hook CLIENT`, wherever the program is.
pub(crate) fn runs_hook(value: &Value, client: &str) -> bool {
    match value {
        Value::String(text) => text.contains("tamis") && text.contains(&format!(" hook {client}")),
        Value::Array(values) => values.iter().any(|value| runs_hook(value, client)),
        Value::Object(values) => values.values().any(|value| runs_hook(value, client)),
        _ => false,
    }
}
