//! All instances: each coding or planning agent with its reviews.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tamis_agents::{AGENTS, AgentChoice, AgentType, Archive, Instance, Status, lock_holder};
use tamis_coordinator::AgentService;
use tamis_logs::event::Millis;
use tamis_redact::Redacted;

use super::{PageInstance, PageReview};
use crate::{Dashboard, PageError};

/// Maximum and default number of families in an answer.
const MOST: usize = 500;
const DEFAULT: usize = 100;

/// Repositories that are offered for a new agent.
const MOST_REPOSITORIES: usize = 20;

/// Which instances, and how many.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentListQuery {
    pub state: Option<AgentState>,
    /// Words of its id, task, issue, repository or branch.
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub offset: usize,
    pub limit: Option<usize>,
}

/// The column that an instance is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    Working,
    InReview,
    PullRequest,
    Ended,
}

impl AgentState {
    fn of(status: Status) -> AgentState {
        match status {
            Status::Started => AgentState::Working,
            Status::WaitingReview => AgentState::InReview,
            Status::PrCreated => AgentState::PullRequest,
            Status::PrMerged | Status::PrClosed | Status::Abandoned | Status::Terminated => AgentState::Ended,
        }
    }
}

/// All instances that were requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageAgents {
    /// Those at work first, then by their last change.
    pub families: Vec<PageFamily>,
    /// The number that fits the request, with those that are not in this answer.
    pub total: usize,
    /// Of all, whatever was requested.
    pub counts: PageAgentCounts,
    pub limits: PageReviewLimits,
    pub coordination: PageCoordination,
    /// What a new agent can be, the default first.
    pub agents: Vec<&'static str>,
    /// Repositories that agents worked in, the latest first.
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub repositories: Vec<Redacted>,
    /// The number of the last event, for the live connection.
    pub last_event: i64,
}

/// A coding or planning agent with its reviews, first to last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageFamily {
    pub agent: PageInstance,
    pub state: AgentState,
    pub reviews: Vec<PageReview>,
    pub used: PageReviewUse,
}

/// How much of the review limits an agent has used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageReviewUse {
    pub iterations: u32,
    /// Reviews without a pull request, and requests that were refused at the limit.
    pub failed: u64,
    /// When the running review began.
    pub reviewing_since: Option<Millis>,
}

/// The number of instances in each column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageAgentCounts {
    pub working: usize,
    pub in_review: usize,
    pub pull_request: usize,
    pub ended: usize,
}

/// The limits of the review loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageReviewLimits {
    pub max_iterations: u64,
    pub auto_abandon_after: u64,
    pub timeout_hours: u64,
    pub default_max_iterations: u64,
    pub default_auto_abandon_after: u64,
    pub default_timeout_hours: u64,
}

/// Which process coordinates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageCoordination {
    /// This server does.
    pub is_here: bool,
    /// The address of the one that does, if it is another.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub elsewhere: Option<Redacted>,
}

impl PageReviewLimits {
    pub(super) fn read(archive: &Archive) -> Result<PageReviewLimits, PageError> {
        let mut limits = PageReviewLimits::default();
        for setting in archive.config()? {
            let (value, default) = match setting.key {
                "review.max_iterations" => (&mut limits.max_iterations, &mut limits.default_max_iterations),
                "review.auto_abandon_after" => {
                    (&mut limits.auto_abandon_after, &mut limits.default_auto_abandon_after)
                }
                "review.timeout_hours" => (&mut limits.timeout_hours, &mut limits.default_timeout_hours),
                _ => continue,
            };
            *value = setting.value.parse().unwrap_or_default();
            *default = setting.default.parse().unwrap_or_default();
        }
        Ok(limits)
    }
}

impl PageReviewUse {
    pub(super) fn of(instance: &PageInstance, reviews: &[PageReview]) -> PageReviewUse {
        let failed = reviews.iter().filter(|it| it.outcome.is_some_and(|outcome| outcome != "approved"));
        PageReviewUse {
            iterations: reviews.iter().map(|review| review.iteration).max().unwrap_or_default(),
            failed: failed.count() as u64 + u64::from(instance.rejected_requests),
            reviewing_since: reviews.iter().find(|it| it.outcome.is_none()).map(|review| review.created),
        }
    }
}

