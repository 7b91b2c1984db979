use clap::Args;
use serde_json::json;

use super::options::Source;
use super::render;
use crate::error::CliResult;
use crate::table::{self, Align, Table};
use crate::{escape, print};

/// List the folders that agents worked in
#[derive(Args)]
pub(crate) struct Projects {
    #[command(flatten)]
    source: Source,
}

pub(crate) fn run(arguments: &Projects) -> CliResult {
    let trace = arguments.source.open()?;
    let projects = trace.projects()?;
    if arguments.source.json {
        let projects: Vec<_> = projects
            .iter()
            .map(|project| {
                json!({
                    "hash": project.hash,
                    "root_path": project.root,
                    "session_count": project.sessions,
                    "last_activity": render::utc(project.last_activity),
                })
            })
            .collect();
        return print::json(&json!({"projects": projects}));
    }
    let mut table = Table::new(&[
        ("HASH", Align::Left),
        ("SESSIONS", Align::Right),
        ("LAST ACTIVITY", Align::Left),
        ("FOLDER", Align::Left),
    ]);
    for project in &projects {
        let hash: String = project.hash.chars().take(8).collect();
        let root = project.root.as_ref().map(|root| escape::line(&render::under_home(root)));
        table.row([
            if hash.is_empty() { "-".to_owned() } else { hash },
            print::grouped(project.sessions),
            render::minute(project.last_activity),
            root.unwrap_or_else(|| "(not in the logs)".to_owned()),
        ]);
    }
    if table.is_empty() {
        return render::nothing(&trace, "no projects");
    }
    print::text(&table.render(table::screen()))
}
