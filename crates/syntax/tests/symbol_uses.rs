//! The symbols that a function's body uses, in each language.

use tamis_syntax::{LineSpan, ParseBudget, SymbolUse, SymbolUses, symbol_uses};
use tamis_text::split_lines;

/// `name@line` from 1, with what precedes its dot.
fn show(list: &[SymbolUse]) -> String {
    let one = |one: &SymbolUse| {
        let of = one.of.as_deref().map_or(String::new(), |of| format!("{of}."));
        format!("{of}{}@{}", one.name, one.line + 1)
    };
    list.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn read(text: &str, first: usize, last: usize) -> SymbolUses {
    let lines = split_lines(text);
    let span = LineSpan { first: first - 1, last: last - 1 };
    symbol_uses(text, &lines, span, ParseBudget::for_bytes(text.len()), &|| false)
}

#[track_caller]
fn check(text: &str, span: (usize, usize), calls: &str, writes: &str, raises: &str) {
    let uses = read(text, span.0, span.1);
    assert_eq!(
        (show(&uses.calls).as_str(), show(&uses.writes).as_str(), show(&uses.raises).as_str()),
        (calls, writes, raises)
    );
}

#[test]
fn python() {
    check(
        "import os\n\ndef other():\n    hidden()\n\nclass A:\n    def run(self, x):\n        # not(called)\n        self.count += 1\n        y = load(self.path(x), \"nor(this)\")\n        if not y:\n            raise errors.Missing(x)\n        raise\n",
        (7, 13),
        "load@10 self.path@10 errors.Missing@12",
        "self.count@9",
        "errors.Missing@12",
    );
}

#[test]
fn rust() {
    check(
        "use std::fmt;\n\nimpl A {\n    pub fn run(&mut self) -> Result<(), E> {\n        self.count = 1;\n        let x = Path::new(\"a\").join::<B>(c());\n        tracing::warn!(\"x\");\n        if x { return Err(E::Missing { path }); }\n        self.inner.close()\n    }\n}\n",
        (4, 10),
        "join@6 Path.new@6 c@6 tracing.warn@7 inner.close@9",
        "self.count@5",
        "E::Missing@8",
    );
}

#[test]
fn typescript() {
    check(
        "import { a } from './a'\n\nexport interface B { name: string }\n\nexport class C {\n  run(b: B): void {\n    this.count = a(b.name)\n    const d = new Map<string, number>()\n    throw new ConfigError('x')\n  }\n}\n",
        (6, 10),
        "a@7 Map@8 ConfigError@9",
        "this.count@7",
        "ConfigError@9",
    );
}

#[test]
fn go() {
    check(
        "package main\n\nimport (\n\t\"fmt\"\n)\n\nfunc (s *Server) Close() error {\n\ts.closed = true\n\tif err := s.flush(); err != nil {\n\t\treturn fmt.Errorf(\"x\")\n\t}\n\treturn ErrClosed\n}\n",
        (7, 13),
        "s.flush@9 fmt.Errorf@10",
        "s.closed@8",
        "ErrClosed@12",
    );
}

#[test]
fn java() {
    check(
        "package a.b;\n\nimport java.util.List;\n\npublic class A {\n  public int run(B b) {\n    this.count = b.size();\n    prepare(new Reader(b));\n    throw new IllegalStateException(\"x\");\n  }\n}\n",
        (6, 10),
        "b.size@7 prepare@8 Reader@8 IllegalStateException@9",
        "this.count@7",
        "IllegalStateException@9",
    );
}

#[test]
fn c() {
    check(
        "#include <stdio.h>\n\nstatic int run(struct server *s) {\n    s->count = 1;\n    return parse(s->buffer, sizeof(int));\n}\n",
        (3, 6),
        "parse@5",
        "s.count@4",
        "",
    );
}

#[test]
fn ruby() {
    check(
        "require 'set'\n\nmodule A\n  def run(x)\n    @count = x\n    y = load x\n    prepare\n    y.close\n    raise NotFound, 'x' unless y\n  end\nend\n",
        (4, 10),
        "load@6 prepare@7 y.close@8",
        "self.count@5",
        "NotFound@9",
    );
}

#[test]
fn bash() {
    check(
        "#!/usr/bin/env bash\n\nrun() {\n  local x=$(load \"$1\")\n  if [ -f x ]; then\n    build-all x\n  fi\n}\n",
        (3, 8),
        "load@4 build-all@6",
        "",
        "",
    );
}

#[test]
fn calls_are_found_without_a_grammar() {
    check(
        "fun run(x: Int) {\n  if (x > 1) {\n    this.load(parse(x))\n  }\n}\n",
        (2, 4),
        "this.load@3 parse@3",
        "",
        "",
    );
}

#[test]
fn no_code_uses_no_symbols() {
    assert_eq!(read("", 1, 1), SymbolUses::default());
    assert_eq!(read("\u{fffd}\u{0}((((", 1, 9), SymbolUses::default());
}
