//! Every setting, declared once: its names, kind, default, what a project's file may do to it, and what it is about.
//!
//! The variables, the file's keys, `tamis config` and `docs/reference/settings.md` follow from here. A flag that stands for
//! a setting is passed to [`crate::ConfigEnvironment::flag`] by its command.

use std::path::PathBuf;
use std::time::Duration;

use tamis_code_index::IndexUse;
use tamis_research::{ModelUse, ResearchLimits};

use crate::kinds::{
    AnyText, Choice, Count, FilePath, PathList, Port, Secret, SecretText, Span, Switch, Text, TextList, Url,
};
use crate::resolve::Resolver;
use crate::{Sourced, folders};

/// Where everything that lasts is kept.
#[derive(Clone, Debug)]
pub struct DataConfig {
    pub dir: Sourced<PathBuf>,
}

impl DataConfig {
    pub(crate) fn resolve(from: &mut Resolver<'_>) -> DataConfig {
        let default = folders::data(from.environment);
        let dir = from
            .setting("data.dir", &["TAMIS_DATA_DIR"], FilePath, "Folder for everything that tamis keeps")
            .or_else(default, "the platform's data folder");
        DataConfig { dir: Sourced { value: dir.value.unwrap_or_default(), source: dir.source } }
    }
}

#[derive(Clone, Debug)]
pub struct LogConfig {
    pub filter: Sourced<String>,
}

impl LogConfig {
    pub(crate) fn resolve(from: &mut Resolver<'_>) -> LogConfig {
        LogConfig {
            filter: from
                .setting(
                    "log.filter",
                    &["TAMIS_LOG", "MCP_LOG_LEVEL"],
                    Text,
                    "What is logged to stderr: a level, or a tracing filter",
                )
                .or("info"),
        }
    }
}

/// `tamis serve`.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    pub host: Sourced<String>,
    pub port: Sourced<u16>,
    pub pruner_host: Sourced<String>,
    pub pruner_port: Sourced<Option<u16>>,
    pub prune_port: Sourced<Option<u16>>,
    pub max_body_bytes: Sourced<usize>,
    pub allowed_hosts: Sourced<Vec<String>>,
    pub token: Sourced<Option<SecretText>>,
}

impl HttpConfig {
    pub(crate) fn resolve(from: &mut Resolver<'_>) -> HttpConfig {
        HttpConfig {
            host: from
                .setting("http.host", &["TAMIS_HTTP_HOST"], Text, "Address that `serve` listens on")
                .or("127.0.0.1"),
            port: from
                .setting(
                    "http.port",
                    &["TAMIS_HTTP_PORT", "MCP_SERVER_PORT"],
                    Port,
                    "Port that `serve` listens on; 0 takes a free one",
                )
                .or(3001u16),
            pruner_host: from
                .setting(
                    "http.pruner_host",
                    &["TAMIS_PRUNER_HOST", "MCP_PRUNER_HOST"],
                    Text,
                    "Address of the two extra listeners",
                )
                .or("127.0.0.1"),
            pruner_port: from
                .setting(
                    "http.pruner_port",
                    &["TAMIS_PRUNER_PORT", "MCP_PRUNER_PORT"],
                    Port,
                    "Extra port, for clients that expect a pruner on 8006",
                )
                .optional(),
            prune_port: from
                .setting(
                    "http.prune_port",
                    &["TAMIS_PRUNE_PORT"],
                    Port,
                    "Extra port, for clients that expect /prune on 8000",
                )
                .optional(),
            max_body_bytes: from
                .setting(
                    "http.max_body_bytes",
                    &["TAMIS_HTTP_MAX_BODY_BYTES"],
                    Count::at_least(1024),
                    "Maximum size of a request; larger ones are refused with 413",
                )
                .or(32usize << 20),
            allowed_hosts: from
                .setting(
                    "http.allowed_hosts",
                    &["TAMIS_HTTP_ALLOWED_HOSTS"],
                    TextList,
                    "Host names, besides localhost, that requests may use for this machine",
                )
                .optional()
                .or_default(),
            token: from
                .setting(
                    "http.token",
                    &["TAMIS_TOKEN"],
                    Secret,
                    "Bearer token, in place of the one in the data folder",
                )
                .optional(),
        }
    }
}

