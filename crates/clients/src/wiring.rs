//! Whether the pruner's MCP server is wired into a run, and how: the contract's rules for `JEEVES_PRUNER_ENABLED`,
//! `JEEVES_PRUNER_URL` and `JEEVES_MCP_PRUNER_PATH`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::programs::{find_program, is_program};
use crate::{ClientTool, McpServer, McpServers};

/// The server's name in the clients' configuration.
pub const PRUNER: &str = "pruner";

/// The pruner's URL unless it is set.
pub const DEFAULT_PRUNER_URL: &str = "http://localhost:8000/prune";

/// Tools that the client may use without asking once the server is wired in: they change nothing.
const READ_ONLY: [&str; 2] = ["read", "grep"];
/// The tool that restores what a server which prunes by itself has cut.
const RECOVER: &str = "recover_text";
/// The tool that needs the user's permission: the client's sandbox does not contain it.
const SHELL: &str = "bash";

const SERVER: &str = "mcp-pruner";
const NODE: &str = "node";
const SCRIPT_EXTENSIONS: [&str; 3] = ["js", "mjs", "cjs"];

/// The settings as given; none where unset.
#[derive(Clone, Debug, Default)]
pub struct PrunerSettings {
    pub enabled: bool,
    /// Empty turns pruning off but keeps the server.
    pub url: Option<String>,
    pub path: Option<PathBuf>,
    /// Whether the client may use `bash` without asking.
    pub allow_bash: bool,
    /// A server that prunes by itself, to use instead of `mcp-pruner`.
    pub own_server: Option<McpServer>,
    /// Why nothing will be pruned although the tools can be used.
    pub cannot_prune: Option<String>,
    /// Why one of them could not be read.
    pub problem: Option<String>,
}

/// Where to look for the server.
#[derive(Clone, Debug)]
pub struct ServerLookup<'a> {
    /// The client's working folder.
    pub cwd: &'a Path,
    /// The running program; the server should be in the same folder.
    pub own_program: Option<&'a Path>,
    /// The value of PATH.
    pub path_variable: Option<&'a OsStr>,
}

/// Whether the server is wired in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrunerWiring {
    /// The user did not enable it.
    Disabled,
    Servers(McpServers),
}

/// Why the server cannot be wired in although it is enabled.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum WiringError {
    #[error("the pruner's URL `{0}` is not an absolute http: or https: URL")]
    Url(String),
    #[error("cannot use `{path}` as the pruner's server: {why}")]
    Path { path: PathBuf, why: String },
    #[error("`{0}` is a script, and there is no `node` on PATH to run it")]
    NoNode(PathBuf),
    #[error(
        "cannot find `mcp-pruner` next to this program or on PATH; set JEEVES_MCP_PRUNER_PATH to its path"
    )]
    NotFound,
    #[error("`{0}` is not UTF-8, which a client's configuration requires")]
    NotText(PathBuf),
    /// A setting that could not be read.
    #[error("{0}")]
    Setting(String),
}

/// Decides whether and how the pruner's server is wired in.
pub fn wire_pruner(
    settings: &PrunerSettings,
    lookup: &ServerLookup<'_>,
) -> Result<PrunerWiring, WiringError> {
    if !settings.enabled {
        return Ok(PrunerWiring::Disabled);
    }
    if let Some(problem) = &settings.problem {
        return Err(WiringError::Setting(problem.clone()));
    }
    if let Some(server) = &settings.own_server {
        return Ok(PrunerWiring::Servers(BTreeMap::from([(PRUNER.to_owned(), server.clone())])));
    }
    let url = settings.url.as_deref().unwrap_or(DEFAULT_PRUNER_URL);
    if !url.is_empty() && !is_absolute_http(url) {
        return Err(WiringError::Url(url.to_owned()));
    }
    let (command, args) = match &settings.path {
        Some(path) => named_server(path, lookup)?,
        None => (text(&find_server(lookup)?)?, Vec::new()),
    };
    let env = BTreeMap::from([
        ("MCP_PRUNER_CWD".to_owned(), text(lookup.cwd)?),
        ("PRUNER_URL".to_owned(), url.to_owned()),
    ]);
    Ok(PrunerWiring::Servers(BTreeMap::from([(PRUNER.to_owned(), McpServer { command, args, env })])))
}

/// What the client may use without asking when the server is wired in. `bash` needs a setting of its own: enabling the pruner
/// does not mean that a client may leave its sandbox.
pub fn approved_tools(settings: &PrunerSettings) -> Vec<ClientTool> {
    let shell = settings.allow_bash.then_some(SHELL);
    let recover = settings.own_server.is_some().then_some(RECOVER);
    READ_ONLY.into_iter().chain(recover).chain(shell).map(pruner_tool).collect()
}

/// The shell among the pruner's tools.
pub(crate) fn is_shell(tool: &ClientTool) -> bool {
    tool.server.as_deref() == Some(PRUNER) && tool.name == SHELL
}

fn pruner_tool(name: &str) -> ClientTool {
    ClientTool { server: Some(PRUNER.to_owned()), name: name.to_owned() }
}

fn is_absolute_http(url: &str) -> bool {
    let Ok(url) = url.parse::<http::Uri>() else { return false };
    let known = url
        .scheme_str()
        .is_some_and(|scheme| ["http", "https"].iter().any(|it| scheme.eq_ignore_ascii_case(it)));
    let authority = url.authority().filter(|authority| !authority.host().is_empty());
    // An invalid port leaves text after the host.
    let is_valid = authority.is_some_and(|it| it.port_u16().is_some() || it.as_str().ends_with(it.host()));
    known && is_valid
}

/// The server that the user named: a script runs under `node`, anything else is the program itself.
fn named_server(path: &Path, lookup: &ServerLookup<'_>) -> Result<(String, Vec<String>), WiringError> {
    let refused = |why: String| WiringError::Path { path: path.to_owned(), why };
    let metadata = std::fs::metadata(path).map_err(|error| refused(error.to_string()))?;
    if !metadata.is_file() {
        return Err(refused("it is not a file".to_owned()));
    }
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    if SCRIPT_EXTENSIONS.iter().any(|script| extension.eq_ignore_ascii_case(script)) {
        std::fs::File::open(path).map_err(|error| refused(error.to_string()))?;
        if find_program(NODE, lookup.path_variable).is_none() {
            return Err(WiringError::NoNode(path.to_owned()));
        }
        return Ok((NODE.to_owned(), vec![text(path)?]));
    }
    if !is_program(path) {
        return Err(refused("it is neither executable nor a script (.js, .mjs, .cjs)".to_owned()));
    }
    Ok((text(path)?, Vec::new()))
}

/// The server beside the running program or on PATH.
fn find_server(lookup: &ServerLookup<'_>) -> Result<PathBuf, WiringError> {
    let server = format!("{SERVER}{}", std::env::consts::EXE_SUFFIX);
    let beside = lookup.own_program.and_then(Path::parent).map(|folder| folder.join(&server));
    beside
        .filter(|path| is_program(path))
        .or_else(|| find_program(&server, lookup.path_variable))
        .ok_or(WiringError::NotFound)
}

fn text(path: &Path) -> Result<String, WiringError> {
    path.to_str().map(str::to_owned).ok_or_else(|| WiringError::NotText(path.to_owned()))
}
