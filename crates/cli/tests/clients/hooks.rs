//! Each agent's own tools, with `tamis hook` between them and the model: what the model is shown, what it restores, and what it
//! then writes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tamis_testkit::{
    ClientHome, InstalledClients, ScriptHistory, ScriptStep, StdioServer, TestClient, TestClientRun,
    run_bounded,
};

use crate::{LIMIT, tamis};

const LOG: &str = "build.log";
const SOURCE: &str = "invoice.rs";
/// A hook that is slow on a loaded machine must not turn its reply into nothing.
pub(crate) const PATIENT: (&str, &str) = ("TAMIS_HOOK_DEADLINE_MS", "60000");

/// A log of a failing build, of which most can go.
pub(crate) fn build_log() -> String {
    let steps = (0..300).map(|step| match step {
        200 => "error[E0425]: cannot find value `totl` in this scope".to_owned(),
        201 => " --> src/invoice.rs:41:9".to_owned(),
        step => format!("   Compiling crate-{step} v1.{step}.0"),
    });
    steps.collect::<Vec<_>>().join("\n") + "\n"
}

/// A file with a line to edit among much else.
fn source() -> String {
    let functions = (0..80).map(|number| format!("fn helper_{number}() -> u32 {{\n    {number} + 1\n}}\n"));
    let mut functions: Vec<String> = functions.collect();
    functions.insert(40, "fn total() -> u32 {\n    totl\n}\n".to_owned());
    functions.join("\n")
}

/// What the client calls its own tools, and how it names their arguments.
pub(crate) struct OwnTools {
    pub(crate) setup: &'static str,
    pub(crate) shell: (&'static str, &'static str),
    /// None where files are read by the shell.
    pub(crate) read: Option<(&'static str, &'static str)>,
    /// What the model is shown of an exit code.
    exit_code: &'static str,
}

pub(crate) fn own_tools(client: TestClient) -> OwnTools {
    match client {
        TestClient::ClaudeCode => OwnTools {
            setup: "claude",
            shell: ("Bash", "command"),
            read: Some(("Read", "file_path")),
            exit_code: "Exit code 3",
        },
        TestClient::Codex => OwnTools {
            setup: "codex",
            shell: ("exec_command", "cmd"),
            read: None,
            exit_code: "Process exited with code 3",
        },
        TestClient::GeminiCli => OwnTools {
            setup: "gemini",
            shell: ("run_shell_command", "command"),
            read: Some(("read_file", "file_path")),
            exit_code: "Exit Code: 3",
        },
        TestClient::OpenCode => OwnTools {
            setup: "opencode",
            shell: ("bash", "command"),
            read: Some(("read", "filePath")),
            exit_code: "",
        },
    }
}

/// A call that corrects the line of the file.
fn edit_step(client: TestClient, file: PathBuf) -> ScriptStep {
    match client {
        TestClient::ClaudeCode => ScriptStep::own(
            "Edit",
            move |_| json!({"file_path": file, "old_string": "    totl\n", "new_string": "    total\n"}),
        ),
        TestClient::GeminiCli => ScriptStep::own(
            "replace",
            move |_| json!({"file_path": file, "old_string": "    totl\n", "new_string": "    total\n", "instruction": "fix it"}),
        ),
        TestClient::OpenCode => ScriptStep::own(
            "edit",
            move |_| json!({"filePath": file, "oldString": "    totl\n", "newString": "    total\n"}),
        ),
        TestClient::Codex => ScriptStep::own("exec_command", |_| {
            let patch = "*** Begin Patch\n*** Update File: invoice.rs\n@@\n fn total() -> u32 {\n-    totl\n+    total\n }\n*** End Patch";
            json!({"cmd": format!("apply_patch <<'EOF'\n{patch}\nEOF")})
        }),
    }
}

