//! `tamis run` with agents that do what no good agent does: a shell script stands where Claude Code would. How the real
//! ones fare is in `tests/clients`.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use common::{Fixture, PATIENCE, Ran, finish};

/// A report of what the agent says.
const SAYS: &str = r#"say() { printf '{"type":"assistant","message":{"id":"%s","content":[{"type":"text","text":"%s"}]}}\n' "$1" "$2"; }
"#;

/// A fixture in which `claude` is this script.
fn with_claude(script: &str) -> Fixture {
    let fixture = Fixture::new();
    let bin = fixture.folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("claude"), format!("#!/bin/bash\n{SAYS}{script}\n")).unwrap();
    std::fs::set_permissions(bin.join("claude"), std::fs::Permissions::from_mode(0o755)).unwrap();
    fixture
}

fn command(fixture: &Fixture, arguments: &[&str]) -> Command {
    let mut command = fixture.tamis(&["run", "--provider", "claude"]);
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", fixture.folder.path().join("bin").display());
    command.env("PATH", path).args(arguments);
    command
}

fn ran(fixture: &Fixture, arguments: &[&str], input: &[u8]) -> Ran {
    finish(&mut command(fixture, arguments), input)
}

/// What of stderr is no log.
fn notes(ran: &Ran) -> Vec<&str> {
    ran.stderr.lines().filter(|line| !line.contains("tamis_clients::")).collect()
}

#[test]
fn exit_codes() {
    let fails = r#"printf '{"type":"result","is_error":true,"result":"out of credit","num_turns":2}\n'"#;
    for (script, arguments, code, last) in [
        ("cat > /dev/null", &["x"][..], 0, "claude: 0 turns, 0 tool calls"),
        ("exit 3", &["x"], 1, "error: claude failed with exit code 3"),
        (&format!("{fails}; exit 1"), &["x"], 1, "  because: out of credit"),
        (fails, &["x"], 1, "  because: out of credit"),
        ("kill -9 $$", &["x"], 1, "error: claude failed with exit code 137"),
        ("exit 127", &["x"], 1, "error: claude failed with exit code 127"),
        ("", &[""], 2, ""),
        ("", &["--cwd", "nowhere", "x"], 2, "hint: `ls '.'` lists the files there"),
        ("", &["--nonsense", "x"], 2, "For more information, try '--help'."),
        ("", &["--pruner", "--no-pruner", "x"], 2, "For more information, try '--help'."),
        ("", &["x", "y"], 2, "For more information, try '--help'."),
    ] {
        let fixture = with_claude(script);
        let ran = ran(&fixture, arguments, b"");
        let printed = ran.stderr.lines().last();
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{script}: {}", ran.stderr);
        assert!(last.is_empty() || printed == Some(last), "{script}: {}", ran.stderr);
    }
}

#[test]
fn what_cannot_be_run_is_explained() {
    let fixture = Fixture::new();
    let mut missing = fixture.tamis(&["run", "--provider", "codex", "x"]);
    let said = finish(missing.env("PATH", "/nowhere"), b"");
    assert_eq!(
        (said.code, said.stderr.as_str()),
        (
            Some(1),
            "error: cannot find `codex` on PATH\n\nhint: install Codex (`npm install -g @openai/codex`), or name the \
             program with --program\n"
        )
    );
    let said = fixture.run(&["run", "--provider", "cobol", "x"], b"");
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("[possible values: claude, codex]"), "{}", said.stderr);
    let said = fixture.run(&["run", "--provider", "claude", "--program", "/nowhere/claude", "x"], b"");
    assert_eq!(said.code, Some(1));
    assert_eq!(
        said.stderr,
        "error: cannot run `/nowhere/claude`: not an executable file\n\nhint: `command -v claude` shows where your \
         shell finds it\n"
    );
    let mut text = fixture.tamis(&["run", "--provider", "claude", "--program", "text", "x"]);
    std::fs::write(fixture.work().join("text"), "#!/nowhere/interpreter\n").unwrap();
    std::fs::set_permissions(fixture.work().join("text"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let said = finish(&mut text, b"");
    assert_eq!(said.code, Some(1));
    assert!(said.stderr.contains("/text\n  because: No such file or directory"), "{}", said.stderr);
    let said = fixture.run(&["run", "--provider", "claude", "-"], b"caf\xe9");
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.starts_with("error: the prompt on stdin is not UTF-8: "), "{}", said.stderr);
    for nothing in [&b""[..], b" \n"] {
        let said = fixture.run(&["run", "--provider", "claude"], nothing);
        assert!(
            said.code == Some(2) && said.stderr.contains("\n\nhint: pass one, as in `tamis run "),
            "{}",
            said.stderr
        );
    }
    let said = fixture.run(&["__minder"], b"");
    assert_eq!(said.code, Some(1));
    assert!(said.stderr.contains("started by `tamis run`, not by hand"), "{}", said.stderr);
}

