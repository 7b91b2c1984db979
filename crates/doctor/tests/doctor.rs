//! What the doctor finds in a home with Claude Code, before and after it is connected, and by what its log and our record say.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tamis_doctor::{Doctor, Finding, Verdict};
use tamis_hook::{HookCalls, HookOutcome, HookResult, LeftReason};
use tamis_logs::discovery::LogLocations;
use tamis_setup::{Setup, SetupClient, SetupEnvironment, SetupPart, SetupScope, SetupStep};
use tamis_store::DataDir;
use tamis_trace::Trace;

const SESSION: &str = "0f0e0d0c-0000-4000-8000-000000000001";
/// 2027-01-15, 08:00.
const NOW: u64 = 1_800_000_000;

struct Home {
    folder: tempfile::TempDir,
    setup: Setup,
}

impl Home {
    fn new() -> Home {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        fs::create_dir_all(home.join(".claude")).unwrap();
        let project = folder.path().join("project");
        fs::create_dir(&project).unwrap();
        let working_dir = project.clone();
        let environment = SetupEnvironment { home, project, working_dir, variables: Default::default() };
        let setup = Setup { data: DataDir::at(folder.path().join("data")), environment };
        Home { folder, setup }
    }

    /// Connects Claude Code, an hour before now.
    fn connect(&self) {
        self.connect_in(SetupScope::User, "/bin/tamis");
    }

    fn connect_in(&self, scope: SetupScope, command: &str) {
        for step in self.setup.plan(SetupClient::ClaudeCode, scope, SetupPart::ALL, command) {
            let SetupStep::Change(change) = step.unwrap() else { panic!("nothing to change") };
            self.setup.apply(&change).unwrap();
        }
        for record in fs::read_dir(self.setup.data.setup()).unwrap() {
            let record = File::open(record.unwrap().path().join("record.json")).unwrap();
            record.set_modified(UNIX_EPOCH + Duration::from_secs(NOW - 3_600)).unwrap();
        }
    }

    /// A session with calls of its own tools, the given number of seconds before now; the last one fails.
    fn write_log(&self, calls: usize, seconds: u64) {
        let mut lines = Vec::new();
        let record = |number: usize, role: &str, content: Value| {
            // Times only have to be in order, and whole seconds are written alike.
            let at = NOW - seconds + number as u64;
            let time = format!("2027-01-15T{:02}:{:02}:{:02}.000Z", at / 3_600 % 24, at / 60 % 60, at % 60);
            json!({"type": role, "sessionId": SESSION, "uuid": number.to_string(), "timestamp": time, "cwd": "/p",
                "version": "2.1.325", "message": {"role": role, "content": content}})
            .to_string()
        };
        lines.push(record(0, "user", json!("why?")));
        for call in 0..calls {
            let id = format!("toolu_{call}");
            let used = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}}]);
            let failed = call + 1 == calls;
            let result =
                json!([{"type": "tool_result", "tool_use_id": id, "content": "done", "is_error": failed}]);
            lines.push(record(2 * call + 1, "assistant", used));
            lines.push(record(2 * call + 2, "user", result));
        }
        let folder = self.folder.path().join("home/.claude/projects/-p");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{SESSION}.jsonl")), lines.join("\n") + "\n").unwrap();
    }

    fn record_calls(&self, outcome: HookOutcome, count: usize) {
        let calls = HookCalls::new(self.setup.data.clone());
        let result = HookResult {
            outcome,
            reply: None,
            unrecorded: None,
            session: Some(SESSION.to_owned()),
            tool: Some("Bash".to_owned()),
            call_id: None,
        };
        // The record has the time of the real clock, so it says that these calls were made later than they were.
        (0..count).for_each(|_| calls.add("claude", &result, Duration::ZERO).unwrap());
        let path = self.setup.data.root().join("hook-calls.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let at = |line: &str| {
            let mut call: Value = serde_json::from_str(line).unwrap();
            call["at_ms"] = json!((NOW - 60) * 1_000);
            format!("{call}\n")
        };
        fs::write(&path, text.lines().map(at).collect::<String>()).unwrap();
    }

    fn findings(&self) -> Vec<Finding> {
        let logs = LogLocations::only(vec![self.folder.path().join("home/.claude")]);
        let trace = Trace::new(logs, self.setup.data.clone());
        trace.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
        let doctor = Doctor {
            setup: &self.setup,
            trace: &trace,
            command: "/bin/tamis",
            program: PathBuf::from("/bin/sh"),
            on_path: Some(PathBuf::from("/bin/sh")),
            now: UNIX_EPOCH + Duration::from_secs(NOW),
        };
        doctor.findings()
    }

    /// The findings about Claude Code.
    fn of_claude(&self) -> Vec<(Verdict, String, Option<String>)> {
        let findings = self.findings().into_iter().filter(|finding| finding.subject == "Claude Code");
        let home = self.folder.path().join("home").display().to_string();
        findings.map(|finding| (finding.verdict, finding.message.replace(&home, "~"), finding.fix)).collect()
    }
}

