use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use tamis_clients::find_program;
use tamis_config::ConfigEnvironment;
use tamis_setup::{
    Connection, ConnectionScope, ConnectionState, PlannedChange, Setup, SetupClient, SetupError, SetupPart,
    SetupScope, SetupStep,
};

use crate::error::{CliError, CliResult};
use crate::{escape, print, startup};

/// Connect coding agents and editors to tamis
///
/// Adds `tamis mcp` as an MCP server to the configuration of each client, and `tamis hook` to the hooks of Claude Code, Codex,
/// Gemini CLI and OpenCode, which then prunes what their own tools print. Prints every change as a diff. Everything else in these
/// files stays as it is, comments included. Without a client's name, sets up all clients that are installed. A second run changes
/// nothing. Without --user and --project, adds nothing that a plugin, another scope or your own entry has already.
#[derive(Args)]
pub(crate) struct SetupCommand {
    /// Clients to set up
    #[arg(value_name = "CLIENT", value_enum)]
    clients: Vec<ClientName>,
    /// Set up this project only, in files that you can commit
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// Set up all your projects [default]
    #[arg(long)]
    user: bool,
    /// Set up or remove only this [default: all that a client supports]
    #[arg(long, value_name = "PART", value_enum)]
    only: Option<PartName>,
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
    /// Undo what was set up: files that are unchanged since get their old content back, from others only tamis is removed
    #[arg(long)]
    remove: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// For a file with an entry of tamis that is not as `tamis setup` writes it.
const FOREIGN: &str = ", which has an entry for tamis that setup did not write: it stays as it is";

/// A client, as it is named on the command line.
#[derive(Clone, Copy, Debug)]
struct ClientName(SetupClient);

impl ValueEnum for ClientName {
    fn value_variants<'a>() -> &'a [ClientName] {
        const ALL: [ClientName; SetupClient::ALL.len()] = {
            let mut all = [ClientName(SetupClient::ALL[0]); SetupClient::ALL.len()];
            let mut index = 0;
            while index < all.len() {
                all[index] = ClientName(SetupClient::ALL[index]);
                index += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.name()))
    }
}

/// What is added to a client, as it is named on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum PartName {
    /// The MCP server
    Mcp,
    /// The hooks
    Hooks,
}

impl SetupCommand {
    fn parts(&self) -> &'static [SetupPart] {
        match self.only {
            None => SetupPart::ALL,
            Some(PartName::Mcp) => &[SetupPart::Mcp],
            Some(PartName::Hooks) => &[SetupPart::Hooks],
        }
    }
}

/// What happened with one file of a client.
struct Outcome {
    client: SetupClient,
    path: Option<PathBuf>,
    /// One word for programs.
    status: &'static str,
    /// A sentence for people.
    message: String,
    diff: Option<String>,
}

pub(crate) fn run(arguments: SetupCommand) -> CliResult {
    let environment = ConfigEnvironment::of_process();
    let config = startup::load(&environment)?;
    let planner = startup::client_setup(&config, &environment)?;
    // A dry run changes nothing, so it waits for nothing.
    let _lock = match arguments.dry_run {
        true => None,
        false => Some(planner.lock().map_err(CliError::failed)?),
    };
    let (outcomes, errors) =
        if arguments.remove { remove(&planner, &arguments)? } else { add(&planner, &arguments)? };
    if arguments.json {
        print::json(&outcomes.iter().map(as_json).collect::<Vec<_>>())?;
    } else {
        for outcome in &outcomes {
            if let Some(diff) = &outcome.diff {
                print::text(&escape::text(diff))?;
            }
            print::note(format_args!("{}: {}", outcome.client.display_name(), outcome.message));
        }
    }
    CliError::last_of(errors)
}

