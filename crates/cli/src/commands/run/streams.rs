//! What of a run is shown, and where.

use std::collections::BTreeSet;
use std::io::{self, Write};

use tamis_clients::{Event, Output, Stream};

use crate::print;

/// The run's output, and what it tells of cuts.
pub(super) struct Streams {
    json: bool,
    /// The ids in the markers of the pruner's own answers.
    pub(super) prune_ids: BTreeSet<String>,
}

impl Streams {
    pub(super) fn new(json: bool) -> Streams {
        Streams { json, prune_ids: BTreeSet::new() }
    }

    pub(super) fn show(&mut self, output: Output<'_>) -> io::Result<()> {
        match output {
            Output::Line { stream: Stream::Stdout, bytes, .. } if self.json => out(bytes),
            Output::Line { bytes, show: true, .. } => {
                let _ = io::stderr().lock().write_all(bytes);
                Ok(())
            }
            Output::Line { .. } => Ok(()),
            Output::Event { event: Event::ToolResult { text, .. }, call } => {
                // Other texts may quote a marker, but were not cut here and now.
                if call.is_some_and(|call| call.asks_for_pruning) {
                    self.prune_ids.extend(tamis_sieve::prune_ids_in(text).map(str::to_owned));
                }
                Ok(())
            }
            Output::Event { .. } if self.json => Ok(()),
            Output::Event { event, .. } => say(event),
        }
    }
}

fn say(event: &Event) -> io::Result<()> {
    match event {
        Event::Text(text) => out(format!("{}\n", text.trim_end_matches('\n')).as_bytes())?,
        Event::ToolCall { tool, .. } => print::note(format_args!("-> {tool}")),
        Event::Notice(text) => print::note(text),
        _ => {}
    }
    Ok(())
}

/// At once: whoever waits for an agent wants to see it work.
fn out(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}
