//! Counts of what a client did, for the summary.

use std::collections::BTreeMap;

use crate::provider::means_lost_server;
use crate::wiring::is_shell;
use crate::{ClientEvent, ClientTool, PRUNER};

/// The counts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunTotals {
    pub turns: u64,
    pub tool_calls: u64,
    /// Calls of the pruner's server.
    pub pruner_calls: u64,
    /// Calls of the pruner's server with a question, which asks for pruning.
    pub questions: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Whether the client refused a call of the pruner's shell.
    pub shell_refused: bool,
    /// Why the client failed, in its own words.
    pub failure: Option<String>,
    /// Reports of an unknown kind.
    pub unknown_reports: u64,
    open_calls: BTreeMap<String, ClientToolCall>,
}

/// The call that a result belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientToolCall {
    pub tool: ClientTool,
    /// It is a call of the pruner's server with a question.
    pub asks_for_pruning: bool,
}

impl RunTotals {
    /// Counts an event. For a tool's result, returns its call.
    pub fn count(&mut self, event: &ClientEvent) -> Option<ClientToolCall> {
        match event {
            ClientEvent::Turn => self.turns += 1,
            ClientEvent::ToolCall { id, tool, arguments } => {
                let pruners = tool.server.as_deref() == Some(PRUNER);
                let question = arguments["context_focus_question"].as_str();
                let asks_for_pruning = pruners && question.is_some_and(|question| !question.is_empty());
                self.tool_calls += 1;
                self.pruner_calls += u64::from(pruners);
                self.questions += u64::from(asks_for_pruning);
                self.open_calls.insert(id.clone(), ClientToolCall { tool: tool.clone(), asks_for_pruning });
            }
            ClientEvent::ToolResult { id, text, failed } => {
                let call = self.open_calls.remove(id)?;
                // The server itself never marks a call as failed, so the client did.
                self.shell_refused |= *failed && is_shell(&call.tool) && !means_lost_server(text);
                return Some(call);
            }
            ClientEvent::Usage { input_tokens, output_tokens } => {
                (self.input_tokens, self.output_tokens) = (*input_tokens, *output_tokens);
            }
            ClientEvent::End { failure, turns } => {
                self.failure.clone_from(failure);
                self.turns = turns.unwrap_or(self.turns);
            }
            ClientEvent::Text(_) | ClientEvent::Notice(_) | ClientEvent::McpServer { .. } => {}
        }
        None
    }
}
