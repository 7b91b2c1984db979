//! Configuration files as text in which entries are added and removed, while all other bytes stay.

mod json;
mod toml;

use serde_json::Value;

/// The format of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// With comments and trailing commas, which most clients allow.
    Json,
    Toml,
}

/// A table and the keys that lead to it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Entry {
    pub(crate) keys: Vec<String>,
    /// In the order in which they are written.
    pub(crate) fields: Vec<(String, Value)>,
}

impl Entry {
    pub(crate) fn value(&self) -> Value {
        Value::Object(self.fields.iter().cloned().collect())
    }
}

/// Why a file cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    #[error("{0}")]
    Syntax(String),
    #[error("`{0}` is not a table")]
    NotATable(String),
    #[error("the file is not UTF-8")]
    NotText,
}

impl Format {
    /// The value at these keys.
    pub(crate) fn get(self, text: &str, keys: &[String]) -> Result<Option<Value>, DocumentError> {
        match self {
            Format::Json => json::get(text, keys),
            Format::Toml => toml::get(text, keys),
        }
    }

    /// The text with the entry added, or its value replaced.
    pub(crate) fn with(self, text: &str, entry: &Entry) -> Result<String, DocumentError> {
        match self {
            Format::Json => json::with(text, entry),
            Format::Toml => toml::with(text, entry),
        }
    }

    /// The text without the value at these keys, and without tables around it that are then empty, as far as `created` of them
    /// were created with it.
    pub(crate) fn without(
        self,
        text: &str,
        keys: &[String],
        created: usize,
    ) -> Result<String, DocumentError> {
        match self {
            Format::Json => json::without(text, keys, created),
            Format::Toml => toml::without(text, keys, created),
        }
    }

    /// The number of tables around an entry that do not exist yet.
    pub(crate) fn missing_tables(self, text: &str, keys: &[String]) -> Result<usize, DocumentError> {
        let mut missing = 0;
        for end in 1..keys.len() {
            if self.get(text, &keys[..end])?.is_none() {
                missing += 1;
            }
        }
        Ok(missing)
    }
}
