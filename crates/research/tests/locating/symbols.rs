//! Questions for a symbol or a file, in every form, and where the answer must point first.

use std::time::Duration;

use tamis_research::{Role, joined};

use super::fixture::{BOTH, ask, check, codebase, index, researcher};

const SHOP: &[(&str, &str)] = &[
    (
        "src/billing.py",
        "\"\"\"Billing.\"\"\"\nimport decimal\n\n\ndef charge(order):\n    \"\"\"Takes the money.\"\"\"\n    return order.total\n\n\ndef refund(order):\n    charge(-order)\n",
    ),
    (
        "src/orders.py",
        "from billing import charge\n\n\ndef place(order):\n    charge(order)\n    return order\n",
    ),
    (
        "src/warden.rs",
        "//! Ends processes.\n\npub struct Warden {\n    groups: Vec<u32>,\n}\n\nimpl Warden {\n    pub fn notify(&self) {}\n}\n\nfn start() -> Warden {\n    let warden = Warden { groups: vec![] };\n    warden\n}\n",
    ),
    ("src/main.rs", "mod warden;\n\nfn main() {\n    warden::start();\n}\n"),
    ("tests/test_billing.py", "from billing import charge\n\n\ndef test_charge():\n    charge(1)\n"),
    (
        "LICENSE",
        "You may charge a fee, however it is computed. A warden may be the main thing here. Use of it is free.\n",
    ),
    ("README.md", "# Shop\n\nHow to charge, and what a warden is.\n"),
];

#[test]
fn words_that_ask_are_no_evidence_of_absence() {
    let charge = "src/billing.py:5";
    let rows: Vec<(&str, &str)> = [
        "charge",
        "find where charge is implemented",
        "Find the implementation of charge",
        "show me charge",
        "Show where charge is computed",
        "where is charge?",
        "where is charge calculated",
        "what calculates charge",
        "how is charge computed?",
        "how does charge work",
        "tell me where charge is defined",
        "please locate the function charge",
        "can you find the definition of charge for me?",
        "I want to know where charge is declared",
        "explain charge",
        "which function implements charge?",
        "what is charge responsible for",
    ]
    .into_iter()
    .map(|question| (question, charge))
    .chain([
        ("where is main", "src/main.rs:3"),
        ("where is the main function", "src/main.rs:3"),
        ("main", "src/main.rs:3"),
    ])
    .collect();
    check(SHOP, &BOTH, &rows);
    let folder = codebase(SHOP);
    let researcher = researcher(folder.path(), None);
    for (question, _) in rows {
        assert_eq!(joined(&ask(&researcher, Role::Locator, question).notes), "", "{question}");
    }
}

#[test]
fn a_word_that_is_nowhere_is_noted_and_the_others_are_answered() {
    check(
        SHOP,
        &BOTH,
        &[
            ("xyzzy warden", "src/warden.rs:3"),
            ("find the xyzzy Warden", "src/warden.rs:3"),
            ("where is the zorblax charge computed", "src/billing.py:5"),
        ],
    );
    let folder = codebase(SHOP);
    let researcher = researcher(folder.path(), None);
    for (question, notes) in [
        ("xyzzy warden", "Not in any file: `xyzzy`."),
        ("where is the zorblax charge computed", "Not in any file: `zorblax`."),
        ("how is money calculated from zorblax orders", "Not in any file: `zorblax`."),
        ("how do a zorblax and a quibble charge", "Not in any file: `zorblax`, `quibble`."),
        ("how does `Zorblax` return the decimal money of a refund", "Not in any file: `Zorblax`."),
        ("find where charge is calculated", ""),
    ] {
        let finding = ask(&researcher, Role::Locator, question);
        assert!(!finding.references.is_empty(), "{question}: {}", finding.summary);
        assert_eq!(joined(&finding.notes), notes, "{question}");
    }
    for question in [
        "xyzzy",
        "where is zorblax implemented",
        // Another file says that something is computed.
        "where is zorblax computed",
        // "main" is a word of any question as well as a function.
        "where is the main zorblax",
        "find frobnicate_widget",
        "show me the Frobnicator class",
    ] {
        for role in BOTH {
            let finding = ask(&researcher, role, question);
            assert_eq!(finding.references.len(), 0, "{question}: {}", finding.summary);
            assert!(finding.summary.to_lowercase().contains("not found"), "{}", finding.summary);
        }
    }
}

/// What a function declares with the exact spelling comes before what is spelled otherwise elsewhere.
#[test]
fn the_exact_spelling_in_a_function_comes_first() {
    check(
        &[
            ("src/b.h", "class Buffer {\n  T &container_;\n};\n"),
            ("src/hex.h", "auto to_hex() {\n  using Container = std::span<int>;\n  return Container();\n}\n"),
            ("src/a.rs", "pub fn max_depth() {}\n"),
            ("src/b.rs", "fn run() {\n    const MAX_DEPTH: u8 = 3;\n    go(MAX_DEPTH);\n}\n"),
        ],
        &BOTH,
        &[
            ("Container", "src/hex.h:2"),
            ("container_", "src/b.h:2"),
            ("MAX_DEPTH", "src/b.rs:2"),
            ("max_depth", "src/a.rs:1"),
        ],
    );
}

