//! `fields`: only these members of each item.

use serde_json::Value;

use super::failure::{invalid_parameter, quoted};
use crate::Failure;

/// The requested members; all when it is empty.
#[derive(Debug)]
pub(crate) struct Fields(Vec<String>);

impl Fields {
    /// Refuses names that no item has.
    pub(crate) fn checked(requested: Option<Vec<String>>, known: &[&str]) -> Result<Fields, Failure> {
        let requested = requested.unwrap_or_default();
        match requested.iter().find(|name| !known.contains(&name.as_str())) {
            Some(unknown) => Err(invalid_parameter(
                "fields",
                format!("unknown field {:?}; the fields are {}", quoted(unknown), known.join(", ")),
            )),
            None => Ok(Fields(requested)),
        }
    }

    pub(crate) fn of(&self, mut item: Value) -> Value {
        if let (Value::Object(members), false) = (&mut item, self.0.is_empty()) {
            members.retain(|name, _| self.0.iter().any(|requested| requested == name));
        }
        item
    }
}
