//! Research as a person meets it: answers, exit codes, JSON, configuration, and servers that cannot look anywhere.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use common::{Fixture, Ran, finish};
use serde_json::json;
use tamis_testkit::assert_report;

/// A fixture whose working folder is a small shop.
struct Shop {
    fixture: Fixture,
}

impl Shop {
    fn new() -> Shop {
        let shop = Shop { fixture: Fixture::new() };
        shop.write(
            "src/prices.rs",
            "/// Reads a price.\npub fn parse_price(text: &str) -> u32 {\n    text.parse().unwrap_or(0)\n}\n",
        );
        shop.write(
            "src/main.rs",
            "mod prices;\n\nfn main() {\n    println!(\"{}\", prices::parse_price(\"7\"));\n}\n",
        );
        shop.write("README.md", "# Shop\n\nPrices are read by `parse_price`.\n");
        shop
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.fixture.work().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn tamis(&self, arguments: &[&str]) -> Command {
        self.fixture.tamis(arguments)
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        finish(&mut self.tamis(arguments), b"")
    }
}

#[test]
fn an_answer_reads_well_and_its_references_can_be_opened_from_here() {
    let shop = Shop::new();
    let ran = shop.run(&["research", "Where is parse_price implemented?"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("\nwhere to look:\n  src/prices.rs:2-4\n"), "{}", ran.stdout);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
    assert!(ran.stderr.contains("3 files searched"), "{}", ran.stderr);
    // From elsewhere they are whole.
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = shop.tamis(&["locate", "parse_price", "--root"]);
    command.arg(shop.fixture.work()).current_dir(elsewhere.path());
    let ran = finish(&mut command, b"");
    let whole = shop.fixture.work().canonicalize().unwrap().join("src/prices.rs:2-4");
    assert!(ran.stdout.contains(&format!("  {}\n", whole.display())), "{}", ran.stdout);
    // A narrow screen breaks lines, never a path.
    let mut command = shop.tamis(&["analyze", "parse_price"]);
    let ran = finish(command.env("COLUMNS", "40"), b"");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("src/prices.rs:2"), "{}", ran.stdout);
}

#[test]
fn the_answer_and_the_list_spell_a_path_alike() {
    let shop = Shop::new();
    for command in ["locate", "research", "analyze"] {
        let ran = shop.run(&[command, "parse_price", "--root", "src"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        for (at, _) in ran.stdout.match_indices("prices.rs") {
            assert!(ran.stdout[..at].ends_with("src/"), "{command}: {}", ran.stdout);
        }
    }
}

#[test]
fn what_is_in_no_file_is_stated_first() {
    let shop = Shop::new();
    let ran = shop.run(&["research", "how is the price of a zorblax read"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("note: Not in any file: `zorblax`."), "{}", ran.stdout);
    for question in ["does it support kubernetes", "does it support kubernetes?"] {
        let ran = shop.run(&["research", question]);
        assert_eq!(ran.code, Some(1), "{}", ran.stdout);
        assert!(ran.stdout.starts_with("Not found"), "{}", ran.stdout);
    }
}

#[test]
fn places_are_listed_once_with_one_line_of_each() {
    let shop = Shop::new();
    for command in ["research", "locate"] {
        let ran = shop.run(&[command, "Where is parse_price implemented?"]);
        let (findings, places) = ran.stdout.split_once("\nwhere to look:\n").unwrap();
        for category in ["implementation:", "entry point:", "docs:"] {
            assert!(!findings.contains(category), "{command}: {findings}");
        }
        let line = "\n      pub fn parse_price(text: &str) -> u32 {\n";
        assert!(places.starts_with(&format!("  src/prices.rs:2-4{line}")), "{command}: {places}");
        for path in ["src/prices.rs", "src/main.rs", "README.md"] {
            assert_eq!(places.matches(path).count(), 1, "{command}: {places}");
        }
    }
}

#[test]
fn json_is_the_report_as_the_tool_gives_it() {
    let shop = Shop::new();
    for (command, tool) in [
        ("research", "research_codebase"),
        ("locate", "locate_in_codebase"),
        ("patterns", "find_patterns"),
        ("analyze", "analyze_component"),
    ] {
        let ran = shop.run(&[command, "parse_price", "--json", "--max-tokens", "1500"]);
        let mut printed = ran.json();
        assert_report(&printed);
        let input = json!({"question": "parse_price", "constraints": {"maxTokens": 1500}}).to_string();
        let mut called = shop.run(&["call", tool, &input]).json();
        for report in [&mut printed, &mut called] {
            report["run"]["elapsedMs"] = json!(0);
            for role in ["locator", "analyzer", "patterns"] {
                if report.get(role).is_some() {
                    report[role]["timing"] = json!(null);
                }
            }
        }
        assert_eq!(printed, called, "{command}");
    }
}

#[test]
fn nothing_found_is_said_and_ends_with_1() {
    let shop = Shop::new();
    for command in ["research", "locate", "patterns", "analyze"] {
        let ran = shop.run(&[command, "frobnicate_zyxwv"]);
        assert_eq!(ran.code, Some(1), "{command}: {}", ran.stdout);
        assert!(ran.stdout.to_lowercase().starts_with("not found"), "{command}: {}", ran.stdout);
        assert!(!ran.stderr.contains("nothing was found"), "it is said once: {}", ran.stderr);
        let ran = shop.run(&[command, "frobnicate_zyxwv", "--json"]);
        assert_eq!(ran.code, Some(1), "{command}");
        assert!(ran.stderr.contains("nothing was found\n"), "{command}: {}", ran.stderr);
        assert_report(&ran.json());
    }
}

#[test]
fn a_folder_that_is_not_there_is_refused_at_once() {
    let shop = Shop::new();
    for (arguments, variable) in [
        (vec!["research", "a", "--root", "nowhere"], None),
        (vec!["locate", "a"], Some(("TAMIS_ROOTS", "/nowhere/at/all"))),
        (vec!["locate", "a", "--root", "/etc"], None),
        (vec!["research", "a"], Some(("TAMIS_RESEARCH_DENY", "a["))),
        (vec!["research", "a"], Some(("TAMIS_MODEL_URL", "localhost"))),
        (vec!["research", "a", "--deadline-ms", "0"], None),
        (vec!["research", " "], None),
    ] {
        let mut command = shop.tamis(&arguments);
        if let Some((name, value)) = variable {
            command.env(name, value);
        }
        let ran = finish(&mut command, b"");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    }
    // Notes of former work may be missing: the code is there.
    let mut command = shop.tamis(&["analyze", "a"]);
    let ran = finish(command.env("TAMIS_THOUGHTS", "/nowhere"), b"");
    assert!(ran.stdout.contains("note: /nowhere does not exist and was not searched."), "{}", ran.stdout);
}

#[test]
fn mcp_reports_unusable_roots_at_start_if_it_serves_research() {
    let shop = Shop::new();
    let start = |toolset: &str| {
        let mut command = shop.tamis(&["mcp", "--tools", toolset]);
        command.env("TAMIS_ROOTS", "/nowhere").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut child = start("research");
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("research is unavailable: cannot read folder `/nowhere`")));
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let ended = start("prune").wait_with_output().unwrap();
    assert!(!String::from_utf8_lossy(&ended.stderr).contains("research is unavailable"));
}

#[test]
fn a_server_that_cannot_look_anywhere_serves_its_other_tools_and_says_why() {
    let shop = Shop::new();
    let mut command = shop.tamis(&["call", "list_roots"]);
    let ran = finish(command.env("TAMIS_ROOTS", "/nowhere"), b"");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("research is unavailable: cannot read folder `/nowhere`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("\"code\":\"no_roots\""), "{}", ran.stderr);
    for tool in ["ping", "health"] {
        let mut command = shop.tamis(&["call", tool]);
        assert_eq!(finish(command.env("TAMIS_ROOTS", "/nowhere"), b"").code, Some(0), "{tool}");
    }
}

#[test]
fn a_project_narrows_where_research_looks_and_the_explanation_says_so() {
    let shop = Shop::new();
    shop.write(".tamis.toml", "[research]\nroots = [\"src\"]\n[limits]\nmaxFilesRead = 5\n");
    let report = shop.run(&["locate", "parse_price", "--json"]).json();
    let src = shop.fixture.work().canonicalize().unwrap().join("src");
    assert_eq!(report["rootsSearched"], json!([src]));
    assert_eq!(report["run"]["limits"]["maxFilesRead"], 5);
    let explained = shop.run(&["config", "--explain"]).stdout;
    for row in [
        "research.roots = ",
        "research.index = auto",
        "limits.maxFilesRead = 5\n",
        "limits.maxBytesRead = 1048576",
        "limits.maxTokens = 2000",
        "runtime.defaultDeadlineMs = 30000",
        "runtime.maxConcurrentTasks = 4",
        "runtime.maxQueuedTasks = 64",
        "model.url = http://127.0.0.1:1234/v1",
        "model.use = never",
    ] {
        assert!(explained.contains(&format!("\n{row}")), "{row} in {explained}");
    }
}

#[test]
fn a_projects_invalid_pattern_is_ignored_and_its_others_hold() {
    let shop = Shop::new();
    shop.write("private/prices.rs", "fn parse_price() {}\n");
    assert!(shop.run(&["locate", "parse_price", "--json"]).stdout.contains("private/prices.rs"));
    shop.write(".tamis.toml", "[research]\ndeny = [\"a[\", \"private/\"]\n");
    let ran = shop.run(&["locate", "parse_price", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("src/") && !ran.stdout.contains("private/prices.rs"), "{}", ran.stdout);
    assert!(ran.stderr.contains("research.deny: \"a[\" is not a valid pattern"), "{}", ran.stderr);
    // The user's own mistake is an error: the pattern may be there to protect something.
    let mut command = shop.tamis(&["locate", "parse_price"]);
    assert_eq!(finish(command.env("TAMIS_RESEARCH_DENY", "a["), b"").code, Some(2));
}

#[test]
fn a_project_that_narrows_the_roots_does_not_undo_the_users_patterns() {
    let shop = Shop::new();
    shop.write("ops/prices.rs", "fn parse_price() {}\n");
    shop.write("ops/public/prices.rs", "fn parse_price() {}\n");
    shop.write(".tamis.toml", "[research]\nroots = [\"ops\"]\n");
    assert!(shop.run(&["locate", "parse_price", "--json"]).stdout.contains("\"prices.rs"));
    let file = shop.fixture.folder.path().join("config.toml");
    std::fs::write(&file, "[research]\ndeny = [\"ops/*.rs\"]\n").unwrap();
    let mut command = shop.tamis(&["locate", "parse_price", "--json"]);
    let found = finish(command.env("TAMIS_CONFIG", &file), b"").stdout;
    assert!(found.contains("\"public/prices.rs:1\"") && !found.contains("\"prices.rs"), "{found}");
}

#[test]
fn an_index_is_built_by_servers_and_on_request_and_changes_no_answer() {
    let shop = Shop::new();
    (0..300).for_each(|number| shop.write(&format!("src/part_{number}.rs"), "pub fn part() {}\n"));
    let index = shop.fixture.data().join("research");
    let answer = |setting: &str| {
        let mut command = shop.tamis(&["locate", "Where is parse_price implemented?"]);
        let ran = finish(command.env("TAMIS_RESEARCH_INDEX", setting), b"");
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stdout
    };
    let answers = ["off", "auto"].map(answer);
    assert!(!index.exists(), "a command builds it only on request");
    // The first answer is from the files, the others from the index.
    let indexed = ["on", "on", "auto"].map(answer);
    assert!(index.exists());
    assert!(answers.iter().chain(&indexed).all(|answer| *answer == answers[0]), "{answers:?} {indexed:?}");
    std::fs::remove_dir_all(&index).unwrap();
    let mut mcp = common::Mcp::start(shop.tamis(&["mcp", "--tools", "research"]));
    let call = json!({"name": "locate_in_codebase", "arguments": {"question": "parse_price"}});
    assert!(mcp.request("tools/call", call)["result"].to_string().contains("src/prices.rs:2-4"));
    common::eventually("a server has built it", || index.exists());
}

#[test]
fn logging_level_changes_what_is_logged_and_not_what_is_answered() {
    let shop = Shop::new();
    let answers: Vec<_> = ["off", "info", "debug"]
        .iter()
        .map(|level| {
            let mut command = shop.tamis(&["call", "locate_in_codebase", r#"{"question": "parse_price"}"#]);
            let ran = finish(command.env("TAMIS_LOG", level), b"");
            let mut report = ran.json();
            report["run"]["elapsedMs"] = json!(0);
            report["locator"]["timing"] = json!(null);
            assert_eq!(ran.stderr.contains("DEBUG"), *level == "debug", "{}", ran.stderr);
            assert!(!ran.stderr.contains("unwrap_or(0)"), "no text of files");
            report
        })
        .collect();
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_memo_is_written_when_asked_for_and_a_handoff_is_taken_up_again() {
    let shop = Shop::new();
    let ran = shop.run(&["research", "Where is parse_price?", "--artifact"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let path = ran.stdout.lines().find_map(|line| line.strip_prefix("written to ")).unwrap();
    assert!(std::fs::read_to_string(path).unwrap().starts_with("# Research Handoff\n"));
    let artifacts = shop.fixture.data().canonicalize().unwrap().join("artifacts");
    assert!(std::path::Path::new(path).starts_with(artifacts));
    let created = shop.run(&[
        "handoff",
        "create",
        "exact prices",
        "--summary",
        "Cents are lost.",
        "--reference",
        "src/prices.rs:2",
        "--reference",
        "src/gone.rs:1",
        "--notes",
        "Next: decimals.",
    ]);
    assert_eq!(created.code, Some(0), "{}", created.stderr);
    let listed = shop.run(&["handoff", "list"]).stdout;
    assert_eq!(listed.lines().count(), 2);
    assert!(listed.lines().next().unwrap().contains("exact-prices"), "{listed}");
    let shown = shop.run(&["handoff", "show"]).stdout;
    for part in [
        "exact prices\n",
        "Cents are lost.\n",
        "  src/prices.rs:2\n",
        "  src/gone.rs:1  (not there)\n",
        "note: Next: decimals.\n",
    ] {
        assert!(shown.contains(part), "{part:?} in {shown}");
    }
    let shown = shop.run(&["handoff", "show", "parse-price", "--json"]).json();
    assert_eq!(shown["question"], "Where is parse_price?");
    let ran = shop.run(&["handoff", "show", "nothing-like-it"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("hint: `tamis handoff list`"), "{}", ran.stderr);
    // A folder that cannot be written to is an error, with the answer all the same.
    let mut command = shop.tamis(&["research", "Where is parse_price?", "--artifact"]);
    let ran = finish(command.env("TAMIS_ARTIFACTS", shop.fixture.work().join("README.md")), b"");
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stdout.contains("src/prices.rs:2") && ran.stderr.contains("nothing was written"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_handoff_that_says_nothing_is_refused_and_one_may_begin_with_a_dash() {
    let shop = Shop::new();
    for arguments in [["", "known"], ["prices", " "]] {
        let ran = shop.run(&["handoff", "create", arguments[0], "--summary", arguments[1]]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", ran.stderr);
    }
    let ran = shop.run(&[
        "handoff",
        "create",
        "prices",
        "--summary",
        "- cents are lost",
        "--finding",
        "-1 is taken for a price",
        "--notes",
        "--strict is not tried yet",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let shown = shop.run(&["handoff", "show", "--json"]).json();
    assert_eq!(
        (&shown["summary"], &shown["key_findings"][0], &shown["notes"]),
        (&json!("- cents are lost"), &json!("-1 is taken for a price"), &json!("--strict is not tried yet"))
    );
}

#[test]
fn handoffs_are_listed_from_where_nothing_can_be_looked_into() {
    let shop = Shop::new();
    assert_eq!(shop.run(&["handoff", "create", "prices", "--summary", "Cents are lost."]).code, Some(0));
    let ran = finish(shop.tamis(&["handoff", "list"]).current_dir("/"), b"");
    assert_eq!((ran.code, ran.stdout.lines().count()), (Some(0), 1), "{}", ran.stderr);
}

#[test]
fn a_password_in_an_address_is_not_shown_by_config() {
    let shop = Shop::new();
    for arguments in [&["config"][..], &["config", "--explain"], &["config", "--json"]] {
        let mut command = shop.tamis(arguments);
        let ran = finish(command.env("TAMIS_MODEL_URL", "http://me:tr0ub4dor3x@127.0.0.1:9/v1"), b"");
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(!ran.stdout.contains("tr0ub4dor3x") && ran.stdout.contains("127.0.0.1:9"), "{}", ran.stdout);
    }
    for arguments in [&["config"][..], &["locate", "a"]] {
        let mut command = shop.tamis(arguments);
        let ran = finish(command.env("TAMIS_MODEL_URL", "ftp://me:tr0ub4dor3x@127.0.0.1:9/v1"), b"");
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(
            !ran.stderr.contains("tr0ub4dor3x") && ran.stderr.contains("TAMIS_MODEL_URL"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn what_a_file_is_called_does_not_lead_the_terminal() {
    let shop = Shop::new();
    shop.write("src/parse_cost\u{1b}[31m.rs", "pub fn parse_cost() {}\n");
    let ran = shop.run(&["locate", "parse_cost"]);
    assert!(!ran.stdout.contains('\u{1b}'), "{:?}", ran.stdout);
    let ran = shop.run(&["locate", "parse_cost", "--root", "no\u{1b}[31mwhere"]);
    assert!(ran.stderr.starts_with("error: cannot read folder `"), "{:?}", ran.stderr);
    assert!(ran.stderr.contains("no\\x1b[31mwhere`"), "{:?}", ran.stderr);
    assert!(!ran.stderr.contains('\u{1b}'), "{:?}", ran.stderr);
}

/// A model that takes a question and never answers.
struct SilentModel(std::net::TcpListener);

impl SilentModel {
    fn new() -> SilentModel {
        SilentModel(std::net::TcpListener::bind("127.0.0.1:0").unwrap())
    }

    fn wired<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let url = format!("http://{}/v1", self.0.local_addr().unwrap());
        command.env("TAMIS_MODEL_USE", "always").env("TAMIS_MODEL_URL", url).env("TAMIS_MODEL", "silent")
    }

    /// Waits for a question, and holds its connection.
    fn wait_for_question(&self) -> BufReader<TcpStream> {
        const MODELS: &str = r#"{"data":[{"id":"silent"}]}"#;
        loop {
            let (mut stream, _) = self.0.accept().unwrap();
            stream.set_read_timeout(Some(common::PATIENCE)).unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut first = String::new();
            reader.read_line(&mut first).unwrap();
            if first.starts_with("POST") {
                return reader;
            }
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
            write!(stream, "{head}Content-Length: {}\r\n\r\n{MODELS}", MODELS.len()).unwrap();
        }
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_with_130() {
    let shop = Shop::new();
    let model = SilentModel::new();
    let mut command = shop.tamis(&["research", "Where is parse_price?"]);
    model.wired(&mut command).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let _held = model.wait_for_question();
    let kill = format!("kill -s INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stdout.as_slice()), (Some(130), &b""[..]));
}

#[test]
fn progress_is_sent_to_a_client_that_wants_it_and_a_cancelled_call_stops_its_work() {
    let shop = Shop::new();
    let model = SilentModel::new();
    let mut command = shop.tamis(&["mcp", "--tools", "research"]);
    model.wired(&mut command).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut send = |message: serde_json::Value| writeln!(input, "{message}").unwrap();
    let mut next = || -> serde_json::Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let client = json!({"name": "test-client", "version": "1"});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}));
    assert_eq!(next()["id"], 1);
    send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let arguments = json!({"question": "Where is parse_price?"});
    let params =
        json!({"name": "research_codebase", "arguments": arguments, "_meta": {"progressToken": "p"}});
    send(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}));
    let reply = next();
    assert_eq!(reply["method"], "notifications/progress", "{reply}");
    assert_eq!(reply["params"]["progressToken"], "p");
    assert_eq!(reply["params"]["message"], "locator begins");
    // While the model is thinking, the client no longer wants to know.
    let mut held = model.wait_for_question();
    send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}));
    let mut rest = Vec::new();
    // Ends when the other side hangs up: the work has stopped, not only the waiting for it.
    if let Err(error) = held.read_to_end(&mut rest) {
        assert_eq!(
            error.kind(),
            std::io::ErrorKind::ConnectionReset,
            "the request to the model is still open"
        );
    }
    send(
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "ping", "arguments": {}}}),
    );
    let pong = loop {
        let reply = next();
        if reply["id"] == 3 {
            break reply;
        }
    };
    assert_eq!(pong["result"]["content"][0]["text"], "pong");
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// The blocks of `docs/research.md` in a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let page = include_str!("../../../docs/research.md");
    let fence = format!("```{language}\n");
    page.split(fence.as_str()).skip(1).map(|block| block.split_once("```").unwrap().0).collect()
}

/// How a client starts the server: the program with its arguments, and variables.
fn started(server: &serde_json::Value) -> (Vec<String>, Vec<(String, String)>) {
    let list = |value: &serde_json::Value| -> Vec<String> {
        value.as_array().into_iter().flatten().map(|item| item.as_str().unwrap().to_owned()).collect()
    };
    let command = match &server["command"] {
        serde_json::Value::String(program) => [vec![program.clone()], list(&server["args"])].concat(),
        words => list(words),
    };
    let variables = ["env", "environment"].iter().filter_map(|name| server[name].as_object()).flatten();
    (command, variables.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect())
}

#[test]
fn every_clients_configuration_on_the_page_starts_a_server_that_answers() {
    let shop = Shop::new();
    let mut servers: Vec<serde_json::Value> = Vec::new();
    for block in blocks("json") {
        let configuration: serde_json::Value = serde_json::from_str(block).unwrap();
        let named = configuration.get("mcpServers").or_else(|| configuration.get("mcp")).unwrap();
        servers.push(named["tamis"].clone());
    }
    for block in blocks("toml").into_iter().filter(|block| block.contains("mcp_servers")) {
        let configuration: toml::Table = block.parse().unwrap();
        servers.push(json!(configuration["mcp_servers"]["tamis"]));
    }
    assert_eq!(servers.len(), 5, "LM Studio, Claude Code, Codex, Gemini CLI and OpenCode");
    for server in servers {
        let (command, variables) = started(&server);
        assert_eq!(command[0], "tamis");
        let arguments: Vec<&str> = command[1..].iter().map(String::as_str).collect();
        let mut command = shop.tamis(&arguments);
        for (name, value) in variables {
            // The page's folder stands for one that is there.
            assert_eq!((name.as_str(), value.as_str()), ("TAMIS_ROOTS", "/path/to/project"));
            command.env(name, shop.fixture.work());
        }
        let mut mcp = common::Mcp::start(command);
        let mut call = |tool: &str| {
            let answer = mcp.request("tools/call", json!({"name": tool, "arguments": {}}));
            answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
        };
        let work = shop.fixture.work().canonicalize().unwrap();
        assert_eq!(call("ping"), "pong", "{server}");
        assert_eq!(call("list_roots"), json!({"roots": [work]}).to_string());
    }
}

#[test]
fn the_settings_on_the_page_are_all_of_them() {
    let shop = Shop::new();
    let block = blocks("toml").into_iter().find(|block| block.contains("[research]")).unwrap();
    let file = shop.fixture.folder.path().join("config.toml");
    std::fs::write(&file, block).unwrap();
    let mut command = shop.fixture.tamis(&["config", "--json"]);
    let reply = finish(command.env("TAMIS_CONFIG", &file).env_remove("TAMIS_MODEL_USE"), b"").json();
    assert_eq!(reply["remarks"], json!([]));
    let mut seen = 0;
    for setting in reply["settings"].as_array().unwrap() {
        let name = setting["name"].as_str().unwrap();
        if ["research.", "limits.", "runtime.", "model."].iter().any(|table| name.starts_with(table)) {
            assert_eq!(setting["source"], json!(file), "{name} is on the page");
            let variable = setting["variables"][0].as_str().unwrap();
            assert!(block.contains(&format!("# {variable}")), "{variable} is on the page");
            seen += 1;
        }
    }
    assert_eq!(seen, 20);
}

#[test]
fn every_code_of_an_error_is_on_the_page() {
    let page = include_str!("../../../docs/research.md");
    let sources = [
        include_str!("../../tools/src/research/failure.rs"),
        include_str!("../../tools/src/research/handoff.rs"),
    ];
    let codes = sources.iter().flat_map(|source| {
        ["failure(\"", "failure(\n        \"", "not_resumed(\""]
            .into_iter()
            .flat_map(move |call| source.split(call).skip(1).map(|rest| rest.split('"').next().unwrap()))
    });
    let codes: Vec<&str> = codes.collect();
    assert!(codes.len() >= 10, "{codes:?}");
    for code in codes {
        assert!(page.contains(&format!("`{code}`")), "{code}");
    }
}

/// Blocks of the documents that show `tamis locate` or `tamis analyze` with output are what it prints, in this repository; `…` stands
/// for lines that are left out. `UPDATE_SNAPSHOTS=1` corrects their lines.
#[test]
fn answers_in_the_documents_are_what_is_printed() {
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).canonicalize().unwrap();
    let mut shown = 0;
    for document in ["README.md", "docs/research.md"] {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        let mut corrected = text.clone();
        for block in text.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            let Some((command, output)) =
                block.split_once('\n').filter(|(_, output)| !output.starts_with('$'))
            else {
                continue;
            };
            let mut words = command.trim_start_matches("$ ").split_whitespace().skip(1);
            let Some(operation) = words.next().filter(|word| matches!(*word, "locate" | "analyze")) else {
                continue;
            };
            let question = words.collect::<Vec<_>>().join(" ");
            let fixture = Fixture::new();
            let mut run = fixture.tamis(&[operation, question.trim_matches('"')]);
            let ran = finish(run.current_dir(&root).env_remove("COLUMNS"), b"");
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            shown += 1;
            // The same number of lines from the start, then of each paragraph that is shown.
            let printed: Vec<&str> = ran.stdout.lines().collect();
            let mut expected = Vec::new();
            for part in output.split('…') {
                let lines: Vec<&str> = part.trim_matches('\n').lines().collect();
                let sign = |line: &str| {
                    line.split(|c: char| c.is_ascii_digit()).next().unwrap_or("").trim_end().to_owned()
                };
                let Some(first) = lines.first() else { continue };
                let at = printed
                    .iter()
                    .position(|line| line.starts_with(&sign(first)) && !first.trim().is_empty());
                let at = at.unwrap_or_else(|| panic!("{document}: `{first}` is not in\n{}", ran.stdout));
                expected.push(printed[at..printed.len().min(at + lines.len())].join("\n"));
            }
            let whole = expected.join("\n…\n");
            let ends = if output.trim_end().ends_with('…') { "\n…\n" } else { "\n" };
            corrected = corrected.replace(block, &format!("{command}\n{whole}{ends}"));
        }
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(root.join(document), &corrected).unwrap();
        } else {
            assert_eq!(text, corrected, "{document}: run again with UPDATE_SNAPSHOTS=1");
        }
    }
    assert!(shown > 0, "no document shows an answer");
}
