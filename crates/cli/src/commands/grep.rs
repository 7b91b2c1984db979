use clap::Args;
use tamis_process::grep;

use crate::error::{CliError, CliResult};
use crate::print;
use crate::question::Asked;

/// Search files, and keep the matches that answer a question
///
/// Runs `grep -rn`, and ends as it does: 0 for matches, 1 for none, 2 for trouble.
#[derive(Args)]
pub(crate) struct Grep {
    /// What to search for, as grep's basic regular expressions have it
    #[arg(allow_hyphen_values = true)]
    pattern: String,
    /// The file or folder to search
    #[arg(default_value = ".")]
    path: String,
    /// What you want to know
    #[arg(long, short)]
    question: Option<String>,
}

pub(crate) fn run(arguments: Grep) -> CliResult {
    let asked = Asked::new()?;
    let shell = grep(&arguments.pattern, &arguments.path, asked.services.workbench.folder.path());
    let Some(question) = arguments.question.filter(|question| !question.is_empty()) else {
        return Err(CliError::failed(shell.take_over()));
    };
    let ended = asked.run(shell)?;
    if !ended.stdout.is_empty() {
        asked.answer("grep", &String::from_utf8_lossy(&ended.stdout), &question)?;
    }
    if !ended.stderr.is_empty() {
        print::note(String::from_utf8_lossy(&ended.stderr).trim_end());
    }
    CliError::passed(ended.code(), ended.signal())
}
