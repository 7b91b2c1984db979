use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use clap::Args;
use tamis_trace::{EventDetails, Session};

use super::options::Source;
use super::render;
use crate::detached_runtime::DetachedRuntime;
use crate::error::CliResult;
use crate::{escape, pager, print, signals, table};

/// Follow sessions as they are written, one line per event, until Ctrl-C
#[derive(Args)]
pub(crate) struct WatchCommand {
    /// Only this session and its subagents
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    source: Source,
}

pub(crate) fn run(arguments: &WatchCommand) -> CliResult {
    pager::turn_off();
    // Until there is something to follow, Ctrl-C ends it as it ends any program.
    let trace = arguments.source.open()?;
    let only = arguments.session.as_ref().map(|prefix| trace.session(prefix)).transpose()?;
    let runtime = DetachedRuntime::with_worker()?;
    let mut watch = trace.watch()?;
    let ended = signals::flag(&runtime)?;
    print::note(format_args!("following {}; press Ctrl-C to stop", print::count(watch.logs() as u64, "log")));
    let mut printed = Ok(());
    let followed = watch.follow(&|| ended.load(Ordering::Relaxed), &mut |session, index, event| {
        if only.as_ref().is_none_or(|only| session.id == only.id || session.is_child_of(only)) {
            printed = print_event(&trace, session, index, event, arguments.source.json);
        }
        if printed.is_ok() && !ended.load(Ordering::Relaxed) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    followed?;
    printed
}

fn print_event(
    trace: &tamis_trace::Trace,
    session: &Session,
    index: u64,
    event: &EventDetails,
    as_json: bool,
) -> CliResult {
    if as_json {
        return print::line(escape::json_line(&render::event_json(session, index, event)));
    }
    let place = format!("{}:{index}", escape::line(&trace.short_id(&session.id)?));
    let words = escape::line(&render::words(event.kind, &event.payload));
    // An event may be a whole file; its first line is enough where nothing else cuts it.
    let line = format!(
        "{}  {place:<14}  {:<12}  {}",
        render::clock(event.at),
        event.kind.wire_name(),
        table::cut(&words, 300)
    );
    print::line(table::screen().map_or(line.clone(), |screen| table::cut(&line, screen)))
}
