//! How each provider starts its client and parses the client's reports. The reports are what the clients of
//! `tests/clients/package.json` print, without the members that are not read.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tamis_clients::{
    ClientEvent, ClientTool, ClientToolCall, McpServer, McpServerStatus, OutputStream, Provider, RunOptions,
    RunTotals, provider_named,
};

fn provider(name: &str) -> &'static dyn Provider {
    provider_named(name).unwrap()
}

fn tool(server: &str, name: &str) -> ClientTool {
    ClientTool { server: Some(server.to_owned()), name: name.to_owned() }
}

fn options() -> RunOptions {
    let server = McpServer {
        command: "/opt/a \"b\"/mcp-pruner".to_owned(),
        args: vec!["one\ntwo".to_owned(), "$HOME\\".to_owned()],
        env: BTreeMap::from([
            ("PRUNER_URL".to_owned(), String::new()),
            ("MCP_PRUNER_CWD".to_owned(), "/wörk".to_owned()),
        ]),
    };
    RunOptions {
        mcp_servers: BTreeMap::from([("pruner".to_owned(), server)]),
        approved: ["read", "grep"].map(|name| tool("pruner", name)).to_vec(),
        model: Some("small".to_owned()),
        agent_args: vec!["--extra".to_owned(), "-x".to_owned()],
    }
}

#[test]
fn claude_gets_its_servers_as_json() {
    let args = provider("claude").arguments(&options());
    let (before, rest) = args.split_at(4);
    assert_eq!(before, ["--print", "--output-format", "stream-json", "--verbose"]);
    let config: Value = serde_json::from_str(rest[0].strip_prefix("--mcp-config=").unwrap()).unwrap();
    let server = json!({
        "type": "stdio",
        "command": "/opt/a \"b\"/mcp-pruner",
        "args": ["one\ntwo", "$HOME\\"],
        "env": {"PRUNER_URL": "", "MCP_PRUNER_CWD": "/wörk"},
        "alwaysLoad": true,
    });
    assert_eq!(config, json!({"mcpServers": {"pruner": server}}));
    assert_eq!(
        rest[1..],
        ["--allowedTools=mcp__pruner__read,mcp__pruner__grep", "--model=small", "--extra", "-x"]
    );
}

#[test]
fn codex_gets_its_servers_as_overrides_in_toml() {
    let args = provider("codex").arguments(&options());
    assert_eq!(args[..2], ["exec", "--json"]);
    assert_eq!(args[args.len() - 4..], ["--model=small", "--extra", "-x", "-"]);
    let overrides: Vec<_> = args[2..args.len() - 4].chunks(2).collect();
    assert!(overrides.iter().all(|pair| pair[0] == "--config"));
    let keys: Vec<_> = overrides.iter().map(|pair| pair[1].split_once('=').unwrap().0).collect();
    assert_eq!(
        keys,
        [
            "mcp_servers.pruner.command",
            "mcp_servers.pruner.args",
            "mcp_servers.pruner.env.MCP_PRUNER_CWD",
            "mcp_servers.pruner.env.PRUNER_URL",
            "mcp_servers.pruner.tools.read.approval_mode",
            "mcp_servers.pruner.tools.grep.approval_mode",
        ]
    );
    let document: Vec<_> = overrides.iter().map(|pair| pair[1].as_str()).collect();
    let table: toml::Table = document.join("\n").parse().unwrap();
    let expected: toml::Table = toml::toml! {
        [mcp_servers.pruner]
        command = "/opt/a \"b\"/mcp-pruner"
        args = ["one\ntwo", "$HOME\\"]
        env = { MCP_PRUNER_CWD = "/wörk", PRUNER_URL = "" }
        tools = { read = { approval_mode = "approve" }, grep = { approval_mode = "approve" } }
    };
    assert_eq!(table, expected);
    assert!(!args.iter().any(|argument| argument.contains("url=") || argument.contains("http")), "{args:?}");
}

#[test]
fn codex_takes_no_arguments_from_a_server_of_the_same_name() {
    let mut options = options();
    options.mcp_servers.get_mut("pruner").unwrap().args.clear();
    let args = provider("codex").arguments(&options);
    assert!(args.contains(&"mcp_servers.pruner.args=[]".to_owned()), "{args:?}");
}

#[test]
fn without_servers_no_argument_mentions_them() {
    for (name, expected) in [
        ("claude", &["--print", "--output-format", "stream-json", "--verbose"][..]),
        ("codex", &["exec", "--json", "-"][..]),
    ] {
        assert_eq!(provider(name).arguments(&RunOptions::default()), expected);
    }
}

