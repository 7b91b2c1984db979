//! What somebody sees who waits: a line on stderr that is gone when the answer comes.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What is over sooner needs no line.
const PATIENCE: Duration = Duration::from_millis(200);
const BETWEEN: Duration = Duration::from_millis(100);

/// A line on stderr that is written over and over, and gone at the end. Nobody sees it where stderr is no terminal.
pub(crate) struct Waiting {
    begun: Instant,
    drawn: Option<Instant>,
    looked_at: bool,
}

impl Waiting {
    pub(crate) fn new() -> Waiting {
        Waiting { begun: Instant::now(), drawn: None, looked_at: std::io::stderr().is_terminal() }
    }

    pub(crate) fn show(&mut self, line: impl FnOnce() -> String) {
        let due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= BETWEEN);
        if self.looked_at && due && self.begun.elapsed() >= PATIENCE {
            self.drawn = Some(Instant::now());
            draw(&format!("\r{}\x1b[K", line()));
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.drawn.is_some() {
            draw("\r\x1b[K");
        }
    }
}

fn draw(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The same for work that tells what it is at, and not when to say so.
pub(crate) struct Ticking {
    at: Arc<Mutex<String>>,
    /// Dropped to end it.
    going: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticking {
    pub(crate) fn new() -> Ticking {
        let at = Arc::new(Mutex::new(String::new()));
        let mut waiting = Waiting::new();
        if !waiting.looked_at {
            return Ticking { at, going: None, thread: None };
        }
        let (going, ended) = channel::<()>();
        let said = Arc::clone(&at);
        let tick = move || {
            while ended.recv_timeout(BETWEEN) == Err(RecvTimeoutError::Timeout) {
                let seconds = waiting.begun.elapsed().as_secs();
                let line = said.lock().unwrap_or_else(PoisonError::into_inner).clone();
                waiting.show(|| format!("{line} … {seconds} s"));
            }
        };
        // Without a thread there is no line, and the work goes on.
        let thread = std::thread::Builder::new().name("waiting".into()).spawn(tick).ok();
        Ticking { at, going: Some(going), thread }
    }

    pub(crate) fn at(&self, what: String) {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = what;
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        drop(self.going.take());
        if let Some(thread) = self.thread.take() {
            // It only draws, and draws nothing more.
            let _ = thread.join();
        }
    }
}
