//! What went wrong in a session, what it wasted, and how bad that is, from one pass over its events.
//!
//! The score begins at 100; what each finding costs is in one list (`rules`), and the parts are shown with the score.

mod calls;
mod failures;
mod findings;
mod loops;
mod reads;
mod recent;
mod rules;
mod slow;
mod spending;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde::Serialize;
use tamis_logs::event::{EventBody, EventKind, EventStream, LogEvent};
use tamis_logs::usage::Tokens;

use crate::error::TraceError;
use crate::session::Session;
use crate::step_boundaries::is_act;
use crate::trace::Trace;
use calls::Answered;
use calls::Called;
use findings::{Findings, Spot};
pub use findings::{Insight, OmittedInsights, Severity};
pub use rules::{Deduction, Lens};

/// What an analysis looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalysisOptions {
    pub failures: bool,
    pub loops: bool,
    /// Whether to look through the lenses that the contract does not name, too.
    pub more_lenses: bool,
    /// Whether the sessions of its subagents are analysed, too.
    pub subagents: bool,
    /// Bytes of the analysis as JSON; insights beyond are left out, the least severe first.
    pub most_bytes: usize,
}

impl Default for AnalysisOptions {
    fn default() -> AnalysisOptions {
        AnalysisOptions {
            failures: true,
            loops: false,
            more_lenses: false,
            subagents: false,
            most_bytes: 4_600,
        }
    }
}

