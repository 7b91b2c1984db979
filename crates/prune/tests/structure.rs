//! Lines of code that stay whatever happens to the code around them: imports and definitions; and what becomes of a header.
//! `!` at the start of a line marks one that must stay.

use tamis_prune::{Cut, CutCause, EngineRequest, PruneLimits, prune};
use tamis_syntax::Language;
use tamis_text::TextKind;

/// What goes when everything that may be cut is cut, with markers of almost no size.
fn cuts(text: &str) -> Vec<Cut> {
    let limits = PruneLimits {
        threshold: f32::INFINITY,
        max_prune_ratio: 1.0,
        min_keep_lines: 0,
        keep_first_lines: 0,
    };
    let goal = "where is the socket closed";
    let request =
        EngineRequest { text, goal, kind: TextKind::Code, limits, shown: &[], marker_bytes: &|_: &Cut| 1 };
    prune(&request, &|| false).expect("nothing interrupts").cuts
}

/// Which lines stay then.
fn kept(text: &str) -> Vec<bool> {
    let mut kept = vec![true; text.split('\n').count()];
    for cut in &cuts(text) {
        kept[cut.first_line - 1..cut.last_line].fill(false);
    }
    kept
}

/// A source, and its structural lines.
struct Source {
    language: Language,
    lines: Vec<(&'static str, bool)>,
}

impl Source {
    fn new(language: Language, marked: &'static str) -> Source {
        let line = |line: &'static str| match line.strip_prefix('!') {
            Some(line) => (line, true),
            None => (line, false),
        };
        Source { language, lines: marked.lines().map(line).collect() }
    }
}

#[rustfmt::skip]
fn sources() -> Vec<Source> {
    vec![
        Source::new(Language::Python, "!import os\n!from typing import (\n!    Any,\n!)\n\nLIMIT = 3\n\n!class Reader(Base):\n    size = 3\n    name = 'reader'\n\n!    def load(self, path):\n        value = open(path)\n        self.value = value\n        return value\n\n!    async def close(self):\n        await self.value.close()\n        self.value = None\n\n!class Writer:\n    size = 4\n\n!    def save(self):\n        raise ValueError(self.size)\n\n!def run(reader):\n    total = reader.load('a')\n    for item in total:\n        print(item)\n    return total\n\n!class Last(Writer):\n    def_size = 5\n    rest = 6\n"),
        Source::new(Language::Rust, "!use std::fmt;\n!use std::{\n!    io,\n!};\n\n!mod reader;\n!pub mod writer;\n!pub(crate) mod tests;\n\nconst LIMIT: usize = 3;\n\n!pub struct Reader {\n    path: String,\n    size: usize,\n}\n\n!impl Reader {\n!    pub fn load(&self) -> io::Result<()> {\n        let mut size = self.size;\n        size += 1;\n        Ok(())\n    }\n\n!    fn close(&mut self) {\n        self.size = 0;\n    }\n}\n\n!macro_rules! getter {\n    ($name:ident) => {\n!        pub fn $name(&self) -> usize {\n            self.size + 1\n        }\n\n!        pub fn plain(&self) -> usize {\n            self.size + 2\n        }\n    };\n}\n\nfeature! {\n!    pub fn in_macro(a: usize) -> usize {\n        let b = a + 1;\n        b * 2\n    }\n\n!    struct InMacro {\n        field: usize,\n    }\n}\n\n!enum Kind {\n    One,\n    Two,\n}\n\n!fn run() {\n    let x = Reader::new();\n    x.load();\n}\n"),
        Source::new(Language::Go, "!package main\n\n!import (\n!\t\"fmt\"\n!\t\"os\"\n!)\n\nvar limit = 3\n\n!type Reader struct {\n\tpath string\n\tsize int\n}\n\n!func (r *Reader) Load(path string) error {\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n\n!type Closer interface {\n\tClose() error\n}\n\n!func run() {\n\tdefer fmt.Println(\"a\")\n\tos.Exit(1)\n}\n"),
        Source::new(Language::Java, "!package a.b;\n\n!import java.util.List;\n!import static java.util.Map.of;\n\n!public class Reader {\n    private int size;\n    private String name;\n\n!    public int load(String path) {\n        this.size = 3;\n        return size;\n    }\n\n!    private void close() throws Failure {\n        size = 0;\n    }\n}\n\n!interface Closer {\n    int LIMIT = 3;\n}\n\n!enum Kind {\n    ONE,\n    TWO\n}\n"),
        Source::new(Language::C, "!#include <stdio.h>\n!#include \"reader.h\"\n\n#define LIMIT 3\n\n!struct reader {\n    int size;\n    char *name;\n};\n\n!static int load(struct reader *reader, int size) {\n    reader->size = size;\n    return size;\n}\n\n!int main(void) {\n    struct reader reader;\n    load(&reader, 1);\n    return 0;\n}\n"),
        Source::new(Language::JavaScript, "!import a from 'a'\n!const b = require('b')\n\nvar limit = 3\n\n!export class Reader {\n!  load(path) {\n    this.path = path\n    return path\n  }\n}\n\n!export async function run() {\n  var x = 1\n  return x\n}\n\n!const walk = (node) => {\n  const y = node\n  return y\n}\n\n!export default class {\n  size = 3\n}\n"),
        Source::new(Language::TypeScript, "!import type { A } from './a'\n!import { B } from './b'\n\nconst limit: number = 3\n\n!export interface Reader {\n  name: string\n  size: number\n}\n\n!export enum Kind {\n  One,\n  Two,\n}\n\n!export class Writer {\n  private size: number = 3\n\n!  save(path: string): void {\n    this.size = 4\n  }\n}\n\n!export function run(a: A): void {\n  a.run()\n  a.stop()\n}\n"),
        Source::new(Language::Ruby, "!require 'set'\n!require_relative 'reader'\n\nLIMIT = 3\n\n!module Shop\n!  class Reader < Base\n    attr_reader :size\n\n!    def load(path)\n      puts path\n      @size = 3\n    end\n\n!    class << self\n!      def open\n        new\n      end\n    end\n\n!    def self.close\n      @size = 0\n    end\n  end\nend\n"),
        Source::new(Language::Bash, "#!/bin/bash\nset -e\n!source ./lib.sh\n!. ./other.sh\n\nlimit=3\n\n!function load() {\n  local path=\"$1\"\n  echo \"$path\"\n}\n\n!walk() {\n  load x\n  echo done\n}\n\nif [ -f x ]; then\n  walk\nfi\n"),
    ]
}

