//! What clients see of the tools.

use tamis_testkit::assert_plain_schema;
use tamis_tools::{Access, Registry, Toolset};

const NAMES: [&str; 11] = [
    "list_sessions",
    "get_project_info",
    "get_session_details",
    "analyze_session",
    "list_turns",
    "get_turns",
    "search_event_previews",
    "get_event_details",
    "get_reasoning_chain",
    "compare_sessions",
    "search_events",
];

#[test]
fn schemas_are_plain_and_described() {
    let registry = Registry::all().only(&[Toolset::Trace]);
    let names: Vec<&str> = registry.list(Access::Full).map(|tool| tool.name).collect();
    assert_eq!(names, NAMES);
    assert_eq!(registry.list(Access::Open).count(), 0, "no access to past sessions without the token");
    for tool in registry.list(Access::Full) {
        assert_plain_schema(&tool.input_schema, tool.name);
        assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
        assert!(tool.description.contains(" KB"), "{} states the size of its answers", tool.name);
    }
    let limit = registry.list(Access::Full).next().unwrap().input_schema["properties"]["limit"].clone();
    assert_eq!((&limit["minimum"], &limit["maximum"]), (&1.into(), &50.into()));
}
