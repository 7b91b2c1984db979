//! Texts that would like to be commands, and repositories that would like to be programs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::fixture::{Answer, FaultFixture, TOKEN};

/// Each would leave a file `pwned` somewhere, press a key, move a cursor or leave its place.
const TEXTS: &[&str] = &[
    "\"; touch pwned; \"",
    "'; touch pwned; '",
    "$(touch pwned)",
    "`touch pwned`",
    "--upload-pack=touch pwned",
    "-oProxyCommand=touch pwned",
    "a\ntouch pwned\n",
    "\r\ntouch pwned\r\n",
    "\u{1b}[201~\rtouch pwned\r",
    "\u{1b}]0;pwned\u{7}\u{1b}[2J",
    "C-c Enter touch Space pwned Enter",
    "#(touch pwned)",
    "#{pane_id} %H",
    "../../../../pwned",
    "a/../../b",
    "refs/heads/main:refs/heads/x",
    "; kill-server",
    "\u{202e}dnuora",
];

/// Wherever something could have been left.
fn assert_nothing_was_executed(fixture: &FaultFixture) {
    fn look(folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            assert_ne!(entry.file_name(), "pwned", "{}", entry.path().display());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                look(&entry.path());
            }
        }
    }
    look(&fixture.folder());
}

fn done(answer: Answer) -> Value {
    match answer {
        Answer::Done(value) => value,
        other => panic!("{other:?}"),
    }
}

fn start(fixture: &FaultFixture, task: &str, base: Option<&str>) -> Answer {
    let request = json!({
        "type": "coding", "issue": null, "task": task, "folder": fixture.project(), "base": base,
        "choice": {"agent": "command", "args": ["cat"]},
    });
    fixture.rest("POST", "/api/instances", &request)
}

