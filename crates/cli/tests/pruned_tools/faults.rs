//! A pruner that misbehaves: always the raw output, and never later than the time limit says.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::http_pruner::{HttpPruner, Manners};
use crate::server::{PATIENCE, Place, Server, eventually};

const RAW: &str = "the raw output\n";

/// Whether a fault shows at once, or only when the time is up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shows {
    AtOnce,
    AtTheLimit,
}

/// Every way of the table of errors, and some more.
pub(crate) fn faults() -> Vec<(&'static str, Manners, Shows)> {
    use Shows::{AtOnce, AtTheLimit};
    let answer = |status, body: &str| Manners::Answer(status, "application/json", body.as_bytes().to_vec());
    let good = r#"{"pruned_code": "PRUNED"}"#;
    vec![
        ("silent", Manners::Silent, AtTheLimit),
        ("a head without a body", Manners::HeadOnly, AtTheLimit),
        ("dripping", Manners::Drip, AtTheLimit),
        ("endless", Manners::Endless, AtOnce),
        ("hanging up", Manners::HangUp, AtOnce),
        ("short", Manners::Short, AtOnce),
        ("500", answer(500, good), AtOnce),
        ("404", answer(404, good), AtOnce),
        ("302", answer(302, good), AtOnce),
        ("422", answer(422, r#"{"detail": []}"#), AtOnce),
        ("204", Manners::Bytes(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()), AtOnce),
        ("HTML", Manners::Answer(200, "text/html", b"<html>no</html>".to_vec()), AtOnce),
        ("no body", answer(200, ""), AtOnce),
        ("an empty object", answer(200, "{}"), AtOnce),
        ("null", answer(200, "null"), AtOnce),
        ("a string", answer(200, "\"PRUNED\""), AtOnce),
        ("an array", answer(200, "[\"PRUNED\"]"), AtOnce),
        ("cut off", answer(200, r#"{"pruned_code": "PRU"#), AtOnce),
        ("wrong types", answer(200, r#"{"pruned_code": 1, "content": null, "text": ["x"]}"#), AtOnce),
        ("no UTF-8", Manners::Answer(200, "application/json", b"{\"text\": \"\xff\"}".to_vec()), AtOnce),
        ("no HTTP", Manners::Bytes(b"220 ready\r\n\r\n".to_vec()), AtOnce),
        ("headers without end", Manners::Bytes(b"HTTP/1.1 200 OK\r\nx: ".repeat(1 << 16)), AtOnce),
    ]
}

fn serve(place: &Place, url: &str, timeout_ms: u64) -> Server {
    let mut command = place.command();
    command.env("PRUNER_URL", url).env("PRUNER_TIMEOUT_MS", timeout_ms.to_string());
    Server::start(command)
}

fn ask(server: &mut Server) -> (String, Duration) {
    let begun = Instant::now();
    let text = server.text("read", json!({"file_path": "raw.txt", "context_focus_question": "q"}));
    (text, begun.elapsed())
}

#[test]
fn whatever_a_pruner_does_the_raw_output_comes_back() {
    let place = Place::new();
    place.write("raw.txt", RAW);
    for (name, manners, shows) in faults() {
        let pruner = HttpPruner::start(manners);
        // Where it shows at once, the limit is so long that waiting for it would fail the test.
        let timeout_ms = if shows == Shows::AtOnce { 300_000 } else { 100 };
        let mut server = serve(&place, &pruner.url, timeout_ms);
        let (text, elapsed) = ask(&mut server);
        assert_eq!(text, RAW, "{name}");
        assert!(elapsed < PATIENCE, "{name} took {elapsed:?}");
        if shows == Shows::AtTheLimit {
            assert!(elapsed >= Duration::from_millis(100), "{name} took {elapsed:?}");
        }
        assert_eq!(
            server.last_way()[5..],
            ["req:calling_pruner", "req:pruner_error_fallback", "req:respond_raw", "req:responded"],
            "{name}"
        );
        assert_eq!(pruner.received().len(), 1, "{name}: one request");
        eventually("the pruner was hung up on", || pruner.ended() == 1);
    }
}

#[test]
fn an_address_that_leads_nowhere_gives_the_raw_output() {
    let place = Place::new();
    place.write("raw.txt", RAW);
    for url in [
        HttpPruner::refusing_url(),
        HttpPruner::refusing_url().replace("127.0.0.1", "localhost"),
        HttpPruner::refusing_url().replace("127.0.0.1", "[::1]"),
        HttpPruner::refusing_url().replace("http:", "https:"),
    ] {
        let mut server = serve(&place, &url, 200);
        assert_eq!(ask(&mut server).0, RAW, "{url}");
        assert!(server.last_way().contains(&"req:pruner_error_fallback".to_owned()), "{url}");
    }
    // These are not usable addresses, which is reported once, at the start.
    for url in ["not an address", "localhost:8000/prune", "ftp://127.0.0.1/", "http://user:secret@127.0.0.1/"]
    {
        let mut server = serve(&place, url, 200);
        assert_eq!(ask(&mut server).0, RAW, "{url}");
        let said =
            server.wait_for_log("warning", |line| line.contains("WARN") && line.contains("PRUNER_URL"));
        assert!(!said.contains("secret"), "{said}");
    }
}

/// Prints by how much the time limit is overrun, beside how long a call without a pruner takes.
#[test]
#[ignore = "a measurement: ./test --long runs it"]
fn how_late_the_raw_output_comes() {
    const TIMEOUT_MS: u64 = 200;
    let place = Place::new();
    place.write("raw.txt", RAW);
    let mut server = place.serve();
    let mut plain: Vec<_> = (0..100).map(|_| ask(&mut server).1).collect();
    plain.sort();
    let mut worst = (Duration::ZERO, "");
    for (name, manners, _) in faults() {
        let pruner = HttpPruner::start(manners);
        let mut server = serve(&place, &pruner.url, TIMEOUT_MS);
        for _ in 0..10 {
            let (text, elapsed) = ask(&mut server);
            assert_eq!(text, RAW);
            worst = worst.max((elapsed, name));
        }
    }
    println!(
        "pruner that misbehaves, limit {TIMEOUT_MS} ms: raw output after {:.1} ms at worst ({}); without a pruner {:.2} ms (median)",
        worst.0.as_secs_f64() * 1000.0,
        worst.1,
        plain[50].as_secs_f64() * 1000.0
    );
}
