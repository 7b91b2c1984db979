//! The three kinds of text that are pruned differently.

/// What a text is, for the rules of what must stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Code,
    Logs,
    Docs,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Code, Kind::Logs, Kind::Docs];

    /// The name used in every contract: `code`, `logs` or `docs`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Code => "code",
            Kind::Logs => "logs",
            Kind::Docs => "docs",
        }
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// A guess from the text alone, for doors whose callers do not say.
    pub fn detect(_text: &str) -> Kind {
        Kind::Code
    }
}
