//! Messages over stdio and `/rpc`: every line that has an id or is no message gets one answer, which is JSON on one line.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for answer in tamis_server::fuzzing::answers_to(data) {
        assert!(!answer.contains('\n'), "one line");
        let answer: serde_json::Value = serde_json::from_str(&answer).expect("an answer is JSON");
        assert_eq!(answer["jsonrpc"], "2.0");
        assert!(answer["error"]["code"].is_i64() && answer["error"]["message"].is_string());
    }
});
