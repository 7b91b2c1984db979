//! HTTP written by hand for servers that fail on command: no library sends half an answer.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

/// How often a silent server checks whether it is released or the client is gone.
pub(crate) const LOOK: Duration = Duration::from_millis(5);

/// A request with its whole body.
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    /// With its query.
    pub(crate) path: String,
    /// Names in lower case, in order of arrival.
    pub(crate) headers: Vec<(String, String)>,
    /// Null if there was none, a string if it was not JSON.
    pub(crate) body: Value,
}

/// Accepts connections on a free port of 127.0.0.1, each on its own thread, until dropped.
pub(crate) struct Listening {
    pub(crate) address: SocketAddr,
    closed: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Listening {
    pub(crate) fn start(serve: impl Fn(TcpStream, SocketAddr) + Send + Sync + 'static) -> Listening {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let closed = Arc::new(AtomicBool::new(false));
        let (serve, over) = (Arc::new(serve), Arc::clone(&closed));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                let (Ok(stream), serve) = (stream, Arc::clone(&serve)) else { continue };
                std::thread::spawn(move || serve(stream, address));
            }
        });
        Listening { address, closed, thread: Some(thread) }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
        // Wakes the listener, which then ends.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Sends nothing until `over` returns a value or the client disconnects.
pub(crate) fn hold(stream: &mut TcpStream, over: impl Fn() -> Option<Held>) -> Held {
    let _ = stream.set_read_timeout(Some(LOOK));
    loop {
        if let Some(held) = over() {
            return held;
        }
        match stream.read(&mut [0]) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            _ => return Held::HungUp,
        }
    }
}

/// Why a silence ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    Released,
    HungUp,
    /// The server ends.
    Closed,
}

pub(crate) fn head(status: u16, headers: &[(&str, &str)], length: usize) -> String {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!(
        "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n{headers}\r\n"
    )
}

pub(crate) fn respond(stream: &mut TcpStream, status: u16, headers: &[(&str, &str)], body: &str) {
    // The client may have disconnected.
    let _ = stream.write_all((head(status, headers, body.len()) + body).as_bytes());
}

/// Sends the head of an answer and half of its body.
pub(crate) fn respond_half(stream: &mut TcpStream, status: u16, body: &str) {
    let _ = stream.write_all(head(status, &[], body.len()).as_bytes());
    let _ = stream.write_all(&body.as_bytes()[..body.len() / 2]);
}

pub(crate) fn hang_up(stream: &TcpStream) {
    let _ = stream.shutdown(Shutdown::Both);
}

/// A request with its whole body; none when the client disconnected before.
pub(crate) fn read_request(stream: &mut TcpStream) -> Option<HttpRequest> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 << 10];
    let (head, body) = loop {
        let count = stream.read(&mut buffer).ok().filter(|&count| count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = headers(&head).find(|(name, _)| name == "content-length");
        let whole = end + 4 + length.and_then(|(_, length)| length.parse::<usize>().ok()).unwrap_or(0);
        while bytes.len() < whole {
            let count = stream.read(&mut buffer).ok().filter(|&count| count > 0)?;
            bytes.extend_from_slice(&buffer[..count]);
        }
        break (head, bytes[end + 4..whole].to_vec());
    };
    let mut words = head.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let text = || Value::String(String::from_utf8_lossy(&body).into_owned());
    let json =
        if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap_or_else(|_| text()) };
    Some(HttpRequest { method, path, headers: headers(&head).collect(), body: json })
}

fn headers(head: &str) -> impl Iterator<Item = (String, String)> {
    head.lines().skip(1).filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    })
}
