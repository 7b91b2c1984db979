//! What redaction does to whole texts: what goes, what stays, and which mark replaces it.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::borrow::Cow;

use tamis_redact::{Redacted, Redactor};

fn redact(text: &str) -> Cow<'_, str> {
    Redactor::standard().redact(text)
}

const LINE: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";

fn title(which: &str) -> String {
    format!("-----{which} RSA {} KEY-----", "PRIVATE")
}

#[test]
fn each_line_of_a_private_key_goes_and_its_prefix_stays() {
    let (begin, end) = (title("BEGIN"), title("END"));
    for prefix in ["", "    ", "+", "> ", "src/key.pem:12:", "src/key.pem-12-", "    12→", "12\t"] {
        let text = format!(
            "{prefix}{begin}\r\n{prefix}{LINE}\r\n{prefix}AbCd12==\r\n{prefix}{end}\r\n{prefix}after"
        );
        let mark = "[redacted:private-key]";
        let expected =
            format!("{prefix}{begin}\r\n{prefix}{mark}\r\n{prefix}{mark}\r\n{prefix}{end}\r\n{prefix}after");
        assert_eq!(redact(&text), expected);
    }
}

#[test]
fn a_private_key_may_be_cut_off_or_written_in_one_line() {
    let (begin, end) = (title("BEGIN"), title("END"));
    let mark = "[redacted:private-key]";
    for (text, expected) in [
        (format!("{begin}\n{LINE}\n{LINE}\nthen words"), format!("{begin}\n{mark}\n{mark}\nthen words")),
        (format!("words\n{LINE}\n{LINE}\nAbCd12==\n{end}"), format!("words\n{mark}\n{mark}\n{mark}\n{end}")),
        (format!(r#""{begin}\n{LINE}\nAb1=\n{end}\n""#), format!(r#""{begin}\n{mark}\n{mark}\n{end}\n""#)),
        (
            format!("Proc-Type: 4\n{begin}\nProc-Type: 4,ENCRYPTED\n\n{LINE}\n{end}"),
            format!("Proc-Type: 4\n{begin}\nProc-Type: 4,ENCRYPTED\n\n{mark}\n{end}"),
        ),
    ] {
        assert_eq!(redact(&text), expected);
    }
}

#[test]
fn a_mention_of_a_private_key_stays() {
    let text = format!(
        "if line == \"{}\" {{\n    inside = true\n    next\n}}\nreturn found\n-----\nend",
        title("BEGIN")
    );
    assert!(matches!(redact(&text), Cow::Borrowed(_)));
}

#[test]
fn references_and_neighbours_stay() {
    assert_eq!(
        redact("config/prod.env:14:DB_PASSWORD=hunter2!\nsrc/auth/token.rs:45:    let token = next();\n"),
        "config/prod.env:14:DB_PASSWORD=[redacted:password]\nsrc/auth/token.rs:45:    let token = next();\n"
    );
    assert_eq!(
        redact("postgres://app:s3cret@db.internal:5432/app?sslmode=require"),
        "postgres://app:[redacted:url-password]@db.internal:5432/app?sslmode=require"
    );
}

#[test]
fn strings_in_strings_are_read_at_their_depth() {
    for depth in [0, 1, 3, 7] {
        let quote = format!("{}\"", "\\".repeat(depth));
        let text = format!(
            "{{{quote}password{quote}: {quote}hunter2!{quote}, {quote}user{quote}: {quote}bob1{quote}}}"
        );
        assert_eq!(redact(&text), text.replace("hunter2!", "[redacted:password]"));
    }
}

#[test]
fn long_tokens_go_to_their_end() {
    let token = "aB3dE5gH7jK9mN1pQ".repeat(600);
    assert_eq!(redact(&format!("SESSION_TOKEN={token}\nnext")), "SESSION_TOKEN=[redacted:token]\nnext");
    assert_eq!(redact(&format!("token: \"{token}\"\n")), "token: \"[redacted:token]\"\n");
    let secret = format!("sk-{}-{token}", "ant");
    assert_eq!(redact(&format!("use {secret} now")), "use [redacted:anthropic-key] now");
}

#[test]
fn a_key_announces_its_value() {
    let redactor = Redactor::standard();
    for (name, value, expected) in [
        ("password", "hunter2", "[redacted:password]"),
        ("apiKey", "9f86d081884c7d659a2feaa0c55ad015", "[redacted:key]"),
        ("commit", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"),
        ("password", "${DB_PASSWORD}", "${DB_PASSWORD}"),
        ("", "hunter2", "hunter2"),
        ("token", concat!("gh", "p_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"), "[redacted:github-token]"),
        ("text", "the password is Blu3-M00n-77", "the password is [redacted:password]"),
    ] {
        assert_eq!(redactor.redact_named(name, value), expected, "{name}");
    }
}

#[test]
fn redacted_values_were_redacted_whole() {
    let redacted = Redacted::from("PASSWORD=hunter2!");
    assert_eq!(redacted, "PASSWORD=[redacted:password]");
    assert_eq!(redacted.to_string(), redacted.as_str());
    assert_eq!(Redacted::from("PASSWORD=hunter2!".to_owned()), redacted);
    assert_eq!(
        Redacted::new(vec![Some("PASSWORD=hunter2!".to_owned())])[0].as_deref(),
        Some(redacted.as_str())
    );
    let read: Redacted = serde_json::from_str(r#""PASSWORD=hunter2!""#).unwrap();
    assert_eq!(read, redacted, "what is read may hold secrets");
    assert_eq!(serde_json::to_string(&redacted).unwrap(), r#""PASSWORD=[redacted:password]""#);
}
