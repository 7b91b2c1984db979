//! Parts of long texts: bounded, marked where they are cut, and without any part of a secret.

use serde_json::{Value, json};
use tamis_redact::{Redacted, excerpt, excerpt_around};

/// Put together here, so that no scanner takes this file for a leak.
fn token() -> String {
    format!("{}_{}", "ghp", "a8Kd0sQ2mX7vB4nZ1cL6pR9tY3wE5uJ0hG2f")
}

#[test]
fn the_start_of_a_text_is_cut_after_redaction() {
    let text = format!("{} {} after", "x".repeat(180), token());
    for max_chars in 150..260 {
        let shown = excerpt(&text, max_chars);
        assert!(shown.chars().count() <= max_chars);
        assert!(!shown.contains("a8Kd"), "{max_chars}: {shown}");
        assert_eq!(shown, Redacted::from(text.as_str()).shorten(max_chars));
    }
    assert!(excerpt(&text, 300).ends_with("[redacted:github-token] after"));
    assert_eq!((excerpt("ééé", 3), excerpt("éééé", 3)), (Redacted::from("ééé"), Redacted::from("éé…")));
    assert_eq!(excerpt("all", usize::MAX), "all");
}

#[test]
fn an_excerpt_of_many_secrets_is_filled_and_sees_each_of_them_whole() {
    // Marks are shorter than what they replace, so far more of the text is needed than is shown.
    let long = format!("token={}", "aB3dE5gH7jK9mN1pQ".repeat(300));
    let text = vec![long; 40].join("\n");
    let shown = excerpt(&text, 400);
    assert_eq!(shown, Redacted::from(text.as_str()).shorten(400));
    assert!(!shown.contains("aB3dE5"), "{shown}");
}

#[test]
fn a_match_is_shown_without_the_secret_beside_it() {
    let secret = token();
    for gap in 20..80 {
        let text = format!(
            "{} token {secret}{} needle {}",
            "x ".repeat(400),
            " y".repeat(gap / 2),
            "y ".repeat(400)
        );
        let (shown, at) = excerpt_around(&text, text.find("needle").unwrap_or(0), 75, 300);
        assert!(shown[at..].starts_with("needle"), "{gap}: {shown}");
        assert!(
            shown.starts_with('…') && shown.ends_with('…') && shown.chars().count() == 300,
            "{gap}: {shown}"
        );
        for length in 6..secret.len() {
            assert!(!shown.contains(&secret[secret.len() - length..]), "{gap}: {shown}");
        }
    }
}

#[test]
fn a_match_in_a_secret_is_at_its_mark() {
    let text = format!("use {} now", token());
    assert_eq!(excerpt_around(&text, 12, 75, 300), (Redacted::from("use [redacted:github-token] now"), 4));
    assert_eq!(excerpt_around("short needle", 6, 75, 300), (Redacted::from("short needle"), 6));
    assert_eq!(excerpt_around("short needle", 6, 3, 5), (Redacted::from("…rt …"), 6));
}

#[test]
fn the_edges_of_what_is_read_are_not_shown() {
    // A key that begins far before the match is known only when its beginning is read.
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n";
    let text = format!(
        "{}-----BEGIN {} KEY-----\n{}\nneedle {}",
        "w ".repeat(9000),
        "PRIVATE",
        line.repeat(60),
        "w ".repeat(9000)
    );
    let (shown, _) = excerpt_around(&text, text.find("needle").unwrap_or(0), 75, 300);
    assert!(shown.contains("needle") && !shown.contains("VJTUt9"), "{shown}");
}

#[test]
fn long_json_is_cut_at_its_texts() {
    let shorten = |value: Value| Redacted::new(value).shorten(100);
    let shown = shorten(json!({"content": "c".repeat(5000), "file_path": "/repo/src/main.rs"}));
    assert_eq!(shown["file_path"], "/repo/src/main.rs");
    assert!(shown.to_string().len() < 200, "{shown}");
    let many: Value = (0..5000).map(|number| json!({"name": number})).collect();
    assert!(shorten(many).to_string().chars().count() <= 202);
    assert_eq!(*shorten(json!({"a": 1})), json!({"a": 1}));
}

#[test]
fn a_row_far_below_the_names_of_its_table_is_redacted() {
    for (names, row) in [
        ("user,password,role", "bob@,hunter@!,admin"),
        ("| user | note | password |\n| --- | --- | --- |", "| bob@ | \"x\" | hunter@! |"),
        ("user\tpassword", "bob@|x\thunter@!"),
        ("user, password", "bob@, hunter@!"),
        ("user,note,password", "bob@,\"a, b\",hunter@!"),
    ] {
        let rows: String = (0..9000)
            .map(|number| match number {
                3000 => "odd\n".to_owned(),
                5000 => row.replace('@', "_needle") + "\n",
                _ => row.replace('@', &number.to_string()) + "\n",
            })
            .collect();
        let text = format!("before\n\n{names}\n{rows}\nafter");
        let place = text.find("bob_needle").expect("it is in the text");
        let (shown, at) = excerpt_around(&text, place, 75, 300);
        assert!(shown[at..].starts_with("bob_needle"), "{shown}");
        assert!(!shown.contains("hunter") && shown.contains("[redacted:password]"), "{shown}");
        assert!(!shown.contains("user"), "{shown}");
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.chars().count() == 300, "{shown}");
    }
    // Other tables are shown as they are.
    let rows = "bob,hunter2!,admin\n".repeat(9000);
    let (shown, _) = excerpt_around(&format!("user,comment,role\n{rows}"), 90_000, 75, 300);
    assert!(shown.contains("hunter2!"), "{shown}");
}
