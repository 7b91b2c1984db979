//! One session: what is known of it without reading its log, and its analysis.

use serde::Serialize;
use tamis_logs::event::{EventKind, Millis};
use tamis_redact::{Redacted, excerpt};
use tamis_trace::{AnalysisOptions, Session, SessionAnalysis, Turn};

use crate::session_cost::{PageSessionModel, PageSessionTokens};
use crate::sessions::PageSessionRow;
use crate::{Dashboard, PageError};

/// Turns of one answer.
const MOST_TURNS: usize = 20_000;
const MOST_SUBAGENTS: usize = 500;
/// Characters of a tool's name.
const TOOL_CHARS: usize = 120;
/// Bytes of all insights of an analysis.
const ANALYSIS_BYTES: usize = 200_000;

/// One session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSession {
    /// Tokens and money include its subagents'.
    pub row: PageSessionRow,
    /// Enough of the id for a command.
    pub short_id: String,
    /// The version of the client.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub version: Option<Redacted>,
    /// The kind of subagent.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub agent: Option<Redacted>,
    /// `subagent` or `fork` of the session above it.
    pub relation: Option<&'static str>,
    pub parent: Option<PageSessionParent>,
    pub messages: u64,
    pub requests: u64,
    /// What it used, its subagents included.
    pub tokens: PageSessionTokens,
    /// What it used itself.
    pub own_tokens: u64,
    /// The dates of the prices.
    pub price_dates: Vec<String>,
    pub models: Vec<PageSessionModel>,
    pub tools: Vec<PageSessionTool>,
    /// Its subagents and forks.
    pub subagents: Vec<PageSubagent>,
    pub turns: Vec<PageTurn>,
}

/// The session that another comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSessionParent {
    pub id: String,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub title: Option<Redacted>,
}

/// How a tool was used in a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSessionTool {
    #[cfg_attr(test, ts(as = "String"))]
    pub name: Redacted,
    pub calls: u64,
    pub failed: u64,
    pub result_bytes: u64,
}

/// A session that comes from another.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSubagent {
    pub row: PageSessionRow,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub agent: Option<Redacted>,
    pub relation: Option<&'static str>,
}

/// A turn: a person's message and everything until the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageTurn {
    pub number: u64,
    pub first_event: u64,
    pub events: u64,
    pub at: Option<Millis>,
    pub ended: Option<Millis>,
    #[cfg_attr(test, ts(as = "String"))]
    pub prompt: Redacted,
    pub steps: u64,
    pub tool_calls: u64,
    pub failed: u64,
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub tools: Vec<Redacted>,
    pub tokens: u64,
    pub largest_context: u64,
}

/// What went wrong in a session, what it wasted, and how bad that is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSessionAnalysis {
    /// 100, less the points of all deductions.
    pub score: u64,
    pub deductions: Vec<PageDeduction>,
    /// The most severe first.
    pub insights: Vec<PageInsight>,
    pub insights_left_out: u64,
    pub declined: u64,
    pub largest_context: u64,
    pub compactions: u64,
    /// Output in a thousand tokens.
    pub output_per_mille: u64,
}

/// A part of the score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageDeduction {
    pub lens: String,
    pub what: &'static str,
    pub count: u64,
    pub points: u64,
}

/// One thing found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageInsight {
    /// `critical`, `warning` or `info`.
    pub severity: String,
    pub lens: String,
    #[cfg_attr(test, ts(as = "String"))]
    pub message: Redacted,
    pub turn: u64,
    pub event: u64,
}