/// A call that writes a file with this line.
fn write_step(
    client: TestClient,
    file: PathBuf,
    line: impl Fn(&ScriptHistory<'_>) -> String + Send + 'static,
) -> ScriptStep {
    let content = move |history: &ScriptHistory<'_>| format!("fn a() {{\n{}\n}}\n", line(history));
    match client {
        TestClient::ClaudeCode => {
            ScriptStep::own("Write", move |history| json!({"file_path": file, "content": content(history)}))
        }
        TestClient::GeminiCli => ScriptStep::own(
            "write_file",
            move |history| json!({"file_path": file, "content": content(history)}),
        ),
        TestClient::OpenCode => {
            ScriptStep::own("write", move |history| json!({"filePath": file, "content": content(history)}))
        }
        TestClient::Codex => ScriptStep::own("exec_command", move |history| {
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            let added: String = content(history).lines().map(|line| format!("+{line}\n")).collect();
            let patch = format!("*** Begin Patch\n*** Add File: {name}\n{added}*** End Patch");
            json!({"cmd": format!("apply_patch <<'EOF'\n{patch}\nEOF")})
        }),
    }
}

/// The first marker that the model was shown.
fn first_marker(history: &ScriptHistory<'_>) -> String {
    let text = &history.results[0].text;
    let start = text.find("[tamis cut ").expect("a marker");
    text[start..].lines().next().expect("a line").to_owned()
}

/// A line that only looks like a marker of this session.
const SAMPLE: &str =
    "[tamis cut 6-44: repeats; restore: recover_text or tamis recover prn_abcdefghijklmnopqrstuv 6-44]";

pub(crate) fn server() -> StdioServer {
    StdioServer { name: "tamis".to_owned(), command: tamis(), args: vec!["mcp".to_owned()], env: Vec::new() }
}

/// Runs `tamis setup` for the home of a client.
pub(crate) fn setup(clients: &InstalledClients, home: &ClientHome, arguments: &[&str]) {
    setup_with(&tamis(), clients, home, arguments);
}

fn setup_with(program: &Path, clients: &InstalledClients, home: &ClientHome, arguments: &[&str]) {
    let mut command: Command = clients.beside_tools(program, home.path());
    command
        .arg("setup")
        .args(arguments)
        .env("TAMIS_DATA_DIR", home.data_folder())
        .current_dir(home.project());
    let finished = run_bounded(command, LIMIT);
    assert_eq!(finished.code(), Some(0), "{}{}", finished.stdout, finished.stderr);
}

/// The other clients may use their own tools.
pub(crate) fn allow_own_tools(client: TestClient, command: &mut Command) {
    if client == TestClient::ClaudeCode {
        command.args(["Bash", "Read", "Edit", "Write"]);
    }
}

/// Every file below a folder, with its bytes.
fn files(home: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![home.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false => drop(found.insert(path.clone(), fs::read(path).unwrap_or_default())),
            }
        }
    }
    found
}

/// The command in the shell that prints a text, and ends with a code.
pub(crate) fn shell_step(tools: &OwnTools, command: &str) -> ScriptStep {
    let (tool, argument) = tools.shell;
    let command = command.to_owned();
    ScriptStep::own(tool, move |_| json!({argument: command, "description": "run it"}))
}

pub(crate) fn first_id(text: &str) -> String {
    let start = text.find("prn_").unwrap_or_else(|| panic!("no prune id in {text}"));
    text[start..].chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect()
}

fn assert_pruned(text: &str, original: &str) {
    assert!(text.contains("cannot find value `totl`"), "{text}");
    assert!(text.contains("[tamis cut "), "{text}");
    assert!(text.len() * 2 < original.len(), "{text}");
}

