use proptest::prelude::*;

use super::*;
use crate::{ResearchLimits, ResearchReport, RoleErrorKind, RoleTiming, RunRecord};

fn finding(references: &[&str], key_findings: &[&str]) -> ResearchFinding {
    ResearchFinding {
        summary: format!("{} places", references.len()),
        references: references.iter().map(|text| Reference::from((*text).to_owned())).collect(),
        key_findings: key_findings.iter().map(|text| stated(text)).collect(),
        confidence: Confidence::High,
        notes: vec![],
        not_found: None,
    }
}

/// A finding as the role states it whose form the text has.
fn stated(text: &str) -> KeyFinding {
    let category = Category::ALL.into_iter().find(|category| text.starts_with(category.name()));
    let kind = match (category, text.split_once(" defines ")) {
        (Some(_), Some((place, name))) => {
            let place = Reference::from(place.rsplit(' ').next().unwrap().to_owned());
            let short = name
                .split_once(": ")
                .map(|(name, _)| format!("{} defines {name}", text.split_once(" defines ").unwrap().0));
            let kind = FindingKind::Passage { category, place };
            return KeyFinding { kind, text: text.to_owned(), short };
        }
        (Some(_), None) => FindingKind::Places { category },
        (None, _) if text.starts_with("20") => FindingKind::History,
        (None, _) if text.contains('\n') => return KeyFinding::example(None, text.to_owned()),
        (None, _) => {
            let places = text.split('(').skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()));
            FindingKind::Explanation { places: places.map(Reference::from).collect() }
        }
    };
    KeyFinding::new(kind, text.to_owned())
}

fn texts(finding: &ResearchFinding) -> Vec<&str> {
    finding.key_findings.iter().map(|finding| finding.text.as_str()).collect()
}

fn outcome(result: Result<ResearchFinding, RoleError>) -> RoleOutcome {
    RoleOutcome { result, timing: RoleTiming { started_at: 1_700_000_000_000, elapsed_ms: 5 } }
}

fn references_of(finding: &ResearchFinding) -> Vec<&str> {
    finding.references.iter().map(Reference::as_str).collect()
}

#[test]
fn the_more_exact_reference_takes_the_place_of_the_first() {
    let locator = outcome(Ok(finding(&["a.rs", "b.rs:4", "c.rs"], &["implementation: a.rs defines a"])));
    let analyzer =
        outcome(Ok(finding(&["c.rs:7", "b.rs:4:2", "b.rs:9", "a.rs", "d.rs:1"], &["a calls c (c.rs:7)"])));
    let all = BTreeMap::from([(Role::Locator, locator), (Role::Analyzer, analyzer)]);
    let answer = synthesise(&all, &[]);
    assert_eq!(references_of(&answer), ["a.rs", "b.rs:4:2", "c.rs:7", "d.rs:1", "b.rs:9"]);
    assert_eq!(texts(&answer), ["a calls c (c.rs:7)", "implementation: a.rs defines a"]);
    assert_eq!(answer, synthesise(&all, &[]), "the same again");
}

#[test]
fn notes_are_merged_with_no_code_of_the_same_name() {
    let locator = outcome(Ok(finding(&["README.md", "a.rs:1"], &[])));
    let thoughts = outcome(Ok(finding(&["README.md:9", "2024/a.md:3"], &[])));
    let answer = synthesise(&BTreeMap::from([(Role::Locator, locator), (Role::Thoughts, thoughts)]), &[]);
    assert_eq!(references_of(&answer), ["README.md", "a.rs:1", "2024/a.md:3"]);
}

#[test]
fn findings_come_in_the_order_of_what_they_are_for() {
    let locator = outcome(Ok(finding(
        &["a.rs"],
        &[
            "docs: r.md",
            "configuration: c.toml",
            "entry point: main.rs",
            "implementation: a.rs",
            "tests: t.rs",
        ],
    )));
    let patterns = outcome(Ok(finding(&["p.rs:1"], &["p.rs:1 opens a file\n    let file = open();"])));
    let analyzer = outcome(Ok(finding(&["a.rs:2"], &["a is called by main (main.rs:3)"])));
    let thoughts = outcome(Ok(finding(&["n.md"], &["2024: a was rewritten"])));
    let all = [
        (Role::Locator, locator),
        (Role::Analyzer, analyzer),
        (Role::Patterns, patterns),
        (Role::Thoughts, thoughts),
    ];
    let answer = synthesise(&BTreeMap::from(all), &[]);
    assert_eq!(
        texts(&answer),
        [
            "a is called by main (main.rs:3)",
            "implementation: a.rs",
            "entry point: main.rs",
            "configuration: c.toml",
            "p.rs:1 opens a file",
            "docs: r.md",
            "tests: t.rs",
            "2024: a was rewritten"
        ]
    );
    assert_eq!((answer.confidence, answer.notes), (Confidence::High, vec![]));
}