impl Dashboard {
    pub fn session(&self, id: &str) -> Result<PageSession, PageError> {
        let trace = self.trace()?;
        self.session_cache.refresh(trace);
        let session = trace.session(id)?;
        let summary = &session.summary;
        let family = trace.family(&session)?;
        let subagents = trace.subagents(&session)?;
        let cost = self.cost_with(&session, &subagents)?;
        let shown = |child: &Session| -> Result<PageSubagent, PageError> {
            Ok(PageSubagent {
                row: self.session_row(child, &[])?,
                agent: child.summary.agent_name.as_deref().map(Redacted::from),
                relation: child.relation.map(|relation| relation.name()),
            })
        };
        let mut tools: Vec<PageSessionTool> = summary
            .tools
            .iter()
            .map(|(name, used)| PageSessionTool {
                name: excerpt(name, TOOL_CHARS),
                calls: used.calls,
                failed: used.failed,
                result_bytes: used.result_bytes,
            })
            .collect();
        tools.sort_by_key(|tool| std::cmp::Reverse(tool.calls));
        let parent = trace.parent_of(&session)?.map(|parent| PageSessionParent {
            title: parent.summary.title.or(parent.summary.snippet),
            id: parent.id,
        });
        Ok(PageSession {
            row: self.session_row(&session, &subagents)?,
            short_id: trace.short_id(&session.id)?,
            version: summary.version.as_deref().map(Redacted::from),
            agent: summary.agent_name.as_deref().map(Redacted::from),
            relation: session.relation.map(|relation| relation.name()),
            parent,
            messages: summary.count(EventKind::Message),
            requests: cost.requests(),
            tokens: cost.tokens().into(),
            own_tokens: session.own_tokens,
            price_dates: cost.price_dates(),
            models: cost.by_model(),
            tools,
            subagents: family.iter().take(MOST_SUBAGENTS).map(shown).collect::<Result<_, _>>()?,
            turns: trace.turns(&session, 0, MOST_TURNS)?.into_iter().map(PageTurn::from).collect(),
        })
    }

    pub fn session_analysis(&self, id: &str) -> Result<PageSessionAnalysis, PageError> {
        let session = self.trace()?.session(id)?;
        let analysis = self.analysis_of(&session)?;
        let SessionAnalysis { score, deductions, insights, insights_left_out, summary, .. } = &*analysis;
        let deduction = |part: &tamis_trace::Deduction| PageDeduction {
            lens: snake_case(&format!("{:?}", part.lens)),
            what: part.what,
            count: part.count,
            points: part.points,
        };
        let insight = |insight: &tamis_trace::Insight| PageInsight {
            severity: snake_case(&format!("{:?}", insight.severity)),
            lens: snake_case(&format!("{:?}", insight.lens)),
            message: insight.message.clone(),
            turn: insight.turn_index,
            event: insight.event_index,
        };
        Ok(PageSessionAnalysis {
            score: *score,
            deductions: deductions.iter().map(deduction).collect(),
            insights: insights.iter().map(insight).collect(),
            insights_left_out: insights_left_out.total(),
            declined: summary.declined_tool_calls,
            largest_context: summary.largest_context,
            compactions: summary.compactions,
            output_per_mille: summary.output_per_mille,
        })
    }

    /// The analysis through all lenses, of the session without its subagents.
    pub(crate) fn analysis_of(
        &self,
        session: &Session,
    ) -> Result<std::sync::Arc<SessionAnalysis>, PageError> {
        let options = AnalysisOptions {
            failures: true,
            loops: true,
            more_lenses: true,
            subagents: false,
            most_bytes: ANALYSIS_BYTES,
        };
        let trace = self.trace()?;
        let analyze = || trace.analyze(session, &options, &|| false);
        Ok(self.session_cache.analysis(&session.id, session.summary.events, analyze)?)
    }
}

impl From<Turn> for PageTurn {
    fn from(turn: Turn) -> PageTurn {
        PageTurn {
            number: turn.number,
            first_event: turn.first_event,
            events: turn.events,
            at: turn.at,
            ended: turn.ended,
            prompt: turn.preview,
            steps: turn.steps,
            tool_calls: turn.tool_calls,
            failed: turn.failed_tools,
            tools: turn.tools.into_iter().collect(),
            tokens: turn.tokens.total(),
            largest_context: turn.largest_context,
        }
    }
}

/// `ContextGrowth` as `context_growth`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
