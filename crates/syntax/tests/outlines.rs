//! The outline of a small file in each language, parsed and heuristic.

use tamis_syntax::{Language, Outline, ParseBudget, heuristic_outline, outline, parse_outline};
use tamis_text::split_lines;

/// `name first-last..end`, one definition per line, indented by depth; imports as `use first-last`. From 1.
fn show(text: &str, outline: &Outline) -> Vec<String> {
    let lines = split_lines(text);
    let imports = outline.imports.iter().map(|span| format!("use {}-{}", span.first + 1, span.last + 1));
    let definitions = outline.definitions.iter().map(|definition| {
        format!(
            "{}{} {}-{}..{}",
            " ".repeat(definition.depth),
            &lines[definition.signature.first][definition.name.clone()],
            definition.signature.first + 1,
            definition.signature.last + 1,
            definition.last + 1
        )
    });
    imports.chain(definitions).collect()
}

fn check(language: Language, text: &str, expected: &[&str]) {
    let lines = split_lines(text);
    assert_eq!(Language::detect(text), Some(language));
    let budget = ParseBudget::for_bytes(100_000);
    let parsed = parse_outline(language, text, &lines, budget, &|| false).expect("a tree");
    assert_eq!(show(text, &parsed), expected, "parsed {language:?}");
    let read = heuristic_outline(&lines, &|| false);
    assert_eq!(show(text, &read), expected, "by lines {language:?}");
    let leads = |outline: &Outline| outline.definitions.iter().map(|found| found.lead).collect::<Vec<_>>();
    assert_eq!(leads(&read), leads(&parsed), "leads {language:?}");
}

#[test]
fn rust() {
    check(
        Language::Rust,
        "use std::fmt;\nuse std::{\n    io,\n};\n\n#[derive(Debug)]\npub struct Reader {\n    path: String,\n}\n\nimpl fmt::Display for Reader {\n    fn fmt(\n        &self,\n    ) -> fmt::Result {\n        let mut x = 1;\n        Ok(())\n    }\n}\n\npub(crate) fn run() {}\n",
        &["use 1-1", "use 2-4", "Reader 7-7..9", "Reader 11-11..18", " fmt 12-14..17", "run 20-20..20"],
    );
}

#[test]
fn python() {
    check(
        Language::Python,
        "from __future__ import annotations\nimport os\nfrom a import (\n    b,\n)\n\n@wrap\nclass Reader(Base):\n    def load(\n        self,\n    ):\n        def inner():\n            return 1\n\n        return inner\n\n    async def close(self):\n        self.x = 1\n",
        &[
            "use 1-1",
            "use 2-2",
            "use 3-5",
            "Reader 8-8..18",
            " load 9-11..15",
            "  inner 12-12..13",
            " close 17-17..18",
        ],
    );
}

#[test]
fn javascript() {
    check(
        Language::JavaScript,
        "import a from 'a'\n\nexport class Reader {\n  load(path) {\n    return path\n  }\n}\n\nexport async function run() {\n  var x = 1\n}\n\nconst walk = (node) => {\n  return node\n}\n",
        &["use 1-1", "Reader 3-3..7", " load 4-4..6", "run 9-9..11", "walk 13-13..15"],
    );
}

#[test]
fn typescript() {
    check(
        Language::TypeScript,
        "import type { A } from './a'\n\nexport interface B {\n  name: string\n}\n\nexport enum C {\n  One,\n}\n\nfunction run(\n  a: A,\n): void {\n  a.run()\n}\n",
        &["use 1-1", "B 3-3..5", "C 7-7..9", "run 11-13..15"],
    );
}

#[test]
fn go() {
    check(
        Language::Go,
        "package main\n\nimport (\n\t\"fmt\"\n)\n\ntype Reader struct {\n\tpath string\n}\n\nfunc (r *Reader) Load(path string) error {\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n",
        &["use 1-1", "use 3-5", "Reader 7-7..9", "Load 11-11..16"],
    );
}

#[test]
fn java() {
    check(
        Language::Java,
        "package a.b;\n\nimport java.util.List;\n\npublic class Reader<T> {\n  private int size;\n\n  @Override\n  public List<? super T> load(\n      String path) throws Failure {\n    return null;\n  }\n}\n",
        &["use 1-1", "use 3-3", "Reader 5-5..13", " load 9-10..12"],
    );
}