/// A session in which the shell and the read tool print much, what was cut is restored, and the file is edited.
fn works_with_hooks(client: TestClient) {
    let clients = InstalledClients::installed();
    let tools = own_tools(client);
    let home = ClientHome::new();
    let project = home.project().canonicalize().expect("a path");
    let [log, other, file, new, about] =
        [LOG, "other.log", SOURCE, "new.rs", "about.md"].map(|name| project.join(name));
    fs::write(&log, build_log()).expect("a log");
    // What was shown before would be cut for that alone.
    fs::write(&other, build_log().replace("Compiling", "Linking")).expect("a log");
    fs::write(&file, source()).expect("a source file");

    let (shell, argument) = tools.shell;
    let mut script = vec![
        shell_step(&tools, "cat build.log"),
        ScriptStep::own(shell, move |history| {
            let id = first_id(&history.results[0].text);
            json!({argument: format!("{} recover {id}", tamis().display()), "description": "restore it"})
        }),
        shell_step(&tools, "sed s/Compiling/Checking/ build.log; exit 3"),
        edit_step(client, file.clone()),
        write_step(client, about.clone(), |_| SAMPLE.to_owned()),
        write_step(client, new.clone(), first_marker),
    ];
    if let Some((tool, argument)) = tools.read {
        // Before it is edited, as some clients require.
        let file = file.clone();
        script.insert(3, ScriptStep::own(tool, move |_| json!({argument: other})));
        script.insert(4, ScriptStep::own(tool, move |_| json!({argument: file})));
    }
    let count = script.len();
    let run = client.run_with_own_tools(home, &clients, &server(), script, |home, command| {
        let before = files(home.path());
        setup(&clients, home, &["--user", "--only", "hooks", tools.setup]);
        setup(&clients, home, &["--remove", tools.setup]);
        assert_eq!(files(home.path()), before, "removed as it was added");
        setup(&clients, home, &["--user", "--only", "hooks", tools.setup]);
        allow_own_tools(client, command.env(PATIENT.0, PATIENT.1));
    });
    let texts: Vec<&str> = run.expect_results(count).iter().map(|result| result.text.as_str()).collect();

    assert_pruned(texts[0], &build_log());
    // What is restored is not cut again.
    assert!(texts[1].contains(build_log().trim()), "{}", texts[1]);
    let failed = texts[2];
    assert!(failed.contains(tools.exit_code), "{failed}");
    match client {
        // It has no hook that could replace the output of a command that failed.
        TestClient::ClaudeCode => assert!(failed.contains("Checking crate-150"), "{failed}"),
        _ => assert_pruned(failed, &build_log()),
    }
    if tools.read.is_some() {
        let read = texts[3];
        assert!(read.contains("[tamis cut "), "{read}");
        if client == TestClient::ClaudeCode {
            assert!(
                read.lines()
                    .any(|line| line.trim() == "201\terror[E0425]: cannot find value `totl` in this scope"),
                "{read}"
            );
        }
    }
    assert_eq!(fs::read_to_string(&file).expect("the file"), source().replace("    totl\n", "    total\n"));
    // A text about tamis may show how markers look.
    assert!(fs::read_to_string(&about).expect("the file").contains(SAMPLE), "{}", texts[count - 2]);
    let refused = texts[count - 1];
    assert!(refused.contains("`[tamis cut ") && refused.contains("`tamis recover prn_"), "{refused}");
    assert!(!new.exists());
}

/// A session that is resumed, or continued as another one, is pruned for as before, and lines that its model was shown count.
#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn hooks_work_in_a_resumed_session_of_claude_code() {
    let client = TestClient::ClaudeCode;
    let clients = InstalledClients::installed();
    let tools = own_tools(client);
    let commands = ["cat build.log", "cat build.log", "sed s/Compiling/Checking/ build.log", "cat build.log"];
    let mut home = ClientHome::new();
    fs::write(home.project().join(LOG), build_log()).expect("a log");
    for (count, options) in
        [(1, &[][..]), (2, &["--continue"]), (3, &["--continue", "--fork-session"]), (4, &["--continue"])]
    {
        let script = commands[..count].iter().map(|command| shell_step(&tools, command)).collect();
        let run = client.run_with_own_tools(home, &clients, &server(), script, |home, command| {
            setup(&clients, home, &["--user", "--only", "hooks", tools.setup]);
            allow_own_tools(client, command.env(PATIENT.0, PATIENT.1));
            command.args(options);
        });
        let results = run.expect_results(count);
        let text = &results[count - 1].text;
        assert!(text.contains("[tamis cut "), "{options:?}: {text}");
        assert!(text.len() * 2 < build_log().len(), "{options:?}: {text}");
        if count != 2 && count != 4 {
            assert!(text.contains("cannot find value `totl`"), "{options:?}: {text}");
        }
        home = run.into_home();
        assert_eq!(outcomes(&home, "pruned"), count, "{options:?}");
    }
}

