//! How to begin: which clients are there and connected, and what tamis could save on the sessions that there are.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tamis_clients::Client;
use tamis_gain::{ReachReport, ReachVerdict};
use tamis_logs::event::Millis;
use tamis_redact::Redacted;

use crate::Dashboard;
use crate::background::{Background, LastValue};

/// Replaying sessions takes seconds, and what it says changes little.
const REACH_AGE: Duration = Duration::from_secs(60 * 60);

/// What a reader needs who has nothing yet.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NowStart {
    pub clients: Vec<NowClient>,
    pub reach: NowReach,
}

/// A client, and whether it uses tamis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NowClient {
    /// As users name it on the command line.
    pub name: &'static str,
    pub display_name: &'static str,
    pub is_installed: bool,
    pub is_connected: bool,
    /// The command that connects it.
    pub command: String,
}

/// What `tamis reach` says.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NowReach {
    /// When it was measured; none before the first time.
    pub at: Option<Millis>,
    pub is_computing: bool,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub problem: Option<Redacted>,
    pub clients: Vec<NowClientReach>,
}

/// What tamis could save on the sessions of one client.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NowClientReach {
    pub name: &'static str,
    pub display_name: &'static str,
    pub verdict: NowVerdict,
    /// Sessions that were replayed.
    pub sessions: u64,
    pub tokens_read: u64,
    /// What its hooks or a gateway would save of all tokens read, whichever saves more; -1 to 1.
    pub net_share: f64,
}

/// Whether tamis is worth it for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NowVerdict {
    WorthIt,
    NotWorthIt,
    TooLittleToTell,
}

pub(crate) type ReachMemory = Background<(), Result<Vec<NowClientReach>, Redacted>>;

impl Dashboard {
    pub fn now_start(&self) -> NowStart {
        let settings = Arc::clone(&self.settings);
        let compute = move || (settings.reach)().map(|report| clients(&report)).map_err(Redacted::from);
        let LastValue { value, is_computing } = self.reach_memory.get((), REACH_AGE, compute);
        let (at, reach) = value.unzip();
        let (clients, problem) = match reach {
            None => (Vec::new(), None),
            Some(Ok(clients)) => (clients, None),
            Some(Err(problem)) => (Vec::new(), Some(problem)),
        };
        let reach = NowReach { at, is_computing, problem, clients };
        NowStart { clients: (self.settings.clients)(), reach }
    }
}

fn clients(report: &ReachReport) -> Vec<NowClientReach> {
    let of = |reach: &tamis_gain::ClientReach| {
        let client = Client::named(reach.client);
        let by_itself = reach.mechanisms.iter().filter(|(name, _)| **name != "tools");
        NowClientReach {
            name: client.map_or(reach.client, Client::name),
            display_name: client.map_or(reach.client, Client::display_name),
            verdict: match reach.verdict {
                ReachVerdict::WorthIt => NowVerdict::WorthIt,
                ReachVerdict::NotWorthIt => NowVerdict::NotWorthIt,
                ReachVerdict::TooLittleToTell => NowVerdict::TooLittleToTell,
            },
            sessions: reach.sessions,
            tokens_read: reach.tokens_read,
            net_share: by_itself.map(|(_, found)| found.net_share).reduce(f64::max).unwrap_or(0.0),
        }
    };
    report.clients.iter().map(of).collect()
}
