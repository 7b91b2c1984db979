use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use tamis_codebase::{Case, FileSearch, FileSearchError, FoundFile, FoundLine, StopSignal};

use crate::error::{CliError, CliResult};
use crate::operation::{AnswerArgs, Operations};
use crate::style::{self, Style};
use crate::{escape, input, print, startup};

/// Search files, and keep the matches that answer a question
///
/// Searches like ripgrep: recursively, without hidden, binary and ignored files, with Rust's regular expressions. Exits with
/// 0 if there are matches, 1 if there are none, and 2 after an error. The tool `grep`, for agents, runs `grep -rn` instead.
#[derive(Args)]
pub(crate) struct Grep {
    /// Regular expression to search for; with --regexp, this is a path
    #[arg(required_unless_present = "regexp")]
    pattern: Option<String>,
    /// Files or folders to search; `-` is stdin [default: the current folder]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Search for this regular expression instead of PATTERN; repeatable
    #[arg(long, short = 'e', value_name = "PATTERN", allow_hyphen_values = true)]
    regexp: Vec<String>,
    /// Ignore case
    #[arg(long, short)]
    ignore_case: bool,
    /// Ignore case unless the pattern has a capital letter
    #[arg(long, short = 'S', conflicts_with = "ignore_case")]
    smart_case: bool,
    /// Match whole words only
    #[arg(long, short)]
    word_regexp: bool,
    /// Treat the pattern as text, not as a regular expression
    #[arg(long, short = 'F')]
    fixed_strings: bool,
    /// Show the lines that do not match
    #[arg(long, short = 'v')]
    invert_match: bool,
    /// Show only the paths of files with matches
    #[arg(long, short = 'l')]
    files_with_matches: bool,
    /// Show only the number of matching lines in each file with matches
    #[arg(long, short, conflicts_with_all = ["files_with_matches", "only_matching", "json"])]
    count: bool,
    /// Show only the matching parts of lines
    #[arg(long, short, conflicts_with_all = ["files_with_matches", "invert_match"])]
    only_matching: bool,
    /// Search only files that match this glob; with a leading `!`, exclude them; repeatable
    #[arg(long, short, value_name = "GLOB")]
    glob: Vec<String>,
    /// Search only files of this type, such as rust or py; repeatable
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    types: Vec<String>,
    /// Number of lines to show after each match
    #[arg(long, short = 'A', value_name = "N")]
    after_context: Option<usize>,
    /// Number of lines to show before each match
    #[arg(long, short = 'B', value_name = "N")]
    before_context: Option<usize>,
    /// Number of lines to show before and after each match
    #[arg(long, short = 'C', value_name = "N")]
    context: Option<usize>,
    /// Also search hidden files; `.git` is never searched
    #[arg(long)]
    hidden: bool,
    /// Also search files that .gitignore and other ignore files exclude
    #[arg(long)]
    no_ignore: bool,
    /// Line numbers are always shown; for ripgrep's users.
    #[arg(long, short = 'n', hide = true)]
    line_number: bool,
    /// Folders are always searched with what is in them; for grep's users.
    #[arg(long, short = 'r', short_alias = 'R', hide = true)]
    recursive: bool,
    #[command(flatten)]
    answer: AnswerArgs,
}

pub(crate) fn run(arguments: Grep) -> CliResult {
    let operations = Operations::new("grep")?;
    // Paths are shown as they are given, so they must be valid from here.
    std::env::set_current_dir(operations.services.workbench.folder.path())?;
    let search = arguments.search();
    if search.paths.iter().any(|path| path.as_os_str() == "-") {
        input::announce_stdin();
    }
    let answer = &arguments.answer;
    let mut output = Output {
        has_paths: search.has_several_files(),
        has_context: search.before + search.after > 0,
        files_only: search.files_only,
        counts: arguments.count,
        is_colored: style::is_on_stdout() && answer.question().is_none(),
        is_terminal: io::stdout().is_terminal(),
        ..Output::default()
    };
    let mut matches = Vec::new();
    let mut has_matches = false;
    let errors = search.run(&StopSignal::never(), |mut file| {
        has_matches = true;
        if arguments.only_matching {
            file.lines = only_matches(&file.lines);
        }
        if answer.json && answer.question().is_none() {
            matches.extend(matches_json(&file));
            return Ok(());
        }
        output.add(&file);
        // Without a question, what is found is shown at once.
        if answer.question().is_none() { print::bytes(&output.take()) } else { Ok(()) }
    })?;
    for error in &errors {
        let cause = anyhow::anyhow!("{}", error.cause);
        print::error(&CliError::about_path("search", &error.path, cause));
    }
    let code = match (errors.is_empty(), has_matches) {
        (false, _) => 2,
        (true, true) => 0,
        (true, false) => 1,
    };
    let text = output.take();
    match (answer.json, answer.question()) {
        (true, Some(_)) => print::json(&operations.answer_json(("exit_code", json!(code)), text, answer)?)?,
        (true, None) => print::json(&json!({"exit_code": code, "matches": matches}))?,
        (false, Some(_)) if !text.is_empty() => operations.print_answer(None, text, answer)?,
        (false, _) => {}
    }
    startup::finish(&operations.services);
    CliError::passed(Some(code), None)
}