#[test]
fn a_client_that_is_not_connected_is_named_with_the_command_that_connects_it() {
    let home = Home::new();
    let fix = |part: &str| Some(format!("tamis setup claude --only {part}"));
    assert_eq!(
        home.of_claude(),
        [
            (Verdict::Note, "MCP server not configured".to_owned(), fix("mcp")),
            (Verdict::Note, "hooks not configured".to_owned(), fix("hooks")),
        ]
    );
    // Nothing was written, but for the index that reading the logs takes.
    assert!(!home.setup.data.setup().exists());
    fs::write(home.folder.path().join("home/.claude/settings.json"), "{").unwrap();
    assert_eq!(home.of_claude()[1].0, Verdict::Problem);
}

#[test]
fn silent_hooks_are_a_problem() {
    let home = Home::new();
    home.connect();
    let last = |home: &Home| home.of_claude().pop().unwrap();
    let server = (Verdict::Fine, "MCP server in ~/.claude.json".to_owned(), None);
    assert_eq!(home.of_claude()[0], server);
    let hooks = (Verdict::Fine, "hooks in ~/.claude/settings.json".to_owned(), None);
    assert_eq!(home.of_claude()[1], hooks);
    // Calls before the hooks were installed say nothing, and neither do a few.
    for (calls, seconds) in [(9, 3_700), (3, 600)] {
        home.write_log(calls, seconds);
        let (verdict, message, _) = last(&home);
        assert_eq!(verdict, Verdict::Fine, "{message}");
        assert!(message.starts_with("too few tool calls"), "{message}");
    }
    home.write_log(9, 600);
    let (verdict, message, fix) = last(&home);
    // Claude Code runs no such hook for the call that failed.
    assert_eq!((verdict, message.as_str()), (Verdict::Problem, "none of 8 tool calls reached the hooks"));
    assert!(fix.unwrap().contains("/hooks"));
    home.record_calls(HookOutcome::Left(LeftReason::TooShort), 3);
    home.record_calls(HookOutcome::Left(LeftReason::NoMarker), 5);
    let (verdict, message, _) = last(&home);
    assert_eq!((verdict, message.as_str()), (Verdict::Note, "only 3 of 8 tool calls reached the hooks"));
    home.record_calls(HookOutcome::Pruned, 5);
    assert_eq!(last(&home), (Verdict::Fine, "8 of 8 tool calls reached the hooks".to_owned(), None));
    home.record_calls(HookOutcome::Left(LeftReason::UnknownForm), 1);
    let (verdict, message, fix) = last(&home);
    assert_eq!((verdict, fix.as_deref()), (Verdict::Problem, Some("update tamis")), "{message}");
}

#[test]
fn calls_that_took_too_long_are_named() {
    for outcome in ["too_slow", "timeout"] {
        let home = Home::new();
        home.connect();
        home.write_log(9, 600);
        home.record_calls(HookOutcome::Pruned, 7);
        home.record_calls(serde_json::from_value(json!(outcome)).unwrap(), 1);
        let (verdict, message, fix) = home.of_claude().pop().unwrap();
        let expected = "1 call took longer than the time limit, and nothing was cut";
        assert_eq!((verdict, message.as_str()), (Verdict::Note, expected), "{outcome}");
        assert_eq!(fix.as_deref(), Some("tamis config set hook.deadline_ms 300"));
    }
}

/// Installs the plugin of Claude Code, as `claude plugin install` does.
fn install_plugin(home: &Home) {
    let folder = home.folder.path().join("home/.claude");
    fs::create_dir_all(folder.join("plugins")).unwrap();
    let installed = json!({"version": 2, "plugins": {"tamis@tamis": [{"scope": "user"}]}});
    fs::write(folder.join("plugins/installed_plugins.json"), installed.to_string()).unwrap();
    let path = folder.join("settings.json");
    let text = fs::read_to_string(&path).unwrap_or("{}".to_owned());
    let mut settings: Value = serde_json::from_str(&text).unwrap();
    settings["enabledPlugins"] = json!({"tamis@tamis": true});
    fs::write(path, settings.to_string()).unwrap();
}

#[test]
fn a_plugin_is_seen_and_nothing_is_to_be_added_beside_it() {
    let home = Home::new();
    install_plugin(&home);
    let at = "of the plugin in ~/.claude/settings.json";
    let found = home.of_claude();
    assert_eq!(found[0], (Verdict::Fine, format!("MCP server {at}"), None));
    assert_eq!(found[1], (Verdict::Fine, format!("hooks {at}"), None));
    home.connect();
    let found = home.of_claude();
    assert_eq!(found[0].2.as_deref(), Some("tamis setup claude --remove --only mcp"), "{found:?}");
    let doubled = "the hooks are installed twice; one acts".to_owned();
    let fix = "tamis setup claude --remove --only hooks".to_owned();
    assert_eq!(found.last(), Some(&(Verdict::Note, doubled, Some(fix))));
}

