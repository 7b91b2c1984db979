//! What is said in a loop: calls, answers, refusals, and the ends of patience.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tamis_codebase::StopSignal;
use tamis_research::{
    FindingKind, Model, ModelLimits, ModelSettings, ModelTask, NoteFact, Reference, ReportNote,
    ResearchFinding, Role, RoleError, RoleErrorKind,
};
use tamis_testkit::{ChatServer, ChatStep};

use crate::{ask, codebase, good, good_finding, kind, model, offered, outcome, reader, results, settings};

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
    let reader = reader(folder.path());
    assert_eq!(ask(&model(&server), &reader, &StopSignal::never()), Ok(good_finding()));
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
    let used = reader.budget.used();
    assert_eq!((used.files_read, used.model_tokens), (1, 360));
}

#[test]
fn the_locator_reads_no_contents() {
    let server = ChatServer::start(vec![
        ChatStep::call("read", json!({"path": "src/main.rs"})),
        ChatStep::say(good()),
    ]);
    let folder = codebase();
    let reader = reader(folder.path());
    let task = ModelTask { role: Role::Locator, question: "?", reader: &reader, hints: &[] };
    let finding = model(&server).answer(&task, &StopSignal::never()).unwrap();
    let place = Reference::new("src/config.rs", Some(3));
    assert_eq!(finding.key_findings[0].kind, FindingKind::Passage { category: None, place });
    let key_findings = good_finding().key_findings;
    assert_eq!(ResearchFinding { key_findings, ..finding }, good_finding());
    let turns = server.turns();
    assert_eq!(offered(&turns[0]), ["grep", "glob", "ls", "outline"]);
    assert_eq!(results(&turns[1]), ["error: unknown tool \"read\"; the tools are grep, glob, ls, outline"]);
}

#[test]
fn unusable_answers_are_requested_again() {
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
        assert_eq!(kind(outcome(&server)), RoleErrorKind::InvalidAnswer, "{nonsense}");
        assert_eq!(server.turns().len(), 3, "{nonsense}");
    }
}

#[test]
fn refusals_are_reported_as_such() {
    let server = ChatServer::start(vec![ChatStep::Refuse("I will not do that.".into())]);
    let error = outcome(&server).unwrap_err();
    assert_eq!(
        error,
        RoleError::new(RoleErrorKind::Refused, "the model will not answer: I will not do that.")
    );
    let server = ChatServer::endless(vec![], ChatStep::say("I'm sorry, but I can't help with that."));
    assert_eq!(kind(outcome(&server)), RoleErrorKind::Refused);
}

#[test]
fn a_model_that_never_stops_calling_is_stopped() {
    // The same call for ever is noticed early.
    let server = ChatServer::endless(vec![], ChatStep::call("ls", json!({})));
    assert_eq!(kind(outcome(&server)), RoleErrorKind::BudgetExhausted);
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
    let error = outcome(&server).unwrap_err();
    assert_eq!(error.kind, RoleErrorKind::BudgetExhausted);
    assert!(error.message.contains("the limit of 12 turns"), "{error}");
    assert_eq!(server.turns().len(), 13);

    // When it then answers after all, that is its answer.
    let server = ChatServer::start([calls(12), vec![ChatStep::say(good())]].concat());
    let note = ReportNote::from(NoteFact::EarlyAnswer("the limit of 12 turns is reached".into()));
    assert_eq!(note.text, "The model had to answer early: the limit of 12 turns is reached.");
    assert_eq!(outcome(&server), Ok(ResearchFinding { notes: vec![note], ..good_finding() }));

    // Tokens are a limit as well; each turn of this server tells of 120.
    let server = ChatServer::start(calls(40));
    let limits = ModelLimits { tokens: 300, ..ModelLimits::default() };
    let folder = codebase();
    let model = Model::new(ModelSettings { limits, ..settings(&server) });
    let error = ask(&model, &reader(folder.path()), &StopSignal::never()).unwrap_err();
    assert!(error.kind == RoleErrorKind::BudgetExhausted && error.message.contains("300 tokens"), "{error}");
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
fn invalid_arguments_are_reported_to_the_model() {
    let call = |arguments: Value| {
        json!({"content": null, "tool_calls": [{"id": "1", "type": "function",
            "function": {"name": "ls", "arguments": arguments}}]})
    };
    let progress = [json!("{\"path\": "), json!("[]"), json!(""), json!({"path": "src"}), Value::Null];
    let progress: Vec<ChatStep> =
        progress.into_iter().map(|arguments| ChatStep::Message(call(arguments))).collect();
    let server = ChatServer::start([progress, vec![ChatStep::say(good())]].concat());
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
fn older_results_leave_a_conversation_that_grows_too_long() {
    let folder = codebase();
    for number in 0..4 {
        std::fs::write(folder.path().join(format!("{number}.txt")), format!("{number} word\n").repeat(200))
            .unwrap();
    }
    let read = |number: usize| ChatStep::call("read", json!({"path": format!("{number}.txt")}));
    let server = ChatServer::start(vec![read(0), read(1), read(2), read(3), read(0), ChatStep::say(good())]);
    let limits = ModelLimits { context_tokens: 2000, ..ModelLimits::default() };
    let model = Model::new(ModelSettings { limits, ..settings(&server) });
    assert_eq!(ask(&model, &reader(folder.path()), &StopSignal::never()), Ok(good_finding()));
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
fn a_server_with_a_small_context_gets_a_shorter_conversation() {
    let full = || ChatStep::Fail(400, "the request exceeds the available context size".into());
    let progress = vec![
        ChatStep::call("grep", json!({"pattern": "."})),
        ChatStep::call("ls", json!({})),
        full(),
        ChatStep::say(good()),
    ];
    let server = ChatServer::start(progress);
    assert_eq!(outcome(&server), Ok(good_finding()));
    let turns = server.turns();
    assert!(results(&turns[2])[0].starts_with("README.md:1: # A program\n"));
    assert_eq!(results(&turns[3])[0], "(left out to save room; call again if needed)");
    // With nothing to leave out there is no way.
    assert_eq!(kind(outcome(&ChatServer::start(vec![full()]))), RoleErrorKind::ContextTooLong);
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
    let limits = ModelLimits { context_tokens: 6000, ..ModelLimits::default() };
    let model = Model::new(ModelSettings { limits, ..settings(&server) });
    assert_eq!(ask(&model, &reader(folder.path()), &StopSignal::never()), Ok(good_finding()));
    for text in results(&server.turns()[1]) {
        assert!(text.len() <= 2000 && text.contains("900 lines in all; read on with start "), "{text}");
    }
}

#[test]
fn tools_are_over_before_the_time_is() {
    let folder = codebase();
    let calls = (0..).map(|number| ChatStep::call("grep", json!({"pattern": format!("x{number}")})));
    let server = ChatServer::start(calls.take(5000).collect());
    let limits = ModelLimits { turns: usize::MAX, tokens: u64::MAX, ..ModelLimits::default() };
    let model = Model::new(ModelSettings { limits, ..settings(&server) });
    let stop = StopSignal::never().by(Instant::now() + Duration::from_millis(1500));
    let outcome = kind(ask(&model, &reader(folder.path()), &stop));
    // On a machine that stood still meanwhile, time was over first.
    assert!(matches!(outcome, RoleErrorKind::BudgetExhausted | RoleErrorKind::Timeout), "{outcome:?}");
}
