//! A codebase in a temporary folder, and questions about it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tamis_code_index::{IndexSettings, IndexUse};
use tamis_codebase::{Policy, Roots, StopSignal};
use tamis_research::{ResearchFinding, ResearchLimits, ResearchRequest, ResearchSettings, Researcher, Role};
use tempfile::TempDir;

pub(crate) const LIMITS: ResearchLimits = ResearchLimits {
    deadline: Duration::from_secs(30),
    max_files_read: 50,
    max_bytes_read: 1 << 20,
    max_tokens: 2000,
};

/// The files in the folder `code`.
pub(crate) fn codebase(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join("code").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

pub(crate) fn researcher(folder: &Path, index: Option<IndexSettings>) -> Researcher {
    researcher_of(&[folder.join("code")], folder, index)
}

/// A researcher that writes to a folder outside of its roots.
pub(crate) fn researcher_of(roots: &[PathBuf], folder: &Path, index: Option<IndexSettings>) -> Researcher {
    Researcher::new(ResearchSettings {
        roots: Roots::open(roots, Policy::standard()).unwrap(),
        thoughts: None,
        artifacts: folder.join("artifacts"),
        limits: LIMITS,
        model: None,
        index,
        workers: 2,
        most_waiting: 8,
    })
}

/// An index that is built and used whatever the size of the codebase.
pub(crate) fn index(folder: &Path) -> IndexSettings {
    IndexSettings { folder: folder.join("index"), used: IndexUse::Always, builds: true }
}

pub(crate) fn ask(researcher: &Researcher, role: Role, question: &str) -> ResearchFinding {
    let request =
        ResearchRequest { question: question.to_owned(), role: Some(role), ..ResearchRequest::default() };
    let report = researcher.research(&request, &StopSignal::never(), &|_| ()).unwrap();
    report.finding(role).unwrap().clone()
}

pub(crate) const BOTH: [Role; 2] = [Role::Locator, Role::Analyzer];

/// Asks each question, and lists those whose first reference is another.
#[track_caller]
pub(crate) fn check(files: &[(&str, &str)], roles: &[Role], rows: &[(&str, &str)]) {
    let folder = codebase(files);
    let researcher = researcher(folder.path(), None);
    let mut wrong = Vec::new();
    for (question, expected) in rows {
        for &role in roles {
            let finding = ask(&researcher, role, question);
            let first = finding.references.first().map_or("nothing", |reference| reference.as_str());
            // A reference may have a span: `path:12-40`.
            let first = first.split('-').next().filter(|_| first.contains(':')).unwrap_or(first);
            if first != *expected {
                wrong.push(format!(
                    "{question} ({role:?}): {first} instead of {expected}; {}",
                    finding.summary
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), rows.len() * roles.len(), wrong.join("\n"));
}