#[test]
fn c() {
    check(
        Language::C,
        "#include <stdio.h>\n\nstruct reader {\n    int size;\n};\n\nstatic int load(struct reader *reader,\n                int size)\n{\n#ifdef X\n    return 1;\n#endif\n    return size;\n}\n\nint main(void) {\n    return load(0, 1);\n}\n",
        &["use 1-1", "reader 3-3..5", "load 7-9..14", "main 16-16..18"],
    );
}

#[test]
fn ruby() {
    check(
        Language::Ruby,
        "require 'set'\n\nmodule A\n  class Reader < Base\n    def load(path)\n      puts path\n    end\n  end\nend\n",
        &["use 1-1", "A 3-3..9", " Reader 4-4..8", "  load 5-5..7"],
    );
}

#[test]
fn bash() {
    check(
        Language::Bash,
        "#!/bin/bash\nset -e\n\nfunction load() {\n  echo \"$1\"\n}\n\nwalk() {\n  load x\n}\n",
        &["load 4-4..6", "walk 8-8..10"],
    );
}

/// The heuristic outline, on mistakes that it made in real files and on definitions that it must find.
fn check_lines(text: &str, expected: &[&str]) {
    assert_eq!(show(text, &heuristic_outline(&split_lines(text), &|| false)), expected, "{text}");
}

#[test]
fn calls_and_tail_expressions_define_nothing() {
    for text in [
        "    if a {\n        Ok(name)\n    } else {\n        Err(name)\n    }\n",
        "    run(\n        marker: Tree::default(),\n        overwrite(\n            a,\n        ),\n    );\n",
        "    if let Some(a) =\n        Pointer::read(a, b)\n    {\n        a\n    }\n",
        "        expect(a).toBe('b')\n    {\n    }\n",
        "    len(a.b()) > 0 {\n    }\n",
        "F: Fn(Item) -> bool,\n{\n",
        "    run_with_period(100) {\n        a();\n    }\n",
        "    TAILQ_FOREACH(a, &b, entry) {\n        a();\n    }\n",
        "    listen(new Listener() {\n    });\n",
        "    listen(a, new Listener()) {\n    }\n",
        "    listen(function (a) {\n    }) {\n    }\n",
        "    load<\n      A,\n    >(this);\n",
        "    a <\n      b && c > (d) {\n",
        "    listen({\n        a: function () {\n            b();\n        },\n    }) {\n    }\n",
        "    Run: func(a *Command) {\n        a()\n    },\n",
        "    func(a int) error {\n    }\n",
        "  success: function (a) {\n  },\n",
        "  var a = function () { return 1 };\n",
        "  const a = (\n    b || c\n  ).d\n",
        "let function = function.name();\n",
        "impl = Integer\n",
        "fn && fn();\n",
        "static const struct feature a = {\n    1,\n};\n",
        "struct later;\nclass Later;\n",
        "    enum COLOR color : 4;\n    struct POINT p{};\n",
        "#define CHECK(a) { \\\n    void run(int a) { \\\n    } \\\n}\n",
    ] {
        check_lines(text, &[]);
    }
}

#[test]
fn strings_and_comments_define_and_import_nothing() {
    for text in [
        "const a = `\nimport b\nfunc c() {\n}\n`\n",
        "    let a = r#\"\nfn b() {\n}\nuse c;\n\"#;\n",
        "    a(\"\nfn b() {\n}\n\");\n    b(\"\\\n        use c;\n    \");\n",
        "/*\nuse it\nfn b() {\n}\n*/\n",
        "a = \"\"\"\nimport b\n\"\"\"\n",
        "        # includes a name\n        use(a);\n",
        "macro_rules! a {\n    () => {\n        use b;\n        fn $c() {}\n    };\n}\n",
    ] {
        let expected: &[&str] = if text.starts_with("macro") { &["a 1-1..6"] } else { &[] };
        check_lines(text, expected);
    }
    // What only looks like the start of a string or comment hides nothing.
    for text in [
        "let a = r#\"\"\"#;\nlet b = '\"';\nlet c: &'a str = \"\\\"\";\n",
        "a = /[\"'/\\]`]/;\nb = \"/*\";\nc = d/*;\n",
        "    switch (a) {\n    case 1:\n    }\n",
        "#it's a `tick\n#don't (\n#see, `this\n",
        "-- a `tick of Lua\n-- (\nlocal a\n",
    ] {
        check_lines(&format!("{text}fn run() {{\n}}\n"), &["run 4-4..5"]);
    }
}

