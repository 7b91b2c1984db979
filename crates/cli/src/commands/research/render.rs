//! Renders a report for people: the answer, its findings, where to look, and what it took.

use std::path::Path;

use tamis_research::{
    FindingKind, KeyFinding, NoteFact, Reference, ReportNote, ResearchFinding, ResearchReport, Role,
};

use super::question::answer_of;
use crate::error::CliResult;
use crate::{escape, print, style, wrap};

/// Prints the answer to stdout, and what it took to stderr.
pub(super) fn report(report: &ResearchReport, role: Option<Role>) -> CliResult {
    let Some(answer) = answer_of(report, role) else { return Ok(()) };
    print::text(&render(report, answer, role, wrap::width()))?;
    let is_noted = |missing: &&ReportNote| answer.notes.iter().any(|note| note.fact == missing.fact);
    for missing in report.run.partial.iter().filter(|missing| !is_noted(missing)) {
        print::note(format_args!("warning: {}", escape::line(&missing.text)));
    }
    if let Some(path) = &report.artifact_path {
        print::line(format_args!("\nwritten to {}", escape::line(path)))?;
    }
    // An answer that nothing was found says itself what was searched.
    if !answer.references.is_empty() {
        print::note(usage(report));
    }
    Ok(())
}

fn render(report: &ResearchReport, answer: &ResearchFinding, role: Option<Role>, width: usize) -> String {
    let localized = |text: &str| localize(&escape::text(text), answer, &report.roots_searched);
    let notes = escape::text(&notes(answer));
    let mut text = String::new();
    // That something is in no file comes before what is closest to it.
    let is_absent = |note: &ReportNote| states_absence(&note.fact);
    let begins_with_notes = !answer.references.is_empty() && answer.notes.iter().any(is_absent);
    if begins_with_notes {
        text.push_str(&wrap::paragraph(&notes, "note: ", width));
        text.push('\n');
    }
    text.push_str(&wrap::paragraph(&localized(&answer.summary), "", width));
    // The snippets of patterns are with their role; the answer names them only.
    let patterns = report.finding(Role::Patterns);
    let snippets = patterns.filter(|_| role.is_none()).map(|finding| finding.key_findings.as_slice());
    let is_shown = |finding: &&KeyFinding| {
        let is_example = matches!(finding.kind, FindingKind::Example { .. });
        is_example && snippets.is_some_and(|all| all.iter().any(|one| one.kind == finding.kind))
    };
    let (examples, findings): (Vec<&KeyFinding>, Vec<&KeyFinding>) =
        answer.key_findings.iter().partition(is_shown);
    // Places are listed once, at the end.
    let is_place = |finding: &&KeyFinding| {
        matches!(finding.kind, FindingKind::Passage { .. } | FindingKind::Places { .. })
    };
    let (places, findings): (Vec<&KeyFinding>, Vec<&KeyFinding>) = findings.into_iter().partition(is_place);
    if !findings.is_empty() {
        text.push('\n');
    }
    for finding in findings {
        text.push_str(&wrap::paragraph(&localized(&finding.text), "- ", width));
    }
    if !examples.is_empty() {
        text.push_str("\nexamples:\n");
        for example in snippets.unwrap_or_default() {
            text.push_str(&wrap::paragraph(&escape::text(&example.text), "- ", width));
        }
    }
    if !answer.references.is_empty() {
        text.push_str("\nwhere to look:\n");
    }
    let of_locator = report.finding(Role::Locator).map_or(&[][..], |finding| &finding.key_findings);
    for reference in &answer.references {
        let place = escape::line(&clickable(reference, &report.roots_searched));
        text.push_str(&format!("  {}\n", style::path(&place)));
        let about = places.iter().copied().chain(of_locator).find_map(|finding| about(finding, reference));
        if let Some(about) = about {
            let about: String = escape::line(about).chars().take(width.saturating_sub(ABOUT.len())).collect();
            text.push_str(&format!("{ABOUT}{about}\n"));
        }
    }
    if !answer.notes.is_empty() && !begins_with_notes {
        text.push('\n');
        text.push_str(&wrap::paragraph(&notes, "note: ", width));
    }
    text
}

