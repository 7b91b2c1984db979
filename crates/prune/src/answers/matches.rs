//! Search results: every result has what was searched for. If the goal names that, or one of several patterns, it selects.

use tamis_text::interner::Interner;
use tamis_text::words::{WordPiece, each_word, stem};

use super::{Listing, Verdict};
use crate::goal::clip;
use crate::records::{RecordForm, RecordRole};

/// A word that this share of the results has is what was searched for.
const COMMON: f32 = 0.95;
/// A plain word selects only if at least this share of the results has it.
const SUBSTANTIAL: f32 = 0.1;
/// A few other words must explain this share of the results that a plain word does not select.
const EXPLAINED: f32 = 0.9;
const OTHER_PATTERNS: usize = 3;
/// Only this much of a result is read.
const LINE_BYTES: usize = 4 * 1024;
/// Fewer results have words in common by chance.
const FEWEST_OTHERS: usize = 4;

/// Words of source code that are in most lines, whatever was searched for.
#[rustfmt::skip]
const ORDINARY: &[&str] = &[
    "self", "this", "return", "const", "let", "var", "fn", "def", "func", "function", "pub", "import", "from", "test", "assert", "new", "if", "for",
    "err", "the", "and", "int", "void", "string", "str", "use", "static", "public", "private", "final", "class", "struct", "type", "void", "char", "to",
];

pub(super) fn decide(listing: &Listing<'_>, verdicts: &mut [Verdict]) {
    let entries = listing.entries(RecordForm::Search);
    if entries.is_empty() {
        return;
    }
    let want = listing.want();
    let kept = |number: usize| match (want.is_stated, want.of_explanation) {
        (true, _) => Verdict::Answer,
        (_, true) if listing.names_of(number) & listing.named.spelled == 0 => Verdict::Open,
        _ => Verdict::Doubtful,
    };
    let selected = select(listing, &entries);
    for (position, &number) in entries.iter().enumerate() {
        verdicts[number] = match &selected {
            Some(selected) if selected[position] => Verdict::Answer,
            Some(_) if want.of_definition => Verdict::Open,
            Some(_) => Verdict::Rest,
            None => kept(number),
        };
    }
    rest_of_context(listing, verdicts);
}

/// Context goes with the results around it, if none of them was asked for.
fn rest_of_context(listing: &Listing<'_>, verdicts: &mut [Verdict]) {
    let records = listing.records();
    let is_search = |number: usize| records[number].form == RecordForm::Search;
    for number in
        (0..records.len()).filter(|&number| is_search(number) && records[number].role == RecordRole::Detail)
    {
        let near = |other: Option<usize>| {
            other.filter(|&other| {
                other < records.len() && is_search(other) && records[other].role == RecordRole::Entry
            })
        };
        let around = [near(number.checked_sub(1)), near(Some(number + 1))];
        let mut around = around.into_iter().flatten().peekable();
        if around.peek().is_some() && around.all(|other| verdicts[other] == Verdict::Rest) {
            verdicts[number] = Verdict::Rest;
        }
    }
}

/// Which entries the goal selects, if it selects some of them clearly.
fn select(listing: &Listing<'_>, entries: &[usize]) -> Option<Vec<bool>> {
    if !listing.may_select() {
        return None;
    }
    let words = EntryWords::read(listing, entries);
    let names: Vec<u32> = entries.iter().map(|&number| listing.names_of(number)).collect();
    let has = |bits: u32| names.iter().map(|names| names & bits != 0).collect::<Vec<bool>>();
    if listing.want().of_definition {
        let is_definition = |(&number, names): (&usize, &u32)| {
            names & !listing.named.files != 0 && is_definition(listing, number)
        };
        let defines: Vec<bool> = entries.iter().zip(&names).map(is_definition).collect();
        return is_proper(&defines).then_some(defines);
    }
    let mut selected = has(listing.named.spelled | listing.named.files);
    // Another spelling of a name counts: `parseYaml` for `parse_yaml`.
    let compounds = compounds_of_goal(listing);
    for (position, selected) in selected.iter_mut().enumerate() {
        *selected = *selected || words.has_compound(position, &compounds);
    }
    if is_proper(&selected) {
        // All have something that the goal does not mention: that was searched for, and the goal is about something else.
        let unmentioned = words.common().any(|word| !is_mentioned(listing, words.exact.word(word)));
        return (!unmentioned || words.others_are_explained(&selected, 1)).then_some(selected);
    }
    if selected.contains(&true) {
        return None;
    }
    // Next to a word that all have, only one other pattern is believed.
    let patterns = if words.common().next().is_none() { OTHER_PATTERNS } else { 1 };
    let selected = has(words_of_weight(&names, listing.named.words | listing.named.hyphenated));
    (is_proper(&selected) && words.others_are_explained(&selected, patterns)).then_some(selected)
}

fn is_proper(selected: &[bool]) -> bool {
    selected.contains(&true) && selected.contains(&false)
}

/// The plain words that a substantial share of the entries has.
fn words_of_weight(names: &[u32], bits: u32) -> u32 {
    let least = (SUBSTANTIAL * names.len() as f32).max(1.0);
    (0..32)
        .map(|number| bits & (1 << number))
        .filter(|bit| *bit != 0 && names.iter().filter(|names| *names & bit != 0).count() as f32 >= least)
        .fold(0, |all, bit| all | bit)
}

/// The stems of the compound names that the goal mentions.
fn compounds_of_goal(listing: &Listing<'_>) -> Vec<String> {
    let mut compounds = Vec::new();
    for name in &listing.want().names {
        each_word(&name.text, |word, piece| {
            if piece == WordPiece::Whole {
                compounds.push(stem(word).to_owned());
            }
        });
    }
    compounds
}

