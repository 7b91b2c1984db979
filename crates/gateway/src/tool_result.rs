//! The texts in a tool result that are large enough to be pruned.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::message::{present, range_in, text_of};
use crate::settings::GatewayPruning;

/// Strings deeper in structured content stay as they are.
const MAX_DEPTH: usize = 32;

/// A text and where it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LargeText {
    /// Of its JSON, in the line.
    pub(crate) range: Range<usize>,
    /// Decoded.
    pub(crate) text: String,
}

#[derive(Deserialize)]
struct ToolResult<'a> {
    #[serde(borrow, default)]
    content: Vec<&'a RawValue>,
    #[serde(borrow, default, rename = "isError", deserialize_with = "present")]
    is_error: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "structuredContent", deserialize_with = "present")]
    structured: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ContentBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "present")]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    annotations: Option<Annotations<'a>>,
}

#[derive(Deserialize)]
struct Annotations<'a> {
    #[serde(borrow, default)]
    audience: Option<Vec<Cow<'a, str>>>,
}

/// The large texts of `result`, which is a part of `line`, in order. None for errors, and for what has an unknown form.
pub(crate) fn large_texts(line: &str, result: &str, pruning: &GatewayPruning) -> Vec<LargeText> {
    // Characters never exceed bytes.
    if result.len() < pruning.min_chars {
        return Vec::new();
    }
    let Ok(ToolResult { content, is_error, structured }) = serde_json::from_str(result) else {
        return Vec::new();
    };
    if is_error.is_some_and(|is_error| is_error.get() != "false") {
        return Vec::new();
    }
    let mut found = Vec::new();
    for block in content {
        let Ok(ContentBlock { kind, text: Some(text), annotations }) = serde_json::from_str(block.get())
        else {
            continue;
        };
        let audience = annotations.and_then(|annotations| annotations.audience);
        // What no model reads costs nothing.
        let is_for_model =
            audience.is_none_or(|audience| audience.iter().any(|reader| reader == "assistant"));
        if kind == "text" && is_for_model {
            found.extend(large_text(line, text.get(), pruning.min_chars));
        }
    }
    if let Some(structured) = structured.filter(|_| pruning.structured) {
        large_strings(line, structured.get(), pruning.min_chars, MAX_DEPTH, &mut found);
    }
    // The members of a result may be in any order.
    found.sort_by_key(|text| text.range.start);
    found
}

/// The text of a JSON string, if it is large and has no marker of an earlier prune.
fn large_text(line: &str, json: &str, min_chars: usize) -> Option<LargeText> {
    if json.len() < min_chars {
        return None;
    }
    let text = text_of(json)?;
    let is_large = text.len() >= min_chars && text.chars().count() >= min_chars;
    let is_pruned = tamis_sieve::prune_ids_in(&text).next().is_some();
    (is_large && !is_pruned).then(|| LargeText { range: range_in(line, json), text: text.into_owned() })
}

/// The large strings in a value, up to this depth.
fn large_strings(line: &str, json: &str, min_chars: usize, depth: usize, found: &mut Vec<LargeText>) {
    if json.len() < min_chars || depth == 0 {
        return;
    }
    let mut look_into = |value: &str| large_strings(line, value, min_chars, depth - 1, found);
    match json.as_bytes().first() {
        Some(b'"') => found.extend(large_text(line, json, min_chars)),
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
            items.into_iter().for_each(|item| look_into(item.get()));
        }
        Some(b'{') => {
            members(json).into_iter().for_each(|value| look_into(value.get()));
        }
        _ => {}
    }
}

/// The values of an object, those of repeated names too.
fn members(json: &str) -> Vec<&RawValue> {
    struct Values;
    impl<'de> serde::de::Visitor<'de> for Values {
        type Value = Vec<&'de RawValue>;
        fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            out.write_str("an object")
        }
        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut values = Vec::new();
            while map.next_key::<serde::de::IgnoredAny>()?.is_some() {
                values.push(map.next_value()?);
            }
            Ok(values)
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    serde::Deserializer::deserialize_map(&mut deserializer, Values).unwrap_or_default()
}
