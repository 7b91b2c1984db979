//! Writes JSON with its fields in the order in which the clients have them, straight into the log.

use std::fmt::Write as _;

/// Something open: an object or an array.
pub(crate) struct Json<'a> {
    out: &'a mut String,
}

impl<'a> Json<'a> {
    /// Writes one object.
    pub(crate) fn object(out: &'a mut String, fields: impl FnOnce(&mut Json<'_>)) {
        Json { out }.enclose('{', '}', fields);
    }

    fn enclose(&mut self, open: char, close: char, inside: impl FnOnce(&mut Json<'_>)) {
        self.out.push(open);
        inside(&mut Json { out: self.out });
        self.out.push(close);
    }

    fn separate(&mut self) {
        // A value never ends with an opening bracket: strings end with a quote.
        if !self.out.ends_with(['{', '[']) {
            self.out.push(',');
        }
    }

    fn key(&mut self, key: &str) {
        self.separate();
        self.out.push('"');
        self.out.push_str(key);
        self.out.push_str("\":");
    }

    pub(crate) fn text(&mut self, key: &str, text: &str) -> &mut Self {
        self.key(key);
        push_quoted(self.out, text);
        self
    }

    pub(crate) fn number(&mut self, key: &str, number: impl std::fmt::Display) -> &mut Self {
        self.key(key);
        let _ = write!(self.out, "{number}");
        self
    }

    /// JSON that is ready.
    pub(crate) fn raw(&mut self, key: &str, json: &str) -> &mut Self {
        self.key(key);
        self.out.push_str(json);
        self
    }

    pub(crate) fn fields(&mut self, key: &str, fields: impl FnOnce(&mut Json<'_>)) -> &mut Self {
        self.key(key);
        self.enclose('{', '}', fields);
        self
    }

    pub(crate) fn items(&mut self, key: &str, items: impl FnOnce(&mut Json<'_>)) -> &mut Self {
        self.key(key);
        self.enclose('[', ']', items);
        self
    }

    /// Ends a chain of fields that is all a closure has.
    pub(crate) fn done(&mut self) {}

    /// An object in an array.
    pub(crate) fn item(&mut self, fields: impl FnOnce(&mut Json<'_>)) -> &mut Self {
        self.separate();
        self.enclose('{', '}', fields);
        self
    }

    /// A string in an array.
    pub(crate) fn item_text(&mut self, text: &str) -> &mut Self {
        self.separate();
        push_quoted(self.out, text);
        self
    }
}

/// One object as a string of its own.
pub(crate) fn object(fields: impl FnOnce(&mut Json<'_>)) -> String {
    let mut out = String::new();
    Json::object(&mut out, fields);
    out
}

pub(crate) fn push_quoted(out: &mut String, text: &str) {
    out.reserve(text.len() + text.len() / 16 + 2);
    out.push('"');
    let mut copied = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\t' => "\\t",
            b'\r' => "\\r",
            // Colours of a terminal.
            0x1b => "\\u001b",
            _ => continue,
        };
        out.push_str(&text[copied..at]);
        out.push_str(escape);
        copied = at + 1;
    }
    out.push_str(&text[copied..]);
    out.push('"');
}
