//! JSON with comments.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Range;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions};

use super::{DocumentError, Entry};

/// Some editors write it at the start of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

pub(super) fn get(text: &str, keys: &[String]) -> Result<Option<serde_json::Value>, DocumentError> {
    let (_, root) = parse(text)?;
    let Some((last, tables)) = keys.split_last() else { return Ok(root.to_serde_value()) };
    let mut object = object_of(&root)?;
    for key in tables {
        match object.map(|object| table(&object, key)).transpose()?.flatten() {
            Some(inner) => object = Some(inner),
            None => return Ok(None),
        }
    }
    Ok(object.and_then(|object| object.get(last)).and_then(|entry| entry.to_serde_value()))
}

pub(super) fn with(text: &str, entry: &Entry) -> Result<String, DocumentError> {
    let (mark, root) = parse(text)?;
    object_of(&root)?;
    let mut object = root.object_value_or_set();
    let Some((last, tables)) = entry.keys.split_last() else { return Ok(text.to_owned()) };
    for key in tables {
        object = match table(&object, key)? {
            Some(inner) => inner,
            None => object.object_value_or_set(key),
        };
    }
    let fields = entry.fields.iter().map(|(key, value)| (key.clone(), input(value)));
    let value = CstInputValue::Object(fields.collect());
    match object.get(last) {
        Some(property) => property.set_value(value),
        None => {
            object.append(last, value);
        }
    }
    Ok(format!("{mark}{root}"))
}

/// Removes the property, one comma, and the blanks before it. The tree of [`with`] would take comments along.
pub(super) fn without(text: &str, keys: &[String], created: usize) -> Result<String, DocumentError> {
    let (mark, _) = parse(text)?;
    let rest = &text[mark.len()..];
    let parsed = jsonc_parser::parse_to_ast(rest, &CollectOptions::default(), &ParseOptions::default())
        .map_err(|error| DocumentError::Syntax(error.to_string()))?;
    // The objects around the property, the outermost first, each with the place of the next one in it.
    let mut around: Vec<(&Object<'_>, usize)> = Vec::new();
    let mut value = parsed.value.as_ref();
    for key in keys {
        let Some(Value::Object(object)) = value else { return Ok(text.to_owned()) };
        let Some(at) = object.properties.iter().position(|property| property.name.as_str() == key) else {
            return Ok(text.to_owned());
        };
        around.push((object, at));
        value = Some(&object.properties[at].value);
    }
    // A table that was created for the entry goes with it, if nothing else is in it.
    for _ in 0..created {
        let Some((inner, at)) = around.last() else { break };
        let Range { start, end } = inner.range;
        let property = inner.properties[*at].range;
        let others = [&rest[start + 1..property.start], &rest[property.end..end - 1]].concat();
        if around.len() < 2 || !others.trim_matches([' ', '\t', '\r', '\n', ',']).is_empty() {
            break;
        }
        around.pop();
    }
    let Some((object, at)) = around.pop() else { return Ok(text.to_owned()) };
    let Range { start, end } = object.properties[at].range;
    let before = at.checked_sub(1).map(|previous| object.properties[previous].range.end);
    let comma = comma_after(rest, end).or_else(|| comma_after(rest, before?));
    let start = rest[..start].trim_end().len();
    let kept =
        rest.char_indices().filter(|(index, _)| !(start..end).contains(index) && Some(*index) != comma);
    Ok(mark.chars().chain(kept.map(|(_, letter)| letter)).collect())
}

/// The place of the comma that follows, after blanks and comments.
fn comma_after(text: &str, mut at: usize) -> Option<usize> {
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start().len();
        let length = if blank > 0 {
            blank
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/")? + 2
        } else {
            return rest.starts_with(',').then_some(at);
        };
        at += length;
    }
}

fn parse(text: &str) -> Result<(&str, CstRootNode), DocumentError> {
    let rest = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mark = &text[..text.len() - rest.len()];
    let root = CstRootNode::parse(rest, &ParseOptions::default())
        .map_err(|error| DocumentError::Syntax(error.to_string()))?;
    Ok((mark, root))
}

/// The whole file's object; none if the file holds nothing but blanks and comments.
fn object_of(root: &CstRootNode) -> Result<Option<CstObject>, DocumentError> {
    match root.value() {
        None => Ok(None),
        Some(value) => match value.as_object() {
            Some(object) => Ok(Some(object)),
            None => Err(DocumentError::NotATable("the file".to_owned())),
        },
    }
}

fn table(object: &CstObject, key: &str) -> Result<Option<CstObject>, DocumentError> {
    match object.get(key).and_then(|property| property.value()) {
        None => Ok(None),
        Some(value) => match value.as_object() {
            Some(inner) => Ok(Some(inner)),
            None => Err(DocumentError::NotATable(key.to_owned())),
        },
    }
}

fn input(value: &serde_json::Value) -> CstInputValue {
    match value {
        serde_json::Value::Null => CstInputValue::Null,
        serde_json::Value::Bool(value) => CstInputValue::Bool(*value),
        serde_json::Value::Number(number) => CstInputValue::Number(number.to_string()),
        serde_json::Value::String(text) => CstInputValue::String(text.clone()),
        serde_json::Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        serde_json::Value::Object(values) => {
            CstInputValue::Object(values.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}