/// Constants of an enum may have bodies, so that the last is far from where the enum begins.
#[test]
fn constants_of_a_long_enum_are_declared_in_it() {
    let body = "    void process() {\n      run(\"{\");\n    }\n".repeat(300);
    let java = format!(
        "enum State {{\n  Early {{\n{body}  }},\n  Late {{\n{body}  }},\n  Last(3) {{\n{body}  }};\n}}\n"
    );
    let cpp =
        format!("enum Code\n{{\n{}  kFarAway,\n  kWithValue = 7\n}};\n", "  // a comment\n".repeat(1200));
    let use_them = "class Use {\n  State a = State.Late;\n  State b = State.Last;\n  int c = kFarAway + kWithValue;\n}\n";
    check(
        &[("src/State.java", java.as_str()), ("src/code.h", cpp.as_str()), ("src/Use.java", use_them)],
        &BOTH,
        &[
            ("Early", "src/State.java:2"),
            ("Late", "src/State.java:904"),
            ("Last", "src/State.java:1806"),
            ("kFarAway", "src/code.h:1203"),
            ("kWithValue", "src/code.h:1204"),
        ],
    );
}

/// Whatever a file's content is, its name is known: files with NUL bytes are not searched.
#[test]
fn files_that_are_not_read_are_found_by_their_names() {
    let large = "x\n".repeat(3 << 20);
    let files = &[
        ("src/lib.rs", "pub fn png() {}\n"),
        ("assets/logo.png", "\u{89}PNG\0\0"),
        ("data/table.bin", "\0\0\0"),
        ("notes.txt", "a\0b\n"),
        ("src/odd.py", "def odd():\n    return '\0'\n"),
        ("Makefile", "all:\0\n"),
        ("data/huge.csv", large.as_str()),
    ];
    check(
        files,
        &BOTH,
        &[
            ("logo.png", "assets/logo.png"),
            ("where is logo.png", "assets/logo.png"),
            ("assets/logo.png", "assets/logo.png"),
            ("LOGO.PNG", "assets/logo.png"),
            ("logo", "assets/logo.png"),
            ("table.bin", "data/table.bin"),
            ("notes.txt", "notes.txt"),
            ("odd.py", "src/odd.py"),
            ("odd", "src/odd.py"),
            ("Makefile", "Makefile"),
            ("huge.csv", "data/huge.csv"),
            // A definition of that name comes first.
            ("png", "src/lib.rs:1"),
        ],
    );
}

#[test]
fn files_are_found_by_their_names() {
    let files = &[
        ("config.toml", "port = 1\n"),
        ("deploy/Dockerfile", "FROM scratch\n"),
        ("deploy/settings.yaml", "a: 1\n"),
        ("web/package.json", "{}\n"),
        ("src/_policybase.py", "X = 1\n"),
        ("src/policies.py", "def config():\n    return 'settings package docker'\n"),
        ("src/prune_text.rs", "pub struct Input;\n"),
        ("src/lib.rs", "mod prune_text;\n\npub fn dispatch() {\n    prune_text::run();\n}\n"),
        ("docker-compose.yml", "services: {}\n"),
        ("Makefile", "all:\n\ttrue\n"),
        (".gitignore", "target\n"),
        ("docs/empty.md", ""),
        ("tests/conftest.py", "import pytest\n"),
        (".github/workflows/release.yml", "on: push\n"),
        (
            "src/notes.py",
            "# config.toml, Dockerfile, settings.yaml and package.json are read here\nconfig = 1\n",
        ),
    ];
    check(
        files,
        &BOTH,
        &[
            ("config.toml", "config.toml"),
            ("where is config.toml", "config.toml"),
            ("find the file config.toml", "config.toml"),
            ("`config.toml`", "config.toml"),
            ("Dockerfile", "deploy/Dockerfile"),
            ("dockerfile", "deploy/Dockerfile"),
            ("deploy/Dockerfile", "deploy/Dockerfile"),
            ("settings.yaml", "deploy/settings.yaml"),
            ("show me settings.yaml", "deploy/settings.yaml"),
            ("package.json", "web/package.json"),
            ("web/package.json", "web/package.json"),
            ("./web/package.json", "web/package.json"),
            ("_policybase.py", "src/_policybase.py"),
            ("_policybase", "src/_policybase.py"),
            ("policybase", "src/_policybase.py"),
            ("prune_text.rs", "src/prune_text.rs"),
            ("prune_text", "src/prune_text.rs"),
            ("docker-compose.yml", "docker-compose.yml"),
            ("docker-compose", "docker-compose.yml"),
            ("docker compose", "docker-compose.yml"),
            ("compose", "docker-compose.yml"),
            ("Makefile", "Makefile"),
            (".gitignore", ".gitignore"),
            ("gitignore", ".gitignore"),
            ("empty.md", "docs/empty.md"),
            ("conftest.py", "tests/conftest.py"),
            ("conftest", "tests/conftest.py"),
            ("release.yml", ".github/workflows/release.yml"),
        ],
    );
}

