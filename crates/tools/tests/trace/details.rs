//! A session at its levels, its turns, its events, its thoughts, and two side by side.

use serde_json::{Value, json};

use crate::fixture::{Fixture, Log, START, secret, small};

const ID: &str = "fb3cff44-13ae-41a6-a6df-f287e0552835";

fn details(fixture: &Fixture, more: Value) -> Value {
    let mut arguments = json!({"session_id": "fb3cff44"});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    fixture.ask("get_session_details", arguments)
}

#[test]
fn the_summary_has_the_contract_s_members() {
    let fixture = Fixture::new(&[small(ID, START)]);
    let answer = details(&fixture, json!({}));
    assert_eq!(answer["session_id"], ID);
    assert_eq!(answer["start_time"], "2026-01-01T21:40:05Z");
    assert_eq!(answer["end_time"], "2026-01-01T21:40:15Z");
    assert_eq!(
        answer["stats"],
        json!({"total_turns": 2, "total_tokens": 660, "duration_seconds": 10, "tool_calls": 3, "failed_tools": 1, "events": 17})
    );
    assert_eq!(
        answer["turns"][0],
        json!({
            "id": "turn-0",
            "turn_index": 0,
            "timestamp": "2026-01-01T21:40:05Z",
            "user_message": "Fix the build",
            "step_count": 3,
            "outcome": "partial",
            "stats": {"input_tokens": 400, "output_tokens": 40, "tool_calls": 2, "failed_tools": 1},
        })
    );
    assert!(answer["hint"].as_str().unwrap().starts_with("Use detail_level='turns'"));
    let fields = details(&fixture, json!({"fields": ["id", "step_count"], "from_turn": 1}));
    assert_eq!(fields["turns"], json!([{"id": "turn-1", "step_count": 2}]));
}

#[test]
fn turns_have_one_line_per_step() {
    let fixture = Fixture::new(&[small(ID, START)]);
    let answer = details(&fixture, json!({"detail_level": "turns"}));
    let turn = &answer["turns"][0];
    assert_eq!((&turn["turn_index"], &turn["user_message"]), (&json!(0), &json!("Fix the build")));
    assert_eq!(turn["outcome"], "partial");
    assert_eq!(turn["key_actions"], json!(["Used tools: Bash, Read", "1 tool execution(s) failed"]));
    let summaries: Vec<&Value> =
        turn["steps"].as_array().unwrap().iter().map(|step| &step["summary"]).collect();
    assert_eq!(
        summaries,
        [
            "Bash cargo build (failed)",
            "Read /home/dev/project/Cargo.toml (ok)",
            "The manifest names a crate that is not there."
        ]
    );
    let step = &turn["steps"][0];
    assert_eq!(
        (&step["step_index"], &step["tool_calls"], &step["failed_tools"]),
        (&json!(0), &json!(1), &json!(1))
    );
    assert_eq!(step["tokens"], json!({"input": 200, "output": 20}));
    assert!(step.get("reasoning").is_none());
    let reasoning = details(&fixture, json!({"detail_level": "turns", "include_reasoning": true, "turn": 0}));
    assert_eq!(reasoning["turns"][0]["steps"][0]["reasoning"], "The compiler must be asked first.");
    assert_eq!(reasoning["turns"].as_array().unwrap().len(), 1);
}

#[test]
fn key_actions_are_those_of_the_turn_on_every_page_of_it() {
    let mut log = Log::new(ID, START).user("go");
    for number in 0..400 {
        let (tool, failed) = (["Read", "Edit", "Bash", "Grep"][number % 100 / 25], number % 40 == 0);
        log = log.tool(tool, json!({"file_path": format!("/{}", "f".repeat(100))}), "done", failed);
    }
    let fixture = Fixture::new(&[log.user("next").say("ok")]);
    for tool in ["get_session_details", "get_turns"] {
        let arguments = match tool {
            "get_turns" => json!({"session_id": ID, "turns": [0, 1], "detail_level": "turns"}),
            _ => json!({"session_id": ID, "detail_level": "turns"}),
        };
        let pages = fixture.pages(tool, &arguments);
        assert!(pages.len() > 2, "{}", pages.len());
        for page in &pages {
            assert!(page.bytes <= 30_000, "{}", page.bytes);
            let turns = page.body.get("data").unwrap_or(&page.body)["turns"].as_array().unwrap();
            for turn in turns {
                let expected = match turn["turn_index"].as_u64() {
                    Some(0) => json!(["Used tools: Bash, Edit, Grep, Read", "10 tool execution(s) failed"]),
                    _ => json!([]),
                };
                assert_eq!(turn["key_actions"], expected);
            }
        }
    }
}

