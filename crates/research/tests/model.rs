//! Roles by a model, against a server that misbehaves to order: each loop ends within its budget, in a finding that the
//! files bear out or in a fault that says what went wrong.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tamis_research::{
    Allowance, Confidence, Effort, Fault, FaultKind, Finding, Limits, Model, ModelSettings, ModelTask,
    Reference, Role, View,
};
use tamis_testkit::{ChatServer, ChatStep};
use tamis_workspace::{Halt, Policy, Roots};
use tempfile::TempDir;

/// A small codebase.
fn codebase() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "src/config.rs",
        "use std::fs;\n\npub fn parse_config(text: &str) -> Config {\n    Config::of(text)\n}\n",
    );
    write("src/main.rs", "fn main() {\n    let config = parse_config(\"\");\n}\n");
    write("README.md", "# A program\n");
    folder
}

fn view_with(folder: &Path, limits: Limits) -> View {
    let roots = Roots::open(&[folder.to_owned()], Policy::standard()).unwrap();
    View::new(roots, Arc::new(Allowance::of(limits)), Halt::never())
}

fn view(folder: &Path) -> View {
    view_with(folder, Limits::default())
}

fn settings(server: &ChatServer) -> ModelSettings {
    // Slow machines are no matter of these tests.
    ModelSettings {
        probe_timeout: Duration::from_secs(60),
        ..ModelSettings::at(server.url().parse().unwrap())
    }
}

fn model(server: &ChatServer) -> Model {
    Model::new(settings(server))
}

fn ask(model: &Model, view: &View, halt: &Halt) -> Result<Finding, Fault> {
    let hints = ["src/config.rs:3 (implementation) parse_config".to_owned()];
    let task =
        ModelTask { role: Role::Analyzer, question: "How is configuration parsed?", view, hints: &hints };
    model.answer(&task, halt)
}

/// Asks once, with all the time in the world.
fn outcome(server: &ChatServer) -> Result<Finding, Fault> {
    let folder = codebase();
    ask(&model(server), &view(folder.path()), &Halt::never())
}

fn kind(outcome: Result<Finding, Fault>) -> FaultKind {
    outcome.unwrap_err().kind
}

fn good() -> Value {
    json!({"summary": "parse_config makes a Config.", "references": ["src/config.rs:3", "src/main.rs:2"],
        "key_findings": ["src/config.rs:3 defines parse_config"], "confidence": "high", "notes": null})
}

fn good_finding() -> Finding {
    Finding {
        summary: "parse_config makes a Config.".into(),
        references: vec![Reference::new("src/config.rs", Some(3)), Reference::new("src/main.rs", Some(2))],
        key_findings: vec!["src/config.rs:3 defines parse_config".into()],
        confidence: Confidence::High,
        notes: None,
    }
}

/// The results of tools that a turn was asked with.
fn results(turn: &Value) -> Vec<String> {
    let messages = turn["messages"].as_array().unwrap().iter();
    messages.filter(|m| m["role"] == "tool").map(|m| m["content"].as_str().unwrap().to_owned()).collect()
}

fn offered(turn: &Value) -> Vec<&str> {
    let tools = turn["tools"].as_array().map_or(&[][..], Vec::as_slice);
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
}

/// What a model is told when it makes these calls, all in one turn.
fn told(folder: &Path, role: Role, calls: &[(&str, Value)]) -> Vec<String> {
    let calls = calls.iter().map(|(name, arguments)| ((*name).to_owned(), arguments.clone())).collect();
    let server = ChatServer::start(vec![ChatStep::Call(calls), ChatStep::say(good())]);
    let effort = Effort { calls_a_turn: 100, ..Effort::default() };
    let model = Model::new(ModelSettings { effort, ..settings(&server) });
    let view = view(folder);
    let task = ModelTask { role, question: "?", view: &view, hints: &[] };
    let _ = model.answer(&task, &Halt::never());
    results(&server.turns()[1])
}

