//! Questions for a value: "what is the default timeout", "how many retries", "which environment variable sets the port".
//!
//! People ask for a value in other words than code gives it: "how long" is a `timeout` or a `ttl`, "the biggest" is a `MAX`. The
//! tables here say which words of code go with which words of such a question.

use tamis_code_index::word_stem;

use super::stop_words::STOP_WORDS;

/// A value that the question asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WantedValue {
    /// Whether the question asks, as in "what is …". Without that, "max retries" may be a name.
    pub(crate) is_asked: bool,
    pub(crate) form: ValueForm,
    /// What it is a value of, and by what words code may say how much: each is worth once what any of its stems is.
    pub(crate) aspects: Vec<Aspect>,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueForm {
    Number,
    /// A number, or a text in quotes.
    Text,
    /// The name of an environment variable.
    Variable,
}

/// Words of code of which one is enough.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Aspect {
    /// The stem that the question has comes first, if it has any.
    pub(crate) stems: Vec<String>,
    /// Whether it is what the value is of, and not how much.
    pub(crate) is_subject: bool,
}

/// Phrases of questions for a value, in lower case with single spaces, and the words by which code may give it.
#[rustfmt::skip]
const MEASURES: [(&[&str], &[&str]); 8] = [
    (
        &["how long", "how old", "valid", "lifetime", "expire", "expires"],
        &[
            "timeout", "duration", "ttl", "age", "expires", "lifetime", "seconds", "days", "hours", "minutes", "ms", "millis",
            "interval", "delay", "retention", "keep", "time", "wait", "alive",
        ],
    ),
    (&["how often"], &["interval", "period", "every", "cron", "schedule", "frequency", "seconds", "ms", "delay", "tick"]),
    (&["how long can", "how long may", "how many characters"], &["length", "len", "size"]),
    (
        &[
            "how many", "how much", "how big", "how large", "max", "maximum", "most", "biggest", "largest", "longest", "limit",
            "allowed", "at once", "upper",
        ],
        &["max", "maximum", "limit"],
    ),
    (&["size", "big", "large", "biggest", "largest", "much"], &["size", "bytes", "length"]),
    (&["min", "minimum", "shortest", "smallest", "oldest", "least", "lower"], &["min", "minimum"]),
    (&["how", "default", "defaults", "not", "none", "new", "first", "started"], &["default", "def"]),
    (&["how many", "number"], &["count", "num", "number", "total"]),
];

/// Words that make a question one for a value, where it does not ask how, why or where something is done.
#[rustfmt::skip]
const VALUE_WORDS: [&str; 39] = [
    "age", "allowed", "biggest", "capacity", "charset", "code", "concurrency", "default", "delay", "depth", "duration", "encoding",
    "expiry", "interval", "largest", "length", "level", "lifetime", "limit", "longest", "max", "maximum", "min", "minimum", "oldest",
    "password", "port", "proxies", "quota", "rate", "retention", "retries", "servers", "shortest", "size", "smallest", "threshold",
    "timeout", "version",
];
/// Those that name no thing themselves.
#[rustfmt::skip]
const EXTREMES: [&str; 13] = [
    "allowed", "biggest", "default", "largest", "limit", "longest", "max", "maximum", "min", "minimum", "oldest", "shortest",
    "smallest",
];
/// "how many", "how long", …
const HOW_MUCH: [&str; 8] = ["many", "much", "long", "often", "big", "large", "old", "deep"];
/// What somebody does is no value: "what happens when the limit is reached", "which middleware checks the rate".
#[rustfmt::skip]
const DOING: [&str; 13] = [
    "catches", "causes", "checks", "computes", "controls", "decides", "enforces", "handles", "happen", "happens", "raises", "throws",
    "validates",
];
/// What code consists of: "which class has the default timeout" is no question for a value.
#[rustfmt::skip]
const PARTS_OF_CODE: [&str; 18] = [
    "class", "classes", "component", "file", "files", "function", "functions", "interface", "method", "methods", "module", "modules",
    "package", "struct", "test", "tests", "trait", "type",
];
/// What may be asked for beside a name of an environment variable.
const TEXTS: [&str; 11] = [
    "password",
    "name",
    "proxies",
    "host",
    "address",
    "servers",
    "charset",
    "encoding",
    "algorithm",
    "version",
    "where",
];

