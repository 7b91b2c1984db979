//! Where code gives the value that a question asks for: `port: int = 8000`, `#define KEY_MAX_LENGTH 250`.
//!
//! A line that gives a value is worth what it has of the question's words: in itself, in the statement and the comment that it
//! belongs to, in what encloses it, and in its path.

mod line;

use tamis_code_index::WordCounter;
use tamis_codebase::{RootedPath, Roots, StopSignal, Stopped};
use tamis_syntax::line_indent;
use tamis_text::split_lines;

use super::corpus::Corpus;
use super::{FileClass, Passage};
use crate::question::{Aspect, Question, ValueForm};
use line::{is_comment, value_strength};

/// Files that are read, best first by their words.
const MAX_FILES: usize = 200;
/// Places that are presented before everything else.
const MAX_PLACES: usize = 3;
/// The share of what the value is of that the best place must have, and of the best place's worth that the others must have.
const LEAST_SUBJECT: f64 = 0.12;
const NEAR_THE_BEST: f64 = 0.5;

/// What a word is worth by where it is, against one in the line itself.
const IN_STATEMENT: f64 = 0.75;
const IN_COMMENT: f64 = 0.6;
const AROUND: f64 = 0.45;
const IN_PATH: f64 = 0.25;
/// Another word for what the question says.
const OTHER_WORD: f64 = 0.8;
/// The least that a word of the subject is worth, however common it is, and what a word for how much is worth.
const LEAST_WEIGHT: f64 = 2.0;
const MEASURE: f64 = 1.6;
/// The share of a line's worth that does not depend on how surely it gives a value.
const ANY_VALUE: f64 = 0.3;
/// What each word beyond the first few takes from a line: long lines have many words by chance.
const WORDS: usize = 6;
const PER_WORD: f64 = 0.06;

const COMMENT_LINES: usize = 8;
const STATEMENT_LINES: usize = 3;
const HELP_LINES: usize = 2;

/// A place that gives a value.
#[derive(Clone, Debug)]
struct ValuePlace {
    worth: f64,
    /// The share of the subject's weight that it has, from 0 to 1.
    subject: f64,
    file: usize,
    passage: Passage,
}

/// The aspects of the value as sets of columns.
struct Wanted<'a> {
    form: ValueForm,
    aspects: Vec<Column<'a>>,
    /// The bits of all columns of the subject.
    subject: u64,
    subject_weight: f64,
}

struct Column<'a> {
    aspect: &'a Aspect,
    /// The bit of the question's own word, and those of other words.
    own: u64,
    others: u64,
    weight: f64,
}

/// The best places of the value that the question asks for, each in another file. None when no place has enough of the subject.
pub(super) fn find(
    question: &Question,
    counter: &WordCounter,
    corpus: &Corpus,
    roots: &Roots,
    stop: &StopSignal,
) -> Result<Vec<(RootedPath, Passage)>, Stopped> {
    let Some(wanted) = Wanted::of(question, counter, corpus) else { return Ok(Vec::new()) };
    let by_place = |a: usize, b: usize| corpus.files[a].place.cmp(&corpus.files[b].place);
    let mut files: Vec<(f64, usize)> = (0..corpus.files.len())
        .map(|file| (wanted.at_first_sight(file, corpus), file))
        .filter(|(worth, _)| *worth > 0.0)
        .collect();
    files.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| by_place(a.1, b.1)));
    files.truncate(MAX_FILES);
    let files: Vec<usize> = files.into_iter().map(|(_, file)| file).collect();
    let mut found: Vec<ValuePlace> = corpus.look_into(&files, roots, stop, |file, text| {
        let (path, class) = (&corpus.files[file].place.path, corpus.classes[file]);
        wanted.best_in(text, path, class, counter, stop).map(|place| ValuePlace { file, ..place })
    })?;
    found.sort_by(|a, b| b.worth.total_cmp(&a.worth).then_with(|| by_place(a.file, b.file)));
    let Some(best) = found.first().filter(|best| best.subject >= LEAST_SUBJECT) else {
        return Ok(Vec::new());
    };
    let least = best.worth * NEAR_THE_BEST;
    let is_near = |place: &ValuePlace| place.worth >= least && place.subject >= LEAST_SUBJECT;
    let places = found.into_iter().filter(is_near).take(MAX_PLACES);
    Ok(places.map(|place| (corpus.files[place.file].place.clone(), place.passage)).collect())
}

