//! TOML.

use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

use super::{DocumentError, Entry};

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
    let mut is_inline = false;
    for key in tables {
        let inner = table.entry(key).or_insert_with(|| {
            let mut created = Table::new();
            created.set_implicit(true);
            if is_inline { Item::Value(InlineTable::new().into()) } else { Item::Table(created) }
        });
        is_inline = inner.is_inline_table();
        table = inner.as_table_like_mut().ok_or_else(|| DocumentError::NotATable(key.clone()))?;
    }
    let fields = entry.fields.iter().map(|(key, value)| (key.as_str(), to_value(value)));
    let item = if is_inline {
        Item::Value(fields.collect::<InlineTable>().into())
    } else {
        let mut created: Table = fields.map(|(key, value)| (key, Item::Value(value))).collect();
        created.decor_mut().set_prefix(if is_empty { "" } else { "\n" });
        Item::Table(created)
    };
    table.insert(last, item);
    Ok(written(text, &document))
}

pub(super) fn without(text: &str, keys: &[String], created: usize) -> Result<String, DocumentError> {
    let mut document = parse(text)?;
    let Some((last, tables)) = keys.split_last() else { return Ok(text.to_owned()) };
    remove(document.as_table_mut(), tables, last, created)?;
    Ok(written(text, &document))
}

/// Removes the key from the table at `tables`, and the innermost `created` of these tables if they are then empty.
fn remove(
    table: &mut dyn TableLike,
    tables: &[String],
    last: &str,
    created: usize,
) -> Result<(), DocumentError> {
    let Some((first, inner)) = tables.split_first() else {
        table.remove(last);
        return Ok(());
    };
    let Some(item) = table.get_mut(first) else { return Ok(()) };
    let found = item.as_table_like_mut().ok_or_else(|| DocumentError::NotATable(first.clone()))?;
    remove(found, inner, last, created)?;
    if found.is_empty() && tables.len() <= created {
        table.remove(first);
    }
    Ok(())
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
