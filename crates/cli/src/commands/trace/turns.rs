use clap::Args;
use serde_json::json;
use tamis_trace::Turn;

use super::options::{self, Source};
use super::render;
use crate::error::CliResult;
use crate::table::{self, Align, Table};
use crate::{escape, print};

/// List the turns of a session
#[derive(Args)]
pub(crate) struct Turns {
    /// Session id, or a unique prefix of it
    session: String,
    /// First turn to show
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    /// Maximum number of turns
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = options::limit)]
    limit: usize,
    #[command(flatten)]
    source: Source,
}

pub(crate) fn run(arguments: &Turns) -> CliResult {
    let trace = arguments.source.open()?;
    let session = trace.session(&arguments.session)?;
    let mut turns = trace.turns(&session, arguments.from, arguments.limit.saturating_add(1))?;
    let more = turns.len() > arguments.limit;
    turns.truncate(arguments.limit);
    if arguments.source.json {
        let turns: Vec<_> = turns.iter().map(render::turn_json).collect();
        return print::json(&json!({"session_id": session.id, "turns": turns, "has_more": more}));
    }
    if turns.is_empty() {
        print::note(format_args!("the session has {} turns", print::grouped(session.summary.turns)));
        return Ok(());
    }
    print::text(&table(&turns).render(table::screen()))?;
    if let (true, Some(last)) = (more, turns.last()) {
        print::note(format_args!("there are more; --from {} shows them", last.number + 1));
    }
    Ok(())
}

/// Turns as a table.
pub(crate) fn table(turns: &[Turn]) -> Table {
    let mut table = Table::new(&[
        ("TURN", Align::Right),
        ("TIME", Align::Left),
        ("DURATION", Align::Right),
        ("EVENTS", Align::Left),
        ("STEPS", Align::Right),
        ("CALLS", Align::Right),
        ("FAILED", Align::Right),
        ("TOKENS", Align::Right),
        ("CONTEXT", Align::Right),
        ("SAID", Align::Left),
    ])
    .dispensable(&["CONTEXT", "EVENTS", "DURATION"]);
    for turn in turns {
        let last = (turn.first_event + turn.events).saturating_sub(1);
        table.row([
            turn.number.to_string(),
            render::second(turn.at),
            render::duration(render::seconds(turn.at, turn.ended)),
            format!("{}-{last}", turn.first_event),
            print::grouped(turn.steps),
            print::grouped(turn.tool_calls),
            print::grouped(turn.failed_tools),
            print::grouped(turn.tokens.total()),
            print::grouped(turn.largest_context),
            escape::line(&turn.preview),
        ]);
    }
    table
}