#[test]
fn calls_of_hooks_that_were_removed_prove_nothing() {
    let home = Home::new();
    home.connect();
    home.record_calls(HookOutcome::Pruned, 9);
    home.record_calls(HookOutcome::Left(LeftReason::Doubled), 9);
    for (_, change) in home.setup.plan_removal(&[], None, SetupPart::ALL).unwrap() {
        home.setup.apply(&change.unwrap()).unwrap();
    }
    let fix = |part: &str| Some(format!("tamis setup claude --only {part}"));
    assert_eq!(
        home.of_claude(),
        [
            (Verdict::Note, "MCP server not configured".to_owned(), fix("mcp")),
            (Verdict::Note, "hooks not configured".to_owned(), fix("hooks")),
        ]
    );
}

#[test]
fn hooks_that_are_installed_twice_are_named_with_the_command_that_removes_one() {
    let home = Home::new();
    home.record_calls(HookOutcome::Pruned, 2);
    home.record_calls(HookOutcome::Left(LeftReason::Doubled), 2);
    let last = |home: &Home| home.of_claude().pop().unwrap();
    let message = "the hooks are installed twice: 2 outputs reached both; one acts";
    let fixed = |fix: &str| (Verdict::Note, message.to_owned(), Some(fix.to_owned()));
    // Neither is of setup.
    let folder = home.folder.path().join("project/.claude");
    fs::create_dir(&folder).unwrap();
    let hooks =
        json!({"hooks": {"PostToolUse": [{"hooks": [{"command": "tamis hook claude"}]}]}}).to_string();
    let paths = ["settings.json", "settings.local.json"].map(|name| folder.join(name));
    paths.iter().for_each(|path| fs::write(path, &hooks).unwrap());
    assert_eq!(last(&home), fixed(&format!("remove the hooks of tamis from {}", paths[1].display())));
    fs::remove_file(&paths[0]).unwrap();
    home.connect();
    assert_eq!(last(&home), fixed("tamis setup claude --remove --only hooks"));
    home.connect_in(SetupScope::Project, "tamis");
    assert_eq!(last(&home), fixed("tamis setup claude --remove --only hooks --project"));
    // The second call for an output does not count as one that reached the hooks.
    home.write_log(9, 600);
    assert!(home.of_claude().iter().any(|(_, message, _)| message.starts_with("only 2 of 8 ")));
}

#[test]
fn hooks_of_codex_that_are_not_trusted_and_hooks_that_are_switched_off_are_named() {
    let home = Home::new();
    let folder = home.folder.path().join("home/.codex");
    fs::create_dir(&folder).unwrap();
    for step in home.setup.plan(SetupClient::Codex, SetupScope::User, SetupPart::ALL, "/bin/tamis") {
        let SetupStep::Change(change) = step.unwrap() else { panic!("nothing to change") };
        home.setup.apply(&change).unwrap();
    }
    let fixes = || {
        let findings = home.findings().into_iter().filter(|finding| finding.subject == "Codex");
        findings.filter_map(|finding| finding.fix).collect::<Vec<_>>()
    };
    assert_eq!(fixes(), ["start `codex`, enter `/hooks` and trust them"]);
    let config = folder.join("config.toml");
    let mut text = fs::read_to_string(&config).unwrap();
    text += &format!("[hooks.state.\"{}/hooks.json:pre_tool_use:0:0\"]\n", folder.display());
    text += "trusted_hash = \"sha256:00\"\n";
    fs::write(&config, &text).unwrap();
    assert_eq!(fixes(), [] as [&str; 0]);
    text += "[features]\nhooks = false\n";
    fs::write(&config, text).unwrap();
    assert_eq!(fixes(), [format!("remove `features.hooks` from {}", config.display())]);
}

#[test]
fn a_data_folder_that_others_can_change_is_a_problem() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let data = home.setup.data.root().to_owned();
    assert_eq!(home.findings()[1].verdict, Verdict::Fine);
    fs::set_permissions(&data, fs::Permissions::from_mode(0o777)).unwrap();
    let logs = LogLocations::only(Vec::new());
    let trace = Trace::new(logs, DataDir::at(home.folder.path().join("other")));
    let doctor = Doctor {
        setup: &home.setup,
        trace: &trace,
        command: "tamis",
        program: PathBuf::from("/bin/sh"),
        on_path: None,
        now: SystemTime::now(),
    };
    let findings = doctor.findings();
    assert_eq!((findings[0].verdict, findings[1].verdict), (Verdict::Note, Verdict::Problem), "{findings:?}");
}
