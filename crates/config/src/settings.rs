//! The table of settings. A setting is one row here; its variables, file keys, default and the output of
//! `tamis config --explain` all follow from it. The few that have a flag too are given theirs by the command.

/// Which setting. The order is that of the explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    DataDir,
    Log,
    HttpHost,
    HttpPort,
    PrunerHost,
    PrunerPort,
    PrunePort,
    HttpMaxBodyBytes,
    AllowedHosts,
    Token,
    MaxInputChars,
    RecoveryTtlSeconds,
    RecoveryMaxBytes,
    LedgerKeepDays,
    WorkbenchDir,
    RunPrunerEnabled,
    RunPrunerUrl,
    RunPrunerPath,
    RunAllowBash,
    TraceLogs,
    ResearchRoots,
    ResearchThoughts,
    ResearchArtifacts,
    ResearchDeny,
    ResearchIndex,
    MaxFilesRead,
    MaxBytesRead,
    MaxTokens,
    DefaultDeadlineMs,
    MaxConcurrentTasks,
    MaxQueuedTasks,
    ModelUrl,
    ModelName,
    ModelKey,
    ModelUse,
    ModelConcurrent,
    ModelLocator,
    ModelAnalyzer,
    ModelPatterns,
    ModelThoughts,
    AgentsDatabase,
    AgentsIdentity,
    ToolTimeoutMs,
    GithubToken,
    GithubUrl,
}

/// What a value must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A file or folder; relative ones are taken from the working directory.
    Path,
    /// Several of them, separated as in `PATH`; in a file, a list.
    PathList,
    Text,
    /// Several texts; in a file, a list. The commas between them are not those in braces.
    TextList,
    /// An address that begins with http:// or https://.
    Url,
    /// One of these.
    Choice(&'static [&'static str]),
    /// Whatever it is, nothing too: whoever uses it judges it.
    Verbatim,
    /// `1`, `true`, `yes` or `on`; everything else is no.
    Switch,
    /// Shown as `(set)`, never in clear.
    Secret,
    /// 0 lets the system choose.
    Port,
    /// A whole number of at least the given one.
    Count {
        at_least: u64,
    },
}

/// What a project's own file, which whoever wrote the repository controls, may do to a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FromProject {
    Ignored,
    /// A smaller number than what would hold without it.
    MayLower,
    /// Folders below those that would hold without it.
    MayNarrow,
    /// More texts than those that would hold without it.
    MayAdd,
}

/// One row of the table.
#[derive(Debug)]
pub struct Setting {
    pub key: Key,
    /// As written in `config.toml` and `.tamis.toml`: `table.name`.
    pub name: &'static str,
    /// The first one that is set counts: ours, then those of the contracts.
    pub variables: &'static [&'static str],
    pub form: Form,
    /// None: unset unless somebody sets it.
    pub default: Option<&'static str>,
    pub from_project: FromProject,
    pub about: &'static str,
}