/// All of one name are listed, and none that only has the name in its own.
#[test]
fn of_files_of_one_name_the_least_deep_comes_first_and_tests_examples_and_vendored_ones_last() {
    let folder = codebase(&[
        ("a/b/settings.toml", "x = 1\n"),
        ("web/settings.toml", "x = 1\n"),
        ("settings.toml", "x = 1\n"),
        ("a/mysettings.toml", "x = 1\n"),
        ("examples/policy.go", "package a\n"),
        ("internal/access/rules/policy.go", "package b\n"),
        ("test/policy.go", "package c\n"),
        ("vendor/policy.go", "package d\n"),
        ("lib/prelogx.c", "int x;\n"),
        (".gitignore", "target\n"),
        ("mygitignore.cfg", "target\n"),
        ("docs/journal.md", "# A page\n"),
        ("src/log.py", "def journals():\n    pass\n"),
    ]);
    let researcher = researcher(folder.path(), None);
    for (question, expected) in [
        ("settings.toml", "settings.toml web/settings.toml a/b/settings.toml"),
        ("where is web/settings.toml", "web/settings.toml"),
        ("policy.go", "internal/access/rules/policy.go test/policy.go examples/policy.go vendor/policy.go"),
        // Four letters are enough for a part of a name; three are in too many.
        ("logx", "lib/prelogx.c"),
        ("ogx", ""),
        ("gitignore", ".gitignore"),
        // A page about something comes after what is declared.
        ("journal", "src/log.py docs/journal.md"),
    ] {
        let found = ask(&researcher, Role::Locator, question);
        let paths: Vec<&str> = found.references.iter().map(|reference| reference.path()).collect();
        assert_eq!(paths.join(" "), expected, "{question}");
    }
}

