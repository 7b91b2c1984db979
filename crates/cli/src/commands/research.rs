pub(crate) mod question;
mod render;

use clap::Args;
use tamis_research::Role;

use crate::error::CliResult;
use question::QuestionArgs;

/// Answer a question about a codebase, with file:line evidence
///
/// Searches the working folder unless --root or TAMIS_ROOTS names other folders. Reports where things are and how they work, with
/// examples if the question asks for them. Uses a local model if one responds at TAMIS_MODEL_URL; nothing is sent anywhere
/// else. Exits with 1 if nothing was found.
#[derive(Args)]
pub(crate) struct Research {
    #[command(flatten)]
    question: QuestionArgs,
    /// Also write the answer to a file and print its path
    #[arg(long)]
    artifact: bool,
}

/// Find where something is in a codebase: paths and lines, best first
///
/// Exits with 1 if nothing was found, like grep.
#[derive(Args)]
pub(crate) struct Locate {
    #[command(flatten)]
    question: QuestionArgs,
}

/// Show how something is already done in a codebase: two to six examples
///
/// Exits with 1 if nothing was found.
#[derive(Args)]
pub(crate) struct Patterns {
    #[command(flatten)]
    question: QuestionArgs,
}

/// Explain how a part of a codebase works: its definition, its callers, its callees
///
/// Exits with 1 if nothing was found.
#[derive(Args)]
pub(crate) struct Analyze {
    #[command(flatten)]
    question: QuestionArgs,
}

pub(crate) fn run(arguments: &Research) -> CliResult {
    arguments.question.answer(None, arguments.artifact)
}

pub(crate) fn locate(arguments: &Locate) -> CliResult {
    arguments.question.answer(Some(Role::Locator), false)
}

pub(crate) fn patterns(arguments: &Patterns) -> CliResult {
    arguments.question.answer(Some(Role::Patterns), false)
}

pub(crate) fn analyze(arguments: &Analyze) -> CliResult {
    arguments.question.answer(Some(Role::Analyzer), false)
}