/// All settings.
pub const SETTINGS: &[Setting] = &[
    Setting {
        key: Key::DataDir,
        name: "data.dir",
        variables: &["TAMIS_DATA_DIR"],
        form: Form::Path,
        default: None,
        from_project: FromProject::Ignored,
        about: "where everything that lasts is kept",
    },
    Setting {
        key: Key::Log,
        name: "log.filter",
        variables: &["TAMIS_LOG", "MCP_LOG_LEVEL"],
        form: Form::Text,
        default: Some("info"),
        from_project: FromProject::Ignored,
        about: "what is logged to stderr: a level, or a tracing filter",
    },
    Setting {
        key: Key::HttpHost,
        name: "http.host",
        variables: &["TAMIS_HTTP_HOST"],
        form: Form::Text,
        default: Some("127.0.0.1"),
        from_project: FromProject::Ignored,
        about: "address that `serve` listens on",
    },
    Setting {
        key: Key::HttpPort,
        name: "http.port",
        variables: &["TAMIS_HTTP_PORT", "MCP_SERVER_PORT"],
        form: Form::Port,
        default: Some("3001"),
        from_project: FromProject::Ignored,
        about: "port that `serve` listens on",
    },
    Setting {
        key: Key::PrunerHost,
        name: "http.pruner_host",
        variables: &["TAMIS_PRUNER_HOST", "MCP_PRUNER_HOST"],
        form: Form::Text,
        default: Some("127.0.0.1"),
        from_project: FromProject::Ignored,
        about: "address of the two extra listeners",
    },
    Setting {
        key: Key::PrunerPort,
        name: "http.pruner_port",
        variables: &["TAMIS_PRUNER_PORT", "MCP_PRUNER_PORT"],
        form: Form::Port,
        default: None,
        from_project: FromProject::Ignored,
        about: "extra port, for clients that expect a pruner on 8006",
    },
    Setting {
        key: Key::PrunePort,
        name: "http.prune_port",
        variables: &["TAMIS_PRUNE_PORT"],
        form: Form::Port,
        default: None,
        from_project: FromProject::Ignored,
        about: "extra port, for clients that expect /prune on 8000",
    },
    Setting {
        key: Key::HttpMaxBodyBytes,
        name: "http.max_body_bytes",
        variables: &["TAMIS_HTTP_MAX_BODY_BYTES"],
        form: Form::Count { at_least: 1024 },
        default: Some("33554432"),
        from_project: FromProject::Ignored,
        about: "larger requests are refused with 413",
    },
    Setting {
        key: Key::AllowedHosts,
        name: "http.allowed_hosts",
        variables: &["TAMIS_HTTP_ALLOWED_HOSTS"],
        form: Form::Text,
        default: None,
        from_project: FromProject::Ignored,
        about: "names beside localhost that requests may call this machine, comma-separated",
    },
    Setting {
        key: Key::Token,
        name: "http.token",
        variables: &["TAMIS_TOKEN"],
        form: Form::Secret,
        default: None,
        from_project: FromProject::Ignored,
        about: "bearer token, instead of the one in the data folder",
    },
    Setting {
        key: Key::MaxInputChars,
        name: "prune.max_input_chars",
        variables: &["TAMIS_MAX_INPUT_CHARS", "MCP_PRUNER_MAX_INPUT_CHARS"],
        form: Form::Count { at_least: 0 },
        default: Some("2000000"),
        from_project: FromProject::MayLower,
        about: "longer texts come back whole",
    },
    Setting {
        key: Key::RecoveryTtlSeconds,
        name: "recovery.ttl_s",
        variables: &["TAMIS_RECOVERY_TTL_S", "MCP_PRUNER_PRUNE_ID_TTL_S"],
        form: Form::Count { at_least: 1 },
        default: Some("604800"),
        from_project: FromProject::Ignored,
        about: "how long a cut can be recovered",
    },
    Setting {
        key: Key::RecoveryMaxBytes,
        name: "recovery.max_bytes",
        variables: &["TAMIS_RECOVERY_MAX_BYTES"],
        form: Form::Count { at_least: 0 },
        default: Some("1073741824"),
        from_project: FromProject::Ignored,
        about: "beyond this the oldest originals go first",
    },
    Setting {
        key: Key::LedgerKeepDays,
        name: "ledger.keep_days",
        variables: &["TAMIS_LEDGER_KEEP_DAYS"],
        form: Form::Count { at_least: 1 },
        default: Some("90"),
        from_project: FromProject::Ignored,
        about: "how long the record of calls is kept",
    },
    Setting {
        key: Key::WorkbenchDir,
        name: "workbench.dir",
        variables: &["TAMIS_WORKBENCH_DIR", "MCP_PRUNER_CWD"],
        form: Form::Path,
        default: None,
        from_project: FromProject::Ignored,
        about: "where read, bash and grep work, instead of where tamis was started",
    },
    Setting {
        key: Key::RunPrunerEnabled,
        name: "run.pruner_enabled",
        variables: &["TAMIS_RUN_PRUNER_ENABLED", "JEEVES_PRUNER_ENABLED"],
        form: Form::Switch,
        default: Some("false"),
        from_project: FromProject::Ignored,
        about: "whether `run` gives the agent the pruner's tools: 1, true, yes or on",
    },
    Setting {
        key: Key::RunPrunerUrl,
        name: "run.pruner_url",
        variables: &["TAMIS_RUN_PRUNER_URL", "JEEVES_PRUNER_URL"],
        form: Form::Verbatim,
        default: None,
        from_project: FromProject::Ignored,
        about: "where those tools ask for pruning (unset: http://localhost:8000/prune; empty: they do not)",
    },
    Setting {
        key: Key::RunPrunerPath,
        name: "run.pruner_path",
        variables: &["TAMIS_RUN_PRUNER_PATH", "JEEVES_MCP_PRUNER_PATH"],
        form: Form::Path,
        default: None,
        from_project: FromProject::Ignored,
        about: "the pruner's MCP server (unset: `mcp-pruner` beside tamis, then on PATH)",
    },
    Setting {
        key: Key::RunAllowBash,
        name: "run.allow_bash",
        variables: &["TAMIS_RUN_ALLOW_BASH"],
        form: Form::Switch,
        default: Some("false"),
        from_project: FromProject::Ignored,
        about: "whether the agent may use the pruner's bash unasked, outside of its sandbox: 1, true, yes or on",
    },
    Setting {
        key: Key::TraceLogs,
        name: "trace.logs",
        variables: &["TAMIS_TRACE_LOGS"],
        form: Form::PathList,
        default: None,
        from_project: FromProject::Ignored,
        about: "files and folders with logs of agents, instead of the agents' own places; separated as in PATH",
    },
    Setting {
        key: Key::ResearchRoots,
        name: "research.roots",
        variables: &["TAMIS_ROOTS"],
        form: Form::PathList,
        default: Some("."),
        from_project: FromProject::MayNarrow,
        about: "folders that research may look into; separated as in PATH",
    },
    Setting {
        key: Key::ResearchThoughts,
        name: "research.thoughts",
        variables: &["TAMIS_THOUGHTS"],
        form: Form::Path,
        default: None,
        from_project: FromProject::Ignored,
        about: "folder with notes of former work, for the role that reads them (unset: there is none)",
    },
    Setting {
        key: Key::ResearchArtifacts,
        name: "research.artifacts",
        variables: &["TAMIS_ARTIFACTS"],
        form: Form::Path,
        default: None,
        from_project: FromProject::Ignored,
        about: "where research memos and handoffs are written (unset: artifacts in the data folder)",
    },
    Setting {
        key: Key::ResearchDeny,
        name: "research.deny",
        variables: &["TAMIS_RESEARCH_DENY"],
        form: Form::TextList,
        default: None,
        from_project: FromProject::MayAdd,
        about: "patterns of paths that research never reads, beside where secrets are kept: private/, *.sql",
    },
    Setting {
        key: Key::ResearchIndex,
        name: "research.index",
        variables: &["TAMIS_RESEARCH_INDEX"],
        form: Form::Choice(&["auto", "on", "off"]),
        default: Some("auto"),
        from_project: FromProject::Ignored,
        about: "whether research keeps an index of definitions: auto does for large repositories",
    },
    Setting {
        key: Key::MaxFilesRead,
        name: "limits.maxFilesRead",
        variables: &["TAMIS_MAX_FILES_READ"],
        form: Form::Count { at_least: 1 },
        default: Some("50"),
        from_project: FromProject::MayLower,
        about: "files that one research may read",
    },
    Setting {
        key: Key::MaxBytesRead,
        name: "limits.maxBytesRead",
        variables: &["TAMIS_MAX_BYTES_READ"],
        form: Form::Count { at_least: 1 },
        default: Some("1048576"),
        from_project: FromProject::MayLower,
        about: "bytes that one research may read",
    },
    Setting {
        key: Key::MaxTokens,
        name: "limits.maxTokens",
        variables: &["TAMIS_MAX_TOKENS"],
        form: Form::Count { at_least: 1 },
        default: Some("2000"),
        from_project: FromProject::MayLower,
        about: "tokens that a report of research may have",
    },
    Setting {
        key: Key::DefaultDeadlineMs,
        name: "runtime.defaultDeadlineMs",
        variables: &["TAMIS_DEADLINE_MS"],
        form: Form::Count { at_least: 1 },
        default: Some("30000"),
        from_project: FromProject::MayLower,
        about: "how long one research may take, in milliseconds",
    },
    Setting {
        key: Key::MaxConcurrentTasks,
        name: "runtime.maxConcurrentTasks",
        variables: &["TAMIS_MAX_CONCURRENT_TASKS"],
        form: Form::Count { at_least: 1 },
        default: Some("4"),
        from_project: FromProject::MayLower,
        about: "roles at work at once, over all requests",
    },
    Setting {
        key: Key::MaxQueuedTasks,
        name: "runtime.maxQueuedTasks",
        variables: &["TAMIS_MAX_QUEUED_TASKS"],
        form: Form::Count { at_least: 1 },
        default: Some("64"),
        from_project: FromProject::MayLower,
        about: "roles that may wait for a worker; beyond that they are turned away",
    },
    Setting {
        key: Key::ModelUrl,
        name: "model.url",
        variables: &["TAMIS_MODEL_URL"],
        form: Form::Url,
        default: Some("http://127.0.0.1:1234/v1"),
        from_project: FromProject::Ignored,
        about: "the local model that roles may use, OpenAI-compatible: LM Studio, Ollama, llama.cpp",
    },
    Setting {
        key: Key::ModelName,
        name: "model.name",
        variables: &["TAMIS_MODEL"],
        form: Form::Text,
        default: None,
        from_project: FromProject::Ignored,
        about: "which model it is to use (unset: the first that it offers)",
    },
    Setting {
        key: Key::ModelKey,
        name: "model.key",
        variables: &["TAMIS_MODEL_KEY"],
        form: Form::Secret,
        default: None,
        from_project: FromProject::Ignored,
        about: "what its server wants as a bearer token, if anything",
    },
    Setting {
        key: Key::ModelUse,
        name: "model.use",
        variables: &["TAMIS_MODEL_USE"],
        form: Form::Choice(&["auto", "never", "always"]),
        default: Some("auto"),
        from_project: FromProject::Ignored,
        about: "whether roles use it: auto does when it answers, always fails when it does not",
    },
    Setting {
        key: Key::ModelConcurrent,
        name: "model.concurrent",
        variables: &["TAMIS_MODEL_CONCURRENT"],
        form: Form::Count { at_least: 1 },
        default: Some("1"),
        from_project: FromProject::Ignored,
        about: "calls of the model at once; the others wait",
    },
    Setting {
        key: Key::ModelLocator,
        name: "model.locator",
        variables: &["TAMIS_MODEL_LOCATOR"],
        form: Form::Text,
        default: None,
        from_project: FromProject::Ignored,
        about: "which model the locator is to use, instead of model.name",
    },
    Setting {
        key: Key::ModelAnalyzer,
        name: "model.analyzer",
        variables: &["TAMIS_MODEL_ANALYZER"],
        form: Form::Text,
        default: None,
        from_project: FromProject::Ignored,
        about: "likewise for the analyzer",
    },
    Setting {
        key: Key::ModelPatterns,
        name: "model.patterns",
        variables: &["TAMIS_MODEL_PATTERNS"],
        form: Form::Text,
        default: None,
        from_project: FromProject::Ignored,
        about: "likewise for the pattern finder",
    },
    Setting {
        key: Key::ModelThoughts,
        name: "model.thoughts",
        variables: &["TAMIS_MODEL_THOUGHTS"],
        form: Form::Text,
        default: None,
        from_project: FromProject::Ignored,
        about: "likewise for the reader of notes",
    },
    Setting {
        key: Key::AgentsDatabase,
        name: "agents.database",
        variables: &["TAMIS_AGENTS_DATABASE", "MCP_DATABASE_PATH"],
        form: Form::Path,
        default: None,
        from_project: FromProject::Ignored,
        about: "the database of agents, their reviews and events (unset: state.db in the data folder)",
    },
    Setting {
        key: Key::AgentsIdentity,
        name: "agents.identity",
        variables: &["TAMIS_IDENTITY"],
        form: Form::Path,
        default: None,
        from_project: FromProject::Ignored,
        about: "the file of an instance's identity, for its own `tamis mcp`; `tamis agents start` sets it",
    },
    Setting {
        key: Key::ToolTimeoutMs,
        name: "agents.tool_timeout_ms",
        variables: &["TAMIS_TOOL_TIMEOUT_MS", "MCP_TOOL_TIMEOUT"],
        form: Form::Count { at_least: 1 },
        default: Some("120000"),
        from_project: FromProject::Ignored,
        about: "how long one of the agents' tools may take, in milliseconds",
    },
    Setting {
        key: Key::GithubToken,
        name: "github.token",
        variables: &["TAMIS_GITHUB_TOKEN", "GITHUB_TOKEN"],
        form: Form::Secret,
        default: None,
        from_project: FromProject::Ignored,
        about: "what GitHub is asked with (unset: what `gh auth token` says); agents never get it",
    },
    Setting {
        key: Key::GithubUrl,
        name: "github.url",
        variables: &["TAMIS_GITHUB_URL", "GITHUB_API_URL"],
        form: Form::Url,
        default: None,
        from_project: FromProject::Ignored,
        about: "where GitHub's API is (unset: as the remote's host has it)",
    },
];