/// Whether the goal has every part of a word.
fn is_mentioned(listing: &Listing<'_>, word: &str) -> bool {
    let mut parts = 0;
    let mut mentioned = true;
    each_word(word, |part, piece| {
        if piece == WordPiece::Part {
            parts += 1;
            mentioned &= listing.inputs.goal.terms.iter().any(|term| term.stem == stem(part));
        }
    });
    parts > 0 && mentioned
}

/// The identifiers of each result as they are spelled, without those of its path.
struct EntryWords {
    exact: Interner,
    /// The stem of each identifier, without its separators.
    stems: Vec<String>,
    of_entry: Vec<Vec<u32>>,
    /// In how many entries each word is.
    counts: Vec<u32>,
}

impl EntryWords {
    fn read(listing: &Listing<'_>, entries: &[usize]) -> EntryWords {
        let mut words = EntryWords {
            exact: Interner::default(),
            stems: Vec::new(),
            of_entry: Vec::with_capacity(entries.len()),
            counts: Vec::new(),
        };
        for &number in entries {
            let line = clip(listing.inputs.lines[listing.records()[number].first], LINE_BYTES);
            let text = line.get(listing.text_start(number)..).unwrap_or_default();
            let identifiers = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
            let mut of_entry: Vec<u32> = identifiers
                .filter(|word| word.len() > 1 && word.len() < 100)
                .map(|word| words.exact.intern(word))
                .collect();
            of_entry.sort_unstable();
            of_entry.dedup();
            words.counts.resize(words.exact.len(), 0);
            for &word in &of_entry {
                words.counts[word as usize] += 1;
            }
            words.of_entry.push(of_entry);
        }
        for id in 0..words.exact.len() as u32 {
            let joined = words.exact.word(id).replace('_', "").to_lowercase();
            words.stems.push(stem(&joined).to_owned());
        }
        words
    }

    fn is_ordinary(&self, word: u32) -> bool {
        ORDINARY.contains(&self.exact.word(word))
    }

    /// The words that nearly all entries have.
    fn common(&self) -> impl Iterator<Item = u32> + '_ {
        let least = COMMON * self.of_entry.len() as f32;
        (0..self.counts.len() as u32)
            .filter(move |&word| self.counts[word as usize] as f32 >= least && !self.is_ordinary(word))
    }

    fn has_compound(&self, position: usize, compounds: &[String]) -> bool {
        self.of_entry[position].iter().any(|&word| compounds.contains(&self.stems[word as usize]))
    }

    /// Whether the entries that are not selected have other patterns of the search: few words that selected ones lack.
    fn others_are_explained(&self, selected: &[bool], patterns: usize) -> bool {
        let taken = selected.iter().filter(|selected| **selected).count() as f32;
        let mut left: Vec<usize> = (0..selected.len()).filter(|&position| !selected[position]).collect();
        if left.len() < FEWEST_OTHERS {
            return false;
        }
        let most = left.len() as f32 * (1.0 - EXPLAINED);
        let mut inside = vec![0u32; self.counts.len()];
        for (words, _) in self.of_entry.iter().zip(selected).filter(|(_, selected)| **selected) {
            words.iter().for_each(|&word| inside[word as usize] += 1);
        }
        for _ in 0..patterns {
            let mut counts = vec![0u32; self.counts.len()];
            for &position in &left {
                self.of_entry[position].iter().for_each(|&word| counts[word as usize] += 1);
            }
            let is_other =
                |word: &u32| inside[*word as usize] as f32 <= taken / 2.0 && !self.is_ordinary(*word);
            let others = (0..counts.len() as u32).filter(is_other);
            let Some(best) = others.max_by_key(|&word| counts[word as usize]) else { return false };
            left.retain(|&position| self.of_entry[position].binary_search(&best).is_err());
            if left.len() as f32 <= most {
                return true;
            }
        }
        false
    }
}

/// Whether the result is a definition of a name that the goal mentions.
fn is_definition(listing: &Listing<'_>, number: usize) -> bool {
    const KEYWORDS: [&str; 22] = [
        "fn",
        "def",
        "func",
        "function",
        "class",
        "struct",
        "enum",
        "trait",
        "interface",
        "type",
        "const",
        "let",
        "var",
        "static",
        "module",
        "mod",
        "macro_rules!",
        "#define",
        "typedef",
        "impl",
        "object",
        "record",
    ];
    let line = listing.inputs.lines[listing.records()[number].first];
    let text = &line[listing.text_start(number)..];
    let names = listing.want().names.iter().map(|name| name.text.as_str());
    names.filter(|name| name.len() > 1).any(|name| {
        let Some(at) = text.find(name) else { return false };
        let before = text[..at].trim_end();
        let behind = text[at + name.len()..].trim_start();
        let assigned = behind.starts_with("= ") || behind.starts_with(": ") || behind.starts_with(":=");
        // A definition in C has its type before the name, and a body behind it.
        let has_body = behind.starts_with('(') && text.trim_end().ends_with('{');
        KEYWORDS.iter().any(|keyword| {
            before == *keyword
                || before.ends_with(&format!(" {keyword}"))
                || before.ends_with(&format!("\t{keyword}"))
        }) || before.is_empty() && assigned
            || has_body
    })
}

impl Listing<'_> {
    /// Where the text of a result begins, behind its place.
    fn text_start(&self, number: usize) -> usize {
        crate::records::text_start(self.inputs.lines[self.records()[number].first])
    }
}
