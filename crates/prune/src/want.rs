//! What a goal wants of a listing or a log: how much, of which time, and which names it mentions.
//!
//! Only the words of the question decide how much is wanted. What it quotes, or writes after a colon, is a name to look for.
//! In doubt everything is wanted.

mod words;

use crate::comparison::{Comparison, comparison};
use crate::goal::{GOAL_BYTES, clip};
use crate::mentions::asks_for_failure;
use crate::number_words::number;
use crate::period::{Period, period};
use words::{
    ASKING, COUNTING, COUNTING_FIRST, EVENTS, EXCLUDING, FIRST, LATEST, NOT_ENTRIES, ONE_WORDS, OPEN_ENDED,
    OPENINGS, QUANTIFIERS, RANGES, RELATING, SINGULARS, WHOLE_TASKS, YES_NO,
};

/// How much of what the goal describes is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    All,
    /// The last ones in time.
    Latest(usize),
    /// The first ones in time.
    First(usize),
    One,
    YesNo,
}

/// A name that the goal mentions, as it is spelled there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) sort: NameSort,
}

/// How a name was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameSort {
    /// Quoted, or spelled as only code is: `parse_yaml`, `parseYaml`, `a::b`, `run()`, `F401`.
    Spelled,
    /// A path, a file's name or a pattern: `src/main.rs`, `main.rs`, `*.rs`.
    File,
    /// Joined by hyphens: a rule or a container, but also an English word.
    Hyphenated,
    /// Any other word that does not only ask.
    Word,
}

/// Which results of a test run the goal asks for, beside failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestsWanted {
    All,
    Passed,
    Skipped,
}

#[derive(Clone, Debug)]
pub(crate) struct Want {
    pub(crate) amount: Amount,
    /// The goal says how much it wants. Otherwise everything is wanted because of doubt.
    pub(crate) is_stated: bool,
    /// A named thing may be what is not wanted, or only one of several.
    pub(crate) is_open: bool,
    /// Asks where something is defined.
    pub(crate) of_definition: bool,
    /// Asks how or why something works, which is one thing in one place, however many results a search has.
    pub(crate) of_explanation: bool,
    /// Too long for a question: it is a task or a text, and its names may be about anything.
    pub(crate) is_long: bool,
    pub(crate) tests: Option<TestsWanted>,
    /// Asks for an extreme or a property, so that values select, and no names.
    pub(crate) comparison: Option<Comparison>,
    pub(crate) names: Vec<Name>,
    /// The time that it names.
    pub(crate) period: Option<Period>,
    /// Asks why something went wrong, in words that are no intent of the goal.
    pub(crate) asks_for_failure: bool,
    /// Excludes something, so that what it names may be what is not wanted.
    pub(crate) excludes: bool,
    /// Relates what it names to something else: "after the restart", "compared to yesterday".
    pub(crate) relates: bool,
    /// Asks for more than what something did.
    pub(crate) is_open_ended: bool,
    /// Counts or lists things, so that a failure is only one property of them.
    pub(crate) counts: bool,
    /// The names without those that are part of a time.
    pub(crate) subjects: Vec<Name>,
}

/// How many entries "the latest" are, if no number is given.
const SOME: usize = 10;
/// The minimum number that is kept of the latest or first.
const FEWEST: usize = 5;
/// A longer goal is no question.
const QUESTION_WORDS: usize = 40;
const MOST_NAMES: usize = 32;

impl Want {
    pub(crate) fn read(goal: &str) -> Want {
        let goal = clip(goal, GOAL_BYTES);
        let words = words(question(goal));
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        let (amount, is_stated) = amount(&words);
        // A question that also asks for uses needs all of them.
        let of_uses =
            words.iter().any(|word| ["call", "use", "refer"].iter().any(|start| word.starts_with(start)));
        let of_definition = !of_uses
            && has(&[
                "defined",
                "definition",
                "declared",
                "declaration",
                "implemented",
                "défini",
                "définie",
                "definiert",
                "definido",
            ]);
        let of_explanation = !is_stated
            && words.first().is_some_and(|word| ["how", "why", "explain"].contains(&word.as_str()));
        let names = names(goal);
        let (period, subjects, comparison, relates) = match period(goal) {
            Some((period, rest)) => {
                let rest = question(&rest);
                let words = self::words(rest);
                (Some(period), subjects(rest), comparison(rest, &words), relates(&words))
            }
            None => (None, subjects(goal), comparison(question(goal), &words), relates(&words)),
        };
        Want {
            amount,
            is_stated,
            is_open: has(OPENINGS) || comparison == Some(Comparison::Numbers),
            of_definition,
            of_explanation,
            is_long: goal.split_whitespace().nth(QUESTION_WORDS).is_some(),
            tests: tests_wanted(&words),
            comparison,
            names,
            excludes: words.iter().any(|word| EXCLUDING.contains(&word.as_str()) || word.ends_with("n't")),
            relates,
            is_open_ended: has(OPEN_ENDED),
            counts: words.windows(2).any(|pair| COUNTING.contains(&(pair[0].as_str(), pair[1].as_str())))
                || words.first().is_some_and(|word| COUNTING_FIRST.contains(&word.as_str())),
            asks_for_failure: asks_for_failure(&goal.to_lowercase()),
            period,
            subjects,
        }
    }
}