#[test]
fn what_the_analyzer_explains_is_not_repeated() {
    let located = finding(
        &["a.rs:1", "b.rs:2"],
        &["implementation: a.rs:1 defines a: fn a()", "implementation: b.rs:2 defines b: fn b()"],
    );
    let analysed = |confidence| ResearchFinding {
        summary: "a (b.rs:2): Does a.".into(),
        confidence,
        ..finding(&["b.rs:2"], &["b (b.rs:2): fn b()", "→ is used by main (main.rs:3)"])
    };
    let locator = outcome(Ok(located));
    let answer = |confidence| {
        let analyzer = outcome(Ok(analysed(confidence)));
        synthesise(&BTreeMap::from([(Role::Locator, locator.clone()), (Role::Analyzer, analyzer)]), &[])
    };
    assert_eq!(
        texts(&answer(Confidence::High)),
        ["b (b.rs:2): fn b()", "→ is used by main (main.rs:3)", "implementation: a.rs:1 defines a"]
    );
    assert_eq!(answer(Confidence::High).summary, "a (b.rs:2): Does a.");
    assert_eq!(answer(Confidence::Med).summary, "a (b.rs:2): Does a. Best-matching file: a.rs:1.");
    assert_eq!(answer(Confidence::Low).summary, "Best-matching file: a.rs:1. a (b.rs:2): Does a.");
    let mut whole =
        report([Some(locator.clone()), Some(outcome(Ok(analysed(Confidence::High)))), None, None], true);
    fit(&mut whole, 2000);
    let of = |role| whole.finding(role).unwrap().key_findings.len();
    assert_eq!((of(Role::Locator), of(Role::Analyzer)), (2, 1));
}

#[test]
fn a_missing_role_is_noted_and_lowers_the_confidence() {
    let locator = outcome(Ok(finding(&["a.rs"], &[])));
    let analyzer = outcome(Err(RoleError::new(RoleErrorKind::Timeout, "the deadline passed.")));
    let answer = synthesise(
        &BTreeMap::from([(Role::Locator, locator), (Role::Analyzer, analyzer)]),
        &[NoteFact::Text("Limits.".into()).into()],
    );
    assert_eq!(answer.confidence, Confidence::Med);
    assert_eq!(
        crate::joined(&answer.notes),
        "Limits. analyzer ran out of time (TimeoutError: the deadline passed)."
    );
}

#[test]
fn nothing_found_is_stated_in_the_summary() {
    let locator = outcome(Ok(ResearchFinding { summary: "No file mentions it".into(), ..finding(&[], &[]) }));
    let answer = synthesise(&BTreeMap::from([(Role::Locator, locator)]), &[]);
    assert_eq!(answer.summary, "Not found. No file mentions it.");
    assert_eq!(answer.confidence, Confidence::Low);
    let broken = outcome(Err(RoleError::new(RoleErrorKind::Timeout, "late")));
    let answer = synthesise(&BTreeMap::from([(Role::Locator, broken)]), &[]);
    assert_eq!(answer.summary, "Not found, because the search did not finish.");
}

fn report(outcomes: [Option<RoleOutcome>; 4], with_synthesis: bool) -> ResearchReport {
    let roles = Role::ALL.into_iter().zip(outcomes);
    let mut report = ResearchReport {
        question: "Where is it? ".repeat(4),
        roots_searched: vec!["/home/somebody/project".to_owned()],
        roles: roles.filter_map(|(role, outcome)| Some((role, outcome?))).collect(),
        synthesis: None,
        run: RunRecord { keywords: vec!["where".into(); 5], ..RunRecord::new(ResearchLimits::SAMPLE) },
        artifact_path: None,
    };
    if with_synthesis {
        report.synthesis = Some(synthesise(&report.roles, &[]));
    }
    report
}

fn tokens(report: &ResearchReport) -> u64 {
    (serde_json::to_string(report).unwrap().len() as u64).div_ceil(4)
}