/// The factor for a file's kind: settings are described in texts, and what tests give is only for them.
fn worth_of(class: FileClass) -> f64 {
    match class {
        FileClass::Source => 1.0,
        FileClass::Data => 0.6,
        FileClass::Auxiliary => 0.5,
        FileClass::Prose => 0.45,
        FileClass::Test => 0.35,
        FileClass::ThirdParty => 0.3,
    }
}

impl<'a> Wanted<'a> {
    fn of(question: &'a Question, counter: &WordCounter, corpus: &Corpus) -> Option<Wanted<'a>> {
        let value = question.value.as_ref()?;
        let bit = |stem: &String| counter.stem_column(stem).map_or(0, |column| 1u64 << column);
        let all = corpus.files.len() as f64;
        let in_files = |bits: u64| {
            let has = |file: usize| columns_of(bits).any(|column| corpus.files[file].count(column) > 0);
            (0..corpus.files.len()).filter(|file| has(*file)).count() as f64
        };
        let rarity = |files: f64| libm::log(1.0 + (all - files + 0.5) / (files + 0.5));
        let mut aspects = Vec::new();
        for aspect in &value.aspects {
            let (first, rest) = aspect.stems.split_first()?;
            let (own, others) = match aspect.is_subject {
                true => (bit(first), rest.iter().map(bit).fold(0, |bits, bit| bits | bit)),
                false => (aspect.stems.iter().map(bit).fold(0, |bits, bit| bits | bit), 0),
            };
            let weight = match (aspect.is_subject, in_files(own), in_files(others)) {
                (false, ..) => MEASURE,
                (true, files, _) if files > 0.0 => rarity(files).max(LEAST_WEIGHT),
                (true, _, files) if files > 0.0 => rarity(files).max(LEAST_WEIGHT),
                _ => 0.0,
            };
            aspects.push(Column { aspect, own, others, weight });
        }
        let subjects = || aspects.iter().filter(|column| column.aspect.is_subject);
        let subject = subjects().fold(0, |bits, column| bits | column.own | column.others);
        let subject_weight: f64 = subjects().map(|column| column.weight).sum();
        (subject_weight > 0.0).then_some(Wanted { form: value.form, aspects, subject, subject_weight })
    }

    /// What a file may be worth by the words that it has; nothing without one of the subject.
    fn at_first_sight(&self, file: usize, corpus: &Corpus) -> f64 {
        let counts = &corpus.files[file];
        let has = |bits: u64| columns_of(bits).any(|column| counts.count(column) > 0);
        if !has(self.subject) {
            return 0.0;
        }
        let worth = |column: &Column<'_>| match () {
            () if has(column.own) => column.weight,
            () if has(column.others) => column.weight * OTHER_WORD,
            () => 0.0,
        };
        self.aspects.iter().map(worth).sum::<f64>() * worth_of(corpus.classes[file])
    }

    /// The best place of a text, as one of the first file.
    fn best_in(
        &self,
        text: &[u8],
        path: &str,
        class: FileClass,
        counter: &WordCounter,
        stop: &StopSignal,
    ) -> Option<ValuePlace> {
        let string = String::from_utf8_lossy(text);
        let lines = split_lines(&string);
        let words = line_words(text, lines.len(), counter);
        let around = words_around(&lines, &words);
        let in_path = bits_of(path.as_bytes(), counter);
        let mut best: Option<ValuePlace> = None;
        for (number, line) in lines.iter().enumerate() {
            if number % 4096 == 4095 && stop.is_due() {
                break;
            }
            // Most lines are far from any word of the subject.
            let near = number.saturating_sub(COMMENT_LINES)..(number + HELP_LINES + 1).min(lines.len());
            let all = words[near].iter().fold(in_path | around[number], |all, bits| all | bits);
            if all & self.subject == 0 {
                continue;
            }
            let strength = value_strength(line, self.form);
            if strength == 0.0 {
                continue;
            }
            let places = [
                (words[number], 1.0),
                (in_statement(&lines, number, &words), IN_STATEMENT),
                (in_comment(&lines, number, &words), IN_COMMENT),
                (around[number], AROUND),
                (in_path, IN_PATH),
            ];
            let (mut worth, mut subject) = (0.0, 0.0);
            for column in &self.aspects {
                let share = |(bits, place): &(u64, f64)| match () {
                    () if bits & column.own != 0 => *place,
                    () if bits & column.others != 0 => place * OTHER_WORD,
                    () => 0.0,
                };
                let found = column.weight * places.iter().map(share).fold(0.0, f64::max);
                worth += found;
                subject += if column.aspect.is_subject { found } else { 0.0 };
            }
            let long = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count();
            worth *= (ANY_VALUE + (1.0 - ANY_VALUE) * strength) * worth_of(class);
            worth /= 1.0 + PER_WORD * long.saturating_sub(WORDS) as f64;
            let subject = subject / self.subject_weight;
            if subject > 0.0 && best.as_ref().is_none_or(|best| worth > best.worth) {
                let passage = Passage { line: Passage::shown(line), ..Passage::at(number + 1) };
                best = Some(ValuePlace { worth, subject, file: 0, passage });
            }
        }
        best
    }
}

