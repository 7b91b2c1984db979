//! Writes log lines to stderr; while a client is served, through a queue and a thread.
//!
//! A client may never read the stderr of the MCP server that it starts. Once that pipe is full, a write blocks forever, and
//! after about fifty calls the server hung. So while it serves, lines are queued; lines that do not fit are counted and dropped.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::escape;

/// Maximum number of bytes in the queue, enough for a slow reader.
const MAX_QUEUED_BYTES: usize = 1 << 20;

/// Time limit for writing queued lines when the process ends.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

static QUEUE: OnceLock<Queue> = OnceLock::new();

#[derive(Default)]
struct Queue {
    queued: Mutex<Queued>,
    changed: Condvar,
}

#[derive(Default)]
struct Queued {
    bytes: Vec<u8>,
    /// Number of lines that did not fit.
    dropped: usize,
    /// Whether lines have been taken and are not written yet.
    writing: bool,
}

/// From now on logging never blocks on the reader of stderr.
pub(crate) fn detach() {
    if QUEUE.set(Queue::default()).is_err() {
        return;
    }
    let deliver = || {
        if let Some(queue) = QUEUE.get() {
            queue.deliver(&mut io::stderr());
        }
    };
    // Without a thread the queue fills up, and the server still serves.
    let _ = std::thread::Builder::new().name("diagnostics".into()).spawn(deliver);
}

/// Waits a moment for queued lines to be written.
pub(crate) fn flush() {
    if let Some(queue) = QUEUE.get() {
        queue.flush(FLUSH_TIMEOUT);
    }
}

/// The writer of `tracing`, which writes one line at a time.
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

/// Escapes control characters: a log line may quote a file name or the output of a program, which must neither forge lines nor
/// control the terminal.
fn one_line(line: &[u8]) -> Cow<'_, [u8]> {
    let (text, end) = line.strip_suffix(b"\n").map_or((line, ""), |text| (text, "\n"));
    let text = String::from_utf8_lossy(text);
    let odd = |letter: char| escape::is_control(letter) && letter != '\t';
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
        let mut queued = self.lock();
        if queued.bytes.len() + line.len() > MAX_QUEUED_BYTES {
            queued.dropped += 1;
        } else {
            queued.bytes.extend_from_slice(line);
        }
        self.changed.notify_all();
    }

    /// Writes queued lines; never returns.
    fn deliver(&self, out: &mut impl Write) {
        loop {
            let queued = self.lock();
            let mut queued = self
                .changed
                .wait_while(queued, |queued| queued.bytes.is_empty())
                .unwrap_or_else(PoisonError::into_inner);
            let mut bytes = std::mem::take(&mut queued.bytes);
            let dropped = std::mem::take(&mut queued.dropped);
            queued.writing = true;
            drop(queued);
            if dropped > 0 {
                bytes.extend_from_slice(
                    format!("({dropped} lines were dropped: stderr was not read)\n").as_bytes(),
                );
            }
            // Without a reader there is nothing to report to.
            let _ = out.write_all(&bytes);
            self.lock().writing = false;
            self.changed.notify_all();
        }
    }

    fn flush(&self, time_limit: Duration) {
        let left = |queued: &mut Queued| !queued.bytes.is_empty() || queued.writing;
        // After the time limit the process ends anyway.
        let _ = self.changed.wait_timeout_while(self.lock(), time_limit, left);
    }

    fn lock(&self) -> MutexGuard<'_, Queued> {
        self.queued.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_in_a_line_are_escaped() {
        let shown = |line: &str| String::from_utf8(one_line(line.as_bytes()).into_owned()).unwrap();
        assert_eq!(shown("all is\twell, é\n"), "all is\twell, é\n");
        assert_eq!(
            shown("said \u{1b}[2J\r\nINFO forged\u{9b}1m\n"),
            "said \\u{1b}[2J\\r\\nINFO forged\\u{9b}1m\n"
        );
        // They turn the direction of the text, break lines, or are invisible.
        assert_eq!(
            shown("a\u{202e}b\u{2066}c\u{2028}d\u{e0041}\n"),
            "a\\u{202e}b\\u{2066}c\\u{2028}d\\u{e0041}\n"
        );
    }
}
