//! What the server says of itself, which methods it has, and how it speaks of errors.

use serde_json::{Value, json};

use crate::server::{Place, Server};

#[test]
fn it_calls_itself_by_its_name_and_offers_tools_alone() {
    let place = Place::new();
    for params in [
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}),
        // All that the contract asks for.
        json!({"protocolVersion": "2025-06-18"}),
        json!({"protocolVersion": "2025-06-18", "clientInfo": {"name": "c"}, "unknown": [1]}),
    ] {
        let mut server = Server::start_silent(place.command());
        assert_eq!(
            server.request("initialize", params)["result"],
            json!({
                "protocolVersion": "2025-06-18",
                "serverInfo": {"name": "mcp-pruner", "version": "1.0.0"},
                "capabilities": {"tools": {}},
            })
        );
    }
}

#[test]
fn a_handshake_that_lacks_what_it_needs_is_invalid_params() {
    let place = Place::new();
    let mut server = Server::start_silent(place.command());
    for params in [
        json!({}),
        json!({"capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}),
        json!({"protocolVersion": 5}),
        json!({"protocolVersion": null}),
        json!({"protocolVersion": "2025-06-18", "clientInfo": {}}),
        json!({"protocolVersion": "2025-06-18", "clientInfo": "c"}),
        json!({"protocolVersion": "2025-06-18", "clientInfo": {"name": 5}}),
        json!({"protocolVersion": "2025-06-18", "capabilities": "all"}),
        json!({"protocolVersion": "2025-06-18", "capabilities": null}),
    ] {
        let error = server.request("initialize", params.clone())["error"].clone();
        assert_eq!(
            (&error["code"], &error["message"]),
            (&json!(-32602), &json!("Invalid params")),
            "{params}"
        );
    }
    // And then a good one is taken.
    assert!(server.request("initialize", json!({"protocolVersion": "2025-06-18"}))["result"].is_object());
}

/// The contract asks for no handshake before the tools, so scripts that send a single call get their answer.
#[test]
fn tools_are_served_without_a_handshake() {
    let place = Place::new();
    let mut server = Server::start_silent(place.command());
    let error = server.request("tools/call", json!({"name": 5}))["error"].clone();
    assert_eq!((&error["code"], &error["message"]), (&json!(-32602), &json!("Invalid params")));
    let tools = server.request("tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(tools.as_array().unwrap().len(), 3, "{tools}");
    assert_eq!(server.text("bash", json!({"command": "echo early"})), "early\n");
    // A later request gets the same answer.
    let late = server.request("initialize", json!({"protocolVersion": "2025-06-18"}));
    assert_eq!(late["result"]["serverInfo"]["name"], "mcp-pruner");
    assert_eq!(server.text("bash", json!({"command": "echo late"})), "late\n");
    assert_eq!(server.leave().0, Some(0));

    // The very first message may be the call.
    let mut server = Server::start_silent(place.command());
    assert_eq!(server.text("bash", json!({"command": "echo first"})), "first\n");
}

/// The tools, their arguments, and nothing else.
#[test]
fn there_are_three_tools_with_the_contracts_arguments() {
    let place = Place::new();
    let mut server = place.serve();
    for params in [json!({}), Value::Null] {
        let tools = server.request("tools/list", params)["result"]["tools"].clone();
        let schemas: Vec<_> = tools
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| {
                assert_eq!(
                    tool.as_object().unwrap().keys().collect::<Vec<_>>(),
                    ["description", "inputSchema", "name"]
                );
                let mut schema = tool["inputSchema"].clone();
                for property in schema["properties"].as_object_mut().unwrap().values_mut() {
                    assert!(property.as_object_mut().unwrap().remove("description").is_some());
                }
                (tool["name"].as_str().unwrap(), schema)
            })
            .collect();
        let text = json!({"type": "string"});
        let schema = |required: &str, properties: &[&str]| {
            let properties: serde_json::Map<_, _> =
                properties.iter().map(|name| ((*name).to_owned(), text.clone())).collect();
            json!({"type": "object", "properties": properties, "required": [required]})
        };
        assert_eq!(
            schemas,
            [
                ("read", schema("file_path", &["file_path", "context_focus_question"])),
                ("bash", schema("command", &["command", "context_focus_question"])),
                ("grep", schema("pattern", &["pattern", "path", "context_focus_question"])),
            ]
        );
    }
    assert_eq!(server.request("tools/list", json!({"cursor": 5}))["error"]["message"], "Invalid params");
}

#[test]
fn unknown_methods_are_not_found_before_and_after_the_handshake() {
    let place = Place::new();
    let mut server = Server::start_silent(place.command());
    let methods = [
        "nothing",
        "prompts/list",
        "prompts/get",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "completion/complete",
        "logging/setLevel",
        "prune_text",
        "health",
        "",
    ];
    for _ in 0..2 {
        for method in methods {
            assert_eq!(server.request(method, json!({}))["error"]["code"], -32601, "{method}");
        }
        server.request("initialize", json!({"protocolVersion": "2025-06-18"}));
    }
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn what_is_no_request_is_answered_as_such() {
    let place = Place::new();
    let mut server = place.serve();
    for (line, code) in [
        ("{", -32700),
        ("nonsense", -32700),
        ("[]", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["read"]}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"all"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":5}"#, -32602),
        // Of a method that does not exist, that is said first.
        (r#"{"jsonrpc":"2.0","id":1,"method":"nothing","params":["read"]}"#, -32601),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"file_path":"\ud800"}}}"#,
            -32602,
        ),
    ] {
        let error = server.refused(line)["error"].clone();
        assert_eq!(error["code"], code, "{line}");
        if code == -32602 {
            assert_eq!(error["message"], "Invalid params", "{line}");
        }
    }
    for way in server.ways().values() {
        assert_eq!(*way, ["req:received", "req:invalid_request"]);
    }
}

/// The newest protocol has no handshake: every request brings what it would have reply.
#[test]
fn it_speaks_the_protocol_without_a_handshake_too() {
    let place = Place::new();
    place.write("text.txt", "one\n");
    let mut server = Server::start_silent(place.command());
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = server.request("server/discover", json!({"_meta": meta}));
    assert_eq!(found["result"]["capabilities"], json!({"tools": {}}), "{found}");
    let params = json!({"name": "read", "arguments": {"file_path": "text.txt"}, "_meta": meta});
    let answer = server.request("tools/call", params);
    assert_eq!(answer["result"]["content"], json!([{"type": "text", "text": "one\n"}]), "{answer}");
    assert!(answer["result"].get("isError").is_none());
}

/// A request that opens no session must not let a notification through, which would end the server.
#[test]
fn metadata_that_will_not_do_leaves_the_server_alive() {
    let place = Place::new();
    let mut server = Server::start_silent(place.command());
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    for (method, meta, code) in [
        ("ping", json!({version: "2026-07-28", capabilities: {}}), None),
        ("tools/list", json!({version: "2026-07-28"}), Some(-32602)),
        ("tools/list", json!({version: "1999-01-01", capabilities: {}}), Some(-32022)),
    ] {
        let answer = server.request(method, json!({"_meta": meta}));
        assert_eq!(answer["error"]["code"].as_i64(), code, "{answer}");
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }
    assert_eq!(server.text("bash", json!({"command": "echo alive"})), "alive\n");
    assert_eq!(server.leave().0, Some(0));
}

/// The table of variables: defaults, limits and warnings.
#[test]
fn variables_are_taken_as_the_table_says() {
    let place = Place::new();
    let reply = |name: &str, value: Option<&str>, words: &str| {
        let mut command = place.command();
        command.env_remove(name);
        if let Some(value) = value {
            command.env(name, value);
        }
        let server = Server::start(command);
        server.wait_for_log(words, |line| line.contains(words))
    };
    let default = "pruning with http://localhost:8000/prune, time limit 30000 ms";
    assert!(reply("PRUNER_URL", None, default).contains(" INFO "));
    assert!(reply("PRUNER_URL", Some(""), "PRUNER_URL is empty: nothing will be pruned").contains(" INFO "));
    for (value, words) in [
        (None, "PRUNER_TIMEOUT_MS is not set; using 30000 ms"),
        (Some("soon"), "PRUNER_TIMEOUT_MS is \"soon\", which is not a whole number; using 30000 ms"),
        (Some(""), "PRUNER_TIMEOUT_MS is \"\", which is not a whole number; using 30000 ms"),
        (Some("99"), "PRUNER_TIMEOUT_MS is 99, outside 100 to 300000; using 100 ms"),
        (Some("300001"), "PRUNER_TIMEOUT_MS is 300001, outside 100 to 300000; using 300000 ms"),
    ] {
        assert!(reply("PRUNER_TIMEOUT_MS", value, words).contains(" WARN "));
    }
    let mut command = place.command();
    command.env("PRUNER_TIMEOUT_MS", "100");
    let (code, log) = Server::start(command).leave();
    assert_eq!(code, Some(0));
    assert!(!log.iter().any(|line| line.contains("WARN")), "{log:#?}");
}

#[test]
fn it_works_in_the_folder_that_is_named() {
    let place = Place::new();
    let sub = place.path().join("sub");
    std::fs::create_dir(&sub).unwrap();
    place.write("sub/here.txt", "here\n");
    // Absolute, relative to where it was started, and empty, which counts as not set.
    for (named, here) in [(sub.to_str().unwrap(), ""), ("sub", ""), ("./sub/../sub", ""), ("", "sub/")] {
        let mut command = place.command();
        command.env("MCP_PRUNER_CWD", named);
        let mut server = Server::start(command);
        let path = format!("{here}here.txt");
        assert_eq!(server.text("read", json!({"file_path": path})), "here\n", "{named}");
        assert_eq!(server.text("bash", json!({"command": format!("cat {path}")})), "here\n", "{named}");
        assert_eq!(server.text("grep", json!({"pattern": "h", "path": path})), "1:here\n", "{named}");
    }
    let mut command = place.command();
    command.env("MCP_PRUNER_CWD", "/nowhere");
    let mut server = Server::start(command);
    assert!(server.text("bash", json!({"command": "true"})).starts_with("Error executing command: "));
    assert!(server.text("grep", json!({"pattern": "x"})).starts_with("Error executing grep: "));
    assert!(server.text("read", json!({"file_path": "x"})).starts_with("Error reading file: ENOENT: "));
    server.wait_for_log("warning", |line| line.contains(" WARN ") && line.contains("MCP_PRUNER_CWD"));
}

#[test]
fn a_folder_that_is_gone_is_told_with_what_to_do() {
    let place = Place::new();
    let program =
        format!("mkdir gone && cd gone && rmdir ../gone && exec {}", env!("CARGO_BIN_EXE_mcp-pruner"));
    let ran = std::process::Command::new("bash")
        .args(["-c", &program])
        .current_dir(place.path())
        .env_remove("MCP_PRUNER_CWD")
        .output()
        .unwrap();
    assert_eq!((ran.status.code(), ran.stdout.len()), (Some(1), 0));
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(said.contains("error: cannot find the current folder"), "{said}");
    assert!(said.contains("hint: set MCP_PRUNER_CWD to the folder to work in"), "{said}");
}

#[test]
fn it_opens_no_store_and_reads_no_configuration() {
    let place = Place::new();
    let home = place.path().join("home");
    std::fs::create_dir(&home).unwrap();
    place.write(".tamis.toml", "not = [toml");
    place.write("text.txt", "line\n".repeat(1000));
    let mut command = place.command();
    command.env("HOME", &home).env("TAMIS_DATA_DIR", home.join("data")).env("TAMIS_CONFIG", "/nowhere");
    let mut server = Server::start(command);
    server.text("read", json!({"file_path": "text.txt", "context_focus_question": "q"}));
    assert_eq!(server.leave().0, Some(0));
    assert_eq!(std::fs::read_dir(&home).unwrap().count(), 0);
}

#[test]
fn it_takes_no_arguments() {
    let place = Place::new();
    let ran = place.command().arg("--port").output().unwrap();
    assert_eq!((ran.status.code(), ran.stdout.len()), (Some(2), 0));
    assert!(String::from_utf8(ran.stderr).unwrap().starts_with("error: mcp-pruner takes no arguments"));
}

/// The diagnostics contain no text of files, commands or questions.
#[test]
fn diagnostics_do_not_tell_what_was_read() {
    let place = Place::new();
    place.write("text.txt", "tell-no-one\n");
    let mut server = place.serve_with("http://127.0.0.1:9/");
    server.text("read", json!({"file_path": "text.txt", "context_focus_question": "tell-no-one"}));
    server.text("bash", json!({"command": "echo tell-no-one; exit 1"}));
    server.text("grep", json!({"pattern": "tell-no-one"}));
    server.call("grep", json!({"pattern": {"tell-no-one": 1}}));
    server.ways();
    let (_, log) = server.leave();
    assert!(!log.iter().any(|line| line.contains("tell-no-one")), "{log:#?}");
}
