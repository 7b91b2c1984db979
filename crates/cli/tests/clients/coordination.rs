//! The whole story with real agents, real git and real tmux: a coding agent asks for review, a review agent appears and
//! sends feedback, which arrives by git; it asks again, reaches the limit, and makes a pull request.
//!
//! At each step the tables, the tree and the events are compared with what they should be.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tamis_agents::Tmux;
use tamis_store::rusqlite::Connection;
use tamis_testkit::{
    FakeGithub, FakePullRequest, FakeRepository, InstalledClients, InteractiveHome, ScriptStep,
    ScriptedModel, TestClient, run_bounded,
};

use crate::{LIMIT, tamis};

const TOKEN: &str = "ghp_thisIsOnlyADummyForTheTests000000000";
const CODER: &str = "work-7-a1";

/// A home with both agents, a repository, its remote, and a server that coordinates.
struct CoordinationFixture {
    home: InteractiveHome,
    github: FakeGithub,
    server: Option<Child>,
}

impl CoordinationFixture {
    fn project(&self) -> PathBuf {
        self.home.beside("project")
    }

    fn data(&self) -> PathBuf {
        self.home.beside("data")
    }

    fn worktree(&self, id: &str) -> PathBuf {
        self.data().join("agents/worktrees").join(id)
    }

    fn tamis(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(tamis());
        command.env_clear().envs(self.home.environment()).env("TAMIS_DATA_DIR", self.data());
        command.env("GITHUB_TOKEN", TOKEN).env("GITHUB_API_URL", self.github.url());
        command.env("TAMIS_MODEL_USE", "never").current_dir(self.project()).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> String {
        let finished = run_bounded(self.tamis(arguments), LIMIT);
        assert_eq!(finished.code(), Some(0), "tamis {arguments:?}: {}", finished.stderr);
        finished.stdout
    }

    fn show(&self, id: &str) -> Value {
        serde_json::from_str(&self.run(&["agents", "show", id, "--json"])).expect("JSON")
    }

    fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        git(&self.home, folder, arguments)
    }

    /// The events since the last look, in a few words each.
    fn events_after(&self, after: &mut i64) -> Vec<String> {
        let database = Connection::open(self.data().join("state.db")).expect("a database");
        let mut statement = database
            .prepare(
                "SELECT seq, kind, coalesce(instance_id, '-'), coalesce(tool_name, '-'), coalesce(success, 2),
                        coalesce(status_before, ''), coalesce(status_after, ''), coalesce(error_code, '')
                 FROM mcp_events WHERE seq > ?1 ORDER BY seq",
            )
            .expect("a table");
        let rows = statement.query_map([*after], |row| {
            let text = |column| row.get::<_, String>(column);
            let (kind, instance, tool) = (text(1)?, text(2)?, text(3)?);
            let words = match kind.as_str() {
                "status_changed" => format!("{instance} {} -> {}", text(5)?, text(6)?),
                "tool_called" if row.get::<_, i64>(4)? == 1 => format!("{instance} {tool}"),
                "tool_called" => format!("{instance} {tool} {}", text(7)?),
                _ => format!("{instance} {kind}"),
            };
            Ok((row.get::<_, i64>(0)?, words))
        });
        let rows: Vec<_> = rows.expect("rows").map(|row| row.expect("a row")).collect();
        *after = rows.last().map_or(*after, |(seq, _)| *seq);
        rows.into_iter().map(|(_, words)| words).collect()
    }
}

impl Drop for CoordinationFixture {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
        if let Ok(tmux) = Tmux::for_data_folder(&self.data()) {
            let _ = Command::new("tmux").args(["-L", tmux.server(), "kill-server"]).output();
        }
    }
}

fn git(home: &InteractiveHome, folder: &Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.env_clear().envs(home.environment()).current_dir(folder);
    git.args(["-c", "user.name=t", "-c", "user.email=t@t.invalid"]).args(arguments);
    let finished = run_bounded(git, LIMIT);
    assert_eq!(finished.code(), Some(0), "git {arguments:?}: {}", finished.stderr);
    finished.stdout.trim_end().to_owned()
}

/// Waits for what happens after an answer: the other side's end, say.
#[track_caller]
fn eventually<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < LIMIT, "still not so: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Work that the coding agent does just before it asks for review.
fn work(home: &Path, worktree: &Path, text: &str) {
    fs::write(worktree.join("answer.txt"), text).expect("a file");
    let mut git = Command::new("git");
    git.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", home).current_dir(worktree);
    git.args([
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@t.invalid",
        "commit",
        "--quiet",
        "-m",
        text,
        "--",
        "answer.txt",
    ]);
    let mut add = Command::new("git");
    add.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", home).current_dir(worktree);
    add.args(["add", "--", "answer.txt"]);
    for command in [add, git] {
        let finished = run_bounded(command, LIMIT);
        assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
    }
}

fn feedback(words: &str) -> Value {
    json!({"feedback": words, "feedback_type": "needs_work", "actionable_items": ["say why"]})
}

