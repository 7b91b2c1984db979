//! The tool calls in a client's logs, beside those that reached our hook.

use std::collections::HashSet;
use std::ops::ControlFlow;

use tamis_clients::Client;
use tamis_hook::{HookCall, HookOutcome, LeftReason};
use tamis_logs::event::{EventBody, EventStream, Millis};
use tamis_trace::{SessionFilter, Trace, TraceError};

/// Sessions that are looked at, the latest first.
const MOST_SESSIONS: usize = 20;

/// How many calls of a client reached its hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookTraffic {
    /// Calls in the logs that the hooks are for.
    pub logged: usize,
    /// Calls that reached a hook, at most as many as were logged in each session.
    pub reached: usize,
    /// Outputs that reached a second hook of tamis.
    pub doubled: usize,
    pub unknown_forms: usize,
    pub too_slow: usize,
    /// Outputs whose pruning was stopped by the deadline.
    pub timed_out: usize,
    /// The sieve could not prune them, or not store the original.
    pub failed: usize,
}

impl HookTraffic {
    /// Reads the latest sessions of a client, from this time on.
    pub fn read(
        trace: &Trace,
        client: Client,
        since: Millis,
        calls: &[HookCall],
    ) -> Result<HookTraffic, TraceError> {
        let mut traffic = HookTraffic::default();
        let recent = || {
            let of_client = calls.iter().filter(|call| call.client == client.name());
            of_client.filter(|call| Millis::try_from(call.at_ms).is_ok_and(|at| at >= since))
        };
        let count = |reason| recent().filter(|call| call.outcome == HookOutcome::Left(reason)).count();
        traffic.doubled = count(LeftReason::Doubled);
        traffic.unknown_forms = count(LeftReason::UnknownForm);
        traffic.too_slow = count(LeftReason::TooSlow);
        traffic.timed_out = recent().filter(|call| call.outcome.has_timed_out()).count();
        traffic.failed = recent().filter(|call| call.outcome.is_failure()).count();
        let filter = SessionFilter { provider: Some(client), since: Some(since), ..SessionFilter::default() };
        for session in trace.sessions(&filter, None, MOST_SESSIONS)? {
            let mut open = HashSet::new();
            let mut logged = 0;
            trace.events(&session, 0, &mut |_, event| {
                if event.stream == EventStream::Main && event.at.is_some_and(|at| at >= since) {
                    match &event.body {
                        EventBody::ToolCall(call) if client.hooks().is_logged_name(&call.name) => {
                            open.extend(call.id.as_deref().map(str::to_owned));
                        }
                        EventBody::ToolResult(result) => {
                            let is_ours = result.id.as_deref().is_some_and(|id| open.remove(id));
                            // Claude Code runs other hooks for what failed.
                            logged +=
                                usize::from(is_ours && !(client == Client::ClaudeCode && result.failed));
                        }
                        _ => {}
                    }
                }
                ControlFlow::Continue(())
            })?;
            let outputs = || {
                let in_session = recent().filter(|call| call.session.as_deref() == Some(&session.id));
                in_session.filter(|call| call.outcome.is_about_output())
            };
            // Two hooks may both have found an output too short.
            let ids: HashSet<&str> = outputs().filter_map(|call| call.call_id.as_deref()).collect();
            let reached = ids.len() + outputs().filter(|call| call.call_id.is_none()).count();
            traffic.logged += logged;
            traffic.reached += reached.min(logged);
        }
        // A call that was too slow does not know its session.
        traffic.reached = (traffic.reached + traffic.too_slow).min(traffic.logged);
        Ok(traffic)
    }
}
