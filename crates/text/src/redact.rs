//! Secrets out of free text: tokens, keys, passwords, private keys, credentials in addresses and headers.
//!
//! Only the secret goes, and a mark like `[redacted:github-token]` takes its place. Every other byte stays, lines stay
//! where they are, and JSON stays JSON, so that a reference to `path:line` still points at what it pointed at. Redacting
//! twice changes nothing more.
//!
//! Secrets are known by their own form ([`rules`]), by the name beside them ([`names`], [`assignment`], [`judge`]), or by
//! where they stand ([`url`], [`headers`], [`private_key`]). A drawn string with neither form nor name is left alone:
//! hashes, ids and contents look the same.

mod assignment;
mod headers;
mod judge;
mod names;
mod private_key;
mod randomness;
mod rules;
mod scan;
mod url;

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use scan::{Edit, Scanner};

/// How every mark begins.
const MARK: &str = "[redacted:";

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
        apply(text, &self.scanner.edits(text.as_bytes()))
    }

    /// `value`, of which the name is known from elsewhere, as of a member of a JSON object: `password` makes a secret of
    /// what would pass by itself. An empty name says nothing.
    pub fn redact_named<'a>(&self, name: &str, value: &'a str) -> Cow<'a, str> {
        let telling = names::telling(name.as_bytes());
        let secret =
            telling.filter(|telling| judge::is_secret(*telling, value.as_bytes(), judge::Setting::Quoted));
        match (self.redact(value), secret) {
            (Cow::Borrowed(value), Some(telling)) => {
                let whole = Edit { range: 0..value.len(), label: telling.label() };
                apply(value, &[whole])
            }
            (redacted, _) => redacted,
        }
    }
}

fn apply<'a>(text: &'a str, edits: &[Edit]) -> Cow<'a, str> {
    if edits.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut redacted = String::with_capacity(text.len());
    let mut at = 0;
    for Edit { range, label } in edits {
        redacted.push_str(&text[at..range.start]);
        redacted.push_str(MARK);
        redacted.push_str(label);
        redacted.push(']');
        at = range.end;
    }
    redacted.push_str(&text[at..]);
    Cow::Owned(redacted)
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
