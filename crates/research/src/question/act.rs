//! What a question asks to be done to its subject: "where is the header set", "which proxy is used", "how does the cache work".
//!
//! A place that does it is a better answer than one that only has the words.

use super::stop_words::ASKING;

/// What the code must do to be the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Sets, writes, sends, adds or computes it.
    Write,
    /// Reads or loads it.
    Read,
    /// Raises it as an error.
    Raise,
    /// Decides which one it is.
    Choose,
    /// All of it: what both reads and writes it.
    Work,
}

#[rustfmt::skip]
const WRITE: [&str; 41] = [
    "added", "adds", "appended", "assigned", "assigns", "attached", "built", "calculated", "computed", "computes", "created",
    "creates", "emitted", "emits", "filled", "fills", "generated", "generates", "initialised", "initialized", "inserted", "put",
    "queued", "recorded", "registered", "registers", "saved", "saves", "send", "sends", "sent", "set", "sets", "stored", "stores",
    "updated", "updates", "write", "writes", "written", "wrote",
];
const READ: [&str; 9] =
    ["fetched", "loaded", "loads", "looked", "parsed", "parses", "read", "reads", "received"];
const RAISE: [&str; 8] =
    ["raised", "raises", "rejected", "rejects", "reported", "returned", "throws", "thrown"];
const CHOOSE: [&str; 8] =
    ["applied", "chosen", "detected", "picked", "preferred", "selected", "taken", "used"];
const ERRORS: [&str; 6] = ["error", "errors", "exception", "exceptions", "failure", "panic"];

impl Act {
    /// Whether a lower-case word says what is done.
    pub(crate) fn is_word(word: &str) -> bool {
        [&WRITE[..], &READ, &RAISE, &CHOOSE].iter().any(|list| list.contains(&word))
    }

    pub(super) fn of(question: &str) -> Option<Act> {
        let lower = question.to_lowercase();
        let words: Vec<&str> =
            lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let at = words.iter().position(|word| matches!(*word, "where" | "which" | "what" | "how" | "who"))?;
        let (asks, rest) = (words[at], &words[at + 1..]);
        let has = |list: &[&str]| rest.iter().any(|word| list.contains(word));
        let is_error = has(&ERRORS);
        match asks {
            // "which proxy is used", and not "what is the proxy used for"
            "which" | "what" if rest.first().is_some_and(|word| !ASKING.contains(word)) && has(&CHOOSE) => {
                Some(Act::Choose)
            }
            "how" if rest.last().is_some_and(|word| matches!(*word, "work" | "works")) => Some(Act::Work),
            "where" | "what" | "who" if has(&RAISE) && (is_error || has(&RAISE[..4]) || has(&RAISE[6..])) => {
                Some(Act::Raise)
            }
            "where" | "what" | "who" if has(&WRITE) => Some(Act::Write),
            "where" | "what" | "who" if has(&READ) => Some(Act::Read),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_say_what_the_code_must_do() {
        for (question, act) in [
            ("where is the Location header set", Some(Act::Write)),
            ("Where are the rows written?", Some(Act::Write)),
            ("find where the charge is computed", Some(Act::Write)),
            ("what sets the timeout", Some(Act::Write)),
            ("where is the configuration loaded", Some(Act::Read)),
            ("where is the too many files error raised", Some(Act::Raise)),
            ("what throws on a closed socket", Some(Act::Raise)),
            ("where is the timeout error returned", Some(Act::Raise)),
            ("where is the result returned", None),
            ("which proxy is used for a URL", Some(Act::Choose)),
            ("what shell is used", Some(Act::Choose)),
            ("what is Registry used for", None),
            ("which file defines charge", None),
            ("how does the query cache work?", Some(Act::Work)),
            ("show me how the retry works", Some(Act::Work)),
            ("how are sessions stored in cookies", None),
            ("where is Registry", None),
            ("set the Location header", None),
            ("", None),
        ] {
            assert_eq!(Act::of(question), act, "{question}");
        }
    }
}
