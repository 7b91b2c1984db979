//! A text that comes in pieces, as lines.

/// Longer lines are read in parts of this size.
pub(super) const PART_BYTES: usize = 64 << 10;

/// Splits a text that comes in pieces into lines, and long lines into parts at fixed places.
#[derive(Default)]
pub(super) struct LineFeeder {
    /// The beginning of a part whose end has not come.
    rest: Vec<u8>,
}

impl LineFeeder {
    /// Calls `visit` with each part that is complete, and whether it ends its line.
    pub(super) fn feed(&mut self, mut bytes: &[u8], mut visit: impl FnMut(&[u8], bool)) {
        while !bytes.is_empty() {
            let room = PART_BYTES - self.rest.len();
            let end = memchr::memchr(b'\n', &bytes[..bytes.len().min(room + 1)]);
            match end {
                Some(end) if self.rest.is_empty() => {
                    visit(&bytes[..end], true);
                    bytes = &bytes[end + 1..];
                }
                Some(end) => {
                    self.rest.extend_from_slice(&bytes[..end]);
                    visit(&self.rest, true);
                    self.rest.clear();
                    bytes = &bytes[end + 1..];
                }
                // One byte more than a part, and no end: the line goes on.
                None if bytes.len() > room => {
                    self.rest.extend_from_slice(&bytes[..room]);
                    visit(&self.rest, false);
                    self.rest.clear();
                    bytes = &bytes[room..];
                }
                None => {
                    self.rest.extend_from_slice(bytes);
                    return;
                }
            }
        }
    }

    /// What follows the last newline.
    pub(super) fn finish(self) -> Vec<u8> {
        self.rest
    }
}
