//! Parses the goal: its terms with their weights, its phrases, the identifiers it names, and its intent.

use tamis_text::interner::Interner;
use tamis_text::words::{WordPiece, each_word, stem};

/// Only this much of a goal is read. A longer one is pasted text, not a question.
pub(crate) const GOAL_BYTES: usize = 8 * 1024;
const MOST_TERMS: usize = 96;
const MOST_IDENTIFIERS: usize = 24;

/// What comes between an agent's words and the request that it works on. The network was trained with goals of this form.
const TASK: &str = "Task:";
/// Characters of the agent's words, of the call, and of the request that an overheard goal is made of.
const SAID_CHARS: usize = 400;
const CALL_CHARS: usize = 300;
const REQUEST_CHARS: usize = 300;

/// The goal of a reader that states none: the end of what an agent said before its call, the file, command or pattern of the
/// call, and the beginning of the request that it works on. Empty if both the agent and the request are silent.
pub fn overheard_goal(said: &str, call: &str, request: &str) -> String {
    let (said, request) = (said.trim(), request.trim());
    if said.is_empty() && request.is_empty() {
        return String::new();
    }
    let skipped = said.chars().count().saturating_sub(SAID_CHARS);
    let said: String = said.chars().skip(skipped).collect();
    let call: String = call.trim().chars().take(CALL_CHARS).collect();
    let request: String = request.chars().take(REQUEST_CHARS).collect();
    let parts = [said.as_str(), &call, TASK, &request];
    parts.map(str::trim).into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Stop words: words that say nothing about what is sought. English and French grammar, and the usual words of commit
/// messages ("fix", "update") and of coding agents ("let me look").
///
/// The network was trained with exactly this list, so a change alters scores and needs new weights and another
/// `ENGINE_VERSION`. Research has a list of its own, for questions about a codebase: there "add" and "find" are dealt
/// with as jargon, and may be answered.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "the", "an", "of", "to", "in", "for", "and", "or", "is", "are", "be", "this", "that", "it", "with", "on", "as", "by",
    "from", "at", "not", "was", "when", "if", "we", "so", "no", "can", "all", "but", "use", "used", "using", "add", "added",
    "adds", "fix", "fixes", "fixed", "make", "makes", "now", "should", "would", "which", "have", "has", "had", "do", "does",
    "did", "will", "into", "its", "than", "then", "also", "only", "more", "new", "let", "me", "my", "you", "your", "our",
    "they", "them", "their", "there", "here", "how", "what", "why", "where", "who", "see", "look", "looking", "check", "checking", "find",
    "need", "needs", "want", "wants", "please", "okay", "ok", "yes", "good", "first", "instead", "just", "like", "some",
    "any", "been", "being", "were", "could", "may", "might", "must", "because", "about", "after", "before", "these", "those",
    "such", "between", "while", "both", "each", "other", "same", "too", "very", "up", "out", "over", "under", "again",
    "task", "understand", "current", "currently", "implementation", "implement", "existing", "change", "changes", "update", "updates", "updated",
    "feat", "chore", "refactor", "via", "without", "within", "one", "two", "well", "get", "going", "right", "actually",
    "le", "la", "les", "un", "une", "des", "du", "de", "et", "ou", "est", "dans", "pour", "que", "qui", "sur", "avec", "pas",
    "il", "elle", "nous", "vous", "ce", "cette", "ces", "au", "aux", "en", "comment", "pourquoi", "quel", "quelle",
];

/// One word of the goal.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) stem: String,
    /// Higher when the word is repeated, lower when it was joined from two neighbouring words.
    pub(crate) weight: f32,
}

/// What kind of lines a goal asks for, if one of its words shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    Tests,
    Failures,
    /// Comments, documentation or spelling.
    Documentation,
    /// The goal is phrased as coding agents phrase their tasks.
    Task,
}

