//! Errors as a person reads them: what happened, why, and what to do about it.

use std::path::Path;
use std::process::ExitCode;

use tamis_agents::{AgentsError, Code};
use tamis_config::ConfigError;
use tamis_server::{ListenError, ServerTokenError};
use tamis_store::StoreError;
use tamis_tools::{Failure, RpcError};
use tamis_trace::TraceError;

use crate::{escape, print, similar_paths};

/// Whose fault it is, which decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It failed: 1.
    Failed,
    /// Wrong usage: 2.
    Usage,
    /// The user stopped it: 130.
    Interrupted,
    /// Our fault: 255.
    Internal,
    /// The exit code of a command that was run, which has printed its own errors.
    Passed(u8),
}

/// A command's failure.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) kind: Kind,
    pub(crate) error: anyhow::Error,
    pub(crate) hint: Option<String>,
}

pub(crate) type CliResult = Result<(), CliError>;

impl CliError {
    pub(crate) fn failed(error: impl Into<anyhow::Error>) -> CliError {
        CliError { kind: Kind::Failed, error: error.into(), hint: None }
    }

    pub(crate) fn usage(message: impl std::fmt::Display) -> CliError {
        CliError { kind: Kind::Usage, error: anyhow::anyhow!("{message}"), hint: None }
    }

    pub(crate) fn internal(error: impl Into<anyhow::Error>) -> CliError {
        CliError { kind: Kind::Internal, error: error.into(), hint: None }
    }

    /// A file that the user named cannot be read.
    pub(crate) fn unreadable(path: &Path, error: impl Into<anyhow::Error>) -> CliError {
        CliError::about_path("read", path, error)
    }

    /// A path that the user named cannot be read, searched or worked in.
    pub(crate) fn about_path(action: &str, path: &Path, error: impl Into<anyhow::Error>) -> CliError {
        let shown = path.display();
        let hint = if path.is_dir() && action == "read" {
            Some(format!("`tamis grep PATTERN {shown}` searches its files"))
        } else if path.symlink_metadata().is_ok() {
            Some(format!("`ls -ld {shown}` shows what is there"))
        } else {
            let near = similar_paths::nearest(path).map(|near| format!("did you mean `{}`?", near.display()));
            near.or_else(|| Some(format!("`ls '{}'` lists the files there", existing_folder(path).display())))
        };
        CliError { hint, ..CliError::failed(error.into().context(format!("cannot {action} `{shown}`"))) }
    }

    /// The result of a command that was run, as a shell reports it: a signal is 128 plus its number.
    pub(crate) fn passed(code: Option<i32>, signal: Option<i32>) -> CliResult {
        let code = code.or(signal.map(|signal| 128 + signal)).unwrap_or(1);
        match u8::try_from(code).unwrap_or(u8::MAX) {
            0 => Ok(()),
            code => Err(CliError {
                kind: Kind::Passed(code),
                error: anyhow::anyhow!("the command ended with {code}"),
                hint: None,
            }),
        }
    }

    /// Prints all errors but the last, which is returned.
    pub(crate) fn last_of(mut errors: Vec<CliError>) -> CliResult {
        let last = errors.pop();
        errors.iter().for_each(print::error);
        last.map_or(Ok(()), Err)
    }

