//! Files that a question names, whole or in part, whatever their content is.

use tamis_code_index::{FileCounts, fold_name};
use tamis_codebase::{Roots, StopSignal, Stopped};

use super::FileClass;
use super::corpus::Corpus;
use crate::question::Question;

/// How a file's name has what the question says, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NameMatch {
    /// The whole name, or the end of the path.
    Whole,
    WholeInAnyCase,
    /// The name without its endings.
    Stem,
    /// All words of the question are in the name.
    Words,
    /// The name of a text without its endings: a page about it.
    Page,
    /// The name contains what the question says.
    Part,
}

/// Shorter texts are in many names.
const SHORTEST_PART: usize = 4;
const MAX_FILES: usize = 12;

/// The numbers of the files whose names match, best first. Where no name is as the question has it, and it names no symbol either,
/// files that were not read are added to the corpus.
pub(super) fn find(
    question: &Question,
    corpus: &mut Corpus,
    is_symbol: bool,
    roots: &Roots,
    stop: &StopSignal,
) -> Result<Vec<(usize, NameMatch)>, Stopped> {
    let Some(wanted) = Wanted::of(&question.content) else { return Ok(Vec::new()) };
    let mut found = wanted.find(&corpus.files, 0);
    if !is_symbol && wanted.text.is_some() && found.iter().all(|(_, matched)| *matched > NameMatch::Stem) {
        let read = corpus.files.len();
        corpus.add_unread(roots, stop)?;
        found.extend(wanted.find(&corpus.files, read));
    }
    Ok(in_order(found, corpus))
}

fn in_order(mut found: Vec<(usize, NameMatch)>, corpus: &Corpus) -> Vec<(usize, NameMatch)> {
    for (file, matched) in &mut found {
        if *matched == NameMatch::Stem && corpus.classes[*file] == FileClass::Prose {
            *matched = NameMatch::Page;
        }
    }
    // Several words are about a subject rather than about a test of it.
    found.retain(|(file, matched)| *matched != NameMatch::Words || corpus.classes[*file] != FileClass::Test);
    // One short word is in many names: what has it only in part is worth naming only where nothing has more of it.
    let best = found.iter().map(|(_, matched)| *matched).min();
    found.retain(|(_, matched)| *matched <= NameMatch::Stem || Some(*matched) == best);
    let depth = |file: usize| corpus.files[file].place.path.matches('/').count();
    let key =
        |(file, matched): (usize, NameMatch)| (matched, corpus.classes[file].third_party_last(), depth(file));
    found.sort_by(|a, b| {
        key(*a).cmp(&key(*b)).then_with(|| corpus.files[a.0].place.cmp(&corpus.files[b.0].place))
    });
    found.truncate(MAX_FILES);
    found
}

impl FileClass {
    /// A configuration file is as good as source where a name says which file is meant.
    fn third_party_last(self) -> u8 {
        match self {
            FileClass::Source | FileClass::Data | FileClass::Prose => 0,
            FileClass::Test => 1,
            FileClass::Auxiliary => 2,
            FileClass::ThirdParty => 3,
        }
    }
}

/// What a file's name must have.
struct Wanted {
    /// The only word of the question.
    text: Option<String>,
    lowered: Option<String>,
    /// The folded words.
    words: Vec<String>,
}

impl Wanted {
    fn of(content: &[String]) -> Option<Wanted> {
        let words: Vec<String> =
            content.iter().map(|word| fold_name(word)).filter(|word| !word.is_empty()).collect();
        let text = match content {
            [] => return None,
            [only] => Some(only.trim_start_matches("./").to_owned()),
            _ => None,
        };
        let lowered = text.as_ref().map(|text| text.to_lowercase());
        Some(Wanted { text, lowered, words })
    }

    /// The files from this number on whose names match.
    fn find(&self, files: &[FileCounts], from: usize) -> Vec<(usize, NameMatch)> {
        let numbered = files.iter().enumerate().skip(from);
        numbered.filter_map(|(number, file)| Some((number, self.matches(&file.place.path)?))).collect()
    }

    fn matches(&self, path: &str) -> Option<NameMatch> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if let (Some(text), Some(lowered)) = (&self.text, &self.lowered) {
            let ends = |path: &str, text: &str| {
                path.strip_suffix(text).is_some_and(|before| before.is_empty() || before.ends_with('/'))
            };
            if ends(path, text) {
                return Some(NameMatch::Whole);
            }
            let lower_name = name.to_lowercase();
            if ends(&path.to_lowercase(), lowered) {
                return Some(NameMatch::WholeInAnyCase);
            }
            let stem = lower_name.trim_start_matches('.').split('.').next().unwrap_or("");
            if stem == lowered.trim_matches('.') && !stem.is_empty() {
                return Some(NameMatch::Stem);
            }
            if lowered.len() >= SHORTEST_PART && lower_name.contains(lowered.as_str()) {
                return Some(NameMatch::Part);
            }
            return None;
        }
        let fold = fold_name(name);
        (self.words.len() > 1 && self.words.iter().all(|word| fold.contains(word.as_str())))
            .then_some(NameMatch::Words)
    }
}
