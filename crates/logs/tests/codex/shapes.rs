//! Shapes of records that the real client did not write in our runs: older ones, rarer ones, broken ones.

use crate::render::render;

/// What records give, without their numbers, streams and times.
fn given(lines: &[&str]) -> Vec<String> {
    let rendered = render(&lines.join("\n"));
    let without = |line: &str| {
        let (_, rest) = line.split_once(' ').unwrap();
        let rest = rest.strip_prefix("main ").or(rest.strip_prefix("subagent ")).unwrap_or(rest);
        let first = rest.split(' ').next().unwrap();
        let is_time = first == "-" || first.bytes().all(|byte| byte.is_ascii_digit());
        if is_time { rest[first.len() + 1..].to_owned() } else { rest.to_owned() }
    };
    rendered.lines().map(without).collect()
}

#[test]
fn bare_items_of_the_first_logs() {
    let found = given(&[
        r#"{"id":"5973b6c0","timestamp":"2025-08-01T10:00:00.000Z","instructions":null,"git":{"branch":"main"}}"#,
        r#"{"record_type":"state"}"#,
        r#"{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"<user_instructions>\n\nBe kind.</user_instructions>"}]}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"List files"}]}"#,
        r#"{"type":"reasoning","id":"rs_1","summary":[],"content":null,"encrypted_content":"gAAA"}"#,
        r#"{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"call_1"}"#,
        r#"{"type":"function_call_output","call_id":"call_1","output":"{\"output\":\"no\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.1}}"}"#,
        r#"{"type":"local_shell_call","call_id":"call_2","status":"completed","action":{"type":"exec","command":["ls"]}}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"None."}]}"#,
    ]);
    assert_eq!(
        found,
        [
            "Id(\"5973b6c0\")",
            "Started(1754042400000)",
            r#"notification "<user_instructions>\n\nBe kind.</user_instructions>""#,
            r#"user "List files""#,
            r#"call shell call_1 "{\"command\":[\"ls\"]}""#,
            r#"result call_1 failed "{\"output\":\"no\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.1}}""#,
            r#"call local_shell call_2 "{\"command\":[\"ls\"],\"type\":\"exec\"}""#,
            r#"message "None.""#,
        ]
    );
}