#[test]
fn a_program_may_be_named_as_to_a_shell() {
    let fixture = with_claude("say 1 here");
    let bin = fixture.folder.path().join("bin");
    std::fs::rename(bin.join("claude"), bin.join("claude-next")).unwrap();
    for name in ["claude-next", "../bin/claude-next"] {
        let ran = ran(&fixture, &["--program", name, "x"], b"");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "here\n"), "{}", ran.stderr);
    }
}

#[test]
fn the_prompt_arrives_as_it_was_given() {
    let fixture = with_claude("cat > prompt; printf '%s\\n' \"$@\" > arguments; pwd > folder");
    let prompt = || std::fs::read(fixture.work().join("prompt")).unwrap();
    let odd = "--help -x\n\t\"quoted\" 'too' $HOME `id` \\n ünïcödé\n\n";
    assert_eq!(ran(&fixture, &["--", odd], b"ignored").code, Some(0));
    assert_eq!(prompt(), odd.as_bytes());
    // More than an argument can hold.
    let long = "a line of a long prompt\n".repeat(20_000);
    for arguments in [&["-"][..], &[]] {
        assert_eq!(ran(&fixture, arguments, long.as_bytes()).code, Some(0));
        assert!(prompt() == long.as_bytes());
    }
    // No list of processes shows it, and what is for the agent reaches it.
    std::fs::create_dir(fixture.work().join("elsewhere")).unwrap();
    let arguments =
        ["--model", "small", "--cwd", "elsewhere", "--agent-arg=--flag", "--agent-arg", "-v", "secret"];
    assert_eq!(ran(&fixture, &arguments, b"").code, Some(0));
    let elsewhere = fixture.work().join("elsewhere").canonicalize().unwrap();
    assert_eq!(
        std::fs::read_to_string(elsewhere.join("arguments")).unwrap(),
        "--print\n--output-format\nstream-json\n--verbose\n--model=small\n--flag\n-v\n"
    );
    assert_eq!(
        std::fs::read_to_string(elsewhere.join("folder")).unwrap().trim(),
        elsewhere.to_str().unwrap()
    );
}

#[test]
fn a_prompt_that_nobody_reads_is_no_failure() {
    let fixture = with_claude("exec 0<&-; say 1 hi");
    let long = "a line of a long prompt\n".repeat(20_000);
    let ran = ran(&fixture, &["-"], long.as_bytes());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "hi\n"), "{}", ran.stderr);
}

#[test]
fn output_goes_where_it_belongs() {
    let script = r#"say 1 hello
echo '{"type":"assistant","message":{"id":"2","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}'
echo '{"type":"new_kind"}'
echo 'no report'
echo 'a warning' >&2
say 3 'bye\n'
printf '{"type":"result","is_error":false}'"#;
    let shown = ran(&with_claude(script), &["x"], b"");
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), "hello\nbye\n"), "{}", shown.stderr);
    let mut printed = notes(&shown);
    printed.sort_unstable();
    assert_eq!(printed, ["-> Bash", "a warning", "claude: 3 turns, 1 tool call", "no report"]);

    // The agent's own bytes, all of them.
    let fixture = with_claude(script);
    let raw = Command::new(fixture.folder.path().join("bin/claude")).output().unwrap();
    let passed = ran(&fixture, &["--json", "x"], b"");
    assert_eq!(passed.stdout.as_bytes(), raw.stdout);
    let mut printed = notes(&passed);
    printed.sort_unstable();
    assert_eq!(printed, ["a warning", "claude: 3 turns, 1 tool call"]);
}