fn any_outcome() -> impl Strategy<Value = Option<RoleOutcome>> {
    let text = "[a-zé \"]{0,300}";
    let found = (
        text,
        proptest::collection::vec("[a-f]{1,3}/[a-f]{1,40}(:[1-9]{1,3})?", 0..20),
        proptest::collection::vec(text, 0..14),
        proptest::option::of(text),
    )
        .prop_map(|(summary, references, key_findings, notes)| {
            let references = references.into_iter().map(Reference::from).collect();
            let key_findings = key_findings.iter().map(|text| stated(text)).collect();
            let notes = notes.into_iter().map(|text| NoteFact::Text(text).into()).collect();
            let confidence = Confidence::Med;
            let finding =
                ResearchFinding { summary, references, key_findings, confidence, notes, not_found: None };
            Some(outcome(Ok(crate::bounds::finding(finding))))
        });
    let failed =
        text.prop_map(|message| Some(outcome(Err(RoleError::new(RoleErrorKind::ProviderError, message)))));
    prop_oneof![6 => found, 1 => failed, 1 => Just(None)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_report_fits_says_so_when_it_was_cut_and_is_the_same_each_time(
        outcomes in [any_outcome(), any_outcome(), any_outcome(), any_outcome()],
        max_tokens in 150u64..4000,
        with_synthesis: bool,
    ) {
        let whole = report(outcomes, with_synthesis);
        // Without a synthesis, a report has one role.
        let max_tokens = if with_synthesis || whole.roles.len() < 2 { max_tokens } else { max_tokens.max(500) };
        let mut cut = whole.clone();
        fit(&mut cut, max_tokens);
        prop_assert!(tokens(&cut) <= max_tokens, "{} > {max_tokens}", tokens(&cut));
        let mut again = whole.clone();
        again.run.elapsed_ms = 54_321;
        fit(&mut again, max_tokens);
        again.run.elapsed_ms = cut.run.elapsed_ms;
        prop_assert_eq!(&cut, &again);
        let references = |report: &ResearchReport| -> usize {
            Role::ALL.into_iter().filter_map(|role| Some(report.finding(role)?.references.len())).sum()
        };
        let lost = cut.synthesis != whole.synthesis || references(&cut) < references(&whole);
        let is_noted = serde_json::to_string(&cut).unwrap().contains(&format!("Truncated to the limit of {max_tokens}"));
        prop_assert!(!lost || is_noted);
    }

    #[test]
    fn the_first_ten_references_are_different_files(outcomes in [any_outcome(), any_outcome(), any_outcome(), any_outcome()]) {
        let answer = report(outcomes, true).synthesis.unwrap();
        let files: Vec<&str> = answer.references.iter().map(Reference::path).collect();
        let distinct: std::collections::BTreeSet<&str> = files.iter().copied().collect();
        let first: std::collections::BTreeSet<&str> = files.iter().copied().take(10).collect();
        prop_assert_eq!(first.len(), distinct.len().min(10).min(files.len()));
    }
}

#[test]
fn a_report_is_complete_however_small_the_limit() {
    let locator = outcome(Ok(finding(&["a.rs:1", "b.rs:2"], &["implementation: a.rs"])));
    let mut cut = report([Some(locator), None, None, None], true);
    fit(&mut cut, 1);
    let json = serde_json::to_value(&cut).unwrap();
    assert_eq!(json["locator"]["value"]["references"], serde_json::json!(["a.rs:1"]));
    assert!(json["synthesis"]["notes"].as_str().unwrap().contains("limit of 1 tokens"));
}

#[test]
fn the_smallest_limit_holds_for_texts_of_wide_characters() {
    let text = "é\"".repeat(150);
    let path = format!("abc/{}:999", "f".repeat(40));
    let found = ResearchFinding {
        summary: text.clone(),
        notes: vec![NoteFact::Text(text.clone()).into()],
        ..finding(&[&path], &[&text])
    };
    let late = outcome(Err(RoleError::new(RoleErrorKind::ProviderError, text.clone())));
    let all = [outcome(Ok(found)), late.clone(), late.clone(), late];
    let mut cut = report(all.map(Some), true);
    fit(&mut cut, 150);
    assert!(tokens(&cut) <= 150, "{}: {}", tokens(&cut), serde_json::to_string(&cut).unwrap());
}
