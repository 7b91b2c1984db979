//! A progress line on stderr, erased when the answer comes.
//!
//! Why not indicatif: with it this module has 59 lines instead of 93, but it draws a spinner at once, so that short work flickers,
//! and formats every message, drawn or not. It costs 3 packages and 116 KB of binary.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Work that ends sooner shows no line.
const DELAY: Duration = Duration::from_millis(200);
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

/// A line on stderr that is redrawn in place and erased at the end. Not shown unless stderr is a terminal.
pub(crate) struct ProgressLine {
    begun: Instant,
    last_drawn: Option<Instant>,
    is_terminal: bool,
}

impl ProgressLine {
    pub(crate) fn new() -> ProgressLine {
        ProgressLine { begun: Instant::now(), last_drawn: None, is_terminal: std::io::stderr().is_terminal() }
    }

    pub(crate) fn show(&mut self, line: impl FnOnce() -> String) {
        let due = self.last_drawn.is_none_or(|at| at.elapsed() >= REDRAW_INTERVAL);
        if self.is_terminal && due && self.begun.elapsed() >= DELAY {
            self.last_drawn = Some(Instant::now());
            draw(&format!("\r{}\x1b[K", line()));
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.last_drawn.is_some() {
            draw("\r\x1b[K");
        }
    }
}

fn draw(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The same, redrawn by a thread: for work that does not report its progress regularly.
pub(crate) struct Spinner {
    text: Arc<Mutex<String>>,
    /// Dropped to end the thread.
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Spinner {
    pub(crate) fn new() -> Spinner {
        let text = Arc::new(Mutex::new(String::new()));
        let mut progress = ProgressLine::new();
        if !progress.is_terminal {
            return Spinner { text, running: None, thread: None };
        }
        let (running, ended) = channel::<()>();
        let shown = Arc::clone(&text);
        let tick = move || {
            while ended.recv_timeout(REDRAW_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let seconds = progress.begun.elapsed().as_secs();
                let line = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
                progress.show(|| format!("{line} … {seconds} s"));
            }
        };
        // Without a thread there is only no line.
        let thread = std::thread::Builder::new().name("progress".into()).spawn(tick).ok();
        Spinner { text, running: Some(running), thread }
    }

    pub(crate) fn set_text(&self, text: String) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        drop(self.running.take());
        if let Some(thread) = self.thread.take() {
            // A panic there costs only the line.
            let _ = thread.join();
        }
    }
}