/// Words of questions for a value that say nothing about what it is a value of.
#[rustfmt::skip]
const BESIDE_SUBJECT: [&str; 57] = [
    "allowed", "anything", "big", "biggest", "default", "defaults", "does", "env", "environment", "exactly", "get", "gets", "give",
    "given", "happen", "how", "i", "large", "largest", "limit", "long", "longest", "max", "maximum", "me", "min", "minimum", "my",
    "name", "names", "number", "old", "oldest", "our", "please", "points", "say", "set", "sets", "setting", "shortest", "size",
    "small", "smallest", "take", "taken", "takes", "tell", "upper", "use", "used", "uses", "var", "variable", "we", "you", "your",
];

/// Words of people, and words of code for the same.
#[rustfmt::skip]
const OTHER_WORDS: [(&str, &[&str]); 31] = [
    ("account", &["user"]), ("address", &["host", "addr", "bind"]), ("again", &["retry", "attempt"]), ("body", &["payload"]),
    ("config", &["configuration", "settings", "conf"]), ("configuration", &["config", "settings", "conf"]),
    ("connection", &["conn"]), ("connections", &["conn"]), ("database", &["db"]), ("directory", &["dir", "path"]),
    ("error", &["err", "failure"]), ("errors", &["err", "failure"]), ("folder", &["dir", "directory", "path"]),
    ("kept", &["keep", "retention"]), ("login", &["auth", "session", "token"]), ("memory", &["mem"]), ("message", &["msg", "payload"]),
    ("messages", &["msg", "payload"]), ("password", &["passwd", "pwd"]), ("passwords", &["passwd", "login"]),
    ("processes", &["worker"]), ("redirects", &["redirect"]), ("request", &["req"]), ("requests", &["req"]),
    ("retries", &["retry", "attempt"]), ("stay", &["keep"]), ("times", &["retry", "attempt"]), ("tried", &["retry", "attempt"]),
    ("upload", &["file", "body"]), ("value", &["item"]), ("wrong", &["fail", "invalid", "bad"]),
];

/// More words of a subject are a description.
const MAX_SUBJECT: usize = 6;

impl WantedValue {
    /// The value that a question asks for, if it asks for one.
    pub(super) fn of(question: &str) -> Option<WantedValue> {
        let lower = question.to_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|word| !word.is_empty())
            .collect();
        let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
        let is_variable = words
            .windows(2)
            .any(|pair| matches!(pair, ["environment" | "env", "variable" | "variables" | "var" | "vars"]));
        let asking = words.iter().copied().find(|word| {
            matches!(
                *word,
                "what" | "which" | "how" | "why" | "where" | "who" | "when" | "does" | "is" | "can"
            )
        });
        let how_much = words.windows(2).any(|pair| pair[0] == "how" && HOW_MUCH.contains(&pair[1]));
        let is_value = match asking {
            Some("what" | "which") => {
                how_much || has(&EXTREMES) && !has(&PARTS_OF_CODE) || asks_for_value(&words)
            }
            Some(_) => how_much,
            // "capacity", "timeout handler"
            None => has(&EXTREMES) && words.len() > 1,
        } && !has(&DOING)
            && words.last() != Some(&"do");
        let is_for_variable = is_variable && !matches!(asking, Some("how" | "why"));
        if !is_value && !is_for_variable {
            return None;
        }
        let is_subject =
            |word: &&&str| !STOP_WORDS.contains(*word) && !BESIDE_SUBJECT.contains(*word) && word.len() > 1;
        let mut aspects: Vec<Aspect> = Vec::new();
        for word in words.iter().filter(is_subject) {
            let others =
                OTHER_WORDS.iter().find(|(known, _)| known == word).map_or(&[][..], |(_, others)| others);
            let stems = std::iter::once(*word).chain(others.iter().copied()).map(stem_of).collect();
            let aspect = Aspect { stems, is_subject: true };
            if !aspects.iter().any(|known| known.stems[0] == aspect.stems[0]) {
                aspects.push(aspect);
            }
        }
        if aspects.is_empty() || aspects.len() > MAX_SUBJECT {
            return None;
        }
        let spaced = format!(" {} ", words.join(" "));
        for (phrases, given) in MEASURES {
            if phrases.iter().any(|phrase| spaced.contains(&format!(" {phrase} "))) {
                let stems = given.iter().copied().map(stem_of).collect();
                aspects.push(Aspect { stems, is_subject: false });
            }
        }
        let form = match (is_variable, has(&TEXTS)) {
            (true, _) => ValueForm::Variable,
            (false, true) => ValueForm::Text,
            (false, false) => ValueForm::Number,
        };
        Some(WantedValue { is_asked: asking.is_some(), form, aspects })
    }

    /// All stems, each once.
    pub(super) fn stems(&self) -> Vec<&str> {
        let mut stems: Vec<&str> = Vec::new();
        for stem in self.aspects.iter().flat_map(|aspect| &aspect.stems) {
            if !stems.contains(&stem.as_str()) {
                stems.push(stem);
            }
        }
        stems
    }
}

