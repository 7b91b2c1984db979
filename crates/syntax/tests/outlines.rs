//! What each grammar, and reading by lines, make of a small file.

use tamis_syntax::{Budget, Language, Outline, outline, outline_by_lines, outline_by_tree};
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
    let budget = Budget::for_bytes(100_000);
    let parsed = outline_by_tree(language, text, &lines, budget, &|| false).expect("a tree");
    assert_eq!(show(text, &parsed), expected, "parsed {language:?}");
    assert_eq!(show(text, &outline_by_lines(&lines, &|| false)), expected, "by lines {language:?}");
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

#[test]
fn the_budget_is_counted() {
    let text = "fn run() {\n    let x = 1;\n}\n".repeat(2_000);
    let lines = split_lines(&text);
    let parse = |budget| outline_by_tree(Language::Rust, &text, &lines, budget, &|| false);
    assert_eq!(parse(Budget { bytes: 10, steps: usize::MAX }), None);
    assert_eq!(parse(Budget { bytes: usize::MAX, steps: 3 }), None);
    assert_eq!(parse(Budget::for_bytes(text.len())).map(|outline| outline.definitions.len()), Some(2_000));
    // The wrong grammar is given up, and lines are read instead.
    assert_eq!(
        outline_by_tree(Language::Python, &text, &lines, Budget::for_bytes(text.len()), &|| false),
        None
    );
    let small = Budget { bytes: usize::MAX, steps: 3 };
    assert_eq!(outline(&text, &lines, small, &|| false), outline_by_lines(&lines, &|| false));
    assert_eq!(outline_by_tree(Language::Rust, &text, &lines, Budget::for_bytes(text.len()), &|| true), None);
}
