//! What a gateway changes: large texts in tool results, and the list of tools.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use common::{call, log, one, pruning, start};
use serde_json::{Value, json};
use tamis_gateway::{GatewayPruning, PrunedTools};

const QUERY: &str = r#"{"query":"why was the payment declined"}"#;

fn query() -> Value {
    serde_json::from_str(QUERY).unwrap()
}

fn encoded(text: &str) -> String {
    Value::from(text).to_string()
}

/// The text of the first block.
fn text_of(message: &str) -> String {
    let message: Value = serde_json::from_str(message).unwrap();
    message["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn large_results_are_pruned_and_nothing_else_of_the_message_changes() {
    let mut running = one();
    let text = log();
    let response = |text: &str| {
        format!(
            r#"{{"result" : {{"_meta":{{"n":1.0}}, "content":[{{"type":"image","data":"aGk=","mimeType":"image/png"}},{{"annotations":{{"priority":0.50}},"text":{text},"type":"text"}},{{"type":"text","text":"sm\u00e5ll"}}],"isError":false}},"id":1.0,"jsonrpc":"2.0"}}"#
        )
    };
    let got = running.exchange(&call("1", "search", &query()), &response(&encoded(&text)));
    let message: Value = serde_json::from_str(&got).unwrap();
    let pruned = message["result"]["content"][1]["text"].as_str().unwrap();
    assert_eq!(got, response(&encoded(pruned)), "only the text changes");
    assert!(pruned.contains("payment declined: card 4242"), "{pruned}");
    assert!(pruned.len() < text.len() / 2, "{} of {} bytes", pruned.len(), text.len());
    // Every line that is no marker is one of the original.
    let lines: Vec<&str> = text.split('\n').collect();
    let (markers, kept): (Vec<&str>, Vec<&str>) =
        pruned.split('\n').partition(|line| line.starts_with("[tamis "));
    assert!(kept.iter().all(|line| lines.contains(line)));
    let first = markers[0];
    let id = first.split_whitespace().find(|word| word.starts_with("prn_")).unwrap();
    let range = first.trim_end_matches(']').rsplit(' ').next().unwrap();
    let (begin, end) = range.split_once('-').unwrap();
    let (begin, end): (usize, usize) = (begin.parse().unwrap(), end.parse().unwrap());
    assert_eq!(running.recover(id, begin, end), lines[begin - 1..end].join("\n"));
}

#[test]
fn results_pass_unchanged_when_there_is_a_reason() {
    let text = log();
    let large = encoded(&text);
    let block = |text: &str| format!(r#"{{"type":"text","text":{text}}}"#);
    let content = |blocks: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{blocks}]}}}}"#);
    let in_result = |rest: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{}]{rest}}}}}"#, block(&large))
    };
    let pruned_before = encoded(&format!(
        "[tamis cut 1-9: repeats; restore: recover_text or tamis recover prn_aaaaaaaaaaaaaaaabbbbbb 1-9]\n{text}"
    ));
    let only_some = || GatewayPruning { tools: PrunedTools::Only(["other".to_owned()].into()), ..pruning() };
    let except = || GatewayPruning { tools: PrunedTools::Except(["search".to_owned()].into()), ..pruning() };
    for (why, pruning, response) in [
        ("an error", pruning(), in_result(r#","isError":true"#)),
        ("it is small", GatewayPruning { min_chars: 100_000, ..pruning() }, in_result("")),
        ("another tool is pruned", only_some(), in_result("")),
        ("this tool is not pruned", except(), in_result("")),
        (
            "only the user reads it",
            pruning(),
            content(&format!(r#"{{"type":"text","text":{large},"annotations":{{"audience":["user"]}}}}"#)),
        ),
        (
            "a resource",
            pruning(),
            content(&format!(r#"{{"type":"resource","resource":{{"uri":"a://b","text":{large}}}}}"#)),
        ),
        ("it was pruned before", pruning(), content(&block(&pruned_before))),
        (
            "half of a surrogate pair",
            pruning(),
            content(&block(&format!("{}\\ud800\"", large.trim_end_matches('"')))),
        ),
        (
            "two texts in one block",
            pruning(),
            content(&format!(r#"{{"type":"text","text":{large},"text":{large}}}"#)),
        ),
        (
            "a JSON-RPC error",
            pruning(),
            format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":1,"message":{large}}}}}"#),
        ),
        ("one long line", pruning(), content(&block(&encoded(&"word ".repeat(2000))))),
        (
            "structured content",
            pruning(),
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[],"structuredContent":{{"log":{large}}}}}}}"#
            ),
        ),
    ] {
        let mut running = start(&["server"], pruning);
        assert_eq!(running.exchange(&call("1", "search", &query()), &response), response, "{why}");
    }
    // A response to another method.
    let mut running = one();
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"search"}}"#;
    assert_eq!(running.exchange(request, &in_result("")), in_result(""));
}

#[test]
fn structured_content_is_pruned_on_request() {
    let mut running = start(&["server"], GatewayPruning { structured: true, ..pruning() });
    let response = |text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"structuredContent":{{"items":[{{"log":{text},"n":1.0}}],"x":"y"}},"content":[]}}}}"#
        )
    };
    let got = running.exchange(&call("1", "search", &query()), &response(&encoded(&log())));
    let message: Value = serde_json::from_str(&got).unwrap();
    let pruned = message["result"]["structuredContent"]["items"][0]["log"].as_str().unwrap();
    assert!(pruned.contains("[tamis cut ") && pruned.contains("declined"), "{pruned}");
    assert_eq!(got, response(&encoded(pruned)));
}

