//! Phase 3: what an answer looks like.

use std::sync::{Arc, Barrier};

use serde_json::{Value, json};
use tamis_codebase::StopSignal;
use tamis_research::{NoteFact, Reference, ResearchConstraints, ResearchRequest, Role};

use crate::fixture::{Fixture, Roles, asking, finding, research, secret, texts};

#[test]
fn synthesizer_ordering_determinism_same_inputs_produce_stable_ordering_and_deduplication() {
    let fixture = Fixture::new();
    let question = asking("Show examples of retries");
    let mut answers: Vec<Value> = Vec::new();
    for last in [Role::Analyzer, Role::Patterns] {
        // One of them ends only when the other one has.
        let both = Arc::new(Barrier::new(2));
        let mut roles = Roles::default()
            .finding(Role::Locator, finding("Two files", &["src/orders.rs", "src/payments.rs"], &[]));
        for (role, stated) in [
            (
                Role::Analyzer,
                finding("It retries", &["src/payments.rs:1", "src/orders.rs:6"], &["retry_payment: 5"]),
            ),
            (
                Role::Patterns,
                finding("Two ways", &["src/orders.rs:6", "src/payments.rs:1"], &["src/orders.rs:6 retries"]),
            ),
        ] {
            let both = Arc::clone(&both);
            roles = roles.with(role, move |_| {
                both.wait();
                if role == last {
                    std::thread::yield_now();
                }
                Ok(stated.clone())
            });
        }
        let (_, answer) = research(&fixture.with(roles), &question);
        answers.push(answer["synthesis"].clone());
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(texts(&answers[0]["references"]), ["src/orders.rs:6", "src/payments.rs:1"]);
}

#[test]
fn compaction_budget_outputs_stay_within_limits_and_truncate_with_explicit_notes() {
    let fixture = Fixture::new();
    let many: Vec<String> = (1..=24).map(|line| format!("src/folder_{line}/orders.rs:{line}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let long: Vec<String> =
        (0..16).map(|number| format!("{number}: {}", "retries again ".repeat(30))).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let stated = finding(&"It retries. ".repeat(60), &many, &long);
    let mut roles = Roles::default();
    for role in [Role::Locator, Role::Analyzer, Role::Patterns] {
        roles = roles.finding(role, stated.clone());
    }
    let researcher = fixture.with(roles);
    for max_tokens in [400, 800, 2000, 4000] {
        let constraints =
            ResearchConstraints { max_tokens: Some(max_tokens), ..ResearchConstraints::default() };
        let (report, answer) =
            research(&researcher, &ResearchRequest { constraints, ..asking("examples of retries") });
        let tokens = serde_json::to_string(&report).unwrap().len().div_ceil(4) as u64;
        assert!(tokens <= max_tokens, "{tokens} of {max_tokens}");
        let notes = answer["synthesis"]["notes"].as_str().unwrap();
        assert!(notes.contains(&format!("limit of {max_tokens} tokens")), "{notes}");
        assert!(!texts(&answer["synthesis"]["references"]).is_empty());
    }
    // A limit too small for all sections holds too.
    for role in [None, Some(Role::Locator), Some(Role::Analyzer)] {
        for max_tokens in [150, 200, 300] {
            let constraints =
                ResearchConstraints { max_tokens: Some(max_tokens), ..ResearchConstraints::default() };
            let request = ResearchRequest { constraints, role, ..asking("examples of retries") };
            let report = researcher.research(&request, &StopSignal::never(), &|_| ()).unwrap().into_inner();
            let text = serde_json::to_string(&report).unwrap();
            assert!(text.len().div_ceil(4) as u64 <= max_tokens, "{} of {max_tokens}: {text}", text.len());
            let answer: Value = serde_json::from_str(&text).unwrap();
            let key = role.map_or("locator", Role::key);
            assert!(!texts(&answer[key]["value"]["references"]).is_empty(), "{text}");
        }
    }
    // By default the limit is 2,000.
    let (report, _) = research(&researcher, &asking("examples of retries"));
    assert!(serde_json::to_string(&report).unwrap().len() <= 8000);
}

#[test]
fn redaction_known_secret_patterns_are_removed_from_outputs_while_preserving_references() {
    let fixture = Fixture::new();
    let jwt = [
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
        "eyJzdWIiOiIxMjM0NTY3ODkwIn0",
        "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    ]
    .join(".");
    let url = ["https://shop:", "tr0ub4dor3x", "@db.example/orders"].concat();
    let secrets = [secret(), jwt, url.clone()];
    let stated = secrets.join(" and ");
    let mut leaking = finding(&stated, &["src/orders.rs:2"], &[&format!("src/orders.rs:2 has {stated}")]);
    leaking.notes = vec![NoteFact::Text(stated.clone()).into()];
    let roles = Roles::default().finding(Role::Locator, leaking.clone()).with(Role::Analyzer, move |_| {
        Err(tamis_research::RoleError::new(tamis_research::RoleErrorKind::ProviderError, stated.clone()))
    });
    let (report, answer) = research(&fixture.with(roles), &asking(&format!("What is {}?", secrets[0])));
    let text = serde_json::to_string(&report).unwrap();
    for secret in &secrets {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert!(!text.contains("tr0ub4dor3x"));
    assert_eq!(texts(&answer["locator"]["value"]["references"]), ["src/orders.rs:2"]);
    assert!(texts(&answer["synthesis"]["key_findings"])[0].starts_with("src/orders.rs:2 has [redacted:"));
}

#[test]
fn a_memo_says_once_that_a_role_ran_out_of_time() {
    let fixture = Fixture::new();
    let late = |_: &tamis_research::RoleTask<'_>| {
        Err(tamis_research::RoleError::new(tamis_research::RoleErrorKind::Timeout, "the deadline passed"))
    };
    for roles in [
        Roles::default().with(Role::Locator, late).with(Role::Analyzer, late),
        Roles::default().with(Role::Analyzer, late),
    ] {
        let request = ResearchRequest { artifact: true, ..asking("Where is parse_shop_config?") };
        let (report, _) = research(&fixture.with(roles), &request);
        let memo = std::fs::read_to_string(report.artifact_path.unwrap()).unwrap();
        for role in ["locator", "analyzer"] {
            assert!(memo.matches(&format!("{role} ran out of time")).count() <= 1, "{memo}");
        }
        assert!(memo.contains("analyzer ran out of time"), "{memo}");
    }
}

#[test]
fn reference_formatting_file_references_are_path_and_line_and_never_full_dumps() {
    let fixture = Fixture::new();
    let (report, answer) =
        research(&fixture.researcher(), &asking("How does parse_shop_config work? Show examples."));
    let mut with_line = 0;
    for part in ["locator", "analyzer", "patterns"] {
        for reference in texts(&answer[part]["value"]["references"]) {
            assert!(fixture.has(reference), "{part}: {reference}");
            with_line += usize::from(Reference::from(reference.to_owned()).split().1.is_some());
        }
    }
    assert!(with_line > 0, "{answer}");
    let text = serde_json::to_string(&report).unwrap();
    let whole = std::fs::read_to_string(fixture.code().join("src/config.rs")).unwrap();
    let dumped = serde_json::to_string(&whole).unwrap();
    assert!(!text.contains(dumped.trim_matches('"')));
}

#[test]
fn answers_under_tight_limits_do_not_depend_on_which_role_was_first() {
    let fixture = Fixture::new();
    for number in 0..12 {
        let text = format!(
            "pub fn retry_{number}(attempt: u32) -> bool {{\n    retry_order(attempt) && attempt < {number}\n}}\n"
        );
        fixture.write(&format!("src/more/retry_{number}.rs"), &text);
    }
    let researcher = fixture.researcher();
    for most in [1, 3, 6, 9] {
        let constraints = ResearchConstraints {
            max_files_read: Some(most),
            max_tokens: Some(20_000),
            ..ResearchConstraints::default()
        };
        let request = ResearchRequest {
            constraints,
            ..asking("Show examples of how `retry_order` attempts are retried")
        };
        let ask = || {
            let mut answer = research(&researcher, &request).1;
            answer["run"]["elapsedMs"] = json!(0);
            for role in ["locator", "analyzer", "patterns"] {
                answer[role]["timing"] = json!(null);
            }
            answer
        };
        let first = ask();
        for _ in 0..25 {
            assert_eq!(ask(), first, "{most} files");
        }
    }
}
