//! The three kinds of text, which are pruned by different rules.

/// What a text is. Decides which lines are protected and how scores are calibrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextKind {
    Code,
    Logs,
    Docs,
}

impl TextKind {
    pub const ALL: [TextKind; 3] = [TextKind::Code, TextKind::Logs, TextKind::Docs];

    /// The name used in every contract: `code`, `logs` or `docs`.
    pub fn name(self) -> &'static str {
        match self {
            TextKind::Code => "code",
            TextKind::Logs => "logs",
            TextKind::Docs => "docs",
        }
    }

    /// Guesses the kind from the text, for callers that do not name it.
    ///
    /// A few hundred lines, spread over the text, vote. Without any evidence the text is code, whose rules protect the most.
    pub fn detect(text: &str) -> TextKind {
        crate::kind_detection::detect(text)
    }
}