type Lines = Vec<(String, bool)>;

fn line(text: &str) -> (String, bool) {
    (text.to_owned(), false)
}

/// Each way to break a source: lines that are inserted, removed or changed. A structural line that is left as it was must stay.
#[rustfmt::skip]
fn breakages(lines: &Lines) -> Vec<(&'static str, Lines)> {
    let middle = lines.len() / 2;
    let blank = lines.iter().position(|(text, _)| text.is_empty()).unwrap_or_default();
    let inserted = |at: usize, new: &[&str]| {
        let mut lines = lines.clone();
        lines.splice(at..at, new.iter().map(|text| line(text)));
        lines
    };
    let bodies = |change: &dyn Fn(usize, &str) -> String| -> Lines {
        let change = |(number, (text, structural)): (usize, &(String, bool))| match structural {
            true => (text.clone(), true),
            false => (change(number, text), false),
        };
        lines.iter().enumerate().map(change).collect()
    };
    let is_closing = |text: &str| ["}", "end", "fi", "};", "};"].contains(&text.trim());
    vec![
        ("as it is", lines.clone()),
        ("an open bracket at the start", inserted(0, &["call("])),
        ("an open bracket in the middle", inserted(middle, &["    value = call(first,"])),
        ("an open brace in the middle", inserted(middle, &["    if (value) {"])),
        ("an open square bracket", inserted(blank, &["table = ["])),
        ("too many closing brackets", inserted(middle, &[")))", "]]", "}}}"])),
        ("an open string", inserted(middle, &["    name = \"never closed"])),
        ("an open string at the start", inserted(0, &["name = 'never closed"])),
        ("an open docstring", inserted(blank, &["\"\"\"never closed"])),
        ("an open docstring in the middle", inserted(middle, &["    '''never closed"])),
        ("an open template", inserted(blank, &["name = `never closed"])),
        ("an open comment", inserted(blank, &["/* never closed"])),
        ("an open raw string", inserted(blank, &["name = r#\"never closed"])),
        ("an open heredoc", inserted(blank, &["cat <<EOF", "never closed"])),
        ("a conflict", inserted(middle, &["<<<<<<< HEAD", "    value = 1", "=======", "    value = 2", ">>>>>>> other"])),
        ("a diff's header", inserted(0, &["--- a/file", "+++ b/file", "@@ -1,3 +1,4 @@"])),
        ("words of no language", inserted(middle, &["@@@ ??? $$ ::= <- ->", "here are some words, it's no code"])),
        ("no closing lines", lines.iter().filter(|(text, _)| !is_closing(text)).cloned().collect()),
        ("no end", lines[..lines.len() * 2 / 3].to_vec()),
        ("no beginning", lines[lines.len() / 3..].to_vec()),
        ("bodies that are no code", bodies(&|number, text| if number % 2 == 0 { format!("{text} ((( '") } else { text.to_owned() })),
        ("bodies of rubbish", bodies(&|_, text| text.chars().rev().collect())),
        ("bodies without indentation", bodies(&|_, text| text.trim_start().to_owned())),
        ("lines cut short", bodies(&|_, text| text.chars().take(text.chars().count() / 2).collect())),
        ("carriage returns", lines.iter().map(|(text, structural)| (format!("{text}\r"), *structural)).collect()),
    ]
}

