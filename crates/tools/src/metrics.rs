//! Calls, failures and durations of every tool, rendered in Prometheus' text format.
//!
//! The only labels are names of tools and codes of failures, both from fixed lists, so that callers cannot make their
//! number grow.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tamis_agents::Status;
use tamis_coordinator::AgentService;

use crate::Failure;

/// Upper bounds of the buckets of durations, in seconds; longer ones count under `+Inf`.
const BUCKETS: &[f64] = &[0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 120.0];

/// Counters since the process began.
#[derive(Default)]
pub struct Metrics {
    tools: Mutex<BTreeMap<&'static str, Tally>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Tally {
    calls: u64,
    failures: BTreeMap<&'static str, u64>,
    /// One count per bound, without the calls below the previous bound.
    buckets: [u64; BUCKETS.len()],
    seconds: f64,
}

/// A running call. One that is dropped before its end counts as cancelled.
pub struct Pending<'a> {
    metrics: &'a Metrics,
    tool: &'static str,
    begun: Instant,
    is_counted: bool,
}

impl Metrics {
    /// Starts measuring a call.
    pub fn begin(&self, tool: &'static str) -> Pending<'_> {
        Pending { metrics: self, tool, begun: Instant::now(), is_counted: false }
    }

    pub(crate) fn count(&self, tool: &'static str, took: Duration, failed: Option<&'static str>) {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let tally = tools.entry(tool).or_default();
        let seconds = took.as_secs_f64();
        tally.calls += 1;
        tally.seconds += seconds;
        if let Some(code) = failed {
            *tally.failures.entry(code).or_default() += 1;
        }
        if let Some(bucket) = BUCKETS.iter().position(|bound| seconds <= *bound) {
            tally.buckets[bucket] += 1;
        }
    }

    /// In Prometheus' text format.
    pub fn render(&self) -> String {
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut text = String::new();
        head(&mut text, "tamis_tool_calls_total", "counter", "Calls per tool.");
        for (tool, tally) in &tools {
            line(&mut text, "tamis_tool_calls_total", &[("tool", tool)], tally.calls);
        }
        head(&mut text, "tamis_tool_failures_total", "counter", "Calls that failed, by code.");
        for (tool, tally) in &tools {
            for (code, count) in &tally.failures {
                line(&mut text, "tamis_tool_failures_total", &[("tool", tool), ("code", code)], count);
            }
        }
        head(&mut text, "tamis_tool_duration_seconds", "histogram", "Duration of calls.");
        for (tool, tally) in &tools {
            let mut below = 0;
            for (bound, count) in BUCKETS.iter().zip(tally.buckets) {
                below += count;
                let labels = [("tool", *tool), ("le", &bound.to_string())];
                line(&mut text, "tamis_tool_duration_seconds_bucket", &labels, below);
            }
            let labels = [("tool", *tool), ("le", "+Inf")];
            line(&mut text, "tamis_tool_duration_seconds_bucket", &labels, tally.calls);
            line(&mut text, "tamis_tool_duration_seconds_sum", &labels[..1], tally.seconds);
            line(&mut text, "tamis_tool_duration_seconds_count", &labels[..1], tally.calls);
        }
        text
    }
}

impl Pending<'_> {
    /// Counts the call, with the code of its failure.
    pub fn end(mut self, failed: Option<&'static str>) {
        self.is_counted = true;
        self.metrics.count(self.tool, self.begun.elapsed(), failed);
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if !self.is_counted {
            self.metrics.count(self.tool, self.begun.elapsed(), Some(Failure::Cancelled.code()));
        }
    }
}

/// Writes the header of a metric.
fn head(text: &mut String, name: &str, kind: &str, about: &str) {
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "# HELP {name} {about}\n# TYPE {name} {kind}");
}

/// Writes one value of a metric.
fn line(text: &mut String, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
    text.push_str(name);
    for (index, (label, is)) in labels.iter().enumerate() {
        let is = is.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let _ = write!(text, "{}{label}=\"{is}\"", if index == 0 { '{' } else { ',' });
    }
    if !labels.is_empty() {
        text.push('}');
    }
    let _ = writeln!(text, " {value}");
}

/// The number of instances by status and of events, and whether this process coordinates.
pub(crate) fn render_agents(agents: &AgentService, text: &mut String) {
    let coordinating = u8::from(agents.is_leader());
    head(text, "tamis_agents_coordinating", "gauge", "Whether this process coordinates agents.");
    line(text, "tamis_agents_coordinating", &[], coordinating);
    // Without the tables there are no counts; those of the tools are rendered all the same.
    let Ok((counts, last_event)) = agents.counts() else { return };
    head(text, "tamis_agents_instances", "gauge", "Instances by status.");
    for status in Status::ALL {
        let count = counts.iter().find(|(counted, _)| counted == status).map_or(0, |(_, count)| *count);
        line(text, "tamis_agents_instances", &[("status", status.as_str())], count);
    }
    head(text, "tamis_agents_events_total", "counter", "Events of agents.");
    line(text, "tamis_agents_events_total", &[], last_event);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_failures_and_durations_are_rendered() {
        let metrics = Metrics::default();
        metrics.count("read", Duration::from_millis(3), None);
        metrics.count("read", Duration::from_millis(3), Some("a"));
        metrics.count("read", Duration::from_secs(500), Some("a"));
        drop(metrics.begin("bash"));
        let text = metrics.render();
        let value = |line: &str| text.lines().find_map(|found| found.strip_prefix(line)).map(str::trim);
        assert_eq!(value("tamis_tool_calls_total{tool=\"read\"}"), Some("3"));
        assert_eq!(value("tamis_tool_failures_total{tool=\"read\",code=\"a\"}"), Some("2"));
        assert_eq!(value("tamis_tool_failures_total{tool=\"bash\",code=\"cancelled\"}"), Some("1"));
        for (bound, count) in [("0.001", "0"), ("0.005", "2"), ("120", "2"), ("+Inf", "3")] {
            let bucket = format!("tamis_tool_duration_seconds_bucket{{tool=\"read\",le=\"{bound}\"}}");
            assert_eq!(value(&bucket), Some(count), "{bound}");
        }
        assert_eq!(value("tamis_tool_duration_seconds_sum{tool=\"read\"}"), Some("500.006"));
        assert_eq!(value("tamis_tool_duration_seconds_count{tool=\"read\"}"), Some("3"));
    }

    #[test]
    fn labels_are_escaped() {
        let mut text = String::new();
        line(&mut text, "m", &[("a", "\"\\\n}")], 1);
        assert_eq!(text, "m{a=\"\\\"\\\\\\n}\"} 1\n");
    }
}
