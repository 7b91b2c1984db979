//! What the commands that ask about a codebase have in common: the question, where to look, and how long.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tamis_config::{Key, Surroundings};
use tamis_research::{
    ResearchConstraints, ResearchFinding, ResearchReport, ResearchRequest, Researcher, Role, RoleErrorKind,
};

use super::render;
use crate::error::{CliError, CliResult};
use crate::interrupts::Interrupts;
use crate::waiting::Ticking;
use crate::{print, setup, shown};

/// A question, and how it is to be answered.
#[derive(Args)]
pub(crate) struct Asking {
    /// What you want to know, in words; identifiers and file names help
    #[arg(required = true, value_name = "QUESTION")]
    words: Vec<String>,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Milliseconds it may take [default: 30000]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    deadline_ms: Option<u64>,
    /// Files it may read [default: 50]
    #[arg(long, value_name = "N")]
    max_files_read: Option<u64>,
    /// Bytes it may read [default: 1048576]
    #[arg(long, value_name = "N")]
    max_bytes_read: Option<u64>,
    /// Tokens the report may have [default: 2000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_tokens: Option<u64>,
    /// Print the report as the tools give it, for programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// How long a command waits, once its answer is out, for an index that is being brought up to date.
const LAST_PATIENCE: Duration = Duration::from_secs(120);

/// Where to look.
#[derive(Args, Default)]
pub(crate) struct Place {
    /// Look into this folder instead of those that are configured; may be given again
    #[arg(long = "root", value_name = "FOLDER")]
    roots: Vec<PathBuf>,
}

impl Place {
    /// Whoever answers, for this place.
    pub(crate) fn researcher(&self) -> Result<Researcher, CliError> {
        let roots = match self.roots.as_slice() {
            [] => None,
            roots => {
                let joined = std::env::join_paths(roots).map_err(CliError::usage)?;
                Some(joined.into_string().map_err(|_| CliError::usage("--root must be UTF-8"))?)
            }
        };
        let config = setup::load(&Surroundings::of_process().flag(Key::ResearchRoots, roots))?;
        setup::researcher(&config, false)
    }
}

impl Asking {
    pub(crate) fn question(&self) -> String {
        self.words.join(" ")
    }

    pub(crate) fn answer(&self, role: Option<Role>, artifact: bool) -> CliResult {
        let researcher = self.place.researcher()?;
        let request = ResearchRequest {
            question: self.question(),
            roots: Vec::new(),
            constraints: ResearchConstraints {
                deadline_ms: self.deadline_ms,
                max_files_read: self.max_files_read,
                max_bytes_read: self.max_bytes_read,
                max_tokens: self.max_tokens,
            },
            artifact,
        };
        let interrupts = Interrupts::noticed()?;
        let report = {
            let ticking = Ticking::new();
            let tell = |step: tamis_research::ResearchProgress| ticking.at(step.message);
            match role {
                Some(role) => researcher.ask_role(role, &request, &interrupts.halt(), &tell),
                None => researcher.research(&request, &interrupts.halt(), &tell),
            }
        };
        interrupts.check()?;
        let report = report.map_err(CliError::usage)?;
        if self.json {
            shown::json(&serde_json::to_value(&report).map_err(CliError::internal)?)?;
        } else {
            render::report(&report, role)?;
        }
        interrupts.leave_at_once()?;
        researcher.wait_for_index(LAST_PATIENCE);
        if artifact && report.artifact_path.is_none() {
            let why = report.run.partial.last().map(|why| shown::line(why)).unwrap_or_default();
            return Err(CliError::failed(anyhow::anyhow!("nothing was written: {why}"))
                .hint("TAMIS_ARTIFACTS names another folder"));
        }
        judged(&report, role, self.json)
    }
}

/// The answer of a report: its synthesis, or what its only role found.
pub(super) fn answer_of(report: &ResearchReport, role: Option<Role>) -> Option<&ResearchFinding> {
    match role {
        None => report.synthesis.as_ref(),
        Some(wanted) => {
            let outcome = report.outcomes().find(|(role, _)| *role == wanted)?.1;
            outcome.result.as_ref().ok()
        }
    }
}

/// Nothing found is told by the exit code, as grep does; a role that failed is an error.
fn judged(report: &ResearchReport, role: Option<Role>, json: bool) -> CliResult {
    let found = answer_of(report, role).is_some_and(|finding| !finding.references.is_empty());
    let failed = report.outcomes().find_map(|(role, outcome)| Some((role, outcome.result.as_ref().err()?)));
    match failed {
        _ if found => Ok(()),
        Some((role, fault)) => {
            let error =
                CliError::failed(anyhow::anyhow!("{} failed: {}", role.key(), shown::line(&fault.message)));
            Err(match fault.kind {
                RoleErrorKind::Timeout => error.hint("--deadline-ms gives it more time"),
                RoleErrorKind::ProviderUnavailable
                | RoleErrorKind::ProviderError
                | RoleErrorKind::Refused => {
                    error.hint("`TAMIS_MODEL_USE=auto` answers without the model when it fails")
                }
                _ => error,
            })
        }
        None => {
            // Whoever reads the answer has read it there.
            if json {
                print::note("nothing was found");
            }
            CliError::passed(Some(1), None)
        }
    }
}
