//! Prints the output of a run to stdout and stderr.

use std::collections::BTreeSet;
use std::io::{self, Write};

use tamis_clients::{ClientEvent, OutputStream, RunOutput};

use crate::print;

/// Prints a run's output, and collects the prune ids in it.
pub(super) struct Streams {
    json: bool,
    /// The ids in the markers of the pruner's own answers.
    pub(super) prune_ids: BTreeSet<String>,
}

impl Streams {
    pub(super) fn new(json: bool) -> Streams {
        Streams { json, prune_ids: BTreeSet::new() }
    }

    pub(super) fn show(&mut self, output: RunOutput<'_>) -> io::Result<()> {
        match output {
            RunOutput::Line { stream: OutputStream::Stdout, bytes, .. } if self.json => out(bytes),
            RunOutput::Line { bytes, show: true, .. } => {
                let _ = io::stderr().lock().write_all(bytes);
                Ok(())
            }
            RunOutput::Line { .. } => Ok(()),
            RunOutput::Event { event: ClientEvent::ToolResult { text, .. }, call } => {
                // Other texts may quote a marker without having been cut in this run.
                if call.is_some_and(|call| call.asks_for_pruning) {
                    self.prune_ids.extend(tamis_sieve::prune_ids_in(text).map(str::to_owned));
                }
                Ok(())
            }
            RunOutput::Event { .. } if self.json => Ok(()),
            RunOutput::Event { event, .. } => print_event(event),
        }
    }
}

fn print_event(event: &ClientEvent) -> io::Result<()> {
    match event {
        ClientEvent::Text(text) => out(format!("{}\n", text.trim_end_matches('\n')).as_bytes())?,
        ClientEvent::ToolCall { tool, .. } => print::note(format_args!("-> {tool}")),
        ClientEvent::Notice(text) => print::note(text),
        _ => {}
    }
    Ok(())
}

/// Flushed at once, so that the agent's work is seen as it happens.
fn out(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}
