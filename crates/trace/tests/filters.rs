//! A search within a session obeys every filter that a search of all sessions obeys.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use tamis_clients::Client;
use tamis_logs::discovery::LogLocations;
use tamis_store::DataDir;
use tamis_trace::{MatchPosition, SearchRequest, Session, SessionFilter, Trace};

/// A session that has a subagent with a log of its own.
const PARENT: &str = "6e190b0e-1444-4d7a-a82b-3469ccf8c19e";

fn found(trace: &Trace, search: &SearchRequest) -> Vec<MatchPosition> {
    let found = trace.search(search, Duration::from_secs(60), &|| false).unwrap();
    assert!(!found.more);
    found.matches.into_iter().map(|found| found.place).collect()
}

#[test]
fn a_search_within_a_session_keeps_every_filter() {
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../logs/tests/logs/claude");
    let folder = tempfile::tempdir().unwrap();
    let trace = Trace::new(LogLocations::only(vec![logs]), DataDir::at(folder.path()));
    trace.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
    let parent = trace.session(PARENT).unwrap();
    let subagents = trace.subagents(&parent).unwrap();
    assert_eq!(subagents.len(), 1);
    let family: Vec<&Session> = std::iter::once(&parent).chain(&subagents).collect();
    let own = |session: &Session| session.own_tokens;
    let (least, most) = (family.iter().map(|it| own(it)).min(), family.iter().map(|it| own(it)).max());
    let (started, ended) = (parent.summary.started.unwrap(), parent.summary.ended.unwrap());
    let none = SessionFilter::default;
    for (filter, sessions) in [
        (none(), 2),
        (SessionFilter { provider: Some(Client::ClaudeCode), ..none() }, 2),
        (SessionFilter { provider: Some(Client::Codex), ..none() }, 0),
        (SessionFilter { project: Some(parent.project.clone()), ..none() }, 2),
        (SessionFilter { project: Some("0000".to_owned()), ..none() }, 0),
        (SessionFilter { since: Some(started), ..none() }, 2),
        (SessionFilter { since: Some(ended + 1), ..none() }, 0),
        (SessionFilter { until: Some(ended), ..none() }, 2),
        (SessionFilter { until: Some(started), ..none() }, 1),
        (SessionFilter { until: Some(started - 1), ..none() }, 0),
        (SessionFilter { least_tokens: most, ..none() }, 1),
        (SessionFilter { least_tokens: most.map(|most| most + 1), ..none() }, 0),
        (SessionFilter { most_tokens: least, ..none() }, 1),
    ] {
        let search = SearchRequest {
            query: "e".to_owned(),
            sessions: filter.clone(),
            most: 100_000,
            ..SearchRequest::default()
        };
        let everywhere = found(&trace, &search);
        let expected: Vec<MatchPosition> = everywhere
            .into_iter()
            .filter(|place| family.iter().any(|session| session.id == place.session))
            .collect();
        let within = found(&trace, &SearchRequest { session: Some(PARENT.to_owned()), ..search.clone() });
        assert_eq!(within, expected, "{filter:?}");
        let mut named: Vec<&str> = within.iter().map(|place| place.session.as_str()).collect();
        named.dedup();
        assert_eq!(named.len(), sessions, "{filter:?}");
        // Page by page, too.
        let (mut paged, mut after) = (Vec::new(), None);
        loop {
            let search = SearchRequest {
                session: Some(PARENT.to_owned()),
                most: 5,
                after: after.clone(),
                ..search.clone()
            };
            let page = trace.search(&search, Duration::from_secs(60), &|| false).unwrap();
            paged.extend(page.matches.iter().map(|found| found.place.clone()));
            after = page.matches.last().map(|last| last.place.clone());
            if !page.more {
                break;
            }
        }
        assert_eq!(paged, within, "{filter:?}, in pages");
    }
}
