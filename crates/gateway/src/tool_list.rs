//! The answer to `tools/list`: what the gateway learns from it, and the tool that it adds.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tamis_tools::Tool;

use crate::http_headers::HeaderArgument;
use crate::message::{member, range_in};

/// Of a description, this is enough for a goal.
const MAX_DESCRIPTION_CHARS: usize = 400;

/// Descriptions of more tools are not kept.
const MAX_TOOLS: usize = 10_000;

/// What a server's lists have said about its tools.
#[derive(Default)]
pub(crate) struct KnownTools {
    descriptions: HashMap<String, String>,
    header_arguments: HashMap<String, Vec<HeaderArgument>>,
    /// Whether the server has a tool of the name of ours, which then is not added.
    pub(crate) has_own_recover_text: bool,
}

#[derive(Deserialize)]
struct ToolListResult<'a> {
    #[serde(borrow)]
    tools: &'a RawValue,
    #[serde(borrow, default, rename = "nextCursor")]
    next_cursor: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ListedTool<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    description: Option<Cow<'a, str>>,
}

impl KnownTools {
    pub(crate) fn description(&self, tool: &str) -> Option<&str> {
        self.descriptions.get(tool).map(String::as_str)
    }

    /// The arguments of a tool that are sent in headers too.
    pub(crate) fn header_arguments(&self, tool: &str) -> &[HeaderArgument] {
        self.header_arguments.get(tool).map_or(&[], Vec::as_slice)
    }

    /// Learns from a list. Returns where in `line` to insert the tool `own`, and the JSON to insert; none if this is not the
    /// last page, or the server has a tool of that name.
    pub(crate) fn learn(&mut self, line: &str, result: &str, own: &str) -> Option<(Range<usize>, String)> {
        let list: ToolListResult<'_> = serde_json::from_str(result).ok()?;
        let tools: Vec<&RawValue> = serde_json::from_str(list.tools.get()).ok()?;
        for tool in &tools {
            let Ok(ListedTool { name, description }) = serde_json::from_str(tool.get()) else { continue };
            self.has_own_recover_text |= name == OWN_TOOL;
            if self.descriptions.len() >= MAX_TOOLS {
                continue;
            }
            if tool.get().contains("x-mcp-header")
                && let Some(schema) = member(tool.get(), "inputSchema")
                && let Ok(schema) = serde_json::from_str(schema)
            {
                self.header_arguments.insert(name.clone().into_owned(), HeaderArgument::all_in(&schema));
            }
            if let Some(description) = description {
                let short = description.chars().take(MAX_DESCRIPTION_CHARS).collect();
                self.descriptions.insert(name.into_owned(), short);
            }
        }
        let is_last = list.next_cursor.is_none_or(|cursor| cursor.get() == "null");
        if !is_last || self.has_own_recover_text {
            return None;
        }
        let end = range_in(line, list.tools.get()).end - 1;
        let comma = if tools.is_empty() { "" } else { "," };
        Some((end..end, format!("{comma}{own}")))
    }
}

/// The tool that restores what was cut.
pub(crate) const OWN_TOOL: &str = "recover_text";

/// How a tool of ours is listed.
pub(crate) fn listed(tool: &Tool) -> String {
    json!({
        "name": tool.name,
        "description": tool.description,
        "inputSchema": *tool.input_schema,
        "annotations": {"readOnlyHint": tool.read_only},
    })
    .to_string()
}
