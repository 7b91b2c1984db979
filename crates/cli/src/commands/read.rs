use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use tamis_codebase::ReadError;
use tamis_sieve::LineRanges;

use crate::error::{CliError, CliResult};
use crate::operation::{AnswerArgs, Operations};
use crate::{input, print, startup};

/// Print files, or the part of each that answers a question
///
/// With --question, cuts are marked and can be restored with `tamis recover`. Without it, files are printed unchanged. With
/// several files, a line with its path precedes each. FILE:3-5 and FILE:3 select lines of a file, as references in answers do.
#[derive(Args)]
pub(crate) struct Read {
    /// Files to read; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Prefix each line with its number
    #[arg(long, short, conflicts_with = "question")]
    numbers: bool,
    #[command(flatten)]
    answer: AnswerArgs,
}

pub(crate) fn run(arguments: Read) -> CliResult {
    let Read { files, numbers, answer } = arguments;
    let operations = Operations::new("read")?;
    // Whether a file exists, and which one is near, is decided where files are read.
    std::env::set_current_dir(operations.services.workbench.folder.path())?;
    let mut answers = Vec::new();
    let mut failed = Vec::new();
    for (index, path) in files.iter().enumerate() {
        let bytes = match read_part(&operations, path, numbers) {
            Ok(bytes) => bytes,
            Err(error) => {
                failed.push(error);
                continue;
            }
        };
        if bytes.is_empty() && path.as_os_str() != "-" {
            print::note(format_args!("`{}` is empty", path.display()));
        }
        if answer.json {
            answers.push(operations.answer_json(("path", json!(path)), bytes, &answer)?);
        } else {
            print::file_head(path, index, files.len())?;
            let file = (files.len() > 1).then_some(path.as_path());
            operations.print_answer(file, bytes, &answer)?;
        }
    }
    if answer.json && !answers.is_empty() {
        print::json(&one_or_all(answers, files.len()))?;
    }
    startup::finish(&operations.services);
    CliError::last_of(failed)
}

/// The text of a file, or of the lines that follow its name.
fn read_part(operations: &Operations, path: &Path, numbers: bool) -> Result<Vec<u8>, CliError> {
    let (file, ranges) = match lines_of(path) {
        Some((file, LineRanges(ranges))) if !path.exists() => (file, Some(ranges)),
        _ => (path, None),
    };
    let bytes = read(operations, file)?;
    if ranges.is_none() && !numbers {
        return Ok(bytes);
    }
    let lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut part = Vec::new();
    for (first, last) in ranges.unwrap_or_else(|| vec![(1, i64::MAX)]) {
        if first > 1 && first > lines.len() as i64 {
            let error = anyhow::anyhow!("`{}` has no line {first}", file.display());
            return Err(
                CliError::failed(error).hint(format!("it has {}", print::count(lines.len() as u64, "line")))
            );
        }
        for number in first..=last.min(lines.len() as i64) {
            if numbers {
                part.extend_from_slice(format!("{number}│ ").as_bytes());
            }
            part.extend_from_slice(lines[number as usize - 1]);
        }
    }
    Ok(part)
}

/// `src/lib.rs:3-5` as a file and lines.
fn lines_of(path: &Path) -> Option<(&Path, LineRanges)> {
    let (file, lines) = path.to_str()?.rsplit_once(':')?;
    Some((Path::new(file), lines.parse().ok()?))
}

fn read(operations: &Operations, path: &Path) -> Result<Vec<u8>, CliError> {
    if path.as_os_str() == "-" {
        return Ok(input::stdin()?);
    }
    let read =
        operations.run(async |context| context.services.workbench.read(path, &context.cancellation).await)?;
    read.map_err(|error| match error {
        // Agents get these as Node writes them.
        ReadError::System { cause, .. } => CliError::unreadable(path, cause),
        ReadError::NotAFile { kind, .. } => {
            CliError::unreadable(path, anyhow::anyhow!("it is {kind}, not a file"))
        }
        ReadError::TooLarge { limit, .. } => {
            let shown = path.display();
            CliError::failed(anyhow::anyhow!(
                "cannot read `{shown}`: it is larger than {}",
                print::size(limit)
            ))
            .hint(format!("`tamis bash -- head -c 1M {shown}` reads a part of it"))
        }
    })
}

/// The answer for a single file, or a list of them for several.
pub(super) fn one_or_all(mut answers: Vec<Value>, files: usize) -> Value {
    if files == 1 { answers.pop().unwrap_or_default() } else { Value::Array(answers) }
}