fn reviews_up_to_the_pull_request(coder: (TestClient, &str), reviewer: (TestClient, &str)) {
    let home = InteractiveHome::new(&InstalledClients::installed());
    let project = home.beside("project");
    fs::create_dir(&project).expect("a folder");
    git(&home, &project, &["init", "--quiet", "--initial-branch=main"]);
    fs::write(project.join("README.md"), "a project\n").expect("a file");
    git(&home, &project, &["add", "--", "README.md"]);
    git(&home, &project, &["commit", "--quiet", "--message=Begin"]);
    let bare = home.beside("remote.git");
    let bare_path = bare.to_str().expect("a path in UTF-8").to_owned();
    git(&home, &home.beside(""), &["init", "--quiet", "--bare", "--initial-branch=main", &bare_path]);
    git(&home, &project, &["push", "--quiet", &bare_path, "main"]);
    git(&home, &project, &["remote", "add", "origin", "https://github.com/octo-org/tool.git"]);
    git(&home, &project, &["config", "remote.origin.pushurl", &bare_path]);

    // The coding agent's work is done by its script, just before it asks.
    let folder: Arc<Mutex<(PathBuf, PathBuf)>> = Arc::default();
    *folder.lock().expect("a place") =
        (home.path().to_owned(), home.beside("data").join("agents/worktrees").join(CODER));
    let does = |text: &'static str| {
        let folder = Arc::clone(&folder);
        move |_: &tamis_testkit::ScriptHistory<'_>| {
            let (home, worktree) = folder.lock().expect("a place").clone();
            work(&home, &worktree, text);
            json!({"completion_message": format!("I have written {text}")})
        }
    };
    let coding = vec![
        ScriptStep::call("request_review", does("41")),
        ScriptStep::await_words("Review 1 is done"),
        ScriptStep::call("request_review", does("42")),
        ScriptStep::await_words("Review 2 is done"),
        ScriptStep::call("request_review", does("42, since 6 * 7 is")),
        ScriptStep::call(
            "create_pull_request",
            |_| json!({"title": "The answer", "description": "It is 42."}),
        ),
    ];
    let first = vec![ScriptStep::call("send_feedback", |_| feedback("41 is wrong."))];
    let second = vec![ScriptStep::call("send_feedback", |_| feedback("Right, but why?"))];
    let (first_id, second_id) = ("review-7-a1-1", "review-7-a1-2");
    let marker = |id: &str| format!("You are {id}");
    let spelled = |agent: TestClient| move |tool: &str| agent.tool_name("tamis", tool);
    let coding_model =
        ScriptedModel::start_many(coder.0.wire(), spelled(coder.0), vec![(marker(CODER), coding)]);
    let reviewing_model = ScriptedModel::start_many(
        reviewer.0.wire(),
        spelled(reviewer.0),
        vec![(marker(first_id), first), (marker(second_id), second)],
    );
    let home =
        home.with(coder.0, &coding_model.url(), &project).with(reviewer.0, &reviewing_model.url(), &project);
    let repository =
        FakeRepository { token: TOKEN.to_owned(), git: Some(bare.clone()), ..FakeRepository::default() };
    let mut fixture = CoordinationFixture { home, github: FakeGithub::start(repository), server: None };

    // A server that coordinates, two reviews at most, and the coding agent.
    let mut serve = fixture.tamis(&["serve", "--port", "0"]);
    let server = serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    fixture.server = Some(server.expect("a server"));
    eventually("there is a coordinator", || {
        fixture.data().join("agents/coordinator.json").exists().then_some(())
    });
    fixture.run(&["agents", "config", "review.max_iterations", "2"]);
    fixture.run(&["agents", "config", "review.agent", reviewer.1]);
    let mut seen = 0;
    fixture.events_after(&mut seen);
    fixture.run(&["agents", "start", "--issue", "7", "--task", "Find the answer.", "--agent", coder.1]);

    // The first review.
    let results = coding_model.await_results(&marker(CODER), 1);
    let review = results[0].json();
    let expected = json!({
        "review_instance_id": first_id, "session_name": first_id, "worktree_path": fixture.worktree(first_id),
        "branch_name": format!("tamis/{CODER}"),
    });
    assert_eq!(review, expected);
    reviewing_model.await_words(&marker(first_id), "I have written 41");
    reviewing_model.await_results(&marker(first_id), 1);
    coding_model.await_words(&marker(CODER), "Review 1 is done");
    let results = reviewing_model.results_of(&marker(first_id));
    let sent = results[0].json();
    assert_eq!((&sent["target_instance_id"], &sent["cleanup_status"]), (&json!(CODER), &json!("scheduled")));

    // The second one, which begins when the coding agent has received the feedback of the first.
    coding_model.await_results(&marker(CODER), 2);
    reviewing_model.await_results(&marker(second_id), 1);
    coding_model.await_words(&marker(CODER), "Review 2 is done");

    // The limit, and the pull request.
    let results = coding_model.await_results(&marker(CODER), 4);
    let refused = results[2].json();
    let expected = json!({
        "code": "REVIEW_LIMIT_EXCEEDED", "error": "REVIEW_LIMIT_EXCEEDED",
        "message": format!("Maximum review iterations (2) reached for agent {CODER}"),
        "instance_id": CODER, "tool_name": "request_review", "current_iteration": 2, "max_iterations": 2,
        "suggestions": [
            "Create pull request with current work", "Abandon this approach and try different solution",
            "Manually review and fix issues before requesting review",
        ],
        "warning": format!(
            "after 2 more requests for review that are refused, {CODER} is abandoned, and then it can create no pull request"
        ),
    });
    assert_eq!(refused, expected);
    let pulls = fixture.github.pull_requests();
    let [FakePullRequest { number, title, head, base, body, .. }] = pulls.as_slice() else {
        panic!("{pulls:?}")
    };
    let wanted = ("The answer", "tamis/work-7-a1", "main");
    assert_eq!((title.as_str(), head.as_str(), base.as_str()), wanted);
    for words in ["It is 42.", "41 is wrong.", "Right, but why?", first_id, second_id] {
        assert!(body.contains(words), "{words} is not in {body}");
    }
    let expected = json!({
        "pr_number": number, "pr_url": fixture.github.pull_url(*number), "branch_name": format!("tamis/{CODER}"),
    });
    assert_eq!(results[3].json(), expected);
    fixture.github.assert_clean();

    // The tree: the notes came, and are gone again from what is to be pulled.
    let branch = format!("refs/heads/tamis/{CODER}");
    assert_eq!(fixture.git(&bare, &["ls-tree", "--name-only", "-r", &branch]), "README.md\nanswer.txt");
    assert_eq!(fixture.git(&bare, &["show", &format!("{branch}:answer.txt")]), "42, since 6 * 7 is");
    let history = fixture.git(&fixture.project(), &["log", "--format=%H", &branch]);
    let shown = fixture.show(CODER);
    for given in shown["feedback"].as_array().expect("feedback") {
        let commit = given["git_commit_hash"].as_str().expect("a commit");
        assert!(history.contains(commit), "{given}");
        let path = given["path"].as_str().expect("a path");
        let notes = fixture.git(&fixture.project(), &["show", &format!("{commit}:{path}")]);
        assert!(notes.contains(given["feedback"].as_str().expect("a text")), "{notes}");
    }

    // The tables.
    assert_eq!((&shown["status"], &shown["pr_number"]), (&json!("PR_CREATED"), &json!(number)));
    let iterations: Vec<_> = shown["reviews"].as_array().expect("reviews").iter().collect();
    let of = |field: &str| iterations.iter().map(|review| review[field].clone()).collect::<Value>();
    assert_eq!(of("review_iteration"), json!([1, 2]));
    assert_eq!(of("outcome"), json!(["feedback", "feedback"]));
    assert_eq!(of("child_instance"), json!([first_id, second_id]));
    for id in [first_id, second_id] {
        eventually(&format!("{id} is cleaned up"), || {
            let shown = fixture.show(id);
            (shown["phase"] == "gone" && shown["status"] == "TERMINATED" && shown["agent"] == reviewer.1)
                .then_some(())
        });
        assert!(!fixture.worktree(id).exists());
    }
    let tmux = Tmux::for_data_folder(&fixture.data()).expect("a data folder");
    let sessions: Vec<_> = tmux
        .sessions()
        .expect("sessions")
        .into_iter()
        .filter(|session| session.alive)
        .map(|it| it.id.to_string())
        .collect();
    assert_eq!(sessions, [CODER]);

    // The events, all of them, in the order in which it happened.
    let happened = fixture.events_after(&mut seen);
    let mut expected = vec![format!("{CODER} instance_created")];
    for id in [first_id, second_id] {
        expected.extend([
            format!("{id} instance_created"),
            format!("{CODER} STARTED -> WAITING_REVIEW"),
            format!("{CODER} request_review"),
            format!("{id} STARTED -> TERMINATED"),
            format!("{CODER} WAITING_REVIEW -> STARTED"),
            format!("{id} send_feedback"),
        ]);
    }
    expected.extend([
        format!("{CODER} request_review REVIEW_LIMIT_EXCEEDED"),
        format!("{CODER} STARTED -> PR_CREATED"),
        format!("{CODER} create_pull_request"),
    ]);
    assert_eq!(happened, expected);

    // Merged on GitHub, it is over.
    fixture.github.close(*number, true);
    fixture.run(&["agents", "stop", CODER]);
    assert_eq!(tmux.sessions().expect("sessions"), []);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn claude_code_is_reviewed_by_codex() {
    reviews_up_to_the_pull_request((TestClient::ClaudeCode, "claude"), (TestClient::Codex, "codex"));
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn codex_is_reviewed_by_claude_code() {
    reviews_up_to_the_pull_request((TestClient::Codex, "codex"), (TestClient::ClaudeCode, "claude"));
}
