//! Phase 3's acceptance scenarios: what an answer must be like, whatever it rests on.

use serde_json::json;
use tamis_codebase::RootError;
use tamis_research::{ResearchConstraints, ResearchError, ResearchRequest};

use crate::fixture::{Fixture, asking, research, secret, texts};

#[test]
fn locate_only() {
    let fixture = Fixture::new();
    let ask = || research(&fixture.researcher(), &asking("Where is parse_shop_config implemented?")).1;
    let answer = ask();
    assert_eq!(answer["locator"]["status"], "ok");
    let references = texts(&answer["locator"]["value"]["references"]);
    assert!(references[0].starts_with("src/config.rs:10"), "{references:?}");
    assert!(texts(&answer["synthesis"]["references"])[0].starts_with("src/config.rs"), "{answer}");
    // No large excerpts, and the same each time.
    let excerpts = texts(&answer["locator"]["value"]["key_findings"]);
    assert!(excerpts.iter().all(|text| text.len() <= 200 && !text.contains('\n')), "{excerpts:?}");
    assert_eq!(ask()["locator"]["value"], answer["locator"]["value"]);
}

#[test]
fn not_found() {
    let fixture = Fixture::new();
    let (_, answer) = research(&fixture.researcher(), &asking("Where is frobnicate_zyxwv implemented?"));
    for value in [&answer["locator"]["value"], &answer["synthesis"]] {
        assert_eq!(value["references"], json!([]), "{answer}");
        assert!(value["summary"].as_str().unwrap().to_lowercase().contains("not found"), "{answer}");
        assert_eq!(value["confidence"], "low");
    }
}

#[test]
fn scope_restriction() {
    let fixture = Fixture::new();
    let request =
        ResearchRequest { roots: vec!["tests".into()], ..asking("Where is serve_orders implemented?") };
    let (report, answer) = research(&fixture.researcher(), &request);
    let root = fixture.code().join("tests").canonicalize().unwrap();
    assert_eq!(answer["rootsSearched"], json!([root]));
    let text = serde_json::to_string(&report).unwrap();
    assert!(!text.contains("orders.rs"), "{text}");
    assert_eq!(answer["locator"]["value"]["references"], json!([]));
    // Folders outside of the roots are refused, without a word on what is there.
    for outside in ["/etc", "..", "../code-of-others"] {
        let request = ResearchRequest { roots: vec![outside.into()], ..asking("Where?") };
        let refused = fixture.researcher().research(&request, &tamis_codebase::StopSignal::never(), &|_| ());
        let refused = refused.unwrap_err();
        assert!(matches!(refused, ResearchError::Root(RootError::Outside { .. })), "{outside}: {refused}");
    }
}

#[test]
fn budget_pressure() {
    let fixture = Fixture::new();
    let ask = |max_files_read, max_bytes_read| {
        let constraints = ResearchConstraints {
            max_files_read: Some(max_files_read),
            max_bytes_read: Some(max_bytes_read),
            ..ResearchConstraints::default()
        };
        let question = asking("How does parse_shop_config work, and how do retries? Show examples.");
        research(&fixture.researcher(), &ResearchRequest { constraints, ..question }).1
    };
    for (files, bytes) in [(1, 1 << 20), (50, 60), (0, 0)] {
        let answer = ask(files, bytes);
        let used = &answer["run"]["used"];
        assert!(used["filesRead"].as_u64().unwrap() <= files && used["bytesRead"].as_u64().unwrap() <= bytes);
        let text = format!("{} {}", answer["synthesis"]["summary"], answer["synthesis"]["notes"]);
        assert!(text.contains("limit"), "{answer}");
        assert!(
            !texts(&answer["synthesis"]["references"]).is_empty(),
            "what was found without reading stays"
        );
    }
    let free = ask(50, 1 << 20);
    assert!(!free["synthesis"]["notes"].as_str().unwrap_or_default().contains("limit"), "{free}");
}

#[test]
fn redaction() {
    let fixture = Fixture::new();
    let text = format!("pub fn call_gateway() {{\n    let token = \"{}\";\n    send(token);\n}}\n", secret());
    fixture.write("src/gateway.rs", &text);
    let question = "How does call_gateway work? Show examples of call_gateway and its token.";
    let (report, answer) = research(&fixture.researcher(), &asking(question));
    assert!(!serde_json::to_string(&report).unwrap().contains(&secret()));
    assert!(texts(&answer["locator"]["value"]["references"])[0].starts_with("src/gateway.rs"), "{answer}");
}
