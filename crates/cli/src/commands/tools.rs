use clap::Args;
use serde_json::json;
use tamis_server::listed_bytes;
use tamis_tools::{Access, Registry};

use crate::error::CliResult;
use crate::print;
use crate::table::{self, Align, Table};

/// List the tools
///
/// BYTES is the context that a tool takes in every session of a client. `tamis mcp` serves tools marked `*` by default, and
/// others with --tools.
#[derive(Args)]
pub(crate) struct Tools {
    /// Print names, toolsets, sizes, descriptions and input schemas
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: Tools) -> CliResult {
    let registry = Registry::all();
    let tools = registry.list(Access::Full);
    if arguments.json {
        let tools: Vec<_> = tools
            .map(|tool| {
                json!({
                    "name": tool.name,
                    "aliases": tool.aliases,
                    "toolset": tool.toolset.name(),
                    "default": tool.is_default(),
                    "bytes": listed_bytes(tool),
                    "description": tool.description,
                    "inputSchema": *tool.input_schema,
                })
            })
            .collect();
        return print::json(&tools);
    }
    let mut table = Table::new(&[
        ("TOOL", Align::Left),
        ("TOOLSET", Align::Left),
        ("BYTES", Align::Right),
        ("", Align::Left),
        ("DESCRIPTION", Align::Left),
    ]);
    for tool in tools {
        let first_sentence = tool.description.split_inclusive(". ").next().unwrap_or_default();
        table.row([
            tool.name.to_owned(),
            tool.toolset.name().to_owned(),
            print::grouped(listed_bytes(tool) as u64),
            if tool.is_default() { "*" } else { "" }.to_owned(),
            first_sentence.trim().to_owned(),
        ]);
    }
    print::text(&table.render(table::screen()))
}
