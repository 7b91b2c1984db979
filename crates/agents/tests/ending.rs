//! Stopping, abandoning and cleaning up agents: what is deleted, what is kept, and how it can be recovered. Many agents at once.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod support;

use std::fs;

use support::{Field, soon};
use tamis_agents::{Code, Disposal, Phase, Status};

#[test]
#[ignore = "what runs in the sessions of the tests here"]
fn as_a_session() {
    support::be_a_session();
}

#[test]
fn who_is_stopped_keeps_its_worktree_and_takes_its_reviewer_along() {
    let field = Field::new();
    let coding = field.start();
    let reviewer = field.review(&coding, "one");
    fs::write(coding.worktree.join("open"), "not committed").unwrap();
    let seen = field.events().len();
    let stopped = field.coordinator().stop(&coding.id).unwrap();
    assert_eq!((stopped.status, stopped.phase), (Status::Terminated, Phase::Kept));
    assert_eq!(stopped.reason.as_deref(), Some("stopped by the user"));
    assert_eq!(fs::read_to_string(coding.worktree.join("open")).unwrap(), "not committed");
    assert_eq!(field.instance(&reviewer.id).phase, Phase::Gone);
    assert_eq!(
        field.event_lines(seen),
        [
            "work-123-a1 status_changed stop STARTED>TERMINATED".replace("STARTED", "WAITING_REVIEW"),
            "review-123-a1-1 status_changed stop STARTED>TERMINATED".to_owned(),
        ]
    );
    field.assert_consistent();
    assert_eq!(field.coordinator().stop(&coding.id).unwrap_err().code, Code::InvalidState);
    let unknown = field.coordinator().stop(&"work-nobody-a1".parse().unwrap());
    assert_eq!(unknown.unwrap_err().code, Code::InstanceNotFound);

    // A reviewer alone: the coding agent goes on.
    let coding = field.start();
    let reviewer = field.review(&coding, "one");
    field.coordinator().stop(&reviewer.id).unwrap();
    assert_eq!(field.instance(&coding.id).status, Status::Started);
    field.assert_consistent();
}

#[test]
fn who_is_given_up_leaves_what_could_be_lost() {
    let field = Field::new();
    let [clean, dirty, untouched] = [(); 3].map(|()| field.start());
    let tip = field.work(&clean, "one");
    fs::write(dirty.worktree.join("open"), "not committed").unwrap();
    let abandon = |id| field.coordinator().abandon(id, Some("another way is better")).unwrap();
    let (clean, dirty, untouched) = (abandon(&clean.id), abandon(&dirty.id), abandon(&untouched.id));
    assert_eq!((clean.status, clean.phase, dirty.phase), (Status::Abandoned, Phase::Gone, Phase::Kept));
    assert_eq!(clean.reason.as_deref(), Some("another way is better"));
    // The one whose worktree stays says why, wherever it is listed.
    let path = dirty.worktree.display();
    let kept = format!("another way is better (kept: worktree {path} stays: it has untracked files: open)");
    assert_eq!(dirty.reason.as_deref(), Some(kept.as_str()));
    // Each reason is said of what it belongs to.
    let both = field.start();
    field.work(&both, "one");
    fs::write(both.worktree.join("open"), "not committed").unwrap();
    let (path, branch) = (both.worktree.display(), &both.branch);
    assert_eq!(
        abandon(&both.id).reason.unwrap(),
        format!(
            "another way is better (kept: worktree {path} stays: it has untracked files: open; \
             branch {branch} stays: it has a commit that no remote and no other branch has)"
        )
    );
    assert_eq!(field.git(&field.repository(), &["rev-parse", &clean.branch]), tip);
    assert_eq!(fs::read_to_string(dirty.worktree.join("open")).unwrap(), "not committed");
    assert_eq!(field.git(&field.repository(), &["branch", "--list", &untouched.branch]), "");
    field.assert_consistent();
}