#[test]
fn an_unclosed_import_does_not_include_the_next() {
    check_lines("import {\nimport b\nfrom c import (\n    d,\n)\n}\n", &["use 1-1", "use 2-2", "use 3-5"]);
    check_lines("import {\n  use as b,\n} from 'c'\n", &["use 1-3"]);
}

#[test]
fn definitions_of_many_forms() {
    for (text, expected) in [
        ("  @Test public <T> List<T> load(T a) {\n  }\n", &["load 1-1..2"][..]),
        ("interface A {\n  String load(int a) throws B;\n}\n", &["A 1-1..3", " load 2-2..2"]),
        ("  public synchronized byte[] or(Other.Type a) {\n  }\n", &["or 1-1..2"]),
        ("    #[inline] fn day(&self) -> u32 { 1 }\n", &["day 1-1..1"]),
        ("#[cfg(test)] use a;\nuse ::b;\n#  include <c>\n", &["use 1-1", "use 2-2", "use 3-3"]),
        ("impl<'a> A for &'a [u8] {\n}\n", &["&'a [u8]  1-1..2"]),
        ("fn a<T>(b: T)\nwhere\n    T: B,\n{\n    c\n}\n", &["a 1-4..6"]),
        ("static struct a *load(int b)\n{\n}\n", &["load 1-2..3"]),
        ("static const char *load(int b) {\n}\n", &["load 1-1..2"]),
        ("PUBLIC(int) load(int b) {\n}\n", &["load 1-1..2"]),
        ("typedef struct {\n    int a;\n} b;\n", &[" 1-1..3"]),
        ("type A int\ntype B struct{}\n", &["A 1-1..1", "B 2-2..2"]),
        ("  #load<T>(a: () => T): T {\n  }\n", &["load 1-1..2"]),
        (
            "  [load]() {\n  }\n  get() {\n  }\n  delete(a) {\n  }\n",
            &["load 1-1..2", "get 3-3..4", "delete 5-5..6"],
        ),
        ("  #load<\n    T,\n  >(a: T) {\n  }\n", &["load 1-3..4"]),
        (
            "  load<\n    T extends Map<\n      string\n    >\n  >(\n    a: T,\n  ): T {\n    return a\n  }\n",
            &["load 1-7..9"],
        ),
        ("class A<\n  T,\n> extends B<T> {\n  load() {\n  }\n}\n", &["A 1-3..6", " load 4-4..5"]),
        ("fn load<\n    T,\n>(a: T) {\n    a\n}\n", &["load 1-3..5"]),
        ("fn load() -> A<\n    impl B<C, D = ()>,\n> {\n    a\n}\n", &["load 1-3..5"]),
        ("void load(\n    const std::vector<\n        A>& b) {\n  b();\n}\n", &["load 1-3..5"]),
        ("  load({\n    a,\n  }: {\n    a: string;\n  }): void {\n  }\n", &["load 1-5..6"]),
        ("  load(a = new Set(), b: new () => T): new () => T {\n  }\n", &["load 1-1..2"]),
        ("  load(functionName: string, end = \")\") {\n  }\n", &["load 1-1..2"]),
        ("A *\na_new (int b)\n{\n}\n", &["a_new 2-3..4"]),
        ("A::A(int b) : c_(new C(b)) {\n}\n", &["A 1-1..2"]),
        ("class [[nodiscard]] A final : public B {\n};\n", &["A 1-1..2"]),
        ("struct alignas(64) A {\n};\n", &["A 1-1..2"]),
        ("struct __attribute__((packed)) {\n  int a;\n} b;\n", &[" 1-1..3"]),
        ("class EXPORT A final : public B {\n};\n", &["A 1-1..2"]),
        ("class DEPRECATED(\"b\") A {\n};\n", &["A 1-1..2"]),
        ("enum class A : int {\n  B,\n};\n", &["A 1-1..3"]),
        ("class URL extends Base {\n}\nclass URI(Base):\n    a = 1\n", &["URL 1-1..2", "URI 3-3..4"]),
        ("const a = <T>(b: T) =>\n  b\n", &["a 1-1..2"]),
        ("const a = (\n  b,\n) => {\n}\n", &["a 1-3..4"]),
        ("const a = b => {\n}\n", &["a 1-1..2"]),
        ("  unreachable(a) {\n  }\n  forEach(a) {\n  }\n", &["unreachable 1-1..2", "forEach 3-3..4"]),
    ] {
        check_lines(text, expected);
    }
}