#[test]
fn steps_pair_calls_with_results_and_cut_them() {
    let long = "r".repeat(2000);
    let log = Log::new(ID, START).user("go").think("first").tool(
        "Write",
        json!({"content": "c".repeat(3000), "file_path": "/a"}),
        &long,
        false,
    );
    let fixture = Fixture::new(&[log]);
    let answer = details(&fixture, json!({"detail_level": "steps"}));
    let step = &answer["turns"][0]["steps"][0];
    assert_eq!(step["reasoning"], json!({"text": "first"}));
    let tool = &step["tools"][0];
    assert_eq!(
        (&tool["call"]["name"], &tool["call"]["arguments"]["file_path"]),
        (&json!("Write"), &json!("/a"))
    );
    assert!(tool["call"]["arguments"]["content"].as_str().unwrap().chars().count() <= 500);
    assert_eq!(tool["result"]["content"].as_str().unwrap().chars().count(), 500);
    assert!(tool["result"]["content"].as_str().unwrap().ends_with('…'));
    let full = details(&fixture, json!({"detail_level": "full"}));
    let tool = &full["turns"][0]["steps"][0]["tools"][0];
    assert_eq!(tool["result"]["content"], long);
    assert_eq!(tool["call"]["arguments"], json!({"content": "c".repeat(3000), "file_path": "/a"}));
    let turns = fixture.ask("get_turns", json!({"session_id": ID, "turns": [0, 0], "detail_level": "full"}));
    assert_eq!(turns["data"]["turns"], full["turns"]);
    let event = &tool["result"]["event_index"];
    let event = fixture.ask("get_event_details", json!({"session_id": ID, "event_index": event}));
    assert_eq!(event["payload"]["content"], long);
}

#[test]
fn arguments_in_steps_have_500_characters_of_json_and_no_member_of_our_own() {
    let long = |letter: &str| letter.repeat(4_000);
    let many: serde_json::Map<String, Value> =
        (0..200).map(|number| (format!("member_{number}"), json!(number))).collect();
    for arguments in [
        json!({"content": long("c"), "file_path": "/a"}),
        json!({"file_path": "/a", "old_string": long("\n"), "new_string": long("\"")}),
        json!({"command": long("\u{1}")}),
        json!({"query": long("漢")}),
        json!({"edits": vec![json!({"old": "o", "new": "n"}); 300]}),
        json!({"todos": [{"content": long("t")}], "url": "https://example.com"}),
        Value::Object(many),
        json!(long("text")),
        json!(vec![1; 2_000]),
    ] {
        let log = Log::new(ID, START).user("go").tool("Tool", arguments.clone(), "done", false);
        let answer = details(&Fixture::new(&[log]), json!({"detail_level": "steps"}));
        let shown = &answer["turns"][0]["steps"][0]["tools"][0]["call"]["arguments"];
        let length = shown.to_string().chars().count();
        assert!((400..=500).contains(&length), "{length}: {shown}");
        let names = |value: &Value| -> Vec<String> {
            value.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
        };
        let known = names(&arguments);
        assert!(names(shown).iter().all(|name| known.contains(name)), "{shown}");
    }
}

#[test]
fn an_event_is_returned_in_full() {
    let fixture = Fixture::new(&[small(ID, START)]);
    let mut calls = Vec::new();
    for index in 0..17 {
        let event = fixture.ask("get_event_details", json!({"session_id": "fb3cff44", "event_index": index}));
        if event["event_type"] == "ToolCall" {
            calls.push(event);
        }
    }
    let mut call = calls[0].clone();
    let index = call["event_index"].as_u64().unwrap();
    call.as_object_mut().unwrap().remove("rate_limit");
    assert_eq!(
        call,
        json!({
            "session_id": ID,
            "event_index": index,
            "timestamp": "2026-01-01T21:40:07Z",
            "event_type": "ToolCall",
            "payload": {"name": "Bash", "arguments": {"command": "cargo build"}, "call_id": "toolu-2"},
        })
    );
    assert_eq!(calls.len(), 3);
}

