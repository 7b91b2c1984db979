//! `serve`: who may connect, and a port that is taken.

use super::common::{Fixture, Server, http};

#[test]
fn a_taken_port_is_explained() {
    let fixture = Fixture::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = fixture.run(&["serve", "--port", &port], b"");
    assert_eq!(ran.code, Some(1));
    let lines: Vec<_> = ran.stderr.lines().collect();
    assert_eq!(lines[0], format!("error: cannot listen on `127.0.0.1:{port}`"));
    assert!(lines[1].starts_with("  because: "), "{}", ran.stderr);
    assert_eq!(
        lines[3],
        "hint: another tamis may be running there; `tamis serve --port 0` picks a free port"
    );
}

#[test]
fn the_network_gets_in_with_a_token_only() {
    let fixture = Fixture::new();
    let refused = fixture.run(&["serve", "--host", "0.0.0.0", "--port", "0"], b"");
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("hint: create and print a token with `tamis token`"),
        "{}",
        refused.stderr
    );
    let token = fixture.run(&["token"], b"").stdout;
    assert_eq!(token.trim().len(), 48);
    assert_eq!(fixture.run(&["token"], b"").stdout, token, "made once");
    let server = Server::start(fixture.tamis(&["serve", "--host", "0.0.0.0", "--port", "0"]));
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], server.address().port()));
    assert_eq!(http(address, "GET", "/health", &[], b"").0, 401);
    let bearer = format!("Bearer {}", token.trim());
    assert_eq!(http(address, "GET", "/health", &[("Authorization", &bearer)], b"").0, 200);
}
