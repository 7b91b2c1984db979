//! Checks that tamis is installed, that clients are connected to it, and that its hooks run.
//!
//! Entry points: [`Doctor::findings`]; [`HookTraffic`] for what the logs say about hooks.
//!
//! A hook that does not run is silent: the client works, and nothing is saved. So the tool calls in the client's own logs are
//! compared with the calls that reached `tamis hook`.
//!
//! Must never: change anything, or take a client's silence for health.

mod traffic;

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tamis_clients::Client;
use tamis_hook::{HookCall, HookCalls};
use tamis_logs::event::Millis;
use tamis_setup::{Setup, SetupClient, SetupPart, SetupScope, SetupStep};
use tamis_trace::Trace;

pub use traffic::HookTraffic;

/// Sessions that were active this long ago are looked at.
const LOOK_BACK: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Fewer calls prove nothing.
const FEWEST_CALLS: usize = 3;

/// Projects have their own command, which does not depend on where the program is.
const PROJECT_COMMAND: &str = "tamis";

/// What is checked.
pub struct Doctor<'a> {
    pub setup: &'a Setup,
    pub trace: &'a Trace,
    /// The command by which clients start tamis, as `tamis setup` would write it.
    pub command: &'a str,
    /// The program that is running, and the one that is found on PATH.
    pub program: PathBuf,
    pub on_path: Option<PathBuf>,
    pub now: SystemTime,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Fine,
    /// Nothing is wrong, but something could be done.
    Note,
    Problem,
}

impl Verdict {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Fine => "fine",
            Verdict::Note => "note",
            Verdict::Problem => "problem",
        }
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The program, the data folder, or a client.
    pub subject: String,
    pub verdict: Verdict,
    pub message: String,
    /// What to do about it.
    pub fix: Option<String>,
}

impl Finding {
    fn new(subject: &str, verdict: Verdict, message: String) -> Finding {
        Finding { subject: subject.to_owned(), verdict, message, fix: None }
    }

    fn fix(self, fix: impl Into<String>) -> Finding {
        Finding { fix: Some(fix.into()), ..self }
    }
}