impl Want {
    /// The time that the goal names was read, and is what is wanted.
    pub(crate) fn has_certain_period(&self) -> bool {
        self.period.as_ref().is_some_and(|period| period.is_whole) && !self.excludes
    }

    /// What is wanted may be anything but what the goal names: "all but 10.0.0.7", "what happened after 10.0.0.7 joined".
    pub(crate) fn is_about_others(&self) -> bool {
        self.excludes || self.relates
    }
}

fn relates(words: &[String]) -> bool {
    words.iter().any(|word| RELATING.contains(&word.as_str()))
}

fn tests_wanted(words: &[String]) -> Option<TestsWanted> {
    let has = |starts: &[&str]| words.iter().any(|word| starts.iter().any(|start| word.starts_with(start)));
    if has(&["fail", "error", "wrong", "broke", "crash"]) || !has(&["test", "case", "spec", "skip"]) {
        return None;
    }
    Some(if has(&["skip", "ignor", "pending", "disabl"]) {
        TestsWanted::Skipped
    } else if has(&["pass", "succe", "green"]) {
        TestsWanted::Passed
    } else {
        TestsWanted::All
    })
}

/// The goal without what it quotes, and without what follows a colon if words of a question come before it.
fn question(goal: &str) -> &str {
    match goal.split_once(": ") {
        Some((before, _)) if before.split_whitespace().nth(2).is_some() => before,
        _ => goal,
    }
}

/// The words of a question in lower case, without quotations.
fn words(question: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in question.split(['`', '"', '“', '”']).enumerate() {
        if number % 2 == 1 {
            continue;
        }
        let parts =
            part.split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '\'' | '_' | '’')));
        words.extend(parts.filter(|word| !word.is_empty()).map(|word| word.to_lowercase().replace('’', "'")));
    }
    words
}

fn amount(words: &[String]) -> (Amount, bool) {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let is_quantified = has(QUANTIFIERS);
    if !is_quantified && !has(RANGES) {
        for (at, found) in words.iter().enumerate() {
            let found = found.as_str();
            // "First, look at …" begins a plan.
            let is_first = FIRST.contains(&found) && (at > 0 || number_at(words, at + 1).is_some());
            if !(LATEST.contains(&found) || is_first) {
                continue;
            }
            let number = (at.saturating_sub(3)..at + 3).find_map(|near| number_at(words, near));
            let behind = if number_at(words, at + 1).is_some() { at + 2 } else { at + 1 };
            if NOT_ENTRIES.contains(&word(behind)) {
                return (Amount::All, true);
            }
            let count = number.unwrap_or(SOME).max(FEWEST);
            return (if is_first { Amount::First(count) } else { Amount::Latest(count) }, true);
        }
    }
    let which_one = words.windows(2).any(|pair| {
        matches!(pair[0].as_str(), "which" | "what" | "quel" | "quelle")
            && SINGULARS.contains(&pair[1].as_str())
    });
    if is_quantified || has(WHOLE_TASKS) && !matches!(word(0), "where" | "when" | "who") {
        (Amount::All, true)
    } else if which_one || has(ONE_WORDS) {
        (Amount::One, true)
    } else if YES_NO.contains(&word(0)) {
        (Amount::YesNo, true)
    } else {
        (Amount::All, words.iter().any(|word| matches!(word.as_str(), "which" | "what" | "show")))
    }
}

/// The number that a word is, up to a thousand.
fn number_at(words: &[String], at: usize) -> Option<usize> {
    number(words.get(at)?).map(|value| value as usize).filter(|value| (1..=1000).contains(value))
}

/// The names that a goal mentions, each once.
fn names(goal: &str) -> Vec<Name> {
    let mut found = all_names(goal);
    let object = object_of_task(goal);
    found.retain(|name| {
        name.sort != NameSort::Word || object == Some(name.text.as_str()) || !is_asking(&name.text)
    });
    found
}

