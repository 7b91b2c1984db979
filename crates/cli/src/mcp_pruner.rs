//! `mcp-pruner`: exactly the contract of the pruned tools. It reads no configuration and opens no store; it is configured by
//! three variables.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tamis_clients::DEFAULT_PRUNER_URL;
use tamis_codebase::WorkingFolder;
use tamis_config::is_on;
use tamis_http::HttpUrl;
use tamis_process::{ProcessGroups, WardenProgram};
use tamis_server::{Served, ServerProfile};
use tamis_sieve::{Sieve, SieveSettings};
use tamis_tools::{Pruner, Registry, RemotePruner, Services, Toolset, Workbench};

use crate::error::{CliError, CliResult};
use crate::{print, startup, stdio};

const DEFAULT_TIMEOUT_MS: u64 = 30_000;
const SHORTEST_TIMEOUT_MS: u64 = 100;
const LONGEST_TIMEOUT_MS: u64 = 300_000;

/// Logs every state of every request, as the contract requires.
const DEFAULT_LOG: &str = "warn,tamis=info,tamis_tools::request=debug,rmcp=error";

const HELP: &str = "\
Serve the tools read, bash and grep to one MCP client over stdin and stdout, and prune their output over HTTP

Usage: mcp-pruner

Coding agents start it; `tamis run --pruner` configures one to do so. `tamis mcp` has the same tools, and prunes by itself.

