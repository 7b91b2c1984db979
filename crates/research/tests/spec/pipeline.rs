//! Phase 4: the whole pipeline.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tamis_code_index::{IndexSettings, IndexUse};
use tamis_codebase::{Policy, Roots, StopSignal};
use tamis_research::{ResearchConstraints, ResearchRequest, Researcher, Role, RoleError, RoleErrorKind};

use crate::fixture::{Fixture, Roles, asking, finding, research, texts};

fn mocked() -> Roles {
    Roles::default()
        .finding(
            Role::Locator,
            finding(
                "Retries are in two files",
                &["src/orders.rs", "src/payments.rs:1", "shop.toml"],
                &["implementation: src/orders.rs:6 defines retry_order", "configuration: shop.toml"],
            ),
        )
        .finding(
            Role::Analyzer,
            finding(
                "retry_order gives up after 3 attempts",
                &["src/orders.rs:6", "src/payments.rs:1"],
                &["retry_order stops at 3 (src/orders.rs:7)"],
            ),
        )
        .finding(
            Role::Patterns,
            finding(
                "Two examples",
                &["src/orders.rs:6", "src/payments.rs:1"],
                &["src/payments.rs:1 compares\n  attempt < 5"],
            ),
        )
}

#[test]
fn pipeline_orchestrator_given_mocked_role_results_synthesis_returns_a_compact_report_with_stable_ordering() {
    let fixture = Fixture::new();
    let (_, answer) = research(&fixture.with(mocked()), &asking("Show similar retries"));
    assert_eq!(
        answer["synthesis"],
        json!({
            "summary": "retry_order gives up after 3 attempts. Two examples.",
            "references": ["src/orders.rs:6", "src/payments.rs:1", "shop.toml"],
            "key_findings": [
                "retry_order stops at 3 (src/orders.rs:7)",
                "implementation: src/orders.rs:6 defines retry_order",
                "configuration: shop.toml",
                "src/payments.rs:1 compares",
            ],
            "confidence": "high",
            "notes": null,
        })
    );
    assert_eq!(answer["run"]["partial"], json!([]));
}

#[test]
fn partial_results_when_a_role_times_out_or_errors_synthesis_still_returns_a_valid_report_and_records_it() {
    let fixture = Fixture::new();
    for role in [Role::Locator, Role::Analyzer, Role::Patterns] {
        for kind in [RoleErrorKind::Timeout, RoleErrorKind::ProviderError, RoleErrorKind::Internal] {
            let roles = mocked().with(role, move |_| Err(RoleError::new(kind, "it went wrong")));
            let (_, answer) = research(&fixture.with(roles), &asking("Show similar retries"));
            assert_eq!(answer[role.key()]["error"]["name"], kind.name());
            let partial = texts(&answer["run"]["partial"]);
            assert!(partial.len() == 1 && partial[0].starts_with(role.key()), "{partial:?}");
            assert!(answer["synthesis"]["notes"].as_str().unwrap().contains(partial[0]));
            assert_ne!(answer["synthesis"]["confidence"], "high");
            assert!(!texts(&answer["synthesis"]["references"]).is_empty());
            let timeouts = if kind == RoleErrorKind::Timeout { json!([role.key()]) } else { json!([]) };
            assert_eq!(answer["run"]["timeouts"], timeouts);
        }
    }
}

