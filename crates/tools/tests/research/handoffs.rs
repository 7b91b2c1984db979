//! Artifacts: written on request, and resumed.

use serde_json::{Value, json};

use crate::fixture::Fixture;

fn files(fixture: &Fixture) -> usize {
    std::fs::read_dir(fixture.path("artifacts")).map_or(0, Iterator::count)
}

const MEMBERS: [&str; 9] = [
    "artifactPath",
    "constraints",
    "key_findings",
    "notes",
    "question",
    "references",
    "stale",
    "summary",
    "written",
];

fn members(answer: &Value) -> Vec<&str> {
    answer.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn artifact_writing_artifacts_are_only_written_when_requested_are_redacted_and_within_the_artifact_root() {
    let fixture = Fixture::new();
    let token = ["ghp", "_", "Zq7Lk2Xv9Rb4Tn8Wc1Yd6Hs3Jf5Pm0Ga2Ke4"].concat();
    fixture.write("shop/src/gateway.rs", &format!("pub fn call_gateway() {{\n    send(\"{token}\");\n}}\n"));
    let question = format!("How does call_gateway work with {token}?");
    let report = fixture.ask("research_codebase", json!({"question": question}));
    assert_eq!((files(&fixture), report.get("artifactPath")), (0, None));
    let report = fixture.ask("research_codebase", json!({"question": question, "artifact": true}));
    let path = std::path::PathBuf::from(report["artifactPath"].as_str().unwrap());
    assert_eq!((path.parent(), files(&fixture)), (Some(fixture.path("artifacts").as_path()), 1));
    let memo = std::fs::read_to_string(&path).unwrap();
    assert!(!memo.contains(&token));
    let mut at = 0;
    for heading in [
        "# Research Handoff",
        "## Question",
        "## Summary",
        "## Key Findings",
        "## References",
        "## Constraints / Budgets",
    ] {
        at += memo[at..].find(&format!("{heading}\n")).unwrap_or_else(|| panic!("{heading} in {memo}"));
    }
    assert!(memo.contains("- src/gateway.rs:"), "{memo}");
}

#[test]
fn findings_without_a_summary_are_kept() {
    let fixture = Fixture::new();
    for (name, value) in [
        ("key_findings", json!(["cents"])),
        ("references", json!(["src/prices.rs:2"])),
        ("notes", json!("n")),
    ] {
        for summary in [json!(null), json!(" ")] {
            let error = fixture
                .fail("create_handoff", json!({"question": "prices", "summary": summary, name: value}));
            assert_eq!(
                (&error["code"], &error["details"]["parameter"]),
                (&json!("invalid_parameter"), &json!("summary"))
            );
        }
    }
    assert_eq!(files(&fixture), 0);
}

#[test]
fn a_handoff_is_written_and_resumed() {
    let fixture = Fixture::new();
    let input = json!({
        "question": "Make prices exact",
        "summary": "parse_price drops cents. It should not.",
        "key_findings": ["parse_price takes whole numbers (src/prices.rs:2)"],
        "references": ["src/prices.rs:2", "src/gone.rs"],
        "notes": "Next: decimals.",
    });
    let handoff = fixture.ask("create_handoff", input.clone());
    assert_eq!(members(&handoff), MEMBERS);
    for name in ["question", "summary", "key_findings", "references", "notes"] {
        assert_eq!(handoff[name], input[name], "{name}");
    }
    assert_eq!(handoff["stale"], json!([{"reference": "src/gone.rs", "standing": "missing"}]));
    let memo = std::fs::read_to_string(handoff["artifactPath"].as_str().unwrap()).unwrap();
    let (_, constraints) = memo.split_once("## Constraints / Budgets\n").unwrap();
    for line in
        ["\n- limits: 50 files read, 1048576 bytes read, 2000 tokens, 30000 ms\n", "\n- timeouts: none\n"]
    {
        assert!(constraints.contains(line), "{line} in {memo}");
    }
    assert_eq!(fixture.ask("resume_handoff", json!({})), handoff, "the latest");
    assert_eq!(fixture.ask("resume_handoff", json!({"path": handoff["artifactPath"]})), handoff);
    // A question alone is researched.
    let researched = fixture.ask("create_handoff", json!({"question": "Where is parse_price implemented?"}));
    assert_eq!(members(&researched), MEMBERS);
    assert!(researched["references"][0].as_str().unwrap().starts_with("src/"), "{researched}");
    assert_eq!(files(&fixture), 2);
    assert_eq!(fixture.ask("resume_handoff", json!({"name": "make-prices"})), handoff);
    for (name, code) in [
        ("nothing-like-it", "handoff_not_found"),
        ("2", "ambiguous_handoff"),
        ("../shop/README.md", "outside_roots"),
        ("/etc/passwd", "outside_roots"),
    ] {
        assert_eq!(fixture.fail("resume_handoff", json!({"name": name}))["code"], code, "{name}");
    }
}

#[test]
fn without_a_handoff_there_is_none_to_resume() {
    assert_eq!(Fixture::new().fail("resume_handoff", json!({}))["code"], "handoff_not_found");
}
