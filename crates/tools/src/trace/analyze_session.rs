//! `analyze_session`: what went wrong in a session, with a score.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tamis_trace::AnalysisOptions;

use super::call::{Handler, TraceCall, TraceTool};
use super::failure::trace_failure;
use super::page::{ANALYSIS, Answer};
use super::summary::tokens;
use crate::Failure;

pub(crate) struct AnalyzeSession;

/// Bytes of an answer for its hint, its rate limit, the session's id and the sums of tokens.
const AROUND: usize = 550;
/// Characters of an id, which `AROUND` counts. A log may have any.
const USUAL_ID: usize = 36;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnalyzeSessionInput {
    /// Id, or its first 8 characters.
    session_id: String,
    /// Default true.
    include_failures: Option<bool>,
    /// Default false.
    include_loops: Option<bool>,
    /// Slow steps, files read again, context growth; default false.
    include_more_lenses: Option<bool>,
    /// Default false.
    include_subagents: Option<bool>,
}

impl TraceTool for AnalyzeSession {
    const NAME: &'static str = "analyze_session";
    const DESCRIPTION: &'static str = "Diagnose a past session: score, failed tools, token use, loops (include_loops), each \
        with its turn. 1-5 KB.";
    const ANSWER: Handler<AnalyzeSessionInput> = analyze;
    type Input = AnalyzeSessionInput;
}

fn analyze(input: AnalyzeSessionInput, call: &TraceCall<'_>) -> Result<Answer, Failure> {
    let session = call.session(&input.session_id)?;
    let options = AnalysisOptions {
        failures: input.include_failures.unwrap_or(true),
        loops: input.include_loops.unwrap_or(false),
        more_lenses: input.include_more_lenses.unwrap_or(false),
        subagents: input.include_subagents.unwrap_or(false),
        most_bytes: (ANALYSIS - AROUND).saturating_sub(session.id.len().saturating_sub(USUAL_ID)),
    };
    let analysis = call.trace.analyze(&session, &options, &|| call.is_cancelled()).map_err(trace_failure)?;
    let mut body = json!(analysis);
    body["summary"]["tokens"] = tokens(analysis.summary.tokens);
    body["session_id"] = session.id.clone().into();
    let further = match (options.loops, options.more_lenses) {
        (true, true) => None,
        (false, true) => Some("include_loops=true also looks for repeated calls."),
        (true, false) => Some("include_more_lenses=true also looks for waste."),
        (false, false) => Some("include_loops=true and include_more_lenses=true look for more."),
    };
    Ok(Answer::of(body)
        .hint("Use get_turns(session_id, turns=[turn_index]) to see what happened in a turn")
        .hint_if(further))
}
