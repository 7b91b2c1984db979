//! Thoughts: notes of former work about the question.
//!
//! Notes are ranked by the question's words in their titles, headings and text; the finding has the dates and the most
//! relevant lines of the best. Locator and analyzer in one: notes are short.

mod note;

use tamis_code_index::word_stem;
use tamis_codebase::{RootedPath, StopSignal, scan};
use tamis_redact::searchable_bytes;
use tamis_text::words::each_word;

use self::note::{NoteFile, is_note};
use super::Job;
use super::format::{MAX_FINDING_LENGTH, References, brief};
use crate::{
    Confidence, FindingKind, KeyFinding, NotFound, NoteFact, ReportNote, ResearchFinding, RoleError,
};

const MAX_NOTES: usize = 6;
const MAX_FINDINGS: usize = 8;
/// Lines of the best note; the others have one.
const BEST_LINES: usize = 3;

/// A note as the scan saw it.
struct ScannedNote {
    place: RootedPath,
    /// How often each of the question's words is in the path and headings, and elsewhere.
    counts: Vec<(u32, u32)>,
}

pub(crate) fn run(job: &Job, stop: &StopSignal) -> Result<ResearchFinding, RoleError> {
    let Some(roots) = &job.thoughts else {
        return Ok(not_found("no folder of notes is configured", Vec::new()));
    };
    let stems: Vec<&str> = job.question.stems.iter().map(String::as_str).collect();
    let reader = job.reader.elsewhere(roots.clone(), stop.clone());
    let lists = scan(roots, stop, Vec::new, |list: &mut Vec<ScannedNote>, place, bytes| {
        if is_note(&place.path) {
            let counts = counts(&stems, &place.path, &String::from_utf8_lossy(&searchable_bytes(bytes)));
            list.push(ScannedNote { place, counts });
        }
    })?;
    let mut seen: Vec<ScannedNote> = lists.into_iter().flatten().collect();
    seen.sort_by(|a, b| a.place.cmp(&b.place));
    let looked_at = seen.len();
    let ranked = ranked(seen, stems.len());
    let mut references = References::default();
    let mut findings: Vec<String> = Vec::new();
    let (mut limited, mut described, mut coverage) = (false, 0, 0.0_f64);
    for (place, share) in ranked.iter().take(MAX_NOTES) {
        stop.check()?;
        let Some(source) = reader.read_if_possible(place, &mut limited) else { continue };
        let note = NoteFile::of(&source);
        coverage = coverage.max(*share);
        let most = if described == 0 { BEST_LINES } else { 1 };
        let lines = note.relevant_lines(&job.question, most);
        let date = note.date.as_ref().map_or(String::new(), |date| format!("{date} "));
        let first = lines.first().map_or(1, |line| line.number);
        references.add(&place.path, Some(first));
        let title = brief(&note.title, 80);
        let mut sentence = format!("{date}{} ({}:{first})", title, place.path);
        if let Some(line) = lines.first() {
            sentence.push_str(&format!(": {}", line.render()));
        }
        findings.push(brief(&sentence, MAX_FINDING_LENGTH + 60));
        for line in lines.iter().skip(1) {
            references.add(&place.path, Some(line.number));
            findings.push(brief(
                &format!("→ {} ({}:{})", line.render(), place.path, line.number),
                MAX_FINDING_LENGTH,
            ));
        }
        described += 1;
    }
    findings.truncate(MAX_FINDINGS);
    let mut notes: Vec<ReportNote> = Vec::new();
    if limited {
        notes.push(NoteFact::read_limits(job.reader.budget.limits()).into());
    }
    if findings.is_empty() {
        return Ok(not_found(
            &format!("none of {looked_at} notes contains the words of the question"),
            notes,
        ));
    }
    let noun = if described == 1 { "note" } else { "notes" };
    let summary = format!("{described} {noun} of {looked_at} on this; best: {}", findings[0]);
    let confidence = match coverage {
        share if share >= 0.75 => Confidence::High,
        share if share >= 0.4 => Confidence::Med,
        _ => Confidence::Low,
    };
    Ok(ResearchFinding {
        summary: brief(&summary, 320),
        references: references.into_list(MAX_FINDINGS),
        key_findings: findings.into_iter().map(|text| KeyFinding::new(FindingKind::History, text)).collect(),
        confidence,
        notes,
        not_found: None,
    })
}

fn not_found(reason: &str, notes: Vec<ReportNote>) -> ResearchFinding {
    ResearchFinding::not_found(NotFound::Words, format!("not found: {reason}"), notes)
}

fn counts(stems: &[&str], path: &str, text: &str) -> Vec<(u32, u32)> {
    let mut counts = vec![(0, 0); stems.len()];
    let mut count = |text: &str, heading: bool| {
        each_word(text, |word, _| {
            if let Ok(at) = stems.binary_search(&&*word_stem(word)) {
                *(if heading { &mut counts[at].0 } else { &mut counts[at].1 }) += 1;
            }
        });
    };
    count(path, true);
    for line in text.lines() {
        count(line, line.starts_with('#') || line.starts_with("title:"));
    }
    counts
}

/// The notes that have some of the words, best first, with the share of the words' worth that they have.
fn ranked(seen: Vec<ScannedNote>, words: usize) -> Vec<(RootedPath, f64)> {
    let all = seen.len() as f64;
    let worths: Vec<f64> = (0..words)
        .map(|word| {
            let having = seen.iter().filter(|note| note.counts[word] != (0, 0)).count();
            // A word that no note has is worth as much as the rarest: it is missing.
            (1.0 + all / having.max(1) as f64).ln()
        })
        .collect();
    let total: f64 = worths.iter().sum();
    let mut ranked: Vec<(f64, f64, RootedPath)> = Vec::new();
    for note in seen {
        let (mut score, mut met) = (0.0, 0.0);
        for (worth, &(heading, text)) in worths.iter().zip(&note.counts) {
            if heading + text > 0 {
                met += worth;
                score += worth * (3.0 * f64::from(heading.min(2)) + f64::from(text.min(6)).sqrt());
            }
        }
        if met > 0.0 && met >= 0.34 * total {
            ranked.push((score * met / total, met / total, note.place));
        }
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.2.cmp(&b.2)));
    let best = ranked.first().map_or(0.0, |first| first.0);
    ranked
        .into_iter()
        .filter(|(score, _, _)| *score >= 0.3 * best)
        .map(|(_, share, place)| (place, share))
        .collect()
}
