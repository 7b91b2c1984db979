//! Issues against a GitHub that misbehaves, with rows and repositories that are real.

use serde_json::json;
use tamis_testkit::{FakeIssue, GithubFault, When};

use super::*;
use crate::InstanceId;
use crate::pull_requests::create_pull_request::stage::{FAULTS, Place, Stage, call};

fn planning(stage: &Stage) -> (Instance, String) {
    let id = InstanceId::of_worker(AgentType::Planning, "next", 1);
    stage.instance(&id, AgentType::Planning, "main")
}

fn wanted(titles: &[&str]) -> CreateIssues {
    let issue = |title: &&str| IssueDraft {
        title: (*title).to_owned(),
        body: format!("About {title}\r\n"),
        labels: vec!["plan".to_owned()],
    };
    CreateIssues { issues: titles.iter().map(issue).collect() }
}

fn create(stage: &Stage, token: &str, input: &CreateIssues) -> Result<IssuesCreated> {
    stage.coordinator.create_issues(&call(token), input)
}

fn listed(stage: &Stage, titles: &[&str]) -> Vec<IssueCreated> {
    let issue = |(place, title): (usize, &&str)| {
        let number = place as u64 + 1;
        let url = stage.github.issue_url(number);
        IssueCreated { number: number as i64, url, title: (*title).to_owned() }
    };
    titles.iter().enumerate().map(issue).collect()
}

fn titles(stage: &Stage) -> Vec<String> {
    stage.github.issues().into_iter().map(|issue| issue.title).collect()
}

#[test]
fn issues_are_created_in_order() {
    let stage = Stage::new(Place::Github);
    let (planning, token) = planning(&stage);
    let input = wanted(&["One", "Two \"$(x)\""]);
    let answer = create(&stage, &token, &input).unwrap();
    assert_eq!(answer.issues, listed(&stage, &["One", "Two \"$(x)\""]));
    let [first, _] = &stage.github.issues()[..] else { panic!("two issues") };
    let body = format!("About One\n\n<!-- {} -->", mark_of(&planning, &input.issues[0]));
    let labels = vec!["plan".to_owned()];
    assert_eq!(first, &FakeIssue { number: 1, title: "One".to_owned(), body, labels });
    assert_eq!(stage.last_call(), (true, None));
    let detail = stage.last_event().detail;
    assert_eq!((&detail["input"], &detail["result"]), (&json!(input), &json!(answer)));
    assert_eq!(detail["result"]["issues"][1]["number"], 2);
    // The same again is the same.
    assert_eq!(create(&stage, &token, &input).unwrap(), answer);
    assert_eq!(titles(&stage).len(), 2);
    stage.assert_consistent();
}

#[test]
fn a_failure_in_the_middle_is_told_with_what_is_there() {
    for (fault, code) in FAULTS {
        for key in [None, Some("k")] {
            let stage = Stage::new(Place::Github);
            let (_, token) = planning(&stage);
            let call = AgentCall { idempotency_key: key, ..call(&token) };
            let input = wanted(&["One", "Two", "Three"]);
            let first = wanted(&["One"]);
            stage.coordinator.create_issues(&self::call(&token), &first).unwrap();
            stage.github.misbehave_on("POST", When::Before, fault.clone(), 1);
            let error = stage.coordinator.create_issues(&call, &input).unwrap_err();
            assert_eq!(error.code, code, "{fault:?}: {error}");
            let there = serde_json::to_value(listed(&stage, &["One"])).unwrap();
            assert_eq!(error.details.get("issues"), Some(&there), "{fault:?}");
            let detail = stage.last_event().detail;
            assert_eq!((&detail["input"], &detail["details"]["issues"]), (&json!(input), &there));
            assert_eq!(titles(&stage), ["One"]);
            stage.assert_consistent();
            let answer = stage.coordinator.create_issues(&call, &input).unwrap();
            assert_eq!(answer.issues, listed(&stage, &["One", "Two", "Three"]));
            assert_eq!(titles(&stage), ["One", "Two", "Three"]);
        }
    }
}