#[test]
fn budget_enforcement_max_files_bytes_time_and_concurrency_are_respected_across_the_whole_pipeline() {
    let fixture = Fixture::new();
    for number in 0..40 {
        fixture.write(&format!("src/part_{number}.rs"), &format!("pub fn part_{number}() {{}}\n"));
    }
    let (at_work, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut roles = Roles::default();
    for role in [Role::Locator, Role::Analyzer, Role::Patterns, Role::Thoughts] {
        let (at_work, most) = (Arc::clone(&at_work), Arc::clone(&most));
        roles = roles.with(role, move |task| {
            most.fetch_max(at_work.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            // Each role by itself would read them all; different ones, but for the first.
            let mut read = 0;
            for number in 0..40 {
                let place = task.reader.roots.places_of(&format!("src/part_{number}.rs")).remove(0);
                read += usize::from(task.reader.read(&place).is_ok());
            }
            at_work.fetch_sub(1, Ordering::SeqCst);
            Ok(finding(&format!("read {read}"), &["src/main.rs:1"], &[]))
        });
    }
    let mut settings = fixture.settings();
    settings.workers = 2;
    settings.thoughts = Some(Roots::open(&[fixture.code().join("tests")], Policy::standard()).unwrap());
    let researcher = Researcher::with_custom_roles(settings, Arc::new(roles));
    let constraints = ResearchConstraints {
        max_files_read: Some(7),
        max_bytes_read: Some(100),
        ..ResearchConstraints::default()
    };
    let (report, answer) = research(&researcher, &ResearchRequest { constraints, ..asking("similar parts") });
    assert_eq!(report.run.roles, [Role::Locator, Role::Analyzer, Role::Patterns, Role::Thoughts]);
    assert!(report.run.used.files_read <= 7 && report.run.used.bytes_read <= 100, "{:?}", report.run.used);
    assert!(most.load(Ordering::SeqCst) <= 2);
    assert!(answer["synthesis"]["notes"].as_str().unwrap().contains("limits of 7 files and 100 bytes"));
    // Time, too, is one for all: no role gets its own deadline.
    let roles = Roles::default().with(Role::Locator, |task| {
        let left = task.stop.remaining().unwrap();
        Ok(finding(&left.as_millis().to_string(), &["src/main.rs:1"], &[]))
    });
    let constraints = ResearchConstraints { deadline_ms: Some(5_000), ..ResearchConstraints::default() };
    let (report, _) = research(&fixture.with(roles), &ResearchRequest { constraints, ..asking("where?") });
    let left: u64 = report.finding(Role::Locator).unwrap().summary.parse().unwrap();
    assert!(left <= 5_000);
}

#[test]
fn dedupe_correctness_identical_references_from_multiple_roles_are_merged_without_losing_role_specific_findings()
 {
    let fixture = Fixture::new();
    let (_, answer) = research(&fixture.with(mocked()), &asking("Show similar retries"));
    let references = texts(&answer["synthesis"]["references"]);
    assert_eq!(references, ["src/orders.rs:6", "src/payments.rs:1", "shop.toml"]);
    // Each role keeps what it found, where it found it.
    for (role, count) in [("locator", 2), ("analyzer", 1), ("patterns", 1)] {
        assert_eq!(texts(&answer[role]["value"]["key_findings"]).len(), count, "{role}");
    }
    let messages = texts(&answer["synthesis"]["key_findings"]);
    for part in ["retry_order stops at 3", "retry_order", "shop.toml", "src/payments.rs:1 compares"] {
        assert!(messages.iter().any(|text| text.contains(part)), "{part}: {messages:?}");
    }
}

#[test]
fn notes_of_former_work_are_searched_only_when_configured_and_never_beyond_the_roots_of_a_call() {
    let fixture = Fixture::new();
    let notes = fixture.folder.path().join("notes");
    std::fs::create_dir(&notes).unwrap();
    std::fs::write(notes.join("2024-retries.md"), "# Retries\n\nDecided: retry_order gives up after 3.\n")
        .unwrap();
    let question = asking("Why does retry_order give up?");
    let (_, answer) = research(&fixture.researcher(), &question);
    assert_eq!(answer.get("thoughts"), None);
    let mut settings = fixture.settings();
    settings.thoughts = Some(Roots::open(std::slice::from_ref(&notes), Policy::standard()).unwrap());
    let researcher = Researcher::new(settings);
    let (_, answer) = research(&researcher, &question);
    assert!(texts(&answer["thoughts"]["value"]["references"])[0].starts_with("2024-retries.md"), "{answer}");
    let roots = [fixture.code(), notes].map(|path| path.canonicalize().unwrap());
    assert_eq!(answer["rootsSearched"], json!(roots));
    let (_, answer) = research(&researcher, &ResearchRequest { roots: vec!["src".into()], ..question });
    assert_eq!(answer.get("thoughts"), None);
    assert!(!answer.to_string().contains("2024-retries"));
}

#[test]
fn progress_reports_tasks_as_they_begin_and_end_and_only_grows() {
    let fixture = Fixture::new();
    let answer = std::sync::Mutex::new(Vec::new());
    let request = asking("Show similar retries");
    fixture
        .with(mocked())
        .research(&request, &StopSignal::never(), &|step| answer.lock().unwrap().push(step))
        .unwrap();
    let answer = answer.into_inner().unwrap();
    assert!(answer.windows(2).all(|pair| pair[0].done < pair[1].done), "{answer:?}");
    assert!(answer.iter().all(|step| step.done <= step.total), "{answer:?}");
    let messages: Vec<&str> = answer.iter().map(|step| step.message.as_str()).collect();
    assert_eq!(messages[..2], ["locator begins", "locator ended: 3 references"]);
    for message in
        ["analyzer begins", "patterns begins", "analyzer ended: 2 references", "patterns ended: 2 references"]
    {
        assert_eq!(messages.iter().filter(|one| **one == message).count(), 1, "{messages:?}");
    }
    assert_eq!(answer.last().unwrap().done, answer.last().unwrap().total);
}

#[test]
fn caching_and_indexing_keying_is_stable_bypass_works_and_hits_do_not_change_semantic_results() {
    let fixture = Fixture::new();
    let folder = fixture.folder.path().join("indexes");
    let with = |used: Option<IndexUse>| {
        let mut settings = fixture.settings();
        settings.index = used.map(|used| IndexSettings { folder: folder.clone(), used, builds: true });
        Researcher::new(settings)
    };
    let questions =
        ["Where is parse_shop_config implemented?", "Show examples of retries", "frobnicate_zyxwv"];
    let answers = |researcher: &Researcher| -> Vec<serde_json::Value> {
        let answer = |question: &&str| {
            let (_, mut answer) = research(researcher, &asking(question));
            for role in ["locator", "analyzer", "patterns"] {
                answer[role]["timing"].take();
            }
            answer["run"]["elapsedMs"].take();
            answer
        };
        questions.iter().map(answer).collect()
    };
    let databases = || -> Vec<std::path::PathBuf> {
        let versions = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let files = versions.flat_map(|version| std::fs::read_dir(version.path()).unwrap().flatten());
        files
            .map(|file| file.path())
            .filter(|path| path.extension().is_some_and(|kind| kind == "db"))
            .collect()
    };
    // Bypassed, nothing is kept.
    let plain = answers(&with(None));
    assert_eq!(databases(), Vec::<std::path::PathBuf>::new());
    // Made, found again under the same key, and never noticed.
    for _ in 0..3 {
        let indexed = with(Some(IndexUse::Always));
        assert_eq!(answers(&indexed), plain);
        indexed.wait_for_index(std::time::Duration::from_secs(60));
        assert_eq!(databases().len(), 1);
    }
    // What changes is seen at once.
    fixture.write("src/frobnicate.rs", "pub fn frobnicate_zyxwv() {}\n");
    let answer = answers(&with(Some(IndexUse::Always)));
    assert_eq!(answer, answers(&with(None)));
    assert_eq!(answer[2]["synthesis"]["references"][0], "src/frobnicate.rs:1");
}
