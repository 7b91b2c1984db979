use clap::Args;
use serde_json::json;
use tamis_tools::{Access, Registry};

use crate::error::CliResult;
use crate::print;

/// List the tools
#[derive(Args)]
pub(crate) struct Tools {
    /// Print names, toolsets, descriptions and input schemas
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
                    "description": tool.description,
                    "inputSchema": *tool.input_schema,
                })
            })
            .collect();
        return print::json(&tools);
    }
    let rows: Vec<_> = tools
        .map(|tool| {
            let first_sentence = tool.description.split_inclusive(". ").next().unwrap_or_default();
            [tool.name.to_owned(), tool.toolset.name().to_owned(), first_sentence.trim().to_owned()]
        })
        .collect();
    print::columns(&rows)?;
    print::note("research reads local files only; there is no `web_research`");
    Ok(())
}
