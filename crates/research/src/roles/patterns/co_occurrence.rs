//! Places where the words of a question come together, for questions that name nothing.
//!
//! A line counts when it has at least two of the words, or the lines right below have what it lacks. The rarer a word is
//! among the files, the more it is worth.

use aho_corasick::AhoCorasick;
use tamis_code_index::word_stem;
use tamis_codebase::{RootedPath, StopSignal, scan};
use tamis_redact::searchable_bytes;
use tamis_syntax::{defined_name, is_attribute_line};
use tamis_text::split_lines;

use super::Occurrence;
use crate::code_lines::CodeLines;
use crate::locate::is_test;
use crate::roles::Job;
use crate::roles::name_search::HitKind;
use crate::roles::paths::is_prose_or_data;
use crate::{RoleError, RoleErrorKind};

pub(super) const MAX_WORDS: usize = 24;
/// Of each file.
pub(super) const MAX_LINES: usize = 6;
/// A place must have this share of what all words are worth, and be this near to the best.
const LEAST_SHARE: f64 = 0.4;
const NEAR_THE_BEST: f64 = 0.6;
/// Lines over which words count as together.
const WINDOW: usize = 3;

/// Longer lines are no examples.
const MAX_LINE_LENGTH: usize = 400;

/// Words as bits.
pub(super) type Mask = u32;

struct FileWords {
    place: RootedPath,
    all: Mask,
    lines: Vec<(usize, Mask, HitKind)>,
}

/// The words that come together, and where.
pub(super) fn find_co_occurrences(
    job: &Job,
    stop: &StopSignal,
) -> Result<(Vec<String>, Vec<Occurrence>), RoleError> {
    find_together(job, job.question.stems.iter().map(String::as_str).take(MAX_WORDS).collect(), stop)
}

fn find_together(
    job: &Job,
    stems: Vec<&str>,
    stop: &StopSignal,
) -> Result<(Vec<String>, Vec<Occurrence>), RoleError> {
    if stems.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let finder = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(aho_corasick::MatchKind::LeftmostLongest)
        .build(&stems)
        .map_err(|error| RoleError::new(RoleErrorKind::Internal, error.to_string()))?;
    let lists = scan(&job.reader.roots, stop, Vec::new, |list: &mut Vec<FileWords>, place, bytes| {
        if !is_prose_or_data(&place.path)
            && finder.is_match(bytes)
            && let Some(found) = look(&finder, stems.len(), place, &searchable_bytes(bytes))
        {
            list.push(found);
        }
    })?;
    let mut files: Vec<FileWords> = lists.into_iter().flatten().collect();
    files.sort_by(|a, b| a.place.cmp(&b.place));
    let has = |word: usize| files.iter().filter(|file| file.all >> word & 1 == 1).count();
    let worths: Vec<f64> = (0..stems.len())
        .map(|word| match has(word) {
            0 => 0.0,
            some => (1.0 + files.len() as f64 / some as f64).ln(),
        })
        .collect();
    let worth =
        |mask: Mask| -> f64 { (0..stems.len()).filter(|at| mask >> at & 1 == 1).map(|at| worths[at]).sum() };
    let total: f64 = worths.iter().sum();
    let all = || files.iter().flat_map(|file| file.lines.iter().map(move |line| (file, line)));
    let best = all().map(|(_, line)| worth(line.1)).fold(0.0, f64::max);
    let least = (LEAST_SHARE * total).max(NEAR_THE_BEST * best);
    let mut occurrences: Vec<Occurrence> = Vec::new();
    let mut together: Mask = 0;
    for (file, &(line, mask, kind)) in all().filter(|(_, line)| worth(line.1) >= least) {
        let test = if is_test(&file.place.path) { 2.0 } else { 0.0 };
        let defines = if kind == HitKind::Definition { 1.0 } else { 0.0 };
        let worth = worth(mask) + defines - test;
        occurrences.push(Occurrence { place: file.place.clone(), line, kind, worth });
        together |= mask;
    }
    // A word that is in no file does not hide the others.
    let present: Vec<&str> = (0..stems.len()).filter(|at| has(*at) > 0).map(|at| stems[at]).collect();
    if occurrences.is_empty() && present.len() < stems.len() {
        return find_together(job, present, stop);
    }
    let words =
        words_of(&job.question.text, &stems, if occurrences.is_empty() { Mask::MAX } else { together });
    Ok((words, occurrences))
}

/// Where a phrase is, in code, comments, texts and data.
pub(super) fn find_phrases(
    job: &Job,
    phrases: &[String],
    stop: &StopSignal,
) -> Result<Vec<Occurrence>, RoleError> {
    let finder = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(phrases)
        .map_err(|error| RoleError::new(RoleErrorKind::Internal, error.to_string()))?;
    let lists = scan(&job.reader.roots, stop, Vec::new, |list: &mut Vec<Occurrence>, place, bytes| {
        if !phrases.is_empty() && finder.is_match(bytes) {
            list.extend(phrases_in(&finder, &place, &searchable_bytes(bytes)));
        }
    })?;
    let mut occurrences: Vec<Occurrence> = lists.into_iter().flatten().collect();
    occurrences.sort_by(|a, b| (&a.place, a.line).cmp(&(&b.place, b.line)));
    Ok(occurrences)
}