#[test]
fn an_issue_whose_answer_is_lost_is_found_and_not_made_again() {
    for fault in [GithubFault::HalfBody, GithubFault::HangUp, GithubFault::Status(502)] {
        let stage = Stage::new(Place::Github);
        let (_, token) = planning(&stage);
        let input = wanted(&["One", "Two"]);
        stage.github.misbehave_on("POST", When::After, fault.clone(), 1);
        let answer = create(&stage, &token, &input).unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        assert_eq!(answer.issues, listed(&stage, &["One", "Two"]));
        assert_eq!(titles(&stage), ["One", "Two"]);

        // Nor when it cannot be looked for at once.
        let input = wanted(&["Three"]);
        stage.github.misbehave_on("POST", When::After, fault.clone(), 1);
        stage.github.misbehave_on("GET", When::Before, GithubFault::Status(500), 3);
        assert_eq!(create(&stage, &token, &input).unwrap_err().code, Code::GithubUnavailable);
        assert_eq!(titles(&stage), ["One", "Two", "Three"]);
        assert_eq!(create(&stage, &token, &input).unwrap().issues[0].number, 3);
        assert_eq!(titles(&stage), ["One", "Two", "Three"]);
    }
}

#[test]
fn a_crash_in_the_middle_makes_no_issue_twice() {
    for made in [false, true] {
        let stage = Stage::new(Place::Github);
        let (planning, token) = planning(&stage);
        let input = wanted(&["One", "Two", "Three"]);
        create(&stage, &token, &wanted(&["One"])).unwrap();
        // The second was requested, and its outcome is unknown.
        let marks: Vec<String> = input.issues.iter().map(|issue| mark_of(&planning, issue)).collect();
        if made {
            let settings = stage.coordinator.github_settings().unwrap();
            let repository = settings.repository("git@github.com:octo-org/tool").unwrap().unwrap();
            let github = settings.connect(repository).unwrap();
            github.create_issue(&with_mark(&input.issues[1], &marks[1])).unwrap();
        }
        let plan = json!({"issues": [
            {"mark": marks[0], "fate": {"created": listed(&stage, &["One"])[0]}},
            {"mark": marks[1], "fate": "asked"},
            {"mark": marks[2], "fate": "to_do"},
        ]});
        let begin = |connection: &tamis_store::rusqlite::Connection| {
            db::begin_operation(connection, None, tools::CREATE_ISSUES, &planning.id, &plan).map(drop)
        };
        stage.write(begin);
        let stage = stage.coordinate_anew();
        assert_eq!(stage.coordinator.repair_family(&planning.id).unwrap().len(), 1);
        stage.assert_consistent();
        let answer = create(&stage, &token, &input).unwrap();
        assert_eq!(answer.issues, listed(&stage, &["One", "Two", "Three"]));
        assert_eq!(titles(&stage), ["One", "Two", "Three"]);
    }
}

#[test]
fn what_is_no_issue_or_not_for_the_caller_is_refused() {
    let stage = Stage::new(Place::Github);
    let (_, token) = planning(&stage);
    let coding = InstanceId::of_worker(AgentType::Coding, "1", 1);
    let (_, coding_token) = stage.instance(&coding, AgentType::Coding, "main");
    assert_eq!(create(&stage, &coding_token, &wanted(&["x"])).unwrap_err().code, Code::PermissionDenied);
    let label = |label: &str| {
        let mut input = wanted(&["x"]);
        input.issues[0].labels.push(label.to_owned());
        input
    };
    let many: Vec<String> = (0..=MOST_ISSUES).map(|number| number.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for input in [
        wanted(&[]),
        wanted(&many),
        wanted(&["x", " "]),
        wanted(&["x\ny"]),
        wanted(&["x", "y", "x"]),
        label(""),
        label("a\u{1b}b"),
        label(&"x".repeat(51)),
    ] {
        assert_eq!(create(&stage, &token, &input).unwrap_err().code, Code::ValidationError, "{input:?}");
    }
    assert_eq!(stage.github.requests().len(), 0);

    for place in [Place::Plain, Place::Nowhere] {
        let stage = Stage::new(place);
        let (_, token) = planning(&stage);
        let error = create(&stage, &token, &wanted(&["x"])).unwrap_err();
        assert_eq!((error.code, error.suggestions.len()), (Code::InvalidState, 2));
    }
}
