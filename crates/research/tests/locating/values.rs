//! Questions for a value: the line that gives it comes first, not one that only has the words.

use tamis_research::Role;

use super::fixture::{BOTH, ask, check, codebase, index, researcher};

/// A service whose settings are given in the ways of several languages, beside names and texts that have the words.
const SERVICE: &[(&str, &str)] = &[
    (
        "service/config.py",
        "class Config:\n    def __init__(\n        self,\n        host: str = \"127.0.0.1\",\n        port: int = 8000,\n        \
         timeout_keep_alive: int = 5,\n    ) -> None:\n        self.port = port\n",
    ),
    (
        "service/options.py",
        "def options(parser):\n    parser.add_argument(\n        \"--workers\",\n        type=int,\n        default=4,\n        \
         help=\"Number of worker processes.\",\n    )\n",
    ),
    (
        "service/server.py",
        "def default(level):\n    return level\n\n\ndef log_port(listeners):\n    port = listeners.port\n    print(port)\n\n\n\
         def redirect_all(requests):\n    for request in requests:\n        request.redirect()\n",
    ),
    (
        "lib/limits.go",
        "package lib\n\n// Requests with a larger body are refused.\nconst maxBodySize = 10 << 20\n\nfunc bodySize(r Request) int {\n\
         \treturn r.Size()\n}\n\nfunc checkPassword(password string) bool {\n\tif len(password) < 12 {\n\t\treturn false\n\t}\n\treturn true\n}\n",
    ),
    (
        "src/pool.rs",
        "pub struct Pool {\n    idle_timeout: Duration,\n}\n\nimpl Default for Pool {\n    fn default() -> Pool {\n        \
         Pool { idle_timeout: Duration::from_secs(90) }\n    }\n}\n\npub fn idle(pool: &Pool) -> bool {\n    pool.is_idle()\n}\n",
    ),
    (
        "web/client.js",
        "const RETRY_ATTEMPTS = 3\nconst dataDir = process.env.APP_DATA_DIR || './data'\n\nfunction retry(request) {\n  return request.again()\n}\n\n\
         module.exports = { retry }\n",
    ),
    (
        "test/client.test.js",
        "test('retries a failed request', () => {\n  const retries = 7\n  expect(client.port).toBe(9999)\n})\n",
    ),
    (
        "docs/guide.md",
        "# Ports\n\nThe default port of the service can be changed, and so can the number of retries.\n",
    ),
];

const ANSWERS: [(&str, &str); 9] = [
    ("what is the default port", "service/config.py:5"),
    ("which port does it listen on if I do not say anything", "service/config.py:5"),
    ("how many worker processes are started", "service/options.py:5"),
    ("what is the maximum body size", "lib/limits.go:4"),
    ("shortest password allowed", "lib/limits.go:11"),
    ("how long do idle connections stay in the pool", "src/pool.rs:7"),
    ("how many times is a failed request tried again", "web/client.js:1"),
    ("which environment variable sets the data folder", "web/client.js:2"),
    ("max size of a request body", "lib/limits.go:4"),
];

#[test]
fn the_line_that_gives_the_value_comes_first() {
    check(SERVICE, &BOTH, &ANSWERS);
}

#[test]
fn the_answer_is_the_same_with_an_index() {
    let folder = codebase(SERVICE);
    let with_index = researcher(folder.path(), Some(index(folder.path())));
    with_index.wait_for_index(std::time::Duration::from_secs(60));
    let without = researcher(folder.path(), None);
    for (question, _) in ANSWERS {
        assert_eq!(
            ask(&with_index, Role::Locator, question),
            ask(&without, Role::Locator, question),
            "{question}"
        );
    }
}

#[test]
fn the_line_is_shown_with_what_it_is_in() {
    let folder = codebase(SERVICE);
    let finding = ask(&researcher(folder.path(), None), Role::Analyzer, "what is the default port");
    assert_eq!(
        finding.summary,
        "Best match for the value: `port: int = 8000,` (service/config.py:5, in Config.__init__)."
    );
}

/// The heading of a long section is far from its last line.
#[test]
fn what_encloses_a_line_says_what_it_is_of() {
    let others: String = (0..30).map(|number| format!("  option{number}: on\n")).collect();
    let settings = format!("cache:\n  limit: 3\ngateway:\n{others}  limit: 5\nother:\n  limit: 7\n");
    let files = [("settings.yaml", settings.as_str()), ("README.md", "The gateway and the cache.\n")];
    check(&files, &BOTH, &[("what is the limit of the gateway", "settings.yaml:34")]);
}

/// A class that the question names is what it asks about, although a line gives a value of the same name.
#[test]
fn a_name_that_is_declared_is_no_value() {
    let files = [
        ("errors.py", "class Timeout(Exception):\n    pass\n"),
        ("config.py", "timeout = 30\nretries = 3\n"),
    ];
    check(&files, &[Role::Locator], &[("what is Timeout", "errors.py:1")]);
}

/// Questions for how, why or where something is done, and for names, are answered as before.
#[test]
fn other_questions_are_not_answered_with_values() {
    check(
        SERVICE,
        &[Role::Locator],
        &[
            ("where is the port printed", "service/server.py:5"),
            ("retry", "web/client.js:4"),
            ("bodySize", "lib/limits.go:6"),
        ],
    );
}