fn phrases_in(finder: &AhoCorasick, place: &RootedPath, bytes: &[u8]) -> Vec<Occurrence> {
    let in_word = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at)).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    let text = String::from_utf8_lossy(bytes);
    let lines = split_lines(&text);
    let worth = match (is_prose_or_data(&place.path), is_test(&place.path)) {
        (true, _) => 0.0,
        (false, true) => 1.0,
        (false, false) => 3.0,
    };
    let mut found: Vec<Occurrence> = Vec::new();
    let (mut line, mut counted) = (0, 0);
    for hit in finder.find_iter(bytes) {
        if in_word(hit.start().checked_sub(1)) || in_word(Some(hit.end())) {
            continue;
        }
        line += memchr::memchr_iter(b'\n', &bytes[counted..hit.start()]).count();
        counted = hit.start();
        let content = lines.get(line).copied().unwrap_or("");
        if found.len() < MAX_LINES
            && content.len() < MAX_LINE_LENGTH
            && found.last().is_none_or(|last| last.line + WINDOW <= line)
        {
            let kind = kind(content, &lines[line + 1..]);
            found.push(Occurrence { place: place.clone(), line, kind, worth });
        }
    }
    found
}

/// The question's own words for those stems, in its order.
pub(super) fn words_of(question: &str, stems: &[&str], mask: Mask) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in question.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()) {
        let lower = word.to_lowercase();
        let known = stems.iter().position(|known| *known == word_stem(&lower));
        if known.is_some_and(|at| mask >> at & 1 == 1) && !words.contains(&lower) {
            words.push(lower);
        }
    }
    words
}

fn look(finder: &AhoCorasick, words: usize, place: RootedPath, bytes: &[u8]) -> Option<FileWords> {
    let mut masks: Vec<(usize, Mask, usize)> = Vec::new();
    let (mut line, mut line_start, mut counted, mut all) = (0, 0, 0, 0);
    for found in finder.find_iter(bytes) {
        let at = found.start();
        let inside = at.checked_sub(1).is_some_and(|before| {
            let (before, own) = (bytes[before], bytes[at]);
            before.is_ascii_alphabetic() && !(before.is_ascii_lowercase() && own.is_ascii_uppercase())
        });
        if inside {
            continue;
        }
        for newline in memchr::memchr_iter(b'\n', &bytes[counted..at]) {
            line += 1;
            line_start = counted + newline + 1;
        }
        counted = at;
        let bit = 1 << found.pattern().as_usize();
        all |= bit;
        match masks.last_mut() {
            Some((last, mask, _)) if *last == line => *mask |= bit,
            _ => masks.push((line, bit, at - line_start)),
        }
    }
    if all == 0 {
        return None;
    }
    let least = words.min(2) as u32;
    let mut windows: Vec<(usize, Mask, usize)> = Vec::new();
    for (at, &(line, mask, column)) in masks.iter().enumerate() {
        let near = masks[at..].iter().take_while(|next| next.0 < line + WINDOW);
        let together = near.fold(mask, |all, next| all | next.1);
        if together.count_ones() >= least {
            windows.push((line, together, column));
        }
    }
    // Many words first, and of those the first lines.
    windows.sort_by_key(|&(line, mask, _)| (std::cmp::Reverse(mask.count_ones()), line));
    let mut kept: Vec<(usize, Mask, HitKind)> = Vec::new();
    if !windows.is_empty() {
        let text = String::from_utf8_lossy(bytes);
        let lines = split_lines(&text);
        let code = CodeLines::of(&lines, &place.path);
        for (line, mask, column) in windows {
            let apart = kept.iter().all(|known| known.0.abs_diff(line) >= WINDOW);
            let content = lines.get(line).copied().unwrap_or("");
            let import = ["import ", "from ", "use ", "#include", "require"];
            let import = import.iter().any(|word| content.trim_start().starts_with(word));
            let sound = content.len() < MAX_LINE_LENGTH
                && !import
                && column <= content.len()
                && code.is_code(&lines, line, column);
            if kept.len() < MAX_LINES && apart && sound {
                kept.push((line, mask, kind(content, &lines[line + 1..])));
            }
        }
    }
    Some(FileWords { place, all, lines: kept })
}

pub(super) fn kind(line: &str, next: &[&str]) -> HitKind {
    if is_attribute_line(line.trim_start()) {
        HitKind::Decorator
    } else if defined_name(line, next).is_some() {
        HitKind::Definition
    } else if line.contains('(') {
        HitKind::Call
    } else {
        HitKind::Mention
    }
}
