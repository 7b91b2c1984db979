//! The client against a fake GitHub that checks requests, and misbehaves to order.

use std::time::Duration;

use serde_json::json;
use tamis_testkit::{FakeGithub, FakeIssue, FakePullRequest, FakeRepository, GithubFault, When};

use super::*;

/// No test waits for it: those that want silence set their own.
const PATIENCE: Duration = Duration::from_secs(60);

fn settings(github: &FakeGithub) -> GithubSettings {
    GithubSettings {
        url: Some(github.url().parse().unwrap()),
        token: GithubToken::new(&FakeRepository::default().token),
        timeout: PATIENCE,
        pause: Duration::from_millis(1),
        ..GithubSettings::default()
    }
}

fn connect(settings: &GithubSettings) -> Github {
    let repository = settings.repository("git@github.com:octo-org/tool.git").unwrap().unwrap();
    settings.connect(repository).unwrap()
}

/// One that gives up on silence soon.
fn hasty(github: &FakeGithub, milliseconds: u64) -> Github {
    connect(&GithubSettings { timeout: Duration::from_millis(milliseconds), ..settings(github) })
}

fn new_pull(head: &str) -> NewPullRequest {
    NewPullRequest {
        title: "Keep \"it\" $(simple)".to_owned(),
        head: head.to_owned(),
        base: "main".to_owned(),
        body: "é\n\u{1b}[0m".to_owned(),
    }
}

fn new_issue(title: &str) -> NewIssue {
    NewIssue { title: title.to_owned(), body: format!("About {title}"), labels: Vec::new() }
}

#[test]
fn pull_requests_are_made_found_and_followed() {
    let fake = FakeGithub::start(FakeRepository::default());
    let github = connect(&settings(&fake));
    assert_eq!(github.default_branch().unwrap(), "main");
    assert_eq!(github.open_pull_request("tamis/work-1-a1", "main"), Ok(None));

    let new = new_pull("tamis/work-1-a1");
    let made = github.create_pull_request(&new).unwrap();
    assert_eq!(made, PullRequest { number: 1, url: fake.pull_url(1), state: PullState::Open });
    let NewPullRequest { title, head, base, body } = new;
    let kept = FakePullRequest { number: 1, title, head, base, body, open: true, merged: false };
    assert_eq!(fake.pull_requests(), [kept]);

    assert_eq!(github.open_pull_request("tamis/work-1-a1", "main"), Ok(Some(made.clone())));
    assert_eq!(github.open_pull_request("tamis/work-1-a2", "main"), Ok(None));
    // One for another base is another pull request.
    assert_eq!(github.open_pull_request("tamis/work-1-a1", "develop"), Ok(None));
    assert_eq!(github.pull_request(1), Ok(made.clone()));
    fake.close(1, false);
    assert_eq!(github.pull_request(1), Ok(PullRequest { state: PullState::Closed, ..made.clone() }));
    fake.close(1, true);
    assert_eq!(github.pull_request(1), Ok(PullRequest { state: PullState::Merged, ..made }));
    assert_eq!(github.open_pull_request("tamis/work-1-a1", "main"), Ok(None));
    assert_eq!(github.pull_request(2).unwrap_err().kind, GithubErrorKind::Forbidden);
    fake.assert_clean();
}

#[test]
fn odd_branches_are_found_by_their_own_names() {
    let fake = FakeGithub::start(FakeRepository::default());
    let github = connect(&settings(&fake));
    for (number, head) in ["a&b=c", "a", "ü#1+%2f", "a:b", "--upload-pack=x"].into_iter().enumerate() {
        assert_eq!(github.open_pull_request(head, "main"), Ok(None), "{head}");
        github.create_pull_request(&new_pull(head)).unwrap();
        let found = github.open_pull_request(head, "main").unwrap().unwrap();
        assert_eq!(found.number, number as u64 + 1, "{head}");
    }
}

