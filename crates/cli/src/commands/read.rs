use clap::Args;

use crate::error::{CliError, CliResult};
use crate::operation::Operations;
use crate::print;

/// Print a file, or the part of it that answers a question
///
/// With --question, cuts are marked and can be restored with `tamis recover`. Without it, the file is printed unchanged.
#[derive(Args)]
pub(crate) struct Read {
    /// File to read
    file: std::path::PathBuf,
    /// Keep only what answers this question
    #[arg(long, short)]
    question: Option<String>,
}

pub(crate) fn run(arguments: Read) -> CliResult {
    let operations = Operations::new("read")?;
    let bytes = operations
        .run(async |context| context.services.workbench.read(&arguments.file, &context.cancellation).await)?
        .map_err(|error| CliError::unreadable(&arguments.file, error))?;
    match arguments.question.filter(|question| !question.is_empty()) {
        Some(question) => operations.print_pruned(bytes, question),
        None => print::bytes(&bytes),
    }
}