/// How a provider parses these lines: the events, and whether each line is shown and unknown.
fn read(provider_name: &str, lines: &[(OutputStream, &str)]) -> (Vec<ClientEvent>, Vec<(bool, bool)>) {
    let mut transcript = provider(provider_name).output_parser();
    let readings: Vec<_> = lines.iter().map(|(stream, line)| transcript.read(*stream, line)).collect();
    let marks = readings.iter().map(|reading| (reading.show, reading.unknown)).collect();
    (readings.into_iter().flat_map(|reading| reading.events).collect(), marks)
}

fn server(name: &str, status: McpServerStatus) -> ClientEvent {
    ClientEvent::McpServer { name: name.to_owned(), status }
}

fn call(id: &str, server: Option<&str>, name: &str, arguments: Value) -> ClientEvent {
    let tool = ClientTool { server: server.map(str::to_owned), name: name.to_owned() };
    ClientEvent::ToolCall { id: id.to_owned(), tool, arguments }
}

fn result(id: &str, text: &str, failed: bool) -> ClientEvent {
    ClientEvent::ToolResult { id: id.to_owned(), text: text.to_owned(), failed }
}

#[test]
fn claude_reports_are_parsed() {
    use OutputStream::{Stderr, Stdout};

    let (events, marks) = read(
        "claude",
        &[
            (
                Stdout,
                r#"{"type":"system","subtype":"init","mcp_servers":[{"name":"pruner","status":"connected","source":"dynamic"},{"name":"b","status":"failed"},{"name":"c","status":"pending"},{"name":"d","status":"needs-auth"}]}"#,
            ),
            (
                Stdout,
                r#"{"type":"assistant","message":{"id":"msg_1","content":[{"type":"text","text":"Step 0."}]},"parent_tool_use_id":null}"#,
            ),
            (
                Stdout,
                r#"{"type":"assistant","message":{"id":"msg_1","content":[{"type":"tool_use","id":"toolu_1","name":"mcp__pruner__read","input":{"file_path":"x"}}]},"parent_tool_use_id":null}"#,
            ),
            (
                Stdout,
                r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}]}}"#,
            ),
            (
                Stdout,
                r#"{"type":"assistant","message":{"id":"msg_2","content":[{"type":"thinking","thinking":"…"},{"type":"tool_use","id":"toolu_2","name":"Bash","input":{"command":"ls"}}]}}"#,
            ),
            (Stdout, r#"{"type":"system","subtype":"task_started","task_id":"b"}"#),
            (
                Stdout,
                r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_2","type":"tool_result","content":"Connection closed","is_error":true}]}}"#,
            ),
            (
                Stdout,
                r#"{"type":"assistant","message":{"id":"msg_s","content":[{"type":"text","text":"aside"}]},"parent_tool_use_id":"toolu_9"}"#,
            ),
            (
                Stdout,
                r#"{"type":"assistant","message":{"id":"msg_3","content":[{"type":"tool_use","id":"toolu_3","name":"mcp__pruner__bash","input":{}},{"type":"tool_use","id":"toolu_4","name":"mcp__pruner__bash","input":{}},{"type":"tool_use","id":"toolu_5","name":"mcp__pruner__bash","input":{}}]}}"#,
            ),
            (
                Stdout,
                r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"MCP error -32602: Invalid params","is_error":true,"tool_use_id":"toolu_3"},{"type":"tool_result","content":"Connection closed","is_error":true,"tool_use_id":"toolu_4"},{"type":"tool_result","content":"MCP server \"pruner\" is not connected","is_error":true,"tool_use_id":"toolu_5"}]}}"#,
            ),
            (Stdout, r#"{"type":"rate_limit_event"}"#),
            (Stdout, "not JSON"),
            (Stdout, r#"["no","object"]"#),
            (Stderr, "a warning"),
            (
                Stdout,
                r#"{"type":"result","subtype":"success","is_error":false,"result":"done","num_turns":4,"usage":{"input_tokens":60,"cache_creation_input_tokens":5,"cache_read_input_tokens":7,"output_tokens":30}}"#,
            ),
            (Stdout, r#"{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":4}"#),
        ],
    );
    let gone = |why: &str| server("pruner", McpServerStatus::Failed(why.to_owned()));
    assert_eq!(
        events,
        [
            server("pruner", McpServerStatus::Connected),
            server("b", McpServerStatus::Failed("claude says \"failed\"".to_owned())),
            server("d", McpServerStatus::Failed("claude says \"needs-auth\"".to_owned())),
            ClientEvent::Turn,
            ClientEvent::Text("Step 0.".to_owned()),
            call("toolu_1", Some("pruner"), "read", json!({"file_path": "x"})),
            server("pruner", McpServerStatus::Connected),
            result("toolu_1", "one\ntwo", false),
            ClientEvent::Turn,
            call("toolu_2", None, "Bash", json!({"command": "ls"})),
            // Its own tools have no server.
            result("toolu_2", "Connection closed", true),
            ClientEvent::Turn,
            ClientEvent::Turn,
            call("toolu_3", Some("pruner"), "bash", json!({})),
            call("toolu_4", Some("pruner"), "bash", json!({})),
            call("toolu_5", Some("pruner"), "bash", json!({})),
            // A server that answers with an error is alive.
            result("toolu_3", "MCP error -32602: Invalid params", true),
            gone("Connection closed"),
            result("toolu_4", "Connection closed", true),
            gone("MCP server \"pruner\" is not connected"),
            result("toolu_5", "MCP server \"pruner\" is not connected", true),
            ClientEvent::Usage { input_tokens: 72, output_tokens: 30 },
            ClientEvent::End { failure: None, turns: Some(4) },
            ClientEvent::Usage { input_tokens: 0, output_tokens: 0 },
            ClientEvent::End { failure: Some("error_max_turns".to_owned()), turns: Some(4) },
        ]
    );
    let mut expected = vec![(false, false); 16];
    expected[10] = (false, true);
    for shown in [11, 12, 13] {
        expected[shown] = (true, false);
    }
    assert_eq!(marks, expected);
}

