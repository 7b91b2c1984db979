//! A pruner behind TLS is used only if the machine trusts its certificate.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use serde_json::json;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::server::{Place, Server};

/// A certificate for localhost and its key, which no machine trusts.
const PEM: &[u8] = include_bytes!("only-for-tests.pem");

fn start_pruner() -> String {
    let certificate = CertificateDer::from_pem_slice(PEM).unwrap();
    let key = PrivateKeyDer::from_pem_slice(PEM).unwrap();
    let config =
        ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}/prune", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            let mut request = Vec::new();
            let mut part = [0; 4096];
            // The request is small, and the last byte of its body is a brace.
            while !request.ends_with(b"}") {
                match stream.read(&mut part) {
                    Ok(read @ 1..) => request.extend_from_slice(&part[..read]),
                    _ => break,
                }
            }
            let body = r#"{"pruned_code": "PRUNED"}"#;
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let _ = stream.write_all((head + body).as_bytes());
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    url
}

#[test]
fn a_pruner_behind_tls_is_asked_if_it_is_trusted() {
    let place = Place::new();
    place.write("text.txt", "raw");
    let trusted = place.write("authorities.pem", PEM);
    let url = start_pruner();
    let arguments = json!({"file_path": "text.txt", "context_focus_question": "q"});

    let mut command = place.command();
    command.env("PRUNER_URL", &url).env("SSL_CERT_FILE", &trusted);
    assert_eq!(Server::start(command).text("read", arguments.clone()), "PRUNED");

    let mut stranger = place.serve_with(&url);
    assert_eq!(stranger.text("read", arguments), "raw");
    let said = stranger.wait_for_log("failure", |line| line.contains("req:pruner_error_fallback ("));
    assert!(said.contains("certificate"), "{said}");
}
