//! `tamis agents` through the program, with real git and tmux, and commands in the agents' place.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::agents::{AgentFixture, is_serve};
use common::terminal::on_terminal;
use common::{Mcp, Server, eventually, finish, http, output};
use serde_json::{Value, json};

#[test]
fn what_is_asked_wrongly_is_said_before_anything_is_started() {
    let fixture = AgentFixture::new();
    let said = |arguments: &[&str], code: i32| {
        let ran = fixture.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{arguments:?} said {}", ran.stderr);
        ran.stderr
    };
    assert_eq!(
        said(&["agents", "start"], 2),
        "error: the agent has nothing to do\n\n\
         hint: give it a task with `--task \"…\"`, an issue with `--issue N`, or both\n"
    );
    assert!(said(&["agents", "start", "--task", "  "], 2).starts_with("error: the agent has nothing to do"));
    assert!(said(&["agents", "start", "--issue", "0"], 2).contains("0 is not in 1.."));
    assert!(said(&["agents", "start", "--task", "x", "--agent", "emacs"], 2).contains("claude"));
    assert!(said(&["agents", "start", "--task", "x", "--type", "review"], 2).contains("coding, planning"));
    assert!(said(&["agents", "start", "--task", "x", "--agent", "codex", "--", "ls"], 2).contains("--agent"));
    let outside = fixture.base.folder.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let outside = outside.canonicalize().unwrap();
    assert_eq!(
        said(&["agents", "start", "--task", "x", "--repository", outside.to_str().unwrap()], 2),
        format!(
            "error: `{}` is not in a git repository\n\nhint: create one with `git init`; an agent needs a commit to start from\n",
            outside.display()
        )
    );
    let ran = Command::new("git").args(["init", "-q"]).current_dir(&outside).status().unwrap();
    assert!(ran.success());
    assert_eq!(
        said(&["agents", "start", "--task", "x", "--repository", outside.to_str().unwrap()], 1),
        format!(
            "error: the repository `{}` has no commit yet\n\n\
             hint: create the first commit: git add --all && git commit -m \"First commit\"\n",
            outside.display()
        )
    );
    assert!(said(&["agents", "show", "../x"], 2).contains("`../x` is not the id of an instance"));
    for command in ["show", "logs", "attach"] {
        assert_eq!(
            said(&["agents", command, "work-1-a1"], 1),
            "error: there is no instance `work-1-a1`\n\nhint: `tamis agents list` lists the instances\n"
        );
    }
    assert!(
        said(&["agents", "stop", "work-1-a1"], 1).starts_with("error: there is no instance `work-1-a1`\n")
    );
    assert!(said(&["agents", "stop"], 2).contains("<ID>"));
    assert_eq!(fixture.coordinator(), None, "nothing was started for any of it");
    assert_eq!(fixture.run(&["agents", "list"]).stderr.split(';').next(), Some("no instances"));
    assert_eq!(fixture.json(&["agents", "list", "--json"]), json!([]));
}

