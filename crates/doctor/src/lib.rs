//! Checks that tamis is installed, that clients are connected to it, and that its hooks run.
//!
//! Entry points: [`Doctor::findings`]; [`HookTraffic`] for what the logs say about hooks.
//!
//! A hook that does not run is silent: the client works, and nothing is saved. So the tool calls in the client's own logs are
//! compared with the calls that reached `tamis hook`.
//!
//! Must never: change anything, or take a client's silence for health.

mod traffic;

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tamis_clients::Client;
use tamis_hook::{HookCall, HookCalls};
use tamis_logs::event::Millis;
use tamis_setup::{
    Connection, ConnectionScope, ConnectionState, Setup, SetupClient, SetupPart, SetupScope, SetupStep,
};
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
            findings.extend(self.connection(*client, SetupPart::Mcp).0);
            if let Some(hooked) = client.hooked_client() {
                let (hooks, connections) = self.connection(*client, SetupPart::Hooks);
                findings.extend(hooks);
                if !connections.is_empty() {
                    findings.extend(self.traffic(*client, hooked, &calls, &connections));
                }
            }
        }
        // A file may have servers, hooks and plugins.
        let mut unique: Vec<Finding> = Vec::new();
        for finding in findings {
            if !unique.contains(&finding) {
                unique.push(finding);
            }
        }
        let mut findings = unique;
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

    /// What the client's configuration has of us now, and the connections that it uses.
    fn connection(&self, client: SetupClient, part: SetupPart) -> (Vec<Finding>, Vec<Connection>) {
        let what = match part {
            SetupPart::Mcp => "MCP server",
            SetupPart::Hooks => "hooks",
        };
        let subject = client.display_name();
        let command = format!("tamis setup {} --only {}", client.name(), part.name());
        let (mut findings, mut used) = (Vec::new(), Vec::new());
        for connection in self.setup.connections(client, part) {
            let connection = match connection {
                Ok(connection) => connection,
                Err(error) => {
                    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
                    let message = format!("its configuration cannot be checked: {error}{cause}");
                    findings.push(Finding::new(subject, Verdict::Problem, message).fix("correct that file"));
                    continue;
                }
            };
            let place = place(&connection);
            let path = connection.path.display();
            match connection.state {
                ConnectionState::Active | ConnectionState::Untrusted => used.push(connection),
                ConnectionState::Off => {
                    let message = format!("{what} {place}, switched off there");
                    let fix = format!("switch it on in {path}");
                    findings.push(Finding::new(subject, Verdict::Note, message).fix(fix));
                }
                ConnectionState::Other => {
                    let message = format!("a server named `tamis` {place} does not start `tamis mcp`");
                    let fix = format!("{}, then {command}", connection.removal);
                    findings.push(Finding::new(subject, Verdict::Note, message).fix(fix));
                }
            }
        }
        match &used[..] {
            [] if findings.is_empty() => {
                let message = format!("{what} not configured");
                findings.push(Finding::new(subject, Verdict::Note, message).fix(command));
            }
            [] => {}
            [only] => {
                let message = format!("{what} {}", place(only));
                findings.push(match self.update(client, part, only) {
                    Some(fix) => {
                        let message = format!("{message}: this version of `tamis setup` writes other ones");
                        Finding::new(subject, Verdict::Note, message).fix(fix)
                    }
                    None => Finding::new(subject, Verdict::Fine, message),
                });
            }
            several => {
                let places: Vec<String> = several.iter().map(place).collect();
                let message = format!("{what} {}", places.join(", "));
                findings.push(match part {
                    SetupPart::Mcp => {
                        Finding::new(subject, Verdict::Note, format!("{message}: one is enough"))
                            .fix(single_fix(several))
                    }
                    // Whether both run is seen in the calls.
                    SetupPart::Hooks => Finding::new(subject, Verdict::Fine, message),
                });
            }
        }
        if let (SetupPart::Hooks, false, Some((file, setting))) =
            (part, used.is_empty(), client.disabled_hooks(&self.setup.environment))
        {
            let message =
                format!("its hooks do not run: `{setting}` in {} switches them off", file.display());
            let fix = format!("remove `{setting}` from {}", file.display());
            findings.push(Finding::new(subject, Verdict::Note, message).fix(fix));
        }
        if let Some(untrusted) = used.iter().find(|connection| connection.state == ConnectionState::Untrusted)
        {
            let message = format!("hooks {} are not trusted yet: {subject} skips them", place(untrusted));
            let fix = "start `codex`, enter `/hooks` and trust them";
            findings.push(Finding::new(subject, Verdict::Note, message).fix(fix));
        }
        (findings, used)
    }

    /// The command that updates what an earlier `tamis setup` wrote.
    fn update(&self, client: SetupClient, part: SetupPart, connection: &Connection) -> Option<String> {
        let (scope, program, option) = match connection.scope {
            ConnectionScope::User => (SetupScope::User, self.command, ""),
            ConnectionScope::Project => (SetupScope::Project, PROJECT_COMMAND, " --project"),
            ConnectionScope::Local | ConnectionScope::Plugin => return None,
        };
        let steps = self.setup.plan(client, scope, &[part], program);
        let is_changed = steps.iter().any(|step| matches!(step, Ok(SetupStep::Change(_))));
        let command = || format!("tamis setup {} --only {}{option}", client.name(), part.name());
        (connection.is_of_setup && is_changed).then(command)
    }

    /// Whether the hooks of a client run.
    fn traffic(
        &self,
        client: SetupClient,
        hooked: Client,
        calls: &[HookCall],
        connections: &[Connection],
    ) -> Vec<Finding> {
        let subject = client.display_name();
        let installed = connections.iter().filter_map(|connection| connection.since).max();
        let installed = installed.unwrap_or(UNIX_EPOCH);
        let since = installed.max(self.now - LOOK_BACK);
        let traffic = match HookTraffic::read(self.trace, hooked, millis(since), calls) {
            Ok(traffic) => traffic,
            Err(error) => {
                let message = format!("its sessions cannot be read: {error}");
                return vec![Finding::new(subject, Verdict::Note, message)];
            }
        };
        let HookTraffic { logged, reached, doubled, unknown_forms, too_slow, timed_out, failed } = traffic;
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
        // Only what is configured now counts: the record also has calls of hooks that were removed since.
        if connections.len() > 1 {
            let message = match doubled {
                0 => "the hooks are installed twice; one acts".to_owned(),
                _ => format!("the hooks are installed twice: {doubled} outputs reached both; one acts"),
            };
            findings.push(Finding::new(subject, Verdict::Note, message).fix(single_fix(connections)));
        }
        if unknown_forms > 0 {
            let message =
                format!("{unknown_forms} calls had a form that this version of tamis does not know");
            findings.push(Finding::new(subject, Verdict::Problem, message).fix("update tamis"));
        }
        let late = too_slow + timed_out;
        if late * 20 > reached.max(1) {
            let calls = if late == 1 { "call" } else { "calls" };
            let message = format!("{late} {calls} took longer than the time limit, and nothing was cut");
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

/// Where a connection is configured, for a sentence.
fn place(connection: &Connection) -> String {
    let path = connection.path.display();
    match connection.scope {
        ConnectionScope::User | ConnectionScope::Project => format!("in {path}"),
        ConnectionScope::Local => format!("in {path} (local)"),
        ConnectionScope::Plugin => format!("of the plugin in {path}"),
    }
}

/// What leaves one of several connections: what `tamis setup` wrote is removed first, and what a project shares last.
fn single_fix(connections: &[Connection]) -> String {
    let of_setup: Vec<_> = connections.iter().filter(|connection| connection.is_of_setup).collect();
    let in_project = of_setup.iter().find(|connection| connection.scope == ConnectionScope::Project);
    match (&of_setup[..], in_project) {
        ([_, _, ..], Some(shared)) => format!("{} --project", shared.removal),
        ([first, ..], _) => first.removal.clone(),
        ([], _) => {
            let last = connections.iter().min_by_key(|connection| connection.scope);
            last.map(|connection| connection.removal.clone()).unwrap_or_default()
        }
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
