//! What a model gets to see of files.

use serde_json::json;
use tamis_codebase::StopSignal;
use tamis_research::{ModelTask, Reference, ResearchLimits, Role};
use tamis_testkit::{ChatServer, ChatStep};

use crate::{LIMITS, ask, codebase, good, model, reader, results, tool_results, view_with};

#[test]
fn nothing_leaves_the_roots_or_is_too_large() {
    let folder = codebase();
    let base = folder.path();
    std::fs::write(base.join(".env"), "NAME=hidden-in-env\n").unwrap();
    std::fs::write(base.join("large.txt"), "line\n".repeat(2 << 20)).unwrap();
    std::fs::write(base.join("image.bin"), b"a\0b").unwrap();
    let beside = base.parent().unwrap().join("beside.txt");
    std::os::unix::fs::symlink("/etc/passwd", base.join("link")).unwrap();
    let texts = tool_results(
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
    for (number, text) in texts.iter().enumerate() {
        assert!(text.starts_with("error: ") || text.starts_with("nothing in"), "{number}: {text}");
        assert!(!text.contains("root:x") && !text.contains("hidden-in-env"), "{number}: {text}");
    }
    assert!(texts[5].contains("search it with grep"), "{}", texts[5]);
    let texts = tool_results(
        base,
        Role::Analyzer,
        &[("grep", json!({"pattern": "hidden"})), ("ls", json!({"path": "."}))],
    );
    assert_eq!(texts[0], "nothing in 3 files");
    assert!(!texts[1].contains(".env"), "{}", texts[1]);
}

#[test]
fn what_is_no_secret_reaches_the_model() {
    let folder = codebase();
    std::fs::write(
        folder.path().join("src/password.rs"),
        "let token = next_token(lexer);\nlet key = map.key(3);\n",
    )
    .unwrap();
    let texts =
        tool_results(folder.path(), Role::Analyzer, &[("grep", json!({"pattern": "let (token|key)"}))]);
    assert_eq!(
        texts[0],
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
            ("grep".into(), json!({"pattern": "let token|open"})),
            ("read".into(), json!({"path": "src/secret.rs"})),
            ("read".into(), json!({"path": "src/secret.rs", "start": 6, "end": 6})),
            ("outline".into(), json!({"path": "src/secret.rs"})),
        ]),
        ChatStep::say(json!({"summary": format!("The token is {token}."), "references": ["src/secret.rs:2"],
            "key_findings": [format!("src/secret.rs:2 has {token}")], "confidence": "high"})),
    ]);
    let reader = reader(folder.path());
    let question = format!("Where is {token} used?");
    let task = ModelTask { role: Role::Analyzer, question: &question, reader: &reader, hints: &[] };
    let finding = model(&server).answer(&task, &StopSignal::never()).unwrap();
    assert_eq!(finding.references, [Reference::new("src/secret.rs", Some(2))]);
    let found = results(&server.turns()[1]);
    // A pattern that matched a secret would read it out, bit by bit.
    assert!(found[0].starts_with("nothing in "), "{}", found[0]);
    assert!(found[1].contains("src/secret.rs:2: ") && found[1].contains("[redacted:"), "{}", found[1]);
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
    let reader = view_with(folder.path(), ResearchLimits { max_files_read: 1, ..LIMITS });
    let finding = ask(&model(&server), &reader, &StopSignal::never()).unwrap();
    assert!(tamis_research::joined(&finding.notes).contains("limits"));
    assert!(results(&server.turns()[1])[1].starts_with("error: the limits of this request are exhausted"));
}
