//! What goes wrong with servers: they fail, hang, are busy, are something else, or are not there.

use std::time::{Duration, Instant};

use serde_json::json;
use tamis_codebase::StopSignal;
use tamis_research::{Model, ModelSettings, ModelUse, Role, RoleErrorKind};
use tamis_testkit::{ChatServer, ChatStep};

use crate::{ask, codebase, good, good_finding, kind, model, outcome, reader, settings};

#[test]
fn what_servers_do_wrong_is_a_fault() {
    let whole = |body: &str| ChatStep::Raw(format!("HTTP/1.1 200 OK\r\n\r\n{body}").into_bytes());
    let huge = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{{", 1_u64 << 40);
    for step in [
        ChatStep::HangUp,
        ChatStep::Raw(Vec::new()),
        ChatStep::Raw(b"SSH-2.0-OpenSSH_9.6\r\n".to_vec()),
        ChatStep::Raw(huge.into_bytes()),
        whole("{\"choices\": [{\"mess"),
        whole("<html></html>"),
        whole("{}"),
        whole("[]"),
        whole(&" ".repeat(5 << 20)),
        ChatStep::Fail(500, "out of memory".into()),
        ChatStep::Fail(400, "this context is too small".into()),
        ChatStep::Raw(
            b"HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n".to_vec(),
        ),
    ] {
        let server = ChatServer::start(vec![step.clone()]);
        let error = outcome(&server).unwrap_err();
        assert_eq!(error.kind.name(), "ProviderError", "{step:?}: {error}");
        assert_eq!(server.turns().len(), 1, "{step:?}");
    }
    let server =
        ChatServer::start(vec![ChatStep::Fail(500, "token ghp_a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8".into())]);
    let error = outcome(&server).unwrap_err();
    assert!(error.message.contains("500") && !error.message.contains("ghp_a1"), "{error}");
}

#[test]
fn a_busy_server_is_retried() {
    let busy = || ChatStep::Fail(429, "busy".into());
    let server =
        ChatServer::start(vec![busy(), ChatStep::Fail(503, "loading".into()), ChatStep::say(good())]);
    assert_eq!(outcome(&server), Ok(good_finding()));
    let server = ChatServer::start(vec![busy(), busy(), busy(), ChatStep::say(good())]);
    assert_eq!(kind(outcome(&server)), RoleErrorKind::ProviderError);
}

#[test]
fn a_slow_model_ends_at_the_deadline() {
    let folder = codebase();
    let server = ChatServer::endless(vec![], ChatStep::say(good()).held());
    let model = model(&server);
    let stop = StopSignal::never().by(Instant::now() + Duration::from_millis(700));
    assert_eq!(kind(ask(&model, &reader(folder.path()), &stop)), RoleErrorKind::Timeout);
    server.wait_for_hang_ups(server.turns().len());
    // A turn has a limit of its own.
    let settings = ModelSettings { turn_timeout: Duration::from_millis(1500), ..settings(&server) };
    let before = server.turns().len();
    assert_eq!(
        kind(ask(&Model::new(settings), &reader(folder.path()), &StopSignal::never())),
        RoleErrorKind::Timeout
    );
    server.wait_for_hang_ups(before + 1);
}

#[test]
fn a_cancellation_stops_a_request_in_flight() {
    let folder = codebase();
    let server = ChatServer::endless(vec![], ChatStep::say(good()).held());
    let (model, reader, stop) = (model(&server), reader(folder.path()), StopSignal::never());
    std::thread::scope(|scope| {
        let request = scope.spawn(|| ask(&model, &reader, &stop));
        server.wait_for_turns(1);
        stop.cancel();
        assert_eq!(kind(request.join().unwrap()), RoleErrorKind::Canceled);
        server.wait_for_hang_ups(1);
    });
    assert_eq!(server.turns().len(), 1);
    assert_eq!(kind(ask(&model, &reader, &stop)), RoleErrorKind::Canceled);
}

#[test]
fn requests_queue_for_a_model_that_takes_one_at_a_time() {
    let folder = codebase();
    for (concurrent, together) in [(1, 1), (2, 2)] {
        let server = ChatServer::endless(vec![], ChatStep::say(good()).held());
        let model = Model::new(ModelSettings { concurrent, ..settings(&server) });
        let reader = reader(folder.path());
        std::thread::scope(|scope| {
            let request: Vec<_> =
                (0..2).map(|_| scope.spawn(|| ask(&model, &reader, &StopSignal::never()))).collect();
            server.wait_for_turns(together);
            if together == 1 {
                // The other one stays away as long as the first is not answered.
                assert!(!server.turns_come(2, Duration::from_millis(300)));
            }
            server.release();
            for request in request {
                assert_eq!(request.join().unwrap(), Ok(good_finding()));
            }
        });
        assert_eq!((server.most_in_flight(), server.turns().len()), (together, 2));
    }
}

#[test]
fn waiting_in_the_queue_ends_with_the_deadline() {
    let folder = codebase();
    let server = ChatServer::endless(vec![], ChatStep::say(good()).held());
    let (model, reader) = (model(&server), reader(folder.path()));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| ask(&model, &reader, &StopSignal::never()));
        server.wait_for_turns(1);
        let stop = StopSignal::never().by(Instant::now() + Duration::from_millis(50));
        assert_eq!(kind(ask(&model, &reader, &stop)), RoleErrorKind::Timeout);
        server.release();
        assert_eq!(first.join().unwrap(), Ok(good_finding()));
    });
    assert_eq!(server.turns().len(), 1);
}

