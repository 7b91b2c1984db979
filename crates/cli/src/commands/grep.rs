use clap::Args;

use crate::error::CliResult;
use crate::operation::Operations;
use crate::print;

/// Search files, and keep the matches that answer a question
///
/// Runs `grep -rn` and exits with its exit code: 0 if there are matches, 1 if there are none, 2 after an error.
#[derive(Args)]
pub(crate) struct Grep {
    /// Basic regular expression to search for
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
    operations.run_program(program, arguments.question, |ended| {
        if !ended.stderr.is_empty() {
            print::note(String::from_utf8_lossy(&ended.stderr).trim_end());
        }
        ended.stdout
    })
}
