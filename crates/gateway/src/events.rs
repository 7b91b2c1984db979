//! Server-sent events: messages in the body of an HTTP response.

use std::mem::take;
use std::time::Duration;

use crate::lines::MAX_LINE_BYTES;

/// Reads events from the pieces of a body.
#[derive(Default)]
pub(crate) struct EventReader {
    /// The line that is not complete yet.
    line: Vec<u8>,
    /// The last byte was a carriage return, so a newline that follows belongs to it.
    after_return: bool,
    data: Option<Vec<u8>>,
    /// Of the last event that has one.
    pub(crate) last_id: Option<String>,
    /// How long to wait before the stream is opened again.
    pub(crate) retry: Option<Duration>,
}

/// A message is larger than the limit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl EventReader {
    /// The data of the events that this piece completes. Events without data are left out.
    pub(crate) fn read(&mut self, piece: &[u8]) -> Result<Vec<Vec<u8>>, TooLong> {
        let mut events = Vec::new();
        let mut rest = piece;
        while let Some(&first) = rest.first() {
            if take(&mut self.after_return) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.line.extend_from_slice(rest);
                break;
            };
            self.line.extend_from_slice(&rest[..end]);
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            let line = take(&mut self.line);
            events.extend(self.end_line(&line));
        }
        let held = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
        if held > MAX_LINE_BYTES { Err(TooLong) } else { Ok(events) }
    }

    fn end_line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if line.is_empty() {
            return self.data.take().filter(|data| !data.is_empty());
        }
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => match &mut self.data {
                None => self.data = Some(value.to_vec()),
                // A newline between the lines of a message is white space of its JSON.
                Some(data) => {
                    data.push(b' ');
                    data.extend_from_slice(value);
                }
            },
            b"id" => self.last_id = String::from_utf8(value.to_vec()).ok(),
            b"retry" => {
                let milliseconds = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
                self.retry = milliseconds.map(Duration::from_millis).or(self.retry);
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_in_pieces_of_any_size() {
        let text = b"\xef\xbb\xbf: comment\r\nid: 7\nretry: 20\ndata:\n\nevent: message\r\ndata: {\"a\":\r\ndata:1}\r\n\r\ndata: {}\rid\r\rdata: never ends";
        for size in 1..=text.len() {
            let mut reader = EventReader::default();
            let events: Vec<_> = text.chunks(size).flat_map(|piece| reader.read(piece).unwrap()).collect();
            assert_eq!(events, [b"{\"a\": 1}".to_vec(), b"{}".to_vec()], "{size}");
            assert_eq!(reader.last_id.as_deref(), Some(""));
            assert_eq!(reader.retry, Some(Duration::from_millis(20)));
        }
    }
}
