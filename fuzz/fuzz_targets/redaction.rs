//! Redaction: done twice changes nothing, lines stay in place, and JSON stays JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tamis_redact::{Redactor, redact_json};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let redactor = Redactor::standard();
    let redacted = redactor.redact(&text);
    assert_eq!(redactor.redact(&redacted), redacted, "redacted twice");
    assert_eq!(redacted.matches('\n').count(), text.matches('\n').count(), "lines");
    if let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) {
        let redacted = redact_json(value, &[]).into_inner();
        let again = redact_json(redacted.clone(), &[]).into_inner();
        assert_eq!(again, redacted, "JSON redacted twice");
    }
});