/// A session, diagnosed. As JSON it has the contract's shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionAnalysis {
    /// 100, less the points of all deductions.
    pub score: u64,
    pub deductions: Vec<Deduction>,
    /// The most severe first, then in the order of the session.
    pub insights: Vec<Insight>,
    pub insights_left_out: OmittedInsights,
    /// What was checked. The rest costs no points.
    pub lenses: Vec<Lens>,
    pub summary: AnalysisSummary,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AnalysisSummary {
    pub event_counts: EventCounts,
    pub turns: u64,
    /// Whose events are counted: the session's own, and its subagents' if requested.
    pub sessions: u64,
    pub failed_tool_calls: u64,
    /// What the user declined is not a failure.
    pub declined_tool_calls: u64,
    pub tokens: Tokens,
    pub requests: u64,
    /// Output in a thousand tokens.
    pub output_per_mille: u64,
    pub largest_context: u64,
    pub compactions: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EventCounts {
    pub assistant_messages: u64,
    pub tool_calls: u64,
    pub tool_results: u64,
    /// What begins turns, slash commands included: prompts of subagents in the same log are not a person's.
    pub user_messages: u64,
    /// Of the user's messages.
    pub slash_commands: u64,
    pub reasoning: u64,
    pub token_usage: u64,
    pub notifications: u64,
    pub summaries: u64,
}

impl EventCounts {
    fn add(&mut self, kind: EventKind, stream: EventStream) {
        if kind.begins_turn() && stream == EventStream::Sidechain {
            return;
        }
        if kind == EventKind::SlashCommand {
            self.user_messages += 1;
        }
        *match kind {
            EventKind::User => &mut self.user_messages,
            EventKind::Message => &mut self.assistant_messages,
            EventKind::Reasoning => &mut self.reasoning,
            EventKind::ToolCall => &mut self.tool_calls,
            EventKind::ToolResult => &mut self.tool_results,
            EventKind::TokenUsage => &mut self.token_usage,
            EventKind::Notification => &mut self.notifications,
            EventKind::SlashCommand => &mut self.slash_commands,
            EventKind::Summary => &mut self.summaries,
        } += 1;
    }
}

impl Trace {
    /// Diagnoses a session; cancelled as soon as `broken_off` returns true, which is checked at every event.
    pub fn analyze(
        &self,
        session: &Session,
        options: &AnalysisOptions,
        broken_off: &dyn Fn() -> bool,
    ) -> Result<SessionAnalysis, TraceError> {
        let mut sum = Sum::default();
        self.examine(session, options, broken_off, &mut sum)?;
        if options.subagents {
            for subagent in self.subagents(session)? {
                sum.findings.session = Some(self.short_id(&subagent.id)?);
                self.examine(&subagent, options, broken_off, &mut sum)?;
            }
        }
        Ok(sum.into_analysis(options))
    }

    fn examine(
        &self,
        session: &Session,
        options: &AnalysisOptions,
        broken_off: &dyn Fn() -> bool,
        sum: &mut Sum,
    ) -> Result<(), TraceError> {
        let mut examination = Examination::new(options, &mut sum.summary);
        let mut ended = broken_off();
        if !ended {
            self.events(session, 0, &mut |number, event| {
                examination.take(number, event);
                ended = broken_off();
                if ended { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
        }
        if ended {
            return Err(TraceError::Cancelled);
        }
        examination.finish(&mut sum.findings);
        // As lists and turns count them: an earlier session has used these.
        let inherited = self.inherited_requests(session)?;
        let summary = &mut sum.summary;
        summary.requests = summary.requests.saturating_sub(inherited.len() as u64);
        summary.tokens =
            inherited.iter().fold(summary.tokens, |tokens, request| tokens.minus(request.tokens));
        Ok(())
    }
}

/// The totals of the analysed sessions.
#[derive(Default)]
struct Sum {
    findings: Findings,
    summary: AnalysisSummary,
}

/// Calls whose results have not come, of which this many are remembered.
const MOST_OPEN_CALLS: usize = 256;

/// One session, while it is read.
struct Examination<'s> {
    summary: &'s mut AnalysisSummary,
    turn: Option<u64>,
    open: Vec<Called>,
    failures: Option<failures::Failures>,
    loops: Option<loops::Loops>,
    reads: Option<reads::Reads>,
    slow: Option<slow::Slow>,
    spending: spending::Spending,
}

impl Examination<'_> {
    fn new<'s>(options: &AnalysisOptions, summary: &'s mut AnalysisSummary) -> Examination<'s> {
        Examination {
            summary,
            turn: None,
            open: Vec::new(),
            failures: options.failures.then(Default::default),
            loops: options.loops.then(Default::default),
            reads: options.more_lenses.then(Default::default),
            slow: options.more_lenses.then(Default::default),
            spending: spending::Spending::new(options.more_lenses),
        }
    }

    fn take(&mut self, number: u64, event: &LogEvent<'_>) {
        let kind = event.kind();
        self.summary.event_counts.add(kind, event.stream);
        // As the index numbers turns.
        if kind.begins_turn() && event.stream != EventStream::Sidechain || self.turn.is_none() && is_act(kind)
        {
            self.turn = Some(self.turn.map_or(0, |turn| turn + 1));
        }
        let spot = Spot { turn: self.turn.unwrap_or(0), event: number };
        match &event.body {
            EventBody::ToolCall(call) => {
                let called = Called::new(call, spot, event.at, event.stream);
                if let Some(failures) = &mut self.failures {
                    failures.called(&called);
                }
                if let Some(loops) = &mut self.loops {
                    loops.called(&called);
                }
                if self.open.len() == MOST_OPEN_CALLS {
                    self.open.remove(0);
                }
                self.open.push(called);
            }
            EventBody::ToolResult(result) => {
                let of = self.open.iter().position(|call| call.id.as_deref() == result.id.as_deref());
                if let Some(index) = of {
                    let call = self.open.remove(index);
                    self.answered(&Answered::new(&call, result, spot, event.at));
                } else {
                    let failed = result.tool_failed();
                    self.summary.failed_tool_calls += u64::from(failed);
                    self.summary.declined_tool_calls += u64::from(result.is_declined());
                    if let Some(failures) = self.failures.as_mut().filter(|_| failed) {
                        failures.failed_without_call(spot);
                    }
                }
            }
            EventBody::TokenUsage(report) => {
                let compacted = self.spending.report(report, spot, event.at, event.stream);
                if compacted && let Some(reads) = &mut self.reads {
                    reads.compacted();
                }
            }
            EventBody::Compaction(_) if event.stream != EventStream::Sidechain => {
                self.spending.compacted();
                if let Some(reads) = &mut self.reads {
                    reads.compacted();
                }
            }
            _ => {}
        }
    }

    fn answered(&mut self, answer: &Answered<'_>) {
        self.summary.failed_tool_calls += u64::from(answer.failed);
        self.summary.declined_tool_calls += u64::from(answer.declined);
        if let Some(failures) = &mut self.failures {
            failures.answered(answer);
        }
        if let Some(loops) = &mut self.loops {
            loops.answered(answer);
        }
        if let Some(reads) = &mut self.reads {
            reads.answered(answer);
        }
        if let Some(slow) = &mut self.slow {
            slow.answered(answer);
        }
        self.spending.answered(answer);
    }

    fn finish(self, findings: &mut Findings) {
        let summary = self.summary;
        if let Some(failures) = self.failures {
            failures.finish(findings);
        }
        if let Some(loops) = self.loops {
            loops.finish(findings);
        }
        if let Some(reads) = self.reads {
            reads.finish(findings);
        }
        if let Some(slow) = self.slow {
            slow.finish(findings);
        }
        let context = self.spending.finish(findings);
        summary.turns += self.turn.map_or(0, |last| last + 1);
        summary.sessions += 1;
        summary.tokens = summary.tokens.plus(context.tokens);
        summary.requests += context.requests;
        summary.largest_context = summary.largest_context.max(context.largest_context);
        summary.compactions += context.compactions;
    }
}

