//! Which passages of a file to read: definitions, and parts of long ones, best first.
//!
//! The lines of a file belong to the innermost definition around them; a long run of them is split where the text pauses. A
//! passage's score adds up the question's words in it (BM25, weighted by rarity in the codebase and among the definitions of the
//! file) and the name of its definition; a long definition loses a little. The four weights are the means of those fitted on each
//! four of the five repositories in the README, and differ little between them.

use super::passage::{Defined, InspectedFile, RankInput};
use tamis_redact::with_marks;
use tamis_text::split_lines;

/// A part of a file to read. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// A line that shows what it is about, without secrets; empty when the file was not kept.
    pub(crate) line: String,
    /// The definition that it begins with or is part of.
    pub(crate) name: Option<String>,
    /// Whether it begins with the definition.
    pub(crate) defines: bool,
}

impl Passage {
    /// The lines of a long one.
    pub(crate) const MAX_LINES: usize = LINES + LINES / 2;

    /// Whether they begin so near to each other that one reference is enough.
    pub(crate) fn is_near(&self, other: &Passage) -> bool {
        self.first.abs_diff(other.first) < APART
    }

    /// As much of a line as is shown.
    pub(crate) fn shown(line: &str) -> String {
        let line = with_marks(line.trim());
        line[..line.floor_char_boundary(MAX_LINE_LENGTH)].to_owned()
    }

    /// One line, of which nothing is known.
    pub(crate) fn at(line: usize) -> Passage {
        Passage { first: line, last: line, line: String::new(), name: None, defines: false }
    }
}

/// Target number of lines for each part of a long definition. A part has at most half as many more.
const LINES: usize = 20;
/// Passages begin at least this many lines apart.
const APART: usize = 16;

/// Bytes of a line that is shown.
const MAX_LINE_LENGTH: usize = 400;

/// BM25's saturation and its share of length.
const SATURATION: f64 = 1.2;
const LENGTH_SHARE: f64 = 0.5;
/// The weight of the words in a passage.
const WORDS: f64 = 1.06;
/// The weight of a definition that the question spells, and of the question's words in a definition's name.
const SPELLED: f64 = 2.2;
const NAME: f64 = 3.5;
/// What the logarithm of a definition's lines costs.
const LONG: f64 = 3.2;
/// The weight of a usual question for what code does.
const WEIGHT_OF_ACT: f64 = 40.0;
/// The weight that any other question has, except in a codebase of a few files, where no word is rare.
const LEAST_WEIGHT: f64 = 5.0;

/// Lines that belong to one definition, or to none.
pub(super) struct Segment {
    pub(super) owner: Option<usize>,
    pub(super) first: usize,
    pub(super) last: usize,
}