#[test]
fn a_slash_command_is_distinguished_from_a_message() {
    let command = "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>large</command-args>";
    let fixture = Fixture::new(&[Log::new(ID, START).user("hello").say("Hello.").user(command)]);
    let found =
        fixture.ask("search_event_previews", json!({"query": "/model"}))["data"]["matches"][0].clone();
    let event =
        fixture.ask("get_event_details", json!({"session_id": ID, "event_index": found["event_index"]}));
    for shown in [&found, &event] {
        assert_eq!(
            (&shown["event_type"], &shown["kind"]),
            (&json!("User"), &json!("slash_command")),
            "{shown}"
        );
    }
    let message = fixture.ask("get_event_details", json!({"session_id": ID, "event_index": 0}));
    assert_eq!(message["kind"], Value::Null);
}

#[test]
fn the_reasoning_chain_has_only_reasoning_in_order() {
    let fixture = Fixture::new(&[small(ID, START).think("And again.")]);
    let answer = fixture.ask("get_reasoning_chain", json!({"session_id": "fb3cff44"}));
    let thoughts: Vec<(&Value, &Value)> = answer["data"]["reasoning"]
        .as_array()
        .unwrap()
        .iter()
        .map(|thought| (&thought["turn_index"], &thought["text"]))
        .collect();
    assert_eq!(
        thoughts,
        [(&json!(0), &json!("The compiler must be asked first.")), (&json!(1), &json!("And again."))]
    );
    let last = fixture.ask("get_reasoning_chain", json!({"session_id": "fb3cff44", "turn": 1}));
    assert_eq!(last["data"]["reasoning"].as_array().unwrap().len(), 1);
    let pages = fixture.pages("get_reasoning_chain", &json!({"session_id": ID, "limit": 1}));
    assert_eq!(pages.len(), 2);
}

#[test]
fn a_session_is_diagnosed() {
    let fixture = Fixture::new(&[small(ID, START)]);
    let answer = fixture.call("analyze_session", json!({"session_id": "fb3cff44", "include_loops": true}));
    assert!(answer.bytes <= 5_000, "{}", answer.bytes);
    let body = answer.body;
    let lost: u64 =
        body["deductions"].as_array().unwrap().iter().map(|part| part["points"].as_u64().unwrap()).sum();
    assert_eq!(body["score"], 100 - lost);
    assert!(lost > 0);
    let insight = &body["insights"][0];
    assert_eq!((&insight["turn_index"], &insight["lens"]), (&json!(0), &json!("Failures")));
    assert!(["Critical", "Warning", "Info"].contains(&insight["severity"].as_str().unwrap()));
    assert!(insight["message"].as_str().unwrap().contains("Bash cargo build"), "{insight}");
    let counts = &body["summary"]["event_counts"];
    for (name, count) in
        [("assistant_messages", 2), ("tool_calls", 3), ("tool_results", 3), ("user_messages", 2)]
    {
        assert_eq!(counts[name], count, "{name}");
    }
    let listed = fixture.ask("list_turns", json!({"session_id": ID}));
    let turns = listed["data"]["turns"].as_array().unwrap();
    for name in ["total", "input", "output", "cache_read", "cache_creation", "reasoning"] {
        let sum: u64 = turns.iter().map(|turn| turn["tokens"][name].as_u64().unwrap()).sum();
        assert_eq!(body["summary"]["tokens"][name], sum, "{name} means the same in every tool");
    }
    let without = fixture.ask("analyze_session", json!({"session_id": ID, "include_failures": false}));
    let failures =
        without["insights"].as_array().unwrap().iter().filter(|insight| insight["lens"] == "Failures");
    assert_eq!(failures.count(), 0);
}

