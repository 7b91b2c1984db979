//! Every setting, declared once: its names, type, default, what a project's file may do to it, and what it is about.
//!
//! The variables, the keys in files, `tamis config`, `docs/reference/settings.md` and the defaults in the help follow from here.
//! A flag that stands for a setting is passed to [`crate::ConfigEnvironment::flag`] by its command.

use std::path::PathBuf;
use std::time::Duration;

use crate::kinds::{
    Choice, Count, FilePath, PathInDataFolder, PathList, Port, Secret, SecretText, Span, Switch, Text,
    TextList,
};
use crate::resolve::Resolver;
use crate::{Sourced, folders};

/// When a feature is used that works better in some places than in others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureUse {
    Auto,
    Always,
    Never,
}

/// Declares groups of settings:
///
/// ```text
/// /// What the setting is about
/// field: Type = Kind, "name.in_files", ["VARIABLE", "ALIAS"], methods(), of(), the(), declaration();
/// ```
macro_rules! settings {
    ($($(#[doc = $group_about:literal])* $group:ident {
        $(
            #[doc = $about:literal]
            $field:ident: $value:ty = $kind:expr, $name:literal, [$($variable:literal),+]
                $(, $method:ident($($argument:expr),*))+;
        )+
    })+) => {$(
        $(#[doc = $group_about])*
        #[derive(Clone, Debug)]
        pub struct $group {
            $(#[doc = $about] pub $field: Sourced<$value>,)+
        }

        impl $group {
            pub(crate) fn resolve(from: &mut Resolver<'_>) -> $group {
                $group {
                    $($field: from
                        .setting($name, &[$($variable),+], $kind, $about.trim_ascii())
                        $(.$method($($argument),*))+,)+
                }
            }
        }
    )+};
}

settings! {
    DataConfig {
        /// Folder for everything that tamis stores
        dir: PathBuf = FilePath, "data.dir", ["TAMIS_DATA_DIR"],
            or_else(folders::data, "the platform's data folder"), or_default();
    }

    LogConfig {
        /// What is logged to stderr: a level, or a tracing filter
        filter: String = Text::NotEmpty, "log.filter", ["TAMIS_LOG", "MCP_LOG_LEVEL"], or("info");
    }

    /// `tamis serve`.
    HttpConfig {
        /// Address that `serve` listens on
        host: String = Text::NotEmpty, "http.host", ["TAMIS_HTTP_HOST"], or("127.0.0.1");
        /// Port that `serve` listens on; 0 picks a free one
        port: u16 = Port, "http.port", ["TAMIS_HTTP_PORT", "MCP_SERVER_PORT"], or(3001u16);
        /// Address of the two additional listeners
        pruner_host: String = Text::NotEmpty, "http.pruner_host", ["TAMIS_PRUNER_HOST", "MCP_PRUNER_HOST"], or("127.0.0.1");
        /// Additional port, for clients that expect a pruner on 8006
        pruner_port: Option<u16> = Port, "http.pruner_port", ["TAMIS_PRUNER_PORT", "MCP_PRUNER_PORT"], optional();
        /// Additional port, for clients that expect /prune on 8000
        prune_port: Option<u16> = Port, "http.prune_port", ["TAMIS_PRUNE_PORT"], optional();
        /// Maximum size of a request in bytes; larger ones are refused with 413
        max_body_bytes: usize = Count::at_least(1024), "http.max_body_bytes", ["TAMIS_HTTP_MAX_BODY_BYTES"],
            or(32usize << 20);
        /// Host names, besides localhost, that requests may use for this machine
        allowed_hosts: Vec<String> = TextList, "http.allowed_hosts", ["TAMIS_HTTP_ALLOWED_HOSTS"],
            optional(), or_default();
        /// Bearer token to use instead of the one in the data folder
        token: Option<SecretText> = Secret, "http.token", ["TAMIS_TOKEN"], optional();
    }

    /// Pruning, recovery and the ledger.
    SieveConfig {
        /// Maximum length of a text that the tools prune, in characters, and the commands too if this is below the default
        max_input_chars: usize = Count::at_least(0), "prune.max_input_chars",
            ["TAMIS_MAX_INPUT_CHARS", "MCP_PRUNER_MAX_INPUT_CHARS"], project_may_lower(), or(2_000_000usize);
        /// Maximum size of a text that the commands prune, in bytes; larger ones are printed whole, as they come
        max_bytes: u64 = Count::at_least(0), "prune.max_bytes", ["TAMIS_MAX_BYTES"], project_may_lower(),
            or(4u64 << 30);
        /// How long a cut can be recovered, in seconds
        recovery_ttl: Duration = Span::Seconds, "recovery.ttl_s",
            ["TAMIS_RECOVERY_TTL_S", "MCP_PRUNER_PRUNE_ID_TTL_S"], or(7 * DAY);
        /// Maximum size of all originals in bytes; a text that does not fit is returned whole
        recovery_max_bytes: u64 = Count::at_least(0), "recovery.max_bytes", ["TAMIS_RECOVERY_MAX_BYTES"],
            or(1u64 << 30);
        /// How long rows of the ledger are kept, in days
        ledger_keep: Duration = Span::Days, "ledger.keep_days", ["TAMIS_LEDGER_KEEP_DAYS"], or(90 * DAY);
    }

    /// The tools read, bash and grep.
    WorkbenchConfig {
        /// Folder that read, bash and grep work in (unset: the folder that tamis was started in)
        dir: Option<PathBuf> = FilePath, "workbench.dir", ["TAMIS_WORKBENCH_DIR", "MCP_PRUNER_CWD"], optional();
        /// Whether the tools read, bash and grep replace secrets in their answers
        redact: bool = Switch, "workbench.redact", ["TAMIS_REDACT"], or(false);
    }

    /// `tamis hook`.
    HookConfig {
        /// Minimum length of an output that `hook` prunes, in characters
        min_chars: usize = Count::at_least(0), "hook.min_chars", ["TAMIS_HOOK_MIN_CHARS"], or(1_000usize);
        /// How long a client waits for `hook`, in milliseconds; then it shows what its tool printed
        deadline: Duration = Span::Milliseconds, "hook.deadline_ms", ["TAMIS_HOOK_DEADLINE_MS"],
            or(Duration::from_millis(150));
        /// Tools whose output `hook` does not prune: `Read`, or `claude:Read` for one client
        skip_tools: Vec<String> = TextList, "hook.skip_tools", ["TAMIS_HOOK_SKIP_TOOLS"], optional(), or_default();
        /// Whether `hook` replaces secrets in what the client's own tools print, as far as hooks reach it
        redact_output: bool = Switch, "redact.output", ["TAMIS_REDACT_OUTPUT"], or(false);
    }

    /// `tamis run`.
    RunConfig {
        /// Whether `run` gives the agent the pruner's tools
        pruner_enabled: bool = Switch, "run.pruner_enabled",
            ["TAMIS_RUN_PRUNER_ENABLED", "JEEVES_PRUNER_ENABLED"], or(false);
        /// URL of the pruning service for those tools (unset: the default of `mcp-pruner`; empty: no pruning)
        pruner_url: Option<String> = Text::Any, "run.pruner_url",
            ["TAMIS_RUN_PRUNER_URL", "JEEVES_PRUNER_URL"], optional();
        /// Program of the pruner's MCP server (unset: `mcp-pruner` next to tamis, then on PATH)
        pruner_path: Option<PathBuf> = FilePath, "run.pruner_path",
            ["TAMIS_RUN_PRUNER_PATH", "JEEVES_MCP_PRUNER_PATH"], optional();
        /// Whether the agent may use the pruner's bash without asking, outside its sandbox
        allow_bash: bool = Switch, "run.allow_bash", ["TAMIS_RUN_ALLOW_BASH"], or(false);
    }

    TraceConfig {
        /// Log files and folders to read instead of the agents' own folders
        logs: Vec<PathBuf> = PathList, "trace.logs", ["TAMIS_TRACE_LOGS"], optional(), or_default();
        /// Model prices in USD per million tokens, instead of the built-in ones: "MODEL DATE INPUT CACHED_INPUT CACHE_WRITE OUTPUT"
        prices: Vec<String> = TextList, "trace.prices", ["TAMIS_TRACE_PRICES"], optional(), or_default();
    }

    ResearchConfig {
        /// Folders that research may read
        roots: Vec<PathBuf> = PathList, "research.roots", ["TAMIS_ROOTS"],
            project_may_narrow(), or([PathBuf::from(".")]);
        /// Folder of notes from earlier work, for the thoughts role (unset: the role does not run)
        thoughts: Option<PathBuf> = FilePath, "research.thoughts", ["TAMIS_THOUGHTS"], optional();
        /// Folder for memos and handoffs (unset: `artifacts` in the data folder)
        artifacts: Option<PathBuf> = FilePath, "research.artifacts", ["TAMIS_ARTIFACTS"], optional();
        /// Patterns of paths that research never reads, such as private/ or *.sql, in addition to known locations of secrets
        deny: Vec<String> = TextList, "research.deny", ["TAMIS_RESEARCH_DENY"],
            project_may_add(), optional(), or_default();
        /// Whether research keeps a word index of the codebase; `auto` keeps one for large codebases
        index: FeatureUse = Choice(&[("auto", FeatureUse::Auto), ("on", FeatureUse::Always), ("off", FeatureUse::Never)]),
            "research.index", ["TAMIS_RESEARCH_INDEX"], or(FeatureUse::Auto);
        /// Maximum number of files that a research request reads
        max_files_read: u64 = Count::at_least(1), "limits.maxFilesRead", ["TAMIS_MAX_FILES_READ"],
            project_may_lower(), or(50u64);
        /// Maximum number of bytes that a research request reads
        max_bytes_read: u64 = Count::at_least(1), "limits.maxBytesRead", ["TAMIS_MAX_BYTES_READ"],
            project_may_lower(), or(1u64 << 20);
        /// Maximum number of tokens in a research report
        max_tokens: u64 = Count::at_least(1), "limits.maxTokens", ["TAMIS_MAX_TOKENS"],
            project_may_lower(), or(2000u64);
        /// Time limit of a research request, in milliseconds
        deadline: Duration = Span::Milliseconds, "runtime.defaultDeadlineMs", ["TAMIS_DEADLINE_MS"],
            project_may_lower(), or(Duration::from_secs(30));
        /// Maximum number of roles that run at once, across all requests
        max_concurrent_tasks: usize = Count::at_least(1), "runtime.maxConcurrentTasks",
            ["TAMIS_MAX_CONCURRENT_TASKS"], project_may_lower(), or(4usize);
        /// Maximum number of roles that wait for a worker; more are refused
        max_queued_tasks: usize = Count::at_least(1), "runtime.maxQueuedTasks",
            ["TAMIS_MAX_QUEUED_TASKS"], project_may_lower(), or(64usize);
    }

    /// The local model that roles may use.
    ModelConfig {
        /// URL of a local, OpenAI-compatible model server for the roles: LM Studio, Ollama, llama.cpp
        url: String = Text::Url, "model.url", ["TAMIS_MODEL_URL"], or("http://127.0.0.1:1234/v1");
        /// Name of the model (unset: the first one that the server lists)
        name: Option<String> = Text::NotEmpty, "model.name", ["TAMIS_MODEL"], optional();
        /// Bearer token for the model server
        key: Option<SecretText> = Secret, "model.key", ["TAMIS_MODEL_KEY"], optional();
        /// Whether roles use the model: `auto` does if the server responds, `always` fails if it does not
        usage: FeatureUse = Choice(&[("auto", FeatureUse::Auto), ("never", FeatureUse::Never), ("always", FeatureUse::Always)]),
            "model.use", ["TAMIS_MODEL_USE"], or(FeatureUse::Auto);
        /// Maximum number of concurrent requests to the model; others wait
        concurrent: usize = Count::at_least(1), "model.concurrent", ["TAMIS_MODEL_CONCURRENT"], or(1usize);
        /// Name of the model for the locator, instead of `model.name`
        locator: Option<String> = Text::NotEmpty, "model.locator", ["TAMIS_MODEL_LOCATOR"], optional();
        /// Name of the model for the analyzer, instead of `model.name`
        analyzer: Option<String> = Text::NotEmpty, "model.analyzer", ["TAMIS_MODEL_ANALYZER"], optional();
        /// Name of the model for the patterns role, instead of `model.name`
        patterns: Option<String> = Text::NotEmpty, "model.patterns", ["TAMIS_MODEL_PATTERNS"], optional();
        /// Name of the model for the thoughts role, instead of `model.name`
        thoughts: Option<String> = Text::NotEmpty, "model.thoughts", ["TAMIS_MODEL_THOUGHTS"], optional();
    }

    AgentsConfig {
        /// Database of agents, their reviews and events; a relative path is in the data folder (unset: `state.db` there)
        database: Option<PathBuf> = PathInDataFolder, "agents.database",
            ["TAMIS_AGENTS_DATABASE", "MCP_DATABASE_PATH"], optional();
        /// Identity file of an instance, for its own `tamis mcp`; set by `tamis agents start`
        identity: Option<PathBuf> = FilePath, "agents.identity", ["TAMIS_IDENTITY"], optional();
        /// Time limit of a call to an agents tool, in milliseconds
        tool_timeout: Duration = Span::Milliseconds, "agents.tool_timeout_ms",
            ["TAMIS_TOOL_TIMEOUT_MS", "MCP_TOOL_TIMEOUT"], or(Duration::from_secs(120));
    }

    GithubConfig {
        /// GitHub token (unset: the output of `gh auth token`); never passed to agents
        token: Option<SecretText> = Secret, "github.token", ["TAMIS_GITHUB_TOKEN", "GITHUB_TOKEN"], optional();
        /// URL of GitHub's API (unset: derived from the host of the remote)
        url: Option<String> = Text::Url, "github.url", ["TAMIS_GITHUB_URL", "GITHUB_API_URL"], optional();
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl RunConfig {
    /// What the names of this group begin with.
    pub const PREFIX: &'static str = "run.";
}