/// Pruning, recovery and the ledger.
#[derive(Clone, Debug)]
pub struct SieveConfig {
    pub max_input_chars: Sourced<usize>,
    pub recovery_ttl: Sourced<Duration>,
    pub recovery_max_bytes: Sourced<u64>,
    pub ledger_keep: Sourced<Duration>,
}

impl SieveConfig {
    pub(crate) fn resolve(from: &mut Resolver<'_>) -> SieveConfig {
        let default = tamis_sieve::SieveSettings::default();
        SieveConfig {
            max_input_chars: from
                .setting(
                    "prune.max_input_chars",
                    &["TAMIS_MAX_INPUT_CHARS", "MCP_PRUNER_MAX_INPUT_CHARS"],
                    Count::at_least(0),
                    "Maximum length of a text to prune, in characters; longer ones are left whole",
                )
                .project_may_lower()
                .or(default.max_input_chars),
            recovery_ttl: from
                .setting(
                    "recovery.ttl_s",
                    &["TAMIS_RECOVERY_TTL_S", "MCP_PRUNER_PRUNE_ID_TTL_S"],
                    Span::Seconds,
                    "How long a cut can be recovered",
                )
                .or(default.recovery_ttl),
            recovery_max_bytes: from
                .setting(
                    "recovery.max_bytes",
                    &["TAMIS_RECOVERY_MAX_BYTES"],
                    Count::at_least(0),
                    "Maximum size of all originals; beyond it the oldest are removed first",
                )
                .or(default.recovery_max_bytes),
            ledger_keep: from
                .setting(
                    "ledger.keep_days",
                    &["TAMIS_LEDGER_KEEP_DAYS"],
                    Span::Days,
                    "How long the ledger of calls is kept",
                )
                .or(default.ledger_keep),
        }
    }
}

/// The tools read, bash and grep.
#[derive(Clone, Debug)]
pub struct WorkbenchConfig {
    pub dir: Sourced<Option<PathBuf>>,
}

impl WorkbenchConfig {
    pub(crate) fn resolve(from: &mut Resolver<'_>) -> WorkbenchConfig {
        WorkbenchConfig {
            dir: from
                .setting(
                    "workbench.dir",
                    &["TAMIS_WORKBENCH_DIR", "MCP_PRUNER_CWD"],
                    FilePath,
                    "Folder that read, bash and grep work in (unset: where tamis was started)",
                )
                .optional(),
        }
    }
}

/// `tamis run`.
#[derive(Clone, Debug)]
pub struct RunConfig {
    pub pruner_enabled: Sourced<bool>,
    /// Empty turns pruning off.
    pub pruner_url: Sourced<Option<String>>,
    pub pruner_path: Sourced<Option<PathBuf>>,
    pub allow_bash: Sourced<bool>,
}

impl RunConfig {
    /// What the names of this group begin with.
    pub const PREFIX: &'static str = "run.";

    pub(crate) fn resolve(from: &mut Resolver<'_>) -> RunConfig {
        RunConfig {
            pruner_enabled: from
                .setting(
                    "run.pruner_enabled",
                    &["TAMIS_RUN_PRUNER_ENABLED", "JEEVES_PRUNER_ENABLED"],
                    Switch,
                    "Whether `run` gives the agent the pruner's tools",
                )
                .or(false),
            pruner_url: from
                .setting(
                    "run.pruner_url",
                    &["TAMIS_RUN_PRUNER_URL", "JEEVES_PRUNER_URL"],
                    AnyText,
                    "Pruning service of those tools (unset: http://localhost:8000/prune; empty: no pruning)",
                )
                .optional(),
            pruner_path: from
                .setting(
                    "run.pruner_path",
                    &["TAMIS_RUN_PRUNER_PATH", "JEEVES_MCP_PRUNER_PATH"],
                    FilePath,
                    "Program of the pruner's MCP server (unset: `mcp-pruner` beside tamis, then on PATH)",
                )
                .optional(),
            allow_bash: from
                .setting(
                    "run.allow_bash",
                    &["TAMIS_RUN_ALLOW_BASH"],
                    Switch,
                    "Whether the agent may use the pruner's bash without asking, outside of its sandbox",
                )
                .or(false),
        }
    }
}

#[derive(Clone, Debug)]
pub struct TraceConfig {
    pub logs: Sourced<Vec<PathBuf>>,
}

