//! What counts as shown to the model already.

use serde_json::{Value, json};
use tamis_clients::Client;

use super::fixture::{Fixture, GOAL, bash_response, claude_call, claude_log};

/// A file that the model is shown by `cat`, as a result in Claude Code's log.
pub(crate) fn shown(uuid: &str, parent: &str, text: &str) -> Vec<Value> {
    let common = |uuid: &str, parent: &str, role: &str, content: Value| {
        json!({"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "cwd": "/p", "version": "2.1.325",
            "timestamp": "2026-11-16T12:00:01Z", "message": {"role": role, "content": content}})
    };
    let id = format!("toolu_{uuid}");
    let call = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "cat a.txt"}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": false}]);
    let call_uuid = format!("{uuid}c");
    vec![common(&call_uuid, parent, "assistant", call), common(uuid, &call_uuid, "user", result)]
}

#[test]
fn what_the_model_has_in_its_context_is_not_shown_again() {
    let fixture = Fixture::new();
    // Words that the goal has in every line, so that nothing else is cut.
    let text: String =
        (0..60).map(|line| format!("the build may fail in step {line} because of {}\n", line * 31)).collect();
    let last = |parent: &str| {
        let call =
            json!([{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "cat a.txt"}}]);
        json!({"type": "assistant", "uuid": "last", "parentUuid": parent, "sessionId": "s", "cwd": "/p",
            "timestamp": "2026-11-16T12:00:09Z", "message": {"role": "assistant", "content": call}})
    };
    let begin = claude_log();
    let compaction = json!({"type": "system", "subtype": "compact_boundary", "uuid": "compact", "parentUuid": null,
        "logicalParentUuid": "r1", "sessionId": "s", "content": "Conversation compacted", "timestamp": "2026-11-16T12:00:05Z"});
    let summary = json!({"type": "user", "uuid": "summary", "parentUuid": "compact", "sessionId": "s", "isCompactSummary": true,
        "timestamp": "2026-11-16T12:00:06Z", "message": {"role": "user", "content": "the build fails; fix it"}});
    let next = json!({"type": "user", "uuid": "next", "parentUuid": "summary", "sessionId": "s",
        "timestamp": "2026-11-16T12:00:07Z", "message": {"role": "user", "content": GOAL}});
    let numbered: String =
        (1..).zip(text.lines()).map(|(number, line)| format!("{number:6}→{line}\n")).collect();
    let in_context: Vec<Value> = [begin.clone(), shown("r1", "a1", &text), vec![last("r1")]].concat();
    let as_file: Vec<Value> = [begin.clone(), shown("r1", "a1", &numbered), vec![last("r1")]].concat();
    let rewound: Vec<Value> = [begin.clone(), shown("r1", "a1", &text), vec![last("a1")]].concat();
    let compacted: Vec<Value> =
        [begin, shown("r1", "a1", &text), vec![compaction, summary, next, last("next")]].concat();
    // Claude Code may clear all but the last five results if that frees 20,000 tokens, and says so in its log.
    let six_results_ago = |before: &str| -> Vec<Value> {
        let many =
            (2..7).flat_map(|number| shown(&format!("r{number}"), &format!("r{}", number - 1), "done"));
        let first = [shown("r0", "a1", before), shown("r1", "r0", &text)].concat();
        [claude_log(), first, many.collect(), vec![last("r6")]].concat()
    };
    // What the agent wrote is not cleared with results.
    let write = |uuid: &str, parent: &str| {
        let call = json!([{"type": "tool_use", "id": "toolu_w", "name": "Write",
            "input": {"file_path": "/p/a.txt", "content": text}}]);
        let call = json!({"type": "assistant", "uuid": format!("w{uuid}"), "parentUuid": parent, "sessionId": "s", "cwd": "/p",
            "timestamp": "2026-11-16T12:00:03Z", "message": {"role": "assistant", "content": call}});
        let result = json!([{"type": "tool_result", "tool_use_id": "toolu_w", "content": "written"}]);
        let result = json!({"type": "user", "uuid": uuid, "parentUuid": format!("w{uuid}"), "sessionId": "s", "cwd": "/p",
            "timestamp": "2026-11-16T12:00:04Z", "message": {"role": "user", "content": result}});
        vec![call, result]
    };
    let written_before: Vec<Value> = {
        let large = shown("r2", "r1", &"a line of another result\n".repeat(3_000));
        let many =
            (3..9).flat_map(|number| shown(&format!("r{number}"), &format!("r{}", number - 1), "done"));
        [claude_log(), write("r1", "a1"), large, many.collect(), vec![last("r8")]].concat()
    };
    let long_ago = six_results_ago(&"a line of another result\n".repeat(3_000));
    let not_cleared = six_results_ago("done");
    // Where the beginning of the log is not read, more may be there to clear.
    let mut of_a_long_log = claude_log();
    of_a_long_log.insert(1, json!({"type": "progress", "data": "x".repeat(2 << 20)}));
    of_a_long_log.extend(six_results_ago("done").into_iter().skip(claude_log().len()));
    // A request that was cached so far that it has the result shows that it was not cleared.
    let with_usage = |mut lines: Vec<Value>, is_cached: &dyn Fn(usize) -> bool| {
        let mut request = 0;
        for line in lines.iter_mut().filter(|line| line["type"] == "assistant") {
            request += 1;
            let (prompt, cached) =
                (10_000 * request, if is_cached(request) { 10_000 * (request - 1) } else { 0 });
            line["message"]["id"] = format!("msg_{request}").into();
            line["requestId"] = format!("req_{request}").into();
            line["message"]["usage"] = json!({"input_tokens": 3, "cache_read_input_tokens": cached,
                "cache_creation_input_tokens": prompt - cached - 3, "output_tokens": 50});
        }
        lines
    };
    let confirmed = with_usage(long_ago.clone(), &|_| true);
    let not_confirmed = with_usage(long_ago.clone(), &|request| request != 9);
    // Another record of the same message, after the result of its first call, reports the same request again.
    let mut same_request = with_usage(long_ago.clone(), &|_| true);
    for line in same_request.iter_mut().filter(|line| line["type"] == "assistant") {
        line["message"]["id"] = "msg_1".into();
        line["requestId"] = "req_1".into();
        line["message"]["usage"] =
            json!({"input_tokens": 3, "cache_read_input_tokens": 9_997, "output_tokens": 50});
    }
    // The call itself is not in the log yet, and neither is the request that it came from.
    let mut without_call = with_usage(long_ago.clone(), &|_| true);
    without_call.pop();
    without_call.remove(1);
    let mut edited = last("r1");
    edited["message"]["context_management"] =
        json!({"applied_edits": [{"type": "clear_tool_uses_20250919"}]});
    let cleared: Vec<Value> = [claude_log(), shown("r1", "a1", &text), vec![edited]].concat();
    let removed = |record: Value| -> Vec<Value> {
        [claude_log(), shown("r1", "a1", &text), vec![record, last("r1")]].concat()
    };
    let replaced = removed(json!({"type": "content-replacement", "sessionId": "s", "replacements": []}));
    let collapsed =
        removed(json!({"type": "marble-origami-commit", "sessionId": "s", "summary": "read a file"}));
    let snipped =
        removed(json!({"type": "system", "subtype": "snip_boundary", "uuid": "snip", "parentUuid": "r1",
        "sessionId": "s", "content": "snipped"}));
    // Another process goes on where this one was rewound.
    let elsewhere = json!({"type": "user", "uuid": "else", "parentUuid": "r1", "sessionId": "s", "cwd": "/p",
        "timestamp": "2026-11-16T12:00:10Z", "message": {"role": "user", "content": "go on"}});
    let of_another_process: Vec<Value> =
        [claude_log(), shown("r1", "a1", &text), vec![last("a1"), elsewhere.clone()]].concat();
    let unknown_branch: Vec<Value> = [claude_log(), shown("r1", "a1", &text), vec![elsewhere]].concat();
    // The results of parallel calls follow both calls, and are sent together.
    let mut parallel: Vec<Value> = [claude_log(), shown("r1", "a1", &text)].concat();
    let before_result = parallel.len() - 1;
    parallel.insert(before_result, last("r1c"));
    // Of the latest five results, those of parallel calls are some.
    let four_results_ago = |parallel_calls: usize, id: &str| -> Vec<Value> {
        let many =
            (2..5).flat_map(|number| shown(&format!("r{number}"), &format!("r{}", number - 1), "done"));
        let first =
            [shown("r0", "a1", &"a line of another result\n".repeat(3_000)), shown("r1", "r0", &text)]
                .concat();
        let mut lines = [claude_log(), first, many.collect(), vec![last("r4")]].concat();
        for number in 1..parallel_calls {
            let mut sibling = lines.last().unwrap().clone();
            sibling["parentUuid"] = sibling["uuid"].clone();
            sibling["uuid"] = format!("sibling{number}").into();
            sibling["message"]["content"][0]["id"] = format!("toolu_s{number}").into();
            lines.push(sibling);
        }
        for line in lines.iter_mut().rev().take(parallel_calls) {
            line["message"]["id"] = id.into();
        }
        lines
    };
    // After an hour without a request, Claude Code clears what it does not keep, before the next one.
    let mut after_a_pause = with_usage(long_ago.clone(), &|_| true);
    for line in &mut after_a_pause {
        line["timestamp"] = json!("2026-11-16T11:00:00Z");
    }
    let mut small_after_a_pause = with_usage(not_cleared.clone(), &|_| true);
    for line in &mut small_after_a_pause {
        line["timestamp"] = json!("2026-11-16T11:00:00Z");
    }
    for (name, lines, is_shown) in [
        ("four results ago", four_results_ago(1, "msg_9"), true),
        ("four results ago, of three parallel calls", four_results_ago(3, "msg_9"), false),
        ("four results ago, of three parallel calls of another server", four_results_ago(3, "9"), false),
        ("six results ago, cached until an hour ago", after_a_pause, false),
        ("six small results ago, an hour ago", small_after_a_pause, false),
        ("in context", in_context, true),
        ("by a parallel call", parallel, true),
        ("rewound, and another process went on", of_another_process, false),
        ("not known on which branch", unknown_branch, false),
        ("collapsed", collapsed, false),
        ("snipped", snipped, false),
        ("written by the agent", written_before, true),
        ("six results ago", long_ago, false),
        ("six results ago, cached since", confirmed, true),
        ("six results ago, not cached once", not_confirmed, false),
        ("six results ago, of one request", same_request, false),
        ("six results ago, before the call is logged", without_call, false),
        ("six small results ago", not_cleared, true),
        ("six results ago in a long log", of_a_long_log, false),
        ("cleared", cleared, false),
        ("replaced", replaced, false),
        ("as a numbered file", as_file, true),
        ("rewound", rewound, false),
        ("compacted", compacted, false),
    ] {
        let log = fixture.write_log("s.jsonl", &lines);
        let payload = claude_call(&log, "Bash", json!({"command": "cat a.txt"}), bash_response(&text));
        let result = fixture.run(Client::ClaudeCode, &payload);
        let stdout = result
            .reply
            .as_ref()
            .map_or(Value::Null, |reply| reply["hookSpecificOutput"]["updatedToolOutput"]["stdout"].clone());
        let is_cut =
            [": shown ", ": you wrote this "].iter().any(|reason| stdout.to_string().contains(reason));
        assert_eq!(is_cut, is_shown, "{name}: {result:?}");
    }
}
