//! A report as a person reads it: the answer, what it rests on, where to look, and what it took.

use std::path::Path;

use tamis_research::{Reference, ResearchFinding, ResearchReport, Role};

use super::question::answer_of;
use crate::error::CliResult;
use crate::{print, shown, wrap};

/// Prints the answer to stdout, and what it took to stderr.
pub(super) fn report(report: &ResearchReport, role: Option<Role>) -> CliResult {
    let Some(answer) = answer_of(report, role) else { return Ok(()) };
    print::bytes(rendered(report, answer, role, wrap::width()).as_bytes())?;
    let noted =
        |missing: &&String| answer.notes.as_ref().is_some_and(|notes| notes.contains(missing.as_str()));
    for missing in report.run.partial.iter().filter(|missing| !noted(missing)) {
        print::note(format_args!("warning: {}", shown::line(missing)));
    }
    if let Some(path) = &report.artifact_path {
        print::line(format_args!("\nwritten to {}", shown::line(path)))?;
    }
    print::note(run(report));
    Ok(())
}

fn rendered(report: &ResearchReport, answer: &ResearchFinding, role: Option<Role>, width: usize) -> String {
    let mut text = wrap::paragraph(&shown::text(&answer.summary), "", width);
    // The snippets of patterns are with their role; the answer names them only.
    let patterns = report.patterns.as_ref().and_then(|outcome| outcome.result.as_ref().ok());
    let snippets = patterns.filter(|_| role.is_none()).map(|finding| finding.key_findings.as_slice());
    let (examples, findings): (Vec<&String>, Vec<&String>) = answer.key_findings.iter().partition(|text| {
        snippets.is_some_and(|all| all.iter().any(|one| one.starts_with(text.trim_end_matches('…'))))
    });
    if !findings.is_empty() {
        text.push('\n');
    }
    for finding in findings {
        text.push_str(&wrap::paragraph(&shown::text(finding), "- ", width));
    }
    if !examples.is_empty() {
        text.push_str("\nexamples:\n");
        for example in snippets.unwrap_or_default() {
            text.push_str(&wrap::paragraph(&shown::text(example), "- ", width));
        }
    }
    if !answer.references.is_empty() {
        text.push_str("\nwhere to look:\n");
    }
    for reference in &answer.references {
        text.push_str(&format!("  {}\n", shown::line(&clickable(reference, &report.roots_searched))));
    }
    if let Some(notes) = &answer.notes {
        text.push('\n');
        text.push_str(&wrap::paragraph(&shown::text(notes), "note: ", width));
    }
    text
}

/// A reference as it can be opened from here: terminals and editors take paths from the working folder.
fn clickable(reference: &Reference, roots: &[String]) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = Path::new(reference.path());
    let root = roots.iter().map(Path::new).find(|root| root.join(path).exists());
    let Some(root) = root else { return reference.to_string() };
    let whole = root.join(path);
    let shown = whole.strip_prefix(&here).unwrap_or(&whole);
    format!("{}{}", shown.display(), &reference.as_str()[reference.path().len()..])
}

fn run(report: &ResearchReport) -> String {
    let run = &report.run;
    let mut text = format!(
        "{} scanned, {} read ({}), {} ms",
        print::count(run.files_scanned, "file"),
        print::grouped(run.used.files_read),
        print::size(run.used.bytes_read),
        print::grouped(run.elapsed_ms),
    );
    if let Some(model) = &run.model {
        text.push_str(&format!(", with {}", shown::line(model)));
    }
    if !run.keywords.is_empty() {
        text.push_str(&format!("; searched for {}", shown::line(&run.keywords.join(", "))));
    }
    text
}
