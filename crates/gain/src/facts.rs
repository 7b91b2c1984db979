//! What is known of the sessions in which something was cut: no texts, only sizes and the order in which things happened.

use tamis_clients::Client;
use tamis_logs::event::Millis;
use tamis_logs::usage::Tokens;

/// Requests that share a context: from the beginning of a session, or its compaction, to the next one or the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextFacts {
    pub client: Client,
    pub project: Option<String>,
    pub requests: Vec<RequestFacts>,
    pub effects: Vec<Effect>,
}

/// A request to the model, as the client's log reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFacts {
    pub at: Option<Millis>,
    /// Empty where the log does not name it.
    pub model: String,
    pub tokens: Tokens,
}

/// Something that made the context smaller or larger than it would have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    pub at: Millis,
    /// The tool whose result was cut, and the door through which that was done.
    pub tool: String,
    pub door: String,
    pub size: EffectSize,
    /// Whether another log has it too: a session that continues another may begin with a copy of it. Its requests carry the cut,
    /// but the cut was made once.
    pub is_copy: bool,
    /// The index of the request that made the call, and of the first one that carried its result.
    pub caller: Option<usize>,
    pub first_carrier: usize,
}

/// What happened, with sizes in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectSize {
    /// Lines were cut from a result: what the client would have sent, what it sent, and of that the markers.
    Cut { before: u64, after: u64, markers: u64 },
    /// The agent recovered lines: the call and its result.
    Recovery { size: u64, is_only_call: bool },
    /// The agent read again what was cut: the call and its result.
    Reread { size: u64, is_only_call: bool },
}