#[test]
fn a_whole_loop_with_tools() {
    let server = ChatServer::start(vec![
        ChatStep::Call(vec![
            ("grep".into(), json!({"pattern": "parse_config"})),
            ("glob".into(), json!({"pattern": "*.rs"})),
            ("ls".into(), json!({})),
        ]),
        ChatStep::Call(vec![
            ("outline".into(), json!({"path": "src/config.rs"})),
            ("read".into(), json!({"path": "src/config.rs", "start": 3, "end": "4"})),
        ]),
        ChatStep::say(good()),
    ]);
    let folder = codebase();
    let view = view(folder.path());
    assert_eq!(ask(&model(&server), &view, &Halt::never()), Ok(good_finding()));
    let turns = server.turns();
    assert_eq!(turns.len(), 3);
    assert_eq!(
        (turns[0]["model"].as_str(), turns[0]["stream"].as_bool(), offered(&turns[0])),
        (Some("scripted"), Some(false), vec!["grep", "glob", "ls", "outline", "read"])
    );
    let question = turns[0]["messages"][1]["content"].as_str().unwrap();
    assert!(question.contains("How is configuration parsed?") && question.contains("- src/config.rs:3"));
    let found = results(&turns[2]);
    assert_eq!(
        found,
        [
            "src/config.rs:3: pub fn parse_config(text: &str) -> Config {\nsrc/main.rs:2: let config = parse_config(\"\");\n",
            "src/config.rs\nsrc/main.rs\n",
            "README.md (12 bytes)\nsrc/\n",
            "3: pub fn parse_config(text: &str) -> Config {\n",
            "3: pub fn parse_config(text: &str) -> Config {\n4:     Config::of(text)\n… 5 lines in all; read on with start 5",
        ]
    );
    let used = view.allowance.used();
    assert_eq!((used.files_read, used.model_tokens), (1, 360));
}

#[test]
fn the_locator_reads_no_contents() {
    let server = ChatServer::start(vec![
        ChatStep::call("read", json!({"path": "src/main.rs"})),
        ChatStep::say(good()),
    ]);
    let folder = codebase();
    let view = view(folder.path());
    let task = ModelTask { role: Role::Locator, question: "?", view: &view, hints: &[] };
    assert_eq!(model(&server).answer(&task, &Halt::never()), Ok(good_finding()));
    let turns = server.turns();
    assert_eq!(offered(&turns[0]), ["grep", "glob", "ls", "outline"]);
    assert_eq!(results(&turns[1]), ["error: there is no tool \"read\"; there are grep, glob, ls, outline"]);
}