/// Where a policy denies the tool that would show the pruned text, the model is shown what the command printed.
#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn hooks_leave_the_output_where_gemini_cli_may_not_read() {
    let client = TestClient::GeminiCli;
    let clients = InstalledClients::installed();
    let tools = own_tools(client);
    for rules in [
        Rules::new(
            "policy",
            ".gemini/policies/own.toml",
            "[[rule]]\ntoolName = \"read_file\"\ndecision = \"deny\"\npriority = 500\n",
            (false, false),
        ),
        Rules::new(
            "settings",
            ".gemini/settings.json",
            json!({"tools": {"exclude": ["read_file"]}}),
            (false, false),
        ),
    ] {
        let home = ClientHome::new();
        fs::write(home.project().join(LOG), build_log()).expect("a log");
        let script = vec![shell_step(&tools, "cat build.log")];
        let run = client.run_with_own_tools(home, &clients, &server(), script, |home, command| {
            rules.write(home);
            setup(&clients, home, &["--user", "--only", "hooks", tools.setup]);
            command.env(PATIENT.0, PATIENT.1);
        });
        let text = &run.expect_results(1)[0].text;
        assert!(text.contains("Compiling crate-150 "), "{}: {text}", rules.name);
        assert_eq!(outcomes(&run.into_home(), "tool_denied"), 1, "{}", rules.name);
    }
}

/// What takes the place of tamis after it was set up; none if it is deleted.
const BROKEN: &[(&str, Option<&str>)] = &[
    ("missing", None),
    ("failing", Some("#!/bin/sh\necho broken >&2\nexit 1\n")),
    // For most clients, this code blocks what the hook is for.
    ("without the command", Some("#!/bin/sh\necho \"error: unrecognized subcommand 'hook'\" >&2\nexit 2\n")),
    ("crashing", Some("#!/bin/sh\nkill -SEGV $$\n")),
    ("printing something else", Some("#!/bin/sh\necho '{\"continue\": tru'\n")),
    ("hanging", Some("#!/bin/sh\nexec sleep 30\n")),
];

/// The client works as if tamis had never been there, whatever became of it.
fn works_without_tamis(client: TestClient) {
    let clients = InstalledClients::installed();
    let tools = own_tools(client);
    let script = |home: &ClientHome| {
        let project = home.project().canonicalize().expect("a path");
        fs::write(project.join(LOG), build_log()).expect("a log");
        vec![shell_step(&tools, "cat build.log"), shell_step(&tools, "echo well; exit 3")]
    };
    let shown = |run: &TestClientRun| -> Vec<String> {
        run.expect_results(2).iter().map(|result| fixed_lines(&result.text)).collect()
    };
    let home = ClientHome::new();
    let steps = script(&home);
    let without = shown(&client.run_with_own_tools(home, &clients, &server(), steps, |_, command| {
        allow_own_tools(client, command);
    }));
    assert!(without[0].contains("Compiling crate-150 "), "{}", without[0]);
    for (name, replacement) in BROKEN {
        let home = ClientHome::new();
        let steps = script(&home);
        let run = client.run_with_own_tools(home, &clients, &server(), steps, |home, command| {
            allow_own_tools(client, command);
            let program = home.path().join("bin/tamis");
            fs::create_dir(home.path().join("bin")).expect("a folder");
            fs::hard_link(tamis(), &program)
                .or_else(|_| fs::copy(tamis(), &program).map(drop))
                .expect("a program");
            setup_with(&program, &clients, home, &["--user", "--only", "hooks", tools.setup]);
            fs::remove_file(&program).expect("a program");
            if let Some(script) = replacement {
                fs::write(&program, script).expect("a script");
                fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
            }
        });
        assert_eq!(shown(&run), without, "{client:?}: {name}");
    }
}

