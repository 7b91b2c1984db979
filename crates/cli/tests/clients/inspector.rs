//! The MCP inspector on its command line: schemas that every client can take, answers, and its exit codes for errors.

use serde_json::{Value, json};
use tamis_testkit::{FinishedProgram, InstalledClients, run_bounded};

use crate::{LIMIT, sample, tamis};

/// The two eras of the protocol: `initialize`, and 2026-07-28 with its metadata in every request.
pub(crate) const ERAS: [&str; 2] = ["legacy", "modern"];

/// One call of the inspector on a server over stdio, with a home that lasts as long as the inspector does.
pub(crate) struct Inspector {
    home: tempfile::TempDir,
    era: &'static str,
    arguments: &'static [&'static str],
}

impl Inspector {
    fn new(era: &'static str) -> Self {
        Self::with(era, &["--tools", "all"])
    }

    /// On a server that is started with these arguments.
    pub(crate) fn with(era: &'static str, arguments: &'static [&'static str]) -> Self {
        Self { home: tempfile::tempdir().expect("a temporary folder"), era, arguments }
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> FinishedProgram {
        let mut command = InstalledClients::installed().tool("mcp-inspector", self.home.path());
        let data = format!("TAMIS_DATA_DIR={}", self.home.path().join("data").display());
        command.arg("--cli").arg(tamis()).arg("mcp").args(self.arguments);
        command.args(["-e", &data, "--protocol-era", self.era]);
        command.args(["--format", "json"]).args(arguments);
        run_bounded(command, LIMIT)
    }

    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> FinishedProgram {
        let arguments = arguments.to_string();
        self.run(&["--method", "tools/call", "--tool-name", tool, "--tool-args-json", &arguments])
    }
}

pub(crate) fn printed(finished: &FinishedProgram) -> Value {
    assert_eq!(finished.code(), Some(0), "{finished:#?}");
    serde_json::from_str(&finished.stdout).expect("JSON on standard output")
}

/// The JSON that a tool answered with.
fn answer(finished: &FinishedProgram) -> Value {
    let text = printed(finished)["result"]["content"][0]["text"].take();
    serde_json::from_str(text.as_str().expect("an answer in text")).expect("an answer in JSON")
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn lists_tools_with_portable_schemas() {
    for era in ERAS {
        let listed = Inspector::new(era).run(&["--method", "tools/list", "--strict"]);
        let printed = printed(&listed);
        let tools = printed["result"]["tools"].as_array().expect("a list of tools");
        for name in ["prune_text", "recover_text", "health"] {
            assert!(tools.iter().any(|tool| tool["name"] == name), "{name} is missing: {}", listed.stdout);
        }
    }
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn prunes_in_one_process_and_recovers_in_another() {
    for era in ERAS {
        let inspector = Inspector::new(era);
        assert_eq!(answer(&inspector.call("health", &json!({})))["status"], "healthy");
        let pruned = answer(&inspector.call("prune_text", &sample::prune_arguments()));
        sample::assert_pruned(&pruned);
        let recovered = answer(&inspector.call("recover_text", &sample::recover_arguments(&pruned)));
        sample::assert_recovered(&pruned, &recovered);
    }
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn errors_are_errors() {
    let unknown = json!({"prune_id": "prn_unknown", "ranges": [], "include_line_numbers": false});
    for era in ERAS {
        let inspector = Inspector::new(era);
        // 1 is a JSON-RPC error, where 5 would be a result that calls itself one.
        let refused = inspector.call("recover_text", &unknown);
        assert_eq!(refused.code(), Some(1), "{refused:#?}");
        assert!(refused.stderr.contains("prune_id_not_found"), "{}", refused.stderr);
        let malformed = inspector.call("prune_text", &json!({"text": 1}));
        assert_eq!(malformed.code(), Some(1), "{malformed:#?}");
        let missing = inspector.call("no_such_tool", &json!({}));
        assert_eq!(missing.code(), Some(5), "{missing:#?}");
    }
}
