//! Whether the pruner's MCP server is wired into a run, and how: the contract's rules for `JEEVES_PRUNER_ENABLED`,
//! `JEEVES_PRUNER_URL` and `JEEVES_MCP_PRUNER_PATH`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::programs::{find_program, is_program};
use crate::{McpServer, McpServers, Tool};

/// The name that agents know the server by.
pub const PRUNER: &str = "pruner";

/// Where pruning is asked for when nobody says where.
pub const DEFAULT_PRUNER_URL: &str = "http://localhost:8000/prune";

/// What the agent may use unasked once the server is wired in: they change nothing.
const HARMLESS: [&str; 2] = ["read", "grep"];
/// What it may use unasked only when the user says so: no sandbox of the agent's holds it.
const SHELL: &str = "bash";

/// The server's program, and where JavaScript runs.
const SERVER: &str = "mcp-pruner";
const NODE: &str = "node";
const SCRIPT_ENDINGS: [&str; 3] = ["js", "mjs", "cjs"];

/// The settings, as they were given. None: unset.
#[derive(Clone, Debug, Default)]
pub struct PrunerSettings {
    pub enabled: Option<String>,
    /// Empty switches pruning off, and leaves the server.
    pub url: Option<String>,
    pub path: Option<PathBuf>,
    /// Whether the agent may use `bash` unasked.
    pub allow_bash: Option<String>,
    /// What kept one of them from being read.
    pub problem: Option<String>,
}

/// What there is to find the server with.
#[derive(Clone, Debug)]
pub struct Resolution<'a> {
    /// Where the agent works.
    pub cwd: &'a Path,
    /// The program that is running, beside which the server should lie.
    pub own_program: Option<&'a Path>,
    /// The value of PATH.
    pub path_variable: Option<&'a OsStr>,
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wiring {
    /// The user did not ask for it.
    Disabled,
    Servers(McpServers),
}

/// Why the server cannot be wired in, though it was asked for.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum WiringError {
    #[error("the pruner's URL {0:?} is no absolute http: or https: URL")]
    Url(String),
    #[error("{path} cannot be the pruner's server: {why}")]
    Path { path: PathBuf, why: String },
    #[error("{0} is a script, and there is no `node` on PATH to run it")]
    NoNode(PathBuf),
    #[error("there is no `mcp-pruner` beside this program or on PATH; JEEVES_MCP_PRUNER_PATH can name it")]
    NotFound,
    #[error("{0} is not UTF-8, which an agent's configuration must be")]
    NotText(PathBuf),
    /// A setting that could not even be read.
    #[error("{0}")]
    Setting(String),
}

/// Decides whether, and how, the pruner's server is wired in.
pub fn wire_pruner(settings: &PrunerSettings, resolution: &Resolution<'_>) -> Result<Wiring, WiringError> {
    if !settings.enabled.as_deref().is_some_and(is_truthy) {
        return Ok(Wiring::Disabled);
    }
    if let Some(problem) = &settings.problem {
        return Err(WiringError::Setting(problem.clone()));
    }
    let url = settings.url.as_deref().unwrap_or(DEFAULT_PRUNER_URL);
    if !url.is_empty() && !is_absolute_http(url) {
        return Err(WiringError::Url(url.to_owned()));
    }
    let (command, args) = match &settings.path {
        Some(path) => named(path, resolution)?,
        None => (text(&found(resolution)?)?, Vec::new()),
    };
    let env = BTreeMap::from([
        ("MCP_PRUNER_CWD".to_owned(), text(resolution.cwd)?),
        ("PRUNER_URL".to_owned(), url.to_owned()),
    ]);
    Ok(Wiring::Servers(BTreeMap::from([(PRUNER.to_owned(), McpServer { command, args, env })])))
}

/// What the agent may use unasked, if the server is wired in. Who only wants shorter texts has not said that an agent
/// in a sandbox may leave it.
pub fn approved_tools(settings: &PrunerSettings) -> Vec<Tool> {
    let shell = settings.allow_bash.as_deref().is_some_and(is_truthy).then_some(SHELL);
    HARMLESS.into_iter().chain(shell).map(pruners).collect()
}

/// The shell among the pruner's tools.
pub(crate) fn is_shell(tool: &Tool) -> bool {
    tool.server.as_deref() == Some(PRUNER) && tool.name == SHELL
}

fn pruners(name: &str) -> Tool {
    Tool { server: Some(PRUNER.to_owned()), name: name.to_owned() }
}

/// `1`, `true`, `yes` and `on`; everything else is no.
fn is_truthy(value: &str) -> bool {
    ["1", "true", "yes", "on"].iter().any(|yes| value.trim().eq_ignore_ascii_case(yes))
}

fn is_absolute_http(url: &str) -> bool {
    let Ok(url) = url.parse::<http::Uri>() else { return false };
    let known = url
        .scheme_str()
        .is_some_and(|scheme| ["http", "https"].iter().any(|it| scheme.eq_ignore_ascii_case(it)));
    let authority = url.authority().filter(|authority| !authority.host().is_empty());
    // A port that is no port leaves a host with a colon behind it.
    let sound = authority.is_some_and(|it| it.port_u16().is_some() || it.as_str().ends_with(it.host()));
    known && sound
}

/// The server that the user named: a script runs under `node`, anything else is the program itself.
fn named(path: &Path, resolution: &Resolution<'_>) -> Result<(String, Vec<String>), WiringError> {
    let refused = |why: String| WiringError::Path { path: path.to_owned(), why };
    let about = std::fs::metadata(path).map_err(|error| refused(error.to_string()))?;
    if !about.is_file() {
        return Err(refused("it is not a file".to_owned()));
    }
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    if SCRIPT_ENDINGS.iter().any(|script| ending.eq_ignore_ascii_case(script)) {
        std::fs::File::open(path).map_err(|error| refused(error.to_string()))?;
        if find_program(NODE, resolution.path_variable).is_none() {
            return Err(WiringError::NoNode(path.to_owned()));
        }
        return Ok((NODE.to_owned(), vec![text(path)?]));
    }
    if !is_program(path) {
        return Err(refused("it is neither executable nor a script (.js, .mjs, .cjs)".to_owned()));
    }
    Ok((text(path)?, Vec::new()))
}

/// Beside the running program, then on PATH.
fn found(resolution: &Resolution<'_>) -> Result<PathBuf, WiringError> {
    let server = format!("{SERVER}{}", std::env::consts::EXE_SUFFIX);
    let beside = resolution.own_program.and_then(Path::parent).map(|folder| folder.join(&server));
    beside
        .filter(|path| is_program(path))
        .or_else(|| find_program(&server, resolution.path_variable))
        .ok_or(WiringError::NotFound)
}

fn text(path: &Path) -> Result<String, WiringError> {
    path.to_str().map(str::to_owned).ok_or_else(|| WiringError::NotText(path.to_owned()))
}
