//! Messages over stdio and `/rpc`: every line that has an id or is no message gets one answer, which is JSON on one line.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use serde_json::value::RawValue;

fuzz_target!(|data: &[u8]| {
    for answer in tamis_server::fuzzing::answers_to(data) {
        assert!(!answer.contains('\n'), "one line");
        // The id is that of the request, digit for digit: it may be a number that no 64 bits can hold.
        let answer: BTreeMap<String, Box<RawValue>> =
            serde_json::from_str(&answer).expect("an answer is JSON");
        let part = |name: &str| -> Value { serde_json::from_str(answer[name].get()).expect("JSON") };
        assert_eq!(part("jsonrpc"), "2.0");
        assert!(part("error")["code"].is_i64() && part("error")["message"].is_string());
    }
});