/// The commands that rules decide on, with several exit codes. Of some the output is pruned.
const COMMANDS: &[&str] = &[
    "cat build.log",
    "echo well; exit 3",
    "touch made",
    "cat build.log; exit 4",
    "rm build.log",
    "ls && false",
    "git status",
];

/// Rules of a client, by the file in its home that has them, and what becomes of two commands.
struct Rules {
    name: &'static str,
    file: &'static str,
    text: String,
    /// Whether `touch made` runs, and `rm build.log`.
    touches: bool,
    removes: bool,
}

impl Rules {
    fn new(name: &'static str, file: &'static str, text: impl ToString, runs: (bool, bool)) -> Rules {
        Rules { name, file, text: text.to_string(), touches: runs.0, removes: runs.1 }
    }

    /// Adds the rules to the settings that are there.
    fn write(&self, home: &ClientHome) {
        let path = home.path().join(self.file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        let text = match fs::read_to_string(&path) {
            Ok(settings) => {
                let mut settings: Value = serde_json::from_str(&settings).expect("JSON");
                let rules: Value = serde_json::from_str(&self.text).expect("JSON");
                for (key, value) in rules.as_object().expect("an object") {
                    settings[key] = value.clone();
                }
                settings.to_string()
            }
            Err(_) => self.text.clone(),
        };
        fs::write(path, text).expect("settings");
    }
}

/// Rules times commands: with hooks, the client decides the same and shows the same exit codes.
fn hooks_change_no_decision(client: TestClient, rules: &[Rules]) {
    let clients = InstalledClients::installed();
    let tools = own_tools(client);
    for rules in rules {
        let run = |with_hooks: bool| {
            let home = ClientHome::new();
            fs::write(home.project().join(LOG), build_log()).expect("a log");
            let script = COMMANDS.iter().map(|command| shell_step(&tools, command)).collect();
            let run = client.run_with_own_tools(home, &clients, &server(), script, |home, command| {
                rules.write(home);
                if with_hooks {
                    setup(&clients, home, &["--user", "--only", "hooks", tools.setup]);
                }
                command.env(PATIENT.0, PATIENT.1);
            });
            let files = ["made", LOG].map(|name| run.project().join(name).exists());
            assert_eq!(files, [rules.touches, !rules.removes], "{client:?}, {}: {run:#?}", rules.name);
            let folder = run.project().display().to_string();
            let texts =
                run.results.iter().map(|result| fixed_lines(&result.text).replace(&folder, "/project"));
            texts.collect::<Vec<_>>()
        };
        let [without, with] = [false, true].map(run);
        assert_eq!(without.len(), with.len(), "{}", rules.name);
        for (command, (without, with)) in COMMANDS.iter().zip(without.iter().zip(&with)) {
            let is_same = match with.contains("[tamis cut ") {
                true => without.contains("Compiling crate-150") && exit_lines(without) == exit_lines(with),
                false => without == with,
            };
            assert!(is_same, "{client:?}, {}, {command}: {without}\n--- with hooks:\n{with}", rules.name);
        }
    }
}

/// What the model is shown, without what differs from run to run: Codex says how long a command took, and Gemini CLI which
/// processes it started.
fn fixed_lines(text: &str) -> String {
    let is_fixed =
        |line: &&str| !["Chunk ID", "Wall time", "Process Group"].iter().any(|start| line.starts_with(start));
    text.lines().filter(is_fixed).collect::<Vec<_>>().join("\n")
}

/// How clients say with which code a command ended.
fn exit_lines(text: &str) -> Vec<&str> {
    let starts = ["Exit code ", "Exit Code: ", "Process exited with code "];
    text.lines().filter(|line| starts.iter().any(|start| line.starts_with(start))).collect()
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn hooks_change_no_decision_of_claude_code() {
    let rules = |name, rules: Value, runs| {
        Rules::new(name, ".claude/settings.json", json!({"permissions": rules}), runs)
    };
    let some = json!({"allow": ["Bash(cat:*)"], "deny": ["Bash(rm:*)"]});
    let all =
        json!({"allow": ["Bash"], "ask": ["Bash(touch:*)"], "deny": ["Bash(rm:*)", "Bash(git status)"]});
    hooks_change_no_decision(
        TestClient::ClaudeCode,
        &[
            rules("allow", json!({"allow": ["Bash"]}), (true, true)),
            rules("allow some", some, (false, false)),
            rules("allow, ask, deny", all, (false, false)),
            rules("deny", json!({"deny": ["Bash"]}), (false, false)),
        ],
    );
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn hooks_change_no_decision_of_codex() {
    let rules = |name, rules: &[(&str, &str)], runs| {
        let rule = |(words, decision): &(&str, &str)| {
            let words: Vec<&str> = words.split(' ').collect();
            format!("prefix_rule(pattern = {}, decision = \"{decision}\")\n", json!(words))
        };
        Rules::new(name, ".codex/rules/default.rules", rules.iter().map(rule).collect::<String>(), runs)
    };
    hooks_change_no_decision(
        TestClient::Codex,
        &[
            rules("allow", &[("cat", "allow"), ("touch", "allow")], (true, true)),
            rules("deny", &[("rm", "forbidden"), ("git status", "forbidden")], (true, false)),
            rules(
                "allow, ask, deny",
                &[("cat", "allow"), ("touch", "prompt"), ("rm", "forbidden")],
                (false, false),
            ),
        ],
    );
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn hooks_change_no_decision_of_gemini_cli() {
    let rules = |name, rules: &[(&str, &str)], runs| {
        let rule = |(prefix, decision): &(&str, &str)| {
            let prefix =
                if prefix.is_empty() { String::new() } else { format!("commandPrefix = \"{prefix}\"\n") };
            format!(
                "[[rule]]\ntoolName = \"run_shell_command\"\n{prefix}decision = \"{decision}\"\npriority = 500\n\n"
            )
        };
        Rules::new(name, ".gemini/policies/test.toml", rules.iter().map(rule).collect::<String>(), runs)
    };
    hooks_change_no_decision(
        TestClient::GeminiCli,
        &[
            rules("allow", &[("cat", "allow")], (true, true)),
            rules("deny", &[("rm", "deny"), ("git status", "deny")], (true, false)),
            rules(
                "allow, ask, deny",
                &[("cat", "allow"), ("touch", "ask_user"), ("rm", "deny")],
                (false, false),
            ),
            rules("deny all", &[("", "deny")], (false, false)),
        ],
    );
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn hooks_change_no_decision_of_open_code() {
    let rules = |name, rules: Value, runs| {
        Rules::new(name, ".config/opencode/opencode.json", json!({"permission": {"bash": rules}}), runs)
    };
    hooks_change_no_decision(
        TestClient::OpenCode,
        &[
            rules("allow", json!("allow"), (true, true)),
            rules("deny", json!({"*": "allow", "rm *": "deny", "git status": "deny"}), (true, false)),
            rules(
                "allow, ask, deny",
                json!({"*": "allow", "touch *": "ask", "rm *": "deny"}),
                (false, false),
            ),
            rules("deny all", json!("deny"), (false, false)),
        ],
    );
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn claude_code_works_without_tamis() {
    works_without_tamis(TestClient::ClaudeCode);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn codex_works_without_tamis() {
    works_without_tamis(TestClient::Codex);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gemini_cli_works_without_tamis() {
    works_without_tamis(TestClient::GeminiCli);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn open_code_works_without_tamis() {
    works_without_tamis(TestClient::OpenCode);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn claude_code_works_with_hooks() {
    works_with_hooks(TestClient::ClaudeCode);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn codex_works_with_hooks() {
    works_with_hooks(TestClient::Codex);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gemini_cli_works_with_hooks() {
    works_with_hooks(TestClient::GeminiCli);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn open_code_works_with_hooks() {
    works_with_hooks(TestClient::OpenCode);
}

/// The hooks of the plugin folder, which the client installs by its own command: output is pruned, and markers are not written.
/// Beside the hooks of `tamis setup`, one of the two acts.
fn works_with_the_plugin(client: TestClient, install: &str, is_doubled: bool) {
    let clients = InstalledClients::installed();
    let tools = own_tools(client);
    let home = ClientHome::new();
    let project = home.project().canonicalize().expect("a path");
    fs::write(project.join(LOG), build_log()).expect("a log");
    let new = project.join("new.rs");
    let script = vec![shell_step(&tools, "cat build.log"), write_step(client, new.clone(), first_marker)];
    let run = client.run_with_own_tools(home, &clients, &server(), script, |home, command| {
        allow_own_tools(client, command.env(PATIENT.0, PATIENT.1));
        let bin = home.path().join("bin");
        fs::create_dir(&bin).expect("a folder");
        symlink(tamis(), bin.join("tamis")).expect("a link");
        let path = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
        let path = format!("{}:{}", bin.display(), path.expect("a PATH").to_string_lossy());
        command.env("PATH", path);
        if client == TestClient::Codex {
            // Other tests do without plugins, which Codex would update from elsewhere.
            let config = home.path().join(".codex/config.toml");
            let text = fs::read_to_string(&config).expect("a configuration");
            fs::write(&config, text.replace("plugins = false", "plugins = true")).expect("a configuration");
        }
        if is_doubled {
            setup(&clients, home, &["--user", "--only", "hooks", tools.setup]);
        }
        let mut shell = clients.beside_tools(Path::new("/bin/sh"), home.path());
        let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin");
        shell.args(["-c", install]).env("PLUGIN", plugin.canonicalize().expect("a folder"));
        let finished = run_bounded(shell, LIMIT);
        assert_eq!(finished.code(), Some(0), "{}{}", finished.stdout, finished.stderr);
    });
    let results = run.expect_results(2);
    assert_pruned(&results[0].text, &build_log());
    assert!(results[1].text.contains("`tamis recover prn_"), "{}", results[1].text);
    assert!(!new.exists());
    let home = run.into_home();
    assert_eq!(outcomes(&home, "pruned"), 1);
    assert_eq!(outcomes(&home, "doubled"), usize::from(is_doubled));
    if is_doubled {
        let mut doctor = clients.beside_tools(&tamis(), home.path());
        doctor.arg("doctor").env("TAMIS_DATA_DIR", home.data_folder()).current_dir(home.project());
        let report = run_bounded(doctor, LIMIT).stdout;
        let fix = format!("fix: tamis setup {} --remove --only hooks\n", tools.setup);
        assert!(report.contains("1 outputs reached both") && report.contains(&fix), "{report}");
    }
}

/// The number of hook calls that ended like this.
fn outcomes(home: &ClientHome, outcome: &str) -> usize {
    let calls = fs::read_to_string(home.data_folder().join("hook-calls.jsonl")).expect("a record");
    calls.matches(&format!("\"outcome\":\"{outcome}\"")).count()
}

const CLAUDE_PLUGIN: &str = "claude plugin marketplace add \"$PLUGIN\" && claude plugin install tamis@tamis";
const CODEX_PLUGIN: &str = "codex plugin marketplace add \"$PLUGIN\" && codex plugin add tamis@tamis";
// It asks whether the folder is trusted.
const GEMINI_PLUGIN: &str = "echo y | gemini extensions install \"$PLUGIN\" --consent";

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn claude_code_works_with_the_plugin() {
    works_with_the_plugin(TestClient::ClaudeCode, CLAUDE_PLUGIN, false);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn codex_works_with_the_plugin() {
    works_with_the_plugin(TestClient::Codex, CODEX_PLUGIN, false);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gemini_cli_works_with_the_plugin() {
    works_with_the_plugin(TestClient::GeminiCli, GEMINI_PLUGIN, false);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn hooks_that_are_installed_twice_act_once_in_claude_code() {
    works_with_the_plugin(TestClient::ClaudeCode, CLAUDE_PLUGIN, true);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn hooks_that_are_installed_twice_act_once_in_codex() {
    works_with_the_plugin(TestClient::Codex, CODEX_PLUGIN, true);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn hooks_that_are_installed_twice_act_once_in_gemini_cli() {
    works_with_the_plugin(TestClient::GeminiCli, GEMINI_PLUGIN, true);
}
