//! One instance: reviews, feedback, events and the end of its output.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tamis_agents::{AgentEvent, AgentsError, Code, Feedback, InstanceId, Tmux, log_file, plain_text};
use tamis_logs::event::Millis;
use tamis_redact::Redacted;

use super::list::{PageCoordination, PageReviewLimits, PageReviewUse};
use super::{PageInstance, PageReview, parse_id};
use crate::{Dashboard, PageError, PageErrorKind};

/// Maximum and default number of events in an answer.
const MOST_EVENTS: u32 = 200;
const DEFAULT_EVENTS: u32 = 50;

/// Characters of one part of an event's detail.
const LONGEST_DETAIL: usize = 2000;

/// Lines of output, and how much of the log is read for them. The rest is what a secret at the beginning may be recognised by.
const MOST_LINES: usize = 2000;
const DEFAULT_LINES: usize = 300;
const LOG_TAIL: u64 = 512 << 10;

/// One instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageAgent {
    pub agent: PageInstance,
    /// The reviews of its work, first to last; for a reviewer, those of the agent that it reviews.
    pub reviews: Vec<PageReview>,
    /// Feedback to it, or by it, first to last.
    pub feedback: Vec<PageFeedback>,
    /// For a reviewer: the agent that it reviews.
    pub coding: Option<PageInstance>,
    pub used: PageReviewUse,
    pub limits: PageReviewLimits,
    pub coordination: PageCoordination,
    /// The command that attaches a terminal, while its agent should be running.
    pub attach: Option<String>,
}

/// Feedback of a reviewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageFeedback {
    pub id: String,
    #[cfg_attr(test, ts(as = "String"))]
    pub reviewer: InstanceId,
    #[cfg_attr(test, ts(as = "String"))]
    pub coding: InstanceId,
    pub iteration: u32,
    #[cfg_attr(test, ts(type = "'needs_work' | 'suggestions' | 'clarification'"))]
    pub wants: &'static str,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub priority: Option<Redacted>,
    #[cfg_attr(test, ts(as = "String"))]
    pub text: Redacted,
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub items: Vec<Redacted>,
    /// The file that it arrives as, relative to the worktree.
    #[cfg_attr(test, ts(as = "String"))]
    pub path: Redacted,
    pub commit: Option<String>,
    pub created: Millis,
    pub delivered: Option<Millis>,
    /// When the coding agent was notified in its session.
    pub notified: Option<Millis>,
}

/// Which events of an instance.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentEventQuery {
    /// Events before this one; the latest without it.
    pub before: Option<i64>,
    pub limit: Option<u32>,
}

/// Events of an instance, latest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageAgentEvents {
    pub events: Vec<PageAgentEvent>,
    /// Pass it as `before` for the events before these. None: there are none.
    pub before: Option<i64>,
}

/// Something that happened to an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageAgentEvent {
    pub seq: i64,
    pub at: Millis,
    #[cfg_attr(
        test,
        ts(type = "'instance_created' | 'status_changed' | 'tool_called' | 'repaired' | 'config_changed'")
    )]
    pub kind: &'static str,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub tool: Option<Redacted>,
    pub success: Option<bool>,
    pub before: Option<&'static str>,
    pub after: Option<&'static str>,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub commit: Option<Redacted>,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub error: Option<Redacted>,
    pub details: Vec<PageEventDetail>,
}

/// A part of what an event recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageEventDetail {
    #[cfg_attr(test, ts(as = "String"))]
    pub name: Redacted,
    #[cfg_attr(test, ts(as = "String"))]
    pub value: Redacted,
}

/// How much of an instance's output.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentLogQuery {
    pub lines: Option<usize>,
}

/// The end of an instance's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageAgentLog {
    /// The screen of its session, or the log that was kept.
    #[cfg_attr(test, ts(type = "'screen' | 'log' | 'none'"))]
    pub source: &'static str,
    #[cfg_attr(test, ts(as = "String"))]
    pub text: Redacted,
    /// There is more before it.
    pub is_cut: bool,
    /// Whether its agent runs now.
    pub is_running: bool,
    pub exit_code: Option<i32>,
}

impl PageFeedback {
    fn new(feedback: Feedback) -> PageFeedback {
        PageFeedback {
            id: feedback.id,
            reviewer: feedback.review_instance,
            coding: feedback.coding_instance,
            iteration: feedback.review_iteration,
            wants: feedback.feedback_type.as_str(),
            priority: feedback.priority.map(Redacted::from),
            text: feedback.feedback.into(),
            items: feedback.actionable_items.into_iter().map(Redacted::from).collect(),
            path: feedback.path.into(),
            commit: feedback.git_commit_hash,
            created: feedback.created_at.0,
            delivered: feedback.delivered_at.map(|at| at.0),
            notified: feedback.told_at.map(|at| at.0),
        }
    }
}

impl PageAgentEvent {
    fn new(event: AgentEvent) -> PageAgentEvent {
        let mut event = Redacted::new(event).into_inner();
        let details = match event.detail.take() {
            Value::Object(members) => members
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| {
                    let value = match value {
                        Value::String(text) => text,
                        other => other.to_string(),
                    };
                    PageEventDetail {
                        name: name.into(),
                        value: Redacted::from(value).shorten(LONGEST_DETAIL),
                    }
                })
                .collect(),
            _ => Vec::new(),
        };
        PageAgentEvent {
            seq: event.seq,
            at: event.at.0,
            kind: event.kind.as_str(),
            tool: event.tool_name.map(Redacted::from),
            success: event.success,
            before: event.status_before.map(|status| status.as_str()),
            after: event.status_after.map(|status| status.as_str()),
            commit: event.git_commit.map(Redacted::from),
            error: event.error_code.map(Redacted::from),
            details,
        }
    }
}