/// Each file declares symbols of many kinds, and others mention them first.
const KINDS: &[(&str, &str)] = &[
    (
        "src/app.py",
        "import os\n\nMAX_RETRIES = 3\nTimeout: float = 2.5\n\n\nclass Basket:\n    limit: int = 10\n    owner = None\n\n    def add(self, item):\n        self.items = [item]\n        count = 1\n        return count\n\n    @property\n    def total(self):\n        return os.environ[\"APP_DEBUG\"]\n\n\ndef outer():\n    def inner():\n        pass\n    return inner\n",
    ),
    (
        "src/flags.py",
        "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument(\"--max-count\", type=int)\nparser.add_argument('-v', '--verbose')\n\n\n@app.route(\"/users/<id>\")\ndef show_user(id):\n    return settings.get(\"cache.lifetime\")\n",
    ),
    (
        "src/store.rs",
        "pub const PAGE_SIZE: usize = 10;\nstatic COUNTER: u8 = 0;\n\n/// Where pages are.\npub struct Store {\n    pub page_count: usize,\n    dirty: bool,\n}\n\npub enum Mode {\n    ReadOnly,\n    Writable(u8),\n}\n\npub type Bytes = Vec<u8>;\n\nmacro_rules! checked {\n    () => {};\n}\n\npub trait Backend {\n    fn flush(&self);\n}\n\nimpl Store {\n    pub fn open() -> Store {\n        let dirty = false;\n        Store { page_count: PAGE_SIZE, dirty }\n    }\n}\n",
    ),
    (
        "src/server.go",
        "package server\n\nconst DefaultPort = 80\n\nconst (\n\tStateIdle = iota\n\tStateBusy\n)\n\nvar handlers map[string]int\n\ntype Server struct {\n\tListenAddr string\n\tidle, busy int\n}\n\ntype Closer interface {\n\tCloseAll() error\n}\n\ntype Celsius float64\n\nfunc (s *Server) Serve() error {\n\tport := DefaultPort\n\treturn nil\n}\n",
    ),
    (
        "src/response.js",
        "var res = Object.create(null)\n\nmodule.exports = res\n\nres.redirect = function redirect(url) {\n  this.location = url\n}\n\nres.sendFile = (path) => {\n  return path\n}\n\nexports.charset = 'utf-8'\n\nclass Router {\n  depth = 1\n  #secret() {\n    return 1\n  }\n  match(path) {\n    return path\n  }\n}\n\nRouter.prototype.dispatch = function () {\n  return 1\n}\n\nconst handlersByName = {\n  onClose: function () {},\n  retryDelay: 5,\n}\n\napp.get('/orders/:id', handlersByName.onClose)\nconst level = process.env.LOG_LEVEL\nconst codes = {\n  FATAL_ERROR: 'x',\n}\n",
    ),
    (
        "src/types.ts",
        "export interface Options {\n  maxAge?: number;\n  readonly domain: string;\n  close(): void;\n}\n\nexport type Handler = (x: number) => void\n\nexport enum Colour {\n  Red = 'red',\n  Green,\n}\n\nexport abstract class Base {\n  private cacheSize = 1;\n  protected abstract load(): void;\n}\n\nexport const makeHandler = (x: number): Handler => () => x\n",
    ),
    (
        "src/buffer.c",
        "#include <stdio.h>\n#include \"buffer.h\"\n\n#define BUFFER_MAX 4096\n#define SQUARE(x) ((x) * (x))\n\nstatic int buffer_count;\n\nint\nbuffer_grow(struct buffer *b, size_t by)\n{\n\tint room = 0;\n\treturn b->capacity + room;\n}\n",
    ),
    (
        "src/buffer.h",
        "struct buffer {\n\tchar\t*bytes;\n\tsize_t\t capacity;\t/* all of it */\n\tunsigned int flags : 3;\n\tint (*on_full)(struct buffer *);\n};\n\nenum buffer_mode {\n\tBUFFER_READ,\n\tBUFFER_WRITE = 2\n};\n\ntypedef unsigned long buffer_size_t;\n\nint buffer_grow(struct buffer *, size_t);\n",
    ),
    (
        "src/cache.cc",
        "#include \"cache.h\"\n\nnamespace db {\n\nusing Key = int;\n\nclass EXPORT LruCache : public Cache {\n public:\n  explicit LruCache(int size) : size_(size) {}\n  virtual Status Lookup(const Key& key);\n\n private:\n  int size_;\n  std::map<int, int> entries_{};\n};\n\nStatus LruCache::Lookup(const Key& key) {\n  return entries_[key];\n}\n\n}  // namespace db\n",
    ),
    (
        "src/Account.java",
        "package a;\n\npublic class Account {\n  private static final int MAX_LOGINS = 3;\n  @Nullable private final String holderName;\n  private int failures = 0, warnings = 1;\n\n  public enum Status {\n    OPEN,\n    CLOSED(\"closed\");\n  }\n\n  public <T> T visit(Visitor<T> visitor) throws IOException {\n    int attempts = 1;\n    return visitor.apply(this);\n  }\n}\n",
    ),
    ("src/Savings.java", "package a;\n\npublic final class Savings extends\n    Account {\n}\n"),
    ("tests/codes.spec.js", "const { FATAL_ERROR } = require('../src/response')\n"),
    (
        "src/entry.c",
        "struct entry {\n\tblock def;\n\tint from;\n};\n\n#if DEBUG\n  #define local_macro(x) x\n#endif\nint LOCAL_MACRO[3];\n",
    ),
    ("src/page.js", "if (browser) {\n  global.onFailure = function () {};\n}\n"),
    ("src/ranges.rs", "pub struct Limits {\n    pub range: u8,\n}\n"),
    ("src/moves.go", "package a\n\ntype Move struct {\n\tfrom, target int\n}\n"),
    (
        "db/schema.sql",
        "-- orders\nCREATE TABLE IF NOT EXISTS orders (\n    placed_at TIMESTAMP NOT NULL,\n    id INTEGER\n);\nCREATE UNIQUE INDEX by_customer ON orders (customer);\n",
    ),
    (
        "src/migrate.rs",
        "const SQL: &str = \"\n    CREATE TABLE sessions (\n        token TEXT NOT NULL\n    );\n\";\n",
    ),
    ("conf/app.toml", "[server]\nlisten_port = 80\n\n[cache]\neviction = \"lru\"\n"),
    ("conf/app.yaml", "logging:\n  rotation: daily\n"),
    ("conf/app.json", "{\n  \"featureFlags\": {\"darkMode\": true}\n}\n"),
    ("scripts/run.sh", "#!/bin/sh\nexport BUILD_ROOT=/tmp\nclean_up() {\n  rm -r \"$BUILD_ROOT\"\n}\n"),
    (
        "docs/all.md",
        "MAX_RETRIES Timeout limit total PAGE_SIZE page_count ReadOnly DefaultPort StateBusy ListenAddr redirect sendFile capacity\n\nBUFFER_MAX orders listen_port rotation featureFlags darkMode --max-count /users/<id> APP_DEBUG\n",
    ),
    (
        "src/a_uses.py",
        "# MAX_RETRIES, Timeout, PAGE_SIZE, capacity, BUFFER_MAX, orders\nprint(MAX_RETRIES, Timeout, limit, total, PAGE_SIZE, page_count, ListenAddr, redirect, capacity, rotation)\n",
    ),
];