#[test]
fn issues_are_made_and_found_again() {
    let fake = FakeGithub::start(FakeRepository::default());
    let github = connect(&settings(&fake));
    github.create_pull_request(&NewPullRequest { body: "mark-2".to_owned(), ..new_pull("a") }).unwrap();
    let labels = vec!["bug".to_owned(), "good first issue".to_owned()];
    let issue = NewIssue { labels: labels.clone(), body: "x <mark-2> y".to_owned(), ..new_issue("One") };
    let made = github.create_issue(&issue).unwrap();
    assert_eq!(made, Issue { number: 2, url: fake.issue_url(2) });
    github.create_issue(&new_issue("Two")).unwrap();
    assert_eq!(github.recent_issue("mark-2"), Ok(Some(made)));
    assert_eq!(github.recent_issue("mark-3"), Ok(None));
    assert_eq!(github.issue(3), Ok(IssueText { title: "Two".into(), text: "About Two".into() }));
    assert_eq!(github.issue(9).unwrap_err().kind, GithubErrorKind::Forbidden);
    let plain = FakeIssue { number: 3, title: "Two".into(), body: "About Two".into(), labels: Vec::new() };
    assert_eq!(
        fake.issues(),
        [FakeIssue { number: 2, title: "One".into(), body: issue.body, labels }, plain]
    );
}

#[test]
fn what_an_issue_says_is_bounded_and_plain() {
    let fake = FakeGithub::start(FakeRepository::default());
    let github = connect(&settings(&fake));
    let read = |said: serde_json::Value| {
        fake.misbehave(GithubFault::Says(200, said), 1);
        github.issue(1)
    };
    let untitled = read(json!({"number": 1, "body": "b"})).unwrap_err();
    assert!(untitled.message.contains("it has no title"), "{untitled:?}");
    fake.behave();
    let bare = read(json!({"title": "a\n\u{1b}[31mb", "body": null})).unwrap();
    assert_eq!(bare, IssueText { title: "a  [31mb".into(), text: String::new() });
    let endless = read(json!({"title": "t".repeat(1000), "body": "é".repeat(100_000)})).unwrap();
    assert_eq!((endless.title.chars().count(), endless.text.chars().count()), (256, 65_536));
}

#[test]
fn whatever_goes_wrong_has_its_code() {
    let reset = GithubFault::RateLimit(403, Some(600));
    for (fault, code, words) in [
        (
            GithubFault::Status(401),
            GithubErrorKind::Unauthorized,
            "does not accept the token (401): Bad credentials",
        ),
        (
            GithubFault::Status(403),
            GithubErrorKind::Forbidden,
            "no permission for this in octo-org/tool on github.com",
        ),
        (GithubFault::Status(404), GithubErrorKind::Forbidden, "or it does not exist (404): Not Found"),
        (reset, GithubErrorKind::Unavailable, "limits requests at the moment (403): API rate limit exceeded"),
        (
            GithubFault::RateLimit(429, None),
            GithubErrorKind::Unavailable,
            "limits requests at the moment (429)",
        ),
        (GithubFault::Status(410), GithubErrorKind::Rejected, "refused this (410)"),
        (GithubFault::Status(422), GithubErrorKind::Rejected, "refused this (422): Validation Failed"),
        (GithubFault::Status(500), GithubErrorKind::Unavailable, "answered with status 500: Server Error"),
        (GithubFault::Status(503), GithubErrorKind::Unavailable, "answered with status 503"),
        (GithubFault::HalfBody, GithubErrorKind::Unavailable, "the response was cut short"),
        (GithubFault::HangUp, GithubErrorKind::Unavailable, "the response was cut short"),
        (GithubFault::NotJson, GithubErrorKind::Unavailable, "the response is not JSON"),
        (GithubFault::Silence, GithubErrorKind::Unavailable, "no response within 50 ms"),
    ] {
        let fake = FakeGithub::start(FakeRepository::default());
        let silent = matches!(fault, GithubFault::Silence);
        let github = if silent { hasty(&fake, 50) } else { connect(&settings(&fake)) };
        fake.misbehave(fault.clone(), 99);
        let looks: [Box<dyn Fn() -> Result<()>>; 5] = [
            Box::new(|| github.default_branch().map(drop)),
            Box::new(|| github.open_pull_request("a", "main").map(drop)),
            Box::new(|| github.pull_request(1).map(drop)),
            Box::new(|| github.create_pull_request(&new_pull("a")).map(drop).map_err(GithubFailure::into)),
            Box::new(|| github.create_issue(&new_issue("a")).map(drop).map_err(GithubFailure::into)),
        ];
        for look in looks {
            let error = look().unwrap_err();
            assert_eq!(error.kind, code, "{fault:?}: {error}");
            // The status alone gives away that nothing was created.
            let is_no_creation = matches!(fault, GithubFault::NotJson)
                && error.message.ends_with("its status is 200, and not 201");
            assert!(error.message.contains(words) || is_no_creation, "{fault:?}: {error}");
        }
        assert_eq!((fake.pull_requests().len(), fake.issues().len()), (0, 0));
        if silent {
            fake.wait_for_hang_ups(fake.requests().len());
        }
    }
}

