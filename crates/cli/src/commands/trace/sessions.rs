use clap::Args;
use serde_json::json;
use tamis_trace::{Session, SessionFilter, Trace};

use super::options::{Source, Which};
use super::render;
use crate::error::{CliError, CliResult};
use crate::table::{self, Align, Table};
use crate::{escape, print};

/// List sessions, the latest first
///
/// Counts each request once. The tokens of subagents count with their parents unless --subagents lists them separately.
#[derive(Args)]
pub(crate) struct Sessions {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    which: Which,
    /// List subagents separately
    #[arg(long, help_heading = "Which sessions")]
    subagents: bool,
    /// Maximum number of sessions
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Which sessions")]
    limit: usize,
}

/// Sessions that are read from the index at once.
const AT_ONCE: usize = 200;

pub(crate) fn run(arguments: &Sessions) -> CliResult {
    let trace = arguments.source.open()?;
    let filter = SessionFilter { with_subagents: arguments.subagents, ..arguments.which.filter(&trace)? };
    let (sessions, more) = wanted(&trace, &arguments.which, &filter, arguments.limit)?;
    if arguments.source.json {
        let sessions: Vec<_> = sessions
            .iter()
            .map(|(session, tokens)| render::session_json(&trace, session, *tokens))
            .collect::<Result<_, _>>()?;
        return print::json(&json!({"sessions": sessions, "has_more": more}));
    }
    if sessions.is_empty() {
        return render::nothing(
            &trace,
            "no sessions match; `tamis trace sessions` without options lists the latest",
        );
    }
    let mut table = Table::new(&[
        ("ID", Align::Left),
        ("PROVIDER", Align::Left),
        ("STARTED", Align::Left),
        ("TURNS", Align::Right),
        ("DURATION", Align::Right),
        ("TOKENS", Align::Right),
        ("PROJECT", Align::Left),
        ("ABOUT", Align::Left),
    ])
    .dispensable(&["PROJECT", "DURATION", "PROVIDER"]);
    for (session, tokens) in &sessions {
        table.row([
            escape::line(&trace.short_id(&session.id)?),
            session.provider.id().to_owned(),
            render::minute(session.summary.started),
            print::grouped(session.summary.turns),
            render::duration(session.summary.duration_seconds()),
            print::grouped(*tokens),
            render::project(session),
            render::about(&trace, session)?,
        ]);
    }
    print::bytes(table.render(table::screen()).as_bytes())?;
    if more {
        print::note(format_args!("there are more; --limit {} shows them", arguments.limit.saturating_mul(5)));
    }
    Ok(())
}

/// The sessions that are wanted, with what they used, and whether there are more.
fn wanted(
    trace: &Trace,
    which: &Which,
    filter: &SessionFilter,
    most: usize,
) -> Result<(Vec<(Session, u64)>, bool), CliError> {
    let mut found = Vec::new();
    let mut after: Option<Session> = None;
    loop {
        let at_once = if which.limits_tokens() { AT_ONCE } else { most.saturating_add(1).min(AT_ONCE) };
        let page = trace.sessions(filter, after.as_ref().map(Session::place), at_once)?;
        after = page.last().cloned();
        let last = page.len() < at_once;
        for session in page {
            // Where subagents have lines of their own, each line has what is its own.
            let tokens = match filter.with_subagents {
                true => session.own_tokens,
                false => trace.tokens_with_subagents(&session)?,
            };
            if which.wants(tokens) {
                if found.len() == most {
                    return Ok((found, true));
                }
                found.push((session, tokens));
            }
        }
        if last {
            return Ok((found, false));
        }
    }
}
