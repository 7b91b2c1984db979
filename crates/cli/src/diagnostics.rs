//! Where log lines go: to stderr, and while a client is served, by way of a thread.
//!
//! Whoever starts an MCP server may never read its stderr. Once such a pipe is full, writing to it waits for ever, and
//! after some fifty calls so did the server. So while it serves, lines are queued, and what finds no room is counted and
//! dropped.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// How many bytes may wait to be read. Enough for any reader that is only slow.
const MOST_WAITING: usize = 1 << 20;

/// How long the end of the process may wait for a reader.
const PATIENCE_AT_THE_END: Duration = Duration::from_millis(500);

static QUEUE: OnceLock<Queue> = OnceLock::new();

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// Lines that found no room.
    dropped: usize,
    /// Whether some have been taken and are not written yet.
    writing: bool,
}

/// From now on nobody who logs waits for whoever reads.
pub(crate) fn detach() {
    if QUEUE.set(Queue::default()).is_err() {
        return;
    }
    let deliver = || {
        if let Some(queue) = QUEUE.get() {
            queue.deliver(&mut io::stderr());
        }
    };
    // Without a thread the queue fills up, and the server serves.
    let _ = std::thread::Builder::new().name("diagnostics".into()).spawn(deliver);
}

/// Gives what is queued a moment to be read.
pub(crate) fn flush() {
    if let Some(queue) = QUEUE.get() {
        queue.flush(PATIENCE_AT_THE_END);
    }
}

/// One line at a time, as `tracing` writes them.
pub(crate) struct Lines;

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let one = one_line(line);
        match QUEUE.get() {
            Some(queue) => queue.push(&one),
            None => io::stderr().write_all(&one)?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The line with its control characters spelled out. What is logged may quote a file's name, or what a program said, and
/// neither is to write lines of its own or paint the terminal of whoever reads.
fn one_line(line: &[u8]) -> Cow<'_, [u8]> {
    let (text, end) = line.strip_suffix(b"\n").map_or((line, ""), |text| (text, "\n"));
    let text = String::from_utf8_lossy(text);
    let odd = |letter: char| letter.is_control() && letter != '\t';
    if !text.contains(odd) {
        return Cow::Borrowed(line);
    }
    let mut spelled = String::with_capacity(line.len() + 16);
    for letter in text.chars() {
        if odd(letter) { spelled.extend(letter.escape_default()) } else { spelled.push(letter) }
    }
    spelled.push_str(end);
    Cow::Owned(spelled.into_bytes())
}

impl Queue {
    fn push(&self, line: &[u8]) {
        let mut waiting = self.lock();
        if waiting.bytes.len() + line.len() > MOST_WAITING {
            waiting.dropped += 1;
        } else {
            waiting.bytes.extend_from_slice(line);
        }
        self.changed.notify_all();
    }

    /// Writes what is queued, until nobody reads it any more.
    fn deliver(&self, out: &mut impl Write) {
        loop {
            let waiting = self.lock();
            let mut waiting = self
                .changed
                .wait_while(waiting, |waiting| waiting.bytes.is_empty())
                .unwrap_or_else(PoisonError::into_inner);
            let mut bytes = std::mem::take(&mut waiting.bytes);
            let dropped = std::mem::take(&mut waiting.dropped);
            waiting.writing = true;
            drop(waiting);
            if dropped > 0 {
                bytes.extend_from_slice(
                    format!("({dropped} lines were dropped: nobody read them)\n").as_bytes(),
                );
            }
            // A reader that has gone misses nothing.
            let _ = out.write_all(&bytes);
            self.lock().writing = false;
            self.changed.notify_all();
        }
    }

    fn flush(&self, patience: Duration) {
        let left = |waiting: &mut Waiting| !waiting.bytes.is_empty() || waiting.writing;
        // Told or not, the process ends.
        let _ = self.changed.wait_timeout_while(self.lock(), patience, left);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_one_and_does_nothing_to_a_terminal() {
        let shown = |line: &str| String::from_utf8(one_line(line.as_bytes()).into_owned()).unwrap();
        assert_eq!(shown("all is\twell, é\n"), "all is\twell, é\n");
        assert_eq!(
            shown("said \u{1b}[2J\r\nINFO forged\u{9b}1m\n"),
            "said \\u{1b}[2J\\r\\nINFO forged\\u{9b}1m\n"
        );
    }
}