Environment:
  PRUNER_URL         Address of the pruner; nothing is pruned if it is empty [default: http://localhost:8000/prune]
  PRUNER_TIMEOUT_MS  Time limit of a request to it, 100 to 300000 [default: 30000]
  MCP_PRUNER_CWD     Folder of commands and relative paths [default: the current folder]

Options:
  -h, --help     Print help
  -V, --version  Print version
";

pub(crate) fn run() -> CliResult {
    match std::env::args_os().nth(1).map(|argument| argument.to_string_lossy().into_owned()).as_deref() {
        None => {}
        Some("-h" | "--help") => return print::bytes(HELP.as_bytes()),
        Some("-V" | "--version") => {
            return print::line(format_args!("mcp-pruner {}", ServerProfile::MCP_PRUNER.version));
        }
        Some(argument) => {
            return Err(CliError::usage(format_args!(
                "mcp-pruner takes no arguments, but was given `{argument}`"
            ))
            .hint("`mcp-pruner --help` lists the variables that configure it"));
        }
    }
    let variable = |name: &str| std::env::var_os(name);
    let log = variable("TAMIS_LOG").and_then(|log| log.into_string().ok()).filter(|log| !log.is_empty());
    startup::start_logging(log.as_deref().unwrap_or(DEFAULT_LOG))?;
    let folder = folder(variable("MCP_PRUNER_CWD"))?;
    let timeout = timeout(variable("PRUNER_TIMEOUT_MS").as_ref());
    let pruner = pruner(variable("PRUNER_URL"), timeout);
    tracing::info!(
        "mcp-pruner {} serves stdio in {}",
        ServerProfile::MCP_PRUNER.version,
        folder.path().display()
    );
    if std::io::stdin().is_terminal() {
        print::note(
            "waiting for MCP messages on stdin: mcp-pruner is for coding agents, which start it themselves; Ctrl-D ends it",
        );
    }
    let workbench = Workbench {
        folder,
        process_groups: ProcessGroups::new(WardenProgram::this_program()),
        pruner,
        redacts: variable("TAMIS_REDACT").is_some_and(|value| is_on(&value.to_string_lossy())),
    };
    // Not used: this program prunes over HTTP or not at all.
    let sieve = Sieve::new(SieveSettings::without_store(0));
    let served = Served {
        registry: Arc::new(Registry::all().only(&[Toolset::Workbench])),
        services: Arc::new(Services::new(sieve, workbench)),
        profile: &ServerProfile::MCP_PRUNER,
    };
    stdio::serve(served, None, std::future::ready(()))
}

/// The folder of relative paths and commands [default: the current one].
fn folder(named: Option<OsString>) -> Result<WorkingFolder, CliError> {
    let named = named.filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = WorkingFolder::at(named.unwrap_or_else(|| PathBuf::from("."))).map_err(|error| {
        CliError::failed(anyhow::Error::new(error).context("cannot find the current folder"))
            .hint("set MCP_PRUNER_CWD to the folder to work in")
    })?;
    if !folder.path().is_dir() {
        tracing::warn!(
            "MCP_PRUNER_CWD is {}, which is not a folder: every command will fail",
            folder.path().display()
        );
    }
    Ok(folder)
}

/// An empty address turns pruning off; an invalid one does too, with a warning.
fn pruner(url: Option<OsString>, timeout: Duration) -> Pruner {
    let url = url.map_or_else(|| DEFAULT_PRUNER_URL.to_owned(), |url| url.to_string_lossy().into_owned());
    if url.is_empty() {
        tracing::info!("PRUNER_URL is empty: nothing will be pruned");
        return Pruner::Off;
    }
    match url.parse::<HttpUrl>() {
        Ok(url) => {
            tracing::info!("pruning with {url}, time limit {} ms", timeout.as_millis());
            Pruner::Remote(RemotePruner::new(url, timeout))
        }
        Err(error) => {
            tracing::warn!("PRUNER_URL cannot be used, so nothing will be pruned: {error}");
            Pruner::Off
        }
    }
}

/// A whole number of milliseconds within the contract's limits.
fn timeout(text: Option<&OsString>) -> Duration {
    let Some(text) = text.map(|text| text.to_string_lossy()) else {
        tracing::warn!("PRUNER_TIMEOUT_MS is not set; using {DEFAULT_TIMEOUT_MS} ms");
        return Duration::from_millis(DEFAULT_TIMEOUT_MS);
    };
    let Some(given) = whole(text.trim()) else {
        tracing::warn!(
            "PRUNER_TIMEOUT_MS is {text:?}, which is not a whole number; using {DEFAULT_TIMEOUT_MS} ms"
        );
        return Duration::from_millis(DEFAULT_TIMEOUT_MS);
    };
    let taken = given.clamp(SHORTEST_TIMEOUT_MS.into(), LONGEST_TIMEOUT_MS.into());
    if taken != given {
        tracing::warn!(
            "PRUNER_TIMEOUT_MS is {text}, outside {SHORTEST_TIMEOUT_MS} to {LONGEST_TIMEOUT_MS}; using {taken} ms"
        );
    }
    Duration::from_millis(u64::try_from(taken).unwrap_or(DEFAULT_TIMEOUT_MS))
}

/// Parses a whole number; one with too many digits saturates.
fn whole(text: &str) -> Option<i128> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(if text.starts_with('-') { i128::MIN } else { i128::MAX }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_limit_is_parsed_and_clamped() {
        for (text, ms) in [
            (None, 30_000),
            (Some(""), 30_000),
            (Some("soon"), 30_000),
            (Some("1.5"), 30_000),
            (Some("250ms"), 30_000),
            (Some("NaN"), 30_000),
            (Some("100"), 100),
            (Some(" 5000 "), 5_000),
            (Some("300000"), 300_000),
            (Some("99"), 100),
            (Some("0"), 100),
            (Some("-1"), 100),
            (Some("300001"), 300_000),
            (Some("999999999999999999999999999999999999999999999"), 300_000),
            (Some("-999999999999999999999999999999999999999999999"), 100),
        ] {
            assert_eq!(timeout(text.map(OsString::from).as_ref()), Duration::from_millis(ms), "{text:?}");
        }
    }

    #[test]
    fn an_empty_or_useless_address_prunes_nothing() {
        let pruner = |url: Option<&str>| pruner(url.map(OsString::from), Duration::from_secs(1));
        for url in ["", " ", "localhost:8000", "ftp://x/", "http://a b/"] {
            assert!(matches!(pruner(Some(url)), Pruner::Off), "{url:?}");
        }
        for url in [None, Some("http://127.0.0.1:1/prune"), Some("https://pruner.example/")] {
            assert!(matches!(pruner(url), Pruner::Remote(_)), "{url:?}");
        }
    }
}