/// The names that a question about a log mentions. A single digit may be one: "server 3".
fn subjects(goal: &str) -> Vec<Name> {
    let mut found = all_names(goal);
    let is_digit = |name: &Name| name.text.len() == 1 && name.text.bytes().all(|byte| byte.is_ascii_digit());
    let is_event = |name: &Name| EVENTS.contains(&name.text.to_lowercase().as_str());
    found.retain(|name| {
        name.sort != NameSort::Word || is_digit(name) || is_event(name) || !is_asking(&name.text)
    });
    // The first word of a sentence is written with a capital.
    if let Some(first) = found.first_mut()
        && first.sort == NameSort::Word
        && goal.trim_start().starts_with(&first.text)
    {
        first.text = first.text.to_lowercase();
    }
    found
}

fn all_names(goal: &str) -> Vec<Name> {
    let mut found: Vec<Name> = Vec::new();
    let mut add = |text: &str, sort: NameSort| {
        if !text.is_empty()
            && text.len() <= 200
            && found.len() < MOST_NAMES
            && !found.iter().any(|name| name.text == text)
        {
            found.push(Name { text: text.to_owned(), sort });
        }
    };
    for (number, part) in goal.split('`').enumerate() {
        if number % 2 == 1 {
            let quoted = part.trim().trim_end_matches("()");
            add(quoted, sort_of(quoted).filter(|sort| *sort == NameSort::File).unwrap_or(NameSort::Spelled));
        }
    }
    for quoted in goal.split(['"', '“', '”']).skip(1).step_by(2) {
        add(quoted.trim(), NameSort::Spelled);
    }
    for chunk in goal.split_whitespace() {
        // A file's name may hold brackets, so both forms count.
        let ends = ['?', ',', ';', ':', '!', '"', '\'', '`', '“', '”', '’'];
        let whole = chunk.trim_matches(ends).trim_end_matches('.').trim_end_matches("'s");
        let called = whole.strip_suffix("()");
        let bare = whole.trim_matches(['(', ')', '[', ']', '{', '}', '<', '>']).trim_matches(ends);
        if let Some(called) = called {
            add(called, NameSort::Spelled);
        } else {
            let sort = sort_of(bare);
            add(bare, sort.unwrap_or(NameSort::Word));
            if whole.len() > bare.len() {
                add(whole, sort.unwrap_or(NameSort::Word));
            }
        }
    }
    found
}

/// What a task is done to: the word behind "rename" or "replace every call of". It may be a word that asks elsewhere.
fn object_of_task(goal: &str) -> Option<&str> {
    const TASKS: [&str; 8] =
        ["rename", "replace", "remove", "delete", "migrate", "renaming", "replacing", "removing"];
    const BETWEEN: [&str; 20] = [
        "every",
        "all",
        "each",
        "the",
        "a",
        "an",
        "call",
        "calls",
        "use",
        "uses",
        "usage",
        "usages",
        "of",
        "to",
        "function",
        "method",
        "variable",
        "field",
        "old",
        "occurrences",
    ];
    let mut words = goal
        .split_whitespace()
        .map(|word| word.trim_matches(['?', ',', ';', ':', '!', '"', '\'', '`', '.', '(', ')']));
    words.find(|word| TASKS.contains(&word.to_lowercase().as_str()))?;
    words.find(|word| !BETWEEN.contains(&word.to_lowercase().as_str()))
}

/// Whether a word only asks.
fn is_asking(word: &str) -> bool {
    let lower = word.to_lowercase();
    let word = lower.as_str();
    word.chars().count() < 2
        || ASKING.contains(&word)
        || [QUANTIFIERS, WHOLE_TASKS, ONE_WORDS, SINGULARS, YES_NO, LATEST, FIRST, RANGES, OPENINGS]
            .iter()
            .any(|list| list.contains(&word))
        || crate::goal::is_stop_word(word)
}

/// The sort of a name that is not a plain word.
fn sort_of(text: &str) -> Option<NameSort> {
    let letters = |text: &str| text.chars().any(char::is_alphabetic);
    if !letters(text) {
        return None;
    }
    let extension = text.rsplit_once('.').is_some_and(|(name, end)| {
        (!name.is_empty() || end.len() > 2)
            && (1..=12).contains(&end.len())
            && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && letters(end)
    });
    if text.contains('/') && !text.contains("://")
        || text.starts_with("*.")
        || extension && !matches!(text, "e.g" | "i.e")
    {
        return Some(NameSort::File);
    }
    let inner_capital =
        text.chars().zip(text.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    if text.contains("::")
        || text.contains('_')
        || inner_capital
        || digits
        || text.starts_with("--")
        || text.starts_with("-W")
        || text.starts_with('@')
    {
        return Some(NameSort::Spelled);
    }
    (text.trim_matches('-').contains('-')).then_some(NameSort::Hyphenated)
}
