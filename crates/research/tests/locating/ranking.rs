//! Which files come first, and what a finding says about them.

use std::fs;
use std::time::Duration;

use tamis_codebase::{Policy, Roots, StopSignal};
use tamis_research::{Confidence, ResearchConstraints, ResearchFinding, ResearchRequest, Researcher, Role};

use super::fixture::{ask, check, codebase, index, researcher, researcher_of};

const SHOP: &[(&str, &str)] = &[
    (
        "src/shop/prices.py",
        "from shop.rates import exchange_rate\n\n\nclass PriceList:\n    \"\"\"What things cost.\"\"\"\n\n    def total(self, basket):\n        return sum(self.price_of(item) for item in basket)\n\n    def price_of(self, item):\n        return item.cents * exchange_rate(item.currency)\n",
    ),
    (
        "src/shop/rates.py",
        "RATES = {}\n\n\ndef exchange_rate(currency):\n    \"\"\"How much a currency is worth today.\"\"\"\n    return RATES.get(currency, 1)\n",
    ),
    (
        "src/shop/basket.py",
        "class Basket:\n    def add(self, item):\n        self.items.append(item)\n\n    def discount(self, percent):\n        \"\"\"Takes a share off every price, for loyal customers.\"\"\"\n        for item in self.items:\n            item.cents -= item.cents * percent // 100\n",
    ),
    ("src/shop/__main__.py", "from shop.prices import PriceList\n\nprint(PriceList().total([]))\n"),
    (
        "tests/test_prices.py",
        "from shop.prices import PriceList\n\n\nclass PriceListTest:\n    def test_total_of_basket(self):\n        prices = PriceList()\n        assert prices.total([]) == 0\n        assert prices.price_of(ITEM) == 3\n",
    ),
    ("README.md", "# Shop\n\nPriceList totals a basket; exchange_rate converts a currency.\n"),
    ("config/rates.toml", "[exchange]\ncurrency = \"EUR\"\n"),
    (".env", "EXCHANGE_RATE_KEY=not-for-anybody\n"),
];

fn located(researcher: &Researcher, question: &str) -> ResearchFinding {
    ask(researcher, Role::Locator, question)
}

fn first(question: &str) -> String {
    let folder = codebase(SHOP);
    first_line(&located(&researcher(folder.path(), None), question))
}

/// Path and line of the first reference.
fn first_line(finding: &ResearchFinding) -> String {
    let (path, line) = finding.references[0].split();
    format!("{path}:{}", line.unwrap())
}

#[test]
fn a_name_leads_to_where_it_is_defined() {
    for (question, reference) in [
        ("Where is PriceList implemented?", "src/shop/prices.py:4"),
        ("where is exchange_rate defined", "src/shop/rates.py:4"),
        ("What does `price_of` return?", "src/shop/prices.py:10"),
        ("How does Basket.discount work?", "src/shop/basket.py:5"),
    ] {
        assert_eq!(first(question), reference, "{question}");
    }
}

#[test]
fn a_common_word_that_is_written_as_a_name_is_looked_for() {
    let files = [
        ("lib/request.js", "req.header = function header(name) {\n  return this.headers[name]\n}\n"),
        (
            "lib/response.js",
            "res.location = function (url) {\n  this.set('Location', encode(url)) // header\n}\n",
        ),
    ];
    check(&files, &[Role::Locator], &[("where is the Location header set", "lib/response.js:1")]);
}

