//! What a gateway does not change: every message, in both directions, byte for byte.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use common::{PATIENCE, one};
use proptest::prelude::*;
use tamis_gateway::GatewayError;

/// Messages of both protocol eras that clients send.
const FROM_CLIENT: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":"server-discover","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"method":"ping","id":1.0,"jsonrpc":"2.0"}"#,
    r#"{"jsonrpc":"2.0","id":12345678901234567890,"method":"resources/list"}"#,
    r#"{"jsonrpc":"2.0","id":"caf\u00e9 é \ud83d\ude00","method":"prompts/get","params":{"name":"p","arguments":{}}}"#,
    r#"{"jsonrpc":"2.0","id":-3e2,"method":"resources/read","params":{"uri":"file:///a","_meta":{"progressToken":"t","x":[1.10,2]}}}"#,
    r#"{ "jsonrpc" : "2.0" , "id" : 7 , "method" : "tools\/call" , "params" : { "name" : "t" , "arguments" : { "n" : 1.000 , "big" : 123456789012345678901234567890 } } } "#,
    r#"{"jsonrpc":"2.0","id":8,"method":"resources/subscribe","params":{"uri":"x://y"}}"#,
    r#"{"jsonrpc":"2.0","id":9,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"b"}}}"#,
    r#"{"jsonrpc":"2.0","id":10,"method":"logging/setLevel","params":{"level":"debug"}}"#,
    r#"{"jsonrpc":"2.0","id":11,"method":"x/unknown","params":[1,null,{}],"extra":{"kept":true}}"#,
    r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5,"progress":0.5,"total":1,"message":"half"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"changed my mind"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///r"}]}}"#,
    r#"{"jsonrpc":"2.0","id":2,"result":{"role":"assistant","content":{"type":"text","text":"sampled"},"model":"m","stopReason":"endTurn"}}"#,
    r#"{"jsonrpc":"2.0","id":"e-1","result":{"action":"accept","content":{"name":"x"}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"User rejected","data":null}}"#,
    r#"[{"jsonrpc":"2.0","id":21,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"}]"#,
    r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":30,"method":"tools/list","params":{"cursor":"c"}}"#,
    "not json at all",
    "",
    "   ",
    "{\"jsonrpc\":\"2.0\",\"id\":31,\"method\":\"ping\"}\r",
];

/// Messages that servers send.
const FROM_SERVER: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"},"instructions":"i"}}"#,
    r#"{"jsonrpc":"2.0","id":"server-discover","result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"private"}}"#,
    r#"{"result":{},"id":1.0,"jsonrpc":"2.0"}"#,
    r#"{"jsonrpc":"2.0","id":12345678901234567000,"result":{"resources":[]}}"#,
    r#"{"jsonrpc":"2.0","id":"café \u00e9 😀","result":{"messages":[{"role":"user","content":{"type":"text","text":"a\u2028b"}}]}}"#,
    r#"{"jsonrpc":"2.0","id":-300,"error":{"code":-32002,"message":"Resource not found","data":{"uri":"file:///a"}}}"#,
    r#"{"jsonrpc":"2.0","id":8,"result":null}"#,
    r#"{"jsonrpc":"2.0","id":11,"error":{"code":-32601,"message":"Method not found"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":10,"_meta":{"progressToken":0}}}"#,
    r#"{"jsonrpc":"2.0","id":"e-1","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":99,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1e-1}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"a":[1,2,3]}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x://y"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#,
    r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"late"}],"_meta":{"a":1.0,"a":2}}}"#,
    r#"{"jsonrpc":"2.0","id":31337,"result":{"content":[]}}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
    r#"[{"jsonrpc":"2.0","id":21,"result":{}},{"jsonrpc":"2.0","method":"notifications/x"}]"#,
    r#"{"jsonrpc":"2.0","id":10,"result":{},"result":{}}"#,
    "Server started on stdio",
    "",
    "{\"jsonrpc\":\"2.0\",\"id\":31,\"result\":{}}\r",
];

#[test]
fn every_kind_of_message_passes_byte_for_byte() {
    let mut running = one();
    for line in FROM_CLIENT {
        let passed = running.pass_to_server(line);
        assert_eq!(String::from_utf8_lossy(&passed), *line);
    }
    for line in FROM_SERVER {
        let passed = running.pass_to_client(line);
        assert_eq!(String::from_utf8_lossy(&passed), *line);
    }
}

