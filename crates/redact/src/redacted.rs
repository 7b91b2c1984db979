//! The type of what may be shown: a value whose texts went through the redactor.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::Redactor;

/// What can replace the secrets in its own texts. Ids that callers pass back stay as they are.
pub trait Redact {
    fn redact(&mut self);
}

impl Redact for String {
    /// Keeps the text's memory when there is no secret.
    fn redact(&mut self) {
        if let Cow::Owned(redacted) = Redactor::standard().redact(self) {
            *self = redacted;
        }
    }
}

impl<T: Redact> Redact for Option<T> {
    fn redact(&mut self) {
        self.iter_mut().for_each(T::redact);
    }
}

impl<T: Redact> Redact for Vec<T> {
    fn redact(&mut self) {
        self.iter_mut().for_each(T::redact);
    }
}

/// A value, by default a text, that has been redacted: what may be shown, written to artifacts and sent. It can be read but
/// not changed, so no secret gets in afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Redacted<T = String>(pub(crate) T);

impl<T: Redact> Redacted<T> {
    pub fn new(mut value: T) -> Redacted<T> {
        value.redact();
        Redacted(value)
    }
}

impl<T> Redacted<T> {
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl Redacted {
    /// Texts one after the other, with a separator between them.
    pub fn join(texts: &[Redacted], separator: &'static str) -> Redacted {
        let texts: Vec<&str> = texts.iter().map(|text| text.as_str()).collect();
        Redacted(texts.join(separator))
    }
}

impl<T> Deref for Redacted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// What is read from a file or a connection may have been written by anyone, so it is redacted again.
impl<'de, T: Redact + Deserialize<'de>> Deserialize<'de> for Redacted<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Redacted<T>, D::Error> {
        T::deserialize(deserializer).map(Redacted::new)
    }
}

impl From<String> for Redacted {
    fn from(text: String) -> Redacted {
        Redacted::new(text)
    }
}

impl From<&str> for Redacted {
    fn from(text: &str) -> Redacted {
        Redacted(Redactor::standard().redact(text).into_owned())
    }
}

impl From<Redacted> for Value {
    fn from(text: Redacted) -> Value {
        Value::String(text.0)
    }
}

impl PartialEq<&str> for Redacted {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl<T: fmt::Display> fmt::Display for Redacted<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