#[test]
fn answers_that_cannot_be_used_are_asked_for_again() {
    let server = ChatServer::start(vec![
        ChatStep::say("It is in src/config.rs, I think."),
        ChatStep::say(r#"{"summary": "parse_config makes"#),
        ChatStep::say(format!("Sorry. ```json\n{}\n```", good())),
    ]);
    assert_eq!(outcome(&server), Ok(good_finding()));
    let last = server.turns().pop().unwrap();
    let complaint = last["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
    assert!(complaint.contains("it has no JSON object"), "{complaint}");
}

#[test]
fn answers_that_stay_useless_are_a_fault() {
    for nonsense in [
        "It is in src/config.rs.".to_owned(),
        String::new(),
        json!({"summary": "It is so.", "references": ["made/up.rs:3"]}).to_string(),
        json!({"answer": 42}).to_string(),
        "[1, 2]".to_owned(),
    ] {
        let server = ChatServer::endless(vec![], ChatStep::say(&nonsense));
        assert_eq!(kind(outcome(&server)), FaultKind::InvalidAnswer, "{nonsense}");
        assert_eq!(server.turns().len(), 3, "{nonsense}");
    }
}

#[test]
fn refusals_are_told_as_such() {
    let server = ChatServer::start(vec![ChatStep::Refuse("I will not do that.".into())]);
    let fault = outcome(&server).unwrap_err();
    assert_eq!(fault, Fault::new(FaultKind::Refused, "the model will not answer: I will not do that."));
    let server = ChatServer::endless(vec![], ChatStep::say("I'm sorry, but I can't help with that."));
    assert_eq!(kind(outcome(&server)), FaultKind::Refused);
}

#[test]
fn what_servers_do_wrong_is_a_fault() {
    let whole = |body: &str| ChatStep::Raw(format!("HTTP/1.1 200 OK\r\n\r\n{body}").into_bytes());
    let huge = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{{", 1_u64 << 40);
    for step in [
        ChatStep::HangUp,
        ChatStep::Raw(Vec::new()),
        ChatStep::Raw(b"SSH-2.0-OpenSSH_9.6\r\n".to_vec()),
        ChatStep::Raw(huge.into_bytes()),
        whole("{\"choices\": [{\"mess"),
        whole("<html></html>"),
        whole("{}"),
        whole("[]"),
        whole(&" ".repeat(5 << 20)),
        ChatStep::Fail(500, "out of memory".into()),
        ChatStep::Fail(400, "this context is too small".into()),
        ChatStep::Raw(
            b"HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n".to_vec(),
        ),
    ] {
        let server = ChatServer::start(vec![step.clone()]);
        let fault = outcome(&server).unwrap_err();
        assert_eq!(fault.kind, FaultKind::ProviderError, "{step:?}: {fault}");
        assert_eq!(server.turns().len(), 1, "{step:?}");
    }
    let server =
        ChatServer::start(vec![ChatStep::Fail(500, "token ghp_a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8".into())]);
    let fault = outcome(&server).unwrap_err();
    assert!(fault.message.contains("500") && !fault.message.contains("ghp_a1"), "{fault}");
}

#[test]
fn a_server_that_is_busy_is_asked_again() {
    let busy = || ChatStep::Fail(429, "busy".into());
    let server =
        ChatServer::start(vec![busy(), ChatStep::Fail(503, "loading".into()), ChatStep::say(good())]);
    assert_eq!(outcome(&server), Ok(good_finding()));
    let server = ChatServer::start(vec![busy(), busy(), busy(), ChatStep::say(good())]);
    assert_eq!(kind(outcome(&server)), FaultKind::ProviderError);
}

#[test]
fn a_model_that_never_stops_calling_is_stopped() {
    // The same call for ever is noticed early.
    let server = ChatServer::endless(vec![], ChatStep::call("ls", json!({})));
    assert_eq!(kind(outcome(&server)), FaultKind::BudgetExhausted);
    let turns = server.turns();
    assert_eq!(turns.len(), 5);
    assert!(offered(&turns[4]).is_empty());
    assert!(results(&turns[4])[1].starts_with("the same call was made before"));

    // Another one each time lasts until the turns are over.
    let calls = |count: usize| {
        (0..count)
            .map(|number| ChatStep::call("grep", json!({"pattern": format!("x{number}")})))
            .collect::<Vec<_>>()
    };
    let server = ChatServer::start(calls(40));
    let fault = outcome(&server).unwrap_err();
    assert_eq!(fault.kind, FaultKind::BudgetExhausted);
    assert!(fault.message.contains("the limit of 12 turns"), "{fault}");
    assert_eq!(server.turns().len(), 13);

    // When it then answers after all, that is its answer.
    let server = ChatServer::start([calls(12), vec![ChatStep::say(good())]].concat());
    let notes = "The model had to answer early: the limit of 12 turns is reached.";
    assert_eq!(outcome(&server), Ok(Finding { notes: Some(notes.into()), ..good_finding() }));

    // Tokens are a limit as well; each turn of this server tells of 120.
    let server = ChatServer::start(calls(40));
    let effort = Effort { tokens: 300, ..Effort::default() };
    let folder = codebase();
    let model = Model::new(ModelSettings { effort, ..settings(&server) });
    let fault = ask(&model, &view(folder.path()), &Halt::never()).unwrap_err();
    assert!(fault.kind == FaultKind::BudgetExhausted && fault.message.contains("300 tokens"), "{fault}");
    assert_eq!(server.turns().len(), 4);
}

#[test]
fn too_many_calls_in_a_turn_are_not_made() {
    let calls = (0..50).map(|number| ("grep".to_owned(), json!({"pattern": format!("x{number}")}))).collect();
    let server = ChatServer::start(vec![ChatStep::Call(calls), ChatStep::say(good())]);
    assert_eq!(outcome(&server), Ok(good_finding()));
    let found = results(&server.turns()[1]);
    assert_eq!((found.len(), found[5].as_str()), (50, "nothing in 3 files"));
    assert!(found[6..].iter().all(|text| text == "not run: at most 6 calls a turn"));
}

#[test]
fn nothing_leaves_the_roots_or_is_too_large() {
    let folder = codebase();
    let base = folder.path();
    std::fs::write(base.join(".env"), "NAME=hidden-in-env\n").unwrap();
    std::fs::write(base.join("large.txt"), "line\n".repeat(2 << 20)).unwrap();
    std::fs::write(base.join("image.bin"), b"a\0b").unwrap();
    let beside = base.parent().unwrap().join("beside.txt");
    std::os::unix::fs::symlink("/etc/passwd", base.join("link")).unwrap();
    let said = told(
        base,
        Role::Analyzer,
        &[
            ("read", json!({"path": "../../etc/passwd"})),
            ("read", json!({"path": "/etc/passwd"})),
            ("read", json!({"path": beside})),
            ("read", json!({"path": "link"})),
            ("read", json!({"path": ".env"})),
            ("read", json!({"path": "large.txt"})),
            ("read", json!({"path": "image.bin"})),
            ("read", json!({"path": "src"})),
            ("read", json!({"path": "gone.rs"})),
            ("outline", json!({"path": "src/../../x"})),
            ("ls", json!({"path": "/etc"})),
            ("ls", json!({"path": "../"})),
            ("glob", json!({"pattern": "../*"})),
            ("grep", json!({"pattern": "root:", "glob": "/etc/*"})),
            ("read", json!({})),
            ("read", json!({"path": 7})),
            ("read", json!({"path": "src/main.rs", "start": "soon"})),
            ("grep", json!({"pattern": "("})),
            ("write", json!({"path": "x", "text": "y"})),
            ("bash", json!({"command": "id"})),
        ],
    );
    for (number, text) in said.iter().enumerate() {
        assert!(text.starts_with("error: ") || text.starts_with("nothing in"), "{number}: {text}");
        assert!(!text.contains("root:x") && !text.contains("hidden-in-env"), "{number}: {text}");
    }
    assert!(said[5].contains("search in it with grep"), "{}", said[5]);
    let said =
        told(base, Role::Analyzer, &[("grep", json!({"pattern": "hidden"})), ("ls", json!({"path": "."}))]);
    assert_eq!(said[0], "nothing in 3 files");
    assert!(!said[1].contains(".env"), "{}", said[1]);
}

#[test]
fn arguments_that_are_none_are_told_to_the_model() {
    let call = |arguments: Value| {
        json!({"content": null, "tool_calls": [{"id": "1", "type": "function",
            "function": {"name": "ls", "arguments": arguments}}]})
    };
    let steps = [json!("{\"path\": "), json!("[]"), json!(""), json!({"path": "src"}), Value::Null];
    let steps: Vec<ChatStep> =
        steps.into_iter().map(|arguments| ChatStep::Message(call(arguments))).collect();
    let server = ChatServer::start([steps, vec![ChatStep::say(good())]].concat());
    assert_eq!(outcome(&server), Ok(good_finding()));
    let last = server.turns().pop().unwrap();
    let found = results(&last);
    assert!(found[0].starts_with("error: the arguments are not JSON"), "{}", found[0]);
    assert_eq!(found[1], "error: the arguments are no JSON object");
    assert_eq!(found[2], "README.md (12 bytes)\nsrc/\n");
    assert_eq!(found[3], "config.rs (81 bytes)\nmain.rs (49 bytes)\n");
    assert!(found[4].starts_with("the same call"), "{}", found[4]);
    // What goes back to the server can be read by it.
    for message in last["messages"].as_array().unwrap() {
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str().unwrap();
            assert!(serde_json::from_str::<Value>(arguments).unwrap().is_object());
        }
    }
}

#[test]
fn what_is_no_secret_reaches_the_model() {
    let folder = codebase();
    std::fs::write(
        folder.path().join("src/password.rs"),
        "let token = next_token(lexer);\nlet key = map.key(3);\n",
    )
    .unwrap();
    let said = told(folder.path(), Role::Analyzer, &[("grep", json!({"pattern": "let (token|key)"}))]);
    assert_eq!(
        said[0],
        "src/password.rs:1: let token = next_token(lexer);\nsrc/password.rs:2: let key = map.key(3);\n"
    );
}

#[test]
fn secrets_never_reach_the_model() {
    let folder = codebase();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8");
    let middle = "MIIEpAIBAAKCAQEAx7vGq2c9Zt0mB4yQk1WnR8sLdPfJhUeXoTzVbNcM5aYi";
    let key = ["-----BEGIN RSA PRIVATE ", "KEY-----"].concat();
    let end = ["-----END RSA PRIVATE ", "KEY-----"].concat();
    let text = format!(
        "fn connect() {{\n    let token = \"{token}\";\n    open(\"https://me:hunter2secret@host/db\");\n}}\nconst K: &str = \"{key}\n{middle}\n{middle}\n{end}\";\n"
    );
    std::fs::write(folder.path().join("src/secret.rs"), text).unwrap();
    let server = ChatServer::start(vec![
        ChatStep::Call(vec![
            ("grep".into(), json!({"pattern": "ghp_|hunter|MIIE"})),
            ("read".into(), json!({"path": "src/secret.rs"})),
            ("read".into(), json!({"path": "src/secret.rs", "start": 6, "end": 6})),
            ("outline".into(), json!({"path": "src/secret.rs"})),
        ]),
        ChatStep::say(json!({"summary": format!("The token is {token}."), "references": ["src/secret.rs:2"],
            "key_findings": [format!("src/secret.rs:2 has {token}")], "confidence": "high"})),
    ]);
    let view = view(folder.path());
    let question = format!("Where is {token} used?");
    let task = ModelTask { role: Role::Analyzer, question: &question, view: &view, hints: &[] };
    let finding = model(&server).answer(&task, &Halt::never()).unwrap();
    assert_eq!(finding.references, [Reference::new("src/secret.rs", Some(2))]);
    let found = results(&server.turns()[1]);
    assert!(found[0].contains("src/secret.rs:2: ") && found[0].contains("[redacted:"), "{}", found[0]);
    let mut everything: Vec<String> =
        server.requests().iter().map(|request| request.body.to_string()).collect();
    everything.push(serde_json::to_string(&finding).unwrap());
    for text in everything {
        for secret in [token.as_str(), "hunter2secret", middle] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
}

#[test]
fn limits_of_the_request_hold_for_the_model() {
    let folder = codebase();
    let server = ChatServer::start(vec![
        ChatStep::Call(vec![
            ("read".into(), json!({"path": "src/main.rs"})),
            ("read".into(), json!({"path": "src/config.rs"})),
        ]),
        ChatStep::say(good()),
    ]);
    let view = view_with(folder.path(), Limits { max_files_read: 1, ..Limits::default() });
    let finding = ask(&model(&server), &view, &Halt::never()).unwrap();
    assert!(finding.notes.unwrap().contains("limits"));
    assert!(results(&server.turns()[1])[1].starts_with("error: the limits of this request are used up"));
}

#[test]
fn older_results_leave_a_conversation_that_grows_too_long() {
    let folder = codebase();
    for number in 0..4 {
        std::fs::write(folder.path().join(format!("{number}.txt")), format!("{number} word\n").repeat(200))
            .unwrap();
    }
    let read = |number: usize| ChatStep::call("read", json!({"path": format!("{number}.txt")}));
    let server = ChatServer::start(vec![read(0), read(1), read(2), read(3), read(0), ChatStep::say(good())]);
    let effort = Effort { context_tokens: 2000, ..Effort::default() };
    let model = Model::new(ModelSettings { effort, ..settings(&server) });
    assert_eq!(ask(&model, &view(folder.path()), &Halt::never()), Ok(good_finding()));
    let turns = server.turns();
    for turn in &turns {
        assert!(turn["messages"].to_string().len() < 12_000);
    }
    let last = results(turns.last().unwrap());
    assert_eq!(last[0], "(left out to save room; call again if needed)");
    // Called again it is there again.
    assert!(last[4].contains("1: 0 word"), "{}", last[4]);
}

#[test]
fn a_server_with_too_little_room_is_asked_with_less() {
    let full = || ChatStep::Fail(400, "the request exceeds the available context size".into());
    let steps = vec![
        ChatStep::call("grep", json!({"pattern": "."})),
        ChatStep::call("ls", json!({})),
        full(),
        ChatStep::say(good()),
    ];
    let server = ChatServer::start(steps);
    assert_eq!(outcome(&server), Ok(good_finding()));
    let turns = server.turns();
    assert!(results(&turns[2])[0].starts_with("README.md:1: # A program\n"));
    assert_eq!(results(&turns[3])[0], "(left out to save room; call again if needed)");
    // With nothing to leave out there is no way.
    assert_eq!(kind(outcome(&ChatServer::start(vec![full()]))), FaultKind::ProviderError);
}

#[test]
fn many_calls_in_a_turn_share_its_room() {
    let folder = codebase();
    let calls: Vec<_> = (0..6)
        .map(|number| {
            let name = format!("{number}.txt");
            std::fs::write(folder.path().join(&name), "a word or two\n".repeat(900)).unwrap();
            ("read".to_owned(), json!({"path": name}))
        })
        .collect();
    let server = ChatServer::start(vec![ChatStep::Call(calls), ChatStep::say(good())]);
    let effort = Effort { context_tokens: 6000, ..Effort::default() };
    let model = Model::new(ModelSettings { effort, ..settings(&server) });
    assert_eq!(ask(&model, &view(folder.path()), &Halt::never()), Ok(good_finding()));
    for text in results(&server.turns()[1]) {
        assert!(text.len() <= 2000 && text.contains("900 lines in all; read on with start "), "{text}");
    }
}

#[test]
fn a_slow_model_ends_at_the_deadline() {
    let folder = codebase();
    let server = ChatServer::endless(vec![], ChatStep::say(good()).held());
    let model = model(&server);
    let halt = Halt::never().by(Instant::now() + Duration::from_millis(700));
    assert_eq!(kind(ask(&model, &view(folder.path()), &halt)), FaultKind::Timeout);
    server.wait_for_hang_ups(server.turns().len());
    // A turn has a limit of its own.
    let settings = ModelSettings { turn_timeout: Duration::from_millis(50), ..settings(&server) };
    let before = server.turns().len();
    assert_eq!(kind(ask(&Model::new(settings), &view(folder.path()), &Halt::never())), FaultKind::Timeout);
    server.wait_for_hang_ups(before + 1);
}

#[test]
fn tools_are_over_before_the_time_is() {
    let folder = codebase();
    let calls = (0..).map(|number| ChatStep::call("grep", json!({"pattern": format!("x{number}")})));
    let server = ChatServer::start(calls.take(5000).collect());
    let effort = Effort { turns: usize::MAX, tokens: u64::MAX, ..Effort::default() };
    let model = Model::new(ModelSettings { effort, ..settings(&server) });
    let halt = Halt::never().by(Instant::now() + Duration::from_millis(1500));
    let outcome = kind(ask(&model, &view(folder.path()), &halt));
    // On a machine that stood still meanwhile, time was over first.
    assert!(matches!(outcome, FaultKind::BudgetExhausted | FaultKind::Timeout), "{outcome:?}");
}

#[test]
fn a_cancellation_stops_a_request_in_flight() {
    let folder = codebase();
    let server = ChatServer::endless(vec![], ChatStep::say(good()).held());
    let (model, view, halt) = (model(&server), view(folder.path()), Halt::never());
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&model, &view, &halt));
        server.wait_for_turns(1);
        halt.cancel();
        assert_eq!(kind(asked.join().unwrap()), FaultKind::Canceled);
        server.wait_for_hang_ups(1);
    });
    assert_eq!(server.turns().len(), 1);
    assert_eq!(kind(ask(&model, &view, &halt)), FaultKind::Canceled);
}