#[test]
fn a_pruner_that_is_set_up_wrongly_costs_the_pruner_and_not_the_run() {
    let fixture = with_claude("say 1 \"$*\"");
    let bad_path = OsString::from_vec(b"/caf\xe9".to_vec());
    let url = |value: &str| ("JEEVES_PRUNER_URL", OsString::from(value));
    for ((name, value), why) in [
        (url("ftp://x/y"), "the pruner's URL `ftp://x/y` is not an absolute http: or https: URL"),
        (("JEEVES_MCP_PRUNER_PATH", "nowhere".into()), "/nowhere` as the pruner's server: No such file"),
        (("JEEVES_MCP_PRUNER_PATH", bad_path), ": must be UTF-8"),
    ] {
        let ran = finish(command(&fixture, &["x"]).env("JEEVES_PRUNER_ENABLED", "on").env(name, value), b"");
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(!ran.stdout.contains("mcp"), "{}", ran.stdout);
        let moved = "WARN tamis_clients::lifecycle: run:init -> run:mcp_pruner_disabled: ";
        assert!(ran.stderr.contains(moved) && ran.stderr.contains(why), "{why}: {}", ran.stderr);
        assert!(ran.stderr.contains("run:mcp_pruner_disabled -> run:shutdown"), "{}", ran.stderr);
    }
}

#[test]
fn a_pruner_that_is_off_is_not_judged() {
    let fixture = with_claude("say 1 \"$*\"");
    let odd = || OsString::from_vec(b"/caf\xe9".to_vec());
    for variables in [
        &[("JEEVES_MCP_PRUNER_PATH", odd()), ("JEEVES_PRUNER_URL", "nonsense".into())][..],
        &[("JEEVES_PRUNER_ENABLED", odd())],
        &[("JEEVES_PRUNER_ENABLED", "".into())],
    ] {
        let ran = finish(command(&fixture, &["x"]).envs(variables.iter().cloned()), b"");
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(!ran.stdout.contains("mcp"), "{}", ran.stdout);
        let moved = "INFO tamis_clients::lifecycle: run:init -> run:mcp_pruner_disabled: the pruner is disabled by config";
        assert!(ran.stderr.contains(moved), "{}", ran.stderr);
    }
}

#[test]
fn the_pruner_is_wired_in_by_variable_flag_or_file() {
    let fixture = with_claude("say 1 \"${*//\\\"/}\"");
    let wired = |command: &mut Command| finish(command, b"").stdout.contains("--mcp-config=");
    let server = env!("CARGO_BIN_EXE_mcp-pruner");
    assert!(!wired(&mut command(&fixture, &["x"])));
    assert!(wired(&mut command(&fixture, &["--pruner", "x"])), "beside tamis");
    assert!(!wired(command(&fixture, &["--no-pruner", "x"]).env("JEEVES_PRUNER_ENABLED", "1")));
    let mut with_variables = command(&fixture, &["x"]);
    with_variables.env("JEEVES_PRUNER_ENABLED", "yes").env("JEEVES_PRUNER_URL", "");
    let ran = finish(with_variables.env("JEEVES_MCP_PRUNER_PATH", server), b"");
    let work = fixture.work().canonicalize().unwrap();
    let entry = format!(
        "{{mcpServers:{{pruner:{{alwaysLoad:true,args:[],command:{server},env:{{MCP_PRUNER_CWD:{},PRUNER_URL:}},type:stdio}}}}}}",
        work.display()
    );
    assert!(ran.stdout.contains(&entry), "{}", ran.stdout);
    let folder = fixture.folder.path().join("home/.config/tamis");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), "[run]\npruner_enabled = true\n").unwrap();
    if cfg!(target_os = "linux") {
        assert!(wired(&mut command(&fixture, &["x"])));
    }
    assert!(!fixture.data().exists(), "a run keeps nothing of its own");
}

