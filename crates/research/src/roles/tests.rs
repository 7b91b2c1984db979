//! The roles on small repositories of several languages, and on files that are none.

mod noise;

use std::path::Path;
use std::sync::Arc;

use tamis_codebase::{RootedPath, StopSignal};
use tempfile::TempDir;

use super::{Job, run};
use crate::locate::{Category, Location, Locations};
use crate::question::Question;
use crate::{BoundedReader, Confidence, ResearchFinding, ResearchLimits, Role, joined};

fn repository(files: &[(&str, impl AsRef<[u8]>)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    folder
}

fn ask(role: Role, folder: &Path, question: &str, best: &[&str], limits: ResearchLimits) -> ResearchFinding {
    let location = |path: &&str| Location {
        place: RootedPath { root: 0, path: (*path).to_owned() },
        shown: (*path).to_owned(),
        passages: Vec::new(),
        category: Category::Implementation,
        score: 1.0,
    };
    let locations = Locations { best: best.iter().map(location).collect(), ..Locations::default() };
    let reader = BoundedReader::of_folder(folder, limits);
    let job = Job {
        question: Arc::new(Question::new(question)),
        thoughts: Some(reader.roots.clone()),
        reader: Arc::new(reader),
        locations: Arc::new(locations),
        alone: true,
    };
    run(role, &job, &StopSignal::never()).unwrap()
}

fn texts(finding: &ResearchFinding) -> Vec<&str> {
    finding.key_findings.iter().map(|finding| finding.text.as_str()).collect()
}

fn analyse(files: &[(&str, &str)], question: &str) -> ResearchFinding {
    let folder = repository(files);
    ask(Role::Analyzer, folder.path(), question, &[files[0].0], ResearchLimits::SAMPLE)
}

#[test]
fn python_is_analysed() {
    let finding = analyse(
        &[
            (
                "src/config.py",
                "import os\nfrom .parse import parse_file\n\nLIMIT_BYTES = 10\n\nclass Config:\n    \"\"\"Holds settings.\"\"\"\n\n    def load(self, path):\n        \"\"\"Load settings from a file. Twice.\"\"\"\n        # nothing()\n        self.values = parse_file(path, LIMIT_BYTES)\n        if os.environ.get(\"APP_DEBUG\"):\n            raise ConfigError(path)\n        return self.merge({})\n\n    def merge(self, other):\n        return len(other)\n\nclass ConfigError(Exception):\n    pass\n",
            ),
            ("src/parse.py", "def parse_file(path, limit):\n    return {}\n"),
            (
                "src/main.py",
                "from .config import Config\n\ndef main():\n    # Config.load is called here\n    config = Config()\n    config.load(\"app.toml\")\n",
            ),
            (
                "tests/test_config.py",
                "from src.config import Config\n\ndef test_load():\n    Config().load(\"x\")\n",
            ),
        ],
        "How does Config.load work?",
    );
    assert_eq!(
        texts(&finding),
        [
            "Config.load (src/config.py:9): def load(self, path) — Load settings from a file.",
            "→ is used by main (src/main.py:6)",
            "→ calls parse_file (src/parse.py:1), ConfigError (src/config.py:20), Config.merge (:17)",
            "→ data: sets self.values (src/config.py:12), environment variable APP_DEBUG (:13), LIMIT_BYTES (:12)",
            "→ raises ConfigError (src/config.py:14)",
        ]
    );
    assert_eq!(
        finding.summary,
        "Config.load (src/config.py:9): Load settings from a file. Used in 1 place, and 1 in tests."
    );
    assert_eq!((finding.confidence, finding.notes), (Confidence::High, vec![]));
    assert_eq!(finding.references[0].as_str(), "src/config.py:9");
}

#[test]
fn rust_is_analysed() {
    let finding = analyse(
        &[
            (
                "src/watch.rs",
                "use std::fs;\n\npub struct Watch {\n    seen: u64,\n}\n\nimpl Watch {\n    /// Looks for changes.\n    #[must_use]\n    pub fn poll(&mut self) -> Result<u64, WatchError> {\n        self.seen = count_changes(&self.root);\n        let mut total = self.seen;\n        if total == 0 {\n            return Err(WatchError::Nothing);\n        }\n        Ok(total)\n    }\n}\n",
            ),
            ("src/count.rs", "pub fn count_changes(root: &str) -> u64 {\n    let mut n = 0;\n    n\n}\n"),
            (
                "src/main.rs",
                "fn main() {\n    let mut watch = Watch::default();\n    let _ = watch.poll();\n}\n",
            ),
        ],
        "how does `poll` decide what changed",
    );
    assert_eq!(
        texts(&finding),
        [
            "Watch.poll (src/watch.rs:10): pub fn poll(&mut self) -> Result<u64, WatchError> — Looks for changes.",
            "→ is used by main (src/main.rs:3)",
            "→ calls count_changes (src/count.rs:1)",
            "→ data: sets self.seen (src/watch.rs:11)",
            "→ raises WatchError::Nothing (src/watch.rs:14)",
        ]
    );
}

#[test]
fn a_function_that_is_assigned_is_described_by_its_name_in_a_longer_question() {
    for line in [
        "res.redirect = function redirect(url) {",
        "res.redirect = function (url) {",
        "res.redirect = async function(url) {",
        "res.redirect = (url) => {",
        "res.redirect = async url => {",
    ] {
        let response = format!("{line}\n  this.set('Location', url)\n}}\n");
        let files = [
            ("lib/response.js", response.as_str()),
            ("lib/app.js", "function restrict(req, res, next) {\n  res.redirect('/login')\n}\n"),
            ("test/redirect.js", "var redirect = express()\nredirect.use(app)\n"),
        ];
        let finding = analyse(&files, "how does res.redirect set the Location header?");
        assert!(finding.summary.contains("redirect (lib/response.js:1)"), "{line}: {finding:#?}");
    }
}

/// The other languages: what is called and who calls, in one function each.
#[test]
fn other_languages_are_analysed() {
    type Files = &'static [(&'static str, &'static str)];
    let cases: [(Files, [&str; 2]); 6] = [
        (
            &[
                (
                    "src/load.ts",
                    "import { readAll } from './read'\n\nexport function loadUsers(path: string): void {\n  const a: string = readAll(path)\n}\n",
                ),
                ("src/read.ts", "export function readAll(path: string): string {\n  return path\n}\n"),
                (
                    "src/app.ts",
                    "import { loadUsers } from './load'\n\nexport function start(): void {\n  loadUsers('a')\n}\n",
                ),
            ],
            ["→ is used by start (src/app.ts:4)", "→ calls readAll (src/read.ts:1)"],
        ),
        (
            &[
                (
                    "load.go",
                    "package app\n\nimport (\n\t\"fmt\"\n)\n\nfunc loadUsers(path string) error {\n\treturn readAll(path)\n}\n",
                ),
                ("read.go", "package app\n\nfunc readAll(path string) error {\n\treturn nil\n}\n"),
                (
                    "server.go",
                    "package app\n\nfunc (s *Server) Start() error {\n\treturn loadUsers(s.path)\n}\n",
                ),
            ],
            ["→ is used by Server.Start (server.go:4)", "→ calls readAll (read.go:3)"],
        ),
        (
            &[
                (
                    "a/Loader.java",
                    "package a;\n\nimport java.util.List;\n\npublic class Loader {\n  public int loadUsers(String path) {\n    return new Reader(path).size();\n  }\n}\n",
                ),
                (
                    "a/Reader.java",
                    "package a;\n\npublic class Reader {\n  public Reader(String path) {\n  }\n}\n",
                ),
                (
                    "a/App.java",
                    "package a;\n\npublic class App {\n  public void start() {\n    loader.loadUsers(\"a\");\n  }\n}\n",
                ),
            ],
            ["→ is used by App.start (a/App.java:5)", "→ calls Reader (a/Reader.java:3)"],
        ),
        (
            &[
                (
                    "load.c",
                    "#include <stdio.h>\n\nint loadUsers(const char *path) {\n    return read_all(path);\n}\n",
                ),
                ("read.c", "#include <stdio.h>\n\nint read_all(const char *path) {\n    return 0;\n}\n"),
                ("main.c", "#include <stdio.h>\n\nint main(void) {\n    return loadUsers(\"a\");\n}\n"),
            ],
            ["→ is used by main (main.c:4)", "→ calls read_all (read.c:3)"],
        ),
        (
            &[
                (
                    "load.rb",
                    "require 'set'\n\nmodule Users\n  def loadUsers(path)\n    read_all path\n  end\nend\n",
                ),
                ("read.rb", "require 'set'\n\ndef read_all(path)\n  puts path\nend\n"),
                ("app.rb", "require 'set'\n\ndef start\n  loadUsers 'a'\nend\n"),
            ],
            ["→ is used by start (app.rb:4)", "→ calls read_all (read.rb:3)"],
        ),
        (
            &[
                ("load.sh", "#!/usr/bin/env bash\nloadUsers() {\n  read_all \"$1\"\n}\n"),
                ("read.sh", "#!/usr/bin/env bash\nread_all() {\n  cat \"$1\"\n}\n"),
                ("app.sh", "#!/usr/bin/env bash\nstart() {\n  loadUsers a\n}\n"),
            ],
            ["→ is used by start (app.sh:3)", "→ calls read_all (read.sh:2)"],
        ),
    ];
    for (files, expected) in cases {
        let finding = analyse(files, "How does loadUsers work?");
        assert_eq!(texts(&finding)[1..3], expected, "{}", files[0].0);
    }
}

/// As the researcher does it: what the locator finds is where the analyzer begins.
fn located_job(folder: &Path, question: &str) -> Job {
    let reader = BoundedReader::of_folder(folder, ResearchLimits::SAMPLE);
    let question = Arc::new(Question::new(question));
    let locations = Arc::new(crate::locate::locate(&question, &reader, None, &StopSignal::never()).unwrap());
    Job { question, reader: Arc::new(reader), locations, thoughts: None, alone: true }
}

fn located(files: &[(&str, &str)], question: &str) -> ResearchFinding {
    let folder = repository(files);
    run(Role::Analyzer, &located_job(folder.path(), question), &StopSignal::never()).unwrap()
}

const FIELDS: [(&str, &str); 3] = [
    (
        "forms/fields.py",
        "class Field:\n    def clean(self, value):\n        \"\"\"Check a value.\"\"\"\n        return value\n\n    def rebuild(self):\n        \"\"\"Rebuild a field.\"\"\"\n        return 1\n\n\nclass URLField(Field):\n    def clean(self, value):\n        return super().clean(value)\n\n    def rebuild(self):\n        return super().rebuild()\n",
    ),
    ("models/fields.py", "class Field:\n    def clean(self, value):\n        return value\n"),
    (
        "tests/test_fields.py",
        "from forms.fields import URLField\n\n\ndef test_url_is_cleaned():\n    URLField().clean(1)\n\n\ndef test_other():\n    pass\n",
    ),
];

#[test]
fn an_ambiguous_name_lists_the_others_and_lowers_the_confidence() {
    let finding = located(&FIELDS, "How does Field.clean work?");
    assert_eq!(
        finding.summary,
        "Field.clean (forms/fields.py:2): Check a value. Used in 1 place. The question may also mean Field.clean (models/fields.py:2)."
    );
    assert_eq!(finding.confidence, Confidence::Med);
    let finding = located(&FIELDS, "How does URLField.clean work?");
    assert!(finding.summary.starts_with("URLField.clean (forms/fields.py:12)"), "{}", finding.summary);
    assert_eq!(finding.confidence, Confidence::High);
}

#[test]
fn without_a_name_the_closest_definition_is_described_and_confidence_is_not_high() {
    let finding = located(&FIELDS, "how does rebuild work for fields");
    let expected = "Closest definition by words: Field.rebuild (forms/fields.py:6): Rebuild a field.";
    assert!(finding.summary.starts_with(expected), "{}", finding.summary);
    assert!(finding.confidence < Confidence::High);
}

#[test]
fn a_question_for_tests_is_answered_with_tests() {
    let finding = located(&FIELDS, "Which tests cover URLField?");
    assert!(
        finding.summary.ends_with("Tests that use it: test_url_is_cleaned (tests/test_fields.py:5)."),
        "{}",
        finding.summary
    );
    let finding = located(&FIELDS, "which tests are about a cleaned url");
    assert!(finding.summary.contains("test_url_is_cleaned (tests/test_fields.py:4)"), "{}", finding.summary);
}

#[test]
fn a_misspelled_name_is_not_found_and_similar_names_are_noted() {
    for (question, near) in [
        (
            "Where is `URLFeild` implemented?",
            "Defined under a similar name: `URLField` (forms/fields.py:11).",
        ),
        (
            "Where is `urlfeild` implemented?",
            "Defined under a similar name: `URLField` (forms/fields.py:11).",
        ),
    ] {
        let finding = located(&FIELDS, question);
        assert!(finding.summary.starts_with("not found: "), "{}", finding.summary);
        assert_eq!((joined(&finding.notes).as_str(), finding.confidence), (near, Confidence::Low));
        assert_eq!((finding.references.len(), finding.key_findings.len()), (0, 0));
    }
    // Another case is another spelling of the same name.
    let finding = located(&FIELDS, "Where is `urlfield` implemented?");
    assert!(finding.summary.starts_with("URLField (forms/fields.py:11)"), "{}", finding.summary);
    assert_eq!(located(&FIELDS, "Where is `Frobnicator` implemented?").notes, []);
}

#[test]
fn known_words_of_files_do_not_change_answers() {
    for question in
        ["How does URLField.clean work?", "how is a value checked and cleaned", "what is `rebuild`"]
    {
        let folder = repository(&FIELDS);
        let mut job = located_job(folder.path(), question);
        let with = run(Role::Analyzer, &job, &StopSignal::never()).unwrap();
        let locations = Locations { files_by_word: Arc::default(), ..(*job.locations).clone() };
        job.locations = Arc::new(locations);
        assert_eq!(run(Role::Analyzer, &job, &StopSignal::never()).unwrap(), with);
    }
}

#[test]
fn names_in_no_file_are_not_found() {
    let files = [("src/a.py", "def other():\n    return 1\n")];
    let finding = analyse(&files, "How does frobnicate_widget work?");
    assert_eq!(
        (finding.references.len(), finding.key_findings.len(), finding.confidence),
        (0, 0, Confidence::Low)
    );
    assert_eq!(finding.summary, "not found: `frobnicate_widget` is not in any file");
    let folder = repository(&[("src/a.py", files[0].1.as_bytes())]);
    for role in [Role::Patterns, Role::Thoughts] {
        let finding =
            ask(role, folder.path(), "How does frobnicate_widget work?", &[], ResearchLimits::SAMPLE);
        assert!(finding.summary.contains("not found"), "{}", finding.summary);
        assert_eq!((finding.references.len(), finding.confidence), (0, Confidence::Low));
    }
}

#[test]
fn a_name_defined_outside_of_the_map_is_found() {
    let files = [
        ("src/a.py", "import os\n\ndef other():\n    return 1\n"),
        ("src/deep/b.py", "def wanted_thing(x):\n    \"\"\"Wants.\"\"\"\n    return x\n"),
    ];
    let finding = analyse(&files, "How does wanted_thing work?");
    assert_eq!(texts(&finding), ["wanted_thing (src/deep/b.py:1): def wanted_thing(x) — Wants."]);
}

#[test]
fn reached_limits_are_noted() {
    let folder = repository(&[("a.py", "def load_it():\n    return 1\n"), ("b.py", "load_it()\n")]);
    let limits = ResearchLimits { max_files_read: 0, ..ResearchLimits::SAMPLE };
    for role in [Role::Analyzer, Role::Patterns] {
        let finding = ask(role, folder.path(), "show examples of load_it", &["a.py"], limits);
        assert!(joined(&finding.notes).contains("limit"), "{role:?} {finding:?}");
    }
}

#[test]
fn examples_differ_and_count_what_is_alike() {
    let route = |name: &str| {
        format!("@app.route(\"/{name}\")\ndef {name}():\n    return render(\"{name}\", page=1)\n\n")
    };
    let many: String = ["one", "two", "three"].iter().map(|name| route(name)).collect();
    let other = "class Base:\n    pass\n\ndef build(app):\n    app.add(\n        route=app.route,\n        name=\"x\",\n    )\n";
    let folder = repository(&[
        ("src/views.py", many.as_bytes()),
        ("src/build.py", other.as_bytes()),
        ("tests/test_views.py", route("four").as_bytes()),
    ]);
    let finding =
        ask(Role::Patterns, folder.path(), "Show examples of app.route", &[], ResearchLimits::SAMPLE);
    assert_eq!(
        texts(&finding),
        [
            "src/views.py:1: @app.route(\"/one\")\ndef one():\n(and 3 more like it, most of them in src/)",
            "src/build.py:5: app.add(\n    route=app.route,\n    name=\"x\",\n)",
        ]
    );
    assert_eq!(finding.summary, "2 examples of `route`, out of 5 places");
}

#[test]
fn words_find_examples_where_they_come_together() {
    let folder = repository(&[
        ("src/http.rs", "use std::io;\n\nfn fetch() {\n    let x = retry_with_backoff(3, || get(url));\n}\n"),
        ("src/other.rs", "use std::io;\n\nfn retry() {}\n\nfn wait() {}\n"),
    ]);
    let finding = ask(
        Role::Patterns,
        folder.path(),
        "existing patterns for retrying with backoff",
        &[],
        ResearchLimits::SAMPLE,
    );
    assert_eq!(texts(&finding), ["src/http.rs:4: let x = retry_with_backoff(3, || get(url));"]);
}

#[test]
fn notes_have_date_and_decision() {
    let folder = repository(&[
        (
            "plans/2025-03-01-sessions.md",
            "# Session storage\n\nSome words.\n\n## Decision\n\nSessions live in signed cookies, since servers restart.\n",
        ),
        ("ideas.md", "---\ntitle: Colours\ndate: 2024-01-02\n---\nBlue is nice.\n"),
        ("code.py", "def sessions_in_cookies(): pass\n"),
    ]);
    let finding = ask(
        Role::Thoughts,
        folder.path(),
        "Where do we store sessions, in cookies?",
        &[],
        ResearchLimits::SAMPLE,
    );
    assert_eq!(
        texts(&finding),
        [
            "2025-03-01 Session storage (plans/2025-03-01-sessions.md:7): Decision: Sessions live in signed cookies, since servers restart.",
        ]
    );
    assert_eq!(finding.confidence, Confidence::Med);
}

#[test]
fn secrets_are_not_in_findings() {
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let code = format!(
        "def connect_now(x):\n    \"\"\"Uses {token} to connect.\"\"\"\n    return x\n\nconnect_now(\"{token}\")\n"
    );
    let note = format!("# connect_now\n\nWe decided that connect_now has {token} in it.\n");
    let folder = repository(&[("a.py", code.as_bytes()), ("n.md", note.as_bytes())]);
    for role in [Role::Analyzer, Role::Patterns, Role::Thoughts] {
        let finding =
            ask(role, folder.path(), "show how connect_now is used", &["a.py"], ResearchLimits::SAMPLE);
        assert!(!format!("{finding:?}").contains(token), "{role:?}");
        assert!(!finding.references.is_empty(), "{role:?}");
    }
}