impl Dashboard {
    pub fn agent(&self, id: &str) -> Result<PageAgent, PageError> {
        let id = parse_id(id)?;
        let service = self.agent_service()?;
        let archive = service.archive()?;
        let details = archive.details(&id).map_err(found)?;
        let parent = details.reviews.iter().find(|review| review.child_instance == id);
        let family = match parent {
            Some(review) => Some(archive.details(&review.parent_instance)?),
            None => None,
        };
        let (reviews, coding) = match family {
            Some(family) => {
                let reviews = family.reviews.iter().map(|it| PageReview::new(it, &family.feedback)).collect();
                (reviews, Some(PageInstance::new(family.instance)))
            }
            None => {
                let reviews = details.reviews.iter().map(|it| PageReview::new(it, &details.feedback));
                (reviews.collect::<Vec<_>>(), None)
            }
        };
        let agent = PageInstance::new(details.instance);
        let attach = (agent.is_live && agent.phase == "ready").then(|| format!("tamis agents attach {id}"));
        Ok(PageAgent {
            used: PageReviewUse::of(coding.as_ref().unwrap_or(&agent), &reviews),
            limits: PageReviewLimits::read(&archive)?,
            coordination: PageCoordination::of(service),
            feedback: details.feedback.into_iter().map(PageFeedback::new).collect(),
            attach,
            agent,
            reviews,
            coding,
        })
    }

    pub fn agent_events(&self, id: &str, query: &AgentEventQuery) -> Result<PageAgentEvents, PageError> {
        let id = parse_id(id)?;
        let limit = query.limit.unwrap_or(DEFAULT_EVENTS).clamp(1, MOST_EVENTS);
        let mut events = self.agent_service()?.archive()?.events_before(query.before, &id, limit + 1)?;
        let has_more = events.len() > limit as usize;
        events.truncate(limit as usize);
        let before = events.last().filter(|_| has_more).map(|event| event.seq);
        Ok(PageAgentEvents { events: events.into_iter().map(PageAgentEvent::new).collect(), before })
    }

    pub fn agent_log(&self, id: &str, query: &AgentLogQuery) -> Result<PageAgentLog, PageError> {
        let id = parse_id(id)?;
        let service = self.agent_service()?;
        service.archive()?.instance(&id).map_err(found)?;
        let lines = query.lines.unwrap_or(DEFAULT_LINES).clamp(1, MOST_LINES);
        let data_dir = &service.settings().coordinator.data_dir;
        let tmux = Tmux::for_data_folder(data_dir.root())?;
        // Without tmux there is no session, and the log is all there is.
        let session = tmux.session(&id).ok().flatten();
        let screen = session.as_ref().and_then(|_| tmux.capture(&id, MOST_LINES + 1).ok());
        let (source, text, is_cut) = match screen {
            Some(screen) => ("screen", screen, false),
            None => match read_tail(&log_file(data_dir, &id)) {
                Some((text, is_cut)) => ("log", text, is_cut),
                None => ("none", String::new(), false),
            },
        };
        let text = Redacted::from(text);
        let (text, is_shortened) = last_lines(&text, lines);
        Ok(PageAgentLog {
            source,
            text,
            is_cut: is_cut || is_shortened,
            is_running: session.as_ref().is_some_and(|session| session.alive),
            exit_code: session.and_then(|session| session.exit_code),
        })
    }
}

/// An instance that does not exist has a status of its own.
pub(super) fn found(error: AgentsError) -> PageError {
    let kind = match error.code {
        Code::InstanceNotFound => Some(PageErrorKind::NotFound),
        Code::ValidationError => Some(PageErrorKind::Invalid),
        _ => None,
    };
    let error = PageError::from(error);
    PageError { kind: kind.unwrap_or(error.kind), ..error }
}

/// The end of a log without terminal control sequences, and whether there is more before it. None when there is no log.
fn read_tail(path: &std::path::Path) -> Option<(String, bool)> {
    let mut file = File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    let start = size.saturating_sub(LOG_TAIL);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(LOG_TAIL).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    // A line that is not whole may begin inside an escape sequence.
    let text = if start > 0 { text.split_once('\n').map_or("", |(_, rest)| rest) } else { &*text };
    let lines = plain_text(text);
    // A screen that is drawn has far more empty lines than others.
    let lines: Vec<&str> = lines.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    Some((lines.join("\n"), start > 0))
}

/// The last lines of a text, and whether that are not all.
fn last_lines(text: &Redacted, most: usize) -> (Redacted, bool) {
    match text.rmatch_indices('\n').nth(most.saturating_sub(1)) {
        Some((at, _)) => (text[at + 1..].into(), true),
        None => (text.clone(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_log_is_plain_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.log");
        assert_eq!(read_tail(&path), None);
        std::fs::write(&path, "\u{1b}[31mred\u{1b}[0m\r\n\n \u{1b}]0;title\u{7}two\u{8}\n").unwrap();
        assert_eq!(read_tail(&path), Some(("red\n two".to_owned(), false)));
        let long = format!("first\n{}last\n", "line\n".repeat(200_000));
        std::fs::write(&path, long).unwrap();
        let (text, is_cut) = read_tail(&path).unwrap();
        assert!(is_cut && text.starts_with("line\n") && text.ends_with("\nlast"));
    }

    #[test]
    fn the_last_lines_are_counted_from_the_end() {
        let last = |text: &str, most| {
            let (text, is_cut) = last_lines(&text.into(), most);
            (text.into_inner(), is_cut)
        };
        assert_eq!(last("a\nb\nc", 2), ("b\nc".to_owned(), true));
        assert_eq!(last("a\nb\nc", 3), ("a\nb\nc".to_owned(), false));
        assert_eq!(last("", 1), (String::new(), false));
    }
}
