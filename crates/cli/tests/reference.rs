//! The reference in `docs/`, the man pages and the help are what the code says.
//!
//! Each is rendered again and compared with the committed file. `UPDATE_SNAPSHOTS=1 cargo test -p tamis --test reference`
//! writes the files instead.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Command;
use clap::builder::Resettable;
use common::Fixture;
use tamis_config::{ProjectRule, Setting};
use tamis_server::listed_bytes;
use tamis_tools::{Credentials, Registry};

const WIDTH: &str = "100";
const REGENERATE: &str = "`UPDATE_SNAPSHOTS=1 cargo test -p tamis --test reference` regenerates it";

/// Compares a file of the repository with what it should be, or writes it.
fn check(path: &str, content: &str) {
    let path = root().join(path);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = committed.lines().zip(content.lines()).find(|(old, new)| old != new);
    assert!(committed == content, "{} is out of date ({differs:?}); {REGENERATE}", path.display());
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every command that people see, with its full name, parents first.
fn commands(mut command: Command) -> Vec<(Vec<String>, Command)> {
    fn walk(command: &Command, name: Vec<String>, found: &mut Vec<(Vec<String>, Command)>) {
        found.push((name.clone(), command.clone()));
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
            walk(sub, [name.clone(), vec![sub.get_name().to_owned()]].concat(), found);
        }
    }
    command.build();
    let mut found = Vec::new();
    walk(&command, vec!["tamis".to_owned()], &mut found);
    found
}

fn trimmed(text: &str) -> String {
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// What the program prints for `-h` and `--help`, with exit code 0.
#[test]
fn help_of_every_command_is_as_committed() {
    let fixture = Fixture::new();
    let mut short = String::new();
    let mut long =
        String::from("# Commands\n\nGenerated from the code: the output of `--help` of every command.\n");
    for (name, _) in commands(tamis_cli::command()) {
        let help = |flag: &str| {
            let arguments: Vec<&str> = name[1..].iter().map(String::as_str).chain([flag]).collect();
            let mut program = fixture.tamis(&arguments);
            let ran = common::finish(program.env("COLUMNS", WIDTH), b"");
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{name:?} {flag}");
            trimmed(&ran.stdout)
        };
        let name = name.join(" ");
        write!(short, "$ {name} -h\n{}\n\n", help("-h")).unwrap();
        write!(long, "\n## `{name}`\n\n```text\n{}\n```\n", help("--help")).unwrap();
    }
    check("crates/cli/tests/short_help.txt", &short);
    check("docs/reference/commands.md", &long);
}

/// The most bytes that the tools may take in the context of a client which names none.
const DEFAULT_BYTES: usize = 8_000;

/// The tools that a server with these arguments lists, with the bytes that each takes, and the bytes of the whole answer.
fn listed(fixture: &Fixture, arguments: &[&str]) -> (Vec<(String, usize)>, usize) {
    let mut mcp = common::Mcp::start(fixture.tamis(&[&["mcp"], arguments].concat()));
    let result = mcp.request("tools/list", serde_json::json!({}))["result"].clone();
    let tools = result["tools"].as_array().unwrap().iter();
    let tools = tools.map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool.to_string().len()));
    (tools.collect(), result.to_string().len())
}

#[test]
fn the_default_tools_take_at_most_8_kb() {
    let fixture = Fixture::new();
    let (tools, bytes) = listed(&fixture, &[]);
    assert!(bytes <= DEFAULT_BYTES, "{bytes} bytes: {tools:?}");
    let names: Vec<&str> = tools.iter().map(|(name, _)| name.as_str()).collect();
    for needed in ["read", "bash", "grep", "recover_text", "research_codebase", "search_event_previews"] {
        assert!(names.contains(&needed), "{needed} is not in {names:?}");
    }
    assert_eq!(listed(&fixture, &["--tools", "default"]).0, tools);
    let (all, _) = listed(&fixture, &["--tools", "all"]);
    assert!(all.len() > tools.len() && tools.iter().all(|tool| all.contains(tool)), "{all:?}");
    // Toolsets and single tools can be added to each other.
    let more = listed(&fixture, &["--tools", "prune,grep,recover_range,health"]).0;
    let names: Vec<&str> = more.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["prune_text", "recover_text", "health", "grep"]);
}

