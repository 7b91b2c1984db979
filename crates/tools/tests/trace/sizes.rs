//! Large sessions: every answer keeps its promised size, and nothing is out of reach.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::fixture::{Answered, Fixture, Log, START};

const ID: &str = "fb3cff44-13ae-41a6-a6df-f287e0552835";

/// Letters that are long in UTF-8, and those that are long in JSON.
fn text(seed: usize, chars: usize) -> String {
    let letters = ['a', 'é', '漢', '🦀', '"', '\\', '\n', ' ', '\u{1}', 'z'];
    (0..chars).map(|index| letters[(index * 7 + index / 11 + seed) % letters.len()]).collect()
}

/// Many turns, one with very many steps, and texts that are larger than any answer.
fn large() -> Log {
    let mut log = Log::new(ID, START);
    for turn in 0..60 {
        log = log.user(&format!("turn {turn} {}", text(turn, 400))).think(&text(turn, 900));
        for step in 0..if turn == 7 { 400 } else { 3 } {
            let arguments =
                json!({"file_path": format!("/src/{turn}/{step}.rs"), "content": text(step, 700)});
            log = log.tool("Write", arguments, &text(step, 1200), step % 9 == 8);
        }
        log = log.say(&text(turn, 600));
    }
    log.user(&text(1, 120_000))
        .think(&text(2, 150_000))
        .tool("Write", json!({"file_path": "/huge", "content": text(3, 200_000)}), &text(4, 250_000), false)
        .say("done")
}

fn all_within(pages: &[Answered], most: usize) {
    for page in pages {
        assert!(page.bytes <= most, "{} bytes of {most}", page.bytes);
        if page.bytes > 31_000 {
            assert!(page.body["hint"].as_str().unwrap().contains("Size warning"));
        }
    }
}

#[test]
fn every_level_keeps_its_size_limit_and_has_every_step() {
    let fixture = Fixture::new(&[large()]);
    for (level, most) in [("summary", 15_000), ("turns", 30_000), ("steps", 38_000), ("full", 38_000)] {
        let arguments = json!({"session_id": ID, "detail_level": level, "include_reasoning": true});
        let pages = fixture.pages("get_session_details", &arguments);
        all_within(&pages, most);
        let mut steps: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for turn in pages.iter().flat_map(|page| page.body["turns"].as_array().unwrap()) {
            let of = steps.entry(turn["turn_index"].as_u64().unwrap()).or_default();
            for step in turn["steps"].as_array().unwrap_or(&Vec::new()) {
                of.push(step["step_index"].as_u64().unwrap());
            }
        }
        assert_eq!(steps.keys().copied().collect::<Vec<_>>(), (0..61).collect::<Vec<_>>());
        if level == "summary" {
            continue;
        }
        for (turn, mut numbers) in steps {
            let expected = if turn == 7 {
                401
            } else if turn == 60 {
                2
            } else {
                4
            };
            if level != "turns" {
                numbers.dedup();
            }
            assert_eq!(numbers, (0..expected).collect::<Vec<u64>>(), "{level}, turn {turn}");
        }
    }
}

/// Puts the parts of a text together again.
fn join(texts: &mut BTreeMap<String, String>, key: String, text: &Value, part: &Value) {
    let (Some(text), known) = (text.as_str(), texts.entry(key).or_default()) else { return };
    if part.is_object() {
        assert_eq!(part["start"], known.chars().count());
        assert_eq!(part["end"].as_u64().unwrap(), (known.chars().count() + text.chars().count()) as u64);
    } else {
        assert_eq!(known, "", "a whole text comes once");
    }
    known.push_str(text);
}

#[test]
fn the_full_level_returns_every_character() {
    let fixture = Fixture::new(&[large()]);
    let pages = fixture
        .pages("get_session_details", &json!({"session_id": ID, "detail_level": "full", "from_turn": 58}));
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for turn in pages.iter().flat_map(|page| page.body["turns"].as_array().unwrap()) {
        let number = &turn["turn_index"];
        if turn["continued"] != true || turn["user_message_part"].is_object() {
            join(&mut texts, format!("{number} user"), &turn["user_message"], &turn["user_message_part"]);
        }
        for step in turn["steps"].as_array().unwrap() {
            for name in ["reasoning", "message"] {
                join(
                    &mut texts,
                    format!("{number}.{} {name}", step["step_index"]),
                    &step[name]["text"],
                    &step[name]["text_part"],
                );
            }
            for tool in step["tools"].as_array().unwrap_or(&Vec::new()) {
                let (call, result) = (&tool["call"], &tool["result"]);
                let place = format!("{number}.{}.{}", step["step_index"], tool["tool_index"]);
                join(&mut texts, format!("{place} result"), &result["content"], &result["content_part"]);
                join(
                    &mut texts,
                    format!("{place} call"),
                    &call["arguments_json"],
                    &call["arguments_json_part"],
                );
                join(&mut texts, format!("{place} content"), &call["arguments"]["content"], &Value::Null);
            }
        }
    }
    assert_eq!(texts["60 user"], text(1, 120_000));
    assert_eq!(texts["60.0 reasoning"], text(2, 150_000));
    assert_eq!(texts["60.0.0 result"], text(4, 250_000));
    let arguments: Value = serde_json::from_str(&texts["60.0.0 call"]).unwrap();
    assert_eq!(arguments, json!({"file_path": "/huge", "content": text(3, 200_000)}));
    assert_eq!(texts["60.1 message"], "done");
    assert_eq!(texts["58.2.0 content"], text(2, 700));
    assert_eq!(texts["58.2.0 result"], text(2, 1200));
    assert_eq!(texts["59 user"], format!("turn 59 {}", text(59, 400)));
}