    pub(crate) fn interrupted() -> CliError {
        CliError { kind: Kind::Interrupted, error: anyhow::anyhow!("interrupted"), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> CliError {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.error
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            Kind::Failed => 1,
            Kind::Usage => 2,
            Kind::Interrupted => 130,
            Kind::Internal => 255,
            Kind::Passed(code) => code,
        })
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> CliError {
        CliError::failed(error)
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> CliError {
        let hint = error.hint().to_owned();
        let error = match error {
            // It quotes the value, which may be an address with a password in it.
            ConfigError::Invalid { .. } => anyhow::Error::msg(escape::text(&error.to_string())),
            error => error.into(),
        };
        CliError { kind: Kind::Usage, error, hint: Some(hint) }
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> CliError {
        let hint = error.hint();
        CliError { hint, ..CliError::failed(error) }
    }
}

impl From<ServerTokenError> for CliError {
    fn from(error: ServerTokenError) -> CliError {
        let hint = "set TAMIS_TOKEN to your own token, or TAMIS_DATA_DIR to another data folder";
        let kind = if matches!(error, ServerTokenError::Malformed) { Kind::Usage } else { Kind::Failed };
        CliError { kind, ..CliError::failed(error) }.hint(hint)
    }
}

impl From<ListenError> for CliError {
    fn from(error: ListenError) -> CliError {
        let hint = match error.source.kind() {
            std::io::ErrorKind::AddrInUse => {
                "another tamis may be running there; `tamis serve --port 0` picks a free port"
            }
            _ => "`tamis serve --host 127.0.0.1` listens only on this machine",
        };
        CliError::failed(error).hint(hint)
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> CliError {
        match failure {
            Failure::Cancelled => CliError::interrupted(),
            failure => RpcError::from(failure).into(),
        }
    }
}

impl From<RpcError> for CliError {
    fn from(error: RpcError) -> CliError {
        let said = |name: &str| error.data.as_ref().and_then(|data| data[name].as_str().map(str::to_owned));
        let kind = match (error.code, said("code").as_deref()) {
            (-32602, _) => Kind::Usage,
            (_, Some("cancelled")) => Kind::Interrupted,
            (_, Some("internal_error")) => Kind::Internal,
            _ => Kind::Failed,
        };
        let mut message = format!("{} ({})", error.message, error.code);
        if let Some(detail) = said("detail").filter(|detail| !error.message.ends_with(detail)) {
            message = format!("{message}: {detail}");
        }
        CliError { kind, hint: said("hint"), error: anyhow::anyhow!(message) }
    }
}

impl From<TraceError> for CliError {
    fn from(error: TraceError) -> CliError {
        let (kind, hint) = match &error {
            TraceError::NoSuchSession { .. } => {
                (Kind::Failed, Some("`tamis trace sessions` lists the sessions".to_owned()))
            }
            TraceError::Ambiguous { matches, count, .. } => {
                let others = if *count > matches.len() as u64 { ", …" } else { "" };
                (
                    Kind::Failed,
                    Some(format!("give a longer prefix; it matches {}{others}", matches.join(", "))),
                )
            }
            TraceError::NoSuchEvent { session, .. } => {
                (Kind::Failed, Some(format!("`tamis trace turns {session}` lists its turns and events")))
            }
            TraceError::InvalidQuery(_) => (Kind::Usage, None),
            TraceError::TooSlow { .. } => {
                (Kind::Failed, Some("narrow it with --session, --project or --since".to_owned()))
            }
            TraceError::Index(store) => (
                Kind::Failed,
                store.hint().or(Some(
                    "`tamis data purge --trace --yes` removes the index; it is rebuilt when needed".into(),
                )),
            ),
            TraceError::DataDir { .. } => {
                (Kind::Failed, Some("set TAMIS_DATA_DIR to another data folder".to_owned()))
            }
            TraceError::Busy { .. } => (Kind::Failed, Some("try again when it has finished".to_owned())),
            TraceError::Log { .. } | TraceError::Changed { .. } => {
                (Kind::Failed, Some("`tamis trace index` updates the index".to_owned()))
            }
            TraceError::Cancelled => (Kind::Interrupted, None),
        };
        CliError { kind, error: error.into(), hint }
    }
}

impl From<AgentsError> for CliError {
    fn from(error: AgentsError) -> CliError {
        let kind = match error.code {
            Code::ValidationError => Kind::Usage,
            Code::InternalError => Kind::Internal,
            _ => Kind::Failed,
        };
        // Some suggestions begin with "or" themselves.
        let suggestions = error.suggestions.iter().map(|text| text.strip_prefix("or ").unwrap_or(text));
        let hint = (!error.suggestions.is_empty()).then(|| suggestions.collect::<Vec<_>>().join("; or "));
        CliError { kind, hint, error: anyhow::anyhow!(error.message) }
    }
}

/// The innermost folder of a path that exists.
fn existing_folder(path: &Path) -> &Path {
    let folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    folders.into_iter().find(|folder| folder.is_dir()).unwrap_or(Path::new("."))
}