/// The structural lines that go, each with the language and what was broken. Sound code follows the broken code until the
/// text has `bytes`.
fn lost(source: &Source, bytes: usize) -> Vec<String> {
    let own: Lines =
        source.lines.iter().map(|(text, structural)| ((*text).to_owned(), *structural)).collect();
    let size: usize = own.iter().map(|(text, _)| text.len() + 1).sum();
    let mut lost = Vec::new();
    for (broken, mut lines) in breakages(&own) {
        for _ in 0..bytes / size {
            lines.extend(own.iter().cloned());
        }
        let text: Vec<&str> = lines.iter().map(|(text, _)| text.as_str()).collect();
        let kept = kept(&text.join("\n"));
        for (number, ((text, structural), kept)) in lines.iter().zip(kept).enumerate() {
            if *structural && !kept {
                lost.push(format!("{:?}, {broken}: line {}: {text}", source.language, number + 1));
            }
        }
    }
    lost
}

#[test]
fn structural_lines_stay_in_broken_code_of_every_language() {
    let lost: Vec<String> = sources().iter().flat_map(|source| lost(source, 0)).collect();
    assert!(lost.is_empty(), "{} lines went:\n{}", lost.len(), lost.join("\n"));
}

/// Larger texts are not parsed.
#[test]
fn structural_lines_stay_in_large_broken_code_of_every_language() {
    let lost: Vec<String> = sources().iter().flat_map(|source| lost(source, 17_000)).collect();
    assert!(lost.is_empty(), "{} lines went:\n{}", lost.len(), lost[..lost.len().min(60)].join("\n"));
}