#[test]
fn claude_text_may_be_in_its_result_alone() {
    let line = r#"{"type":"result","subtype":"success","is_error":false,"result":"a table","num_turns":0}"#;
    let (events, _) = read("claude", &[(OutputStream::Stdout, line)]);
    assert_eq!(events[0], ClientEvent::Text("a table".to_owned()));
    let line = r#"{"type":"result","subtype":"success","is_error":true,"result":"no credit"}"#;
    let (events, _) = read("claude", &[(OutputStream::Stdout, line)]);
    assert!(!events.iter().any(|event| matches!(event, ClientEvent::Text(_))), "{events:?}");
}

#[test]
fn codex_reports_are_parsed() {
    use OutputStream::{Stderr, Stdout};

    let (events, marks) = read(
        "codex",
        &[
            (Stdout, r#"{"type":"thread.started","thread_id":"01a1ddac"}"#),
            (
                Stdout,
                r#"{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata not found."}}"#,
            ),
            (Stdout, r#"{"type":"turn.started"}"#),
            (
                Stdout,
                r#"{"type":"item.started","item":{"id":"item_1","type":"mcp_tool_call","server":"pruner","tool":"read","arguments":{"file_path":"x"},"result":null,"error":null,"status":"in_progress"}}"#,
            ),
            (
                Stdout,
                r#"{"type":"item.completed","item":{"id":"item_1","type":"mcp_tool_call","server":"pruner","tool":"read","arguments":{"file_path":"x"},"result":{"content":[{"type":"text","text":"hi"}],"structured_content":null},"error":null,"status":"completed"}}"#,
            ),
            (
                Stdout,
                r#"{"type":"item.started","item":{"id":"item_2","type":"command_execution","command":"/bin/bash -lc 'echo later'","aggregated_output":"","exit_code":null,"status":"in_progress"}}"#,
            ),
            (
                Stdout,
                r#"{"type":"item.completed","item":{"id":"item_2","type":"command_execution","command":"/bin/bash -lc 'echo later'","aggregated_output":"later\n","exit_code":0,"status":"completed"}}"#,
            ),
            (
                Stdout,
                r#"{"type":"item.completed","item":{"id":"item_3","type":"file_change","changes":[],"status":"completed"}}"#,
            ),
            (
                Stdout,
                r#"{"type":"item.completed","item":{"id":"item_4","type":"mcp_tool_call","server":"pruner","tool":"bash","arguments":{},"result":null,"error":{"message":"MCP tool call requires approval, but approval policy is never"},"status":"failed"}}"#,
            ),
            (
                Stdout,
                r#"{"type":"item.completed","item":{"id":"item_5","type":"mcp_tool_call","server":"pruner","tool":"bash","arguments":{},"result":null,"error":{"message":"tool call error: tool call failed for `pruner/bash`\n\nCaused by:\n    Transport closed"},"status":"failed"}}"#,
            ),
            (Stdout, r#"{"type":"item.completed","item":{"id":"item_6","type":"reasoning","text":"…"}}"#),
            (
                Stdout,
                r#"{"type":"item.completed","item":{"id":"item_7","type":"agent_message","text":"Done."}}"#,
            ),
            (Stdout, r#"{"type":"item.completed","item":{"id":"item_8","type":"something_new"}}"#),
            (Stdout, r#"{"type":"error","message":"Reconnecting... 1/5"}"#),
            (
                Stdout,
                r#"{"type":"turn.completed","usage":{"input_tokens":60,"cached_input_tokens":0,"output_tokens":30}}"#,
            ),
            (Stdout, r#"{"type":"turn.failed","error":{"message":"no such model"}}"#),
            (Stdout, "not JSON"),
            (Stderr, "ParsedLine prompt from stdin..."),
            (
                Stderr,
                "2026-11-15T05:28:23Z  WARN app{x=1}: codex_mcp::rmcp_client: MCP server startup failed server_name=\"pruner\" error=No such file or directory (os error 2)",
            ),
            (
                Stderr,
                "2026-11-15T05:32:02Z  INFO serve_inner: rmcp::service: Service initialized as client peer_info=Some(ServerPeerInfo { server_info: Some(Implementation { name: \"mcp-pruner\", title: None, version: \"1.0.0\" }) })",
            ),
            (
                Stderr,
                "2026-11-15T05:32:02Z  INFO serve_inner: rmcp::service: Service initialized as client peer_info=Some(ServerPeerInfo { server_info: Some(Implementation { name: \"other\" }) })",
            ),
            (
                Stderr,
                "2026-11-15T05:28:23Z  WARN codex_mcp::rmcp_client: failed to initialize MCP client during shutdown: x",
            ),
        ],
    );
    let pruner = |status| server("pruner", status);
    let transport = "tool call error: tool call failed for `pruner/bash`\n\nCaused by:\n    Transport closed";
    let refused = "MCP tool call requires approval, but approval policy is never";
    assert_eq!(
        events,
        [
            ClientEvent::Notice("Model metadata not found.".to_owned()),
            ClientEvent::Turn,
            pruner(McpServerStatus::Connected),
            call("item_1", Some("pruner"), "read", json!({"file_path": "x"})),
            result("item_1", "hi", false),
            call("item_2", None, "shell", json!({"command": "/bin/bash -lc 'echo later'"})),
            result("item_2", "later\n", false),
            call("item_3", None, "edit", json!({"changes": []})),
            result("item_3", "", false),
            pruner(McpServerStatus::Connected),
            call("item_4", Some("pruner"), "bash", json!({})),
            result("item_4", refused, true),
            pruner(McpServerStatus::Connected),
            call("item_5", Some("pruner"), "bash", json!({})),
            pruner(McpServerStatus::Failed(
                "tool call error: tool call failed for `pruner/bash` Caused by: Transport closed".to_owned()
            )),
            result("item_5", transport, true),
            ClientEvent::Text("Done.".to_owned()),
            ClientEvent::Notice("Reconnecting... 1/5".to_owned()),
            ClientEvent::Usage { input_tokens: 60, output_tokens: 30 },
            ClientEvent::End { failure: None, turns: None },
            ClientEvent::End { failure: Some("no such model".to_owned()), turns: None },
            pruner(McpServerStatus::Failed("No such file or directory (os error 2)".to_owned())),
            pruner(McpServerStatus::Connected),
        ]
    );
    let mut expected = vec![(false, false); 22];
    expected[12] = (false, true);
    // What the user's RUST_LOG enables is shown to the user.
    for line in &mut expected[16..22] {
        *line = (true, false);
    }
    assert_eq!(marks, expected);
}

#[test]
fn a_run_is_counted() {
    let mut totals = RunTotals::default();
    let asked = json!({"file_path": "x", "context_focus_question": "why?"});
    let unasked = json!({"file_path": "x", "context_focus_question": ""});
    let events = [
        ClientEvent::Turn,
        call("1", Some("pruner"), "read", asked),
        call("2", Some("pruner"), "read", unasked),
        call("3", Some("other"), "read", json!(null)),
        call("4", None, "Bash", json!([])),
        ClientEvent::Turn,
        ClientEvent::Usage { input_tokens: 3, output_tokens: 4 },
    ];
    for event in &events {
        assert_eq!(totals.count(event), None);
    }
    let pruners = ClientTool { server: Some("pruner".to_owned()), name: "read".to_owned() };
    let call_of = |asks_for_pruning| Some(ClientToolCall { tool: pruners.clone(), asks_for_pruning });
    assert_eq!(totals.count(&result("1", "text", false)), call_of(true));
    assert_eq!(totals.count(&result("2", "text", false)), call_of(false));
    assert_eq!(totals.count(&result("1", "again", false)), None);
    let counted =
        |totals: &RunTotals| (totals.turns, totals.tool_calls, totals.pruner_calls, totals.questions);
    assert_eq!(counted(&totals), (2, 4, 2, 1));
    // A lost server is not a refusal.
    for (text, refused) in [("Connection closed", false), ("you haven't granted it yet", true)] {
        totals.count(&call("5", Some("pruner"), "bash", json!({})));
        totals.count(&result("5", text, true));
        assert_eq!(totals.shell_refused, refused);
    }
    totals.count(&ClientEvent::End { failure: Some("why".to_owned()), turns: Some(7) });
    assert_eq!((counted(&totals).0, totals.failure.as_deref()), (7, Some("why")));
}