#[test]
fn every_kind_of_symbol_is_found_where_it_is_declared() {
    check(
        KINDS,
        &BOTH,
        &[
            // Constants, variables, macros.
            ("MAX_RETRIES", "src/app.py:3"),
            ("Timeout", "src/app.py:4"),
            ("PAGE_SIZE", "src/store.rs:1"),
            ("COUNTER", "src/store.rs:2"),
            ("DefaultPort", "src/server.go:3"),
            ("StateIdle", "src/server.go:6"),
            ("handlers", "src/server.go:10"),
            ("handlersByName", "src/response.js:29"),
            ("charset", "src/response.js:13"),
            ("BUFFER_MAX", "src/buffer.c:4"),
            ("SQUARE", "src/buffer.c:5"),
            ("checked", "src/store.rs:17"),
            ("buffer_count", "src/buffer.c:7"),
            ("MAX_LOGINS", "src/Account.java:4"),
            ("BUILD_ROOT", "scripts/run.sh:2"),
            // Fields and variants.
            ("limit", "src/app.py:8"),
            ("owner", "src/app.py:9"),
            ("page_count", "src/store.rs:6"),
            ("dirty", "src/store.rs:7"),
            ("ReadOnly", "src/store.rs:11"),
            ("Writable", "src/store.rs:12"),
            ("StateBusy", "src/server.go:7"),
            ("ListenAddr", "src/server.go:13"),
            ("idle", "src/server.go:14"),
            ("busy", "src/server.go:14"),
            ("depth", "src/response.js:16"),
            ("retryDelay", "src/response.js:31"),
            ("FATAL_ERROR", "src/response.js:37"),
            ("def", "src/entry.c:2"),
            ("local_macro", "src/entry.c:7"),
            ("onFailure", "src/page.js:2"),
            ("range", "src/ranges.rs:2"),
            ("target", "src/moves.go:4"),
            ("maxAge", "src/types.ts:2"),
            ("domain", "src/types.ts:3"),
            ("Red", "src/types.ts:10"),
            ("Green", "src/types.ts:11"),
            ("cacheSize", "src/types.ts:15"),
            ("capacity", "src/buffer.h:3"),
            ("flags", "src/buffer.h:4"),
            ("on_full", "src/buffer.h:5"),
            ("BUFFER_READ", "src/buffer.h:9"),
            ("BUFFER_WRITE", "src/buffer.h:10"),
            ("size_", "src/cache.cc:13"),
            ("entries_", "src/cache.cc:14"),
            ("holderName", "src/Account.java:5"),
            ("failures", "src/Account.java:6"),
            ("warnings", "src/Account.java:6"),
            ("OPEN", "src/Account.java:9"),
            ("CLOSED", "src/Account.java:10"),
            // Types and aliases.
            ("Basket", "src/app.py:7"),
            ("Store", "src/store.rs:5"),
            ("Mode", "src/store.rs:10"),
            ("Bytes", "src/store.rs:15"),
            ("Backend", "src/store.rs:21"),
            ("Server", "src/server.go:12"),
            ("Closer", "src/server.go:17"),
            ("Celsius", "src/server.go:21"),
            ("Router", "src/response.js:15"),
            ("Options", "src/types.ts:1"),
            ("Handler", "src/types.ts:7"),
            ("Colour", "src/types.ts:9"),
            ("buffer", "src/buffer.h:1"),
            ("buffer_mode", "src/buffer.h:8"),
            ("buffer_size_t", "src/buffer.h:13"),
            ("LruCache", "src/cache.cc:7"),
            ("Key", "src/cache.cc:5"),
            ("Account", "src/Account.java:3"),
            ("Savings", "src/Savings.java:3"),
            ("Status", "src/Account.java:8"),
            // Functions and methods.
            ("add", "src/app.py:11"),
            ("total", "src/app.py:17"),
            ("inner", "src/app.py:22"),
            ("open", "src/store.rs:26"),
            ("flush", "src/store.rs:22"),
            ("Serve", "src/server.go:23"),
            ("CloseAll", "src/server.go:18"),
            ("redirect", "src/response.js:5"),
            ("res.redirect", "src/response.js:5"),
            ("sendFile", "src/response.js:9"),
            ("secret", "src/response.js:17"),
            ("match", "src/response.js:20"),
            ("dispatch", "src/response.js:25"),
            ("onClose", "src/response.js:30"),
            ("makeHandler", "src/types.ts:19"),
            ("load", "src/types.ts:16"),
            ("buffer_grow", "src/buffer.c:10"),
            ("Lookup", "src/cache.cc:17"),
            ("visit", "src/Account.java:13"),
            ("clean_up", "scripts/run.sh:3"),
            // Attributes that are only set.
            ("items", "src/app.py:12"),
            // Routes, flags, environment variables, tables, settings.
            ("/users/<id>", "src/flags.py:8"),
            ("route /orders/:id", "src/response.js:34"),
            ("--max-count", "src/flags.py:4"),
            ("the flag --verbose", "src/flags.py:5"),
            ("APP_DEBUG", "src/app.py:18"),
            ("environment variable LOG_LEVEL", "src/response.js:35"),
            ("orders", "db/schema.sql:2"),
            ("table orders", "db/schema.sql:2"),
            ("placed_at", "db/schema.sql:3"),
            ("by_customer", "db/schema.sql:6"),
            ("sessions", "src/migrate.rs:2"),
            ("token", "src/migrate.rs:3"),
            ("listen_port", "conf/app.toml:2"),
            ("eviction", "conf/app.toml:5"),
            ("rotation", "conf/app.yaml:2"),
            ("featureFlags", "conf/app.json:2"),
            ("darkMode", "conf/app.json:2"),
            ("cache.lifetime", "src/flags.py:10"),
        ],
    );
}