/// Definitions of languages without a grammar, and the forms that a grammar's outline does not name.
#[test]
#[rustfmt::skip]
fn definitions_of_other_languages_stay() {
    let sources = [
        ("Ruby", "!require \"json\"\n\n!class Shape\n!  def ==(o)\n    canvas = blend(o, 3)\n    true\n  end\n\n!  def <=>(o)\n    canvas = blend(o, 3)\n    0\n  end\n\n!  def [](k)\n    brush = blend(k, 3)\n  end\nend\n"),
        ("Elixir", "!defmodule Paint do\n!  import Ecto.Query\n\n!  defp blend(x) do\n    linen = x + 3\n    linen\n  end\n\n!  defmacro mix(x) do\n    linen = x + 3\n    linen\n  end\nend\n"),
        ("Kotlin", "!package paint\n\n!import a.b\n\n!fun String.blend(a: Int): String {\n    val linen = mix(a, 3)\n    return \"\"\n}\n\n!suspend fun <T> of(t: T): T {\n    val linen = mix(t, 3)\n    return t\n}\n\n!class Canvas {\n!    companion object {\n        val limit = 3\n    }\n}\n"),
        ("C#", "!using System;\n\n!public class Canvas\n{\n!    public static bool operator ==(Canvas a, Canvas b)\n    {\n        var linen = mix(a, 3);\n        return true;\n    }\n\n!    ~Canvas()\n    {\n        var linen = mix(1, 3);\n    }\n\n!    public int this[int i]\n    {\n        get { return 1; }\n    }\n}\n"),
        ("Swift", "!import Foundation\n\n!actor Canvas {\n!    static func == (a: A, b: A) -> Bool {\n        let linen = mix(a, 3)\n        return true\n    }\n!    init(name: String) {\n        self.name = name\n    }\n!    deinit {\n        let linen = mix(a, 3)\n    }\n}\n"),
        ("PHP", "!namespace Paint;\n\n!final class Canvas extends Base\n{\n!    private static function &blend(array $x): array\n    {\n        $linen = mix($x, 3);\n        return $linen;\n    }\n}\n\n!function &mix($a)\n{\n    $linen = $a + 3;\n    return $linen;\n}\n"),
        ("Lua", "local M = {}\n\n!function M.blend(a)\n  local linen = mix(a, 3)\n  return a\nend\n\n!function M:self(a)\n  local linen = mix(a, 3)\n  return a\nend\n\nreturn M\n"),
        ("Perl", "!package Paint;\n!use strict;\n\n!sub blend {\n  my $linen = mix($_[0], 3);\n  return 1;\n}\n\n!sub mix {\n  return 3;\n}\n\n1;\n"),
        ("Haskell", "!module Paint where\n\n!import Data.List\n\n!class Shape a where\n  blend x = x\n  mix x = x\n\n!instance Shape Int where\n  blend _ = 3\n  mix _ = 4\n\n!data Canvas = Canvas Int\n"),
        ("SQL", "!CREATE TABLE users (\n  id int,\n  name text\n);\n\n!CREATE OR REPLACE FUNCTION blend(a int) RETURNS int AS $$\n  SELECT a + 3;\n  SELECT a + 4;\n$$ LANGUAGE sql;\n\n!create view v as\n  select id from users;\n"),
        ("Visual Basic", "!Imports System\n\n!Public Class Canvas\n!  Public Sub Blend(x As Integer)\n    Dim linen = Mix(x, 3)\n  End Sub\n\n!  Public Function Mix(x As Integer) As Integer\n    Return x\n  End Function\nEnd Class\n"),
        ("Scala", "!package paint\n\n!import a.b\n\n!case class Canvas(\n  linen: Int,\n  plaster: Int\n)\n\n!object Canvas {\n!  def blend: Int = {\n    val linen = mix(3)\n    1\n  }\n}\n"),
        ("Objective-C", "!#import <Foundation/Foundation.h>\n\n!@implementation Canvas\n\n!- (void)blend {\n    int linen = 3;\n    [self mix:linen];\n}\n\n!+ (int)mix:(int)linen {\n    return linen;\n}\n\n@end\n"),
        ("OCaml", "!open Printf\n\n!let blend x y =\n  let linen = x + 3 in\n  linen\n\n!let rec mix x =\n  mix (x + 3)\n"),
        ("Erlang", "!-module(paint).\n!-export([blend/1]).\n\n!blend(X) ->\n    Linen = X + 3,\n    Linen.\n"),
        ("Clojure", "!(ns paint.core)\n\n!(defn blend [x]\n  (let [linen (mix x 3)]\n    linen))\n\n!(defn mix [x]\n  (inc x))\n"),
        ("R", "!library(dplyr)\n\n!blend <- function(x) {\n  linen <- mix(x, 3)\n  x\n}\n\n!mix <- function(x, y) {\n  x + y\n}\n"),
        ("Zig", "!const std = @import(\"std\");\n\n!const Canvas = struct {\n    linen: u32,\n\n!    pub fn blend(self: Canvas) u32 {\n        const linen = mix(3);\n        return linen;\n    }\n};\n"),
    ];
    let mut lost = Vec::new();
    for (language, marked) in sources {
        // Only small texts are parsed.
        for repeats in [1, 100] {
            let lines: Vec<&str> = marked.lines().collect::<Vec<_>>().repeat(repeats);
            let text: Vec<&str> = lines.iter().map(|line| line.strip_prefix('!').unwrap_or(line)).collect();
            let kept = kept(&text.join("\n"));
            let wanted = lines.iter().zip(kept).filter(|(line, kept)| line.starts_with('!') && !kept);
            lost.extend(wanted.map(|(line, _)| format!("{language}, {repeats}: {line}")));
            lost.dedup();
        }
    }
    lost.sort();
    lost.dedup();
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

/// The header of a file, in each way that languages write one, long and short: its first lines stay, and a cut of the others
/// says that they are the header.
#[test]
fn a_header_begins_the_text_and_a_cut_of_its_rest_says_so() {
    let body = format!("import os\n{}", "value = step(value)\n".repeat(60));
    for count in [1, 5, 42, 400] {
        let words = |before: &str, after: &str| -> String {
            (0..count)
                .map(|number| format!("{before}Permission is granted, clause {number}.{after}\n"))
                .collect()
        };
        let with_blanks = format!("{}\n{}", words("  ", ""), words("  ", ""));
        for (name, header) in [
            ("hash", words("# ", "")),
            ("slashes", words("// ", "")),
            ("dashes", words("-- ", "")),
            ("module comment", words("//! ", "")),
            ("block", format!("/*\n{} */\n", words(" * ", ""))),
            ("block without stars", format!("/* Copyright\n{with_blanks}*/\n")),
            ("blocks in lines", words("/* ", " */")),
            ("markup", format!("<!--\n{with_blanks}-->\n")),
            ("docstring", format!("\"\"\"Copyright\n{with_blanks}\"\"\"\n")),
            ("docstring in single quotes", format!("'''\n{with_blanks}'''\n")),
            ("after a shebang", format!("#!/bin/sh\n\n{}", words("# ", ""))),
            ("after an encoding", format!("# -*- coding: utf-8 -*-\n#\n{}", words("# ", ""))),
            ("after a byte order mark", format!("\u{feff}{}", words("# ", ""))),
            ("after an opening tag", format!("<?php\n{}", words("// ", ""))),
            ("then a docstring", format!("{}\n\"\"\"One.\n{with_blanks}\"\"\"\n", words("# ", ""))),
        ] {
            let lines = header.split('\n').count() - 1;
            let cuts = cuts(&format!("{header}{body}"));
            let (of_header, others): (Vec<&Cut>, Vec<&Cut>) =
                cuts.iter().partition(|cut| cut.first_line <= lines);
            for cut in &of_header {
                assert!(cut.last_line <= lines, "{name}, {count}: {cut:?}");
                assert_eq!(cut.reason.cause, CutCause::Header, "{name}, {count}: {cut:?}");
                assert!(cut.first_line > 1, "{name}, {count}: {cut:?}");
            }
            assert!(count < 42 || !of_header.is_empty(), "{name}, {count}: it is long, so some of it goes");
            assert!(
                others.iter().all(|cut| cut.reason.cause != CutCause::Header),
                "{name}, {count}: {others:?}"
            );
            assert!(!others.is_empty(), "{name}, {count}: the code goes");
        }
    }
}

/// What begins a file and is no header is not called so.
#[test]
fn what_is_no_header_is_not_called_one() {
    let comments = |sign: &str| format!("{sign} words of a comment\n").repeat(50);
    for (name, text) in [
        ("code first", format!("value = 1\n{}", comments("#"))),
        ("a comment that is never closed", format!("/* open\n{}", "value = 1\n".repeat(50))),
        ("directives", format!("#define A 1\n{}", "#define B 2\n".repeat(50))),
        ("a second comment", format!("# one\n\n{}value = 1\n", comments("#"))),
    ] {
        let cuts = cuts(&text);
        assert!(!cuts.is_empty(), "{name}");
        assert!(cuts.iter().all(|cut| cut.reason.cause != CutCause::Header), "{name}: {cuts:?}");
    }
}