impl InspectedFile {
    /// The best passages, at most this many. A definition that the question spells comes first.
    pub(super) fn passages(&self, input: RankInput<'_>, most: usize) -> Vec<Passage> {
        let lines = split_lines(&self.text);
        let segments = segments(&self.definitions, lines.len().max(self.last_line()));
        let own_lines = self.own_lines(&segments);
        let rarities = self.rarities(&segments, &input.evidence.columns);
        // A question with little weight has little to set against the length of what it is about.
        let whole: f64 = input.weights.columns.iter().sum();
        let usual = if input.question.act.is_some() { WEIGHT_OF_ACT } else { LEAST_WEIGHT };
        let long = LONG * (whole / usual).min(1.0);
        let spelled = spelled_definition(&self.definitions, input);
        let line_at = |line: usize| Passage::shown(lines.get(line - 1).copied().unwrap_or_default());
        let mut scored: Vec<(f64, Passage)> = Vec::new();
        for segment in &segments {
            let is_empty = self.hits_between(segment.first, segment.last).is_empty();
            if is_empty && (spelled.is_none() || segment.owner != spelled) {
                continue;
            }
            let definition = segment.owner.map(|owner| &self.definitions[owner]);
            let of_name = definition.map_or(0.0, |definition| {
                NAME * definition.named + SPELLED * worth_of_spelling(definition, input)
            });
            let cost = long * libm::log(1.0 + own_lines[segment.owner.map_or(0, |owner| owner + 1)] as f64);
            for (mut first, last) in parts(&lines, segment) {
                let defines = definition.is_some_and(|definition| (first..=last).contains(&definition.first));
                let is_spelled = defines && segment.owner == spelled;
                let hits = self.hits_between(first, last);
                if hits.is_empty() && !is_spelled {
                    continue;
                }
                let words = words(hits, &rarities, last - first + 1);
                let mut shown = heaviest_line(hits, &input.evidence.columns).unwrap_or(first);
                if let Some(definition) = definition.filter(|_| defines) {
                    first = definition.first;
                    shown = first;
                }
                let score = if is_spelled { f64::INFINITY } else { WORDS * words + of_name - cost };
                let name = definition.map(|definition| definition.name.clone());
                scored.push((score, Passage { first, last, line: line_at(shown), name, defines }));
            }
        }
        // Two definitions on one line: the lines belong to the other one.
        if let Some(definition) = spelled.map(|number| &self.definitions[number])
            && !scored.iter().any(|(score, _)| score.is_infinite())
        {
            let last = definition.last.min(definition.first + Passage::MAX_LINES - 1);
            let (first, name) = (definition.first, Some(definition.name.clone()));
            scored.push((f64::INFINITY, Passage { first, last, line: line_at(first), name, defines: true }));
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.first.cmp(&b.1.first)));
        let mut best: Vec<Passage> = Vec::new();
        for (_, passage) in scored {
            if best.len() < most && !best.iter().any(|known| known.is_near(&passage)) {
                best.push(passage);
            }
        }
        if best.is_empty() {
            best.push(Passage::at(1));
        }
        best
    }

    /// The last line that is known of a file whose text is not kept.
    fn last_line(&self) -> usize {
        let hit = self.hits.last().map_or(1, |(line, _)| *line);
        self.definitions.iter().map(|definition| definition.last).fold(hit, usize::max)
    }

    /// The hits in these lines.
    fn hits_between(&self, first: usize, last: usize) -> &[(usize, usize)] {
        let from = self.hits.partition_point(|(line, _)| *line < first);
        let length = self.hits[from..].partition_point(|(line, _)| *line <= last);
        &self.hits[from..from + length]
    }

    /// The lines outside of definitions, then those of each definition without the definitions in it.
    fn own_lines(&self, segments: &[Segment]) -> Vec<usize> {
        let mut own = vec![0; self.definitions.len() + 1];
        for segment in segments {
            own[segment.owner.map_or(0, |owner| owner + 1)] += segment.last + 1 - segment.first;
        }
        own
    }

    /// What each column is worth in this file: the fewer of its definitions have it, the more.
    fn rarities(&self, segments: &[Segment], columns: &[f64]) -> Vec<f64> {
        let mut having: Vec<(usize, usize)> = Vec::new();
        let mut owners: Vec<usize> = Vec::new();
        for segment in segments {
            let owner = segment.owner.map_or(0, |owner| owner + 1);
            owners.push(owner);
            let hits = self.hits_between(segment.first, segment.last);
            having.extend(hits.iter().map(|(_, column)| (*column, owner)));
        }
        owners.sort_unstable();
        owners.dedup();
        having.sort_unstable();
        having.dedup();
        let mut definitions = vec![0usize; columns.len()];
        for (column, _) in having {
            definitions[column] += 1;
        }
        let all = owners.len() as f64;
        let rarity = |having: usize| libm::log(1.0 + (all - having as f64 + 0.5) / (having as f64 + 0.5));
        columns.iter().zip(definitions).map(|(weight, having)| weight * rarity(having)).collect()
    }
}

/// The definition that the question spells: a member of the owner that it spells before, else the rarest.
fn spelled_definition(definitions: &[Defined], input: RankInput<'_>) -> Option<usize> {
    let RankInput { question, .. } = input;
    for (owner, member) in &question.members {
        let [owner, member] = [owner, member].map(|number| question.names[*number].text.as_str());
        let is_member = |inner: &Defined| {
            let is_around = |outer: &Defined| {
                outer.name == owner && outer.first <= inner.first && inner.last <= outer.last
            };
            inner.name == member && definitions.iter().any(is_around)
        };
        if let Some(number) = definitions.iter().position(is_member) {
            return Some(number);
        }
    }
    let mut best: Option<(f64, usize)> = None;
    for (number, definition) in definitions.iter().enumerate() {
        let worth = worth_of_spelling(definition, input);
        if worth > best.map_or(0.0, |(best, _)| best) {
            best = Some((worth, number));
        }
    }
    best.map(|(_, number)| number)
}

/// The weight of the question's name that a definition has; zero when it has none.
fn worth_of_spelling(definition: &Defined, input: RankInput<'_>) -> f64 {
    let RankInput { question, counter, weights, .. } = input;
    let number = question.names.iter().position(|name| name.text == definition.name);
    number.map_or(0.0, |number| weights.columns[counter.name_column(number)])
}

/// Which definition the lines belong to, in the order of lines.
pub(super) fn segments(definitions: &[Defined], lines: usize) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 1;
    let mut until = |at: &mut usize, owner: Option<usize>, last: usize| {
        if *at <= last {
            segments.push(Segment { owner, first: *at, last });
            *at = last + 1;
        }
    };
    for (number, definition) in definitions.iter().enumerate() {
        while let Some(&inner) = open.last()
            && definitions[inner].last < definition.lead
        {
            until(&mut at, Some(inner), definitions[inner].last);
            open.pop();
        }
        until(&mut at, open.last().copied(), definition.lead.saturating_sub(1));
        open.push(number);
    }
    while let Some(inner) = open.pop() {
        until(&mut at, Some(inner), definitions[inner].last);
    }
    until(&mut at, None, lines);
    segments
}