#[test]
fn an_event_of_any_size_can_be_read_in_parts() {
    let fixture = Fixture::new(&[large()]);
    let mut seen = 0;
    for (query, event_type, size) in [("/huge", "ToolCall", 0), ("done", "Message", 4)] {
        let found = fixture.ask("search_event_previews", json!({"query": query, "event_type": event_type}));
        let found = &found["data"]["matches"][0];
        let arguments = json!({"session_id": found["session_id"], "event_index": found["event_index"]});
        if size > 0 {
            let event = fixture.ask("get_event_details", arguments);
            assert_eq!(event["payload"]["text"].as_str().unwrap().len(), size);
            assert!(event.get("pagination").is_none());
            continue;
        }
        // The call, and the result after it.
        for (more, field) in [(0, "arguments_json"), (1, "content"), (2, "content")] {
            let index = found["event_index"].as_u64().unwrap() + more;
            let arguments = json!({"session_id": ID, "event_index": index});
            let first = fixture.call("get_event_details", arguments.clone());
            if first.body["payload"].get(field).is_none() {
                continue;
            }
            let pages = fixture.pages("get_event_details", &arguments);
            all_within(&pages, 10_000);
            let mut texts = BTreeMap::new();
            for page in &pages {
                join(&mut texts, field.to_owned(), &page.body["payload"][field], &page.body["payload_part"]);
            }
            let expected = match field {
                "content" => text(4, 250_000),
                _ => json!({"file_path": "/huge", "content": text(3, 200_000)}).to_string(),
            };
            assert_eq!(texts[field], expected);
            seen += 1;
        }
    }
    assert_eq!(seen, 2, "the call and its result were read");
}

#[test]
fn other_answers_keep_their_size_limits() {
    let mut logs = vec![large()];
    for number in 0..60 {
        let root = format!("/home/dev/{number}{}", "p".repeat(900));
        let log =
            Log::new(&format!("{number:08x}-13ae-41a6-a6df-f287e0552835"), START + number).in_project(&root);
        logs.push(log.user(&text(number as usize, 900)).tool(
            &"T".repeat(200),
            json!({"a": text(3, 900)}),
            &text(5, 900),
            true,
        ));
    }
    let fixture = Fixture::new(&logs);
    for (tool, arguments, most) in [
        ("list_sessions", json!({"limit": 50}), 20_000),
        ("get_project_info", json!({}), 20_000),
        ("list_turns", json!({"session_id": ID, "limit": 50}), 20_000),
        ("get_turns", json!({"session_id": ID, "turns": [7, 8, 60]}), 38_000),
        ("get_turns", json!({"session_id": ID, "turns": [7, 60], "detail_level": "turns"}), 30_000),
        ("get_turns", json!({"session_id": ID, "turns": [60], "detail_level": "full"}), 38_000),
        ("search_event_previews", json!({"query": "z", "session_id": ID}), 15_000),
        (
            "search_event_previews",
            json!({"query": "z", "limit": 50, "session_id": ID, "event_type": "ToolCall"}),
            30_000,
        ),
        ("get_reasoning_chain", json!({"session_id": ID}), 30_000),
    ] {
        let pages = fixture.pages(tool, &arguments);
        all_within(&pages, most);
        let items: u64 =
            pages.iter().map(|page| page.body["pagination"]["total_in_page"].as_u64().unwrap()).sum();
        assert!(items > 0, "{tool}");
    }
    for (tool, arguments, most) in [
        ("search_events", json!({"pattern": "z", "include_full_payload": true, "limit": 50}), 15_000),
        ("analyze_session", json!({"session_id": ID, "include_loops": true}), 5_000),
        ("compare_sessions", json!({"id1": ID, "id2": "00000000"}), 10_000),
    ] {
        let answered = fixture.call(tool, arguments);
        assert!(!answered.is_error && answered.bytes <= most, "{tool}: {}", answered.bytes);
    }
}