/// The notes as one text, without the roles that they come from.
fn notes(answer: &ResearchFinding) -> String {
    let text = |note: &ReportNote| match &note.fact {
        NoteFact::OfRole(role, _) => note
            .text
            .strip_prefix(role.key())
            .and_then(|text| text.strip_prefix(": "))
            .unwrap_or(&note.text)
            .to_owned(),
        _ => note.text.clone(),
    };
    answer.notes.iter().map(text).collect::<Vec<_>>().join(" ")
}

fn states_absence(fact: &NoteFact) -> bool {
    match fact {
        NoteFact::InNoFile(_) | NoteFact::NamesNotFound(_) => true,
        NoteFact::OfRole(_, facts) => facts.iter().any(states_absence),
        _ => false,
    }
}

/// A text whose paths are written as those of its references are shown.
fn localize(text: &str, answer: &ResearchFinding, roots: &[String]) -> String {
    let mut text = text.to_owned();
    let mut known: Vec<&str> = Vec::new();
    for reference in &answer.references {
        let path = reference.path();
        let shown = clickable(reference, roots);
        let shown = &shown[..shown.len() - (reference.as_str().len() - path.len())];
        if known.contains(&path) || shown == path {
            continue;
        }
        known.push(path);
        for before in [" ", "("] {
            text = text.replace(&format!("{before}{path}"), &format!("{before}{shown}"));
        }
        if let Some(rest) = text.strip_prefix(path) {
            text = format!("{shown}{rest}");
        }
    }
    text
}

/// The margin of the line that is shown of a place.
const ABOUT: &str = "      ";

/// What the finding about a place says after it: one line, and what it is in.
fn about<'a>(finding: &'a KeyFinding, reference: &Reference) -> Option<&'a str> {
    let FindingKind::Passage { place, .. } = &finding.kind else { return None };
    let (_, about) = finding.text.split_once(place.as_str()).filter(|_| place == reference)?;
    let about = about.trim_start_matches([':', ' ']);
    let line = about.strip_prefix("defines ").map(|about| about.split_once(": ").unwrap_or_default().1);
    Some(line.unwrap_or(about)).filter(|line| !line.is_empty())
}

/// A reference as a path from the working folder, which terminals and editors can open.
fn clickable(reference: &Reference, roots: &[String]) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = Path::new(reference.path());
    // Where several roots have the path, it begins with the end of its root's.
    let below = |root: &Path| {
        let starts = root.ancestors().filter_map(|above| root.strip_prefix(above).ok());
        let mut files = starts.filter_map(|start| Some(root.join(path.strip_prefix(start).ok()?)));
        files.find(|file| file.exists())
    };
    let Some(whole) = roots.iter().map(Path::new).find_map(below) else { return reference.to_string() };
    let shown = whole.strip_prefix(&here).unwrap_or(&whole);
    format!("{}{}", shown.display(), &reference.as_str()[reference.path().len()..])
}

fn usage(report: &ResearchReport) -> String {
    let run = &report.run;
    let mut text = format!(
        "{} searched in {} ms",
        print::count(run.files_scanned, "file"),
        print::grouped(run.elapsed_ms),
    );
    if run.used.files_read > 0 {
        let size = print::size(run.used.bytes_read);
        text.push_str(&format!(", {} of them read whole ({size})", print::grouped(run.used.files_read)));
    }
    if !run.models.is_empty() {
        text.push_str(&format!(", with {}", escape::line(&run.models.join(", "))));
    }
    if !run.keywords.is_empty() {
        text.push_str(&format!("; searched for {}", escape::line(&run.keywords.join(", "))));
    }
    text
}
