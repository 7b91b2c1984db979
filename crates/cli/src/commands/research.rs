pub(crate) mod question;
mod render;

use clap::Args;
use tamis_research::Role;

use crate::error::CliResult;
use question::Asking;

/// Answer a question about a codebase, with file:line evidence
///
/// Looks into the working folder unless --root or TAMIS_ROOTS names others. Says where things are and how they work, with
/// examples when you ask for them. Nothing leaves the machine; a local model is used when one answers at TAMIS_MODEL_URL.
/// Ends with 1 when nothing was found.
#[derive(Args)]
pub(crate) struct Research {
    #[command(flatten)]
    asking: Asking,
    /// Also write the answer to a file, and print its path
    #[arg(long)]
    artifact: bool,
}

/// Say where something is in a codebase: paths and lines, best first
///
/// Ends with 1 when nothing was found, as grep does.
#[derive(Args)]
pub(crate) struct Locate {
    #[command(flatten)]
    asking: Asking,
}

/// Show how something is already done in a codebase: two to six examples
///
/// Ends with 1 when nothing was found.
#[derive(Args)]
pub(crate) struct Patterns {
    #[command(flatten)]
    asking: Asking,
}

/// Explain how a part of a codebase works: where it is defined, who calls it, what it calls
///
/// Ends with 1 when nothing was found.
#[derive(Args)]
pub(crate) struct Analyze {
    #[command(flatten)]
    asking: Asking,
}

pub(crate) fn run(arguments: &Research) -> CliResult {
    arguments.asking.answer(None, arguments.artifact)
}

pub(crate) fn locate(arguments: &Locate) -> CliResult {
    arguments.asking.answer(Some(Role::Locator), false)
}

pub(crate) fn patterns(arguments: &Patterns) -> CliResult {
    arguments.asking.answer(Some(Role::Patterns), false)
}

pub(crate) fn analyze(arguments: &Analyze) -> CliResult {
    arguments.asking.answer(Some(Role::Analyzer), false)
}
