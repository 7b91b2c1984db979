use clap::Args;
use serde_json::json;
use tamis_trace::{ListedSession, SessionFilter};

use super::options::{self, Source, Which};
use super::render;
use crate::error::CliResult;
use crate::table::{self, Align, Table};
use crate::{escape, print};

/// List sessions, latest first
///
/// Counts each request once. The tokens of subagents are counted with their parents unless --subagents lists them separately.
/// Sessions in which nothing happened are listed only with --empty.
#[derive(Args)]
pub(crate) struct Sessions {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    which: Which,
    /// List subagents separately
    #[arg(long, help_heading = "Which sessions")]
    subagents: bool,
    /// List empty sessions too: those without turns and tokens
    #[arg(long, help_heading = "Which sessions")]
    empty: bool,
    /// Maximum number of sessions
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = options::limit, help_heading = "Which sessions")]
    limit: usize,
}

pub(crate) fn run(arguments: &Sessions) -> CliResult {
    let trace = arguments.source.open()?;
    let filter = SessionFilter { with_subagents: arguments.subagents, ..arguments.which.filter(&trace)? };
    // Where subagents have lines of their own, each line has what is its own.
    let tokens = |listed: &ListedSession| match arguments.subagents {
        true => listed.session.own_tokens,
        false => listed.total_tokens,
    };
    let is_listed = |listed: &ListedSession| {
        let is_empty = listed.session.summary.turns == 0 && listed.total_tokens == 0 && listed.subagents == 0;
        (arguments.empty || !is_empty) && arguments.which.allows(tokens(listed))
    };
    let most = arguments.limit.saturating_add(1);
    let mut sessions = trace.list_sessions(&filter, None, most, &is_listed, &|| false)?;
    let more = sessions.len() > arguments.limit;
    sessions.truncate(arguments.limit);
    if arguments.source.json {
        let sessions: Vec<_> = sessions
            .iter()
            .map(|listed| render::session_json(&trace, &listed.session, tokens(listed)))
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
    for listed in &sessions {
        let session = &listed.session;
        table.row([
            escape::line(&trace.short_id(&session.id)?),
            session.provider.id().to_owned(),
            render::minute(session.summary.started),
            print::grouped(session.summary.turns),
            render::duration(session.summary.duration_seconds()),
            print::grouped(tokens(listed)),
            render::project(session),
            render::about(&trace, session)?,
        ]);
    }
    print::text(&table.render(table::screen()))?;
    if more {
        print::note(format_args!("there are more; --limit {} shows them", arguments.limit.saturating_mul(5)));
    }
    Ok(())
}
