//! Which examples the pattern finder shows first.

use tamis_research::Role;

use crate::fixture::check;

/// No file calls its tests unit tests, and one has a unit of another kind.
#[test]
fn a_question_for_tests_shows_tests() {
    for (path, text, line) in [
        (
            "src/load.rs",
            "fn load() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn it_loads() {}\n}\n",
            5,
        ),
        ("tests/test_load.py", "from load import load\n\n\ndef test_load():\n    assert load()\n", 4),
        ("load_test.go", "package load\n\nfunc TestLoad(t *testing.T) {\n\tload()\n}\n", 3),
        (
            "src/load.spec.ts",
            "import { load } from './load';\n\ndescribe('load', () => {\n  it('loads', () => {\n    load();\n  });\n});\n",
            4,
        ),
        ("test/load_test.cc", "#include \"load.h\"\n\nTEST(Load, Loads) {\n  load();\n}\n", 3),
        (
            "src/test/java/LoadTest.java",
            "class LoadTest {\n  @Test\n  public void loads() {\n    load();\n  }\n}\n",
            2,
        ),
    ] {
        let place = format!("{path}:{line}");
        let files = [
            (path, text),
            (
                "src/measure.rs",
                "pub struct Unit;\n\npub fn convert(unit: Unit) -> f64 {\n    scale(unit)\n}\n",
            ),
        ];
        let questions = [
            "unit tests",
            "tests",
            "examples of unit tests",
            "show me integration tests",
            "how are tests written",
            "tests of load",
        ];
        check(&files, &[Role::Patterns], &questions.map(|question| (question, place.as_str())));
    }
}

#[test]
fn a_word_that_is_nowhere_does_not_hide_the_others() {
    let files = [("src/http.rs", "fn fetch() {\n    let x = retry(3, || get(url));\n}\n")];
    check(
        &files,
        &[Role::Patterns],
        &[("retry exponential", "src/http.rs:2"), ("xyzzy retry", "src/http.rs:2")],
    );
}

/// Uses of the owner that the question names, before those of others with the same name.
#[test]
fn an_owner_narrows_the_examples() {
    let files = [
        ("src/a.rs", "fn a(list: &[u8]) {\n    list.iter().find(|x| **x == 1);\n    other.call(1);\n}\n"),
        (
            "src/b.rs",
            "use memchr::memmem;\n\nfn b(text: &[u8]) {\n    text.iter().find(|x| **x == 2);\n    memmem::find(text, b\"x\");\n}\n",
        ),
        (
            "src/c.rs",
            "use tools::Registry;\n\nfn c(tools: &Registry, x: X) {\n    x.call(2);\n    self.registry.call(tools);\n}\n",
        ),
        (
            "src/d.py",
            "import json\nimport os\n\npickle.loads(a)\njson.loads(b)\n', '.join(c)\nos.path.join(d, e)\n",
        ),
        ("src/e.py", "from glob import iglob\n\nother.iglob(a)\nx = iglob(b)\n"),
        ("src/f.cc", "other->close();\nsocket->close();\n"),
        ("src/g.go", "package g\n\nfunc g() {\n\terrors.Wrapf(a)\n\tfmt.Wrapf(b)\n}\n"),
    ];
    check(
        &files,
        &[Role::Patterns],
        &[
            ("memmem::find", "src/b.rs:5"),
            ("examples of memmem::find", "src/b.rs:5"),
            ("Registry.call", "src/c.rs:5"),
            ("Registry::call", "src/c.rs:5"),
            ("Registry#call", "src/c.rs:5"),
            ("json.loads", "src/d.py:5"),
            ("os.path.join", "src/d.py:7"),
            ("glob.iglob", "src/e.py:4"),
            ("socket->close()", "src/f.cc:2"),
            ("fmt.Wrapf", "src/g.go:5"),
        ],
    );
}
