//! Python's `mcp` package, over both transports and in both eras of the protocol.

use std::ffi::OsStr;

use tamis_testkit::{InstalledClients, TestServer, run_bounded};

use crate::{LIMIT, sample, shared, tamis};

/// Runs `tests/clients/mcp_client.py`, which makes its own assertions, on a server.
fn prunes_and_recovers(server: &[&OsStr]) {
    let home = tempfile::tempdir().expect("a temporary folder");
    let text = home.path().join("text");
    std::fs::write(&text, sample::TEXT).expect("a file");
    for mode in ["legacy", "2026-07-28", "auto"] {
        let mut command = InstalledClients::installed().python(home.path());
        command.env("TAMIS_DATA_DIR", home.path().join("data"));
        command.arg(shared("mcp_client.py")).arg(mode).arg(&text).arg(sample::GOAL).args(server);
        let finished = run_bounded(command, LIMIT);
        assert_eq!(finished.code(), Some(0), "{mode}: {}\n{}", finished.stdout, finished.stderr);
    }
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn python_prunes_and_recovers_over_stdio() {
    let arguments = ["mcp", "--tools", "prune"].map(OsStr::new);
    prunes_and_recovers(&[&[tamis().as_os_str()], &arguments[..]].concat());
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn python_prunes_and_recovers_over_http() {
    let server = TestServer::start(tamis());
    prunes_and_recovers(&[OsStr::new(&server.mcp_url())]);
}
