//! Secrets out of free text: tokens, keys, passwords, private keys, credentials in addresses and headers.
//!
//! Only the secret goes, and a mark like `[redacted:github-token]` takes its place. Every other byte stays, lines stay
//! where they are, and JSON stays JSON, so that a reference to `path:line` still points at what it pointed at. Redacting
//! twice changes nothing more.
//!
//! Secrets are known by their own form (`rules`), by the name beside them (`names`, `assignment`, `judge`), or by
//! where they stand (`url`, `headers`, `private_key`). A drawn string with neither form nor name is left alone:
//! hashes, ids and contents look the same.

mod assignment;
mod headers;
mod judge;
mod names;
mod near;
mod private_key;
mod randomness;
mod reading;
mod rules;
mod scan;
mod url;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

use scan::{Edit, Scanner};

/// How every mark begins.
const MARK: &str = "[redacted:";

/// No finder looks further than that from where it stands.
const NEIGHBOURHOOD: usize = 4096;

/// How often a text is looked at again. Each time what is left of it is less.
const MOST_ROUNDS: usize = 16;

/// Finds and hides secrets.
pub struct Redactor {
    scanner: Scanner,
}

impl Redactor {
    /// The one that everybody uses. It is built when first asked for, in a few milliseconds.
    pub fn standard() -> &'static Redactor {
        static STANDARD: LazyLock<Redactor> = LazyLock::new(|| Redactor { scanner: Scanner::new() });
        &STANDARD
    }

    /// `text` with marks in place of its secrets. Borrowed when there are none.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut redacted = Cow::Borrowed(text);
        let mut edits = self.scanner.edits(text.as_bytes());
        // A mark is other company than the secret was, so that what stands near it is looked at once more, until nothing
        // changes. That is nearly always at once.
        for _ in 0..MOST_ROUNDS {
            if edits.is_empty() {
                break;
            }
            let (next, marks) = apply(&redacted, &edits);
            edits = self.edits_near(&next, &marks);
            redacted = Cow::Owned(next);
        }
        redacted
    }

    /// `value`, of which the name is known from elsewhere, as of a member of a JSON object: `password` makes a secret of
    /// what would pass by itself. An empty name says nothing.
    pub fn redact_named<'a>(&self, name: &str, value: &'a str) -> Cow<'a, str> {
        let redacted = self.redact(value);
        let telling = names::telling(name.as_bytes())
            .filter(|telling| judge::is_secret(*telling, value.as_bytes(), judge::Setting::Quoted));
        match telling {
            // A form of its own says more than the name.
            Some(telling) if !is_one_mark(&redacted) => Cow::Owned(format!("{MARK}{}]", telling.label())),
            _ => redacted,
        }
    }

    /// What else to hide in the neighbourhood of those marks.
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
            // What lies at the edges has been seen whole before, and only looks new because its company is cut off.
            let edge = |at: usize| at + NEIGHBOURHOOD < near.start || at > near.end + NEIGHBOURHOOD;
            edits.extend(found.into_iter().filter_map(|edit| {
                let range = edit.range.start + start..edit.range.end + start;
                (!edge(range.start) && !edge(range.end)).then_some(Edit { range, ..edit })
            }));
        }
        edits
    }
}

/// `text` with marks, and where they are in it.
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

fn is_one_mark(text: &str) -> bool {
    text.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(']')).is_some_and(|label| !label.contains(']'))
}

/// Text that has been through the standard [`Redactor`]: what may be shown, written to artifacts and sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Redacted(String);

impl Redacted {
    pub fn new(text: &str) -> Redacted {
        Redacted(Redactor::standard().redact(text).into_owned())
    }

    /// A value whose name is known, as [`Redactor::redact_named`] has it.
    pub fn named(name: &str, value: &str) -> Redacted {
        Redacted(Redactor::standard().redact_named(name, value).into_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

impl From<String> for Redacted {
    /// Keeps the text's memory when there is nothing to hide.
    fn from(text: String) -> Redacted {
        let redacted = match Redactor::standard().redact(&text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(redacted) => Some(redacted),
        };
        Redacted(redacted.unwrap_or(text))
    }
}

impl From<&str> for Redacted {
    fn from(text: &str) -> Redacted {
        Redacted::new(text)
    }
}

impl AsRef<str> for Redacted {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Redacted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