impl PageCoordination {
    pub(super) fn of(service: &AgentService) -> PageCoordination {
        let is_here = service.is_leader();
        let holder = lock_holder(&service.settings().coordinator.data_dir).filter(|_| !is_here);
        PageCoordination { is_here, elsewhere: holder.map(|holder| holder.url.into()) }
    }
}

impl Dashboard {
    pub fn agents(&self, query: &AgentListQuery) -> Result<PageAgents, PageError> {
        let service = self.agent_service()?;
        let archive = service.archive()?;
        let last_event = archive.last_event()?;
        let mut instances = archive.instances()?;
        // Reviewers are shown with the agent that they review.
        instances.retain(|instance| instance.agent_type != AgentType::Review);
        let mut counts = PageAgentCounts::default();
        for instance in &instances {
            *match AgentState::of(instance.status) {
                AgentState::Working => &mut counts.working,
                AgentState::InReview => &mut counts.in_review,
                AgentState::PullRequest => &mut counts.pull_request,
                AgentState::Ended => &mut counts.ended,
            } += 1;
        }
        instances.sort_by_key(|instance| {
            (!instance.status.is_live(), std::cmp::Reverse((instance.updated_at, instance.id.to_string())))
        });
        let repositories = repositories(&instances);
        let words: Vec<String> = query.text.split_whitespace().map(str::to_lowercase).collect();
        instances.retain(|instance| {
            query.state.is_none_or(|state| AgentState::of(instance.status) == state)
                && has_words(instance, &words)
        });
        let total = instances.len();
        let limit = query.limit.unwrap_or(DEFAULT).min(MOST);
        let mut families = Vec::new();
        for instance in instances.into_iter().skip(query.offset).take(limit) {
            let details = archive.details(&instance.id)?;
            let reviews: Vec<PageReview> =
                details.reviews.iter().map(|review| PageReview::new(review, &details.feedback)).collect();
            let state = AgentState::of(instance.status);
            let agent = PageInstance::new(instance);
            let used = PageReviewUse::of(&agent, &reviews);
            families.push(PageFamily { agent, state, reviews, used });
        }
        Ok(PageAgents {
            families,
            total,
            counts,
            limits: PageReviewLimits::read(&archive)?,
            coordination: PageCoordination::of(service),
            agents: agents(&archive)?,
            repositories,
            last_event,
        })
    }
}

/// The known agents, the configured default first, and last a command.
fn agents(archive: &Archive) -> Result<Vec<&'static str>, PageError> {
    let config = archive.config()?;
    let default = config.iter().find(|setting| setting.key == "agent.default").map(|it| it.value.as_str());
    let mut agents = AGENTS.to_vec();
    agents.sort_by_key(|agent| Some(*agent) != default);
    agents.push(AgentChoice::COMMAND);
    Ok(agents)
}

fn repositories(instances: &[Instance]) -> Vec<Redacted> {
    let mut seen = BTreeSet::new();
    let mut latest: Vec<&Instance> = instances.iter().collect();
    latest.sort_by_key(|instance| std::cmp::Reverse(instance.created_at));
    latest
        .into_iter()
        .filter(|instance| seen.insert(&instance.repository))
        .take(MOST_REPOSITORIES)
        .map(|instance| instance.repository.to_string_lossy().into_owned().into())
        .collect()
}

/// Whether all words are in what is shown of an instance.
fn has_words(instance: &Instance, words: &[String]) -> bool {
    if words.is_empty() {
        return true;
    }
    let issue = instance.issue.map(|issue| format!("#{issue}")).unwrap_or_default();
    let text = [
        instance.id.as_str(),
        &instance.task,
        instance.issue_title.as_deref().unwrap_or_default(),
        &issue,
        &instance.repository.to_string_lossy(),
        &instance.branch,
        &instance.choice.agent,
    ]
    .join("\n");
    // What is redacted cannot be searched for, letter by letter.
    let text = Redacted::from(text).to_lowercase();
    words.iter().all(|word| text.contains(word.as_str()))
}