#[test]
fn parser_and_heuristic_agree_where_the_parser_once_failed() {
    check(
        Language::C,
        "#include <a.h>\n\nstatic int\nload(int a)\n{\n    return a;\n}\n",
        &["use 1-1", "load 4-5..7"],
    );
    check(
        Language::Python,
        "import os\n\ndef load(a):\n    # why\n    return a\n\ntry:\n    import b\nexcept ImportError:\n    b = None\n",
        &["use 1-1", "use 8-8", "load 3-3..5"],
    );
    check(
        Language::Java,
        "import java.util.List;\n\npublic class A {\n  @Override // why\n  public int load() {\n    return 1;\n  }\n}\n",
        &["use 1-1", "A 3-3..8", " load 5-5..7"],
    );
    check(
        Language::TypeScript,
        "export { a } from './a'\nconst b = require('b')\n\nexport interface C {}\n\nexport type D = {\n  e: string\n}\n\nexport function load(a: string): void;\n",
        &["use 1-1", "use 2-2", "C 4-4..4", "D 6-6..8", "load 10-10..10"],
    );
}

#[test]
fn any_lines_give_a_valid_outline() {
    let pieces = [
        "fn ",
        "struct",
        "impl",
        "type ",
        "const ",
        "pub(",
        "@",
        "@a",
        "#",
        "#[",
        "#define ",
        "a",
        "é",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        "\"",
        "'",
        "`",
        "\"\"\"",
        "r#\"",
        "/*",
        "*/",
        "//",
        "/",
        "\\",
        "\n",
        "\n",
        "\n    ",
        "\n\t",
        " ",
        "=",
        "=>",
        ",",
        ";",
        ":",
        "::",
        "where",
        "interface ",
        "macro_rules! a {",
        "import ",
        "from ",
        "\u{a0}",
        "\r",
    ];
    let mut seed = 1u64;
    for _ in 0..4_000 {
        let mut text = String::new();
        for _ in 0..40 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
        }
        let lines = split_lines(&text);
        let outline = heuristic_outline(&lines, &|| false);
        for definition in &outline.definitions {
            let signature = definition.signature;
            assert!(lines[signature.first].get(definition.name.clone()).is_some(), "{text:?}");
            assert!(definition.lead <= signature.first && signature.first <= signature.last, "{text:?}");
            assert!(signature.last <= definition.last && definition.last < lines.len(), "{text:?}");
        }
        assert!(
            outline.imports.iter().all(|span| span.first <= span.last && span.last < lines.len()),
            "{text:?}"
        );
    }
}

#[test]
fn the_budget_is_respected() {
    let text = "fn run() {\n    let x = 1;\n}\n".repeat(2_000);
    let lines = split_lines(&text);
    let parse = |budget| parse_outline(Language::Rust, &text, &lines, budget, &|| false);
    assert_eq!(parse(ParseBudget { bytes: 10, steps: usize::MAX }), None);
    assert_eq!(parse(ParseBudget { bytes: usize::MAX, steps: 3 }), None);
    assert_eq!(
        parse(ParseBudget::for_bytes(text.len())).map(|outline| outline.definitions.len()),
        Some(2_000)
    );
    // The wrong grammar is abandoned, and the outline is heuristic.
    assert_eq!(
        parse_outline(Language::Python, &text, &lines, ParseBudget::for_bytes(text.len()), &|| false),
        None
    );
    let small = ParseBudget { bytes: usize::MAX, steps: 3 };
    assert_eq!(outline(&text, &lines, small, &|| false), heuristic_outline(&lines, &|| false));
    assert_eq!(
        parse_outline(Language::Rust, &text, &lines, ParseBudget::for_bytes(text.len()), &|| true),
        None
    );
}