#[test]
fn definitions_come_before_uses_code_before_tests_and_the_exact_case_first() {
    let files = &[
        (
            "src/aa_first.rs",
            "use crate::Registry;\n\npub fn registry() -> Registry {\n    Registry::default()\n}\n",
        ),
        (
            "src/tools.rs",
            "/// All tools.\npub struct Registry {\n    tools: u8,\n}\n\nimpl Registry {\n    pub fn call(&self) {}\n}\n",
        ),
        (
            "src/doors.rs",
            "pub struct Door;\n\nimpl Door {\n    pub fn call(&self, registry: &Registry) {\n        registry.call();\n    }\n}\n\nfn call() {}\n",
        ),
        (
            "src/agents.rs",
            "pub fn call(registry: &Registry) {}\n\npub fn start() {\n    let registry = registry();\n}\n",
        ),
        ("tests/aa.rs", "fn helper() {}\n\nstruct Fixture;\n"),
        ("src/zz.rs", "pub fn helper() {}\n"),
        ("examples/aa.rs", "fn demo() {}\nfn fixture() {}\n"),
        ("lib/aa_test.go", "package lib\n\nfunc assist() {}\n"),
        ("src/zz.go", "package src\n\nfunc assist() {}\n"),
        ("LICENSE", "registry Registry helper demo\nfn helper() {}\n"),
        ("docs/registry.md", "# Registry\n\nfn helper() {}\n"),
    ];
    check(
        files,
        &BOTH,
        &[
            ("Registry", "src/tools.rs:2"),
            ("registry", "src/aa_first.rs:3"),
            ("struct Registry", "src/tools.rs:2"),
            ("Registry.call", "src/tools.rs:7"),
            ("Registry::call", "src/tools.rs:7"),
            ("how does Registry.call work", "src/tools.rs:7"),
            ("Door.call", "src/doors.rs:4"),
            ("agents.call", "src/agents.rs:1"),
            ("helper", "src/zz.rs:1"),
            ("Helper", "src/zz.rs:1"),
            ("assist", "src/zz.go:3"),
            ("Fixture", "tests/aa.rs:3"),
            ("demo", "examples/aa.rs:1"),
            ("REGISTRY", "src/tools.rs:2"),
        ],
    );
    let folder = codebase(files);
    let text =
        serde_json::to_string(&ask(&researcher(folder.path(), None), Role::Analyzer, "helper")).unwrap();
    assert!(!text.contains("LICENSE"), "{text}");
}

/// An environment variable is where code reads it, before comments that mention it and names of the same letters. A flag is
/// where it is declared, before what has its name.
#[test]
fn environment_variables_and_flags_are_not_what_has_the_same_letters() {
    let files = &[
        (
            "src/app.py",
            "class App:\n    def debug(self):\n        \"\"\"Whether `APP_DEBUG` is set.\n\n        The variable \"APP_DEBUG\" overrides it.\n        \"\"\"\n        return self._debug\n\n\ndebug = App().debug\n",
        ),
        (
            "src/cli.py",
            "import click\nimport os\n\n# \"APP_DEBUG\" is read below, and \"--debug\" declared.\n\n\n@click.option(\"--debug/--no-debug\", help=\"Debug.\")\ndef run(debug):\n    value = os.environ.get(\"APP_DEBUG\")\n    raise UsageError(\n        \"\"\"Use --app or the\n'APP_MODULE' variable.\"\"\"\n    )\n",
        ),
        ("src/level.rs", "pub fn level() -> u8 {\n    let level = std::env::var(\"LOG_LEVEL\");\n    0\n}\n"),
        ("src/level.ts", "export const logLevel = 1\nexport const level = process.env.APP_LEVEL\n"),
        (
            "src/server.go",
            "package a\n\nfunc port() string {\n\treturn os.Getenv(\"APP_PORT\")\n}\n\nvar appPort = 1\n",
        ),
        ("src/main.c", "int app_home;\n\nint main(void)\n{\n\treturn getenv(\"APP_HOME\") != 0;\n}\n"),
        ("examples/make.py", "app_module = create()\napp_debug = True\n"),
        (
            "src/store.rs",
            "const TABLES: &str = \"\n    CREATE TABLE invoices (\n        total INTEGER\n    );\n\";\n",
        ),
    ];
    check(
        files,
        &BOTH,
        &[
            ("APP_DEBUG", "src/cli.py:9"),
            ("APP_MODULE", "src/cli.py:12"),
            ("LOG_LEVEL", "src/level.rs:2"),
            ("APP_LEVEL", "src/level.ts:2"),
            ("APP_PORT", "src/server.go:4"),
            ("APP_HOME", "src/main.c:5"),
            ("--debug", "src/cli.py:7"),
            ("the flag --debug", "src/cli.py:7"),
            ("app_debug", "examples/make.py:2"),
            ("invoices", "src/store.rs:2"),
            ("Invoices", "src/store.rs:2"),
        ],
    );
}

