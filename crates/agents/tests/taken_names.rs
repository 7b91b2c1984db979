//! What a call did not make, it neither takes over nor removes when it fails.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod support;

use std::fs;
use std::path::PathBuf;

use support::Field;
use tamis_agents::{Code, InstanceId, Status};

#[test]
#[ignore = "what runs in the sessions of the tests here"]
fn as_a_session() {
    support::be_a_session();
}

/// Something that is there before a call, under a name that the call would use.
struct Taken {
    what: &'static str,
    make: fn(&Field, &InstanceId),
    /// With which code a review is refused whose reviewer would have this name.
    code: Code,
}

fn worktree(field: &Field, id: &InstanceId) -> PathBuf {
    field.data().join("agents/worktrees").join(id.as_str())
}

fn commit_to_branch(field: &Field, branch: &str) {
    field.git(&field.repository(), &["switch", "-q", "-c", branch, "main"]);
    fs::write(field.repository().join("precious.txt"), "precious").unwrap();
    field.commit(&field.repository(), "Precious");
    field.git(&field.repository(), &["switch", "-q", "main"]);
}

fn write(field: &Field, path: String) {
    fs::write(field.data().join("agents").join(path), "precious").unwrap();
}

/// Each resource that the undoing of a start removes.
const TAKEN: [Taken; 10] = [
    Taken {
        what: "a branch with commits",
        make: |field, id| commit_to_branch(field, &format!("tamis/{id}")),
        code: Code::GitError,
    },
    Taken {
        what: "a branch at the commit where the work would begin",
        make: |field, id| {
            let begin = if id.as_str().starts_with("review") { "tamis/work-123-a1" } else { "main" };
            field.git(&field.repository(), &["branch", "--no-track", &format!("tamis/{id}"), begin]);
        },
        code: Code::GitError,
    },
    Taken {
        what: "a folder",
        make: |field, id| {
            fs::create_dir(worktree(field, id)).unwrap();
            fs::write(worktree(field, id).join("precious.txt"), "precious").unwrap();
        },
        code: Code::GitError,
    },
    Taken {
        what: "an empty folder",
        make: |field, id| fs::create_dir(worktree(field, id)).unwrap(),
        code: Code::GitError,
    },
    Taken {
        what: "a worktree on another branch",
        make: |field, id| {
            let path = worktree(field, id);
            field.git(
                &field.repository(),
                &["worktree", "add", "-q", "-b", "mine", path.to_str().unwrap(), "main"],
            );
        },
        code: Code::GitError,
    },
    Taken {
        what: "a worktree whose folder was moved",
        make: |field, id| {
            let path = worktree(field, id);
            field.git(
                &field.repository(),
                &["worktree", "add", "-q", "-b", "mine", path.to_str().unwrap(), "main"],
            );
            fs::rename(path, field.path("moved")).unwrap();
        },
        code: Code::GitError,
    },
    Taken {
        what: "a session",
        make: |field, id| field.tmux().create(id, &["cat".into()], &[]).unwrap(),
        code: Code::TmuxError,
    },
    Taken {
        what: "an identity",
        make: |field, id| write(field, format!("identities/{id}")),
        code: Code::FileError,
    },
    Taken {
        what: "a prompt",
        make: |field, id| write(field, format!("prompts/{id}.md")),
        code: Code::FileError,
    },
    Taken {
        what: "a folder of an agent's own files",
        make: |field, id| {
            fs::create_dir(field.data().join("agents/sessions").join(id.as_str())).unwrap();
            write(field, format!("sessions/{id}/settings.json"));
        },
        code: Code::FileError,
    },
];

/// Everything that an undoing may remove.
fn everything(field: &Field) -> Vec<String> {
    let sessions = field.tmux().sessions().unwrap();
    let mut all: Vec<String> =
        sessions.iter().map(|session| format!("session {} alive: {}", session.id, session.alive)).collect();
    all.sort();
    all.push(field.git(&field.repository(), &["for-each-ref"]));
    all.push(field.git(&field.repository(), &["worktree", "list", "--porcelain"]));
    let mut folders = vec![field.data().join("agents")];
    while let Some(folder) = folders.pop() {
        for name in support::names_in(&folder) {
            let path = folder.join(name);
            let is_log =
                folder.ends_with("logs") || folder.ends_with("scratch") || folder.ends_with("launch");
            all.extend((!is_log).then(|| path.display().to_string()));
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    all
}

#[test]
fn a_refused_review_removes_nothing_that_was_there_before() {
    for Taken { what, make, code } in TAKEN {
        let field = Field::new();
        let coding = field.start();
        field.work(&coding, "one");
        make(&field, &"review-123-a1-1".parse().unwrap());
        let before = everything(&field);
        let refused = field.request_review(&coding.id).unwrap_err();
        assert_eq!(refused.code, code, "{what}: {refused:?}");
        assert!(!refused.suggestions.is_empty(), "{what}: {refused:?}");
        assert_eq!(everything(&field), before, "{what}");
        assert_eq!(field.instance(&coding.id).status, Status::Started, "{what}");
        assert_eq!(field.coordinator().archive().instances().unwrap().len(), 1, "{what}");
        assert_eq!(
            field.events().last().unwrap().error_code.as_deref(),
            Some(code.as_str()),
            "{what}: it is recorded"
        );
    }
}

#[test]
fn an_agent_is_started_under_a_name_of_which_nothing_is_there() {
    for Taken { what, make, .. } in TAKEN {
        let field = Field::new();
        make(&field, &"work-123-a1".parse().unwrap());
        let before = everything(&field);
        assert_eq!(field.start().id.as_str(), "work-123-a2", "{what}");
        let after = everything(&field).join("\n");
        for thing in before.iter().flat_map(|thing| thing.lines()) {
            assert!(after.contains(thing), "{what}: {thing} is gone\n{after}");
        }
    }
}
