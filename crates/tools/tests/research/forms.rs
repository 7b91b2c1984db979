//! Phase 3: every answer has the form of the contract.

use std::sync::Arc;

use serde_json::{Value, json};
use tamis_research::{Confidence, ResearchFinding, Researcher, Role, RoleError, RoleErrorKind};
use tamis_testkit::{assert_outcome, assert_report};
use tamis_tools::{Research, Toolset};

use crate::fixture::{Fixture, FnRoles, call};

/// The tools that answer with a report, with the keys that it has beside those that every report has.
const REPORTING: [(&str, &[&str]); 4] = [
    ("research_codebase", &["locator", "analyzer", "synthesis"]),
    ("locate_in_codebase", &["locator"]),
    ("find_patterns", &["patterns"]),
    ("analyze_component", &["analyzer"]),
];

fn keys(report: &Value) -> Vec<&str> {
    let common = ["question", "rootsSearched", "run"];
    let mut keys: Vec<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
    keys.retain(|key| !common.contains(key));
    keys
}

#[test]
fn schema_validation_every_tool_response_conforms_with_no_extra_or_missing_fields() {
    let fixture = Fixture::new();
    let questions = [
        "Where is parse_price implemented?",
        "How does parse_price work?",
        "Where is frobnicate_zyxwv?",
        "日本語 \u{0} \"quotes\"",
    ];
    for (tool, expected) in REPORTING {
        for question in questions {
            let report = fixture.ask(tool, json!({"question": question}));
            assert_report(&report);
            let mut keys = keys(&report);
            keys.sort_by_key(|key| expected.iter().position(|expected| expected == key));
            assert_eq!(keys, expected, "{tool}: {question}");
            assert!(report.to_string().len() <= 8000, "{tool}: {question}");
        }
    }
    let report = fixture
        .ask("research_codebase", json!({"question": "Show examples of parse_price", "artifact": true}));
    assert_report(&report);
    assert!(report["patterns"].is_object() && report["artifactPath"].is_string(), "{report}");
}

#[test]
fn schema_validation_holds_however_a_role_ends() {
    let fixture = Fixture::new();
    let finding = ResearchFinding {
        summary: "Here".into(),
        references: vec!["src/main.rs:1".to_owned().into()],
        key_findings: vec![],
        not_found: None,
        confidence: Confidence::Med,
        notes: vec![],
    };
    for kind in [
        RoleErrorKind::Timeout,
        RoleErrorKind::Canceled,
        RoleErrorKind::ProviderError,
        RoleErrorKind::Refused,
    ] {
        let finding = finding.clone();
        let roles = FnRoles(move |task: &tamis_research::RoleTask<'_>| match task.role {
            Role::Locator => Ok(finding.clone()),
            _ => Err(RoleError::new(kind, "it went wrong")),
        });
        let research =
            Research::new(Arc::new(Researcher::with_custom_roles(fixture.settings(), Arc::new(roles))));
        let (report, is_error) = call(research, "research_codebase", json!({"question": "where?"}));
        assert!(!is_error);
        assert_report(&report);
        assert_outcome(&report["analyzer"], "analyzer");
        assert_eq!(report["analyzer"]["status"], kind.status());
    }
    let panicking = FnRoles(|_: &tamis_research::RoleTask<'_>| -> Result<ResearchFinding, RoleError> {
        panic!("as it should")
    });
    let research =
        Research::new(Arc::new(Researcher::with_custom_roles(fixture.settings(), Arc::new(panicking))));
    let (report, is_error) = call(research, "research_codebase", json!({"question": "where?"}));
    assert!(!is_error);
    assert_report(&report);
    assert_eq!(report["locator"]["error"]["name"], "InternalError");
}

#[test]
fn redaction_holds_in_every_tool_and_references_stay() {
    let fixture = Fixture::new();
    let token = ["ghp", "_", "Zq7Lk2Xv9Rb4Tn8Wc1Yd6Hs3Jf5Pm0Ga2Ke4"].concat();
    fixture.write("shop/src/gateway.rs", "pub fn call_gateway(token: &str) {\n    send(token);\n}\n");
    for name in ["orders", "payments"] {
        let text = format!("pub fn send_{name}() {{\n    call_gateway(\"{token}\");\n}}\n");
        fixture.write(&format!("shop/src/{name}.rs"), &text);
    }
    for (tool, _) in REPORTING {
        let report = fixture.ask(tool, json!({"question": "examples of call_gateway token"}));
        assert!(!report.to_string().contains(&token), "{tool}");
        assert!(
            ["gateway", "orders"].iter().any(|name| report.to_string().contains(&format!("src/{name}.rs:"))),
            "{tool}: {report}"
        );
    }
    assert_eq!(Toolset::named("research"), Some(Toolset::Research));
}