fn add(planner: &Setup, arguments: &SetupCommand) -> Result<(Vec<Outcome>, Vec<CliError>), CliError> {
    let scope = if arguments.project { SetupScope::Project } else { SetupScope::User };
    let mut clients: Vec<SetupClient> = arguments.clients.iter().map(|name| name.0).collect();
    if clients.is_empty() {
        let installed = SetupClient::ALL.iter().filter(|client| client.is_installed(&planner.environment));
        clients.extend(installed);
    }
    if clients.is_empty() {
        let names: Vec<_> = SetupClient::ALL.iter().map(|client| client.display_name()).collect();
        return Err(CliError::failed(anyhow::anyhow!(
            "none of the clients is installed: {}",
            names.join(", ")
        ))
        .hint("`tamis setup claude`, for example, sets up a client that was not found"));
    }
    let command = command(planner, scope)?;
    let (mut outcomes, mut errors) = (Vec::new(), Vec::new());
    for client in clients {
        let mut parts = arguments.parts().to_vec();
        if !arguments.user && !arguments.project {
            let elsewhere = connected_elsewhere(planner, client, &parts);
            parts.retain(|part| !elsewhere.iter().any(|(found, _)| found == part));
            outcomes.extend(elsewhere.into_iter().map(|(_, outcome)| outcome));
            if parts.is_empty() {
                continue;
            }
        }
        // No file of a client is written if another one cannot be.
        match planner.plan(client, scope, &parts, &command).into_iter().collect::<Result<Vec<_>, _>>() {
            Ok(steps) => {
                let is_changed = |outcome: &Outcome| outcome.status == "changed" && outcome.client == client;
                for step in steps {
                    match add_one(planner, client, step, arguments.dry_run) {
                        Ok(outcome) => outcomes.push(outcome),
                        Err(error) => {
                            errors.push(setup_error(client, error, outcomes.iter().any(is_changed)));
                        }
                    }
                }
            }
            Err(error) => errors.push(setup_error(client, error, false)),
        }
    }
    Ok((outcomes, errors))
}

/// The parts that another scope, a plugin or the user's own entry has already, and the user's scope has not: a second one would
/// run beside it.
fn connected_elsewhere(
    planner: &Setup,
    client: SetupClient,
    parts: &[SetupPart],
) -> Vec<(SetupPart, Outcome)> {
    let mut elsewhere = Vec::new();
    for part in parts {
        let connections: Vec<_> = planner.connections(client, *part).into_iter().flatten().collect();
        let is_used = |state| matches!(state, ConnectionState::Active | ConnectionState::Untrusted);
        let is_own = |found: &Connection| found.is_of_setup || found.is_named;
        let is_of_user =
            connections.iter().any(|found| found.scope == ConnectionScope::User && is_own(found));
        let found = connections.into_iter().find(|found| is_used(found.state));
        if let Some(found) = found.filter(|_| !is_of_user) {
            let path = found.path.display();
            let place = match found.scope {
                ConnectionScope::Plugin => format!("by the plugin in {path}"),
                _ => format!("in {path}"),
            };
            let what = match part {
                SetupPart::Mcp => "a second server",
                SetupPart::Hooks => "second hooks",
            };
            let message = format!("already connected {place}; `--user` adds {what} for all your projects");
            let path = Some(found.path);
            elsewhere.push((*part, Outcome { client, path, status: "unchanged", message, diff: None }));
        }
    }
    elsewhere
}

fn add_one(
    planner: &Setup,
    client: SetupClient,
    step: SetupStep,
    is_trial: bool,
) -> Result<Outcome, SetupError> {
    let outcome =
        |path: Option<PathBuf>, status, message| Outcome { client, path, status, message, diff: None };
    Ok(match step {
        SetupStep::Change(change) => {
            let diff = Some(change.file.diff());
            let path = change.path().to_owned();
            let kept = if change.keeps_entry() { FOREIGN } else { "" };
            if is_trial {
                let message = format!("would be connected in {}{kept}", path.display());
                return Ok(Outcome { diff, ..outcome(Some(path), "planned", message) });
            }
            planner.apply(&change)?;
            let backup = match planner.backup(&change) {
                Some(backup) => format!("; the file as it was: {}", backup.display()),
                None => String::new(),
            };
            let advice = change.parts.iter().filter_map(|part| client.advice(change.scope, *part));
            let advice: String = advice.map(|advice| format!(". {advice}")).collect();
            let disabled = match client.disabled_hooks(&planner.environment) {
                Some((file, setting)) if change.parts.contains(&SetupPart::Hooks) => {
                    format!(". Its hooks do not run: `{setting}` in {} switches them off", file.display())
                }
                _ => String::new(),
            };
            let message = format!("connected in {}{kept}{backup}{advice}{disabled}", path.display());
            Outcome { diff, ..outcome(Some(path), "changed", message) }
        }
        SetupStep::Unchanged(path) => {
            let message = format!("already connected in {}", path.display());
            outcome(Some(path), "unchanged", message)
        }
        SetupStep::Foreign(path) => {
            let message = format!("nothing to add to {}{FOREIGN}", path.display());
            outcome(Some(path), "foreign", message)
        }
        SetupStep::NoHooks => outcome(None, "unsupported", "has no hooks that tamis can use".to_owned()),
        SetupStep::NoSuchScope => {
            let message = "has no configuration for a project; use `--user`".to_owned();
            outcome(None, "unsupported", message)
        }
    })
}