/// What Claude Code reports once it has reached the pruner's server.
const CONNECTED: &str =
    r#"printf '{"type":"system","subtype":"init","mcp_servers":[{"name":"pruner","status":"connected"}]}\n'"#;

#[test]
fn the_pruner_is_tamis_itself_unless_another_is_named() {
    let fixture = with_claude(&format!("say 1 \"${{*//\\\"/}}\"; {CONNECTED}"));
    let work = fixture.work().canonicalize().unwrap();
    let own = format!(
        "args:[mcp,--tools,workbench,recover_text],command:{},env:{{TAMIS_DATA_DIR:{},TAMIS_WORKBENCH_DIR:{}}}",
        env!("CARGO_BIN_EXE_tamis"),
        fixture.data().display(),
        work.display()
    );
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        finish(command(&fixture, &[arguments, &["x"]].concat()).envs(variables.iter().copied()), b"")
    };
    for (arguments, variables) in [(&["--pruner"][..], &[][..]), (&[], &[("TAMIS_RUN_PRUNER_ENABLED", "1")])]
    {
        let ran = run(arguments, variables);
        assert!(ran.stdout.contains(&own), "{}", ran.stdout);
        assert!(ran.stdout.contains("mcp__pruner__recover_text"), "{}", ran.stdout);
        assert!(ran.stderr.contains("run:mcp_pruner_running: the pruner is available"), "{}", ran.stderr);
    }
    // An address that is set, or the contract's own variable, means the contract's server.
    for (arguments, variables, url) in [
        (&["--pruner"][..], &[("PRUNER_URL", "http://127.0.0.1:9/prune")][..], "http://127.0.0.1:9/prune"),
        (&["--pruner"], &[("JEEVES_PRUNER_URL", "http://127.0.0.1:9/prune")], "http://127.0.0.1:9/prune"),
        (&["--pruner"], &[("PRUNER_URL", "")], ""),
        (&[], &[("JEEVES_PRUNER_ENABLED", "1"), ("JEEVES_PRUNER_URL", "")], ""),
        (
            &[],
            &[("JEEVES_PRUNER_ENABLED", "1"), ("PRUNER_URL", "http://127.0.0.1:9/")],
            "http://localhost:8000/prune",
        ),
        // Also where it is enabled in another way too.
        (&["--pruner"], &[("JEEVES_PRUNER_ENABLED", "1")], "http://localhost:8000/prune"),
        (
            &[],
            &[("JEEVES_PRUNER_ENABLED", "1"), ("TAMIS_RUN_PRUNER_ENABLED", "1")],
            "http://localhost:8000/prune",
        ),
    ] {
        let ran = run(arguments, variables);
        assert!(ran.stdout.contains(&format!(",PRUNER_URL:{url}}}")), "{variables:?}: {}", ran.stdout);
        assert!(!ran.stdout.contains("recover_text"), "{}", ran.stdout);
    }
}

