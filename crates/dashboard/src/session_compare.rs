//! Two sessions side by side.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tamis_logs::event::EventKind;
use tamis_redact::{Redacted, excerpt};
use tamis_trace::{Session, ToolStats};

use crate::session_cost::PageSessionTokens;
use crate::sessions::PageSessionRow;
use crate::{Dashboard, PageError};

const TOOL_CHARS: usize = 120;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageCompareQuery {
    pub a: String,
    pub b: String,
}

/// Two sessions side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageComparison {
    pub sides: [PageComparedSession; 2],
    /// Those that were used most differently first.
    pub tools: Vec<PageComparedTool>,
}

/// One of the two. Tokens, requests and money include its subagents'.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageComparedSession {
    pub row: PageSessionRow,
    pub messages: u64,
    pub requests: u64,
    pub tokens: PageSessionTokens,
    pub largest_context: u64,
    pub compactions: u64,
    /// Of 100.
    pub score: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageComparedTool {
    #[cfg_attr(test, ts(as = "String"))]
    pub name: Redacted,
    pub calls: [u64; 2],
    pub failed: [u64; 2],
    pub result_bytes: [u64; 2],
}

impl Dashboard {
    pub fn compare_sessions(&self, query: &PageCompareQuery) -> Result<PageComparison, PageError> {
        let trace = self.trace()?;
        let (one, other) = (trace.session(&query.a)?, trace.session(&query.b)?);
        Ok(PageComparison {
            sides: [self.compared(&one)?, self.compared(&other)?],
            tools: compared_tools(&one, &other),
        })
    }

    fn compared(&self, session: &Session) -> Result<PageComparedSession, PageError> {
        let subagents = self.trace()?.subagents(session)?;
        let cost = self.cost_with(session, &subagents)?;
        let analysis = self.analysis_of(session)?;
        Ok(PageComparedSession {
            row: self.session_row(session, &subagents)?,
            messages: session.summary.count(EventKind::Message),
            requests: cost.requests(),
            tokens: cost.tokens().into(),
            largest_context: analysis.summary.largest_context,
            compactions: analysis.summary.compactions,
            score: analysis.score,
        })
    }
}

fn compared_tools(one: &Session, other: &Session) -> Vec<PageComparedTool> {
    let of = |session: &Session, name: &str| -> ToolStats {
        session.summary.tools.get(name).copied().unwrap_or_default()
    };
    let names: BTreeSet<&String> = one.summary.tools.keys().chain(other.summary.tools.keys()).collect();
    let mut tools: Vec<PageComparedTool> = names
        .into_iter()
        .map(|name| {
            let used = [of(one, name), of(other, name)];
            PageComparedTool {
                name: excerpt(name, TOOL_CHARS),
                calls: used.map(|used| used.calls),
                failed: used.map(|used| used.failed),
                result_bytes: used.map(|used| used.result_bytes),
            }
        })
        .collect();
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.calls[0].abs_diff(tool.calls[1])));
    tools
}