fn columns_of(bits: u64) -> impl Iterator<Item = usize> {
    (0..u64::BITS as usize).filter(move |column| bits & (1 << column) != 0)
}

fn bits_of(text: &[u8], counter: &WordCounter) -> u64 {
    let (mut bits, first_name) = (0, counter.name_column(0));
    counter.each_hit(text, |hit| bits |= if hit.column < first_name { 1 << hit.column } else { 0 });
    bits
}

/// By line: the columns of the words that it has.
fn line_words(text: &[u8], lines: usize, counter: &WordCounter) -> Vec<u64> {
    let mut words = vec![0; lines.max(1)];
    let (mut line, mut from, first_name) = (0, 0, counter.name_column(0));
    counter.each_hit(text, |hit| {
        line += memchr::memchr_iter(b'\n', &text[from..hit.at]).count();
        from = hit.at;
        if hit.column < first_name {
            words[line] |= 1 << hit.column;
        }
    });
    words
}

/// The words of the comment directly above a line.
fn in_comment(lines: &[&str], number: usize, words: &[u64]) -> u64 {
    let above = (number.saturating_sub(COMMENT_LINES)..number).rev();
    above.take_while(|above| is_comment(lines[*above])).fold(0, |bits, above| bits | words[above])
}

/// The words of the lines above that the statement may have begun on, and of the help text below: `"--port",` above `default=8000`.
fn in_statement(lines: &[&str], number: usize, words: &[u64]) -> u64 {
    let mut bits = 0;
    for above in (number.saturating_sub(STATEMENT_LINES)..number).rev() {
        let text = lines[above].trim();
        let opens = text.ends_with(['{', '(', '[', ':']);
        let is_other = text.is_empty()
            || text.starts_with(['}', ')', ']'])
            || (!opens && !text.contains('(') && text.contains(['=', ':']));
        if is_other {
            break;
        }
        bits |= words[above];
        if opens {
            break;
        }
    }
    for below in (number + 1..lines.len()).take(HELP_LINES) {
        let text = lines[below].trim();
        if text.is_empty() || text.starts_with(['}', ')', ']']) {
            break;
        }
        if ["help", "desc", "Desc"].iter().any(|word| text.contains(word)) {
            bits |= words[below];
        }
    }
    bits
}

/// By line: the words of the lines that enclose it, each less indented than the one before.
fn words_around(lines: &[&str], words: &[u64]) -> Vec<u64> {
    // The indents of the lines that are open, and the words of each with those around it.
    let mut open: Vec<(usize, u64)> = Vec::new();
    let mut around = Vec::with_capacity(lines.len());
    for (line, words) in lines.iter().zip(words) {
        let indent = line_indent(line);
        let opens = !line.trim().is_empty() && !is_comment(line);
        if opens {
            open.truncate(open.partition_point(|(outer, _)| *outer < indent));
        }
        let outer = open.partition_point(|(outer, _)| *outer < indent);
        let bits = outer.checked_sub(1).map_or(0, |last| open[last].1);
        around.push(bits);
        if opens {
            open.push((indent, bits | words));
        }
    }
    around
}