/// Whether "what" or "which" asks for a thing that has a value: "what is the timeout", "which http port is used".
fn asks_for_value(words: &[&str]) -> bool {
    let asking = words.iter().position(|word| matches!(*word, "what" | "which"));
    let rest = words.iter().skip(asking.map_or(words.len(), |at| at + 1));
    let mut things = rest
        .filter(|word| !matches!(**word, "is" | "are" | "was" | "the" | "a" | "an" | "its" | "our" | "s"));
    things.next().is_some_and(|first| {
        VALUE_WORDS.contains(first)
            || !PARTS_OF_CODE.contains(first) && things.next().is_some_and(|next| VALUE_WORDS.contains(next))
    })
}

fn stem_of(word: &str) -> String {
    word_stem(word).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_for_a_value_say_what_it_is_of_and_how_it_is_written() {
        for (question, subject, form) in [
            ("what is the default timeout", "timeout", ValueForm::Number),
            ("which port does it listen on if I do not say anything", "port listen", ValueForm::Number),
            ("how many retries by default", "retr", ValueForm::Number),
            ("How long are idle connections kept open?", "idl connect kept open", ValueForm::Number),
            ("what is the password of the first user", "password user", ValueForm::Text),
            ("which status code is sent", "statu cod sent", ValueForm::Number),
            ("max size of a websocket message", "websocket messag", ValueForm::Number),
            ("shortest password allowed", "password", ValueForm::Text),
            ("default encoding", "encod", ValueForm::Text),
            ("which environment variable sets the log level", "log level", ValueForm::Variable),
            ("env var for the data folder", "data fold", ValueForm::Variable),
            ("how often is a new monitor checked", "new monit check", ValueForm::Number),
        ] {
            let value = WantedValue::of(question).unwrap_or_else(|| panic!("{question}"));
            let subjects = value.aspects.iter().filter(|aspect| aspect.is_subject);
            let subjects: Vec<&str> = subjects.map(|aspect| aspect.stems[0].as_str()).collect();
            assert_eq!((subjects.join(" ").as_str(), value.form), (subject, form), "{question}");
        }
        for question in [
            "how does the timeout work",
            "why is the limit reached",
            "where is the default set",
            "how are the default headers merged",
            "which class handles the port",
            "which class has the default timeout",
            "what happens when the timeout is reached",
            "is the password hashed",
            "what validates the password",
            "which middleware checks the rate",
            "does the server retry on timeout, and with what code",
            "what does the default handler do",
            "what is Registry",
            "timeouts",
            "capacity",
            "port parser",
            "max",
            "",
            "what are the consequences of the default manager for related lookups in inherited models with \
             several databases",
        ] {
            assert_eq!(WantedValue::of(question), None, "{question}");
        }
    }
}
