use clap::Args;

use crate::error::{CliError, CliResult};
use crate::operation::Operations;
use crate::print;

/// Search files, and keep the matches that answer a question
///
/// Runs `grep -rn` and exits as it does: 0 with matches, 1 without, 2 after an error.
#[derive(Args)]
pub(crate) struct Grep {
    /// Pattern to search for, a basic regular expression
    #[arg(allow_hyphen_values = true)]
    pattern: String,
    /// File or folder to search
    #[arg(default_value = ".")]
    path: String,
    /// Keep only the matches that answer this question
    #[arg(long, short)]
    question: Option<String>,
}

pub(crate) fn run(arguments: Grep) -> CliResult {
    let operations = Operations::new("grep")?;
    let program = operations.services.workbench.grep(&arguments.pattern, &arguments.path);
    let Some(question) = arguments.question.filter(|question| !question.is_empty()) else {
        return Err(CliError::failed(program.exec()));
    };
    let ended = operations
        .run(async |context| context.services.workbench.run(program, &context.cancellation).await)?
        .map_err(CliError::failed)?;
    let (code, signal) = (ended.code(), ended.signal());
    if !ended.stdout.is_empty() {
        operations.print_pruned(ended.stdout, question)?;
    }
    if !ended.stderr.is_empty() {
        print::note(String::from_utf8_lossy(&ended.stderr).trim_end());
    }
    CliError::passed(code, signal)
}
