//! The protocol's own conformance suite over HTTP.
//!
//! The suite was written for SDKs: most of its scenarios call tools, prompts and resources that only a server made to
//! be tested has. `tests/clients/conformance-*.yml` name what a server of tools like ours fails by its nature; the
//! suite then fails for any other failure, and for an entry that has come to pass.

use tamis_testkit::{InstalledClients, TestServer, run_bounded};

use crate::{LIMIT, shared, tamis};

fn conforms(baseline: &str, selection: &[&str]) {
    let server = TestServer::start(tamis());
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut command = InstalledClients::installed().tool("conformance", home.path());
    command.args(["server", "--url", &server.mcp_url()]).args(selection);
    command.arg("--expected-failures").arg(shared(baseline)).arg("--output-dir").arg(home.path());
    let finished = run_bounded(command, LIMIT);
    let summary = finished.stdout.split("=== SUMMARY ===").last().unwrap_or_default();
    assert_eq!(finished.code(), Some(0), "{summary}\n{}", finished.stderr);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn conforms_to_the_revisions_with_a_handshake() {
    conforms("conformance-2025-11-25.yml", &[]);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn conforms_to_the_revision_without() {
    conforms("conformance-2026-07-28.yml", &["--requirements", "2026-07-28"]);
}