/// The text that ripgrep prints with `-n` and without headings.
#[derive(Default)]
struct Output {
    text: Vec<u8>,
    has_paths: bool,
    has_context: bool,
    files_only: bool,
    counts: bool,
    is_colored: bool,
    /// Names are then shown without control characters.
    is_terminal: bool,
    has_files: bool,
}

impl Output {
    fn add(&mut self, file: &FoundFile) {
        let path = match self.is_terminal {
            true => escape::controls(&file.path.to_string_lossy()).into_bytes(),
            false => file.path.as_os_str().as_encoded_bytes().to_vec(),
        };
        let path = path.as_slice();
        if self.files_only {
            self.paint(path, Style::Path);
            self.text.push(b'\n');
            return;
        }
        if self.counts {
            if self.has_paths {
                self.paint(path, Style::Path);
                self.text.push(b':');
            }
            let count = file.lines.iter().filter(|line| line.is_match).count();
            self.text.extend_from_slice(format!("{count}\n").as_bytes());
            return;
        }
        let follows_file = std::mem::replace(&mut self.has_files, true) && self.has_context;
        for (index, line) in file.lines.iter().enumerate() {
            if line.follows_gap || (follows_file && index == 0) {
                self.text.extend_from_slice(b"--\n");
            }
            self.add_line(path, line);
        }
        if let Some(message) = &file.binary {
            if self.has_paths {
                self.paint(path, Style::Path);
                self.text.extend_from_slice(b": ");
            }
            self.text.extend_from_slice(message.as_bytes());
            self.text.push(b'\n');
        }
    }

    fn add_line(&mut self, path: &[u8], line: &FoundLine) {
        let separator = if line.is_match { b':' } else { b'-' };
        if self.has_paths {
            self.paint(path, Style::Path);
            self.text.push(separator);
        }
        self.paint(line.number.to_string().as_bytes(), Style::LineNumber);
        self.text.push(separator);
        let mut shown = 0;
        if self.is_colored {
            for found in line.matches.iter().filter(|found| !found.is_empty()) {
                self.text.extend_from_slice(&line.text[shown..found.start]);
                self.paint(&line.text[found.clone()], Style::Match);
                shown = found.end;
            }
        }
        self.text.extend_from_slice(&line.text[shown..]);
        self.text.push(b'\n');
    }

    fn paint(&mut self, bytes: &[u8], style: Style) {
        if self.is_colored {
            let (begin, end) = style::codes(style);
            self.text.extend_from_slice(begin.as_bytes());
            self.text.extend_from_slice(bytes);
            self.text.extend_from_slice(end.as_bytes());
        } else {
            self.text.extend_from_slice(bytes);
        }
    }

    fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text)
    }
}

/// A line for each part that matches.
fn only_matches(lines: &[FoundLine]) -> Vec<FoundLine> {
    let parts = lines.iter().flat_map(|line| line.matches.iter().map(move |found| (line, found)));
    let parts = parts.filter(|(_, found)| !found.is_empty()).map(|(line, found)| {
        let text = line.text[found.clone()].to_vec();
        let whole = 0..text.len();
        FoundLine { number: line.number, text, matches: vec![whole], is_match: true, follows_gap: false }
    });
    parts.collect()
}

fn matches_json(file: &FoundFile) -> Vec<Value> {
    let path = file.path.to_string_lossy();
    let line = |line: &FoundLine| {
        let text = String::from_utf8_lossy(&line.text);
        json!({"path": path, "line": line.number, "text": text, "is_match": line.is_match})
    };
    match file.lines.as_slice() {
        // Only the file is known to match.
        [] => vec![json!({"path": path})],
        lines => lines.iter().map(line).collect(),
    }
}

impl From<FileSearchError> for CliError {
    fn from(error: FileSearchError) -> CliError {
        let hint = match error {
            FileSearchError::Stopped(_) => return CliError::failed(error),
            FileSearchError::Pattern(_) => {
                "-F searches for the text as it is; `\\` escapes a special character"
            }
            FileSearchError::FileGlob(_) => "globs look like *.rs or !tests/**",
            FileSearchError::FileType(_) => {
                "types are named as in ripgrep: c, cpp, go, java, js, md, py, rust, toml, ts, yaml and others"
            }
        };
        CliError::usage(error).hint(hint)
    }
}

impl Grep {
    fn search(&self) -> FileSearch {
        let mut paths = self.paths.clone();
        let patterns = match (&self.pattern, self.regexp.is_empty()) {
            (Some(pattern), true) => vec![pattern.clone()],
            (path, _) => {
                paths.splice(..0, path.iter().map(PathBuf::from));
                self.regexp.clone()
            }
        };
        let context = |lines: Option<usize>| match self.count || self.only_matching {
            true => 0,
            false => lines.or(self.context).unwrap_or(0),
        };
        FileSearch {
            patterns,
            literal: self.fixed_strings,
            case: match (self.ignore_case, self.smart_case) {
                (true, _) => Case::Ignore,
                (_, true) => Case::Smart,
                _ => Case::Respect,
            },
            words: self.word_regexp,
            invert: self.invert_match,
            paths,
            globs: self.glob.clone(),
            types: self.types.clone(),
            hidden: self.hidden,
            ignored: self.no_ignore,
            before: context(self.before_context),
            after: context(self.after_context),
            files_only: self.files_with_matches,
        }
    }
}