#[test]
fn texts_stay_texts() {
    let mut fixture = FaultFixture::new();
    fixture.serve(None);
    for (number, text) in TEXTS.iter().enumerate() {
        let instance = done(start(&fixture, text, None));
        let id = instance["id"].as_str().unwrap().to_owned();
        assert!(fixture.worktree(&id).join("README.md").exists(), "{text:?}");
        fixture.commit(&id, "work.txt", text);
        let request = json!({"reviewer_prompt": text, "completion_message": text});
        let review = done(fixture.call(&id, "request_review", &request, &format!("r{number}")));
        let reviewer = review["review_instance_id"].as_str().unwrap();
        let said = json!({
            "feedback": text, "feedback_type": "suggestions", "priority": "high", "actionable_items": [text, text],
        });
        done(fixture.call(reviewer, "send_feedback", &said, &format!("f{number}")));
        let notes = fs::read_to_string(fixture.worktree(&id).join("REVIEW_FEEDBACK.md")).unwrap();
        assert!(!notes.contains('\u{1b}'), "{notes:?}");
        let stored = done(fixture.rest("GET", &format!("/api/feedback?instance={id}"), &Value::Null));
        assert!(stored.to_string().contains("suggestions"), "{stored}");
        // A title is one line of text; whatever it is, it is either refused or sent as it is.
        let pull = json!({"title": text, "description": text});
        match fixture.call(&id, "create_pull_request", &pull, &format!("p{number}")) {
            Answer::Done(made) => assert_eq!(made["branch_name"], format!("tamis/{id}")),
            Answer::Refused(error) => assert_eq!(error["code"], "VALIDATION_ERROR", "{text:?}: {error}"),
            Answer::None => panic!("{text:?}: no answer"),
        }
        let pull = json!({"title": "x", "description": "y", "base_branch": text});
        match fixture.call(&id, "create_pull_request", &pull, &format!("b{number}")) {
            Answer::Refused(error) => {
                let code = error["code"].as_str().unwrap();
                assert!(["VALIDATION_ERROR", "GIT_ERROR"].contains(&code), "{text:?}: {error}");
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }
    assert_nothing_was_executed(&fixture);
    fixture.expect_consistency("after hostile texts");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let mut fixture = FaultFixture::new();
    fixture.serve(None);
    for text in TEXTS {
        match start(&fixture, "a task", Some(text)) {
            Answer::Refused(error) => {
                let code = error["code"].as_str().unwrap();
                assert!(["VALIDATION_ERROR", "GIT_ERROR"].contains(&code), "{text:?}: {error}");
            }
            other => panic!("{text:?}: {other:?}"),
        }
        let name: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
        for path in [format!("/api/instances/{name}"), format!("/api/feedback?instance={name}")] {
            assert!(matches!(fixture.rest("GET", &path, &Value::Null), Answer::Refused(_)), "{path}");
        }
        let stopped = fixture.rest("POST", &format!("/api/instances/{name}/stop"), &Value::Null);
        assert!(matches!(stopped, Answer::Refused(_)), "{text:?}: {stopped:?}");
    }
    assert_nothing_was_executed(&fixture);
    let instances = done(fixture.rest("GET", "/api/instances", &Value::Null));
    assert_eq!(instances, json!([]));
}

/// Hooks, a file system monitor, filters, drivers and a submodule, each of which leaves a file when it is run.
fn booby_trap(fixture: &FaultFixture) -> std::path::PathBuf {
    let project = fixture.project();
    let trap = fixture.folder().join("trap");
    let canary = fixture.folder().join("pwned");
    fs::write(&trap, format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", canary.display())).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let trap = trap.to_str().unwrap();
    fs::write(project.join(".gitattributes"), "* filter=evil diff=evil merge=evil\n").unwrap();
    fs::write(
        project.join(".gitmodules"),
        "[submodule \"s\"]\n\tpath = s\n\turl = ext::touch%20pwned\n\tupdate = !touch pwned\n",
    )
    .unwrap();
    fixture.git(&project, &["add", "--all"]);
    fixture.git(
        &project,
        &["-c", "user.name=A", "-c", "user.email=a@b.invalid", "commit", "--quiet", "-m", "Traps"],
    );
    let bare = fixture.folder().join("remote.git");
    fixture.git(&project, &["push", "--quiet", bare.to_str().unwrap(), "main"]);
    for (key, value) in [
        ("core.fsmonitor", trap),
        ("core.sshCommand", trap),
        ("core.editor", trap),
        ("core.pager", trap),
        ("core.askPass", trap),
        ("diff.external", trap),
        ("diff.evil.command", trap),
        ("diff.evil.textconv", trap),
        ("merge.evil.driver", trap),
        ("filter.evil.clean", trap),
        ("filter.evil.smudge", trap),
        ("filter.evil.required", "true"),
        ("credential.helper", trap),
        ("gpg.program", trap),
        ("commit.gpgSign", "true"),
        ("remote.origin.uploadpack", trap),
        ("remote.origin.receivepack", trap),
        ("submodule.recurse", "true"),
        ("submodule.s.url", "ext::touch pwned"),
        ("submodule.s.update", "!touch pwned"),
        ("protocol.ext.allow", "always"),
        ("core.alternateRefsCommand", trap),
    ] {
        fixture.git(&project, &["config", "--local", key, value]);
    }
    for hook in [
        "applypatch-msg",
        "commit-msg",
        "fsmonitor-watchman",
        "post-checkout",
        "post-commit",
        "post-index-change",
        "post-merge",
        "post-rewrite",
        "pre-auto-gc",
        "pre-commit",
        "pre-merge-commit",
        "pre-push",
        "pre-rebase",
        "prepare-commit-msg",
        "reference-transaction",
    ] {
        let path = project.join(".git/hooks").join(hook);
        fs::write(&path, fs::read(trap).unwrap()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    canary
}

#[test]
fn nothing_of_the_repository_is_executed() {
    let mut fixture = FaultFixture::new();
    let canary = booby_trap(&fixture);
    fixture.serve(None);
    let id = fixture.start();
    // What the agent itself runs is the agent's business; so this commit is made without the traps.
    fs::write(fixture.worktree(&id).join("work.txt"), "work\n").unwrap();
    let quiet = |arguments: &[&str]| {
        let mut words = vec![
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "core.fsmonitor=false",
            "-c",
            "filter.evil.clean=",
            "-c",
            "filter.evil.required=false",
            "-c",
            "commit.gpgSign=false",
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@b.invalid",
        ];
        words.extend(arguments);
        fixture.git(&fixture.worktree(&id), &words)
    };
    quiet(&["add", "work.txt"]);
    quiet(&["commit", "--quiet", "-m", "Work"]);
    let sprung = || fs::read_to_string(&canary).ok();
    assert_eq!(sprung(), None, "start");
    let review = fixture.request_review(&id);
    assert_eq!(sprung(), None, "request_review");
    let reviewer = review["review_instance_id"].as_str().unwrap();
    done(fixture.call(reviewer, "send_feedback", &crate::feedback(), "f"));
    assert_eq!(sprung(), None, "send_feedback");
    done(fixture.call(&id, "create_pull_request", &crate::pull_request(), "p"));
    assert_eq!(sprung(), None, "create_pull_request");
    done(fixture.rest("POST", &format!("/api/instances/{id}/stop"), &Value::Null));
    assert_eq!(sprung(), None, "stop");
    done(fixture.rest("POST", "/api/gc", &Value::Null));
    assert_eq!(sprung(), None, "gc");
    fixture.end_server();
    fixture.serve(None);
    assert_eq!(sprung(), None, "reconciliation");
    assert_nothing_was_executed(&fixture);
}

/// What a hostile value of a key is: a program, or a file of the user's.
#[derive(Clone, Copy, Debug)]
enum HostileValue {
    Program,
    Victim,
}

/// Every key that git documents, except those for which a repository or a remote is refused.
fn every_key(program: &Path, victim: &Path, value: HostileValue) -> String {
    let listed = std::process::Command::new("git").args(["help", "--config"]).output().unwrap().stdout;
    let listed = String::from_utf8(listed).unwrap();
    let extra = [
        "filter.evil.process",
        "lfs.standalonetransferagent",
        "lfs.customtransfer.evil.path",
        "hook.evil.command",
        "trailer.evil.cmd",
        "includeIf.onbranch:**.path",
        "submodule.s.update",
    ];
    let mut text = String::new();
    for key in listed.lines().filter(|line| line.contains('.') && !line.contains([' ', '_'])).chain(extra) {
        let named = match key.split_once('<') {
            Some((before, rest)) => {
                let name = if before == "remote." { "origin" } else { "evil" };
                format!("{before}{name}{}", rest.split_once('>').unwrap().1)
            }
            None => key.to_owned(),
        };
        let (section, rest) = named.split_once('.').unwrap();
        let variable = rest.rsplit('.').next().unwrap();
        let kept = [
            "core.worktree",
            "remote.origin.fetch",
            "remote.origin.pushurl",
            "remote.origin.url",
            "remote.origin.vcs",
        ];
        if variable == "*" || section == "extensions" || kept.contains(&named.as_str()) {
            continue;
        }
        let head = match rest.rsplit_once('.') {
            Some((subsection, _)) => format!("{section} \"{subsection}\""),
            None => section.to_owned(),
        };
        let value = match value {
            HostileValue::Program => program,
            HostileValue::Victim => victim,
        };
        text += &format!("[{head}]\n\t{variable} = \"{}\"\n", value.display());
    }
    text
}

/// What gits of this fixture have in their environment or arguments that they must not have.
fn leaks(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let read = |name: &str| fs::read(process.path().join(name)).unwrap_or_default();
        // The name first: before it executes git, a child has everything of tamis.
        let (name, environment, arguments) = (read("comm"), read("environ"), read("cmdline"));
        let has = |bytes: &[u8], text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
        let ours = has(&environment, folder.as_os_str().as_encoded_bytes());
        if !ours || !["git", "sh", "env"].iter().any(|git| name.starts_with(git.as_bytes())) {
            continue;
        }
        let secret = [environment.as_slice(), &arguments].iter().any(|bytes| has(bytes, TOKEN.as_bytes()));
        let variable = [&b"GITHUB_TOKEN="[..], b"TAMIS_"]
            .iter()
            .any(|name| environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(name)));
        if secret || variable {
            found.push(String::from_utf8_lossy(&arguments).into_owned());
        }
    }
    found
}

fn finish(answer: Answer) {
    done(answer);
}

/// All operations on a repository whose configuration has these lines, or has them every other millisecond.
fn operate_on_hostile_repository(value: HostileValue, swaps: bool) {
    let mut fixture = FaultFixture::new();
    let canary = booby_trap(&fixture);
    let (project, folder) = (fixture.project(), fixture.folder());
    fs::write(folder.join("victim"), "precious\n").unwrap();
    let bare = folder.join("remote.git");
    for hook in ["pre-receive", "update", "post-receive", "post-update", "reference-transaction"] {
        fs::copy(folder.join("trap"), bare.join("hooks").join(hook)).unwrap();
    }
    let config = project.join(".git/config");
    let (remote, lines) = (bare.display(), every_key(&folder.join("trap"), &folder.join("victim"), value));
    let good = format!(
        "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = https://github.com/acme/app.git\n\tpushurl = {remote}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
    );
    let evil = format!("{good}{lines}");
    let swap = |text: &str| {
        let draft = config.with_extension("draft");
        fs::write(&draft, text).and_then(|()| fs::rename(&draft, &config)).unwrap();
    };
    swap(&evil);
    fixture.serve(None);
    let (done, paused) = (AtomicBool::new(false), Mutex::new(()));
    let found = Mutex::new(Vec::new());
    let operated = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                found.lock().unwrap().extend(leaks(&folder));
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        if swaps {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let _turn = paused.lock().unwrap();
                    swap(&good);
                    std::thread::sleep(Duration::from_micros(700));
                    swap(&evil);
                    std::thread::sleep(Duration::from_micros(700));
                }
            });
        }
        let operate = || {
            let id = fixture.start();
            fs::write(fixture.worktree(&id).join("work.txt"), "work\n").unwrap();
            {
                // What the agent itself runs is the agent's business; so this commit is made without the traps.
                let _turn = paused.lock().unwrap();
                swap(&good);
                let quiet =
                    ["-c", "core.hooksPath=/dev/null", "-c", "user.name=A", "-c", "user.email=a@b.invalid"];
                fixture.git(&fixture.worktree(&id), &[&quiet[..], &["add", "work.txt"]].concat());
                fixture.git(
                    &fixture.worktree(&id),
                    &[&quiet[..], &["commit", "--quiet", "-m", "Work"]].concat(),
                );
                swap(&evil);
            }
            let review = fixture.request_review(&id);
            let reviewer = review["review_instance_id"].as_str().unwrap();
            finish(fixture.call(reviewer, "send_feedback", &crate::feedback(), "f"));
            finish(fixture.call(&id, "create_pull_request", &crate::pull_request(), "p"));
            finish(fixture.rest("POST", &format!("/api/instances/{id}/stop"), &Value::Null));
            finish(fixture.rest("POST", "/api/gc", &Value::Null));
            finish(fixture.rest("POST", "/api/reconcile", &Value::Null));
        };
        let operated = std::panic::catch_unwind(std::panic::AssertUnwindSafe(operate));
        done.store(true, Ordering::Relaxed);
        operated
    });
    let what = format!("{value:?}, swaps: {swaps}");
    assert_eq!(fs::read_to_string(&canary).ok(), None, "{what}");
    assert_eq!(fs::read_to_string(folder.join("victim")).unwrap(), "precious\n", "{what}");
    assert_eq!(found.into_inner().unwrap(), [] as [&str; 0], "{what}");
    assert!(operated.is_ok(), "{what}");
    assert_nothing_was_executed(&fixture);
}

#[test]
fn no_key_of_a_repository_matters_in_any_operation() {
    for value in [HostileValue::Program, HostileValue::Victim] {
        for swaps in [false, true] {
            operate_on_hostile_repository(value, swaps);
        }
    }
}