#[test]
fn what_is_cleared_away_was_proven_to_be_elsewhere_and_can_be_had_back() {
    let field = Field::new();
    let [live, merged, ahead, dirty, stashed] = [(); 5].map(|()| field.start());
    for instance in [&merged, &ahead] {
        field.work(instance, instance.id.as_str());
    }
    let tip = field.git(&merged.worktree, &["rev-parse", "HEAD"]);
    field.git(&field.repository(), &["merge", "-q", "--no-edit", &merged.branch]);
    fs::write(dirty.worktree.join("README.md"), "changed").unwrap();
    fs::write(stashed.worktree.join("README.md"), "changed").unwrap();
    field.git(&stashed.worktree, &["stash", "-q"]);
    for instance in [&merged, &ahead, &dirty, &stashed] {
        field.coordinator().stop(&instance.id).unwrap();
    }
    let state = || {
        let refs = field.git(&field.repository(), &["for-each-ref"]);
        (refs, support::names_in(&field.data().join("agents/worktrees")))
    };
    let before = state();
    let would = field.coordinator().gc(true).unwrap();
    assert_eq!(state(), before, "a dry run changes nothing");
    let did = field.coordinator().gc(false).unwrap();
    assert_eq!(did, would);
    let worktree = |instance: &tamis_agents::Instance| format!("worktree {}", instance.worktree.display());
    let undo = |instance: &tamis_agents::Instance| Some(format!("refs/tamis/undo/{}", instance.id));
    assert_eq!(
        did,
        [
            Disposal {
                instance: merged.id.clone(),
                removed: vec![worktree(&merged), format!("branch {}", merged.branch)],
                kept: vec![],
                undo: undo(&merged),
            },
            Disposal {
                instance: ahead.id.clone(),
                removed: vec![worktree(&ahead)],
                kept: vec![format!(
                    "branch {} stays: it has a commit that no remote and no other branch has",
                    ahead.branch
                )],
                undo: undo(&ahead),
            },
            Disposal {
                instance: dirty.id.clone(),
                removed: vec![],
                kept: vec![format!("{} stays: it has uncommitted changes: README.md", worktree(&dirty))],
                undo: None,
            },
            Disposal {
                instance: stashed.id.clone(),
                removed: vec![],
                kept: vec![format!("{} stays: it has a stash made on the branch", worktree(&stashed))],
                undo: None,
            },
        ]
    );
    field.assert_consistent();
    assert_eq!(field.instance(&live.id).status, Status::Started);
    // Restored.
    field.git(&field.repository(), &["branch", "back", &undo(&merged).unwrap()]);
    assert_eq!(field.git(&field.repository(), &["rev-parse", "back"]), tip);
    // Once its commits are elsewhere, a branch that stayed goes too.
    field.git(&field.repository(), &["tag", "kept", &ahead.branch]);
    let removed: Vec<_> =
        field.coordinator().gc(false).unwrap().into_iter().flat_map(|it| it.removed).collect();
    assert_eq!(removed, [format!("branch {}", ahead.branch)]);
}

#[test]
fn fifty_at_once_come_and_go() {
    let field = Field::new();
    let many = 50;
    let started: Vec<_> = std::thread::scope(|scope| {
        let start =
            || field.coordinator().start(&field.request("many", &["sleep", "100000"]), soon()).unwrap();
        let starting: Vec<_> = (0..many).map(|_| scope.spawn(start)).collect();
        starting.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    field.assert_consistent();
    let mut numbers: Vec<String> = started.iter().map(|instance| instance.id.to_string()).collect();
    numbers.sort_by_key(|id| (id.len(), id.clone()));
    assert_eq!(numbers, (1..=many).map(|number| format!("work-many-a{number}")).collect::<Vec<_>>());
    assert_eq!(field.coordinator().reconcile().unwrap(), []);
    std::thread::scope(|scope| {
        for instance in &started {
            scope.spawn(|| field.coordinator().stop(&instance.id).unwrap());
        }
    });
    field.assert_consistent();
    assert_eq!(field.tmux().sessions().unwrap(), []);
    let disposals = field.coordinator().gc(false).unwrap();
    assert!(disposals.iter().all(|disposal| disposal.kept.is_empty()), "{disposals:?}");
    assert_eq!(disposals.len(), many);
    field.assert_consistent();
}
