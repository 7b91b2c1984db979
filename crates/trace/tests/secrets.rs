//! A search must not tell anything of a secret that its answers hide: not by what it finds, nor by where, nor by what it
//! counts.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod session;

use std::time::Duration;

use serde_json::json;
use session::{Log, Opened};
use tamis_trace::{CompiledQuery, SearchRequest, TraceSearchMode};

const TOKEN: &str = "a8Kd0sQ2mX7vB4nZ1cL6pR9tY3wE5uJ0hG2f";
const OTHER: &str = "Zq7Lk2Xv9Rb4Tn8WHs1Yd6Gm3Cj5Fp0Aw7Ue";

/// A session that has the token in each kind of text.
fn session_with(token: &str) -> Opened {
    let token = format!("ghp_{token}");
    Log::default()
        .user(&format!("use {token} for the deploy, and zebra stripes"))
        .says(&format!("exported GITHUB_TOKEN={token}"))
        .call(
            "Bash",
            json!({"command": format!("git push https://{token}@github.com/o/r"), "password": token}),
        )
        .gets(&format!("Authorization: Bearer {token}\r\nzebra"))
        .open()
}

/// Everything that callers get to see of an answer.
fn answer(opened: &Opened, query: &str, mode: TraceSearchMode) -> String {
    let search = SearchRequest { query: query.to_owned(), mode, most: 50, ..SearchRequest::default() };
    let Ok(found) = opened.trace.search(&search, Duration::from_secs(60), &|| false) else {
        return "error".to_owned();
    };
    let finder = CompiledQuery::of(&search).unwrap();
    let shown =
        |found: &tamis_trace::SearchMatch| (found.place.event, found.payload(), found.excerpt(&finder, 60));
    format!("{:?} {}", found.matches.iter().map(shown).collect::<Vec<_>>(), found.more)
}

#[test]
fn halving_does_not_read_out_a_token() {
    let opened = session_with(TOKEN);
    let mut known = String::new();
    for _ in 0..TOKEN.len() {
        let mut candidates: Vec<char> = ('0'..='9').chain('A'..='Z').chain('a'..='z').collect();
        let nothing = answer(&opened, "ghp_never", TraceSearchMode::Regex);
        while candidates.len() > 1 {
            let (one, other) = candidates.split_at(candidates.len() / 2);
            let half: String = one.iter().collect();
            let found =
                answer(&opened, &format!("(?-i)ghp_{known}[{half}]"), TraceSearchMode::Regex) != nothing;
            candidates = if found { one.to_vec() } else { other.to_vec() };
        }
        known.extend(candidates);
    }
    let read = known.chars().zip(TOKEN.chars()).take_while(|(read, real)| read == real).count();
    assert!(read <= 2, "{read} characters of the token were read out: {known}");
}

#[test]
fn answers_do_not_depend_on_a_secret() {
    let (one, other) = (session_with(TOKEN), session_with(OTHER));
    let regexes = [
        "ghp_a8Kd",
        "ghp_.8",
        "a8Kd0s|zebra",
        "a8Kd0s|redacted",
        "^use ghp_a",
        "(?-i)[a-z]8K",
        "Bearer ghp_a8",
        "a8Kd.{10,}",
        ".",
        "zebra",
        "^use .{1} for",
        "use .{40} for",
        r"use \S+ for",
        r"Kd0sQ2mX7v.*zebra",
        "password",
        "redacted",
        "github-token",
        "\u{FFFF}",
    ];
    let words = [
        "ghp_a8Kd0sQ2mX7vB4nZ1cL6pR9tY3wE5uJ0hG2f",
        "use",
        "use zebra",
        "GITHUB_TOKEN",
        "deploy",
        "redacted",
    ];
    let texts = [
        "a", "8", "a8", "Kd0s", "ghp_", "ghp_a8Kd", "2f for", "use ", "zebra", "0hG2f\r", "redacted", "token",
    ];
    let queries = regexes
        .map(|query| (query, TraceSearchMode::Regex))
        .into_iter()
        .chain(words.map(|query| (query, TraceSearchMode::Words)))
        .chain(texts.map(|query| (query, TraceSearchMode::Substring)));
    for (query, mode) in queries {
        assert_eq!(answer(&one, query, mode), answer(&other, query, mode), "{query} {mode:?}");
    }
    assert!(answer(&one, "zebra", TraceSearchMode::Substring).contains("[redacted:github-token]"));
    assert!(answer(&one, "use zebra", TraceSearchMode::Words).contains("stripes"), "what is shown is found");
}
