//! Real agents with their screens, in tmux: each begins with its prompt, calls a tool of our server
//! without confirmation, ends its turn, and goes on when it receives a message.

use std::path::{Path, PathBuf};
use std::process::Command;

use tamis_agents::{AgentType, InstanceId, Launch, SessionFiles, Tmux, agent_environment};
use tamis_clients::{ClientTool, InteractiveOptions, McpServer, RunOptions, interactive_agent};
use tamis_testkit::{InstalledClients, InteractiveHome, ScriptStep, ScriptedModel, TestClient, run_bounded};

use crate::{LIMIT, sample, tamis};

const MARKER: &str = "You are work-1-a1";
const FEEDBACK: &str = "Feedback has come: \"read\" $(it)";

/// The server ends with the test, however that ends.
struct Sessions(Tmux);

impl Drop for Sessions {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", self.0.server(), "kill-server"]).output();
    }
}

fn git(home: &InteractiveHome, folder: &Path, args: &[&str]) {
    let mut git = Command::new("git");
    git.env_clear().envs(home.environment()).current_dir(folder);
    git.args(["-c", "user.name=t", "-c", "user.email=t@t.invalid"]).args(args);
    let finished = run_bounded(git, LIMIT);
    assert_eq!(finished.code(), Some(0), "git {args:?}: {}", finished.stderr);
}

/// A repository with one commit, and a worktree of it.
fn repository(home: &InteractiveHome) -> (PathBuf, PathBuf) {
    let [repository, worktree] = ["repository", "worktree"].map(|name| home.beside(name));
    std::fs::create_dir(&repository).expect("a folder");
    git(home, &repository, &["init", "--quiet", "--initial-branch=main"]);
    git(home, &repository, &["commit", "--quiet", "--allow-empty", "--message=first"]);
    let path = worktree.to_str().expect("a path in UTF-8");
    git(home, &repository, &["worktree", "add", "--quiet", "-b", "tamis/work-1-a1", path]);
    (repository, worktree)
}

fn works_and_is_told(agent: TestClient, name: &str) {
    let script = vec![
        ScriptStep::call("prune_text", |_| sample::prune_arguments()),
        ScriptStep::await_words(FEEDBACK),
        ScriptStep::call("recover_text", |history| sample::recover_arguments(&history.results[0].json())),
    ];
    let spell = move |tool: &str| agent.tool_name("tamis", tool);
    let model = ScriptedModel::start_many(agent.wire(), spell, vec![(MARKER.to_owned(), script)]);
    let home = InteractiveHome::new(&InstalledClients::installed());
    let (repository, worktree) = repository(&home);
    let home = home.with(agent, &model.url(), &repository);

    let id = InstanceId::of_worker(AgentType::Coding, "1", 1);
    let data = home.beside("data");
    std::fs::create_dir(&data).expect("a data folder");
    let sessions = Sessions(Tmux::for_data_folder(&data).expect("a data folder"));
    let text = |path: &Path| path.to_str().expect("a path in UTF-8").to_owned();
    let server = McpServer {
        command: text(&tamis()),
        args: ["mcp", "--tools", "prune"].map(str::to_owned).into(),
        env: [("TAMIS_DATA_DIR".to_owned(), text(&data))].into(),
    };
    let tools = ["prune_text", "recover_text"];
    let options = InteractiveOptions {
        run: RunOptions {
            mcp_servers: [("tamis".to_owned(), server)].into(),
            approved: tools
                .map(|name| ClientTool { server: Some("tamis".to_owned()), name: name.to_owned() })
                .into(),
            // Of others Gemini CLI asks first which to take.
            model: (agent == TestClient::GeminiCli).then(|| "gemini-2.5-flash".to_owned()),
            ..RunOptions::default()
        },
        prompt: format!("{MARKER}.\nFollow the \"script\" to the letter: $HOME #{{pane_id}}"),
        worktree: worktree.clone(),
        git_folder: Some(repository.join(".git")),
        home: home.path().to_owned(),
        state: data.join("state"),
    };
    let env = agent_environment(home.environment().map(|(name, value)| (name.into(), value.into())));
    let known = interactive_agent(name).expect("an agent");
    let launch = Launch::of_agent(known, &options, env).expect("a program");
    let (file, log) = (data.join("launch/x.json"), data.join("logs/x.log"));
    let files = SessionFiles { tamis: &tamis(), launch: &file, log: &log };
    launch.start(&sessions.0, &id, files).expect("a session");

    let results = model.await_results(MARKER, 1);
    let pruned = results[0].json();
    sample::assert_pruned(&pruned);
    assert!(!file.exists(), "the launch file is still there");
    sessions.0.send_message(&id, FEEDBACK).expect("a session that listens");
    let results = model.await_results(MARKER, 2);
    sample::assert_recovered(&pruned, &results[1].json());
    assert_eq!(model.await_words(MARKER, FEEDBACK), 1, "it received the message between the calls");
    // The prompt came through as it was.
    assert_eq!(model.await_words(MARKER, &options.prompt), 0);

    let screen = sessions.0.capture(&id, 500).expect("a screen");
    assert!(!screen.trim().is_empty() && !screen.contains('\u{1b}'), "{screen}");
    let logged = std::fs::read(&log).expect("a log");
    assert!(String::from_utf8_lossy(&logged).contains(MARKER), "{}", logged.len());
    sessions.0.end(&id).expect("an end");
    let left = sessions.0.sessions().expect("a list");
    assert_eq!(left, []);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn claude_code_works_and_is_told() {
    works_and_is_told(TestClient::ClaudeCode, "claude");
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn codex_works_and_is_told() {
    works_and_is_told(TestClient::Codex, "codex");
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gemini_cli_works_and_is_told() {
    works_and_is_told(TestClient::GeminiCli, "gemini");
}
