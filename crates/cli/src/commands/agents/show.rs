use clap::Args;
use serde_json::{Value, json};
use tamis_agents::{AgentEvent, Feedback, Instance, InstanceDetails, InstanceId, Phase, Review};
use tamis_redact::Redacted;

use super::{data_folder::AgentsFolder, render};
use crate::error::CliResult;
use crate::table::{self, Align, Table};
use crate::{escape, print, wrap};

/// Maximum number of events shown.
const LAST_EVENTS: usize = 10;

/// Show an instance with its reviews, feedback and last events
#[derive(Args)]
pub(crate) struct Show {
    /// Id of the instance, as in `tamis agents list`
    id: InstanceId,
    /// Print JSON, with all events
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Show) -> CliResult {
    let archive = AgentsFolder::of_process()?.archive()?;
    let details = Redacted::new(archive.details(&arguments.id)?);
    let events = Redacted::new(archive.events(0, Some(&arguments.id), u32::MAX)?);
    if arguments.json {
        let mut value = json!(details);
        value["events"] = json!(events);
        return print::json(&value);
    }
    print::columns(&head(&details.instance))?;
    print::text(&body(&details, &events, wrap::width()))
}

fn head(instance: &Instance) -> Vec<[String; 2]> {
    let mut rows = Vec::new();
    let mut row = |name: &str, value: Option<String>| {
        rows.extend(value.filter(|value| !value.is_empty()).map(|value| [name.to_owned(), value]));
    };
    let path = |path: &std::path::Path| Some(escape::line(&path.to_string_lossy()));
    row("instance", Some(instance.id.to_string()));
    row("type", Some(instance.agent_type.to_string()));
    row("status", Some(instance.status.to_string()));
    row("reason", instance.reason.as_deref().map(escape::line));
    let title = instance.issue_title.as_deref().unwrap_or_default();
    row("issue", instance.issue.map(|issue| escape::line(format!("#{issue}  {title}").trim_end())));
    row("agent", Some(render::agent_with_arguments(instance)));
    row("repository", path(&instance.repository));
    row("branch", Some(escape::line(&instance.branch)));
    let commit = instance.base_commit.short();
    let base = instance.base_branch.as_deref().map(|branch| format!("{branch} at {commit}"));
    row("begun from", Some(escape::line(base.as_deref().unwrap_or(commit))));
    let worktree = escape::line(&instance.worktree.to_string_lossy());
    row(
        "worktree",
        Some(match instance.phase {
            Phase::Gone => "gone".to_owned(),
            Phase::Kept => format!("{worktree}  (kept)"),
            _ => worktree,
        }),
    );
    let lives = matches!(instance.phase, Phase::Preparing | Phase::Ready);
    row("session", lives.then(|| instance.session.clone()));
    row("exit code", instance.exit_code.map(|code| code.to_string()));
    let number = instance.pr_number.map(|number| format!("#{number}"));
    let pull_request: Vec<String> = number.into_iter().chain(instance.pr_url.clone()).collect();
    row("pull request", Some(escape::line(&pull_request.join("  "))));
    let rejected = print::count(instance.rejected_requests.into(), "request");
    row(
        "turned down",
        (instance.rejected_requests > 0).then(|| format!("{rejected} for review at the limit")),
    );
    row("started", Some(render::second(instance.created_at)));
    row("ended", instance.ended_at.map(render::second));
    rows
}

fn body(details: &InstanceDetails, events: &[AgentEvent], width: usize) -> String {
    let mut text = String::new();
    if !details.instance.task.trim().is_empty() {
        text.push_str(&format!("\ntask\n{}", indented(&details.instance.task)));
    }
    if !details.reviews.is_empty() {
        text.push_str(&format!("\n{}", reviews(&details.reviews).render(table::screen())));
    }
    for feedback in &details.feedback {
        text.push('\n');
        text.push_str(&of_feedback(feedback, width));
    }
    let last = &events[events.len().saturating_sub(LAST_EVENTS)..];
    if !last.is_empty() {
        text.push('\n');
    }
    for event in last {
        let line = format!("{}  {}", render::second(event.at), of_event(event));
        text.push_str(&table::screen().map_or(line.clone(), |screen| table::cut(&line, screen)));
        text.push('\n');
    }
    text
}

fn reviews(reviews: &[Review]) -> Table {
    let mut table = Table::new(&[
        ("REVIEW", Align::Right),
        ("OF", Align::Left),
        ("BY", Align::Left),
        ("COMMIT", Align::Left),
        ("BEGUN", Align::Left),
        ("OUTCOME", Align::Left),
    ]);
    for review in reviews {
        table.row([
            review.review_iteration.to_string(),
            review.parent_instance.to_string(),
            review.child_instance.to_string(),
            review.reviewed_commit.short().to_owned(),
            render::second(review.created_at),
            review.outcome.map_or_else(|| "under way".to_owned(), |outcome| outcome.to_string()),
        ]);
    }
    table
}

fn of_feedback(feedback: &Feedback, width: usize) -> String {
    let priority =
        feedback.priority.as_deref().map(|priority| format!(", priority {}", escape::line(priority)));
    let arrived = match (&feedback.git_commit_hash, &feedback.delivered_at) {
        (Some(commit), Some(at)) => format!(
            "in {} since {}, commit {}",
            escape::line(&feedback.path),
            render::second(*at),
            escape::line(commit.get(..12).unwrap_or(commit))
        ),
        _ => "not delivered yet".to_owned(),
    };
    let mut text = format!(
        "{} from {} to {}{}, {arrived}\n",
        feedback.feedback_type,
        feedback.review_instance,
        feedback.coding_instance,
        priority.unwrap_or_default()
    );
    text.push_str(&indented(&feedback.feedback));
    for item in &feedback.actionable_items {
        text.push_str(&wrap::paragraph(&escape::line(item), "  - ", width));
    }
    text
}

fn of_event(event: &AgentEvent) -> String {
    let mut words = Vec::new();
    words.extend(event.tool_name.clone());
    let statuses = event.status_before.zip(event.status_after);
    words.extend(statuses.map(|(before, after)| format!("{before} -> {after}")));
    words.extend(event.success.map(|success| if success { "done" } else { "failed" }.to_owned()));
    words.extend(event.error_code.clone());
    words.extend(event.git_commit.as_deref().map(|commit| commit.get(..12).unwrap_or(commit).to_owned()));
    if let Value::Object(members) = &event.detail {
        let member = |(name, value): (&String, &Value)| match value {
            Value::String(text) => format!("{name}: {text}"),
            other => format!("{name}: {other}"),
        };
        let members: Vec<String> = members.iter().map(member).collect();
        words.push(format!("({})", members.join(", ")));
    }
    format!("{:<16}  {}", event.kind.as_str(), escape::line(&words.join(" ")))
}

fn indented(text: &str) -> String {
    escape::text(text).lines().map(|line| format!("{}\n", format!("  {line}").trim_end())).collect()
}
