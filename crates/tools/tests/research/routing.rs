//! Phase 1: which tools there are, and how calls find them.

use serde_json::json;
use tamis_testkit::assert_plain_schema;
use tamis_tools::{Access, Progress, Reply};

use crate::fixture::{Fixture, context, registry, reply};

const NAMES: [&str; 8] = [
    "ping",
    "list_roots",
    "research_codebase",
    "locate_in_codebase",
    "find_patterns",
    "analyze_component",
    "create_handoff",
    "resume_handoff",
];

#[test]
fn server_boots_with_minimal_config_and_registers_expected_tool_names() {
    let registry = registry();
    let names: Vec<&str> = registry.list(Access::Full).map(|tool| tool.name).collect();
    assert_eq!(names, NAMES);
    assert_eq!(registry.list(Access::Open).count(), 0, "no access to files without the token");
    let fixture = Fixture::new();
    let pong = reply("ping", json!({}), context(fixture.research()));
    assert_eq!(pong, Reply::Text { text: "pong".into(), is_error: false });
    // No tool uses the network, which a caller would have to allow.
    assert!(!names.contains(&"web_research"));
}

#[test]
fn list_roots_returns_only_configured_roots_and_never_leaks_non_allowlisted_paths() {
    let fixture = Fixture::new();
    assert_eq!(fixture.ask("list_roots", json!({})), json!({"roots": [fixture.path("shop")]}));
}

#[test]
fn schemas_are_plain_and_described_and_descriptions_short() {
    for tool in registry().list(Access::Full) {
        assert_plain_schema(&tool.input_schema, tool.name);
        assert!(!tool.input_schema.contains_key("description"), "{}: the tool has one", tool.name);
        assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
        assert_eq!(tool.read_only, tool.name != "create_handoff", "{}", tool.name);
        assert!(tool.description.len() <= 400, "{}: a model reads all of them", tool.name);
    }
    let registry = registry();
    let research = registry.list(Access::Full).find(|tool| tool.name == "research_codebase").unwrap();
    assert_eq!(research.input_schema["required"], json!(["question"]));
    let properties = research.input_schema["properties"].as_object().unwrap();
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["artifact", "constraints", "question", "roots"]);
    let limits = properties["constraints"]["properties"].as_object().unwrap();
    assert_eq!(
        limits.keys().collect::<Vec<_>>(),
        ["deadlineMs", "maxBytesRead", "maxFilesRead", "maxTokens"]
    );
}

#[test]
fn a_question_may_have_the_name_of_the_tools_subject_and_nulls_are_ignored() {
    let fixture = Fixture::new();
    for (tool, name) in [
        ("locate_in_codebase", "query"),
        ("find_patterns", "pattern"),
        ("analyze_component", "component"),
        ("research_codebase", "question"),
    ] {
        let report = fixture.ask(tool, json!({name: "parse_price", "roots": null, "constraints": null}));
        assert_eq!(report["question"], "parse_price");
    }
}

#[test]
fn progress_is_reported_during_the_work_and_only_grows() {
    let fixture = Fixture::new();
    let mut context = context(fixture.research());
    let (progress, mut updates) = Progress::channel();
    context.progress = progress;
    reply("research_codebase", json!({"question": "Where is parse_price?"}), context);
    let mut all = Vec::new();
    while let Ok(update) = updates.try_recv() {
        all.push(update);
    }
    assert!(all.len() >= 4 && all.windows(2).all(|pair| pair[0].done < pair[1].done), "{all:?}");
    assert!(all.iter().all(|update| update.total.is_some_and(|total| update.done <= total)));
    assert_eq!(all[0].message.as_deref(), Some("locator begins"));
}
