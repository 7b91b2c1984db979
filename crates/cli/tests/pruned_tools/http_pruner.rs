//! A real HTTP server in a pruner's place, well or badly behaved.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

/// What a pruner does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Manners {
    /// Answers with this status and body.
    Answer(u16, &'static str, Vec<u8>),
    /// Sends these bytes, whatever they are, and hangs up.
    Bytes(Vec<u8>),
    /// Hangs up without a word.
    HangUp,
    /// Never says anything.
    Silent,
    /// Sends the head of a good answer, and then never anything.
    HeadOnly,
    /// Sends a good answer, one byte every few milliseconds, and never gets to its end.
    Drip,
    /// Sends a body that never ends, as fast as it can.
    Endless,
    /// Sends less than it promised, and hangs up.
    Short,
}

impl Manners {
    pub(crate) fn json(body: &Value) -> Manners {
        Manners::Answer(200, "application/json", body.to_string().into_bytes())
    }
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

pub(crate) struct HttpPruner {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Received>>>,
    /// Conversations that are over.
    ended: Arc<AtomicUsize>,
}

impl HttpPruner {
    pub(crate) fn start(manners: Manners) -> HttpPruner {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/prune", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&received);
        let ended = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&ended);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (manners, kept, count) = (manners.clone(), Arc::clone(&kept), Arc::clone(&count));
                std::thread::spawn(move || {
                    // A connection closed within a response is an error for the client.
                    let _ = serve(stream, &manners, &kept);
                    count.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        HttpPruner { url, received, ended }
    }

    /// An address that refuses connections.
    pub(crate) fn refusing_url() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/prune", listener.local_addr().unwrap())
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    pub(crate) fn ended(&self) -> usize {
        self.ended.load(Ordering::SeqCst)
    }

    /// The bodies so far, as JSON.
    pub(crate) fn questions(&self) -> Vec<Value> {
        self.received().iter().map(|received| serde_json::from_slice(&received.body).unwrap()).collect()
    }
}

fn serve(stream: TcpStream, manners: &Manners, kept: &Mutex<Vec<Received>>) -> std::io::Result<()> {
    let mut input = BufReader::new(stream.try_clone()?);
    let mut out = stream;
    let mut line = String::new();
    input.read_line(&mut line)?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        input.read_line(&mut header)?;
        match header.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.to_owned())),
            None => break,
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").unwrap().1.parse().unwrap();
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    kept.lock().unwrap().push(Received { line: line.trim_end().to_owned(), headers, body });

    let head = |status: u16, kind: &str, length: usize| {
        format!(
            "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        )
    };
    let good = br#"{"pruned_code": "PRUNED"}"#;
    match manners {
        Manners::Answer(status, kind, body) => {
            out.write_all(head(*status, kind, body.len()).as_bytes())?;
            out.write_all(body)?;
        }
        Manners::Bytes(bytes) => out.write_all(bytes)?,
        Manners::HangUp => {}
        Manners::Silent => wait_for_the_end(&mut input)?,
        Manners::HeadOnly => {
            out.write_all(head(200, "application/json", good.len()).as_bytes())?;
            wait_for_the_end(&mut input)?;
        }
        Manners::Drip => {
            out.write_all(head(200, "application/json", 1 << 20).as_bytes())?;
            for byte in good.iter().chain(std::iter::repeat(&b' ')) {
                out.write_all(&[*byte])?;
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        Manners::Endless => {
            out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"pruned_code\": \"")?;
            let chunk = [b'x'; 64 << 10];
            loop {
                out.write_all(&chunk)?;
            }
        }
        Manners::Short => {
            out.write_all(head(200, "application/json", good.len() + 10).as_bytes())?;
            out.write_all(good)?;
        }
    }
    out.flush()?;
    out.shutdown(Shutdown::Both)
}

fn wait_for_the_end(input: &mut impl Read) -> std::io::Result<()> {
    input.read_to_end(&mut Vec::new()).map(drop)
}
