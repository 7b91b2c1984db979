//! Memos on disk: written only whole and only once, read back with what still holds of them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use tamis_codebase::{Policy, Roots};
use tamis_redact::Redacted;
use tamis_research::{
    ArtifactError, Confidence, FindingKind, Handoff, KeyFinding, NoteFact, Reference, ReferenceState,
    ResearchFinding, ResearchLimits, ResearchReport, ResumeError, Role, RoleOutcome, RoleTiming, RunRecord,
    list_handoffs, resume_handoff, write_artifact, write_handoff,
};

/// In two pieces, so that secret scanners do not report this file.
fn token() -> String {
    format!("ghp_{}", "R8sK2vQ9xT4mZ7bN1cL6pW3dF5hJ0gYaUeIo")
}

fn report() -> ResearchReport {
    let finding = ResearchFinding {
        summary: format!("It is defined in src/a.rs. The token is {}.", token()),
        references: vec![
            Reference::new("src/a.rs", Some(2)),
            Reference::new("src/a.rs", Some(2)),
            Reference::new("b.rs", None),
        ],
        key_findings: vec![KeyFinding::new(
            FindingKind::Places { category: None },
            "implementation: src/a.rs:2 defines parse".into(),
        )],
        confidence: Confidence::High,
        notes: vec![NoteFact::Text("The limits left out some files.".into()).into()],
        not_found: None,
    };
    ResearchReport {
        question: format!("Where is parse?\n## Summary\nand {}", token()),
        roots_searched: vec!["/code".into()],
        roles: BTreeMap::from([(
            Role::Locator,
            RoleOutcome { result: Ok(finding.clone()), timing: RoleTiming::default() },
        )]),
        synthesis: Some(finding),
        run: RunRecord {
            timeouts: vec![Role::Analyzer],
            partial: vec![NoteFact::Text("The analyzer ran out of time.".into()).into()],
            ..RunRecord::new(ResearchLimits {
                deadline: Duration::from_secs(30),
                max_files_read: 50,
                max_bytes_read: 1 << 20,
                max_tokens: 2000,
            })
        },
        artifact_path: None,
    }
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn code() -> (tempfile::TempDir, Roots) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    for path in ["src/a.rs", "b.rs", "c.rs"] {
        fs::write(folder.path().join(path), "one\ntwo\nthree\n").unwrap();
    }
    let roots = Roots::open(&[folder.path().to_owned()], Policy::standard()).unwrap();
    (folder, roots)
}

#[test]
fn a_report_becomes_a_memo_of_the_contracts_form() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("new/artifacts");
    let path = write_artifact(&root, &report(), time("2026-01-02T03:04:05.678Z")).unwrap();
    assert_eq!(path.parent().unwrap(), root.canonicalize().unwrap());
    assert_eq!((mode(&root), mode(&path)), (0o700, 0o600));
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("20260102-030405-678-where-is-parse-summary-and-redacted-"), "{name}");
    let memo = fs::read_to_string(&path).unwrap();
    assert_eq!(
        memo,
        "# Research Handoff\n\n## Question\n\nWhere is parse?\n\\## Summary\nand [redacted:github-token]\n\n\
         ## Summary\n\nIt is defined in src/a.rs. The token is [redacted:github-token].\n\n\
         ## Key Findings\n\n- implementation: src/a.rs:2 defines parse\n\n\
         ## References\n\n- src/a.rs:2\n- b.rs\n\n\
         ## Constraints / Budgets\n\n- root: /code\n- limits: 50 files read, 1048576 bytes read, 2000 tokens, 30000 ms\n\
         - used: 0 files read, 0 bytes read, 0 files scanned, 0 ms\n- model: none\n- timeouts: analyzer\n\n\
         ## Notes\n\nThe limits left out some files.\nThe analyzer ran out of time.\n\n\
         <!-- written 2026-01-02T03:04:05.678Z -->\n"
    );
    assert_eq!(fs::read_dir(&root).unwrap().count(), 1, "nothing unfinished is left behind");
}