#[test]
fn questions_are_repeated_and_orders_never() {
    let times = |fault: GithubFault| {
        let fake = FakeGithub::start(FakeRepository::default());
        let github = connect(&settings(&fake));
        fake.misbehave(fault, 99);
        assert!(github.pull_request(1).is_err());
        let requests = fake.requests().len();
        assert!(github.create_pull_request(&new_pull("a")).is_err());
        assert!(github.create_issue(&new_issue("a")).is_err());
        assert_eq!(fake.requests().len(), requests + 2);
        requests
    };
    for fault in [GithubFault::HalfBody, GithubFault::HangUp, GithubFault::Status(502)] {
        assert_eq!(times(fault), 3);
    }
    assert_eq!(times(GithubFault::RateLimit(429, Some(0))), 3);
    // A wait of ten minutes is refused.
    assert_eq!(times(GithubFault::RateLimit(429, Some(600))), 1);
    for status in [401, 403, 404, 422] {
        assert_eq!(times(GithubFault::Status(status)), 1);
    }
    // What goes wrong twice is not noticed.
    let fake = FakeGithub::start(FakeRepository::default());
    fake.misbehave(GithubFault::Status(500), 2);
    assert_eq!(connect(&settings(&fake)).default_branch().unwrap(), "main");
}

#[test]
fn a_branch_has_one_pull_request_however_its_making_failed() {
    let new = new_pull("tamis/work-1-a1");
    for fault in [
        GithubFault::Silence,
        GithubFault::HalfBody,
        GithubFault::HangUp,
        GithubFault::NotJson,
        GithubFault::Status(500),
        GithubFault::Status(502),
    ] {
        let silent = matches!(fault, GithubFault::Silence);
        let connect_to =
            |fake: &FakeGithub| if silent { hasty(fake, 1000) } else { connect(&settings(fake)) };
        // It was made, though the answer was lost: so it is found.
        let fake = FakeGithub::start(FakeRepository::default());
        fake.misbehave_on("POST", When::After, fault.clone(), 1);
        let opened = connect_to(&fake).ensure_pull_request(&new);
        let opened = opened.unwrap_or_else(|error| panic!("{fault:?}: {error:?}"));
        assert_eq!((opened.pull_request.number, opened.existed), (1, false), "{fault:?}");
        assert_eq!(fake.pull_requests().len(), 1);

        // It was not made, and that is found out too; the next call makes it.
        let fake = FakeGithub::start(FakeRepository::default());
        fake.misbehave_on("POST", When::Before, fault.clone(), 1);
        let error = connect_to(&fake).ensure_pull_request(&new).unwrap_err();
        assert_eq!(
            (error.outcome, error.error.kind),
            (WriteOutcome::Unclear, GithubErrorKind::Unavailable),
            "{fault:?}"
        );
        let patient = connect(&settings(&fake));
        assert_eq!(fake.pull_requests(), []);
        assert!(!patient.ensure_pull_request(&new).unwrap().existed);
        let again = patient.ensure_pull_request(&new).unwrap();
        assert_eq!((again.pull_request.number, again.existed), (1, true));
        assert_eq!(fake.pull_requests().len(), 1);
    }
}

#[test]
fn an_existing_pull_request_is_used() {
    // Made between the look and the order: the look is answered as if there were none.
    let fake = FakeGithub::start(FakeRepository::default());
    let github = connect(&settings(&fake));
    github.create_pull_request(&new_pull("a")).unwrap();
    let failure = github.create_pull_request(&new_pull("a")).unwrap_err();
    assert_eq!((failure.outcome, failure.error.kind), (WriteOutcome::Exists, GithubErrorKind::Rejected));
    assert!(failure.error.message.contains("A pull request already exists for octo-org:a."), "{failure:?}");
    fake.misbehave(GithubFault::Says(200, json!([])), 1);
    let opened = github.ensure_pull_request(&new_pull("a")).unwrap();
    assert_eq!((opened.pull_request.number, opened.existed), (1, true));
}

