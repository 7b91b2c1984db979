//! Secrets taken out of texts and JSON: tokens, keys, passwords, private keys, credentials in addresses and headers.
//!
//! Only the secret goes, and a mark like `[redacted:github-token]` takes its place. Every other byte stays, lines stay
//! where they are, and JSON stays JSON, so that a reference to `path:line` still points at what it pointed at. Redacting
//! twice changes nothing more.
//!
//! Entry points: [`Redacted`] is the type of everything that may be shown; [`excerpt`] and [`excerpt_around`] take parts of
//! long texts; [`redact_json`] is for JSON;
//! [`Redacted::searchable`] and [`searchable_bytes`] give what a search may compare, and [`with_marks`] shows what it found. Secrets are recognised by their own form (`rules`), by the name beside them
//! (`names`, `assignment`, `judge`), or by their position (`columns`, `url`, `headers`, `private_key`).
//!
//! Never here: files, clocks and network; cutting a text before it is redacted; hiding random-looking strings that have
//! neither a known form nor a name, since hashes, ids and contents look the same.

mod assignment;
mod columns;
mod escapes;
mod excerpt;
mod headers;
mod json;
mod judge;
mod names;
mod near;
mod private_key;
mod randomness;
mod reading;
mod redacted;
mod rules;
mod scan;
mod searchable;
mod url;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

pub use excerpt::{excerpt, excerpt_around};
pub use json::redact_json;
pub use redacted::{Redact, Redacted};
use scan::{Edit, Scanner};
pub use searchable::{searchable_bytes, with_marks};

/// How every mark begins.
const MARK: &str = "[redacted:";

/// No finder looks further than this from its keyword, except that of tables: it reads on to the table's end, so one scan of
/// the whole text finds all rows, and nothing is left for the scans near marks.
const NEIGHBOURHOOD: usize = 4096;

/// How often a text is scanned again.
const MAX_ROUNDS: usize = 16;

/// Finds and hides secrets.
pub struct Redactor {
    scanner: Scanner,
}

impl Redactor {
    /// The shared instance. It is built on first use, in a few milliseconds.
    pub fn standard() -> &'static Redactor {
        static STANDARD: LazyLock<Redactor> = LazyLock::new(|| Redactor { scanner: Scanner::new() });
        &STANDARD
    }

    /// `text` with marks in place of its secrets. Borrowed when there are none.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redact_and_map(text, &mut [])
    }

    /// [`Redactor::redact`], which also changes `places`, offsets into `text`, to what they are in the redacted text. A
    /// place inside a secret becomes the start of its mark.
    fn redact_and_map<'a>(&self, text: &'a str, places: &mut [usize]) -> Cow<'a, str> {
        let mut redacted = Cow::Borrowed(text);
        let mut edits = self.scanner.edits(text.as_bytes());
        // A mark is another neighbour than the secret was, so what is near it is scanned again until nothing changes. That
        // is nearly always at once.
        for _ in 0..MAX_ROUNDS {
            if edits.is_empty() {
                break;
            }
            let (next, marks) = apply(&redacted, &edits);
            for place in places.iter_mut() {
                *place = mapped(*place, &edits, &marks);
            }
            edits = self.edits_near(&next, &marks);
            redacted = Cow::Owned(next);
        }
        redacted
    }

    /// `value`, whose name is known from elsewhere, such as the key of a JSON object: under `password`, a value is a secret
    /// that would pass by itself. An empty name announces nothing.
    pub fn redact_named<'a>(&self, name: &str, value: &'a str) -> Cow<'a, str> {
        let redacted = self.redact(value);
        let kind = names::announced_kind(name.as_bytes())
            .filter(|kind| judge::is_secret(*kind, value.as_bytes(), judge::Notation::Quoted));
        match kind {
            // The form of the value gives a better label than its name.
            Some(kind) if !is_one_mark(&redacted) => Cow::Owned(format!("{MARK}{}]", kind.label())),
            _ => redacted,
        }
    }

    /// What else to hide near these marks.
    fn edits_near(&self, text: &str, marks: &[Range<usize>]) -> Vec<Edit> {
        let mut edits: Vec<Edit> = Vec::new();
        let mut marks = marks.iter().peekable();
        while let Some(first) = marks.next() {
            let (from, mut near) = (first.start, first.clone());
            while let Some(next) = marks.next_if(|next| next.start < near.end + 4 * NEIGHBOURHOOD) {
                near.end = next.end;
            }
            let start = text.floor_char_boundary(from.saturating_sub(2 * NEIGHBOURHOOD));
            let end = text.ceil_char_boundary((near.end + 2 * NEIGHBOURHOOD).min(text.len()));
            let found = self.scanner.edits(&text.as_bytes()[start..end]);
            // What is at the edges was scanned whole before, and only looks new because its neighbours are cut off.
            let edge = |at: usize| at + NEIGHBOURHOOD < near.start || at > near.end + NEIGHBOURHOOD;
            edits.extend(found.into_iter().filter_map(|edit| {
                let range = edit.range.start + start..edit.range.end + start;
                (!edge(range.start) && !edge(range.end)).then_some(Edit { range, ..edit })
            }));
        }
        edits
    }
}

/// `text` with marks in place of the edits, and where the marks are in it.
fn apply(text: &str, edits: &[Edit]) -> (String, Vec<Range<usize>>) {
    let mut redacted = String::with_capacity(text.len());
    let mut marks = Vec::with_capacity(edits.len());
    let mut at = 0;
    for Edit { range, label } in edits {
        redacted.push_str(&text[at..range.start]);
        let start = redacted.len();
        redacted.push_str(MARK);
        redacted.push_str(label);
        redacted.push(']');
        marks.push(start..redacted.len());
        at = range.end;
    }
    redacted.push_str(&text[at..]);
    (redacted, marks)
}

/// Where an offset into the text before the edits is after them.
fn mapped(place: usize, edits: &[Edit], marks: &[Range<usize>]) -> usize {
    match edits.partition_point(|edit| edit.range.start < place).checked_sub(1) {
        None => place,
        Some(last) if place < edits[last].range.end => marks[last].start,
        Some(last) => marks[last].end + place - edits[last].range.end,
    }
}

fn is_one_mark(text: &str) -> bool {
    text.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(']')).is_some_and(|label| !label.contains(']'))
}