#[test]
fn no_server_is_found_out_at_once_and_remembered() {
    // A port that is taken, so that no other process gets it, and without a listener.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let url = format!("http://{}/v1", taken.local_addr().unwrap()).parse().unwrap();
    let model = Model::new(ModelSettings {
        probe_timeout: Duration::from_secs(300),
        ..ModelSettings::at(url, ModelUse::Auto, 1)
    });
    let begun = Instant::now();
    let error = model.name_for(Role::Locator, &StopSignal::never()).unwrap_err();
    assert_eq!(error.kind, RoleErrorKind::ProviderUnavailable);
    // It does not wait for the probe's time to pass.
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert_eq!(model.name_for(Role::Analyzer, &StopSignal::never()), Err(error));
}

#[test]
fn a_server_without_models_counts_as_no_model() {
    for listing in [
        ChatStep::Raw(b"SSH-2.0-OpenSSH_9.6\r\n".to_vec()),
        ChatStep::Raw(Vec::new()),
        ChatStep::Body("<html><body>It works!</body></html>".into()),
        ChatStep::Body("{}".into()),
        ChatStep::Body(json!({"data": []}).to_string()),
        ChatStep::Body(json!({"data": [{"id": "text-embedding-nomic"}]}).to_string()),
        ChatStep::Body(json!({"data": [{"name": "x"}]}).to_string()),
        ChatStep::Fail(404, "no such page".into()),
        ChatStep::Fail(401, "no key".into()),
        ChatStep::HangUp,
    ] {
        let server = ChatServer::listing(listing.clone(), vec![], None);
        let model = model(&server);
        let error = model.name_for(Role::Locator, &StopSignal::never()).unwrap_err();
        assert_eq!(error.kind, RoleErrorKind::ProviderUnavailable, "{listing:?}");
        // One request, outside of a turn.
        let _ = model.name_for(Role::Analyzer, &StopSignal::never());
        assert_eq!((server.requests().len(), server.turns().len()), (1, 0), "{listing:?}");
    }
    // One that says nothing is given up on.
    let server = ChatServer::listing(ChatStep::Body("{}".into()).held(), vec![], None);
    let settings = ModelSettings { probe_timeout: Duration::from_millis(1000), ..settings(&server) };
    let model = Model::new(settings);
    assert_eq!(
        model.name_for(Role::Locator, &StopSignal::never()).unwrap_err().kind,
        RoleErrorKind::ProviderUnavailable
    );
    server.wait_for_hang_ups(1);
}

#[test]
fn each_role_has_the_model_that_it_is_given() {
    let server = ChatServer::with_models(&["nomic-embed-text", "first", "second"], vec![], None);
    let name = |settings: ModelSettings, role| Model::new(settings).name_for(role, &StopSignal::never());
    assert_eq!(name(settings(&server), Role::Locator), Ok("first".to_owned()));
    let named = ModelSettings {
        name: Some("second".into()),
        role_names: [(Role::Analyzer, "third".to_owned())].into(),
        ..settings(&server)
    };
    assert_eq!(name(named.clone(), Role::Locator), Ok("second".to_owned()));
    assert_eq!(name(named.clone(), Role::Analyzer), Ok("third".to_owned()));
    // A server that does not list its models may still have the one that is named.
    let server = ChatServer::listing(ChatStep::Fail(404, "no such page".into()), vec![], None);
    let named = ModelSettings { url: server.url().parse().unwrap(), ..named };
    assert_eq!(name(named, Role::Locator), Ok("second".to_owned()));
}
