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
    ///
    /// Looks at some hundreds of lines spread over the text and lets each vote. A text that says nothing is code:
    /// its rules protect the most.
    pub fn detect(text: &str) -> Kind {
        crate::kind_detection::detect(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for kind in Kind::ALL {
            assert_eq!(Kind::named(kind.name()), Some(kind));
        }
        assert_eq!(Kind::named("Code"), None);
    }
}