#[test]
fn routes_flags_and_settings_are_symbols_in_whatever_way_they_are_declared() {
    let files = &[
        (
            "src/Api.java",
            "class Api {\n  @GetMapping(\"/accounts\")\n  List<Account> all() {\n    return accounts;\n  }\n}\n",
        ),
        (
            "src/routes.go",
            "package src\n\nfunc routes(mux *http.ServeMux) {\n\tmux.HandleFunc(\"/health\", health)\n}\n",
        ),
        ("src/urls.py", "app = App()\napp.add_url_rule(\"/login\", view_func=login)\n"),
        (
            "src/flags.go",
            "package src\n\nfunc init() {\n\tflags.BoolVarP(&quiet, \"quiet\", \"q\", false, \"\")\n}\n",
        ),
        ("src/program.js", "program.option('-p, --port <number>', 'where to listen')\n"),
        ("src/aa.ts", "show(BASE_PATH)\n"),
        ("src/base.ts", "export const base = import.meta.env.BASE_PATH\n"),
        ("conf/app.toml", "[scheduler]\nworkers = 2\n\n[http]\nclient.patience = 3\n"),
        ("Dockerfile", "FROM scratch\nENV CACHE_ROOT /tmp\nARG BUILD_KIND\n"),
        (
            "docs/all.md",
            "/accounts /health /login --quiet --port BASE_PATH scheduler client.patience CACHE_ROOT BUILD_KIND\n",
        ),
    ];
    check(
        files,
        &BOTH,
        &[
            ("/accounts", "src/Api.java:2"),
            ("/health", "src/routes.go:4"),
            ("/login", "src/urls.py:2"),
            ("--quiet", "src/flags.go:4"),
            ("--port", "src/program.js:1"),
            ("BASE_PATH", "src/base.ts:1"),
            ("scheduler", "conf/app.toml:1"),
            ("client.patience", "conf/app.toml:5"),
            ("patience", "conf/app.toml:5"),
            ("CACHE_ROOT", "Dockerfile:2"),
            ("BUILD_KIND", "Dockerfile:3"),
        ],
    );
}

#[test]
fn spellings_of_a_word_are_the_same_word() {
    let files = &[
        ("src/paint.py", "def color_of(shape):\n    return shape\n"),
        ("src/actions.py", "class BehaviourTree:\n    pass\n"),
        ("src/setup.ts", "export function initialiseStore() {\n  return 1\n}\n"),
        ("src/jobs.rs", "pub fn cancel_job() {}\npub struct JobCanceled;\n"),
        ("src/parse.go", "package a\n\nfunc ParseConfig() {}\n"),
        ("src/index.java", "class Indices {\n  int vertexCount;\n}\n"),
        ("src/query.c", "int run_query(void)\n{\n\treturn 0;\n}\n"),
        (
            "src/files.py",
            "def read_entries():\n    pass\n\n\nHTTPServer = 1\n\n\ndef open_gateways():\n    pass\n",
        ),
    ];
    check(
        files,
        &BOTH,
        &[
            ("colour_of", "src/paint.py:1"),
            ("colourOf", "src/paint.py:1"),
            ("color of", "src/paint.py:1"),
            ("ColorOf", "src/paint.py:1"),
            ("BehaviorTree", "src/actions.py:1"),
            ("behavior_tree", "src/actions.py:1"),
            ("behaviour trees", "src/actions.py:1"),
            ("initializeStore", "src/setup.ts:1"),
            ("initialize_stores", "src/setup.ts:1"),
            ("initialise store", "src/setup.ts:1"),
            ("cancelJob", "src/jobs.rs:1"),
            ("cancel jobs", "src/jobs.rs:1"),
            ("JobCancelled", "src/jobs.rs:2"),
            ("parse_config", "src/parse.go:3"),
            ("parseConfig", "src/parse.go:3"),
            ("parse config", "src/parse.go:3"),
            ("PARSE_CONFIGS", "src/parse.go:3"),
            ("where are configs parsed", "src/parse.go:3"),
            ("Index", "src/index.java:1"),
            ("vertex_count", "src/index.java:2"),
            ("vertices count", "src/index.java:2"),
            ("runQueries", "src/query.c:1"),
            ("readEntry", "src/files.py:1"),
            ("read entry", "src/files.py:1"),
            ("open gateway", "src/files.py:8"),
            ("http server", "src/files.py:5"),
            ("http_server", "src/files.py:5"),
        ],
    );
}

#[test]
fn an_index_changes_no_answer() {
    for files in [SHOP, KINDS] {
        let folder = codebase(files);
        let (with, without) =
            (researcher(folder.path(), Some(index(folder.path()))), researcher(folder.path(), None));
        ask(&with, Role::Locator, "anything");
        with.wait_for_index(Duration::from_secs(60));
        for question in [
            "charge",
            "xyzzy warden",
            "where is main",
            "Registry.call",
            "buffer_grow",
            "parse config",
            "/users/<id>",
            "--max-count",
            "darkMode",
            "cache.lifetime",
            "app.toml",
            "MAX_RETRIES",
            "colour",
            "size_",
            "redirect",
            "how is money taken",
        ] {
            for role in BOTH {
                assert_eq!(ask(&with, role, question), ask(&without, role, question), "{question}");
            }
        }
    }
}