/// Prefixes of words that show an intent.
const INTENT_PREFIXES: &[(Intent, &[&str])] = &[
    (Intent::Tests, &["test", "spec", "coverage"]),
    (
        Intent::Failures,
        &["error", "fail", "crash", "bug", "panic", "broken", "wrong", "issue", "exception", "fix"],
    ),
    (Intent::Documentation, &["doc", "comment", "typo", "spell", "readme", "wording", "grammar"]),
    (Intent::Task, &["task", "let"]),
];

/// A parsed goal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Goal {
    pub(crate) terms: Vec<Term>,
    /// Pairs of terms that follow one another in the goal, sorted, each once.
    pub(crate) pairs: Vec<(u16, u16)>,
    /// Names as the text spells them: with an underscore or an inner capital, in backquotes, or followed by a bracket.
    pub(crate) identifiers: Vec<String>,
    pub(crate) intents: Vec<Intent>,
    /// An [`overheard_goal`], and not a question about this text.
    pub(crate) is_overheard: bool,
    /// What an agent says about its work, which may be about anything: an overheard goal, or one that begins with "let me".
    pub(crate) is_of_agent: bool,
    /// Ends with a question mark.
    pub(crate) is_question: bool,
}

impl Goal {
    pub(crate) fn read(goal: &str) -> Goal {
        let goal = clip(goal, GOAL_BYTES);
        let mut reader = Reader { stop: stop_words(), ..Reader::default() };
        for chunk in goal.split_whitespace() {
            reader.read(path_end(chunk));
        }
        let mut read = reader.goal;
        read.pairs.sort_unstable();
        read.pairs.dedup();
        read.identifiers = identifiers(goal);
        read.intents = intents(goal);
        read.is_overheard = goal.contains(TASK);
        read.is_of_agent = read.is_overheard || says_what_is_next(goal);
        read.is_question = goal.trim_end().ends_with('?');
        read
    }
}

/// "Let me check …", "Now let's look …"
fn says_what_is_next(goal: &str) -> bool {
    let lower = goal.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    words.windows(2).any(|pair| matches!(pair, ["let", "me" | "us"] | ["let's" | "let’s", _]))
}

#[derive(Default)]
struct Reader {
    goal: Goal,
    known: Interner,
    stop: Interner,
    counts: Vec<u32>,
    /// The last term and its word. Stop words between two terms are skipped.
    last: Option<(u16, String)>,
}

impl Reader {
    fn read(&mut self, chunk: &str) {
        let mut found: Vec<(String, WordPiece)> = Vec::new();
        each_word(chunk, |word, piece| found.push((word.to_owned(), piece)));
        for (word, piece) in found {
            if self.stop.find(stem(&word)).is_some() {
                continue;
            }
            let Some(term) = self.term(stem(&word), 1.0) else { return };
            if piece == WordPiece::Whole {
                continue;
            }
            if let Some((before, before_word)) = self.last.take() {
                self.goal.pairs.push((before, term));
                // "hash table" is also `hashtable`.
                self.term(stem(&format!("{before_word}{word}")), 0.5);
            }
            self.last = Some((term, word));
        }
    }

    fn term(&mut self, word: &str, weight: f32) -> Option<u16> {
        let id = match self.known.find(word) {
            Some(id) => id,
            None if self.known.len() >= MOST_TERMS => return None,
            None => self.known.intern(word),
        } as usize;
        if id == self.goal.terms.len() {
            self.goal.terms.push(Term { stem: word.to_owned(), weight: 0.0 });
            self.counts.push(0);
        }
        self.counts[id] = (self.counts[id] + 1).min(2);
        let term = &mut self.goal.terms[id];
        // A repeated word weighs more, but not in proportion.
        term.weight = term.weight.max(weight * (self.counts[id] as f32).sqrt());
        Some(id as u16)
    }
}

/// The last two components of a long path: its first ones are the same for every file.
fn path_end(chunk: &str) -> &str {
    let slashes: Vec<usize> = chunk.match_indices('/').map(|(at, _)| at).collect();
    if slashes.len() < 3 { chunk } else { &chunk[slashes[slashes.len() - 2]..] }
}

