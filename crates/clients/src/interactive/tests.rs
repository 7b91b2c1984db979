use serde_json::json;

use super::*;
use crate::{ClientTool, McpServer};

fn options(prompt: &str) -> InteractiveOptions {
    let server = McpServer {
        command: "/opt/tamis".to_owned(),
        args: vec!["mcp".to_owned()],
        env: [("TAMIS_IDENTITY".to_owned(), "/d/identity".to_owned())].into(),
    };
    InteractiveOptions {
        run: RunOptions {
            mcp_servers: [("tamis".to_owned(), server)].into(),
            approved: vec![ClientTool { server: Some("tamis".to_owned()), name: "read".to_owned() }],
            model: Some("small".to_owned()),
            agent_args: vec!["--theirs".to_owned()],
        },
        prompt: prompt.to_owned(),
        worktree: "/d/work \"tree\"".into(),
        git_folder: Some("/r/.git".into()),
        home: "/no/such/home".into(),
        state: "/d/state".into(),
    }
}

fn build(agent: &str, prompt: &str) -> InteractiveLaunch {
    interactive_agent(agent).unwrap().interactive(&options(prompt))
}

#[test]
fn claude_gets_its_server_in_one_argument_and_the_prompt_after_the_flags() {
    let config = json!({"mcpServers": {"tamis": {
        "type": "stdio", "command": "/opt/tamis", "args": ["mcp"], "env": {"TAMIS_IDENTITY": "/d/identity"},
        "alwaysLoad": true,
    }}});
    let config = format!("--mcp-config={config}");
    let args = [&config, "--allowedTools=mcp__tamis__read", "--model=small", "--theirs", "--", "Do it."];
    assert_eq!(
        build("claude", "Do it."),
        InteractiveLaunch { args: args.map(str::to_owned).into(), ..InteractiveLaunch::default() }
    );
}

#[test]
fn codex_trusts_the_worktree_and_may_commit() {
    let args = [
        "--config",
        "check_for_update_on_startup=false",
        "--config",
        r#"projects={"/d/work \"tree\""={trust_level="trusted"}}"#,
        "--config",
        "mcp_servers.tamis.startup_timeout_sec=60",
        "--config",
        "mcp_servers.tamis.tool_timeout_sec=180",
        "--add-dir",
        "/r/.git",
        "--config",
        r#"mcp_servers.tamis.command="/opt/tamis""#,
        "--config",
        r#"mcp_servers.tamis.args=["mcp"]"#,
        "--config",
        r#"mcp_servers.tamis.env.TAMIS_IDENTITY="/d/identity""#,
        "--config",
        r#"mcp_servers.tamis.tools.read.approval_mode="approve""#,
        "--model=small",
        "--theirs",
        "--",
        "Do it.",
    ];
    assert_eq!(
        build("codex", "Do it."),
        InteractiveLaunch { args: args.map(str::to_owned).into(), ..InteractiveLaunch::default() }
    );
}

#[test]
fn gemini_gets_a_home_with_the_users_files_and_our_server() {
    let home = tempfile::tempdir().unwrap();
    let theirs = home.path().join(".gemini");
    std::fs::create_dir(&theirs).unwrap();
    std::fs::write(theirs.join("oauth_creds.json"), "{}").unwrap();
    let settings = "{\"ui\": {\"theme\": \"x\"}, // mine\n \"mcpServers\": {\"own\": {\"command\": \"o\"}}}";
    std::fs::write(theirs.join("settings.json"), settings).unwrap();
    let options = InteractiveOptions { home: home.path().to_owned(), ..options("Do it.") };

    let tamis = json!({"command": "/opt/tamis", "args": ["mcp"], "env": {"TAMIS_IDENTITY": "/d/identity"}});
    let settings = json!({"ui": {"theme": "x"}, "mcpServers": {"own": {"command": "o"}, "tamis": tamis}});
    let args = [
        "--skip-trust",
        "--allowed-tools=mcp_tamis_read",
        "--model=small",
        "--theirs",
        "--prompt-interactive=Do it.",
    ];
    let ours = PathBuf::from("/d/state/gemini-home/.gemini");
    let expected = InteractiveLaunch {
        args: args.map(str::to_owned).into(),
        env: [("GEMINI_CLI_HOME".to_owned(), "/d/state/gemini-home".to_owned())].into(),
        files: vec![(ours.join("settings.json"), settings.to_string())],
        links: vec![(ours.join("oauth_creds.json"), theirs.join("oauth_creds.json"))],
    };
    assert_eq!(interactive_agent("gemini").unwrap().interactive(&options), expected);
}

#[test]
fn opencode_gets_its_settings_in_its_environment() {
    let settings = json!({
        "mcp": {"tamis": {
            "type": "local", "command": ["/opt/tamis", "mcp"], "environment": {"TAMIS_IDENTITY": "/d/identity"},
            "enabled": true, "timeout": 180_000,
        }},
        "permission": {"tamis_read": "allow"},
    });
    let expected = InteractiveLaunch {
        args: ["--model=small", "--theirs", "--prompt=Do it."].map(str::to_owned).into(),
        env: [("OPENCODE_CONFIG_CONTENT".to_owned(), settings.to_string())].into(),
        ..InteractiveLaunch::default()
    };
    assert_eq!(build("opencode", "Do it."), expected);
}

#[test]
fn a_prompt_that_cannot_be_an_argument_is_read_from_a_file() {
    let long = "x".repeat(LONGEST_ARGUMENT + 1);
    for prompt in ["-p", "/quit", "!id", "", "a\0b", &long] {
        for agent in INTERACTIVE_AGENTS {
            let built = agent.interactive(&options(prompt));
            let instruction = "Read your task in the file /d/state/task.md and do what it says.";
            let last = built.args.last().unwrap();
            assert!(last.ends_with(instruction), "{} {last}", agent.client.name());
            assert_eq!(built.files.last(), Some(&("/d/state/task.md".into(), prompt.to_owned())));
        }
    }
}