impl Key {
    /// This key's row.
    pub fn setting(self) -> &'static Setting {
        SETTINGS.iter().find(|setting| setting.key == self).expect("a test holds that every key has a row")
    }
}

impl Setting {
    /// Why `value` will not do, if it will not.
    pub fn complaint(&self, value: &str) -> Option<String> {
        match self.form {
            Form::Path | Form::PathList | Form::Secret | Form::Text | Form::TextList if value.is_empty() => {
                Some("must not be empty".into())
            }
            Form::Path
            | Form::PathList
            | Form::Secret
            | Form::Text
            | Form::TextList
            | Form::Verbatim
            | Form::Switch => None,
            Form::Url => {
                let host = ["http://", "https://"].iter().find_map(|scheme| value.strip_prefix(scheme));
                (!host.is_some_and(|host| {
                    host.starts_with(|first: char| first.is_alphanumeric() || first == '[')
                }))
                .then(|| "must be an address that begins with http:// or https://".into())
            }
            Form::Choice(choices) => {
                (!choices.contains(&value)).then(|| format!("must be one of {}", choices.join(", ")))
            }
            Form::Port => value.parse::<u16>().is_err().then(|| "must be a port, 0 to 65535".into()),
            Form::Count { at_least } => (!value.parse::<u64>().is_ok_and(|number| number >= at_least))
                .then(|| format!("must be a whole number, {at_least} or more")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_their_keys_and_defaults_are_valid() {
        assert!(SETTINGS.is_sorted_by_key(|setting| setting.key));
        assert_eq!(SETTINGS.last().map(|setting| setting.key as usize + 1), Some(SETTINGS.len()));
        for setting in SETTINGS {
            assert_eq!(setting.default.and_then(|value| setting.complaint(value)), None, "{}", setting.name);
        }
    }

    #[test]
    fn what_a_project_may_do_fits_the_form() {
        for setting in SETTINGS {
            let fits = match setting.from_project {
                FromProject::Ignored => true,
                FromProject::MayLower => matches!(setting.form, Form::Count { .. }),
                FromProject::MayNarrow => setting.form == Form::PathList,
                FromProject::MayAdd => setting.form == Form::TextList,
            };
            assert!(fits, "{}", setting.name);
        }
    }
}
