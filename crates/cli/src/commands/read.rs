use clap::Args;
use tamis_codebase::read_file;

use crate::error::{CliError, CliResult};
use crate::print;
use crate::question::Asked;

/// Read a file, or the part of it that answers a question
///
/// With a question, cuts are marked and `tamis recover` gives them back; without one, the file comes as it is.
#[derive(Args)]
pub(crate) struct Read {
    /// The file
    file: std::path::PathBuf,
    /// What you want to know
    #[arg(long, short)]
    question: Option<String>,
}

pub(crate) fn run(arguments: Read) -> CliResult {
    let asked = Asked::new()?;
    let path = asked.services.workbench.folder.resolve(&arguments.file);
    let bytes = read_file(&path).map_err(|error| {
        CliError::failed(
            anyhow::Error::new(error).context(format!("cannot read {}", arguments.file.display())),
        )
    })?;
    let Some(question) = arguments.question.filter(|question| !question.is_empty()) else {
        return print::bytes(&bytes);
    };
    match String::from_utf8(bytes) {
        Ok(text) => asked.answer("read", &text, &question),
        Err(error) => {
            // Better whole than wrong.
            print::note(format_args!("warning: not UTF-8 ({}), so nothing is cut", error.utf8_error()));
            print::bytes(error.as_bytes())
        }
    }
}