#[test]
fn the_document_of_the_first_codex() {
    let found = given(&[
        r#"{"session":{"timestamp":"2025-04-17T10:00:00.000Z","id":"s1","instructions":""},"items":[{"role":"user","content":[{"type":"input_text","text":"Hi"}],"type":"message"},{"type":"hologram"}]}"#,
    ]);
    assert_eq!(
        found,
        ["Id(\"s1\")", "Started(1744884000000)", r#"drift Part("items.hologram")"#, r#"user "Hi""#]
    );
}

#[test]
fn a_message_logged_twice_is_read_once_in_either_order() {
    let item = r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Go on"}]}}"#;
    let event = r#"{"type":"event_msg","payload":{"type":"user_message","message":"Go on","kind":"plain"}}"#;
    let context = r#"{"type":"turn_context","payload":{"model":"gpt-5"}}"#;
    let user = r#"user "Go on""#;
    assert_eq!(given(&[item, event]), [user]);
    assert_eq!(given(&[event, context, item]), [user]);
    assert_eq!(given(&[item, event, item, event]), [user, user]);
    assert_eq!(given(&[item, item]), [user, user]);
    assert_eq!(given(&[event, event, item, item]), [user, user]);
}

/// The event has one text; the item has its parts, and labels around the image.
#[test]
fn a_message_with_an_image_is_read_once() {
    let found = given(&[
        r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<image name=[Image #1]>"},{"type":"input_image","image_url":"data:"},{"type":"input_text","text":"</image>"},{"type":"input_text","text":"What "},{"type":"input_text","text":"is it?"}]}}"#,
        r#"{"type":"event_msg","payload":{"type":"user_message","message":"What is it?","images":[],"local_images":["a.png"]}}"#,
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("user "), "{found:?}");
}

#[test]
fn reasoning_is_read_once() {
    let item = r#"{"type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"One"},{"type":"summary_text","text":"Two"}]}}"#;
    let event = |text: &str| {
        format!(r#"{{"type":"event_msg","payload":{{"type":"agent_reasoning","text":"{text}"}}}}"#)
    };
    assert_eq!(given(&[&event("One"), &event("Two"), item]), [r#"reasoning "One""#, r#"reasoning "Two""#]);
    assert_eq!(given(&[item, &event("One"), &event("Two")]), [r#"reasoning "One\nTwo""#]);
    assert_eq!(given(&[item]), [r#"reasoning "One\nTwo""#]);
}

#[test]
fn only_people_begin_turns() {
    let text = |text: &str| {
        format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#)
    };
    let client = [
        "<environment_context>\\n  <cwd>/x</cwd>",
        "# AGENTS.md instructions for /x\\n",
        "\\n<user_instructions>x",
        "<turn_aborted>x",
        "<user_shell_command>ls",
        "<subagent_notification>{}",
        "<skill>\\n<name>x",
        "<hook_prompt hook_run_id=\\\"1\\\">x",
        "Warning: apply_patch was requested via exec_command.",
    ];
    for words in client {
        assert!(given(&[&text(words)])[0].starts_with("notification "), "{words}");
    }
    for words in [
        "<div> is wrong",
        "# Context from my IDE setup:\\n## My request for Codex:\\nfix it",
        "/home/dev/x is gone",
    ] {
        assert!(given(&[&text(words)])[0].starts_with("user "), "{words}");
    }
    assert_eq!(
        given(&[&text("/review the \\\"last\\\" commit")]),
        [r#"slash command /review "the \"last\" commit""#]
    );
    assert_eq!(given(&[&text("/compact")]), [r#"slash command /compact """#]);
}

#[test]
fn outcomes() {
    let output =
        |output: &str| format!(r#"{{"type":"function_call_output","call_id":"c","output":{output}}}"#);
    let failed = [
        r#""Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno""#,
        r#""Chunk ID: x\nWall time: 0 seconds\nProcess exited with code 127\nOutput:\nno""#,
        r#""{\"output\":\"no\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":0.0}}""#,
        r#"{"content":"no","success":false}"#,
        r#"{"content":"Exit code: 3\nno"}"#,
        r#"[{"type":"input_text","text":"Wall time: 0 seconds\nOutput:"},{"type":"input_text","text":"tool call error: no"}]"#,
        r#"{"stdout":"","stderr":"no","exitCode":2}"#,
        r#""unsupported call: x""#,
    ];
    let fine = [
        r#""Exit code: 0\nWall time: 0.1 seconds\nOutput:\nExit code: 1""#,
        r#""Wall time: 0 seconds\nProcess exited with code 0\nOutput:\nProcess exited with code 1""#,
        r#""Wall time: 0 seconds\nOutput:\nProcess exited with code 1""#,
        r#""{\"output\":\"yes\",\"metadata\":{\"exit_code\":0}}""#,
        r#"{"content":"yes","success":true}"#,
        r#"[{"type":"input_text","text":"Wall time: 0 seconds\nOutput:"},{"type":"input_text","text":"yes \"tool call error: no\""}]"#,
        "null",
        "7",
    ];
    for text in failed {
        assert!(given(&[&output(text)])[0].starts_with("result c failed"), "{text}");
    }
    for text in fine {
        assert!(given(&[&output(text)])[0].starts_with("result c ok"), "{text}");
    }
}

/// A mirror tells that a call failed, where its output does not.
#[test]
fn tools_that_events_tell_of() {
    let call = r#"{"type":"response_item","payload":{"type":"function_call","name":"look","namespace":"mcp__eyes","arguments":"{}","call_id":"c1"}}"#;
    let end = r#"{"type":"event_msg","payload":{"type":"mcp_tool_call_end","call_id":"c1","invocation":{"server":"eyes","tool":"look","arguments":{}},"result":{"Ok":{"content":[{"type":"text","text":"dark"}],"isError":true}}}}"#;
    let output = r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"dark"}}"#;
    let expected = [r#"call mcp__eyes__look c1 "{}""#, r#"result c1 failed "dark""#];
    assert_eq!(given(&[call, end, output]), expected);
    // Without items it tells the call itself.
    assert_eq!(given(&[end]), expected);
    let found = given(&[
        r#"{"type":"event_msg","payload":{"type":"exec_command_begin","call_id":"c2","command":["ls"]}}"#,
        r#"{"type":"event_msg","payload":{"type":"exec_command_end","call_id":"c2","command":["ls"],"aggregated_output":"a","exit_code":0}}"#,
        r#"{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"exec-1","command":["no"],"status":"declined"}}}"#,
    ]);
    assert_eq!(
        found,
        [
            r#"call exec_command c2 "[\"ls\"]""#,
            r#"result c2 ok "a""#,
            r#"call exec_command exec-1 "[\"no\"]""#,
            r#"result exec-1 failed """#,
        ]
    );
}

#[test]
fn messages_between_agents() {
    let meta = r#"{"type":"session_meta","payload":{"id":"x","source":{"subagent":{"thread_spawn":{"parent_thread_id":"p","depth":1,"agent_path":"/root/x","agent_role":"explorer"}}}}}"#;
    let trigger = r#"{"type":"inter_agent_communication_metadata","payload":{"trigger_turn":true}}"#;
    let message = r#"{"type":"response_item","payload":{"type":"agent_message","author":"/root","recipient":"/root/x","content":[{"type":"input_text","text":"Look"}]}}"#;
    let old = r#"{"type":"inter_agent_communication","payload":{"author":"/root","recipient":"/root/x","content":"Wait","trigger_turn":false}}"#;
    assert_eq!(
        given(&[meta, trigger, message, message, old])[1..],
        [
            r#"AgentName("explorer")"#,
            r#"Parent { id: "p", relation: Subagent }"#,
            r#"user "Look""#,
            r#"notification "Look""#,
            r#"notification "Wait""#,
        ]
    );
}

#[test]
fn notices_and_names() {
    let event = |payload: &str| format!(r#"{{"type":"event_msg","payload":{payload}}}"#);
    let found = given(&[
        &event(r#"{"type":"error","message":"Too long","codex_error_info":"x"}"#),
        &event(r#"{"type":"turn_aborted","reason":"interrupted"}"#),
        &event(r#"{"type":"thread_name_updated","thread_id":"x","thread_name":"Greeting"}"#),
        &event(r#"{"type":"thread_rolled_back","num_turns":2}"#),
        &event(r#"{"type":"task_complete","last_agent_message":null,"error":{"message":"Gone"}}"#),
        r#"{"type":"compacted","payload":{"message":"","replacement_history":[]}}"#,
        &event(r#"{"type":"context_compacted"}"#),
    ]);
    assert_eq!(
        found,
        [
            r#"notification "Too long""#,
            r#"notification "interrupted""#,
            r#"Title("Greeting")"#,
            r#"notification "{\"num_turns\":2,\"type\":\"thread_rolled_back\"}""#,
            r#"notification "Gone""#,
            r#"notification "context compacted""#,
        ]
    );
}

#[test]
fn what_is_not_understood_is_reported_and_loses_nothing_else() {
    let found = given(&[
        r#"{"type":"dream","payload":{}}"#,
        r#"{"type":"response_item","payload":{"type":"hologram"}}"#,
        r#"{"type":"event_msg","payload":{"type":"sneeze"}}"#,
        r#"{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"Hologram","id":"1"}}}"#,
        r#"{"type":"response_item","payload":7}"#,
        r#"{"type":"response_item"}"#,
        r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"scent","n":1},{"type":"output_text","text":"Yes"}]}}"#,
        r#"{"type":"session_meta","payload":{"id":7,"cwd":["x"],"cli_version":"1.0","source":3}}"#,
        r#"{"type":"response_item","type":"response_item","payload":{"type":"message","role":"assistant","content":"Twice"}}"#,
        r#"{"type":"event_msg","payload":{"type":"agent_mess"#,
        "",
        "hello",
        "[1,2]",
        "{}",
    ]);
    assert_eq!(
        found,
        [
            r#"drift Record("dream")"#,
            r#"drift Part("response_item.hologram")"#,
            r#"drift Part("event_msg.sneeze")"#,
            r#"drift Part("item_completed.Hologram")"#,
            r#"drift Part("response_item.")"#,
            r#"drift Unreadable("a record without its payload")"#,
            r#"drift Part("content.scent")"#,
            r#"message "{\"n\":1,\"type\":\"scent\"}\nYes""#,
            r#"Version("1.0")"#,
            r#"message "Twice""#,
            r#"drift Unreadable("a torn line")"#,
            r#"drift Unreadable("no JSON")"#,
            r#"drift Unreadable("no record of any known form")"#,
            r#"drift Unreadable("no record of any known form")"#,
        ]
    );
}

#[test]
fn deep_nesting_is_read() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let line = format!(r#"{{"type":"function_call","call_id":"c","name":"n","arguments":{deep}}}"#);
    assert_eq!(given(&[&line]).len(), 1);
}
