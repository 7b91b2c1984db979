use clap::Args;
use serde_json::json;
use tamis_trace::{AnalysisOptions, SessionAnalysis};

use super::options::Source;
use crate::error::{CliError, CliResult};
use crate::{escape, print};

/// Diagnose a session: failures, loops, waste, and a score with its deductions
#[derive(Args)]
pub(crate) struct Analyze {
    /// Session id, or a unique prefix of it
    session: String,
    /// Include the sessions of its subagents
    #[arg(long)]
    subagents: bool,
    #[command(flatten)]
    source: Source,
}

pub(crate) fn run(arguments: &Analyze) -> CliResult {
    let trace = arguments.source.open()?;
    let session = trace.session(&arguments.session)?;
    let options = AnalysisOptions {
        failures: true,
        loops: true,
        more_lenses: true,
        subagents: arguments.subagents,
        most_bytes: usize::MAX >> 1,
    };
    let analysis = trace.analyze(&session, &options, &|| false)?;
    if arguments.source.json {
        let mut value = serde_json::to_value(&analysis).map_err(CliError::internal)?;
        value["session_id"] = json!(session.id);
        return print::json(&value);
    }
    print::text(&to_text(&analysis, &trace.short_id(&session.id)?))
}

fn to_text(analysis: &SessionAnalysis, session: &str) -> String {
    let mut text = format!("score {} of 100\n", analysis.score);
    for part in &analysis.deductions {
        text.push_str(&format!(
            "  -{:<3} {}: {} ({:?})\n",
            part.points,
            part.what,
            print::grouped(part.count),
            part.lens
        ));
    }
    let summary = &analysis.summary;
    let tokens = summary.tokens;
    text.push_str(&format!(
        "\n{}, {}, {} failed, {} declined\n{}: {} read, {} from the cache, {} written; largest context {}, {}\n",
        print::count(summary.turns, "turn"),
        print::count(summary.event_counts.tool_calls, "tool call"),
        print::grouped(summary.failed_tool_calls),
        print::grouped(summary.declined_tool_calls),
        print::count(summary.requests, "request"),
        print::grouped(tokens.read()),
        print::grouped(tokens.cache_read),
        print::grouped(tokens.output),
        print::grouped(summary.largest_context),
        print::count(summary.compactions, "compaction"),
    ));
    if analysis.insights.is_empty() {
        text.push_str("\nno findings\n");
        return text;
    }
    // Two lines each: the message is what matters, and a table would leave little room for it.
    for insight in &analysis.insights {
        let session = insight.session_id.as_deref().unwrap_or(session);
        text.push_str(&format!(
            "\n{:?}  {:?}  turn {}  {}\n    {}\n",
            insight.severity,
            insight.lens,
            insight.turn_index,
            escape::line(&format!("{session}:{}", insight.event_index)),
            escape::line(&insight.message),
        ));
    }
    if analysis.insights_left_out.total() > 0 {
        let left = print::grouped(analysis.insights_left_out.total());
        text.push_str(&format!("\nand {left} more of the same kinds\n"));
    }
    text
}
