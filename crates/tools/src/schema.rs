//! JSON Schemas of inputs, as plain as the contracts print them.
//!
//! No `$schema`, no titles, no references and no `format`: Gemini CLI and OpenCode warn about `uint` formats, and
//! the contracts' schemas have none of it.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, RemoveRefSiblings, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

pub(crate) fn of<T: JsonSchema>() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(RemoveRefSiblings::default()).transform(&mut schema);
    RecursiveTransform(|schema: &mut Schema| {
        schema.remove("format");
        schema.remove("title");
    })
    .transform(&mut schema);
    match schema.to_value() {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