/// The parts of a segment, without blank lines at their ends. Each ends before a blank line or one that is little indented.
fn parts(lines: &[&str], segment: &Segment) -> Vec<(usize, usize)> {
    // Without its text, every line of a file counts as filled.
    let margin = |line: usize| match lines.get(line - 1) {
        Some(text) if text.trim().is_empty() => None,
        Some(text) => Some(text.len() - text.trim_start().len()),
        None => Some(0),
    };
    let mut parts = Vec::new();
    let mut first = segment.first;
    while first <= segment.last {
        if margin(first).is_none() {
            first += 1;
            continue;
        }
        let mut end = segment.last + 1;
        if end - first > Passage::MAX_LINES {
            let between = first + LINES / 2..=(first + Passage::MAX_LINES).min(segment.last - LINES / 3);
            end = between.min_by_key(|&line| (margin(line), line.abs_diff(first + LINES))).unwrap_or(end);
        }
        let last = (first..end).rev().find(|&line| margin(line).is_some()).unwrap_or(first);
        parts.push((first, last));
        first = end;
    }
    parts
}

/// BM25 of a passage; a word counts once for each line that has it.
fn words(hits: &[(usize, usize)], rarities: &[f64], lines: usize) -> f64 {
    let length = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * lines as f64 / LINES as f64);
    let mut columns: Vec<usize> = hits.iter().map(|(_, column)| *column).collect();
    columns.sort_unstable();
    columns
        .chunk_by(|a, b| a == b)
        .map(|same| {
            let count = same.len() as f64;
            rarities[same[0]] * count * (SATURATION + 1.0) / (count + length)
        })
        .sum()
}

/// The line with the most of the question's weight.
fn heaviest_line(hits: &[(usize, usize)], columns: &[f64]) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    for line in hits.chunk_by(|a, b| a.0 == b.0) {
        let weight: f64 = line.iter().map(|(_, column)| columns[*column]).sum();
        if weight > best.map_or(0.0, |(best, _)| best) {
            best = Some((weight, line[0].0));
        }
    }
    best.map(|(_, line)| line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defined(name: &str, lead: usize, first: usize, last: usize) -> Defined {
        Defined { name: name.to_owned(), named: 0.0, lead, first, last, depth: 0 }
    }

    #[test]
    fn lines_belong_to_the_innermost_definition() {
        let definitions = [
            defined("class", 2, 3, 20),
            defined("method", 5, 6, 8),
            defined("inner", 7, 7, 7),
            defined("other", 12, 12, 15),
            defined("function", 24, 25, 30),
        ];
        let found: Vec<(&str, usize, usize)> = segments(&definitions, 32)
            .iter()
            .map(|segment| {
                let name = segment.owner.map_or("", |owner| definitions[owner].name.as_str());
                (name, segment.first, segment.last)
            })
            .collect();
        assert_eq!(
            found,
            [
                ("", 1, 1),
                ("class", 2, 4),
                ("method", 5, 6),
                ("inner", 7, 7),
                ("method", 8, 8),
                ("class", 9, 11),
                ("other", 12, 15),
                ("class", 16, 20),
                ("", 21, 23),
                ("function", 24, 30),
                ("", 31, 32),
            ]
        );
    }

    #[test]
    fn a_long_run_is_split_where_the_text_pauses_and_loses_no_line() {
        for length in 0..140 {
            let text: Vec<String> = (0..length)
                .map(|line| match line % 23 {
                    22 => String::new(),
                    at => format!("{}word", " ".repeat(at % 3 * 4)),
                })
                .collect();
            let lines: Vec<&str> = text.iter().map(String::as_str).collect();
            let found = parts(&lines, &Segment { owner: None, first: 1, last: length });
            let covered: Vec<usize> = found.iter().flat_map(|(first, last)| *first..=*last).collect();
            let filled = (1..=length).filter(|line| !lines[line - 1].is_empty());
            assert!(filled.clone().all(|line| covered.contains(&line)), "{length}: {found:?}");
            assert!(covered.is_sorted_by(|a, b| a < b), "{length}: {found:?}");
            assert!(
                found.iter().all(|(first, last)| last - first < Passage::MAX_LINES),
                "{length}: {found:?}"
            );
        }
        let blank = ["", " ", ""];
        assert_eq!(parts(&blank, &Segment { owner: None, first: 1, last: 3 }), []);
    }
}