impl TraceConfig {
    pub(crate) fn resolve(from: &mut Resolver<'_>) -> TraceConfig {
        TraceConfig {
            logs: from
                .setting(
                    "trace.logs",
                    &["TAMIS_TRACE_LOGS"],
                    PathList,
                    "Files and folders with logs of agents, in place of the agents' own folders",
                )
                .optional()
                .or_default(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct ResearchConfig {
    pub roots: Sourced<Vec<PathBuf>>,
    pub thoughts: Sourced<Option<PathBuf>>,
    pub artifacts: Sourced<Option<PathBuf>>,
    pub deny: Sourced<Vec<String>>,
    pub index: Sourced<IndexUse>,
    pub max_files_read: Sourced<u64>,
    pub max_bytes_read: Sourced<u64>,
    pub max_tokens: Sourced<u64>,
    pub deadline: Sourced<Duration>,
    pub max_concurrent_tasks: Sourced<usize>,
    pub max_queued_tasks: Sourced<usize>,
}

impl ResearchConfig {
    pub(crate) fn resolve(from: &mut Resolver<'_>) -> ResearchConfig {
        let default = ResearchLimits::default();
        ResearchConfig {
            roots: from
                .setting("research.roots", &["TAMIS_ROOTS"], PathList, "Folders that research may read")
                .project_may_narrow()
                .or([PathBuf::from(".")]),
            thoughts: from
                .setting(
                    "research.thoughts",
                    &["TAMIS_THOUGHTS"],
                    FilePath,
                    "Folder with notes of former work, for the role that reads them (unset: no such role)",
                )
                .optional(),
            artifacts: from
                .setting(
                    "research.artifacts",
                    &["TAMIS_ARTIFACTS"],
                    FilePath,
                    "Folder for memos and handoffs (unset: artifacts in the data folder)",
                )
                .optional(),
            deny: from
                .setting(
                    "research.deny",
                    &["TAMIS_RESEARCH_DENY"],
                    TextList,
                    "Path patterns that research never reads, besides known places of secrets: private/, *.sql",
                )
                .project_may_add()
                .optional()
                .or_default(),
            index: from
                .setting(
                    "research.index",
                    &["TAMIS_RESEARCH_INDEX"],
                    Choice(&[("auto", IndexUse::Large), ("on", IndexUse::Always), ("off", IndexUse::Never)]),
                    "Whether research keeps an index of definitions; auto does for large repositories",
                )
                .or(IndexUse::Large),
            max_files_read: from
                .setting(
                    "limits.maxFilesRead",
                    &["TAMIS_MAX_FILES_READ"],
                    Count::at_least(1),
                    "Maximum number of files that a research request reads",
                )
                .project_may_lower()
                .or(default.max_files_read),
            max_bytes_read: from
                .setting(
                    "limits.maxBytesRead",
                    &["TAMIS_MAX_BYTES_READ"],
                    Count::at_least(1),
                    "Maximum number of bytes that a research request reads",
                )
                .project_may_lower()
                .or(default.max_bytes_read),
            max_tokens: from
                .setting(
                    "limits.maxTokens",
                    &["TAMIS_MAX_TOKENS"],
                    Count::at_least(1),
                    "Maximum number of tokens of a research report",
                )
                .project_may_lower()
                .or(default.max_tokens),
            deadline: from
                .setting(
                    "runtime.defaultDeadlineMs",
                    &["TAMIS_DEADLINE_MS"],
                    Span::Milliseconds,
                    "Time limit of a research request, in milliseconds",
                )
                .project_may_lower()
                .or(default.deadline),
            max_concurrent_tasks: from
                .setting(
                    "runtime.maxConcurrentTasks",
                    &["TAMIS_MAX_CONCURRENT_TASKS"],
                    Count::at_least(1),
                    "Maximum number of roles that run at once, over all requests",
                )
                .project_may_lower()
                .or(4usize),
            max_queued_tasks: from
                .setting(
                    "runtime.maxQueuedTasks",
                    &["TAMIS_MAX_QUEUED_TASKS"],
                    Count::at_least(1),
                    "Maximum number of roles that wait for a worker; more are refused",
                )
                .project_may_lower()
                .or(64usize),
        }
    }
}

/// The local model that roles may use.
#[derive(Clone, Debug)]
pub struct ModelConfig {
    pub url: Sourced<String>,
    pub name: Sourced<Option<String>>,
    pub key: Sourced<Option<SecretText>>,
    pub usage: Sourced<ModelUse>,
    pub concurrent: Sourced<usize>,
    pub locator: Sourced<Option<String>>,
    pub analyzer: Sourced<Option<String>>,
    pub patterns: Sourced<Option<String>>,
    pub thoughts: Sourced<Option<String>>,
}

impl ModelConfig {
    pub(crate) fn resolve(from: &mut Resolver<'_>) -> ModelConfig {
        ModelConfig {
            url: from
                .setting(
                    "model.url",
                    &["TAMIS_MODEL_URL"],
                    Url,
                    "Local model that roles may use, OpenAI-compatible: LM Studio, Ollama, llama.cpp",
                )
                .or("http://127.0.0.1:1234/v1"),
            name: from
                .setting(
                    "model.name",
                    &["TAMIS_MODEL"],
                    Text,
                    "Name of the model (unset: the first one that the server lists)",
                )
                .optional(),
            key: from
                .setting("model.key", &["TAMIS_MODEL_KEY"], Secret, "Bearer token for the model's server")
                .optional(),
            usage: from
                .setting(
                    "model.use",
                    &["TAMIS_MODEL_USE"],
                    Choice(&ModelUse::NAMES),
                    "Whether roles use the model: auto does when it answers, always fails when it does not",
                )
                .or(ModelUse::default()),
            concurrent: from
                .setting(
                    "model.concurrent",
                    &["TAMIS_MODEL_CONCURRENT"],
                    Count::at_least(1),
                    "Maximum number of calls of the model at once; others wait",
                )
                .or(1usize),
            locator: from
                .setting(
                    "model.locator",
                    &["TAMIS_MODEL_LOCATOR"],
                    Text,
                    "Name of the model for the locator, in place of model.name",
                )
                .optional(),
            analyzer: from
                .setting(
                    "model.analyzer",
                    &["TAMIS_MODEL_ANALYZER"],
                    Text,
                    "Name of the model for the analyzer, in place of model.name",
                )
                .optional(),
            patterns: from
                .setting(
                    "model.patterns",
                    &["TAMIS_MODEL_PATTERNS"],
                    Text,
                    "Name of the model for the pattern finder, in place of model.name",
                )
                .optional(),
            thoughts: from
                .setting(
                    "model.thoughts",
                    &["TAMIS_MODEL_THOUGHTS"],
                    Text,
                    "Name of the model for the reader of notes, in place of model.name",
                )
                .optional(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct AgentsConfig {
    pub database: Sourced<Option<PathBuf>>,
    pub identity: Sourced<Option<PathBuf>>,
    pub tool_timeout: Sourced<Duration>,
}

impl AgentsConfig {
    pub(crate) fn resolve(from: &mut Resolver<'_>) -> AgentsConfig {
        AgentsConfig {
            database: from
                .setting(
                    "agents.database",
                    &["TAMIS_AGENTS_DATABASE", "MCP_DATABASE_PATH"],
                    FilePath,
                    "Database of agents, their reviews and events (unset: state.db in the data folder)",
                )
                .optional(),
            identity: from
                .setting(
                    "agents.identity",
                    &["TAMIS_IDENTITY"],
                    FilePath,
                    "Identity file of an instance, for its own `tamis mcp`; `tamis agents start` sets it",
                )
                .optional(),
            tool_timeout: from
                .setting(
                    "agents.tool_timeout_ms",
                    &["TAMIS_TOOL_TIMEOUT_MS", "MCP_TOOL_TIMEOUT"],
                    Span::Milliseconds,
                    "Time limit of a call of the agents' tools, in milliseconds",
                )
                .or(Duration::from_secs(120)),
        }
    }
}

#[derive(Clone, Debug)]
pub struct GithubConfig {
    pub token: Sourced<Option<SecretText>>,
    pub url: Sourced<Option<String>>,
}

impl GithubConfig {
    pub(crate) fn resolve(from: &mut Resolver<'_>) -> GithubConfig {
        GithubConfig {
            token: from
                .setting(
                    "github.token",
                    &["TAMIS_GITHUB_TOKEN", "GITHUB_TOKEN"],
                    Secret,
                    "Token for GitHub (unset: the output of `gh auth token`); agents never get it",
                )
                .optional(),
            url: from
                .setting(
                    "github.url",
                    &["TAMIS_GITHUB_URL", "GITHUB_API_URL"],
                    Url,
                    "URL of GitHub's API (unset: derived from the remote's host)",
                )
                .optional(),
        }
    }
}