#[test]
fn the_last_page_of_the_tools_gets_recover_text() {
    let mut running = one();
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let more = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}],"nextCursor":"2"}}"#;
    assert_eq!(running.exchange(list, more), more);
    let got = running
        .exchange(list, r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[ {"name":"b","x":1.0} ],"_meta":{}}}"#);
    let begin = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[ {"name":"b","x":1.0} ,{"#;
    assert!(got.starts_with(begin) && got.ends_with(r#"}],"_meta":{}}}"#), "{got}");
    let got: Value = serde_json::from_str(&got).unwrap();
    let own = &got["result"]["tools"][1];
    assert_eq!(
        (own["name"].as_str(), own["annotations"]["readOnlyHint"].as_bool()),
        (Some("recover_text"), Some(true))
    );
    assert_eq!(own["inputSchema"]["type"], "object");
    let empty = running.exchange(list, r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":null}}"#);
    assert!(empty.contains(r#""tools":[{"#) && empty.ends_with(r#"],"nextCursor":null}}"#), "{empty}");
    for other in [
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools":7}}"#,
    ] {
        assert_eq!(running.exchange(list, other), other);
    }
}

#[test]
fn a_recover_text_of_the_server_is_left_to_it() {
    let mut running = one();
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let tools = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"recover_text"}]}}"#;
    assert_eq!(running.exchange(list, tools), tools);
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":2,"result":{{"content":[{{"type":"text","text":{}}}]}}}}"#,
        encoded(&log())
    );
    assert_eq!(running.exchange(&call("2", "recover_text", &query()), &answer), answer);
}

#[test]
fn our_tool_answers_in_both_eras_of_the_protocol() {
    let mut running = one();
    let arguments = json!({"prune_id": "prn_none", "ranges": [], "include_line_numbers": false});
    running.client.write(call("\"a\"", "recover_text", &arguments));
    let refused = running.client.read_json();
    assert_eq!(
        (refused["id"].as_str(), refused["error"]["message"].as_str()),
        (Some("a"), Some("prune_id_not_found"))
    );
    running
        .client
        .write(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"recover_text"}}"#);
    assert_eq!(running.client.read_json()["error"]["code"], -32602);

    let got = running.exchange(
        &call("3", "search", &query()),
        &format!(
            r#"{{"jsonrpc":"2.0","id":3,"result":{{"content":[{{"type":"text","text":{}}}]}}}}"#,
            encoded(&log())
        ),
    );
    let pruned = text_of(&got);
    let id = pruned.split_whitespace().find(|word| word.starts_with("prn_")).unwrap();
    let arguments =
        json!({"prune_id": id, "ranges": [{"start_line": 1, "end_line": 2}], "include_line_numbers": false});
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let params = json!({"name": "recover_text", "arguments": arguments, "_meta": meta});
    running
        .client
        .write(json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": params}).to_string());
    assert_eq!(running.client.read_json()["result"]["resultType"], "complete");
}

#[test]
fn batches_are_pruned_and_our_calls_in_them_answered() {
    let mut running = one();
    let own =
        call("1", "recover_text", &json!({"prune_id": "x", "ranges": [], "include_line_numbers": false}));
    let search = call("2", "search", &query());
    running.client.write(format!(r#"[{own}, {search} ,{{"jsonrpc":"2.0","id":3,"method":"tools/list"}}]"#));
    let passed = running.servers[0].read();
    assert_eq!(passed, format!(r#"[{search},{{"jsonrpc":"2.0","id":3,"method":"tools/list"}}]"#));
    assert_eq!(running.client.read_json()["id"], 1);
    let large = encoded(&log());
    let answer = |text: &str, own: &str| {
        format!(
            r#"[{{"jsonrpc":"2.0","id":3,"result":{{"tools":[{own}]}}}} ,{{"jsonrpc":"2.0","id":2,"result":{{"content":[{{"type":"text","text":{text}}}]}}}}]"#
        )
    };
    let got = String::from_utf8(running.pass_to_client(answer(&large, ""))).unwrap();
    let both: Value = serde_json::from_str(&got).unwrap();
    let pruned = both[1]["result"]["content"][0]["text"].as_str().unwrap();
    assert!(pruned.contains("[tamis cut "), "{pruned}");
    assert_eq!(both[0]["result"]["tools"][0]["name"], "recover_text");
}

#[test]
fn two_hundred_requests_in_flight_are_answered() {
    let mut running = one();
    for id in 0..200 {
        running.client.write(call(&id.to_string(), "search", &query()));
    }
    let text = encoded(&log());
    // An answer to a request that has not come yet would be no answer.
    (0..200).for_each(|_| drop(running.servers[0].read()));
    for id in (0..200).rev() {
        let text = if id % 20 == 0 { text.as_str() } else { "\"small\"" };
        running.servers[0].write(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{text}}}]}}}}"#
        ));
    }
    let mut answered = [false; 200];
    for _ in 0..200 {
        let answer = running.client.read_json();
        let id = answer["id"].as_u64().unwrap() as usize;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert_eq!(text.contains("[tamis cut "), id.is_multiple_of(20), "{id}");
        assert!(!std::mem::replace(&mut answered[id], true), "{id} twice");
    }
}