#[test]
fn what_github_says_is_bounded_and_harmless() {
    let token = FakeRepository::default().token;
    let fake = FakeGithub::start(FakeRepository::default());
    let github = connect(&settings(&fake));
    let said = json!({
        "message": format!("\u{1b}[31mno {token}\u{202e}\r\n"),
        "errors": [{"message": token}, {"resource": "PullRequest", "field": "base", "code": "invalid"}, "plain",
            {"message": "x".repeat(5000)}],
    });
    fake.misbehave(GithubFault::Says(422, said), 1);
    let error = github.create_pull_request(&new_pull("a")).unwrap_err().error;
    let start =
        "github.com refused this (422): [31mno [token]   ; [token]; PullRequest base invalid; plain; xxx";
    assert!(error.message.starts_with(start), "{error}");
    assert!(error.message.chars().count() < 700 && !error.message.contains(char::is_control), "{error}");
    let shown = format!("{error:?} {github:?} {:?}", settings(&fake));
    assert!(!shown.contains(&token), "{shown}");
}

#[test]
fn what_is_wrong_with_an_answer_is_said() {
    let fake = FakeGithub::start(FakeRepository::default());
    let github = connect(&settings(&fake));
    for (status, body, why) in [
        (201, json!({"number": 1, "state": "open"}), "it has no valid html_url"),
        (201, json!({"number": "1", "state": "open", "html_url": "https://x/"}), "it has no valid number"),
        (
            201,
            json!({"number": 1, "state": "open", "html_url": "https://x/\u{1b}[0m"}),
            "it has no valid html_url",
        ),
        (
            201,
            json!({"number": 1, "state": "open", "html_url": "javascript:alert(1)"}),
            "it has no valid html_url",
        ),
        (
            201,
            json!({"number": 1, "state": "odd", "html_url": "https://x/"}),
            "its state is neither open nor closed",
        ),
        (201, json!([]), "it is not an object"),
        (200, json!({"number": 1, "html_url": "https://x/"}), "its status is 200, and not 201"),
        (202, json!({}), "its status is 202, and not 201"),
    ] {
        fake.misbehave(GithubFault::Says(status, body.clone()), 1);
        let failure = github.create_pull_request(&new_pull("a")).unwrap_err();
        assert_eq!(
            (failure.outcome, failure.error.kind, failure.error.message.as_str()),
            (
                WriteOutcome::Unclear,
                GithubErrorKind::Unavailable,
                format!("GitHub (github.com) gave an answer that cannot be used: {why}").as_str()
            ),
            "{body}"
        );
    }
    for (said, why) in
        [(json!({"number": 1}), "it is not a list"), (json!([7]), "it is not a list of objects")]
    {
        fake.misbehave(GithubFault::Says(200, said), 9);
        let error = github.open_pull_request("a", "main").unwrap_err();
        assert!(error.message.ends_with(&format!("cannot be used: {why}")), "{error}");
        fake.behave();
    }
    // The state of one that is followed must be known; a new one is open.
    let short = json!({"number": 5, "html_url": "https://github.com/o/r/pull/5"});
    fake.misbehave(GithubFault::Says(201, short.clone()), 1);
    let made = github.create_pull_request(&new_pull("a")).unwrap();
    assert_eq!(
        (made.number, made.url.as_str(), made.state),
        (5, "https://github.com/o/r/pull/5", PullState::Open)
    );
    fake.misbehave(GithubFault::Says(200, short), 9);
    let error = github.pull_request(5).unwrap_err();
    assert!(error.message.ends_with("cannot be used: it has no state"), "{error}");
}

#[test]
fn a_redirect_is_not_followed() {
    let (fake, other) =
        (FakeGithub::start(FakeRepository::default()), FakeGithub::start(FakeRepository::default()));
    fake.misbehave(GithubFault::Redirect(format!("{}/repos/octo-org/tool/pulls/1", other.url())), 2);
    let github = connect(&settings(&fake));
    let error = github.pull_request(1).unwrap_err();
    assert_eq!(error.kind, GithubErrorKind::Rejected);
    assert!(error.message.contains("octo-org/tool on github.com has moved (307)"), "{error}");
    assert!(github.create_pull_request(&new_pull("a")).is_err());
    assert_eq!((fake.requests().len(), other.requests().len()), (2, 0));
}

