//! Prunes what a client's own tools print, on its way to the model.
//!
//! A client runs a hook after each of its tools and sends it JSON: which tool, with which arguments, and what it printed.
//! [`Hook::run`] takes the text out of it, prunes it for the latest messages of the session, and builds the reply that makes this
//! client show the pruned text instead. Before a tool that writes, it refuses markers, which stand for lines that were cut.
//! [`HookCalls`] records every call, so that silence can be told from having nothing to do.
//!
//! Entry points: [`Hook::run`], [`HookCalls`].
//!
//! Must never: change a command, a permission or an exit code; prune a text twice, or one of tamis itself; move the lines of a
//! file that the client numbers. In any doubt, there is no reply, and the client shows what its tool printed.

mod calls;
mod claude;
mod claude_branch;
mod codex;
mod context;
mod gemini;
mod guard;
mod opencode;
mod payload;
mod prune;

use std::time::{Instant, SystemTime};

use serde::{Deserialize, Serialize};
use tamis_clients::Client;
use tamis_sieve::{PruneWarning, Sieve, UnrecordedPrune};

use payload::{HookPayload, HookPhase};

pub use calls::{HookCall, HookCalls};

/// One run of a hook.
pub struct Hook<'a> {
    pub client: Client,
    pub sieve: &'a Sieve,
    /// None where the data folder cannot be trusted.
    pub calls: Option<&'a HookCalls>,
    /// Shorter texts stay as they are.
    pub min_chars: usize,
    /// Tools whose output is not pruned: `Read`, or `claude:Read` for one client.
    pub skip_tools: &'a [String],
    /// Whether secrets are redacted, also in texts of which nothing is cut.
    pub redacts: bool,
    /// Until when to wait for a log that does not have the call yet: Claude Code writes its log with a delay of up to 100 ms.
    pub log_deadline: Instant,
    /// The time by the clock, as the log has it.
    pub now: SystemTime,
    /// The client waits no longer than this.
    pub deadline: Instant,
}

/// What a hook found, and what it replies.
#[derive(Debug, PartialEq)]
pub struct HookResult {
    pub outcome: HookOutcome,
    /// JSON for the client; none if everything stays as it is.
    pub reply: Option<serde_json::Value>,
    /// What the ledger is to count once the reply was written.
    pub unrecorded: Option<UnrecordedPrune>,
    pub session: Option<String>,
    pub tool: Option<String>,
    pub call_id: Option<String>,
}

impl HookResult {
    /// Everything stays as it is.
    pub fn left(reason: LeftReason) -> HookResult {
        HookResult {
            outcome: HookOutcome::Left(reason),
            reply: None,
            unrecorded: None,
            session: None,
            tool: None,
            call_id: None,
        }
    }

    fn replied(
        outcome: HookOutcome,
        reply: serde_json::Value,
        unrecorded: Option<UnrecordedPrune>,
    ) -> HookResult {
        HookResult { outcome, reply: Some(reply), unrecorded, session: None, tool: None, call_id: None }
    }
}

/// How a hook call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookOutcome {
    Pruned,
    /// Nothing was cut, but secrets were redacted.
    Redacted,
    /// A write was refused, because it contained a marker.
    Refused,
    /// Everything stays as it is.
    #[serde(untagged)]
    Left(LeftReason),
}

/// Why a hook leaves everything as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftReason {
    /// Nothing that the hook is for.
    OtherEvent,
    /// Not the form of JSON that this client is known to send.
    UnknownForm,
    /// Images, lists of names, errors and the like.
    NotText,
    /// The agent asked for these lines of the file.
    PartOfFile,
    /// The text that stands in for an output of which lines were cut.
    StandIn,
    /// Another hook of tamis has this output: it is installed twice.
    Doubled,
    TooShort,
    /// The user does not want the output of this tool to be pruned.
    SwitchedOff,
    /// The client has cut it itself, or will.
    CutByClient,
    /// The output of tamis, or a text with its markers.
    OwnOutput,
    /// The session's log cannot be read.
    NoSession,
    /// The session has no words to prune for.
    NoGoal,
    /// The log does not say with which code the command ended, and the reply would have to.
    NoExitCode,
    NothingToCut,
    /// Nothing that is written is a marker.
    NoMarker,
    /// The pruned text could not be handed over.
    NotDelivered,
    /// A rule of the user denies the tool that would hand it over.
    ToolDenied,
    /// The deadline passed.
    TooSlow,
    /// The sieve had a problem.
    #[serde(untagged)]
    Failed(PruneWarning),
}

impl HookOutcome {
    /// Whether the call was for the output of a tool: not for a write, not for what stood in for an output, and not the second.
    pub fn is_about_output(self) -> bool {
        use LeftReason::{Doubled, NoMarker, StandIn};
        !matches!(self, HookOutcome::Refused | HookOutcome::Left(Doubled | NoMarker | StandIn))
    }

    /// Whether the deadline passed while the output was pruned.
    pub fn has_timed_out(self) -> bool {
        self == HookOutcome::Left(LeftReason::Failed(PruneWarning::Timeout))
    }

    /// Whether an output could not be pruned, its original not stored, or the pruned text not be handed over.
    pub fn is_failure(self) -> bool {
        use PruneWarning::{InternalError, RecoveryUnavailable};
        let HookOutcome::Left(reason) = self else { return false };
        matches!(reason, LeftReason::NotDelivered | LeftReason::Failed(InternalError | RecoveryUnavailable))
    }
}

impl Hook<'_> {
    /// Answers one hook call, whose JSON is `input`.
    pub fn run(&self, input: &str) -> HookResult {
        let Ok(payload) = HookPayload::parse(input) else {
            return HookResult::left(LeftReason::UnknownForm);
        };
        let result = match payload.phase(self.client) {
            HookPhase::Before => match guard::refusal(&payload, self.sieve) {
                Some(reason) => {
                    HookResult::replied(HookOutcome::Refused, guard::reply(self.client, &reason), None)
                }
                None => HookResult::left(LeftReason::NoMarker),
            },
            HookPhase::After => self.prune(&payload).unwrap_or_else(HookResult::left),
            HookPhase::Other => HookResult::left(LeftReason::OtherEvent),
        };
        let owned = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
        HookResult {
            session: owned(&payload.session_id),
            tool: owned(&payload.tool_name),
            call_id: owned(&payload.tool_use_id),
            ..result
        }
    }
}
