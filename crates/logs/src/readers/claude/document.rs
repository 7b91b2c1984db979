//! What claude.ai/code exports: `{"loglines": [ … ]}`, the records of a log in one document.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::{IgnoredAny, MapAccess};
use serde_json::value::RawValue;

use super::ClaudeReader;
use super::lenient::{Each, Maybe, Object, Of, object, read as read_json};
use crate::readers::{LineReader, ParsedLog};

object! {
    Document {
        lines: "loglines" => Option<&'a RawValue>,
    }
}

/// Reads an exported session; `None` if the text is not one.
pub fn read_document(text: &str) -> Option<ParsedLog<'_>> {
    let document: Maybe<Document<'_>> = read_json(text).ok()?;
    let lines = document.0?.lines.filter(|lines| lines.get().starts_with('['))?;
    let Each(lines) = read_json::<Each<Option<&RawValue>>>(lines.get()).ok()?;
    let mut reader = ClaudeReader::new();
    let mut parsed = ParsedLog::default();
    for line in lines {
        reader.read(line.map_or("null", RawValue::get), &mut parsed);
    }
    Some(parsed)
}