#[test]
fn only_the_contracts_lenses_are_used_unless_more_are_requested() {
    let mut log = Log::new(ID, START).user("go");
    for _ in 0..6 {
        // The same large file, read again with nothing changed.
        log = log.tool("Read", json!({"file_path": "/a.rs"}), &"line of text\n".repeat(4_000), false);
    }
    let fixture = Fixture::new(&[log.say("done")]);
    for (arguments, lenses) in [
        (json!({}), &["Failures", "TokenUsage"][..]),
        (json!({"include_failures": false}), &["TokenUsage"]),
        (json!({"include_loops": true}), &["Failures", "Loops", "TokenUsage"]),
        (
            json!({"include_more_lenses": true}),
            &["Failures", "TokenUsage", "SlowSteps", "RepeatedReads", "ContextGrowth"],
        ),
    ] {
        let mut all = arguments.clone();
        all["session_id"] = json!(ID);
        let answer = fixture.ask("analyze_session", all);
        assert_eq!(answer["lenses"], json!(lenses), "{arguments}");
        for part in [&answer["insights"], &answer["deductions"]] {
            let used =
                part.as_array().unwrap().iter().all(|one| lenses.contains(&one["lens"].as_str().unwrap()));
            assert!(used, "{arguments}: {part}");
        }
        let is_reported = answer["insights"].to_string().contains("RepeatedReads");
        assert_eq!(is_reported, lenses.contains(&"RepeatedReads"), "{arguments}: {}", answer["insights"]);
    }
}

#[test]
fn two_sessions_are_compared() {
    let other = "0b3cff44-13ae-41a6-a6df-f287e0552835";
    let fixture = Fixture::new(&[small(ID, START), small(other, START + 60_000).say("one more")]);
    let answer = fixture.ask("compare_sessions", json!({"id1": "fb3c", "id2": "0b3c"}));
    assert_eq!(
        (&answer["sessions"][0]["session_id"], &answer["sessions"][1]["session_id"]),
        (&json!("fb3cff44"), &json!("0b3cff44"))
    );
    assert_eq!(
        answer["difference"],
        json!({
            "turns": 0, "duration_seconds": 1, "total_tokens": 110, "requests": 1, "tool_calls": 0, "failed_tools": 0,
            "messages": 1, "subagents": 0,
        })
    );
    assert_eq!(
        answer["same"],
        json!({"project": true, "provider": true, "model": true, "first_message": true})
    );
    let bash = answer["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "Bash").unwrap();
    assert_eq!((&bash["calls"], &bash["failed"]), (&json!([1, 1]), &json!([1, 1])));
}

#[test]
fn no_level_and_no_tool_shows_a_secret_or_a_part_of_one() {
    let secret = secret();
    let mut log = Log::new(ID, START);
    for before in [470, 480, 490, 495] {
        let text = format!("{} {secret} end", "w".repeat(before));
        log = log
            .user(&text)
            .think(&text)
            .tool("Bash", json!({"command": format!("curl -H 'Authorization: Bearer {secret}' x"), "env": {"API_TOKEN": secret}}), &text, false)
            .say(&text);
    }
    let fixture = Fixture::new(&[log]);
    let session = json!({"session_id": ID});
    let mut answers = Vec::new();
    for level in ["summary", "turns", "steps", "full"] {
        answers.push(details(&fixture, json!({"detail_level": level, "include_reasoning": true})));
    }
    for tool in ["list_turns", "get_reasoning_chain", "analyze_session"] {
        answers.push(fixture.ask(tool, session.clone()));
    }
    for index in 0..10 {
        answers.push(fixture.ask("get_event_details", json!({"session_id": ID, "event_index": index})));
    }
    for query in ["end", "www", "curl", "Bearer", &secret] {
        answers.push(fixture.ask("search_event_previews", json!({"query": query, "limit": 50})));
        answers.push(fixture.ask("search_events", json!({"pattern": query, "include_full_payload": true})));
    }
    for answer in answers {
        let answer = answer.to_string();
        for start in 4..secret.len() - 6 {
            assert!(!answer.contains(&secret[start..start + 6]), "{answer}");
        }
    }
}