impl Doctor<'_> {
    /// Everything that was found, in the order in which one depends on the other.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = vec![self.program(), self.data_folder()];
        let calls = HookCalls::new(self.setup.data.clone()).list();
        for client in SetupClient::ALL {
            if !client.is_installed(&self.setup.environment) {
                continue;
            }
            findings.push(self.connection(*client, SetupPart::Mcp));
            if let Some(hooked) = client.hooked_client() {
                let mut hooks = self.connection(*client, SetupPart::Hooks);
                let since = millis(self.now - LOOK_BACK);
                let is_recent = |call: &&HookCall| Millis::try_from(call.at_ms).is_ok_and(|at| at >= since);
                let mut recent = calls.iter().filter(|call| call.client == client.name()).filter(is_recent);
                if hooks.fix.is_some() && recent.next().is_some() {
                    // A second set of hooks would run beside them.
                    let message =
                        "hooks run that `tamis setup` did not write, of the plugin for example".to_owned();
                    hooks = Finding::new(client.display_name(), Verdict::Fine, message);
                }
                let is_connected = hooks.fix.is_none();
                findings.push(hooks);
                if is_connected {
                    findings.extend(self.traffic(*client, hooked, &calls));
                }
            }
        }
        if findings.len() == 2 {
            findings.push(Finding::new("clients", Verdict::Note, "no client is installed".to_owned()));
        }
        findings
    }

    fn program(&self) -> Finding {
        let same = |path: &PathBuf| path.canonicalize().ok() == self.program.canonicalize().ok();
        let program = self.program.display();
        match &self.on_path {
            Some(found) if same(found) => {
                Finding::new("program", Verdict::Fine, format!("`tamis` on PATH is {}", found.display()))
            }
            Some(found) => {
                let message = format!("`tamis` on PATH is {}, and this is {program}", found.display());
                Finding::new("program", Verdict::Note, message)
                    .fix("install one of them over the other, so that clients and you use the same version")
            }
            None => Finding::new("program", Verdict::Note, format!("{program} is not on PATH as `tamis`"))
                .fix(format!("ln -s '{program}' ~/.local/bin/tamis")),
        }
    }

    fn data_folder(&self) -> Finding {
        let data = &self.setup.data;
        let folder = data.root().display();
        let usable = data.secure().map_err(|error| error.describe()).and_then(|()| {
            if !data.root().exists() {
                return Ok(());
            }
            let probe = data.root().join("doctor.tmp");
            tamis_store::private_file()
                .write(true)
                .create(true)
                .truncate(true)
                .open(&probe)
                .and_then(|_| std::fs::remove_file(&probe))
                .map_err(|error| error.to_string())
        });
        match usable {
            Ok(()) => Finding::new("data folder", Verdict::Fine, folder.to_string()),
            Err(error) => {
                Finding::new("data folder", Verdict::Problem, format!("{folder}: {error}; nothing is cut"))
                    .fix(format!("make `{folder}` a folder that only you can write to"))
            }
        }
    }

    /// Whether the client's configuration has our entries, in either scope.
    fn connection(&self, client: SetupClient, part: SetupPart) -> Finding {
        let (what, option) = match part {
            SetupPart::Mcp => ("MCP server", "mcp"),
            SetupPart::Hooks => ("hooks", "hooks"),
        };
        let subject = client.display_name();
        let command = format!("tamis setup {} --only {option}", client.name());
        for scope in [SetupScope::User, SetupScope::Project] {
            let program = if scope == SetupScope::User { self.command } else { PROJECT_COMMAND };
            for step in self.setup.plan(client, scope, &[part], program) {
                match step {
                    Ok(SetupStep::Unchanged(path)) => {
                        return Finding::new(subject, Verdict::Fine, format!("{what} in {}", path.display()));
                    }
                    Ok(SetupStep::Foreign(path)) => {
                        let message = format!(
                            "{what} in {}, which differ from what `tamis setup` writes",
                            path.display()
                        );
                        return Finding::new(subject, Verdict::Note, message);
                    }
                    Err(error) => {
                        let message = format!("{what} cannot be checked: {error}");
                        return Finding::new(subject, Verdict::Problem, message).fix(command);
                    }
                    Ok(_) => {}
                }
            }
        }
        Finding::new(subject, Verdict::Note, format!("{what} not configured")).fix(command)
    }

    /// What leaves one of two sets of hooks.
    fn single_hook_fix(&self, client: SetupClient) -> String {
        let is_there = |scope, program| {
            let steps = self.setup.plan(client, scope, &[SetupPart::Hooks], program);
            steps.iter().any(|step| matches!(step, Ok(SetupStep::Unchanged(_) | SetupStep::Foreign(_))))
        };
        let in_project = is_there(SetupScope::Project, PROJECT_COMMAND);
        let of_user = is_there(SetupScope::User, self.command);
        let name = client.name();
        match (of_user, in_project) {
            (true, true) => format!("tamis setup {name} --remove --only hooks --project"),
            // The others are those of the plugin.
            (true, false) | (false, true) => format!("tamis setup {name} --remove --only hooks"),
            (false, false) => {
                "remove one of them in the client's settings, or uninstall the plugin".to_owned()
            }
        }
    }

    /// Whether the hooks of a client run.
    fn traffic(&self, client: SetupClient, hooked: Client, calls: &[HookCall]) -> Vec<Finding> {
        let subject = client.display_name();
        let installed = self.setup.written_at(client, SetupPart::Hooks).unwrap_or(UNIX_EPOCH);
        let since = installed.max(self.now - LOOK_BACK);
        let traffic = match HookTraffic::read(self.trace, hooked, millis(since), calls) {
            Ok(traffic) => traffic,
            Err(error) => {
                let message = format!("its sessions cannot be read: {error}");
                return vec![Finding::new(subject, Verdict::Note, message)];
            }
        };
        let HookTraffic { logged, reached, doubled, unknown_forms, too_slow, failed } = traffic;
        let mut findings = Vec::new();
        findings.push(if logged < FEWEST_CALLS {
            let message = format!(
                "too few tool calls since the hooks were installed to tell whether they run: {logged}"
            );
            Finding::new(subject, Verdict::Fine, message)
        } else if reached == 0 {
            let message = format!("none of {logged} tool calls reached the hooks");
            Finding::new(subject, Verdict::Problem, message).fix(silence_fix(hooked))
        } else if reached * 10 < logged * 9 {
            let message = format!("only {reached} of {logged} tool calls reached the hooks");
            Finding::new(subject, Verdict::Note, message).fix(silence_fix(hooked))
        } else {
            Finding::new(
                subject,
                Verdict::Fine,
                format!("{reached} of {logged} tool calls reached the hooks"),
            )
        });
        if doubled > 0 {
            let message = format!("the hooks are installed twice: {doubled} outputs reached both; one acts");
            findings.push(Finding::new(subject, Verdict::Note, message).fix(self.single_hook_fix(client)));
        }
        if unknown_forms > 0 {
            let message =
                format!("{unknown_forms} calls had a form that this version of tamis does not know");
            findings.push(Finding::new(subject, Verdict::Problem, message).fix("update tamis"));
        }
        if too_slow * 20 > reached.max(1) {
            let message = format!("{too_slow} calls took longer than the time limit, and nothing was cut");
            findings.push(
                Finding::new(subject, Verdict::Note, message).fix("tamis config set hook.deadline_ms 300"),
            );
        }
        if failed > 0 {
            let message = format!("{failed} outputs could not be pruned or stored");
            findings.push(Finding::new(subject, Verdict::Note, message).fix("tamis data show"));
        }
        findings
    }
}

/// What makes a client's hooks run.
fn silence_fix(client: Client) -> &'static str {
    match client {
        Client::ClaudeCode => "restart Claude Code, and check `/hooks` and `disableAllHooks` in its settings",
        Client::Codex => "start Codex, and trust the hooks of tamis in `/hooks`: until then it skips them",
        Client::Gemini => "trust the folder in Gemini CLI, and check `/hooks` in it",
        Client::OpenCode => "restart OpenCode: it loads plugins when it starts",
    }
}

fn millis(time: SystemTime) -> Millis {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}