#[test]
fn a_member_is_looked_for_in_its_owner() {
    let mut files: Vec<(String, String)> = (0..12)
        .map(|number| {
            let text =
                "fn call() {}\n\nfn other(registry: &Registry) {\n    registry.call();\n    call();\n}\n";
            (format!("src/door{number}.rs"), text.to_owned())
        })
        .collect();
    let registry =
        "pub struct Registry {\n    tools: u8,\n}\n\nimpl Registry {\n    pub fn call(&self) {}\n}\n";
    files.push(("src/registry.rs".to_owned(), registry.to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let folder = codebase(&files);
    let researcher = researcher(folder.path(), None);
    for question in ["Registry.call", "What does `Registry::call` do?", "How does Registry.call() work?"] {
        let finding = located(&researcher, question);
        assert_eq!(finding.references[0].as_str(), "src/registry.rs:6", "{question}");
        assert!(finding.summary.starts_with("call is defined at src/registry.rs:6."), "{}", finding.summary);
        let analyzed = ask(&researcher, Role::Analyzer, question);
        assert!(analyzed.summary.starts_with("Registry.call (src/registry.rs:6)"), "{}", analyzed.summary);
    }
}

#[test]
fn words_lead_there_too() {
    for (question, path) in [
        ("how are loyal customers given a share off", "src/shop/basket.py"),
        ("where are currencies converted", "src/shop/rates.py"),
        ("what sums up a basket", "src/shop/prices.py"),
    ] {
        assert!(first(question).starts_with(path), "{question}: {}", first(question));
    }
}

#[test]
fn a_question_about_a_test_leads_to_what_it_tests_as_well() {
    let folder = codebase(SHOP);
    let finding = located(&researcher(folder.path(), None), "What does PriceListTest make sure of?");
    let paths: Vec<&str> = finding.references.iter().map(|reference| reference.path()).collect();
    assert!(
        paths[..2].contains(&"tests/test_prices.py") && paths[..2].contains(&"src/shop/prices.py"),
        "{paths:?}"
    );
}

/// Two files with the same words: the one that uses what the best file defines is more likely part of the answer.
#[test]
fn files_that_use_what_the_best_file_defines_come_before_others() {
    let body =
        |call: &str| format!("def later(request):\n    # the cookies expire\n    return {call}(request)\n");
    let (other, user) = (body("drop_it_there"), body("keep_it_there"));
    let folder = codebase(&[
        (
            "src/cookies.py",
            "def keep_it_there(request):\n    \"\"\"Session cookies are signed, and expire.\"\"\"\n    return sign(request.session.cookies)\n",
        ),
        ("src/a_other.py", other.as_str()),
        ("src/z_user.py", user.as_str()),
    ]);
    let finding =
        located(&researcher(folder.path(), None), "how are the session cookies signed so that they expire");
    let paths: Vec<&str> = finding.references.iter().map(|reference| reference.split().0).collect();
    assert_eq!(paths[..3], ["src/cookies.py", "src/z_user.py", "src/a_other.py"]);
}

#[test]
fn findings_have_the_category_of_their_files() {
    let folder = codebase(SHOP);
    let finding = located(&researcher(folder.path(), None), "How does PriceList make the total of a basket?");
    assert_eq!(finding.confidence, Confidence::High, "{finding:?}");
    assert!(
        finding.summary.starts_with("PriceList is defined at src/shop/prices.py:4."),
        "{}",
        finding.summary
    );
    let text = finding.key_findings.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("\n");
    for line in [
        "implementation: src/shop/prices.py:4-5 defines PriceList: class PriceList:",
        "tests: tests/test_prices.py",
        "docs: README.md",
        "entry point: src/shop/__main__.py",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn names_in_no_file_are_not_found() {
    let folder = codebase(SHOP);
    let researcher = researcher(folder.path(), None);
    for question in [
        "Where is FrobnicatorWidget implemented?",
        "Where is `nowhere_to_be_seen` defined?",
        "where is the zorblax protocol spoken",
        "How does QuantumPriceMatrix work?",
        "???",
        "what is it that it does",
    ] {
        let finding = located(&researcher, question);
        assert_eq!(
            (finding.references.len(), finding.confidence),
            (0, Confidence::Low),
            "{question}: {finding:?}"
        );
        assert!(finding.summary.to_lowercase().contains("not found"), "{}", finding.summary);
    }
}

#[test]
fn a_name_that_exists_is_found_whatever_else_the_question_has() {
    let folder = codebase(SHOP);
    let question = "Show flabbergasting zorblax wobbles of how `exchange_rate` is quibbled";
    let finding = located(&researcher(folder.path(), None), question);
    assert_eq!(first_line(&finding), "src/shop/rates.py:4");
}

#[test]
fn a_word_that_is_nowhere_does_not_spoil_a_question() {
    let folder = codebase(SHOP);
    let question = "How does exchange_rate in the shop convert the currency of a zorblax?";
    let finding = located(&researcher(folder.path(), None), question);
    assert_eq!(first_line(&finding), "src/shop/rates.py:4");
    assert_eq!(tamis_research::joined(&finding.notes), "Not in any file: `zorblax`.");
}

#[test]
fn files_that_hold_secrets_are_not_found() {
    let folder = codebase(SHOP);
    let finding =
        located(&researcher(folder.path(), None), "Where is EXCHANGE_RATE_KEY set to not-for-anybody?");
    let text = serde_json::to_string(&finding).unwrap();
    assert!(!text.contains(".env"), "{text}");
}

/// Two codebases that differ in a secret only must give the same answers.
#[test]
fn the_words_of_a_secret_lead_nowhere() {
    let answers = |password: &str| {
        let code =
            format!("def connect():\n    password = \"{password}\"\n    return open_database(password)\n");
        let folder = codebase(&[("src/database.py", code.as_str()), ("src/other.py", "def other(): pass\n")]);
        let (indexed, plain) =
            (researcher(folder.path(), Some(index(folder.path()))), researcher(folder.path(), None));
        let questions = [
            "Where are tangerine and walrus used?",
            "tange",
            "`tangerine`",
            "tangerine walrus examples",
            "database",
        ];
        let mut answers = Vec::new();
        for question in questions {
            for researcher in [&plain, &indexed] {
                for role in [Role::Locator, Role::Patterns, Role::Analyzer] {
                    answers.push(serde_json::to_string(&ask(researcher, role, question)).unwrap());
                }
                indexed.wait_for_index(Duration::from_secs(60));
            }
        }
        answers
    };
    let found = answers("tangerine-walrus-42!");
    assert_eq!(found, answers("marmalade-ostrich-42!"));
    assert!(found.iter().any(|answer| answer.contains("src/database.py")), "what is shown is found");
}

#[test]
fn a_secret_in_a_question_does_not_come_back() {
    let folder = codebase(SHOP);
    let token = "a8Kd0sQ2mX7vB4nZ1cL6pR9tY3wE5uJ0hG2f";
    let request = ResearchRequest {
        question: format!("Why does PriceList reject ghp_{token} with password=tangerine-walrus-42! there?"),
        artifact: true,
        ..ResearchRequest::default()
    };
    let report = researcher(folder.path(), None).research(&request, &StopSignal::never(), &|_| ()).unwrap();
    let mut texts = vec![serde_json::to_string(&report).unwrap()];
    texts.extend(report.artifact_path.iter().map(|path| fs::read_to_string(path).unwrap()));
    assert_eq!(texts.len(), 2);
    for text in &texts {
        let text = text.to_lowercase();
        for part in [&token.to_lowercase()[..8], &token.to_lowercase()[20..28], "tangerine", "walrus", "a8kd"]
        {
            assert!(!text.contains(part), "{part} in {text}");
        }
    }
    assert!(texts[0].contains("PriceList"));
}

#[test]
fn an_index_changes_nothing() {
    let folder = codebase(SHOP);
    let (with, without) =
        (researcher(folder.path(), Some(index(folder.path()))), researcher(folder.path(), None));
    let questions = ["Where is PriceList implemented?", "how are customers given a discount", "zorblax", ""];
    for round in 0..3 {
        for question in questions.iter().filter(|question| !question.is_empty()) {
            assert_eq!(located(&with, question), located(&without, question), "{round}: {question}");
            with.wait_for_index(Duration::from_secs(60));
        }
        let text = format!("class PriceList:\n    def discount_{round}(self): pass\n");
        fs::write(folder.path().join(format!("code/src/shop/more{round}.py")), text).unwrap();
    }
}

#[test]
fn files_that_were_not_searched_are_named_where_absence_is_claimed() {
    let folder = codebase(SHOP);
    let write = |path: &str, bytes: &[u8]| {
        let path = folder.path().join("code").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    write("data/all.sql", &b"zorblax\n".repeat(600_000));
    write("logo.png", b"\x89PNG\0zorblax");
    write("deploy/server.pem", b"zorblax");
    write(".gitignore", b"ignored.pem\n");
    write("ignored.pem", b"zorblax");
    let (plain, indexed) =
        (researcher(folder.path(), None), researcher(folder.path(), Some(index(folder.path()))));
    let expected = "Not searched: data/all.sql (too large), deploy/server.pem (denied), logo.png (binary).";
    for (role, question) in [
        (Role::Locator, "zorblax"),
        (Role::Locator, "How does exchange_rate in the shop convert the currency of a zorblax?"),
        (Role::Analyzer, "How does `zorblax` work?"),
        (Role::Patterns, "Show examples of `zorblax`"),
        (Role::Patterns, "Show examples of zorblax quibbles"),
    ] {
        for researcher in [&plain, &indexed, &indexed] {
            let notes = tamis_research::joined(&ask(researcher, role, question).notes);
            assert!(notes.contains(expected), "{question}: {notes}");
            indexed.wait_for_index(Duration::from_secs(60));
        }
    }
    let found = tamis_research::joined(&located(&plain, "Where is PriceList implemented?").notes);
    assert_eq!(found, "", "nothing is absent");
    // What the limits of a request leave unread is named too.
    let request = ResearchRequest {
        question: "How does `exchange_rate` use `zorblax`?".to_owned(),
        role: Some(Role::Analyzer),
        constraints: ResearchConstraints { max_files_read: Some(0), ..ResearchConstraints::default() },
        ..ResearchRequest::default()
    };
    let report = plain.research(&request, &StopSignal::never(), &|_| ()).unwrap();
    let notes = tamis_research::joined(&report.finding(Role::Analyzer).unwrap().notes);
    assert!(notes.contains("src/shop/rates.py (over the limits)"), "{notes}");
}

#[test]
fn references_have_the_lines_of_the_best_passages_and_findings_one_line_of_them() {
    let filler = |from: usize| -> String {
        (from..from + 40).map(|number| format!("    step_{number} = number_{number} + 1\n")).collect()
    };
    let text = format!(
        "class Ledger:\n    \"\"\"Keeps books.\"\"\"\n\n    def open(self):\n{}\n    def settle(self, invoice):\n        \"\"\"Settles an overdue invoice.\"\"\"\n        self.penalty(invoice)\n\n    def close(self):\n{}        refund = overdue(invoice)\n        archive(refund)\n{}",
        filler(0).replace("    ", "        "),
        filler(40).replace("    ", "        "),
        filler(80).replace("    ", "        "),
    );
    let line_of = |part: &str| text.lines().position(|line| line.contains(part)).unwrap() + 1;
    let folder = codebase(&[("src/ledger.py", text.as_str()), ("src/other.py", "def other():\n    pass\n")]);
    let finding = located(&researcher(folder.path(), None), "how are overdue invoices refunded or settled");
    let settle = line_of("def settle");
    let references: Vec<&str> = finding.references.iter().map(|reference| reference.as_str()).collect();
    assert_eq!(references[0], format!("src/ledger.py:{settle}-{}", settle + 2));
    let refund = line_of("refund = overdue");
    let includes = |reference: &&tamis_research::Reference| {
        reference.lines().1.is_some_and(|lines| lines.contains(&refund) && lines.end() - lines.start() < 30)
    };
    assert_eq!(finding.references.iter().filter(includes).count(), 1, "{references:?}");
    let texts: Vec<&str> = finding.key_findings.iter().map(|finding| finding.text.as_str()).collect();
    let has = |end: &str| texts.iter().any(|text| text.ends_with(end));
    assert!(has(" defines settle: def settle(self, invoice):"), "{texts:?}");
    assert!(has(" in close: refund = overdue(invoice)"), "{texts:?}");
}

#[test]
fn passages_that_begin_near_each_other_are_one_reference() {
    let function = |name: &str| format!("def {name}(invoice):\n    return overdue(invoice)\n\n\n");
    let between = "x = 1\n".repeat(20);
    let text = [function("remind"), function("collect"), between, function("write_off")].concat();
    let folder = codebase(&[("src/ledger.py", text.as_str()), ("src/other.py", "def other():\n    pass\n")]);
    let finding = located(&researcher(folder.path(), None), "what happens to overdue invoices");
    let references: Vec<&str> = finding.references.iter().map(|reference| reference.as_str()).collect();
    assert_eq!(references, ["src/ledger.py:1-2", "src/ledger.py:29-30"]);
}

#[test]
fn a_path_that_two_roots_have_is_shown_with_its_root() {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("old/shop/src/prices.py", "def exchange_rate(currency):\n    return 1\n"),
        ("new/shop/src/prices.py", "def exchange_rate(currency, day):\n    return RATES[day][currency]\n"),
        ("new/shop/src/rates.py", "from prices import exchange_rate\n\nexchange_rate(\"EUR\", 1)\n"),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let folders = [folder.path().join("old/shop"), folder.path().join("new/shop")];
    let roots = Roots::open(&folders, Policy::standard()).unwrap();
    let researcher = researcher_of(&folders, folder.path(), None);
    for role in [Role::Locator, Role::Analyzer, Role::Patterns] {
        let finding = ask(&researcher, role, "Show examples of exchange_rate");
        let paths: Vec<&str> = finding.references.iter().map(|reference| reference.path()).collect();
        assert!(!paths.contains(&"src/prices.py"), "{role:?}: {paths:?}");
        for path in &paths {
            assert_eq!(roots.places_of(path).len(), if path.starts_with("src/") { 2 } else { 3 }, "{path}");
            let place = &roots.places_of(path)[0];
            assert!(path.starts_with("src/") || roots.read_text(place, 1000).is_ok(), "{path}");
        }
    }
    for shop in ["old/shop", "new/shop"] {
        fs::write(folder.path().join(shop).join("logo.png"), b"\x89PNG\0").unwrap();
    }
    let notes = tamis_research::joined(&located(&researcher, "zorblax").notes);
    let unread = "Not searched: old/shop/logo.png (binary), new/shop/logo.png (binary).";
    assert!(notes.contains(unread), "{notes}");
    let found = located(&researcher, "exchange_rate");
    let paths: Vec<&str> = found.references.iter().map(|reference| reference.path()).collect();
    for path in ["old/shop/src/prices.py", "new/shop/src/prices.py", "src/rates.py"] {
        assert_eq!(paths.iter().filter(|known| **known == path).count(), 1, "{path} in {paths:?}");
    }
}

/// Users of a name, not only its definitions, are told apart: those that the pattern finder shows and the analyzer's callers.
#[test]
fn users_on_a_path_that_two_roots_have_are_shown_with_their_root() {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("old/shop/src/rates.py", "def exchange_rate(currency):\n    return 1\n"),
        ("old/shop/src/bill.py", "def bill(sum):\n    return sum * exchange_rate(\"EUR\")\n"),
        (
            "new/shop/src/bill.py",
            "def total(sums):\n    rate = exchange_rate(\"USD\")\n    return sum(sums, rate)\n",
        ),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let folders = [folder.path().join("old/shop"), folder.path().join("new/shop")];
    let researcher = researcher_of(&folders, folder.path(), None);
    for role in [Role::Patterns, Role::Analyzer] {
        let finding = ask(&researcher, role, "Show examples of `exchange_rate`");
        let references = finding.references.iter().map(|reference| reference.as_str());
        let findings = finding.key_findings.iter().map(|finding| finding.text.as_str());
        let shown = references.chain(findings).collect::<Vec<_>>().join("\n");
        for path in ["old/shop/src/bill.py:2", "new/shop/src/bill.py:2"] {
            assert!(shown.contains(path), "{role:?}: {path} in {shown}");
        }
        assert_eq!(
            shown.matches("src/bill.py").count(),
            shown.matches("shop/src/bill.py").count(),
            "{shown}"
        );
    }
}

#[test]
fn patterns_find_a_phrase_wherever_it_is() {
    let folder = codebase(&[
        ("src/a.py", "def connect():\n    raise Error(\"connection refused by peer\")\n"),
        ("src/b.py", "# Connection refused by peer: try again.\ndef again():\n    connect()\n"),
        ("docs/errors.md", "# Errors\n\n- connection refused by peer\n"),
        ("src/c.py", "peer = 1\nconnection = 2\n\n\n\n\nrefused = 3\n# onlyhere\n"),
    ]);
    let researcher = researcher(folder.path(), None);
    for question in [
        "connection refused by peer",
        "Show examples of \"connection refused by peer\"",
        "show me similar uses of connection refused by peer",
    ] {
        let finding = ask(&researcher, Role::Patterns, question);
        let references: Vec<&str> = finding.references.iter().map(|reference| reference.as_str()).collect();
        assert_eq!(references, ["src/a.py:2", "src/b.py:1", "docs/errors.md:3"], "{question}: {finding:?}");
    }
    let finding = ask(&researcher, Role::Patterns, "onlyhere");
    assert_eq!(finding.references[0].as_str(), "src/c.py:8");
    assert_eq!(tamis_research::joined(&finding.notes), "Only one example was found.");
}

#[test]
fn a_phrase_that_a_file_has_word_for_word_comes_first() {
    let folder = codebase(&[
        ("src/store.rs", "pub struct Original;\n\nfn stored() {}\n\n// No key has as many lines.\n"),
        ("src/errors.rs", "pub const GONE: &str = \"no original is stored for\";\npub struct Cut;\n"),
        ("src/print.rs", "fn note() {\n    print(\"nothing was cut; try again\");\n}\nfn cut() {}\n"),
        ("docs/a.md", "no original is stored for\n"),
    ]);
    let researcher = researcher(folder.path(), None);
    for (question, place) in [
        ("No key has as many lines", "src/store.rs:5"),
        ("no key has as many lines", "src/store.rs:5"),
        ("no original is stored for", "src/errors.rs:1"),
        ("where is the error message 'no original is stored for' produced", "src/errors.rs:1"),
        ("nothing was cut", "src/print.rs:2"),
        ("what prints \"was cut\"?", "src/print.rs:2"),
    ] {
        assert_eq!(first_line(&located(&researcher, question)), place, "{question}");
    }
}

#[test]
fn a_member_that_the_owner_does_not_have_is_not_called_its_definition() {
    let folder = codebase(&[
        (
            "src/a.rs",
            "pub struct Redactor;\n\npub struct Redacted;\n\nimpl Redacted {\n    pub fn new() {}\n}\n",
        ),
        ("src/b.rs", "fn f(r: Redactor) {}\n"),
    ]);
    let researcher = researcher(folder.path(), None);
    let summary = located(&researcher, "Redactor::new").summary;
    assert!(!summary.contains("new is defined"), "{summary}");
    let summary = located(&researcher, "Redacted::new").summary;
    assert!(summary.starts_with("new is defined at src/a.rs:6."), "{summary}");
}

#[test]
fn only_files_with_the_name_are_listed_for_it() {
    let folder = codebase(&[
        ("src/keys.rs", "const MAX_LINES: usize = 4;\n\nfn f() -> usize {\n    MAX_LINES\n}\n"),
        ("src/lines.rs", "/// Lines, at the maximum.\npub fn max_of_lines() {}\n"),
        ("Cargo.toml", "[package]\nname = \"a\"\n"),
        ("src/cargo.rs", "// cargo\n"),
    ]);
    let researcher = researcher(folder.path(), None);
    let paths = |question: &str| {
        let finding = located(&researcher, question);
        assert_eq!(tamis_research::joined(&finding.notes), "", "{question}");
        let mut paths: Vec<String> = finding.references.iter().map(|place| place.path().to_owned()).collect();
        paths.dedup();
        paths
    };
    assert_eq!(paths("MAX_LINES"), ["src/keys.rs"]);
    assert_eq!(paths("Cargo.toml"), ["Cargo.toml"]);
}

#[test]
fn a_question_about_the_whole_is_answered_by_what_describes_it() {
    let files: &[(&str, &str)] = &[
        ("tests/project.rs", "// what this project does\nfn project() {}\n"),
        ("README.md", "# Shop\n\n[badge]\n\nSells things to people. And more.\n"),
        ("src/lib.rs", "//! A shop.\n\npub fn sell() {}\n"),
        ("examples/README.md", "Examples of the project.\n"),
    ];
    let folder = codebase(files);
    let researcher = researcher(folder.path(), None);
    for question in ["what does this project do", "what is this repository about?"] {
        let finding = located(&researcher, question);
        let paths: Vec<&str> = finding.references.iter().map(|place| place.path()).collect();
        assert_eq!(paths, ["README.md", "src/lib.rs"], "{question}");
        let summary = ask(&researcher, Role::Analyzer, question).summary;
        assert_eq!(summary, "README.md: Sells things to people.", "{question}");
    }
}

#[test]
fn a_definition_and_a_word_in_a_text_use_nothing() {
    let folder = codebase(&[(
        "src/keys.rs",
        "const MAX_LINES: usize = 4;\n\nfn key() -> usize {\n    MAX_LINES\n}\n\nconst TEXT: &str = \"\n  a.key MAX_LINES\n\";\n",
    )]);
    let researcher = researcher(folder.path(), None);
    let finding = ask(&researcher, Role::Analyzer, "MAX_LINES");
    assert!(finding.summary.ends_with("Used in 1 place."), "{}", finding.summary);
    let finding = ask(&researcher, Role::Analyzer, "key");
    assert!(!finding.summary.contains("Used in"), "{}", finding.summary);
}
