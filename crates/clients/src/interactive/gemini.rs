//! Gemini CLI. It has no flag for servers, reads system settings only when root owns them, and a folder's settings would be
//! files in the worktree. So it gets a home for the session: links to the user's files, and a copy of the user's settings with
//! the servers added.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::{InteractiveLaunch, InteractiveOptions, Task};

const HOME_VARIABLE: &str = "GEMINI_CLI_HOME";
const FOLDER: &str = ".gemini";
const SETTINGS: &str = "settings.json";

pub(super) fn interactive(options: &InteractiveOptions, task: &Task) -> InteractiveLaunch {
    // Trusts the folder for this session.
    let mut args = vec!["--skip-trust".to_owned()];
    let approved = options.run.approved.iter().filter_map(|tool| {
        let server = tool.server.as_deref()?;
        Some(format!("mcp_{server}_{}", tool.name))
    });
    let approved: Vec<_> = approved.collect();
    if !approved.is_empty() {
        // A file of rules would turn the user's own rules off.
        args.push(format!("--allowed-tools={}", approved.join(",")));
    }
    if let Some(model) = &options.run.model {
        args.push(format!("--model={model}"));
    }
    if task.file.is_some() {
        args.push(format!("--include-directories={}", options.state.display()));
    }
    args.extend_from_slice(&options.run.agent_args);
    args.push(format!("--prompt-interactive={}", task.prompt));

    let home = options.state.join("gemini-home");
    let (theirs, ours) = (options.home.join(FOLDER), home.join(FOLDER));
    let entries = fs::read_dir(&theirs).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut links: Vec<_> =
        entries.filter(|name| name != SETTINGS).map(|name| (ours.join(&name), theirs.join(&name))).collect();
    links.sort();
    InteractiveLaunch {
        args,
        env: [(HOME_VARIABLE.to_owned(), home.display().to_string())].into(),
        files: vec![(ours.join(SETTINGS), settings(&theirs.join(SETTINGS), options).to_string())],
        links,
    }
}

/// The user's settings with the servers added. Settings that cannot be read count as empty here; Gemini CLI reports them when
/// the user starts it.
fn settings(path: &Path, options: &InteractiveOptions) -> Value {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut settings: Map<String, Value> = serde_json::from_str(&without_comments(&text)).unwrap_or_default();
    let mut servers = match settings.remove("mcpServers") {
        Some(Value::Object(servers)) => servers,
        _ => Map::new(),
    };
    for (name, server) in &options.run.mcp_servers {
        let entry = json!({"command": server.command, "args": server.args, "env": server.env});
        servers.insert(name.clone(), entry);
    }
    settings.insert("mcpServers".to_owned(), Value::Object(servers));
    Value::Object(settings)
}

/// Removes `//` and `/* */` comments, which Gemini CLI allows in JSON.
fn without_comments(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '/']) {
        json.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = if rest.starts_with('"') {
            let length = string_length(rest);
            json.push_str(&rest[..length]);
            length
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            json.push('/');
            1
        };
        rest = &rest[length..];
    }
    json.push_str(rest);
    json
}

/// The length of the string literal at the start of `text`, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn comments_are_removed_and_strings_kept() {
        let text = "// a \"\n{\"u\": \"http://x/*\\\"*/\", /* \"b\" */ \"v\": 1 // end\n}/*";
        assert_eq!(without_comments(text), "\n{\"u\": \"http://x/*\\\"*/\",  \"v\": 1 \n}");
    }

    proptest! {
        #[test]
        fn json_without_comments_stays_as_it_is(text in any::<String>(), other in any::<String>()) {
            let json = json!({"text": text, "other": [other]}).to_string();
            prop_assert_eq!(without_comments(&json), json);
        }

        #[test]
        fn any_text_is_accepted(text in "(/|\\*|\"|\\\\|\n|é){0,30}") {
            without_comments(&text);
        }
    }
}