#[test]
fn requests_queue_for_a_model_that_takes_one_at_a_time() {
    let folder = codebase();
    for (concurrent, together) in [(1, 1), (2, 2)] {
        let server = ChatServer::endless(vec![], ChatStep::say(good()).held());
        let model = Model::new(ModelSettings { concurrent, ..settings(&server) });
        let view = view(folder.path());
        std::thread::scope(|scope| {
            let asked: Vec<_> = (0..2).map(|_| scope.spawn(|| ask(&model, &view, &Halt::never()))).collect();
            server.wait_for_turns(together);
            if together == 1 {
                // The other one stays away as long as the first is not answered.
                assert!(!server.turns_come(2, Duration::from_millis(300)));
            }
            server.release();
            for asked in asked {
                assert_eq!(asked.join().unwrap(), Ok(good_finding()));
            }
        });
        assert_eq!((server.most_in_flight(), server.turns().len()), (together, 2));
    }
}

#[test]
fn waiting_in_the_queue_ends_with_the_deadline() {
    let folder = codebase();
    let server = ChatServer::endless(vec![], ChatStep::say(good()).held());
    let (model, view) = (model(&server), view(folder.path()));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| ask(&model, &view, &Halt::never()));
        server.wait_for_turns(1);
        let halt = Halt::never().by(Instant::now() + Duration::from_millis(50));
        assert_eq!(kind(ask(&model, &view, &halt)), FaultKind::Timeout);
        server.release();
        assert_eq!(first.join().unwrap(), Ok(good_finding()));
    });
    assert_eq!(server.turns().len(), 1);
}

