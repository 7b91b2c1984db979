use clap::{Args, Subcommand};
use serde_json::json;
use tamis_config::ConfigEnvironment;
use tamis_research::{Handoff, Reference, ReferenceState, ResumeError, ResumedHandoff, list_handoffs};

use super::research::question::{QuestionArgs, RootArgs};
use crate::error::{CliError, CliResult};
use crate::{escape, print, startup, wrap};

/// Write and resume handoffs
///
/// Handoffs are stored in the data folder, or in research.artifacts (TAMIS_ARTIFACTS). Secrets in them are redacted.
#[derive(Args)]
pub(crate) struct HandoffCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Create(Create),
    Show(Show),
    List(List),
}

/// Write a handoff and print its path
///
/// With --summary, the handoff contains what you pass; without it, tamis researches the question in the codebase.
#[derive(Args)]
struct Create {
    #[command(flatten)]
    question: QuestionArgs,
    /// Summary in a few sentences
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    summary: Option<String>,
    /// Key finding; repeatable
    #[arg(long, value_name = "TEXT", requires = "summary", allow_hyphen_values = true)]
    finding: Vec<String>,
    /// Reference as path:line; repeatable
    #[arg(long, value_name = "PATH:LINE", requires = "summary")]
    reference: Vec<String>,
    /// Notes, such as open points and next steps
    #[arg(long, value_name = "TEXT", requires = "summary", allow_hyphen_values = true)]
    notes: Option<String>,
}

/// Show a handoff and which references have changed
#[derive(Args)]
struct Show {
    /// Path, name or part of the name [default: the latest handoff]
    name: Option<String>,
    #[command(flatten)]
    roots: RootArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// List handoffs, latest first
#[derive(Args)]
struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: HandoffCommand) -> CliResult {
    match arguments.command {
        Command::Create(arguments) => create(arguments),
        Command::Show(arguments) => show(&arguments),
        Command::List(arguments) => list(&arguments),
    }
}

fn create(arguments: Create) -> CliResult {
    let Some(summary) = arguments.summary else {
        return arguments.question.answer(None, true);
    };
    let question = arguments.question.question();
    for (name, text) in [("question", &question), ("summary", &summary)] {
        if text.trim().is_empty() {
            return Err(CliError::usage(format_args!("the {name} is empty"))
                .hint("omit --summary to research the question in the codebase"));
        }
    }
    let researcher = arguments.question.roots.researcher()?;
    let handoff = Handoff {
        question,
        summary,
        key_findings: arguments.finding,
        references: arguments.reference.into_iter().map(Reference::from).collect(),
        notes: arguments.notes,
        ..Handoff::default()
    };
    let path = researcher.write_handoff(handoff).map_err(|error| {
        let hint = error.hint();
        CliError::failed(error).hint(hint)
    })?;
    if arguments.question.json {
        return print::json(&json!({"artifactPath": path}));
    }
    print::line(path.display())
}

fn show(arguments: &Show) -> CliResult {
    let researcher = arguments.roots.researcher()?;
    let resumed = researcher.resume_handoff(arguments.name.as_deref()).map_err(resume_error)?;
    if arguments.json { print::json(&resumed) } else { print::text(&render(&resumed, wrap::width())) }
}

fn render(resumed: &ResumedHandoff, width: usize) -> String {
    let handoff = &resumed.handoff;
    let mut text = wrap::paragraph(&escape::text(&handoff.question), "", width);
    text.push('\n');
    text.push_str(&wrap::paragraph(&escape::text(&handoff.summary), "", width));
    if !handoff.key_findings.is_empty() {
        text.push('\n');
    }
    for finding in &handoff.key_findings {
        text.push_str(&wrap::paragraph(&escape::text(finding), "- ", width));
    }
    if !resumed.references.is_empty() {
        text.push_str("\nwhere to look:\n");
    }
    for (reference, standing) in &resumed.references {
        let state = match standing {
            ReferenceState::Unchanged => "",
            ReferenceState::Changed => "  (changed since)",
            ReferenceState::LineGone => "  (the line is gone)",
            ReferenceState::Missing => "  (not there)",
        };
        text.push_str(&format!("  {}{state}\n", escape::line(reference.as_str())));
    }
    if let Some(notes) = &handoff.notes {
        text.push('\n');
        text.push_str(&wrap::paragraph(&escape::text(notes), "note: ", width));
    }
    text.push_str(&format!("\n{}\n", escape::line(&resumed.path.to_string_lossy())));
    text
}

fn list(arguments: &List) -> CliResult {
    // Their folder does not depend on the roots.
    let config = startup::load(&ConfigEnvironment::of_process())?;
    let names = list_handoffs(&startup::artifacts(&config)).map_err(resume_error)?;
    if arguments.json {
        return print::json(&json!({"handoffs": names}));
    }
    if names.is_empty() {
        print::note("no handoffs yet; `tamis handoff create` writes one");
    }
    names.iter().try_for_each(|name| print::line(escape::line(name)))
}

fn resume_error(error: ResumeError) -> CliError {
    let hint = match &error {
        ResumeError::NoneThere { .. } => "`tamis handoff create` writes one",
        _ => "`tamis handoff list` lists them",
    };
    CliError::failed(error).hint(hint)
}
