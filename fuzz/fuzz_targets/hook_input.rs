//! Hook calls and logs of any form: a reply is JSON, and what is shown in place of an output is made of its lines.
#![no_main]

use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use tamis_clients::Client;
use tamis_hook::Hook;
use tamis_sieve::{Sieve, SieveSettings, is_marker};
use tamis_store::DataDir;

// A letter for the client, the log, a zero byte, the call.
fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    let client = Client::ALL[usize::from(*first) % Client::ALL.len()];
    let zero = rest.iter().position(|byte| *byte == 0).unwrap_or(0);
    let (log, call) = (&rest[..zero], String::from_utf8_lossy(&rest[zero..]));
    let call = call.trim_start_matches('\0');
    let folder = tempfile::tempdir().expect("a folder");
    let settings = SieveSettings::without_store(2_000_000);
    let sieve = Sieve::new(SieveSettings {
        data_dir: Some(DataDir::at(folder.path().join("data"))),
        recovery_ttl: Duration::from_secs(3_600),
        recovery_max_bytes: 1 << 24,
        ledger_keep: Duration::from_secs(3_600),
        ..settings
    });
    let path = folder.path().join("project/chats/log.jsonl");
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    std::fs::write(&path, log).expect("a log");
    let mut call: Value = serde_json::from_str(call).unwrap_or_else(|_| json!(call));
    if call.is_object() {
        call["transcript_path"] = json!(path);
    }
    let deadline = Instant::now() + Duration::from_secs(60);
    let hook = Hook {
        client,
        sieve: &sieve,
        calls: None,
        min_chars: 100,
        skip_tools: &[],
        redacts: false,
        log_deadline: Instant::now(),
        now: std::time::SystemTime::now(),
        deadline,
    };
    let result = hook.run(&call.to_string());
    let shown = result.reply.as_ref().and_then(|reply| {
        reply["hookSpecificOutput"]["updatedToolOutput"]["stdout"].as_str().or(reply["output"].as_str())
    });
    let printed = call["tool_response"]["stdout"].as_str().or(call["tool_response"].as_str());
    if let (Some(shown), Some(printed)) = (shown, printed) {
        for line in shown.split('\n').filter(|line| !is_marker(line)) {
            assert!(printed.split('\n').any(|was| was == line), "{line}");
        }
    }
});