fn remove(planner: &Setup, arguments: &SetupCommand) -> Result<(Vec<Outcome>, Vec<CliError>), CliError> {
    let scope = match (arguments.project, arguments.user) {
        (true, _) => Some(SetupScope::Project),
        (_, true) => Some(SetupScope::User),
        _ => None,
    };
    let clients: Vec<SetupClient> = arguments.clients.iter().map(|name| name.0).collect();
    let changes = planner.plan_removal(&clients, scope, arguments.parts()).map_err(CliError::failed)?;
    if changes.is_empty() && !arguments.json {
        print::note("nothing that `tamis setup` has written is left to remove");
    }
    let (mut outcomes, mut errors) = (Vec::new(), Vec::new());
    for (client, change) in changes {
        let removed = change.and_then(|change| {
            if !arguments.dry_run {
                planner.apply(&change)?;
            }
            Ok(removal(&change, arguments.dry_run))
        });
        match removed {
            Ok(outcome) => outcomes.push(outcome),
            Err(error) => {
                let is_changed = outcomes.iter().any(|outcome: &Outcome| outcome.client == client);
                errors.push(setup_error(client, error, is_changed));
            }
        }
    }
    Ok((outcomes, errors))
}

fn removal(change: &PlannedChange, is_trial: bool) -> Outcome {
    let path = change.path().display();
    let (status, message) = match (change.keeps_entry(), change.file.after.is_none(), is_trial) {
        (true, ..) => ("foreign", format!("what was changed in {path} since stays, all else is removed")),
        (_, true, true) => ("planned", format!("{path} would be deleted")),
        (_, true, false) => ("changed", format!("deleted {path}")),
        (_, false, true) => ("planned", format!("would be removed from {path}")),
        (_, false, false) => ("changed", format!("removed from {path}")),
    };
    let diff = (change.file.before != change.file.after).then(|| change.file.diff());
    Outcome { client: change.client, path: Some(change.path().to_owned()), status, message, diff }
}

/// The command that clients start. For one user, it is a full path, because editors are often started without the shell's PATH;
/// the one on PATH if that is this program, because it stays valid after an update. A project's file is shared, so there it is
/// the name alone.
fn command(planner: &Setup, scope: SetupScope) -> Result<String, CliError> {
    let program = startup::this_program()?;
    if on_path(planner, &program).is_none() {
        let reason = match scope {
            SetupScope::User => "clients will start it from where it is now",
            SetupScope::Project => "clients will not find it",
        };
        print::note(format_args!("warning: {} is not on PATH as `tamis`: {reason}", program.display()));
    }
    match scope {
        SetupScope::User => user_command(planner),
        SetupScope::Project => Ok("tamis".to_owned()),
    }
}

/// The command of one user's clients.
pub(super) fn user_command(planner: &Setup) -> Result<String, CliError> {
    let program = startup::this_program()?;
    Ok(on_path(planner, &program).unwrap_or(program).display().to_string())
}

/// This program on PATH.
fn on_path(planner: &Setup, program: &Path) -> Option<PathBuf> {
    let path = planner.environment.variables.get("PATH");
    let found = find_program("tamis", path.map(|path| path.as_os_str()))?;
    (found.canonicalize().ok() == program.canonicalize().ok()).then_some(found)
}

/// Why a file of a client is as it was, and whether another one of the client was changed.
fn setup_error(client: SetupClient, error: SetupError, is_changed: bool) -> CliError {
    let hint = match &error {
        SetupError::Document { path, .. } => {
            Some(format!("fix `{}`, then run `tamis setup {}` again", path.display(), client.name()))
        }
        SetupError::Read { path, source } | SetupError::Write { path, source }
            if source.kind() == std::io::ErrorKind::PermissionDenied =>
        {
            Some(format!("`ls -ld '{}'` shows who may change it", path.display()))
        }
        SetupError::Raced { .. } => Some(format!("run `tamis setup {}` again", client.name())),
        _ => None,
    };
    let name = client.display_name();
    let context = match is_changed {
        true => format!("{name} was changed only in part, as listed above"),
        false => format!("{name} was not changed"),
    };
    let failed = CliError::failed(anyhow::Error::new(error).context(context));
    CliError { hint, ..failed }
}

fn as_json(outcome: &Outcome) -> Value {
    json!({
        "client": outcome.client.name(),
        "status": outcome.status,
        "path": outcome.path,
        "message": outcome.message,
        "diff": outcome.diff.as_deref().map(escape::text),
    })
}