/// What does not answer is not available.
#[test]
fn a_pruner_that_does_not_answer_is_never_called_available() {
    let fixture = with_claude(CONNECTED);
    for (url, why) in [
        ("http://127.0.0.1:9/prune", "http://127.0.0.1:9/prune does not answer as a pruner: "),
        ("", "the pruner's URL is empty"),
        (
            "http://user:dummy@127.0.0.1:9/prune",
            "the pruner's URL cannot be used: it contains a user name or password",
        ),
    ] {
        for (name, arguments) in [("PRUNER_URL", &["--pruner", "x"][..]), ("JEEVES_PRUNER_URL", &["x"])] {
            let mut command = command(&fixture, arguments);
            if name == "JEEVES_PRUNER_URL" {
                command.env("JEEVES_PRUNER_ENABLED", "1");
            }
            let ran = finish(command.env(name, url), b"");
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            assert!(!ran.stderr.contains("available"), "{}", ran.stderr);
            let noted =
                format!("run:mcp_pruner_running: the pruner's tools work, but nothing will be pruned: {why}");
            assert!(ran.stderr.contains(&noted), "{}", ran.stderr);
            assert!(!ran.stderr.contains("continues without it"), "{}", ran.stderr);
        }
    }
    // One that answers is.
    let server = fixture.serve();
    let url = format!("http://{}/prune", server.address());
    let ran = finish(command(&fixture, &["--pruner", "x"]).env("PRUNER_URL", url), b"");
    assert!(ran.stderr.contains("run:mcp_pruner_running: the pruner is available"), "{}", ran.stderr);
    // One that answers something else is not: there is no such route, or no pruned text in what it says.
    for path in ["nothing", "rpc"] {
        let url = format!("http://{}/{path}", server.address());
        let ran = finish(command(&fixture, &["--pruner", "x"]).env("PRUNER_URL", &url), b"");
        assert!(!ran.stderr.contains("available"), "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("{url} does not answer as a pruner: ")), "{}", ran.stderr);
    }
}

/// A place where processes of the agent's can be met: each says its number, and its line ends when it does.
struct Meeting(TcpListener);

impl Meeting {
    fn new() -> Meeting {
        Meeting(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    /// Shell that comes here.
    fn come(&self) -> String {
        format!("exec 3<>/dev/tcp/127.0.0.1/{}; echo $BASHPID >&3;", self.0.local_addr().unwrap().port())
    }

    /// The next one that comes: its number and its line.
    fn next(&self) -> (u32, BufReader<TcpStream>) {
        let listener = self.0.try_clone().unwrap();
        let (send, came) = mpsc::channel();
        std::thread::spawn(move || send.send(listener.accept()));
        let (stream, _) = came.recv_timeout(PATIENCE).expect("a connection within the time limit").unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut stream = BufReader::new(stream);
        let mut number = String::new();
        stream.read_line(&mut number).unwrap();
        (number.trim().parse().unwrap(), stream)
    }
}

/// Waits for the end of a line, and with it of all who held it.
fn ends(mut line: BufReader<TcpStream>) {
    let mut rest = String::new();
    match line.read_to_string(&mut rest) {
        Ok(_) => {}
        // It went without reading what was sent to it.
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
        Err(error) => panic!("it does not end: {error}"),
    }
}

fn start(fixture: &Fixture) -> Child {
    command(fixture, &["x"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn kill(signal: &str, process: u32) {
    let kill = format!("kill -s {signal} {process}");
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

#[test]
fn what_the_agent_says_is_there_at_once() {
    let meeting = Meeting::new();
    let fixture = with_claude(&format!("say 1 first; {} read -u 3; say 2 second", meeting.come()));
    let mut child = start(&fixture);
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let (_, mut line) = meeting.next();
    let mut first = String::new();
    // The agent waits for an answer that comes after this.
    stdout.read_line(&mut first).unwrap();
    assert_eq!(first, "first\n");
    line.get_mut().write_all(b"go on\n").unwrap();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), child.wait().unwrap().code()), ("second\n", Some(0)));
}

/// Starts, in the agent's name: one in its group, one in a group of its own, one in a session of its own whose parent
/// is gone.
fn start_children(meeting: &Meeting, also: &str) -> String {
    let stay = format!("{also} {} while :; do sleep 600; done", meeting.come());
    format!(
        "({stay}) & set -m; ({stay}) & set +m; (setsid bash -c '{}' &); {} ",
        stay.replace('\'', "'\\''"),
        meeting.come()
    )
}

#[test]
#[cfg(target_os = "linux")]
fn what_the_agent_leaves_ends_with_it() {
    let meeting = Meeting::new();
    let fixture = with_claude(&format!("{} read -u 3; exit 0", start_children(&meeting, "")));
    let child = start(&fixture);
    let mut lines: Vec<_> = (0..4).map(|_| meeting.next()).collect();
    // Processes that are still there when the agent ends were not signalled before.
    for (_, line) in &mut lines {
        let _ = line.get_mut().write_all(b"go on\n");
    }
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    lines.into_iter().for_each(|(_, line)| ends(line));
}

#[test]
#[cfg(target_os = "linux")]
fn a_run_that_is_ended_leaves_nothing() {
    // Processes that end on SIGTERM, and processes that ignore it and get 2000 ms.
    for (also, signal, at_least) in [("", "TERM", 0), ("trap \"\" TERM;", "INT", 2000)] {
        let meeting = Meeting::new();
        let fixture =
            with_claude(&format!("{also} {} while :; do sleep 600; done", start_children(&meeting, also)));
        let child = start(&fixture);
        let lines: Vec<_> = (0..4).map(|_| meeting.next()).collect();
        let begun = Instant::now();
        kill(signal, child.id());
        let ended = child.wait_with_output().unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(at_least));
        assert_eq!(ended.status.code(), Some(130), "{}", String::from_utf8_lossy(&ended.stderr));
        lines.into_iter().for_each(|(_, line)| ends(line));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn whoever_asks_twice_does_not_wait() {
    let meeting = Meeting::new();
    let also = "trap \"\" TERM;";
    let fixture =
        with_claude(&format!("{also} {} while :; do sleep 600; done", start_children(&meeting, also)));
    let mut child = start(&fixture);
    let lines: Vec<_> = (0..4).map(|_| meeting.next()).collect();
    // Repeatedly, as a user at a terminal would, until it ends.
    while child.try_wait().unwrap().is_none() {
        kill("INT", child.id());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    lines.into_iter().for_each(|(_, line)| ends(line));
}

#[test]
fn whoever_asks_twice_does_not_wait_for_a_reader_either() {
    let meeting = Meeting::new();
    // More than a pipe holds, without a reader.
    let flood = "while :; do say 1 flood; done";
    let fixture = with_claude(&format!("{} {flood}", meeting.come()));
    let mut child = start(&fixture);
    let (_, line) = meeting.next();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE, "it does not end");
        kill("INT", child.id());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    ends(line);
}

#[test]
#[cfg(target_os = "linux")]
fn a_run_whose_tamis_or_minder_is_killed_leaves_nothing() {
    for victim in ["tamis", "minder"] {
        let meeting = Meeting::new();
        let also = "trap \"\" TERM;";
        let parent = "exec 3<>/dev/tcp/127.0.0.1/PORT; echo $PPID >&3; exec 3>&-;";
        let parent = parent.replace("PORT", &meeting.0.local_addr().unwrap().port().to_string());
        let stay = start_children(&meeting, also);
        let fixture = with_claude(&format!("{parent} {also} {stay} while :; do sleep 600; done"));
        let child = start(&fixture);
        let (minder, _) = meeting.next();
        let lines: Vec<_> = (0..4).map(|_| meeting.next()).collect();
        kill("KILL", if victim == "minder" { minder } else { child.id() });
        lines.into_iter().for_each(|(_, line)| ends(line));
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        match victim {
            "minder" => {
                assert_eq!(ended.status.code(), Some(1), "{said}");
                assert!(said.ends_with("error: claude was ended because its minder was killed\n"), "{said}");
            }
            _ => assert_eq!(ended.status.signal(), Some(9), "{said}"),
        }
    }
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_run() {
    let meeting = Meeting::new();
    // Again and again: while another test starts a program, that has the pipe's other end for a moment.
    let speak = "while :; do say 2 more; sleep 0.05; done";
    let fixture = with_claude(&format!("{} say 1 first; read -u 3; {speak}", meeting.come()));
    let mut child = start(&fixture);
    let (_, mut line) = meeting.next();
    drop(child.stdout.take());
    line.get_mut().write_all(b"go on\n").unwrap();
    ends(line);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn the_page_on_running_agents_names_every_setting() {
    let page = include_str!("../../../docs/runner.md");
    let shown = Fixture::new().run(&["config", "--json"], b"").json();
    let settings = shown["settings"].as_array().unwrap().iter();
    let settings: Vec<_> =
        settings.filter(|setting| setting["name"].as_str().unwrap().starts_with("run.")).collect();
    assert_eq!(settings.len(), 4);
    for setting in settings {
        let variables = setting["variables"].as_array().unwrap().iter();
        for name in variables.chain([&setting["name"]]).map(|name| name.as_str().unwrap()) {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }
}
