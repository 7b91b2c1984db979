//! The example of `docs/workbench.md` does what the page says.

use serde_json::{Value, json};

use crate::http_pruner::{HttpPruner, Manners};
use crate::server::{Place, Server};

#[test]
fn the_example_on_the_page_works() {
    let page = include_str!("../../../../docs/workbench.md");
    let (_, section) = page.split_once("\n## A call\n").expect("the page has the section");
    let mut blocks = section.split("```json\n").skip(1).map(|block| block.split_once("```").unwrap().0);
    let (sent, answered) = (blocks.next().unwrap(), blocks.next().unwrap());
    let answered: Value = serde_json::from_str(answered).unwrap();

    let place = Place::new();
    place.write("notes.txt", "Minutes.\nThe release is on Friday.\nCoffee is out.\n");
    let kept = &answered["result"]["content"][0]["text"];
    let pruner = HttpPruner::start(Manners::json(&json!({"pruned_code": kept})));
    let mut command = place.command();
    command.env("PRUNER_URL", &pruner.url);
    let mut server = Server::start_silent(command);
    sent.lines().for_each(|line| server.send_line(line));
    assert_eq!(server.receive()["result"]["serverInfo"]["name"], "mcp-pruner");
    assert_eq!(server.receive(), answered);
    assert_eq!(
        pruner.questions(),
        [
            json!({"code": "Minutes.\nThe release is on Friday.\nCoffee is out.\n", "query": "When is the release?"})
        ]
    );
}

/// Every variable that the program looks at is on the page.
#[test]
fn the_page_names_every_variable() {
    let page = include_str!("../../../../docs/workbench.md");
    let source = include_str!("../../src/mcp_pruner.rs");
    let mut names: Vec<&str> =
        source.split("variable(\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["MCP_PRUNER_CWD", "PRUNER_TIMEOUT_MS", "PRUNER_URL", "TAMIS_LOG", "TAMIS_REDACT"]);
    for name in names {
        assert!(page.contains(&format!("| `{name}` | ")), "{name}");
    }
}

/// The limits that the program has are those on the page.
#[test]
fn the_page_has_the_limits() {
    let page = include_str!("../../../../docs/workbench.md");
    let reading = include_str!("../../../codebase/src/read.rs");
    let running = include_str!("../../../process/src/program.rs");
    for (source, limit, before) in [
        (reading, "LARGEST_FILE: u64 = ", "`read` accepts regular files of at most "),
        (running, "DEFAULT_MAX_OUTPUT: usize = ", "Output is limited to "),
    ] {
        let (_, value) = source.split_once(limit).unwrap();
        let mebibytes = value.split_once(" << 20;").unwrap().0;
        assert!(page.contains(&format!("{before}{mebibytes} MiB")), "{before}{mebibytes} MiB");
    }
}