fn identifiers(goal: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (index, quoted) in goal.split('`').enumerate() {
        let in_backquotes = index % 2 == 1;
        for chunk in quoted.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '(')) {
            let called = chunk.contains('(');
            let name = chunk.split('(').next().unwrap_or("");
            let inner_capital =
                name.chars().zip(name.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
            let joined = name.trim_matches('_').contains('_');
            let spelled =
                joined || inner_capital || (in_backquotes && name.len() > 3) || (called && name.len() > 3);
            if spelled && name.len() > 3 && name.len() < 100 && !found.iter().any(|known| known == name) {
                found.push(name.to_owned());
            }
            if found.len() == MOST_IDENTIFIERS {
                return found;
            }
        }
    }
    found
}

fn intents(goal: &str) -> Vec<Intent> {
    let mut found = Vec::new();
    each_word(goal, |word, _| {
        for (intent, signs) in INTENT_PREFIXES {
            if !found.contains(intent) && signs.iter().any(|sign| word.starts_with(sign)) {
                found.push(*intent);
            }
        }
    });
    found
}

/// Whether a word in lower case says nothing about what is sought.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// The stems of [`STOP_WORDS`].
fn stop_words() -> Interner {
    let mut stop = Interner::default();
    for word in STOP_WORDS {
        stop.intern(stem(word));
    }
    stop
}

/// At most the first `bytes` of `text`.
pub(crate) fn clip(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(goal: &str) -> Vec<String> {
        Goal::read(goal).terms.into_iter().map(|term| term.stem).collect()
    }

    #[test]
    fn stop_words_are_not_terms() {
        assert_eq!(stems("How does the hash table grow?"), ["hash", "tabl", "hashtabl", "grow", "tablegrow"]);
        assert_eq!(stems("Let me look at this, please"), Vec::<String>::new());
        assert_eq!(stems(""), Vec::<String>::new());
        let path = ["src", "pars", "srcpars", "fil", "parsefil", "rs"];
        assert_eq!(stems("/home/someone/project/src/parse_file.rs"), path);
    }

    #[test]
    fn an_overheard_goal_has_the_form_that_the_network_was_trained_with() {
        let goal = overheard_goal(" Let me look.\n", "src/a.rs", "fix the parser\n");
        assert_eq!(goal, "Let me look. src/a.rs Task: fix the parser");
        let read = Goal::read(&goal);
        assert!(read.is_overheard && read.intents.contains(&Intent::Task));
        assert!(read.is_of_agent);
        let said = ["Let me check the tests.", "Now let's see", "let us look"];
        assert!(said.iter().all(|said| Goal::read(said).is_of_agent));
        for asked in ["where are tasks scheduled?", "which letters are sent", "does it let clients in"] {
            let read = Goal::read(asked);
            assert!(!read.is_overheard && !read.is_of_agent, "{asked}");
        }
        assert_eq!(overheard_goal("", "ls", " fix it"), "ls Task: fix it");
        assert_eq!(overheard_goal("Now the tests.", "", ""), "Now the tests. Task:");
        assert_eq!(overheard_goal(" ", "src/a.rs", "\n"), "");
        let long = overheard_goal(&"é".repeat(9_000), &"b".repeat(9_000), &"c".repeat(9_000));
        assert_eq!(long.chars().count(), SAID_CHARS + CALL_CHARS + REQUEST_CHARS + TASK.len() + 3);
    }

    #[test]
    fn identifiers_are_spelled_as_in_the_text() {
        let goal =
            Goal::read("Why does `from_item` call parseYaml and run() in `mod::Pipeline` but not word?");
        assert_eq!(goal.identifiers, ["from_item", "parseYaml", "Pipeline"]);
    }

    #[test]
    fn a_very_long_goal_is_truncated() {
        let book = (0..100_000).map(|number| format!("word{number} ")).collect::<String>();
        let goal = Goal::read(&book);
        assert_eq!(goal.terms.len(), MOST_TERMS);
        assert!(goal.pairs.len() < 2 * MOST_TERMS);
    }
}