#[test]
fn a_function_is_found_where_a_text_before_it_has_its_name() {
    let files = [
        (
            "lib/request.js",
            "var req = {}\n\n/**\n * The protocol.\n */\ndefineGetter(req, 'protocol', function protocol(){\n  return 1\n})\n\n\
             defineGetter(req, 'subdomains', function subdomains() {\n  var subdomains = list()\n  return subdomains\n})\n",
        ),
        ("examples/client.js", "var subdomains = new Request()\n"),
        (
            "test/req.protocol.js",
            "describe('req', function () {\n  describe('.protocol', function () {})\n})\n",
        ),
    ];
    check(&files, &BOTH, &[("protocol", "lib/request.js:6"), ("subdomains", "lib/request.js:10")]);
}

#[test]
fn an_owner_that_a_line_has_before_another_place_of_the_name_is_not_its_owner() {
    let files = [
        ("lib/a.js", "wrap(Queue.reset, function reset() {\n  return 1\n})\n"),
        ("lib/queue.js", "class Queue {\n  reset() {\n    return 2\n  }\n}\n"),
    ];
    check(&files, &BOTH, &[("Queue.reset", "lib/queue.js:2")]);
}

#[test]
fn a_member_belongs_to_the_owner_that_its_line_its_file_or_its_folder_names() {
    let files = [
        ("src/a.cc", "Status Other::Lookup(const LruCache& cache) {\n  return cache;\n}\n"),
        ("src/z.cc", "Status LruCache::Lookup(int key) {\n  return key;\n}\n"),
        ("lib/a.js", "Table.prototype.dispatch = function (Router) {\n  return Router\n}\n"),
        ("lib/z.js", "Router.prototype.dispatch = function () {\n  return 1\n}\n"),
        ("src/aa.rs", "pub fn start() {}\n\npub fn drain() {}\n"),
        ("src/jobs.rs", "pub fn start() {}\n"),
        ("src/queue/run.rs", "pub fn drain() {}\n"),
    ];
    check(
        &files,
        &BOTH,
        &[
            ("LruCache::Lookup", "src/z.cc:1"),
            ("Other.Lookup", "src/a.cc:1"),
            ("Router.dispatch", "lib/z.js:1"),
            ("jobs::start", "src/jobs.rs:1"),
            ("queue.drain", "src/queue/run.rs:1"),
        ],
    );
}

#[test]
fn members_of_a_specialised_class_are_declared_in_it() {
    let files = [
        ("src/actions.h", "struct Action {\n  std::tuple<Params...> params;\n};\n"),
        (
            "src/matchers.h",
            "template <template <typename...> class Derived, typename... Ts>\n\
             class [[nodiscard]] MatcherBase<Derived<Ts...>> {\n public:\n  explicit MatcherBase(Ts... params)\n      : \
             params_(std::forward<Ts>(params)...) {}\n\n private:\n  const std::tuple<Ts...> params_;\n};\n",
        ),
    ];
    check(&files, &BOTH, &[("params_", "src/matchers.h:8"), ("params", "src/actions.h:2")]);
}

#[test]
fn a_function_that_is_assigned_is_a_definition_and_another_value_is_none() {
    let files = [
        ("lib/aa.js", "var res = require('./response')\n\nres.attach = undefined\nres.detach = null\n"),
        (
            "lib/response.js",
            "res.attach = function (file) {\n  return file\n}\n\nres.detach = (file) => {\n  return file\n}\n",
        ),
    ];
    check(
        &files,
        &BOTH,
        &[
            ("attach", "lib/response.js:1"),
            ("res.attach", "lib/response.js:1"),
            ("detach", "lib/response.js:5"),
        ],
    );
}

/// The beginning of a long one is enough.
#[test]
fn a_reference_has_the_lines_of_the_declaration() {
    let long = format!("def settle(order):\n{}", "    step(order)\n".repeat(60));
    let folder = codebase(&[
        (
            "src/shop.py",
            "LIMIT = 3\n\n\ndef pay(order):\n    check(order)\n    return order\n\n\nclass Shop:\n    size = 1\n",
        ),
        ("src/long.py", long.as_str()),
    ]);
    let researcher = researcher(folder.path(), None);
    for (question, place) in [
        ("LIMIT", "src/shop.py:1"),
        ("pay", "src/shop.py:4-6"),
        ("where is Shop defined", "src/shop.py:9-10"),
        ("settle", "src/long.py:1-30"),
    ] {
        let found = ask(&researcher, Role::Locator, question);
        assert_eq!(found.references[0].as_str(), place, "{question}");
    }
}

/// A file that defines `get` does not end the search for `$get`.
#[test]
fn a_name_with_a_dollar_sign_is_looked_for_in_all_files() {
    check(
        &[
            ("lib/get.js", "module.exports = function get(path) {\n  return path;\n};\n"),
            ("lib/document.js", "Document.prototype.$get = Document.prototype.read;\n"),
        ],
        &BOTH,
        &[("$get", "lib/document.js:1"), ("get", "lib/get.js:1")],
    );
}
