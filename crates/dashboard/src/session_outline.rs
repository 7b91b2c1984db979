//! A session at a glance: the kind of each of its events, and how its context grew. It is read once, and then continued as the
//! session goes on.

use std::ops::ControlFlow;

use serde::Serialize;
use tamis_logs::event::{EventBody, EventStream, LogEvent, Millis};
use tamis_trace::accounting::{ReportVerdict, UsageAccount};

use crate::{Dashboard, PageError};

/// Points of a chart.
const MOST_POINTS: usize = 1_000;
/// Calls whose results have not come, of which this many are remembered.
const MOST_OPEN_CALLS: usize = 256;

/// A session at a glance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSessionOutline {
    /// One letter for each event: `u` prompt, `s` slash command, `m` message, `r` reasoning, `c` call, `f` call that failed,
    /// `o` result, `x` result of a failure, `t` tokens, `n` notification, `p` compaction, `y` summary. Capital in a side conversation.
    pub kinds: String,
    /// How full the context was at each request, or at those that show its course best.
    pub growth: Vec<PageContextPoint>,
    pub requests: u64,
    /// Events at which the context was compacted.
    pub compactions: Vec<u64>,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageContextPoint {
    pub event: u64,
    pub at: Option<Millis>,
    /// Tokens that the model read.
    pub context: u64,
    /// Of these, from the cache.
    pub cached: u64,
    pub output: u64,
}

/// An outline as far as it is read.
#[derive(Default)]
pub(crate) struct OutlineBuilder {
    kinds: Vec<u8>,
    points: Vec<PageContextPoint>,
    compactions: Vec<u64>,
    open: Vec<(String, usize)>,
    account: UsageAccount,
}

impl OutlineBuilder {
    fn take(&mut self, number: u64, event: &LogEvent<'_>) {
        let is_side = event.stream == EventStream::Sidechain;
        let mut letter = match &event.body {
            EventBody::User(_) => b'u',
            EventBody::SlashCommand { .. } => b's',
            EventBody::Message(_) => b'm',
            EventBody::Reasoning(_) => b'r',
            EventBody::ToolCall(_) => b'c',
            EventBody::ToolResult(result) if result.failed => b'x',
            EventBody::ToolResult(_) => b'o',
            EventBody::TokenUsage(_) => b't',
            EventBody::Notification(_) => b'n',
            EventBody::Compaction(_) => b'p',
            EventBody::Summary(_) => b'y',
        };
        match &event.body {
            EventBody::ToolCall(call) => {
                if let Some(id) = &call.id {
                    if self.open.len() == MOST_OPEN_CALLS {
                        self.open.remove(0);
                    }
                    self.open.push((id.clone().into_owned(), self.kinds.len()));
                }
            }
            EventBody::ToolResult(result) => {
                let of = |(id, _): &(String, usize)| Some(id.as_str()) == result.id.as_deref();
                if let Some(at) = self.open.iter().position(of) {
                    let (_, call) = self.open.remove(at);
                    if result.failed {
                        self.kinds[call] = if self.kinds[call].is_ascii_uppercase() { b'F' } else { b'f' };
                    }
                }
            }
            EventBody::TokenUsage(report) => {
                let verdict = self.account.take(report, event.at).verdict;
                let point = PageContextPoint {
                    event: number,
                    at: event.at,
                    context: report.tokens.read(),
                    cached: report.tokens.cache_read,
                    output: report.tokens.output,
                };
                match verdict {
                    ReportVerdict::First if !is_side => self.points.push(point),
                    ReportVerdict::Replaced if !is_side => {
                        if let Some(last) = self.points.last_mut() {
                            *last = PageContextPoint { event: last.event, ..point };
                        }
                    }
                    _ => {}
                }
            }
            EventBody::Compaction(_) if !is_side => self.compactions.push(number),
            _ => {}
        }
        if is_side {
            letter = letter.to_ascii_uppercase();
        }
        self.kinds.push(letter);
    }

    fn outline(&self) -> PageSessionOutline {
        PageSessionOutline {
            kinds: String::from_utf8_lossy(&self.kinds).into_owned(),
            growth: thinned(&self.points, MOST_POINTS),
            requests: self.points.len() as u64,
            compactions: self.compactions.clone(),
        }
    }
}

/// At most `most` of the points: of each stretch the lowest and the highest, and the first and the last of all.
fn thinned(points: &[PageContextPoint], most: usize) -> Vec<PageContextPoint> {
    if points.len() <= most {
        return points.to_vec();
    }
    let (first, last) = (0, points.len() - 1);
    let stretches = (most - 2) / 2;
    let mut kept = vec![first];
    for stretch in 0..stretches {
        let range = stretch * points.len() / stretches..(stretch + 1) * points.len() / stretches;
        let low = range.clone().min_by_key(|at| points[*at].context);
        let high = range.max_by_key(|at| points[*at].context);
        kept.extend(low.into_iter().chain(high));
    }
    kept.push(last);
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|at| points[at]).collect()
}

impl Dashboard {
    pub fn session_outline(&self, id: &str) -> Result<PageSessionOutline, PageError> {
        let trace = self.trace()?;
        let session = trace.session(id)?;
        let outline = self.session_cache.outline(&session.id);
        let mut outline = outline.lock();
        // A log that was written anew may be shorter.
        if outline.kinds.len() as u64 > session.summary.events {
            *outline = OutlineBuilder::default();
        }
        let from = outline.kinds.len() as u64;
        if from < session.summary.events {
            trace.events(&session, from, &mut |number, event| {
                outline.take(number, event);
                ControlFlow::Continue(())
            })?;
        }
        Ok(outline.outline())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(event: u64, context: u64) -> PageContextPoint {
        PageContextPoint { event, at: None, context, cached: 0, output: 0 }
    }

    #[test]
    fn a_thinned_course_keeps_its_ends_and_its_extremes() {
        let few: Vec<_> = (0..10).map(|event| point(event, event * 7)).collect();
        assert_eq!(thinned(&few, 10), few);
        let mut many: Vec<_> = (0..50_000).map(|event| point(event, 1_000 + event % 13)).collect();
        many[31_337].context = 900_000;
        many[44_444].context = 1;
        let kept = thinned(&many, 1_000);
        assert!(kept.len() <= 1_000, "{}", kept.len());
        for at in [0, 31_337, 44_444, 49_999] {
            assert!(kept.contains(&many[at]), "{at}");
        }
        assert!(kept.windows(2).all(|pair| pair[0].event < pair[1].event));
    }
}