impl Sum {
    fn into_analysis(self, options: &AnalysisOptions) -> SessionAnalysis {
        let Sum { findings: Findings { counts, insights, left_out, .. }, mut summary } = self;
        summary.output_per_mille =
            summary.tokens.output.saturating_mul(1_000) / summary.tokens.total().max(1);
        let deductions = rules::deductions(&counts, summary.event_counts.tool_calls);
        let lost: u64 = deductions.iter().map(|part| part.points).sum();
        let looked = |lens: &&Lens| match lens {
            Lens::Failures => options.failures,
            Lens::Loops => options.loops,
            Lens::TokenUsage => true,
            Lens::SlowSteps | Lens::RepeatedReads | Lens::ContextGrowth => options.more_lenses,
        };
        let mut analysis = SessionAnalysis {
            score: 100_u64.saturating_sub(lost),
            deductions,
            insights,
            insights_left_out: left_out,
            lenses: Lens::ALL.iter().filter(looked).copied().collect(),
            summary,
        };
        analysis.fit(options.most_bytes);
        analysis
    }
}

impl SessionAnalysis {
    /// Leaves out the least severe insights until the rest fits. Of each lens the most severe stays before any other, and
    /// then lenses take turns, so that many of one kind do not push out the others.
    fn fit(&mut self, most_bytes: usize) {
        let mut insights = std::mem::take(&mut self.insights);
        insights.sort_by_key(|insight| insight.severity);
        let mut by_lens: BTreeMap<Lens, u64> = BTreeMap::new();
        let mut of_severity: BTreeMap<(Severity, Lens), u64> = BTreeMap::new();
        let mut ranked: Vec<_> = insights
            .into_iter()
            .map(|insight| {
                let before = by_lens.entry(insight.lens).or_default();
                let rank = of_severity.entry((insight.severity, insight.lens)).or_default();
                *before += 1;
                *rank += 1;
                ((*before > 1, insight.severity, *rank), insight)
            })
            .collect();
        ranked.sort_by_key(|(place, _)| *place);
        // The counts of what is left out may grow by some digits.
        let mut bytes = json_size(self) + 12;
        for (_, insight) in ranked {
            bytes += json_size(&insight) + 1;
            if bytes <= most_bytes {
                self.insights.push(insight);
            } else {
                self.insights_left_out.add(insight.severity);
            }
        }
        // The session's own before its subagents', since `None` comes first.
        self.insights.sort_by(|one, other| one.place().cmp(&other.place()));
    }
}

fn json_size(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}