#[test]
fn no_server_is_found_out_at_once_and_remembered() {
    // A port that is taken, so that nobody else gets it meanwhile, and on which nobody listens.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let url = format!("http://{}/v1", taken.local_addr().unwrap()).parse().unwrap();
    let model =
        Model::new(ModelSettings { probe_timeout: Duration::from_secs(300), ..ModelSettings::at(url) });
    let begun = Instant::now();
    let fault = model.name_for(Role::Locator, &Halt::never()).unwrap_err();
    assert_eq!(fault.kind, FaultKind::ProviderUnavailable);
    // It does not wait for the probe's time to pass.
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert_eq!(model.name_for(Role::Analyzer, &Halt::never()), Err(fault));
}

#[test]
fn what_is_no_model_is_taken_for_none() {
    for listing in [
        ChatStep::Raw(b"SSH-2.0-OpenSSH_9.6\r\n".to_vec()),
        ChatStep::Raw(Vec::new()),
        ChatStep::Body("<html><body>It works!</body></html>".into()),
        ChatStep::Body("{}".into()),
        ChatStep::Body(json!({"data": []}).to_string()),
        ChatStep::Body(json!({"data": [{"id": "text-embedding-nomic"}]}).to_string()),
        ChatStep::Body(json!({"data": [{"name": "x"}]}).to_string()),
        ChatStep::Fail(404, "no such page".into()),
        ChatStep::Fail(401, "no key".into()),
        ChatStep::HangUp,
    ] {
        let server = ChatServer::listing(listing.clone(), vec![], None);
        let model = model(&server);
        let fault = model.name_for(Role::Locator, &Halt::never()).unwrap_err();
        assert_eq!(fault.kind, FaultKind::ProviderUnavailable, "{listing:?}");
        // Asked once, and not by way of a turn.
        let _ = model.name_for(Role::Analyzer, &Halt::never());
        assert_eq!((server.requests().len(), server.turns().len()), (1, 0), "{listing:?}");
    }
    // One that says nothing is given up on.
    let server = ChatServer::listing(ChatStep::Body("{}".into()).held(), vec![], None);
    let settings = ModelSettings { probe_timeout: Duration::from_millis(50), ..settings(&server) };
    let model = Model::new(settings);
    assert_eq!(
        model.name_for(Role::Locator, &Halt::never()).unwrap_err().kind,
        FaultKind::ProviderUnavailable
    );
    server.wait_for_hang_ups(1);
}

#[test]
fn each_role_has_the_model_that_it_is_given() {
    let server = ChatServer::with_models(&["nomic-embed-text", "first", "second"], vec![], None);
    let name = |settings: ModelSettings, role| Model::new(settings).name_for(role, &Halt::never());
    assert_eq!(name(settings(&server), Role::Locator), Ok("first".to_owned()));
    let named = ModelSettings {
        name: Some("second".into()),
        role_names: [(Role::Analyzer, "third".to_owned())].into(),
        ..settings(&server)
    };
    assert_eq!(name(named.clone(), Role::Locator), Ok("second".to_owned()));
    assert_eq!(name(named.clone(), Role::Analyzer), Ok("third".to_owned()));
    // A server that does not list its models may still have the one that is named.
    let server = ChatServer::listing(ChatStep::Fail(404, "no such page".into()), vec![], None);
    let named = ModelSettings { url: server.url().parse().unwrap(), ..named };
    assert_eq!(name(named, Role::Locator), Ok("second".to_owned()));
}