#[test]
fn a_wrong_token_is_refused_and_none_is_told_before_anything_is_asked() {
    let fake = FakeGithub::start(FakeRepository::default());
    let wrong = GithubSettings { token: GithubToken::new("ghp_wrong"), ..settings(&fake) };
    let error = connect(&wrong).default_branch().unwrap_err();
    assert_eq!(error.kind, GithubErrorKind::Unauthorized);
    assert_eq!(error.hints.len(), 2, "{error:?}");

    let none = GithubSettings { token: None, gh: "/nowhere/gh".into(), ..settings(&fake) };
    let repository = none.repository("https://github.com/octo-org/tool").unwrap().unwrap();
    let error = none.connect(repository).unwrap_err();
    assert_eq!(error.kind, GithubErrorKind::Unauthorized);
    assert!(error.message.contains("no token for github.com"), "{error}");
    assert!(error.hints[1].contains("gh auth login --hostname github.com"), "{error:?}");
    assert_eq!(fake.requests().len(), 1);
}

#[test]
fn an_unreachable_server_is_reported_as_such() {
    let url = {
        let fake = FakeGithub::start(FakeRepository::default());
        fake.url()
    };
    let settings = GithubSettings {
        url: Some(url.parse().unwrap()),
        token: GithubToken::new("x"),
        pause: Duration::from_millis(1),
        ..GithubSettings::default()
    };
    let failure = connect(&settings).create_pull_request(&new_pull("a")).unwrap_err();
    assert_eq!((failure.outcome, failure.error.kind), (WriteOutcome::NotDone, GithubErrorKind::Unavailable));
}

#[test]
fn the_api_is_where_the_host_has_it() {
    let at = |url: Option<&str>, enterprise: Option<&str>, remote: &str| {
        let settings = GithubSettings {
            url: url.map(|url| url.parse().unwrap()),
            enterprise_host: enterprise.map(str::to_owned),
            ..GithubSettings::default()
        };
        let repository = settings.repository(remote).unwrap()?;
        Some(settings.base(&repository).map(|base| base.to_string()).map_err(|error| error.kind))
    };
    let found = |url: &str| Some(Ok(url.to_owned()));
    let (github, ghe) = ("https://github.com/a/b", "git@ghe.example:a/b");
    assert_eq!(at(None, None, github), found("https://api.github.com/"));
    assert_eq!(at(None, None, ghe), None);
    assert_eq!(at(None, Some("GHE.example"), ghe), found("https://GHE.example/api/v3"));
    assert_eq!(at(None, Some("ghe.example:8443"), ghe), found("https://ghe.example:8443/api/v3"));
    assert_eq!(at(None, Some("ghe.example"), github), found("https://api.github.com/"));
    assert_eq!(at(None, Some("o.ghe.com"), "git@o.ghe.com:a/b"), found("https://api.o.ghe.com/"));
    let configured = Some("https://ghe.example/api/v3");
    assert_eq!(at(configured, None, ghe), found("https://ghe.example/api/v3"));
    assert_eq!(at(configured, None, github), found("https://ghe.example/api/v3"));
    assert_eq!(at(configured, None, "https://gitlab.com/a/b"), None);
    assert_eq!(at(Some("https://api.o.ghe.com"), None, "git@o.ghe.com:a/b"), found("https://api.o.ghe.com/"));
    for unsafe_url in ["http://ghe.example/api/v3", "https://ghe.example/api/v3?x=y"] {
        assert_eq!(at(Some(unsafe_url), None, ghe), Some(Err(GithubErrorKind::Invalid)), "{unsafe_url}");
    }
}

#[test]
fn a_push_gets_the_token_only_where_it_is_for() {
    let for_push = |api: &str, push: &str| {
        let settings = GithubSettings {
            url: (!api.is_empty()).then(|| api.parse().unwrap()),
            token: GithubToken::new("ghp_x"),
            ..GithubSettings::default()
        };
        let credential = connect(&settings).credential_for(push)?;
        assert_eq!((credential.user.as_str(), credential.secret.as_str()), ("x-access-token", "ghp_x"));
        Some(credential.origin)
    };
    let github = Some("https://github.com/".to_owned());
    assert_eq!(for_push("", "https://github.com/octo-org/tool.git"), github);
    assert_eq!(for_push("https://api.github.com", "https://me:pw@github.com/octo-org/tool"), github);
    for (api, push) in [
        ("", "git@github.com:octo-org/tool.git"),
        ("", "ssh://git@github.com/octo-org/tool.git"),
        ("", "http://github.com/octo-org/tool.git"),
        ("", "https://github.com@evil.example/octo-org/tool.git"),
        ("", "https://evil.example/github.com/tool.git"),
        ("", "/srv/tool.git"),
        // The token is for another host.
        ("https://ghe.example/api/v3", "https://github.com/octo-org/tool.git"),
    ] {
        assert_eq!(for_push(api, push), None, "{api} {push}");
    }
}
