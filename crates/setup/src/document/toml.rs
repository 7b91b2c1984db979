//! TOML.

use serde_json::{Map, Value};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike};

use super::{DocumentError, Entry, not_an_array};

pub(super) fn get(text: &str, keys: &[String]) -> Result<Option<Value>, DocumentError> {
    let document = parse(text)?;
    let mut item = document.as_item();
    for (index, key) in keys.iter().enumerate() {
        let Some(table) = item.as_table_like() else {
            let outer = keys.get(index.saturating_sub(1)).unwrap_or(key);
            return Err(DocumentError::NotATable(outer.clone()));
        };
        match table.get(key) {
            Some(inner) => item = inner,
            None => return Ok(None),
        }
    }
    Ok(Some(to_json(item)))
}

pub(super) fn with(text: &str, entry: &Entry) -> Result<String, DocumentError> {
    let mut document = parse(text)?;
    let Some((last, tables)) = entry.keys.split_last() else { return Ok(text.to_owned()) };
    let is_empty = document.is_empty();
    let mut table: &mut dyn TableLike = document.as_table_mut();
    let (mut is_inline, mut is_dotted) = (false, false);
    for key in tables {
        let inner = table.entry(key).or_insert_with(|| {
            let mut created = Table::new();
            created.set_implicit(true);
            if is_inline { Item::Value(InlineTable::new().into()) } else { Item::Table(created) }
        });
        is_inline = inner.is_inline_table();
        is_dotted = inner.as_table().is_some_and(Table::is_dotted);
        table = inner.as_table_like_mut().ok_or_else(|| DocumentError::NotATable(key.clone()))?;
    }
    let fields = entry.fields.iter().map(|(key, value)| (key.as_str(), to_value(value)));
    let inline = fields.clone().collect::<InlineTable>();
    let mut created: Table = fields.map(|(key, value)| (key, Item::Value(value))).collect();
    created.decor_mut().set_prefix(if is_empty { "" } else { "\n" });
    if !entry.is_element {
        let item = if is_inline { Item::Value(inline.into()) } else { Item::Table(created) };
        table.insert(last, item);
        return Ok(written(text, &document));
    }
    let array = table.entry(last).or_insert_with(|| match is_inline || is_dotted {
        true => Item::Value(Array::new().into()),
        false => Item::ArrayOfTables(ArrayOfTables::new()),
    });
    match array {
        Item::ArrayOfTables(tables) => tables.push(created),
        Item::Value(toml_edit::Value::Array(values)) => values.push(inline),
        _ => return Err(not_an_array(&entry.keys)),
    }
    Ok(written(text, &document))
}

pub(super) fn without(text: &str, entry: &Entry, created: usize) -> Result<String, DocumentError> {
    let mut document = parse(text)?;
    remove(document.as_table_mut(), &entry.keys, entry, created)?;
    Ok(written(text, &document))
}

/// Removes the entry at these keys of a table, and the innermost `created` of the tables and arrays around it if they are then
/// empty.
fn remove(
    table: &mut dyn TableLike,
    keys: &[String],
    entry: &Entry,
    created: usize,
) -> Result<(), DocumentError> {
    let Some((first, inner)) = keys.split_first() else { return Ok(()) };
    if inner.is_empty() && !entry.is_element {
        table.remove(first);
        return Ok(());
    }
    let Some(item) = table.get_mut(first) else { return Ok(()) };
    let is_empty = if inner.is_empty() {
        remove_element(item, entry)?
    } else {
        let found = item.as_table_like_mut().ok_or_else(|| DocumentError::NotATable(first.clone()))?;
        remove(found, inner, entry, created)?;
        found.is_empty()
    };
    if is_empty && inner.len() + usize::from(entry.is_element) <= created {
        table.remove(first);
    }
    Ok(())
}

/// Removes one element with the entry's value; whether the array is then empty.
fn remove_element(array: &mut Item, entry: &Entry) -> Result<bool, DocumentError> {
    let Value::Array(elements) = to_json(array) else { return Err(not_an_array(&entry.keys)) };
    let at = elements.iter().position(|element| *element == entry.value());
    match (array, at) {
        (Item::ArrayOfTables(tables), Some(at)) => {
            tables.remove(at);
        }
        (Item::Value(toml_edit::Value::Array(values)), Some(at)) => {
            values.remove(at);
        }
        _ => return Ok(elements.is_empty()),
    }
    Ok(elements.len() == 1)
}

/// The document with line ends as in the text that it was parsed from: toml_edit knows only one kind.
fn written(text: &str, document: &DocumentMut) -> String {
    let new = document.to_string();
    if text.contains("\r\n") { new.replace('\n', "\r\n") } else { new }
}

fn parse(text: &str) -> Result<DocumentMut, DocumentError> {
    text.parse().map_err(|error: toml_edit::TomlError| DocumentError::Syntax(error.to_string()))
}

fn to_value(value: &Value) -> toml_edit::Value {
    match value {
        // TOML has no null; entries of clients in TOML have none.
        Value::Null => "".into(),
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => integer.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(values) => values.iter().map(to_value).collect::<Array>().into(),
        Value::Object(values) => {
            values.iter().map(|(key, value)| (key.as_str(), to_value(value))).collect::<InlineTable>().into()
        }
    }
}

fn to_json(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        let entries = table.iter().map(|(key, item)| (key.to_owned(), to_json(item)));
        return Value::Object(entries.collect::<Map<_, _>>());
    }
    if let Some(tables) = item.as_array_of_tables() {
        return tables.iter().map(|table| to_json(&Item::Table(table.clone()))).collect();
    }
    match item.as_value() {
        Some(toml_edit::Value::String(text)) => text.value().as_str().into(),
        Some(toml_edit::Value::Integer(integer)) => (*integer.value()).into(),
        Some(toml_edit::Value::Float(float)) => (*float.value()).into(),
        Some(toml_edit::Value::Boolean(boolean)) => (*boolean.value()).into(),
        Some(toml_edit::Value::Array(values)) => {
            values.iter().map(|value| to_json(&Item::Value(value.clone()))).collect()
        }
        Some(other) => other.to_string().trim().into(),
        None => Value::Null,
    }
}
