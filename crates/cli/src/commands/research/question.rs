//! What the research commands share: the question, the roots and the limits.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tamis_config::ConfigEnvironment;
use tamis_research::{
    ResearchConstraints, ResearchFinding, ResearchReport, ResearchRequest, Researcher, Role, RoleErrorKind,
};

use super::render;
use crate::error::{CliError, CliResult};
use crate::interrupts::Interrupts;
use crate::progress::Spinner;
use crate::startup::help_with_default;
use crate::{escape, print, startup};

/// A question and its limits.
#[derive(Args)]
pub(crate) struct QuestionArgs {
    /// Question in plain words; identifiers and file names help
    #[arg(required = true, value_name = "QUESTION")]
    words: Vec<String>,
    #[command(flatten)]
    pub(crate) roots: RootArgs,
    #[arg(long, value_name = "MS", help = help_with_default("Time limit in milliseconds", "runtime.defaultDeadlineMs"), value_parser = clap::value_parser!(u64).range(1..))]
    deadline_ms: Option<u64>,
    #[arg(long, value_name = "N", help = help_with_default("Maximum number of files to read", "limits.maxFilesRead"))]
    max_files_read: Option<u64>,
    #[arg(long, value_name = "N", help = help_with_default("Maximum number of bytes to read", "limits.maxBytesRead"))]
    max_bytes_read: Option<u64>,
    #[arg(long, value_name = "N", help = help_with_default("Maximum number of tokens in the report", "limits.maxTokens"), value_parser = clap::value_parser!(u64).range(1..))]
    max_tokens: Option<u64>,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// How long a command waits, after its answer, for a running index update.
const INDEX_TIMEOUT: Duration = Duration::from_secs(120);

/// The folders to search.
#[derive(Args, Default)]
pub(crate) struct RootArgs {
    /// Search this folder instead of the configured ones; repeatable
    #[arg(long = "root", value_name = "FOLDER")]
    roots: Vec<PathBuf>,
}

impl RootArgs {
    /// The researcher for these roots.
    pub(crate) fn researcher(&self) -> Result<Researcher, CliError> {
        let roots = match self.roots.as_slice() {
            [] => None,
            roots => {
                let joined = std::env::join_paths(roots).map_err(CliError::usage)?;
                Some(joined.into_string().map_err(|_| CliError::usage("--root must be UTF-8"))?)
            }
        };
        let config = startup::load(&ConfigEnvironment::of_process().flag("research.roots", roots))?;
        startup::researcher(&config, false)
    }
}

impl QuestionArgs {
    pub(crate) fn question(&self) -> String {
        self.words.join(" ")
    }

    pub(crate) fn answer(&self, role: Option<Role>, artifact: bool) -> CliResult {
        let researcher = self.roots.researcher()?;
        let request = ResearchRequest {
            question: self.question(),
            roots: Vec::new(),
            role,
            constraints: ResearchConstraints {
                deadline_ms: self.deadline_ms,
                max_files_read: self.max_files_read,
                max_bytes_read: self.max_bytes_read,
                max_tokens: self.max_tokens,
            },
            artifact,
        };
        let interrupts = Interrupts::install()?;
        let report = {
            let spinner = Spinner::new();
            let report_progress = |step: tamis_research::ResearchProgress| spinner.set_text(step.message);
            researcher.research(&request, &interrupts.stop_signal(), &report_progress)
        };
        interrupts.check()?;
        let report = report.map_err(CliError::usage)?;
        if self.json {
            print::json(&report)?;
        } else {
            render::report(&report, role)?;
        }
        interrupts.exit_at_once()?;
        researcher.wait_for_index(INDEX_TIMEOUT);
        if artifact && report.artifact_path.is_none() {
            let why = report.artifact_error().map(escape::line).unwrap_or_default();
            return Err(CliError::failed(anyhow::anyhow!("nothing was written: {why}"))
                .hint("set TAMIS_ARTIFACTS to another folder"));
        }
        exit_code(&report, role, self.json)
    }
}

/// The answer of a report: its synthesis, or what its only role found.
pub(super) fn answer_of(report: &ResearchReport, role: Option<Role>) -> Option<&ResearchFinding> {
    match role {
        None => report.synthesis.as_ref(),
        Some(role) => report.finding(role),
    }
}

/// Exit code 1 when nothing was found, as with grep; a failed role is an error.
fn exit_code(report: &ResearchReport, role: Option<Role>, json: bool) -> CliResult {
    let found = answer_of(report, role).is_some_and(|finding| !finding.references.is_empty());
    let failed = report.roles.iter().find_map(|(role, outcome)| Some((role, outcome.result.as_ref().err()?)));
    match failed {
        _ if found => Ok(()),
        Some((role, cause)) => {
            let error =
                CliError::failed(anyhow::anyhow!("{} failed: {}", role.key(), escape::line(&cause.message)));
            Err(match cause.kind {
                RoleErrorKind::Timeout => error.hint("allow more time with --deadline-ms"),
                RoleErrorKind::ProviderUnavailable
                | RoleErrorKind::ProviderError
                | RoleErrorKind::ContextTooLong
                | RoleErrorKind::Refused => {
                    error.hint("set TAMIS_MODEL_USE=auto to get an answer without the model when it fails")
                }
                _ => error,
            })
        }
        None => {
            // The text answer says so already.
            if json {
                print::note("nothing was found");
            }
            CliError::passed(Some(1), None)
        }
    }
}
