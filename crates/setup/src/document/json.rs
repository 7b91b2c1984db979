//! JSON with comments.

use jsonc_parser::ast::Value;
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, ParseOptions};

use super::{DocumentError, Entry, not_an_array};

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

/// Where the container that the entry is added to has no comma before its closing bracket, it gets none: strict parsers refuse it, and
/// it would stay when the entry goes.
pub(super) fn with(text: &str, entry: &Entry) -> Result<String, DocumentError> {
    let added = with_in_style(text, entry)?;
    let mark = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
    let (Some(deepest), Some(value)) = (deepest_container(&text[mark..], entry), ast(&added[mark..])) else {
        return Ok(added);
    };
    let comma = containers(&value, entry).and_then(|around| {
        let Container { members, at, .. } = around.get(deepest.depth)?;
        comma_after(&added[mark..], members[*at].end).filter(|_| *at + 1 == members.len())
    });
    Ok(match comma.filter(|_| !deepest.ends_with_comma) {
        Some(at) => [&added[..mark + at], &added[mark + at + 1..]].concat(),
        None => added,
    })
}

/// The innermost object or array around an entry that a text has.
struct Deepest {
    /// How many are around it.
    depth: usize,
    ends_with_comma: bool,
}

fn deepest_container(text: &str, entry: &Entry) -> Option<Deepest> {
    let root = ast(text)?;
    let ends = |last: Option<usize>| last.is_some_and(|end| comma_after(text, end).is_some());
    let (mut value, mut deepest) = (&root, None);
    for (depth, key) in entry.keys.iter().enumerate() {
        let Some(object) = value.as_object() else { return deepest };
        let last = object.properties.last().map(|property| property.range.end);
        deepest = Some(Deepest { depth, ends_with_comma: ends(last) });
        match object.properties.iter().find(|property| property.name.as_str() == key) {
            Some(property) => value = &property.value,
            None => return deepest,
        }
    }
    if let Some(array) = value.as_array().filter(|_| entry.is_element) {
        let last = array.elements.last().map(|element| element.range().end);
        deepest = Some(Deepest { depth: entry.keys.len(), ends_with_comma: ends(last) });
    }
    deepest
}

fn ast(text: &str) -> Option<Value<'_>> {
    jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).ok()?.value
}

/// With trailing commas where the rest of the file has them.
fn with_in_style(text: &str, entry: &Entry) -> Result<String, DocumentError> {
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
    if entry.is_element {
        let array = match object.get(last).and_then(|property| property.value()) {
            Some(found) => found.as_array().ok_or_else(|| not_an_array(&entry.keys))?,
            None => object.array_value_or_set(last),
        };
        array.append(value);
        return Ok(format!("{mark}{root}"));
    }
    match object.get(last) {
        Some(property) => property.set_value(value),
        None => {
            object.append(last, value);
        }
    }
    Ok(format!("{mark}{root}"))
}

/// An object or array around the entry.
struct Container {
    range: Range,
    /// Properties or elements.
    members: Vec<Range>,
    /// The one that leads to the entry.
    at: usize,
}

/// Removes the member, one comma, and the blanks before it. The tree of [`with`] would take comments along.
pub(super) fn without(text: &str, entry: &Entry, created: usize) -> Result<String, DocumentError> {
    let (mark, _) = parse(text)?;
    let rest = &text[mark.len()..];
    let parsed = jsonc_parser::parse_to_ast(rest, &CollectOptions::default(), &ParseOptions::default())
        .map_err(|error| DocumentError::Syntax(error.to_string()))?;
    let Some(mut around) = parsed.value.as_ref().and_then(|value| containers(value, entry)) else {
        return Ok(text.to_owned());
    };
    // A table or array that was created for the entry is removed with it, if nothing else is in it.
    for _ in 0..created {
        let Some(Container { range, members, at }) = around.last() else { break };
        let member = members[*at];
        let others = [&rest[range.start + 1..member.start], &rest[member.end..range.end - 1]].concat();
        if around.len() < 2 || !others.trim_matches([' ', '\t', '\r', '\n', ',']).is_empty() {
            break;
        }
        around.pop();
    }
    let Some(Container { members, at, .. }) = around.pop() else { return Ok(text.to_owned()) };
    let Range { start, end } = members[at];
    let before = at.checked_sub(1).map(|previous| members[previous].end);
    let comma = comma_after(rest, end).or_else(|| comma_after(rest, before?));
    let start = rest[..start].trim_end().len();
    let kept =
        rest.char_indices().filter(|(index, _)| !(start..end).contains(index) && Some(*index) != comma);
    Ok(mark.chars().chain(kept.map(|(_, letter)| letter)).collect())
}

/// The objects and arrays around an entry, the outermost first; none if the entry is not there.
fn containers(root: &Value<'_>, entry: &Entry) -> Option<Vec<Container>> {
    let mut around = Vec::new();
    let mut value = root;
    for key in &entry.keys {
        let object = value.as_object()?;
        let at = object.properties.iter().position(|property| property.name.as_str() == key)?;
        let members = object.properties.iter().map(|property| property.range).collect();
        around.push(Container { range: object.range, members, at });
        value = &object.properties[at].value;
    }
    if entry.is_element {
        let array = value.as_array()?;
        let wanted = entry.value();
        let is_wanted = |element: &Value<'_>| serde_json::Value::from(element.clone()) == wanted;
        let at = array.elements.iter().position(is_wanted)?;
        let members = array.elements.iter().map(|element| element.range()).collect();
        around.push(Container { range: array.range, members, at });
    }
    Some(around)
}

/// The number of commas before a closing bracket, and of members that no comma separates.
pub(super) fn comma_flaws(text: &str) -> usize {
    let rest = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let collect = CollectOptions { tokens: true, ..CollectOptions::default() };
    let parsed = jsonc_parser::parse_to_ast(rest, &collect, &ParseOptions::default()).ok();
    let tokens = parsed.and_then(|parsed| parsed.tokens).unwrap_or_default();
    let is_flaw = |pair: &[TokenAndRange<'_>]| match (&pair[0].token, &pair[1].token) {
        (Token::Comma, Token::CloseBrace | Token::CloseBracket) => true,
        (Token::Comma | Token::Colon | Token::OpenBrace | Token::OpenBracket, _) => false,
        (_, Token::Comma | Token::Colon | Token::CloseBrace | Token::CloseBracket) => false,
        _ => true,
    };
    tokens.windows(2).filter(|pair| is_flaw(pair)).count()
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
