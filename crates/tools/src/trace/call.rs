//! What every call goes through: the rate limit, an index that is up to date, an answer within its size limit.

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tamis_redact::excerpt;
use tamis_trace::{IndexProgress, Session, Trace};
use tokio_util::sync::CancellationToken;

use super::failure::trace_failure;
use super::page::Answer;
use super::rate::RateLimit;
use crate::{Context, Failure, Operation, ProgressUpdate, Tool, Toolset};

/// Logs are checked for news when the last check is longer ago than this.
const FRESH: Duration = Duration::from_secs(1);
/// Between two reports of the progress of indexing.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// Maximum length, in characters, of the places in which nothing was found.
const LONGEST_PLACES: usize = 600;

/// Past sessions, as the tools of a process share them.
pub struct Sessions {
    pub trace: Arc<Trace>,
    rate: RateLimit,
}

impl Sessions {
    pub fn new(trace: Arc<Trace>) -> Sessions {
        Sessions { trace, rate: RateLimit::default() }
    }
}

/// Answers a call from its input.
pub(crate) type Handler<I> = fn(I, &TraceCall<'_>) -> Result<Answer, Failure>;

/// A tool for past sessions.
pub(crate) trait TraceTool: 'static {
    const NAME: &'static str;
    const DESCRIPTION: &'static str;
    const ANSWER: Handler<Self::Input>;
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
}

/// What every tool for past sessions has in common.
struct TraceOperation<T>(PhantomData<T>);

pub(crate) fn tool<T: TraceTool>() -> Tool {
    Tool::of::<TraceOperation<T>>()
}

impl<T: TraceTool> Operation for TraceOperation<T> {
    const NAME: &'static str = T::NAME;
    const TOOLSET: Toolset = Toolset::Trace;
    const DESCRIPTION: &'static str = T::DESCRIPTION;
    const READ_ONLY: bool = true;
    type Input = T::Input;
    type Output = Value;

    async fn run(input: T::Input, context: Context) -> Result<Value, Failure> {
        answer(context, move |call| T::ANSWER(input, call)).await
    }
}

/// What a handler works with.
pub(crate) struct TraceCall<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) cancellation: &'a CancellationToken,
}

impl TraceCall<'_> {
    pub(crate) fn session(&self, prefix: &str) -> Result<Session, Failure> {
        self.trace.session(prefix.trim()).map_err(trace_failure)
    }

    pub(crate) fn short_id(&self, id: &str) -> Result<String, Failure> {
        self.trace.short_id(id).map_err(trace_failure)
    }

    /// The hint of an empty list: that there are no sessions at all and where they were searched; else `why`.
    pub(crate) fn nothing(&self, why: &str) -> Result<String, Failure> {
        if self.trace.has_sessions().map_err(trace_failure)? {
            return Ok(why.to_owned());
        }
        let looked: Vec<String> =
            self.trace.locations().all().map(|place| place.display().to_string()).collect();
        Ok(format!("No sessions were found. Looked in {}.", excerpt(&looked.join(", "), LONGEST_PLACES)))
    }

    /// Whether the caller no longer waits for the answer.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }
}

/// Answers a call: waits for the index, then runs `work` on a core.
async fn answer(
    context: Context,
    work: impl FnOnce(&TraceCall<'_>) -> Result<Answer, Failure> + Send + 'static,
) -> Result<Value, Failure> {
    let Some(sessions) = context.services.sessions().cloned() else {
        return Err(Failure::internal("past sessions are not served here"));
    };
    let rate = sessions.rate.take(Instant::now())?;
    let Context { cancellation, progress, services, .. } = context;
    let (token, running) = (
        cancellation.clone(),
        services.run_on_core(move || {
            let mut last = None;
            let mut watch = |step: IndexProgress| {
                if last.is_none_or(|last: Instant| last.elapsed() >= REPORT_EVERY) {
                    last = Some(Instant::now());
                    progress.report(update(step));
                }
                if cancellation.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            sessions.trace.refresh_if_older(FRESH, &mut watch).map_err(trace_failure)?;
            let answer = work(&TraceCall { trace: &sessions.trace, cancellation: &cancellation })?;
            if cancellation.is_cancelled() { Err(Failure::Cancelled) } else { Ok(answer.finish(rate)) }
        }),
    );
    tokio::select! {
        answer = running => answer?,
        () = token.cancelled() => Err(Failure::Cancelled),
    }
}

fn update(step: IndexProgress) -> ProgressUpdate {
    ProgressUpdate {
        done: step.bytes as f64,
        total: (step.total_bytes > 0).then_some(step.total_bytes as f64),
        message: Some(format!("reading logs of past sessions: {} done", step.logs)),
    }
}