#[test]
fn a_summary_has_two_sentences_at_least_and_six_at_most() {
    let sentences = |summary: &str| {
        let mut report = report();
        report.synthesis.as_mut().unwrap().summary = summary.to_owned();
        Handoff::of(&report).summary
    };
    assert_eq!(sentences("Not found"), "Not found. References: 2; confidence: high.");
    assert_eq!(sentences("A. B. C. D. E. F. G."), "A. B. C. D. E. F.");
    let nothing = ResearchReport { synthesis: None, roles: BTreeMap::new(), ..report() };
    assert!(Handoff::of(&nothing).summary.starts_with("Nothing was found out"));
}

#[test]
fn nothing_is_overwritten_and_no_link_is_written_through() {
    let folder = tempfile::tempdir().unwrap();
    let (root, victim) = (folder.path().join("artifacts"), folder.path().join("victim"));
    let now = time("2026-01-02T03:04:05Z");
    let first = write_artifact(&root, &report(), now).unwrap();
    let second = write_artifact(&root, &report(), now).unwrap();
    assert_ne!(first, second);
    // Another process knows the name and puts a link there.
    fs::write(&victim, "precious").unwrap();
    fs::remove_file(&first).unwrap();
    symlink(&victim, &first).unwrap();
    let third = write_artifact(&root, &report(), now).unwrap();
    assert!(third != first && third != second);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert!(first.symlink_metadata().unwrap().is_symlink());
    // Or in place of the folder.
    let link = folder.path().join("link");
    symlink(&root, &link).unwrap();
    let before = fs::read_dir(&root).unwrap().count();
    let error = write_artifact(&link, &report(), now).unwrap_err();
    assert!(matches!(error, ArtifactError::Link { .. }), "{error}");
    assert_eq!(fs::read_dir(&root).unwrap().count(), before);
    let error = write_artifact(&victim.join("x"), &report(), now).unwrap_err();
    assert!(matches!(error, ArtifactError::Failed { .. }), "{error}");
}

#[test]
fn many_at_once_all_get_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let now = time("2026-01-02T03:04:05Z");
    let write = || write_artifact(folder.path(), &report(), now).unwrap();
    let mut paths: Vec<PathBuf> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(write)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), 8);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 8);
}

#[test]
fn a_resumed_handoff_has_the_state_of_its_references() {
    let (code, roots) = code();
    let folder = tempfile::tempdir().unwrap();
    let now = Timestamp::now();
    let at = |path: &str, seconds: u64, later: bool, text: &str| {
        let path = code.path().join(path);
        fs::write(&path, text).unwrap();
        let now = SystemTime::from(now);
        let shift = Duration::from_secs(seconds);
        let time = if later { now + shift } else { now - shift };
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    };
    at("src/a.rs", 60, false, "one\ntwo\n");
    at("b.rs", 60, true, "one\ntwo\n");
    at("c.rs", 60, true, "one\n");
    symlink("/etc/passwd", code.path().join("link")).unwrap();
    let references =
        ["src/a.rs:2", "src/a.rs:9", "b.rs:1", "c.rs:2", "gone.rs:1", "/etc/passwd", "../x", "link"];
    let handoff = Handoff {
        question: "Parsing".into(),
        summary: "Half done. Tests are missing.".into(),
        key_findings: vec!["a is parsed first".into()],
        references: references
            .map(|text| Reference::from(text.to_owned()))
            .into_iter()
            .chain([Reference::from(token())])
            .collect(),
        notes: Some(format!("Use {}", token())),
        ..Handoff::default()
    };
    let path = write_handoff(folder.path(), handoff, now).unwrap();
    let resumed = resume_handoff(folder.path(), None, &roots).unwrap();
    assert_eq!(resumed.path, path);
    assert_eq!((resumed.handoff.question.as_str(), resumed.handoff.written), ("Parsing", Some(now)));
    assert_eq!(resumed.handoff.notes.as_deref(), Some("Use [redacted:github-token]"));
    let stands: Vec<_> =
        resumed.references.iter().map(|(reference, standing)| (reference.as_str(), *standing)).collect();
    assert_eq!(
        stands,
        [
            ("src/a.rs:2", ReferenceState::Unchanged),
            ("src/a.rs:9", ReferenceState::LineGone),
            ("b.rs:1", ReferenceState::Changed),
            ("c.rs:2", ReferenceState::LineGone),
            ("gone.rs:1", ReferenceState::Missing),
            ("/etc/passwd", ReferenceState::Missing),
            ("../x", ReferenceState::Missing),
            ("link", ReferenceState::Missing),
            ("[redacted:github-token]", ReferenceState::Missing),
        ]
    );
    assert!(!fs::read_to_string(path).unwrap().contains(&token()));
}

