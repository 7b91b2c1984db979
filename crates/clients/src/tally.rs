//! Counting what an agent did, for the summary.

use std::collections::BTreeMap;

use crate::provider::tells_of_a_lost_server;
use crate::wiring::is_shell;
use crate::{Event, PRUNER, Tool};

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub turns: u64,
    pub tool_calls: u64,
    /// Those of the pruner's server.
    pub pruner_calls: u64,
    /// Those of them that asked for pruning, by a question.
    pub questions: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Whether it was kept from using the pruner's shell.
    pub shell_refused: bool,
    /// Why the agent says that it failed.
    pub failure: Option<String>,
    /// Reports of kinds that are not known here.
    pub unknown_reports: u64,
    open_calls: BTreeMap<String, Call>,
}

/// A call that a result is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub tool: Tool,
    /// It is the pruner's, and has a question.
    pub asks_for_pruning: bool,
}

impl Tally {
    /// Counts an event. For a tool's result, tells which call it is of.
    pub fn count(&mut self, event: &Event) -> Option<Call> {
        match event {
            Event::Turn => self.turns += 1,
            Event::ToolCall { id, tool, arguments } => {
                let pruners = tool.server.as_deref() == Some(PRUNER);
                let question = arguments["context_focus_question"].as_str();
                let asks_for_pruning = pruners && question.is_some_and(|question| !question.is_empty());
                self.tool_calls += 1;
                self.pruner_calls += u64::from(pruners);
                self.questions += u64::from(asks_for_pruning);
                self.open_calls.insert(id.clone(), Call { tool: tool.clone(), asks_for_pruning });
            }
            Event::ToolResult { id, text, failed } => {
                let call = self.open_calls.remove(id)?;
                // The server itself never says that a call failed.
                self.shell_refused |= *failed && is_shell(&call.tool) && !tells_of_a_lost_server(text);
                return Some(call);
            }
            Event::Usage { input_tokens, output_tokens } => {
                (self.input_tokens, self.output_tokens) = (*input_tokens, *output_tokens);
            }
            Event::End { failure, turns } => {
                self.failure.clone_from(failure);
                self.turns = turns.unwrap_or(self.turns);
            }
            Event::Text(_) | Event::Notice(_) | Event::McpServer { .. } => {}
        }
        None
    }
}