/// `tamis mcp --help` and the reference have the cost of every tool, as a client gets it.
#[test]
fn help_and_docs_list_what_each_tool_costs() {
    let fixture = Fixture::new();
    let (all, whole) = listed(&fixture, &["--tools", "all"]);
    let described = fixture.run(&["tools", "--json"], b"").json();
    let described = described.as_array().unwrap();
    let (default, default_bytes) = listed(&fixture, &[]);
    let mut docs = format!(
        "# Tools\n\n\
         Generated from the code. A client keeps the name, description and input schema of every tool in its context, so each tool\n\
         takes context in every session, even if it is not called. `tamis mcp` serves the default tools: {} bytes, about {} tokens.\n\
         `--tools` selects others, by toolset or by name: `tamis mcp --tools default,locate_in_codebase`, `tamis mcp --tools all`\n\
         ({} bytes). The toolset `agents` is only for agents that `tamis agents start` started. `tamis tools` prints this table\n\
         without that toolset.\n\n\
         | tool | toolset | default | bytes | description |\n| --- | --- | --- | ---: | --- |\n",
        grouped(default_bytes),
        grouped(default_bytes / 4),
        grouped(whole)
    );
    // What a client gets, to the byte.
    let help = fixture.run(&["mcp", "--help"], b"").stdout;
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for (name, bytes) in &all {
        assert!(words.contains(&format!("{name} {}", grouped(*bytes))), "{name} {bytes}: {help}");
    }
    for name in ["default", "prune", "workbench", "trace", "research", "all"] {
        let row = format!("\n  {name:<9}  {:>6}", grouped(listed(&fixture, &["--tools", name]).1));
        assert!(help.contains(&row), "{row}: {help}");
    }
    for tool in described {
        let bytes = all.iter().find(|(name, _)| tool["name"] == name.as_str()).unwrap().1;
        assert_eq!(tool["bytes"], bytes, "{tool}");
        let is_default = default.iter().any(|(name, _)| tool["name"] == name.as_str());
        assert_eq!(tool["default"], is_default, "{tool}");
    }
    let table = fixture.run(&["tools"], b"").stdout;
    for (name, bytes) in &all {
        let row = table.lines().find(|line| line.split(' ').next() == Some(name)).unwrap();
        let cells: Vec<&str> = row.split_whitespace().skip(2).take(2).collect();
        let is_default = default.iter().any(|(default, _)| default == name);
        assert_eq!((cells[0], cells[1] == "*"), (&*grouped(*bytes), is_default), "{row}");
    }
    for tool in Registry::all().list(Credentials::ALL) {
        let default = if tool.is_default() { "yes" } else { "" };
        let (name, toolset, bytes) = (tool.name, tool.toolset.name(), grouped(listed_bytes(tool)));
        writeln!(docs, "| `{name}` | `{toolset}` | {default} | {bytes} | {} |", tool.description).unwrap();
    }
    check("docs/reference/tools.md", &docs);
}

/// Which tools an agent gets, what they cost, and where the others, the settings and the limits are.
#[test]
fn the_readme_lists_the_default_tools() {
    let (tools, bytes) = listed(&Fixture::new(), &[]);
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let words = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    const NUMBERS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    let (count, tokens) = (NUMBERS[tools.len()], grouped((bytes / 4 + 50) / 100 * 100));
    let opening =
        format!("The agent then has {count} tools, which take about {tokens} tokens of its context: ");
    let (_, rest) = words.split_once(&opening).unwrap_or_else(|| panic!("`{opening}` is not in the README"));
    let (list, rest) = rest.split_once(". ").unwrap();
    let registry = Registry::all();
    let defaults: Vec<_> = registry.list(Credentials::ALL).filter(|tool| tool.is_default()).collect();
    let (sessions, others): (Vec<_>, Vec<_>) =
        defaults.into_iter().partition(|tool| tool.toolset.name() == "trace");
    for tool in &others {
        assert!(list.contains(&format!("`{}`", tool.name)), "{} is not in `{list}`", tool.name);
    }
    assert_eq!(list.matches('`').count(), 2 * others.len(), "{list}");
    assert!(list.ends_with(&format!("and {} that read past sessions", NUMBERS[sessions.len()])), "{list}");
    assert!(
        rest.starts_with("`tamis mcp --tools NAME,…` serves [others](docs/reference/tools.md)."),
        "{rest}"
    );
    for link in ["[setting](docs/reference/settings.md)", "[The workbench](docs/workbench.md)"] {
        assert!(words.contains(link), "{link}");
    }
}

fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let (head, tail) = digits.split_at(digits.len().saturating_sub(3));
    if head.is_empty() { tail.to_owned() } else { format!("{head},{tail}") }
}

#[test]
fn docs_list_every_setting() {
    let mut text = String::from(
        "# Settings\n\n\
         Generated from the code. A setting is taken from a flag, an environment variable (the first of its variables\n\
         that is set), the project's `.tamis.toml` or your `config.toml`, in that order; otherwise, it has its default. A name such as\n\
         `http.port` is the key `port` in the table `[http]` of these files.\n\n\
         `tamis config --explain` shows every value and its source; `tamis config set NAME VALUE` changes `config.toml`.\n\n\
         | | Linux | macOS | Windows |\n| --- | --- | --- | --- |\n\
         | `config.toml` | `$XDG_CONFIG_HOME/tamis` or `~/.config/tamis` | `~/Library/Application Support/tamis` | `%APPDATA%\\tamis` |\n\
         | data folder | `$XDG_DATA_HOME/tamis` or `~/.local/share/tamis` | `~/Library/Application Support/tamis` | `%LOCALAPPDATA%\\tamis` |\n\n\
         `tamis config path` prints the path of `config.toml`; `TAMIS_CONFIG` names another file. Also read, but not settings:\n\
         `TAMIS_PAGER` or `PAGER` (the pager for long output on a terminal; empty for none) and `NO_COLOR`.\n\n\
         A project's `.tamis.toml` comes with the repository and is not trusted: it may do what the column \"project\"\n\
         says, and anything else in it is ignored with a warning. Relative paths start at the working folder, or at the\n\
         folder of the file that they are in.\n",
    );
    let mut tables: Vec<(&str, Vec<&Setting>)> = Vec::new();
    for setting in Setting::all() {
        let table = setting.name.split_once('.').unwrap().0;
        match tables.last_mut() {
            Some((name, settings)) if *name == table => settings.push(setting),
            _ => tables.push((table, vec![setting])),
        }
    }
    for (table, settings) in tables {
        write!(text, "\n## `[{table}]`\n").unwrap();
        for setting in settings {
            let project = match setting.project {
                ProjectRule::Ignored => "may not set it",
                ProjectRule::MayLower => "may lower it",
                ProjectRule::MayNarrow => "may narrow it",
                ProjectRule::MayAdd => "may add to it",
            };
            let default =
                setting.default.as_ref().map_or("unset".to_owned(), |default| format!("`{default}`"));
            let default = if setting.name == "data.dir" { "see above".to_owned() } else { default };
            let variables: Vec<_> = setting.variables.iter().map(|name| format!("`{name}`")).collect();
            write!(
                text,
                "\n### `{}`\n\n{}.\n\n| variables | type | default | project |\n| --- | --- | --- | --- |\n| {} | {} | {default} | {project} |\n",
                setting.name,
                setting.about,
                variables.join(", "),
                setting.kind,
            )
            .unwrap();
        }
    }
    check("docs/reference/settings.md", &text);
}

#[test]
fn every_command_has_a_man_page() {
    let mut pages = BTreeMap::new();
    for (name, command) in commands(tamis_cli::command().disable_help_subcommand(true)) {
        let name = name.join("-");
        let mut page = Vec::new();
        // A date or a version would change every page with every release.
        let man = clap_mangen::Man::new(command.display_name(name.clone()).version(Resettable::Reset));
        let man = man.date("").source("tamis").manual("tamis");
        man.render(&mut page).unwrap();
        pages.insert(format!("{name}.1"), trimmed(&String::from_utf8(page).unwrap()) + "\n");
    }
    let folder = root().join("docs/man");
    for (name, page) in &pages {
        check(&format!("docs/man/{name}"), page);
    }
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(pages.contains_key(&name), "docs/man/{name} is of no command; remove it");
    }
}
