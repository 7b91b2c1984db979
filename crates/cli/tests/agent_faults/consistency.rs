//! What must be true whenever nothing is under way.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use tamis_store::rusqlite::{Connection, Row};

use crate::fixture::FaultFixture;

struct Instance {
    id: String,
    agent_type: String,
    status: String,
    phase: String,
    branch: String,
}

const LIVE: [&str; 3] = ["STARTED", "WAITING_REVIEW", "PR_CREATED"];

/// All that is not as it should be.
pub(crate) fn complaints(fixture: &FaultFixture) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut expect = |holds: bool, what: String| {
        if !holds {
            complaints.push(what);
        }
    };
    let database = Connection::open(fixture.data().join("state.db")).unwrap();
    database.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
    let texts = |sql: &str| -> Vec<String> {
        let mut statement = database.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };

    // The database by itself.
    expect(texts("PRAGMA integrity_check") == ["ok"], "the database is damaged".into());
    expect(texts("SELECT \"table\" FROM pragma_foreign_key_check").is_empty(), "a key leads nowhere".into());
    for tool in texts("SELECT tool FROM operations WHERE state = 'begun'") {
        expect(false, format!("{tool} is still under way"));
    }
    let mut statement = database.prepare("SELECT id, type, status, phase, branch FROM instances").unwrap();
    let read = |row: &Row<'_>| {
        Ok(Instance {
            id: row.get(0)?,
            agent_type: row.get(1)?,
            status: row.get(2)?,
            phase: row.get(3)?,
            branch: row.get(4)?,
        })
    };
    let instances: Vec<_> = statement.query_map([], read).unwrap().map(Result::unwrap).collect();
    for id in texts("SELECT child_instance FROM instance_relationships WHERE outcome IS NULL") {
        let live =
            instances.iter().any(|instance| instance.id == id && LIVE.contains(&instance.status.as_str()));
        expect(live, format!("the review by {id} has no end, but {id} has"));
    }
    for id in texts("SELECT id FROM feedback WHERE delivered_at IS NULL") {
        expect(false, format!("{id} was never delivered, and not taken back"));
    }

    // The database and the rest of the world.
    let sessions =
        fixture.tmux(&["list-panes", "-a", "-F", "#{session_name} #{pane_dead}"]).unwrap_or_default();
    let sessions: BTreeMap<_, _> = sessions.lines().filter_map(|line| line.split_once(' ')).collect();
    let branches =
        fixture.git(&fixture.project(), &["for-each-ref", "--format=%(refname:short)", "refs/heads/tamis"]);
    let branches: BTreeSet<_> = branches.lines().collect();
    for instance in &instances {
        let Instance { id, agent_type, status, phase, branch } = instance;
        // A pull request outlives its agent.
        let live = LIVE.contains(&status.as_str()) && !(status == "PR_CREATED" && phase == "kept");
        let runs = sessions.get(id.as_str()) == Some(&"0");
        let worktree = fixture.worktree(id).join(".git").exists();
        let expected_phases: &[&str] = if live { &["ready"] } else { &["kept", "gone"] };
        expect(expected_phases.contains(&phase.as_str()), format!("{id} is {status} and {phase}"));
        expect(live == runs, format!("{id} is {status}, and its session runs: {runs}"));
        expect(!live || worktree, format!("{id} is {status} and has no worktree"));
        expect(!live || branches.contains(branch.as_str()), format!("{id} is {status} and has no branch"));
        expect(phase != "gone" || !worktree, format!("{id} is gone, its worktree is not"));
        let identity = fixture.data().join("agents/identities").join(id).exists();
        expect(identity == live, format!("{id} is {status}, and its identity is there: {identity}"));
        let sql = format!(
            "SELECT status_after FROM mcp_events WHERE instance_id = '{id}' AND status_after IS NOT NULL
             ORDER BY seq DESC LIMIT 1"
        );
        if let Some(last) = texts(&sql).first() {
            expect(last == status, format!("{id} is {status}, and the last event says {last}"));
        }
        if agent_type == "coding" {
            let reviewers = texts(&format!(
                "SELECT child_instance FROM instance_relationships WHERE parent_instance = '{id}' AND outcome IS NULL"
            ));
            let waits = status == "WAITING_REVIEW";
            expect(
                waits == (reviewers.len() == 1),
                format!("{id} is {status}, and is reviewed by {reviewers:?}"),
            );
        }
    }
    for session in sessions.keys() {
        let known = instances.iter().any(|instance| instance.id == **session);
        expect(known, format!("unknown session {session}"));
    }
    for entry in fs::read_dir(fixture.data().join("agents/worktrees")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        expect(instances.iter().any(|instance| instance.id == name), format!("unknown worktree {name}"));
    }
    for branch in branches {
        let known = instances.iter().any(|instance| instance.branch == branch);
        expect(known, format!("unknown branch {branch}"));
    }
    let listed = fixture.git(&fixture.project(), &["worktree", "list", "--porcelain"]);
    expect(!listed.contains("prunable"), format!("git knows of worktrees that are gone: {listed}"));

    // What was delivered is there.
    let mut statement = database.prepare("SELECT coding_instance, git_commit_hash FROM feedback").unwrap();
    let delivered =
        statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?)));
    for (coder, commit) in delivered.unwrap().map(Result::unwrap) {
        if let Some(commit) = commit {
            expect(
                fixture.is_ancestor(&commit, &coder),
                format!("the feedback {commit} is not in the branch of {coder}"),
            );
        }
    }
    expect(
        !fixture.folder().join("pwned").exists() && !fixture.project().join("pwned").exists(),
        "something was executed".into(),
    );
    complaints
}