#[test]
fn bytes_that_are_no_text_pass() {
    let mut running = one();
    let odd = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}\0\x1b";
    assert_eq!(running.pass_to_server(odd), odd);
    assert_eq!(running.pass_to_client(odd), odd);
}

/// Any JSON, with odd white space, escapes and numbers.
fn any_json() -> impl Strategy<Value = String> {
    let string = "[a-z \u{e9}\u{1f600}]{0,12}".prop_map(|text| format!("\"{text}\\u00e9\\n\""));
    let key = prop::sample::select(vec![
        "id", "method", "params", "result", "error", "jsonrpc", "tools", "content", "text", "name", "_meta",
        "x",
    ]);
    let method = prop::sample::select(vec![
        "\"tools/call\"",
        "\"tools/list\"",
        "\"initialize\"",
        "\"notifications/cancelled\"",
        "\"ping\"",
    ]);
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("1.0".to_owned()),
        Just("1".to_owned()),
        Just("-0e7".to_owned()),
        Just("12345678901234567890123".to_owned()),
        method.prop_map(str::to_owned),
        string,
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        let space = prop::sample::select(vec!["", " ", "\t", "  "]);
        let members = prop::collection::vec((key.clone(), inner.clone(), space), 0..6);
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(|items| format!("[{}]", items.join(" ,"))),
            members.prop_map(|members| {
                let members: Vec<_> = members
                    .iter()
                    .map(|(name, value, space)| format!("{space}\"{name}\":{space}{value}"))
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_json_passes_unchanged(lines in prop::collection::vec(any_json(), 1..20), bytes in any::<Vec<u8>>()) {
        let mut running = one();
        for line in &lines {
            // A call of the gateway's own tool is its only message that does not pass.
            prop_assert_eq!(String::from_utf8(running.pass_to_server(line)).unwrap(), line.as_str());
        }
        let bytes: Vec<u8> = bytes.into_iter().filter(|byte| *byte != b'\n').collect();
        prop_assert_eq!(running.pass_to_server(&bytes), bytes.as_slice());
        prop_assert_eq!(running.pass_to_client(&bytes), bytes.as_slice());
        for line in &lines {
            let passed = String::from_utf8(running.pass_to_client(line)).unwrap();
            // An answer to `tools/list` gets a tool more.
            let own = passed.contains("recover_text");
            prop_assert!(own || passed == *line, "{} became {}", line, passed);
        }
    }
}

#[test]
fn messages_of_any_size_pass() {
    let mut running = one();
    let large = "x".repeat(17 << 20);
    let request = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"text":"{large}"}}}}"#);
    let response = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"text":"{large}"}}}}"#);
    assert!(running.pass_to_server(&request) == request.as_bytes());
    assert!(running.pass_to_client(&response) == response.as_bytes());
    assert_eq!(
        running.exchange(r#"{"id":2,"method":"ping"}"#, r#"{"id":2,"result":{}}"#),
        r#"{"id":2,"result":{}}"#
    );
}

#[test]
fn a_client_that_closes_its_end_still_gets_answers() {
    let mut running = one();
    running.pass_to_server(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    running.client.close();
    // The server's input is closed.
    assert!(running.servers[0].lines.recv_timeout(PATIENCE).is_err());
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    assert_eq!(running.pass_to_client(answer), answer.as_bytes());
    running.servers[0].close();
    assert!(running.end().is_ok());
}

#[test]
fn requests_in_flight_get_an_error_when_the_server_ends() {
    let mut running = one();
    for id in ["1", "\"two\"", "3.0"] {
        running.pass_to_server(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
    }
    running.pass_to_client(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    // What it wrote before its end is passed on, with or without a newline.
    use std::io::Write;
    running.servers[0]
        .input
        .as_mut()
        .unwrap()
        .write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"last\"}\n")
        .unwrap();
    running.servers[0].close();
    assert_eq!(running.client.read(), r#"{"jsonrpc":"2.0","method":"last"}"#);
    let mut failed = [running.client.read(), running.client.read()];
    failed.sort();
    let error = r#""error":{"code":-32603,"message":"the MCP server `server` closed its output"}}"#;
    assert_eq!(
        failed,
        [
            format!(r#"{{"jsonrpc":"2.0","id":"two",{error}"#),
            format!(r#"{{"jsonrpc":"2.0","id":3.0,{error}"#)
        ]
    );
    let ended = running.end();
    assert!(matches!(ended, Err(GatewayError::ServerEnded { .. })), "{ended:?}");
}