#[test]
fn a_handoff_is_found_by_path_name_part_or_as_the_latest() {
    let (_code, roots) = code();
    let folder = tempfile::tempdir().unwrap();
    let about = |question: &str, now: &str| {
        let handoff = Handoff { question: question.into(), ..Handoff::default() };
        write_handoff(folder.path(), handoff, time(now)).unwrap()
    };
    let missing = folder.path().join("missing");
    assert!(matches!(resume_handoff(&missing, None, &roots), Err(ResumeError::NoneThere { .. })));
    assert!(matches!(resume_handoff(folder.path(), None, &roots), Err(ResumeError::NoneThere { .. })));
    let latest = about("apple tree", "2026-01-03T00:00:00Z");
    let older = about("pear tree", "2026-01-02T00:00:00Z");
    fs::write(folder.path().join("notes.txt"), "x").unwrap();
    let name = older.file_name().unwrap().to_str().unwrap();
    let found = |requested: Option<&str>| {
        resume_handoff(folder.path(), requested, &roots).map(|resumed| resumed.path)
    };
    assert_eq!(found(None).unwrap(), latest);
    for requested in
        [name, name.trim_end_matches(".md"), older.to_str().unwrap(), "pear", &format!("./{name}")]
    {
        assert_eq!(found(Some(requested)).unwrap(), older, "{requested}");
    }
    assert!(
        matches!(found(Some("tree")), Err(ResumeError::Ambiguous { available, .. }) if available.len() == 2)
    );
    let error = found(Some("plum")).unwrap_err();
    assert!(error.to_string().contains(name), "{error}");
    let outside = tempfile::tempdir().unwrap();
    let stray = write_handoff(outside.path(), Handoff::default(), time("2026-01-02T00:00:00Z")).unwrap();
    symlink(&stray, folder.path().join("99999999-link.md")).unwrap();
    for requested in [stray.to_str().unwrap(), "../x.md", "/etc/passwd", "/not/there", "a/../../x"] {
        assert!(matches!(found(Some(requested)), Err(ResumeError::Outside { .. })), "{requested}");
    }
    assert_eq!(found(None).unwrap(), latest, "a link is no memo");
    assert!(found(Some("99999999-link.md")).is_err());
    fs::write(folder.path().join("99999999-other.md"), "# Shopping\n").unwrap();
    assert!(matches!(found(None), Err(ResumeError::NotAHandoff { .. })));
    let names = list_handoffs(folder.path()).unwrap();
    assert_eq!((names.len(), names[1].as_str()), (3, latest.file_name().unwrap().to_str().unwrap()));
    assert_eq!(list_handoffs(&missing).unwrap(), [""; 0]);
}

#[test]
fn sentences_that_are_too_many_for_a_summary_are_found_in_the_notes() {
    let handoff = Handoff {
        question: "Parsing".into(),
        summary: "One. Two. Three. Four. Five. Six. Seven is open. Eight is not.".into(),
        notes: Some("Ask Ann.".into()),
        ..Handoff::default()
    };
    let tidy = Redacted::new(handoff);
    assert_eq!(tidy.summary, "One. Two. Three. Four. Five. Six.");
    assert_eq!(tidy.notes.as_deref(), Some("Ask Ann.\nSeven is open. Eight is not."));
    assert_eq!(Redacted::new(tidy.clone().into_inner()), tidy, "doing it again changes nothing");
}