#[test]
fn settings_are_shown_set_and_checked() {
    let fixture = AgentFixture::new();
    assert_eq!(fixture.run(&["agents", "config", "review.max_iterations"]).stdout, "3\n");
    assert_eq!(fixture.run(&["agents", "config", "review.max_iterations", "4"]).stdout, "4\n");
    let shown = fixture.json(&["agents", "config", "review.max_iterations", "--json"]);
    assert_eq!((&shown["value"], &shown["default"]), (&json!("4"), &json!("3")));
    let all = fixture.json(&["agents", "config", "--json"]);
    assert!(all.as_array().unwrap().iter().any(|setting| setting["key"] == "review.timeout_hours"), "{all}");
    for (arguments, why) in [
        (&["review.max_iterations", "none"][..], "must be a whole number"),
        (&["review.nothing"], "hint: `tamis agents config` lists them"),
        (&["agent.args.claude", "--model"], "JSON list"),
    ] {
        let ran = fixture.run(&[&["agents", "config"], arguments].concat());
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
}

#[test]
fn an_agent_from_its_start_to_its_clean_up() {
    let fixture = AgentFixture::new();
    let command = "echo \"at work as $TAMIS_INSTANCE\"; exec sleep 600";
    let started = fixture.run(&[
        "agents",
        "start",
        "--issue",
        "12",
        "--task",
        "mend \u{1b}[31mit",
        "--",
        "sh",
        "-c",
        command,
    ]);
    assert_eq!(started.code, Some(0), "{}", started.stderr);
    let serve = fixture.coordinator().unwrap();
    assert!(is_serve(&serve["pid"].to_string()), "it was started in the background");
    assert!(
        started.stderr.contains("started `tamis serve` in the background at http://127.0.0.1:"),
        "{}",
        started.stderr
    );
    let id = "work-12-a1";
    for words in [id, "tamis/work-12-a1"] {
        assert!(started.stdout.contains(words), "{}", started.stdout);
    }
    assert!(started.stderr.contains("`tamis agents attach work-12-a1`"), "{}", started.stderr);

    // The second one finds the server there.
    let second = fixture.start(&["--task", "mend the parser", "--type", "planning"]);
    assert_eq!((&second["type"], &second["status"]), (&json!("planning"), &json!("STARTED")));
    assert_eq!(fixture.coordinator().unwrap(), serve);

    let list = fixture.json(&["agents", "list", "--json"]);
    assert_eq!((&list[0]["id"], &list[0]["status"]), (&json!(id), &json!("STARTED")), "{list}");
    let table = fixture.run(&["agents", "list"]).stdout;
    let row = table.lines().nth(1).unwrap();
    assert!(row.starts_with("work-12-a1 ") && row.ends_with("mend \\x1b[31mit"), "{table}");
    let shown = fixture.run(&["agents", "show", id]).stdout;
    assert!(shown.contains("\nbranch      tamis/work-12-a1\n") && !shown.contains('\u{1b}'), "{shown}");
    let details = fixture.json(&["agents", "show", id, "--json"]);
    assert_eq!(details["task"], "mend \u{1b}[31mit");
    assert_eq!(details["events"][0]["kind"], "instance_created", "{details}");

    let worktree = PathBuf::from(details["worktree"].as_str().unwrap());
    assert_eq!(fixture.git(&worktree, &["branch", "--show-current"]), "tamis/work-12-a1");
    eventually("its screen can be seen", || {
        fixture.run(&["agents", "logs", id]).stdout.contains("at work as work-12-a1")
    });
    let attached = fixture.run(&["agents", "attach", id]);
    assert_eq!(attached.code, Some(2), "this is no terminal");
    assert!(attached.stderr.contains("tamis agents logs --follow work-12-a1"), "{}", attached.stderr);

    // One of them leaves uncommitted work behind.
    std::fs::write(worktree.join("notes.txt"), "not committed").unwrap();
    let stopped = fixture.run(&["agents", "stop", id, second["id"].as_str().unwrap()]);
    assert_eq!(stopped.code, Some(0), "{}", stopped.stderr);
    assert!(stopped.stdout.starts_with("work-12-a1 is TERMINATED; its work stays in "), "{}", stopped.stdout);
    assert!(fixture.statuses().iter().all(|(_, status)| status == "TERMINATED"));
    let attached = fixture.run(&["agents", "attach", id]);
    assert_eq!(attached.code, Some(1));
    assert!(
        attached.stderr.ends_with("hint: `tamis agents logs work-12-a1` shows what it did\n"),
        "{}",
        attached.stderr
    );
    let log = fixture.run(&["agents", "logs", id]);
    assert!(log.stdout.contains("at work as work-12-a1"), "{}{}", log.stdout, log.stderr);
    let followed = fixture.run(&["agents", "logs", "--follow", id]);
    assert!(followed.stdout.contains("at work as work-12-a1"), "it ends, since the agent has");

    let disposals = |arguments: &[&str]| fixture.json(&[&["agents", "gc", "--json"], arguments].concat());
    let planned = disposals(&["--dry-run"]);
    let other = PathBuf::from(second["worktree"].as_str().unwrap());
    assert!(other.exists() && worktree.exists(), "nothing is removed yet");
    let done = disposals(&[]);
    assert_eq!(done.as_array().unwrap().len(), planned.as_array().unwrap().len(), "{planned}\n{done}");
    assert!(!other.exists(), "{done}");
    assert_eq!(std::fs::read_to_string(worktree.join("notes.txt")).unwrap(), "not committed");
    let kept = done.as_array().unwrap().iter().find(|disposal| disposal["instance"] == id).unwrap();
    assert!(!kept["kept"].as_array().unwrap().is_empty(), "it says why: {kept}");

    let purged = fixture.run(&["data", "purge", "--yes"]);
    assert!(purged.stderr.contains("of agents and their database rows are kept"), "{}", purged.stderr);
    assert!(worktree.join("notes.txt").exists());
    assert_eq!(fixture.json(&["data", "show", "--json"])["agents"]["worktrees"], 1);
}

/// The server, commands and agents run in different folders.
#[test]
fn a_relative_path_of_the_database_names_one_file() {
    let fixture = AgentFixture::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let tamis = |folder: Option<&Path>, arguments: &[&str]| {
        let mut command = fixture.tamis(arguments);
        command.env("MCP_DATABASE_PATH", "shared.db");
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let show = "echo \"database=$TAMIS_AGENTS_DATABASE=\"; exec sleep 600";
    tamis(None, &["agents", "start", "--task", "x", "--", "sh", "-c", show]);
    let database = fixture.base.data().join("shared.db");
    for folder in [None, Some(elsewhere.path()), Some(database.parent().unwrap())] {
        let listed: Value = serde_json::from_str(&tamis(folder, &["agents", "list", "--json"])).unwrap();
        assert_eq!(listed[0]["id"], "work-x-a1", "{folder:?}");
    }
    let named = format!("database={}=", database.display());
    eventually("the agent has it in full", || tamis(None, &["agents", "logs", "work-x-a1"]).contains(&named));
    let worktree = database.with_file_name("agents/worktrees/work-x-a1");
    for folder in [elsewhere.path(), &worktree] {
        assert!(!folder.join("shared.db").exists(), "{}", folder.display());
    }
    assert!(database.exists() && !database.with_file_name("state.db").exists());
}

#[test]
fn an_agent_that_ends_is_noticed() {
    let fixture = AgentFixture::new();
    let _server = fixture.coordinating();
    // A program may be named by a path from where one is.
    let script = fixture.base.work().join("my-agent");
    std::fs::write(&script, "#!/bin/sh\nexec sleep 600\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mine = fixture.json(&["agents", "start", "--task", "mine", "--json", "--", "./my-agent", "./x"]);
    assert_eq!(mine["args"], json!([script.canonicalize().unwrap(), "./x"]));
    // The agent may or may not end before `start` checks; if it does, `start` reports it.
    let started =
        fixture.run(&["agents", "start", "--task", "quit", "--", "sh", "-c", "echo no key; exit 3"]);
    assert!(
        started.stdout.starts_with("started   work-quit-a1, sh -c"),
        "{}{}",
        started.stdout,
        started.stderr
    );
    if started.code == Some(1) {
        let expected = "error: the agent of work-quit-a1 ended immediately after it started with exit code 3\n  no key\n";
        assert!(started.stderr.contains(expected), "{}", started.stderr);
    } else {
        assert_eq!(started.code, Some(0), "{}", started.stderr);
    }
    // Without a request, and well within a minute.
    eventually("its end is written down", || fixture.statuses()[1].1 == "TERMINATED");
    let details = fixture.json(&["agents", "show", "work-quit-a1", "--json"]);
    assert_eq!(
        (&details["exit_code"], &details["reason"]),
        (&json!(3), &json!("its agent exited with code 3"))
    );
}

#[test]
fn an_agent_with_a_home_of_its_own_has_what_is_in_the_users() {
    let fixture = AgentFixture::new();
    let bin = fixture.base.folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    // What Gemini CLI would find: its settings with our server in them, and who its user is.
    let gemini = bin.join("gemini");
    std::fs::write(&gemini, "#!/bin/sh\ncat \"$GEMINI_CLI_HOME/.gemini/oauth_creds.json\"\nexec sleep 600\n")
        .unwrap();
    std::fs::set_permissions(&gemini, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut start = fixture.tamis(&["agents", "start", "--agent", "gemini", "--task", "look", "--json"]);
    let home = fixture.base.folder.path().join("their-home");
    std::fs::create_dir_all(home.join(".gemini")).unwrap();
    std::fs::write(home.join(".gemini/oauth_creds.json"), "logged in").unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let started = finish(start.env("HOME", &home).env("PATH", path), b"");
    assert_eq!(started.code, Some(0), "{}", started.stderr);
    eventually("it finds its credentials", || {
        fixture.run(&["agents", "logs", "work-look-a1"]).stdout.contains("logged in")
    });
    let settings = fixture.base.data().join("agents/sessions/work-look-a1/gemini-home/.gemini/settings.json");
    assert!(std::fs::read_to_string(settings).unwrap().contains("mcpServers"));
}

#[test]
fn without_tmux_nothing_is_made() {
    let fixture = AgentFixture::new();
    let bin = fixture.base.folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let paths = std::env::var_os("PATH").unwrap();
    let git =
        std::env::split_paths(&paths).map(|folder| folder.join("git")).find(|git| git.is_file()).unwrap();
    std::os::unix::fs::symlink(git, bin.join("git")).unwrap();
    let command = ["agents", "start", "--task", "x", "--", "/bin/sleep", "600"];
    let started = finish(fixture.tamis(&command).env("PATH", &bin), b"");
    assert_eq!(started.code, Some(1));
    assert!(started.stderr.contains("error: cannot find tmux on PATH"), "{}", started.stderr);
    let worktrees = fixture.base.data().join("agents/worktrees");
    assert_eq!(std::fs::read_dir(worktrees).unwrap().count(), 0);
    assert_eq!(fixture.git(&fixture.base.work(), &["branch", "--list", "tamis/*"]), "");
}

#[test]
fn whoever_starts_an_agent_waits_for_a_server_that_is_about_to_coordinate() {
    let fixture = AgentFixture::new();
    // It is there, and does not coordinate yet: the test is in its way.
    let agents = fixture.base.data().join("agents");
    std::fs::create_dir_all(&agents).unwrap();
    let lock = std::fs::File::create(agents.join("coordinator.lock")).unwrap();
    lock.lock().unwrap();
    let server = fixture.serve();
    let command = ["agents", "start", "--task", "wait", "--json", "--", "sleep", "600"];
    let starting = fixture.tamis(&command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    lock.unlock().unwrap();
    let started = starting.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&started.stderr);
    assert!(started.status.success() && !said.contains("in the background"), "{said}");
    assert_eq!(fixture.coordinator().unwrap()["pid"], server.child.id());
}

#[test]
fn those_who_start_at_once_share_one_server_whatever_has_its_port() {
    let fixture = AgentFixture::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let all_at_once = |commands: [Command; 3]| {
        let children = commands.map(|mut command| {
            command
                .env("MCP_SERVER_PORT", &port)
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        });
        for child in children {
            let ended = child.wait_with_output().unwrap();
            assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        }
    };
    let start = |issue| fixture.tamis(&["agents", "start", "--issue", issue, "--", "sleep", "600"]);
    all_at_once(["1", "2", "3"].map(start));
    let log = std::fs::read_to_string(fixture.base.data().join("agents/serve.log")).unwrap();
    assert_eq!(log.matches("listens on http://").count(), 1, "{log}");
    assert_eq!(log.matches("error: cannot listen on").count(), 1, "{log}");

    // Without it, commands coordinate for a moment each, and wait for each other.
    fixture.end_background();
    all_at_once(["work-1-a1", "work-2-a1", "work-3-a1"].map(|id| fixture.tamis(&["agents", "stop", id])));
    assert_eq!(fixture.statuses().len(), 3);
    assert!(fixture.statuses().iter().all(|(_, status)| status == "TERMINATED"));
}

#[test]
fn the_server_in_the_background_can_be_stopped() {
    let fixture = AgentFixture::new();
    let none = fixture.run(&["serve", "--stop"]);
    assert_eq!(
        (none.code, none.stderr.as_str()),
        (Some(0), "no server coordinates the agents of this data folder\n")
    );
    let started = fixture.run(&["agents", "start", "--task", "x", "--", "sleep", "600"]);
    assert!(started.stderr.contains("; `tamis serve --stop` stops it"), "{}", started.stderr);
    let pid = fixture.coordinator().unwrap()["pid"].to_string();
    let stopped = fixture.run(&["serve", "--stop"]);
    assert_eq!(stopped.code, Some(0), "{}", stopped.stderr);
    assert!(
        stopped.stderr.contains(&format!("(process {pid}); agents keep running in tmux")),
        "{}",
        stopped.stderr
    );
    assert!(!common::runs(&pid), "it has ended");
    assert_eq!(fixture.statuses()[0].1, "STARTED", "the agent goes on");
    assert_eq!(fixture.run(&["serve", "--stop", "--port", "1"]).code, Some(2));
}

#[test]
fn the_tools_of_agents_are_for_those_with_an_identity() {
    let fixture = AgentFixture::new();
    let refused = fixture.run(&["mcp", "--tools", "prune,agents"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert_eq!(
        refused.stderr,
        "error: cannot serve toolset `agents`: this process has no agent identity\n\n\
         hint: start an agent with `tamis agents start`, or omit `--tools agents` to serve the other tools\n"
    );
    for named in ["missing", "parser.py"] {
        let path = fixture.base.work().join(named);
        let refused = finish(fixture.tamis(&["mcp"]).env("TAMIS_IDENTITY", &path), b"");
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{named}");
        let said = format!("error: `{}` does not contain an identity: ", path.display());
        assert!(
            refused.stderr.starts_with(&said) && refused.stderr.contains("\n\nhint: "),
            "{}",
            refused.stderr
        );
    }
    let names = |mcp: &mut Mcp| {
        let tools = mcp.request("tools/list", json!({}))["result"]["tools"].clone();
        let names = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let without = names(&mut Mcp::start(fixture.tamis(&["mcp"])));
    assert!(without.contains(&"prune_text".to_owned()) && !without.contains(&"request_review".to_owned()));

    let coding = fixture.start(&["--task", "mend the parser"]);
    let id = coding["id"].as_str().unwrap();
    let with = names(&mut Mcp::start(identified(&fixture, &["mcp"], id)));
    assert!(with.len() > without.len() && with.contains(&"request_review".to_owned()), "{with:?}");
    // A file that names an instance to which its token does not belong.
    let identities = fixture.base.data().join("agents/identities");
    let identity = std::fs::read_to_string(identities.join(id)).unwrap();
    let swapped = fixture.base.work().join("swapped");
    std::fs::write(&swapped, identity.replace(id, "work-7-a1")).unwrap();
    let refused = finish(fixture.tamis(&["mcp"]).env("TAMIS_IDENTITY", &swapped), b"");
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{}", refused.stderr);
    assert_eq!(
        refused.stderr,
        format!(
            "error: the identity names work-7-a1, but its token belongs to {id}\n\n\
             hint: `tamis agents start` starts an agent with an identity of its own\n"
        )
    );
    let mut mcp = Mcp::start(identified(&fixture, &["mcp", "--tools", "agents"], id));
    assert_eq!(names(&mut mcp), ["request_review", "send_feedback", "create_pull_request", "create_issues"]);

    // What is not for a coding agent, then what is, by way of the server in the background.
    let feedback = json!({"feedback": "x", "feedback_type": "needs_work"});
    let refused = mcp.request("tools/call", json!({"name": "send_feedback", "arguments": feedback}));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert_eq!(output(&refused)["code"], "PERMISSION_DENIED");
    let worktree = PathBuf::from(coding["worktree"].as_str().unwrap());
    std::fs::write(worktree.join("parser.py"), "def parse(text):\n    return int(text.strip())\n").unwrap();
    fixture.commit(&worktree, "mend it");
    let review_request =
        json!({"name": "request_review", "arguments": {"completion_message": "it strips now"}});
    let review = output(&mcp.request("tools/call", review_request));
    let reviewer = review["review_instance_id"].as_str().unwrap_or_else(|| panic!("{review}"));
    assert_eq!(
        fixture.statuses(),
        [(id.to_owned(), "WAITING_REVIEW".to_owned()), (reviewer.to_owned(), "STARTED".to_owned())]
    );
    let feedback = json!({"feedback": "parse(None) still fails", "feedback_type": "needs_work"});
    let mut reviewing = Mcp::start(identified(&fixture, &["mcp", "--tools", "agents"], reviewer));
    let sent = reviewing.request("tools/call", json!({"name": "send_feedback", "arguments": feedback}));
    assert_eq!(output(&sent)["target_instance_id"], id, "{sent}");
    let notes = std::fs::read_to_string(worktree.join("REVIEW_FEEDBACK.md")).unwrap();
    assert!(notes.contains("parse(None) still fails"), "{notes}");
    let shown = fixture.run(&["agents", "show", id]).stdout;
    assert!(
        shown.contains("parse(None) still fails") && shown.contains("tool_called       request_review done "),
        "{shown}"
    );
}

/// The contract's rules, by what each of the three gets: done, or refused since it is not for agents of its type.
#[test]
fn each_tool_is_for_the_agents_that_the_contract_names() {
    const DENIED: &str = "PERMISSION_DENIED";
    let fixture = AgentFixture::new();
    let _server = fixture.coordinating();
    let ready = |id: &str, text: &str| {
        let worktree = fixture.base.data().join("agents/worktrees").join(id);
        std::fs::write(worktree.join("parser.py"), text).unwrap();
        fixture.commit(&worktree, "work");
    };
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned();
    let coding = text(&fixture.start(&["--issue", "123"])["id"]);
    let other = text(&fixture.start(&["--issue", "124"])["id"]);
    let planning = text(&fixture.start(&["--type", "planning", "--task", "plan it"])["id"]);
    for id in [&coding, &other, &planning] {
        ready(id, &format!("# {id}\n"));
    }
    let call = |id: &str, tool: &str, arguments: &Value| {
        let mut mcp = Mcp::start(identified(&fixture, &["mcp", "--tools", "agents"], id));
        let answer = mcp.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let (reply, failed) = (output(&answer), answer["result"]["isError"] == true);
        assert_eq!(failed, reply["code"].is_string(), "{answer}");
        if failed {
            let name = if tool == "create_pr" { "create_pull_request" } else { tool };
            assert_eq!((&reply["instance_id"], &reply["tool_name"]), (&json!(id), &json!(name)), "{reply}");
            assert_eq!(reply["error"], reply["code"], "{reply}");
            assert!(reply["message"].is_string() && reply["suggestions"].is_array(), "{reply}");
        }
        reply
    };
    let review_request = json!({"completion_message": "it is done"});
    let reviewer = text(&call(&coding, "request_review", &review_request)["review_instance_id"]);
    let approving = text(&call(&other, "request_review", &review_request)["review_instance_id"]);

    let feedback = json!({"feedback": "Not yet.", "feedback_type": "needs_work"});
    let pull = json!({"title": "It", "description": "All of it."});
    let issues = json!({"issues": [{"title": "One", "body": "Do it."}]});
    let tools = [
        ("request_review", &review_request),
        ("create_issues", &issues),
        ("send_feedback", &feedback),
        ("create_pull_request", &pull),
        ("create_pr", &pull),
    ];
    // What each gets in this order: a code, or what it was done for. There is no GitHub, so that issues have no place, and
    // pull requests no number. A reviewer is over with the first that is done.
    let expected: &[(&str, [&str; 5])] = &[
        (&planning, [DENIED, "INVALID_STATE", DENIED, "tamis/plan-plan-it-a1", "tamis/plan-plan-it-a1"]),
        (&reviewer, [DENIED, DENIED, "work-123-a1", "-", "-"]),
        (&approving, [DENIED, DENIED, "-", "-", "tamis/work-124-a1"]),
        (&coding, ["REVIEW_UNCHANGED", DENIED, DENIED, "tamis/work-123-a1", "tamis/work-123-a1"]),
    ];
    for (id, outcomes) in expected {
        for ((tool, arguments), wanted) in tools.iter().zip(outcomes).filter(|(_, wanted)| **wanted != "-") {
            let reply = call(id, tool, arguments);
            let got = ["code", "branch_name", "target_instance_id"].map(|name| reply[name].as_str());
            assert_eq!(got.into_iter().flatten().next(), Some(*wanted), "{id} {tool}: {reply}");
        }
    }
    // Every one of them is in the events, with whose it was and how it ended.
    let shown = fixture.run(&["agents", "show", &planning]).stdout;
    for tool in ["request_review", "send_feedback"] {
        assert!(shown.contains(&format!("{tool} failed {DENIED}")), "{shown}");
    }
}

#[test]
fn fifty_at_once_on_one_repository() {
    let fixture = AgentFixture::new();
    let _server = fixture.coordinating();
    let ids = fixture.start_many(50);
    assert_eq!(fixture.statuses().len(), 50);
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    std::thread::scope(|scope| {
        for ids in ids.chunks(10) {
            let fixture = &fixture;
            scope.spawn(move || {
                let ran = fixture.run(&[&["agents", "abandon", "--json"], ids].concat());
                assert_eq!(ran.code, Some(0), "{}", ran.stderr);
                let gone = ran.json().as_array().unwrap().iter().filter(|it| it["phase"] == "gone").count();
                assert_eq!(gone, ids.len(), "nothing was done there: {}", ran.stdout);
            });
        }
    });
    let worktrees = fixture.git(&fixture.base.work(), &["worktree", "list"]);
    assert_eq!(worktrees.lines().count(), 1, "{worktrees}");
    assert_eq!(fixture.git(&fixture.base.work(), &["branch", "--list", "tamis/*"]), "");
}

/// A command of an instance's own.
fn identified(fixture: &AgentFixture, arguments: &[&str], id: &str) -> Command {
    let mut command = fixture.tamis(arguments);
    command.env("TAMIS_IDENTITY", fixture.identity_of(id));
    command
}

#[test]
fn of_two_servers_one_coordinates_and_the_other_takes_over() {
    let fixture = AgentFixture::new();
    let mut first = fixture.coordinating();
    let second = fixture.serve();
    let says = |words: &str| {
        let said = std::iter::from_fn(|| second.log.recv_timeout(common::PATIENCE).ok());
        assert!(said.take(200).any(|line| line.contains(words)), "it never said: {words}");
    };
    says("coordinates the agents of this data folder; calls of agents are forwarded to it");

    // Through every door, the coordinator does it.
    let coding = fixture.start(&["--task", "mend the parser"]);
    let id = coding["id"].as_str().unwrap();
    let bearer = format!("Bearer {}", fixture.run(&["token"]).stdout.trim());
    let folder = fixture.base.work();
    let body = json!({"type": "planning", "task": "plan it", "folder": folder, "issue": null, "base": null,
        "choice": {"agent": "command", "args": ["sleep", "600"]}});
    let post = |server: &Server, path: &str, body: &Value| {
        http(server.address(), "POST", path, &[("Authorization", &bearer)], body.to_string().as_bytes())
    };
    let (status, planned) = post(&second, "/api/instances", &body);
    assert!((200..300).contains(&status), "{status} {planned}");
    assert_eq!(fixture.coordinator().unwrap()["pid"], first.child.id());
    let before = fixture.json(&["agents", "list", "--json"]);
    assert_eq!(before.as_array().unwrap().len(), 2, "{before}");

    first.signal("KILL");
    first.child.wait().unwrap();
    fixture.coordinated_by(second.child.id());
    says("coordinates the agents of this data folder");
    assert_eq!(fixture.json(&["agents", "list", "--json"]), before, "nothing is lost");
    let (status, stopped) = post(&second, &format!("/api/instances/{id}/stop"), &json!({}));
    assert_eq!(status, 200, "{stopped}");
    assert_eq!(fixture.statuses()[0], (id.to_owned(), "TERMINATED".to_owned()));
    drop(second);
    // Without a coordinator, the command does it itself.
    let last = before[1]["id"].as_str().unwrap();
    let stopped = fixture.run(&["agents", "stop", last]);
    assert_eq!(stopped.code, Some(0), "{}", stopped.stderr);
    assert_eq!(fixture.statuses()[1], (last.to_owned(), "TERMINATED".to_owned()));
}

#[cfg(debug_assertions)]
#[test]
fn a_call_under_way_outlives_whoever_coordinated() {
    let fixture = AgentFixture::new();
    let mut first = fixture.tamis(&["serve", "--port", "0"]);
    first.env("TAMIS_FAULT", "request_review.identity_written=kill");
    let mut first = Server::start(first);
    fixture.coordinated_by(first.child.id());
    let coding = fixture.start(&["--issue", "7"]);
    let worktree = PathBuf::from(coding["worktree"].as_str().unwrap());
    std::fs::write(worktree.join("parser.py"), "# mended\n").unwrap();
    fixture.commit(&worktree, "mend it");
    let second = fixture.serve();

    let mut mcp = Mcp::start(identified(&fixture, &["mcp", "--tools", "agents"], "work-7-a1"));
    let answer = mcp.request("tools/call", json!({"name": "request_review", "arguments": {}}));
    assert!(!first.child.wait().unwrap().success(), "it dies in the middle");
    assert_eq!(output(&answer)["review_instance_id"], "review-7-a1-1", "{answer}");
    fixture.coordinated_by(second.child.id());
    let named = |id: &str, status: &str| (id.to_owned(), status.to_owned());
    assert_eq!(
        fixture.statuses(),
        [named("work-7-a1", "WAITING_REVIEW"), named("review-7-a1-1", "STARTED")],
        "it is done once"
    );
    let worktrees = fixture.git(&fixture.base.work(), &["worktree", "list"]);
    assert_eq!(worktrees.lines().count(), 3, "{worktrees}");
}

/// The address and the code of a one-time link.
fn parts_of(link: &str) -> (SocketAddr, &str) {
    let (url, code) = link.trim().split_once("/#code=").unwrap_or_else(|| panic!("no link: {link}"));
    (url.strip_prefix("http://").unwrap().parse().unwrap(), code)
}

fn enter(link: &str) -> u16 {
    let (address, code) = parts_of(link);
    let body = json!({"code": code}).to_string();
    http(address, "POST", "/api/page/enter", &[], body.as_bytes()).0
}

#[test]
fn open_prints_a_link_to_the_running_server_that_works_once() {
    let fixture = AgentFixture::new();
    let server = fixture.coordinating();
    let ran = fixture.run(&["open", "--print"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(parts_of(&ran.stdout).0, server.address());
    assert_eq!([enter(&ran.stdout), enter(&ran.stdout)], [204, 401]);
    let another = fixture.run(&["open", "--print"]).stdout;
    assert_ne!(another, ran.stdout);
    let token = fixture.run(&["token"]).stdout;
    let (_, code) = parts_of(&another);
    assert_ne!(code, token.trim());
    server.signal("TERM");
    let logged: Vec<String> = server.log.iter().collect();
    assert!(!logged.iter().any(|line| line.contains(code) || line.contains("#code=")), "{logged:?}");
}

#[test]
fn open_starts_a_server_when_none_runs() {
    let fixture = AgentFixture::new();
    let ran = fixture.run(&["open", "--print"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("started `tamis serve` at http://"), "{}", ran.stderr);
    assert_eq!(enter(&ran.stdout), 204);
    fixture.end_background();
}

#[test]
fn serve_prints_a_link_on_a_terminal_only() {
    let fixture = AgentFixture::new();
    // Ended as soon as it coordinates, which is after it has printed the link.
    let script = "\"$0\" serve --port 0 & until [ -e \"$1\" ]; do sleep 0.02; done; kill $!; wait";
    let tamis = fixture.tamis(&[]);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", script])
        .arg(tamis.get_program())
        .arg(fixture.base.data().join("agents/coordinator.json"));
    shell.current_dir(tamis.get_current_dir().unwrap()).env_clear();
    shell.envs(tamis.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let shown = on_terminal(&mut shell, b"").text;
    let link =
        shown.lines().find_map(|line| line.split_once("dashboard: ")).unwrap_or_else(|| panic!("{shown}"));
    let code = parts_of(link.1.split(' ').next().unwrap()).1;
    assert_eq!(code.len(), 32, "{shown}");
}
