//! `MCP_TOOL_TIMEOUT` holds for a whole call, whatever it waits for.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tamis_store::rusqlite::Connection;
use tamis_testkit::{GithubFault, When};

use crate::common::{self, Mcp};
use crate::fixture::{FaultFixture, PATH, signal};
use crate::{feedback, pull_request};

const LIMIT: Duration = Duration::from_secs(2);

/// A machine with two cores and other tests needs time of its own. Before there was one deadline for all waits, the shortest
/// of them took five seconds more.
const MARGIN: Duration = Duration::from_millis(2500);

/// Everything that a call may wait for, from the agent's server to GitHub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// No process coordinates.
    Coordinator,
    /// The coordinator does not answer the process that forwards.
    Forwarding,
    /// Another call for the same agents.
    FamilyLock,
    /// Another process writes to the database.
    Database,
    /// The gh program, which has the token.
    Gh,
    /// An answer of GitHub, in a read that is retried, and in a write that is not.
    GithubRead,
    GithubWrite,
    /// What GitHub asks to wait before a retry.
    RetryAfter,
    /// A push.
    GitRemote,
    /// Another git's lock.
    GitLock,
    Tmux,
    /// A session that does not show the message about feedback.
    Notification,
}

const WAITS: [Wait; 12] = [
    Wait::Coordinator,
    Wait::Forwarding,
    Wait::FamilyLock,
    Wait::Database,
    Wait::Gh,
    Wait::GithubRead,
    Wait::GithubWrite,
    Wait::RetryAfter,
    Wait::GitRemote,
    Wait::GitLock,
    Wait::Tmux,
    Wait::Notification,
];

#[test]
fn no_wait_of_a_call_is_longer_than_the_tool_timeout() {
    let late: Vec<String> = std::thread::scope(|scope| {
        let runs = WAITS.map(|wait| (wait, scope.spawn(move || call_while_waiting(wait))));
        runs.into_iter()
            .filter_map(|(wait, run)| {
                let (elapsed, answer) = run.join().unwrap_or_else(|_| panic!("{wait:?} failed"));
                println!("{wait:?}: {elapsed:?} {answer}");
                (elapsed > LIMIT + MARGIN).then(|| format!("{wait:?} took {elapsed:?}: {answer}"))
            })
            .collect()
    });
    assert!(late.is_empty(), "{late:#?}");
}

/// How long a call takes, and what it answers, while the thing that it needs does not come.
fn call_while_waiting(wait: Wait) -> (Duration, Value) {
    let mut fixture = FaultFixture::new();
    let folder = fixture.folder();
    if wait == Wait::Gh {
        let gh = folder.join("bin/gh");
        fs::create_dir(folder.join("bin")).unwrap();
        fs::write(&gh, "#!/bin/sh\nexec sleep 600\n").unwrap();
        fs::set_permissions(&gh, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{PATH}", folder.join("bin").display());
        fixture.variables = vec![("GITHUB_TOKEN", String::new()), ("PATH", path)];
    }
    fixture.serve(None);
    // Without an echo, no message is ever seen.
    let agent =
        if wait == Wait::Notification { "stty -echo; exec sleep 100000" } else { "exec sleep 100000" };
    let id = fixture.start_command(&["sh", "-c", agent]);
    fixture.commit(&id, "work.txt", "first\n");
    let (mut caller, mut tool, mut arguments) = (id.clone(), "create_pull_request", pull_request());
    match wait {
        Wait::GitLock | Wait::Tmux => (tool, arguments) = ("request_review", json!({})),
        Wait::Notification => {
            fixture.request_review(&id);
            (caller, tool, arguments) = (fixture.reviewer_of(&id), "send_feedback", feedback());
        }
        _ => {}
    }
    let identity = fixture.data().join("agents/identities").join(&caller);
    let mut command = fixture.tamis(&["mcp", "--tools", "agents"]);
    command.env("TAMIS_IDENTITY", &identity).env("MCP_TOOL_TIMEOUT", LIMIT.as_millis().to_string());
    let mut mcp = Mcp::start(command);

    let tmux = fixture.tmux(&["display-message", "-p", "#{pid}"]).unwrap();
    // Kept until the call is over.
    let mut silent = None;
    let mut database = None;
    match wait {
        Wait::Coordinator => fixture.end_server(),
        Wait::Forwarding => fixture.signal_server("STOP"),
        Wait::FamilyLock => {
            fixture.github().misbehave(GithubFault::Silence, 99);
            let requests = fixture.github().requests().len();
            fixture.call_in_background(&id, tool, &arguments);
            common::eventually("the other call waits", || fixture.github().requests().len() > requests);
        }
        Wait::Database => {
            let connection = Connection::open(fixture.data().join("state.db")).unwrap();
            connection.execute_batch("BEGIN IMMEDIATE").unwrap();
            database = Some(connection);
        }
        Wait::Gh => {}
        Wait::GithubRead => fixture.github().misbehave_on("GET", When::Before, GithubFault::Silence, 99),
        Wait::GithubWrite => fixture.github().misbehave_on("POST", When::Before, GithubFault::Silence, 99),
        Wait::RetryAfter => fixture.github().misbehave(GithubFault::RateLimit(429, Some(4)), 99),
        Wait::GitRemote => {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let url = format!("http://{}/app.git", listener.local_addr().unwrap());
            fixture.git(&fixture.project(), &["config", "remote.origin.pushurl", &url]);
            silent = Some(listener);
        }
        Wait::GitLock => {
            let reference = fixture.project().join(".git/refs/heads/tamis").join(fixture.reviewer_of(&id));
            fs::write(reference.with_extension("lock"), "").unwrap();
        }
        Wait::Tmux => signal("STOP", &tmux),
        Wait::Notification => {}
    }
    let begun = Instant::now();
    let answer = mcp.request("tools/call", json!({"name": tool, "arguments": arguments}));
    let elapsed = begun.elapsed();
    drop((silent, database));
    match wait {
        Wait::Forwarding => fixture.signal_server("CONT"),
        Wait::Tmux => signal("CONT", &tmux),
        _ => {}
    }
    fixture.github().release();
    let has_failed = answer["error"].is_object() || answer["result"]["isError"] == true;
    assert_eq!(has_failed, wait != Wait::Notification, "{wait:?}: {answer}");
    if matches!(wait, Wait::GithubRead | Wait::GithubWrite | Wait::RetryAfter) {
        // The work has ended too, so that the next call need not wait for it.
        fixture.github().behave();
        let again = mcp.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(common::output(&again)["pr_number"], 1, "{wait:?}, then repeated: {again}");
        fixture.expect_consistency(&format!("after {wait:?}"));
    }
    (elapsed, answer)
}
