//! A key finding: what a role states, and the sentence for it.

use serde::{Serialize, Serializer};

use crate::Reference;
use crate::bounds::cut;
use crate::locate::Category;

/// Characters of an example in the synthesis: its first line, without the snippet, which the role's own findings have.
const MAX_EXAMPLE_LENGTH: usize = 160;

/// One statement of a role. In JSON it is its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFinding {
    pub kind: FindingKind,
    pub text: String,
    /// What the synthesis has in place of the text.
    pub short: Option<String>,
}

/// What a key finding states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// How something works. The places are those that the text gives with path and line.
    Explanation { places: Vec<Reference> },
    /// What a passage is, and one line of it.
    Passage { category: Option<Category>, place: Reference },
    /// Where to look.
    Places { category: Option<Category> },
    /// How something is done elsewhere.
    Example { place: Option<Reference> },
    /// What a note of former work says.
    History,
}

impl KeyFinding {
    pub fn new(kind: FindingKind, text: String) -> KeyFinding {
        KeyFinding { kind, text, short: None }
    }

    pub fn example(place: Option<Reference>, text: String) -> KeyFinding {
        let short = cut(text.lines().next().unwrap_or_default(), MAX_EXAMPLE_LENGTH).into_owned();
        KeyFinding { kind: FindingKind::Example { place }, text, short: Some(short) }
    }

    /// As the synthesis has it.
    pub(crate) fn shortened(&self) -> KeyFinding {
        let text = self.short.as_ref().unwrap_or(&self.text).clone();
        KeyFinding::new(self.kind.clone(), text)
    }
}

impl Serialize for KeyFinding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
