//! Lines that begin a definition in a language without a grammar here, in forms that the heuristic outline does not name.
//!
//! Judged by their words alone, so they serve only to keep such lines. Each form is one that no statement of the languages with a
//! grammar has.

use crate::keywords::first_word;
use crate::line::line_indent;

/// Keywords before a name: Elixir, Nim, Tcl, Pascal, Fortran, Solidity, Protocol Buffers, Dart.
#[rustfmt::skip]
const DEFINERS: &[&str] = &[
    "defp", "defmacro", "defmacrop", "defguard", "defguardp", "defprotocol", "defimpl", "defdelegate", "defexception", "defrecord",
    "sub", "proc", "procedure", "subroutine", "contract", "mixin", "actor", "message", "service", "rpc",
];

/// Words of Lisps behind an opening bracket.
#[rustfmt::skip]
const LISP: &[&str] = &[
    "def", "defn", "defn-", "defmacro", "defun", "defvar", "defparameter", "defconst", "defmulti", "defmethod", "defprotocol", "defrecord",
    "deftype", "defclass", "defstruct", "defonce", "deftest", "defgeneric", "define", "define-syntax", "define-record-type", "ns",
    "in-package", "use-modules",
];

/// Attributes of Erlang.
#[rustfmt::skip]
const ERLANG: &[&str] = &[
    "module", "export", "export_type", "import", "include", "include_lib", "record", "define", "spec", "type", "opaque", "callback",
    "behaviour", "behavior",
];

/// What SQL creates.
#[rustfmt::skip]
const CREATED: &[&str] = &[
    "function", "procedure", "table", "view", "trigger", "type", "schema", "sequence", "database", "domain", "aggregate", "index", "package",
    "role", "policy", "extension", "operator", "event",
];
/// Words between `CREATE` and what is created.
#[rustfmt::skip]
const BEFORE_CREATED: &[&str] = &[
    "or", "replace", "alter", "temp", "temporary", "global", "local", "unlogged", "unique", "clustered", "materialized", "recursive",
    "external", "virtual", "constraint", "editionable", "definer", "force", "fulltext", "spatial", "foreign", "if", "not", "exists",
];

/// Modifiers of Visual Basic, and what they precede.
#[rustfmt::skip]
const BASIC_MODIFIERS: &[&str] = &[
    "Public", "Private", "Friend", "Protected", "Shared", "Overrides", "Overridable", "MustOverride", "NotOverridable", "Partial", "Static",
    "MustInherit", "NotInheritable", "Async", "Iterator", "ReadOnly", "WriteOnly", "Shadows", "Overloads", "Default",
];
#[rustfmt::skip]
const BASIC: &[&str] = &["Sub", "Function", "Property", "Class", "Module", "Structure", "Enum", "Interface", "Namespace", "Operator", "Event"];

/// What a constant of Zig or a name of OCaml holds that makes it a type or a module.
#[rustfmt::skip]
const ZIG_TYPES: &[&str] = &["struct", "enum", "union", "opaque", "error", "packed struct", "extern struct", "extern union", "packed union"];

/// Modifiers of C#, Swift, Kotlin and Scala.
#[rustfmt::skip]
const MODIFIERS: &[&str] = &[
    "public", "private", "protected", "internal", "static", "final", "open", "override", "abstract", "sealed", "virtual", "extern", "unsafe",
    "suspend", "inline", "infix", "operator", "tailrec", "external", "convenience", "required", "mutating", "nonmutating", "class", "implicit",
    "explicit", "lazy", "fileprivate", "distributed", "new", "partial", "readonly", "async", "case", "data", "value", "expect", "actual", "local",
];

/// Whether the line begins a definition, or an import, in a form of these languages.
pub(crate) fn begins_in_other_language(line: &str) -> bool {
    let trimmed = line.trim_ascii();
    let is_at_margin = line_indent(line) == 0;
    match trimmed.as_bytes().first() {
        Some(b'(') => is_lisp(trimmed),
        Some(b'-' | b'+') => is_at_margin && (is_erlang_attribute(trimmed) || is_objective_c_method(trimmed)),
        Some(b'@') => is_objective_c_directive(trimmed),
        Some(b'#') => trimmed.starts_with("#import <") || trimmed.starts_with("#import \""),
        Some(b'~') => is_destructor(trimmed),
        Some(byte) if byte.is_ascii_alphabetic() || *byte == b'_' => {
            is_after_modifiers(trimmed)
                || is_created_in_sql(trimmed)
                || is_basic(trimmed)
                || is_at_margin && is_functional(trimmed)
                || is_assigned(trimmed, is_at_margin)
        }
        _ => false,
    }
}

/// `defp name(x) do`, `sub name {`, `fun String.name()`, `companion object {`, `static func == (`, `function M.name(`,
/// `function &name(`, `bool operator ==(`, `int this[int i]`, `deinit {`, `init(`
fn is_after_modifiers(trimmed: &str) -> bool {
    let mut rest = trimmed;
    let mut before = "";
    loop {
        let (word, after) = first_word(rest);
        let next = after.trim_ascii_start();
        let spaced = after.starts_with([' ', '\t']);
        match word {
            "companion" => return next.starts_with("object") && next.ends_with('{'),
            "deinit" => return next.is_empty() || next == "{",
            "init" | "subscript" | "constructor" => {
                let end = next.trim_start_matches(['?', '!']);
                return has_body(next) && (end.starts_with('(') || end.starts_with('<') || end == "{");
            }
            "fun" if spaced => return next.contains('(') || next.ends_with('{'),
            "func" if spaced && next.starts_with(is_operator) => return next.contains('('),
            "function" if spaced => return is_dotted_or_reference(next),
            "def" if spaced => return next.starts_with(is_operator) && !next.starts_with("= "),
            "class" | "instance" if spaced && next.ends_with(" where") => return true,
            "class" | "object" | "trait" if before == "case" && spaced => {
                return next.starts_with(char::is_uppercase);
            }
            _ if DEFINERS.contains(&word) && spaced => return is_name_of_definition(word, next),
            _ if MODIFIERS.contains(&word) && spaced => {
                before = word;
                rest = next;
            }
            _ => return !before.is_empty() && is_csharp_member(trimmed),
        }
    }
}

fn has_body(text: &str) -> bool {
    text.ends_with(['{', ',', '(', '}', ')'])
}

fn is_operator(letter: char) -> bool {
    "=<>!+-*/%&|^~[".contains(letter)
}

/// What follows a keyword and a name: a body, parameters or nothing. In a sentence, more words follow.
fn is_name_of_definition(word: &str, next: &str) -> bool {
    let (name, rest) = first_word(next);
    let rest = rest.trim_start_matches(['?', '!', '*']).trim_ascii();
    let has_words_behind = ["do ", "when ", "on ", "implements ", "extends ", "for ", ", for:", ", do:"];
    // `proc name {arguments} {`
    !name.is_empty()
        && (rest.is_empty() && word != "message" && word != "service"
            || rest == "do"
            || rest.starts_with(['(', '{', ':', ';', '<'])
            || matches!(word, "procedure" | "contract") && (rest == "is" || rest.starts_with("is "))
            || word.starts_with("def")
            || has_words_behind.iter().any(|start| rest.starts_with(start)))
}

/// `M.name(`, `M:name(`, `&name(`
fn is_dotted_or_reference(next: &str) -> bool {
    let name = next.strip_prefix('&').map_or(next, str::trim_ascii_start);
    let end = name.find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '.' | ':')));
    let Some(end) = end else { return false };
    name[end..].trim_ascii_start().starts_with('(')
        && end > 0
        && (name.len() < next.len() || name[..end].contains(['.', ':']))
}

/// `bool operator ==(Type a, Type b)`, `int this[int i]`
fn is_csharp_member(trimmed: &str) -> bool {
    let is_type =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" _<>,.?[]".contains(&byte));
    let is_operator = trimmed
        .split_once(" operator ")
        .is_some_and(|(before, after)| is_type(before) && after.contains('('));
    is_operator
        || trimmed.split_once(" this[").is_some_and(|(before, after)| is_type(before) && after.contains(']'))
}

/// `~Name()`
fn is_destructor(trimmed: &str) -> bool {
    let (name, rest) = first_word(&trimmed[1..]);
    name.starts_with(|letter: char| letter.is_ascii_uppercase())
        && rest.starts_with("()")
        && matches!(rest[2..].trim_ascii(), "" | "{" | ";")
}

/// `(defn name`, `(define (name`, `(ns name`
fn is_lisp(trimmed: &str) -> bool {
    let word = trimmed[1..].split([' ', '\t']).next().unwrap_or("");
    trimmed.len() > word.len() + 1 && LISP.contains(&word)
}

/// `-module(name).`, `-spec name(…) -> …`
fn is_erlang_attribute(trimmed: &str) -> bool {
    let (word, rest) = first_word(&trimmed[1..]);
    trimmed.starts_with('-') && ERLANG.contains(&word) && rest.starts_with(['(', ' '])
}

/// `- (void)name`, `+ (Type *)name:(int)value {`
fn is_objective_c_method(trimmed: &str) -> bool {
    let rest = trimmed[1..].trim_ascii_start();
    let Some((of_type, name)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        return false;
    };
    let end = name.trim_ascii();
    of_type.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && end.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && (end.ends_with(['{', ';']) || end.contains(":(") || first_word(end).1.is_empty())
}

fn is_objective_c_directive(trimmed: &str) -> bool {
    ["@implementation ", "@interface ", "@protocol ", "@class "].iter().any(|start| {
        trimmed
            .strip_prefix(start)
            .is_some_and(|name| name.starts_with(|letter: char| letter.is_ascii_alphabetic()))
    })
}

/// `CREATE OR REPLACE FUNCTION name`, `create table name (`
fn is_created_in_sql(trimmed: &str) -> bool {
    let mut words = trimmed.split_ascii_whitespace();
    if !words.next().is_some_and(|word| word.eq_ignore_ascii_case("create")) {
        return false;
    }
    let is_in = |list: &[&str], word: &str| list.iter().any(|known| known.eq_ignore_ascii_case(word));
    let mut words = words.skip_while(|word| is_in(BEFORE_CREATED, word));
    // A name follows, on this line or the next; in a sentence, it would be another word: "create a table".
    words.next().is_some_and(|word| is_in(CREATED, word))
}

/// `Public Sub Name(`, `Function Name() As Integer`, `Imports System.IO`
fn is_basic(trimmed: &str) -> bool {
    let mut rest = trimmed;
    loop {
        let (word, after) = first_word(rest);
        let next = after.trim_ascii_start();
        if !after.starts_with(' ') {
            return false;
        }
        if word == "Imports" && rest.len() == trimmed.len() {
            return next.starts_with(|letter: char| letter.is_ascii_uppercase()) && !next.contains(' ');
        }
        if BASIC.contains(&word) {
            let (name, behind) = first_word(next);
            // `Class Name` may begin a sentence.
            let ends = behind.is_empty() || behind.starts_with('(') || behind.starts_with(" As ");
            return !name.is_empty() && ends && (rest.len() < trimmed.len() || behind.starts_with('('));
        }
        if !BASIC_MODIFIERS.contains(&word) {
            return false;
        }
        rest = next;
    }
}

/// Haskell, OCaml, F#, Erlang, at the margin: `instance A B`, `data A = B`, `name :: Type`, `let f x =`, `module M = struct`,
/// `name(X) ->`
fn is_functional(trimmed: &str) -> bool {
    let (word, after) = first_word(trimmed);
    let next = after.trim_ascii_start();
    let is_capital = next.starts_with(|letter: char| letter.is_ascii_uppercase());
    let (name, behind) = first_word(next);
    match word {
        "instance" => {
            after.starts_with(' ') && (is_capital || next.starts_with('(') || next.starts_with("forall "))
        }
        "data" | "newtype" => {
            is_capital && (behind.is_empty() || next.contains(" =") || next.ends_with("where"))
        }
        "deriving" => next.starts_with("instance "),
        "let" | "and" => {
            let (name, behind) = match name {
                "rec" | "inline" => first_word(behind.trim_ascii_start()),
                _ => (name, behind),
            };
            // Parameters are between the name and the sign; `let a = b` is a statement.
            let Some((parameters, _)) = behind.split_once('=') else { return false };
            let is_parameter = |letter: char| letter.is_ascii_alphabetic() || "(~?_'".contains(letter);
            !matches!(name, "" | "mut" | "ref")
                && behind.starts_with(' ')
                && parameters.trim_ascii_start().starts_with(is_parameter)
        }
        "open" => {
            is_capital && next.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte))
        }
        "module" | "functor" => {
            is_capital
                && (next.contains("= struct")
                    || next.contains(": sig")
                    || next.contains("= sig")
                    || next.ends_with(" where"))
                || next.starts_with("type ") && next.ends_with("sig")
        }
        "external" | "val" => after.starts_with(' ') && behind.starts_with(" : ") && word == "external",
        _ => {
            after.starts_with(" :: ")
                || word.starts_with(|letter: char| letter.is_ascii_lowercase())
                    && after.starts_with('(')
                    && after.ends_with(" ->")
                    && after.contains(')')
        }
    }
}

/// `name <- function(x) {`, `const Name = struct {`, `library(name)`
fn is_assigned(trimmed: &str, is_at_margin: bool) -> bool {
    if let Some((name, value)) = trimmed.split_once("<-") {
        let value = value.trim_ascii_start();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'`');
        return name.trim_ascii().bytes().all(is_name)
            && (value.starts_with("function(") || value.starts_with("function ("));
    }
    if let Some((name, value)) = trimmed.split_once(" = ") {
        let is_constant = ["const ", "pub const "].iter().any(|start| name.starts_with(start));
        return is_constant
            && (value.starts_with("@import(")
                || value.ends_with('{')
                    && ZIG_TYPES.iter().any(|sort| {
                        value.strip_prefix(sort).is_some_and(|rest| rest.starts_with([' ', '(', '{']))
                    }));
    }
    is_at_margin
        && trimmed.starts_with("library(")
        && trimmed.trim_end_matches(';').ends_with(')')
        && !trimmed.contains(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[rustfmt::skip]
    fn definitions_of_other_languages_are_told_from_statements() {
        let mut wrong = Vec::new();
        for line in [
            "  def ==(o)",
            "  def <=>(o)",
            "  def [](key)",
            "  defp name(x) do",
            "  defmacro name(x) do",
            "defimpl Size, for: Map do",
            "fun String.name(a: Int): String {",
            "    companion object {",
            "suspend fun <T> name(t: T): T {",
            "fun <T> of(t: T) = t",
            "    public static bool operator ==(A a, A b)",
            "    ~Canvas()",
            "    public int this[int i]",
            "    public static implicit operator int(A a)",
            "actor Bank {",
            "    static func == (a: A, b: A) -> Bool {",
            "    deinit {",
            "    init(name: String) {",
            "    required init?(x: Int) {",
            "    private static function &name(array $x): array",
            "function &name()",
            "function M.name(a)",
            "function M:name(a)",
            "local function M.name()",
            "sub name {",
            "sub name($x) {",
            "sub name",
            "class Shape a where",
            "instance Shape Int where",
            "data Shape = Circle Float",
            "newtype A = A Int",
            "size :: Shape -> Int",
            "CREATE FUNCTION f(a int) RETURNS int AS $$",
            "create table users (",
            "CREATE OR REPLACE VIEW v AS",
            "CREATE TEMP TABLE t (",
            "CREATE UNIQUE INDEX i ON t (a);",
            "CREATE MATERIALIZED VIEW v AS",
            "  Public Sub Load(x As Integer)",
            "Function Load() As Integer",
            "Public Class Upload",
            "Imports System.IO",
            "case class Point(",
            "  case object Empty",
            "final case class A(x: Int)",
            "@implementation Reader",
            "- (void)load {",
            "+ (instancetype)readerWithName:(NSString *)name",
            "#import <Foundation/Foundation.h>",
            "let f x =",
            "let rec sum list = match list with",
            "let add (a : int) b = a + b",
            "let run () =",
            "module M = struct",
            "open Printf",
            "-module(shop).",
            "-export([start/0]).",
            "-spec start() -> ok.",
            "start(Name) ->",
            "loop(State) when State > 0 ->",
            "(defn name [x]",
            "(ns shop.core",
            "(define (square x)",
            "  (defmethod area :circle [c]",
            "load <- function(x) {",
            "load.all <- function (x, y)",
            "library(dplyr)",
            "const S = struct {",
            "pub const U = union(enum) {",
            "const std = @import(\"std\");",
            "proc name {a b} {",
            "subroutine solve(a, b)",
            "contract Token is Base {",
            "mixin Walker on Animal {",
            "message User {",
        ] {
            if !begins_in_other_language(line) {
                wrong.push(line);
            }
        }
        for line in [
            "let x = 5",
            "let a = f(b)",
            "let mut a = 1;",
            "    let f x = 1",
            "const a = struct;",
            "const b = require('b')",
            "x = function(a) {",
            "a <- b",
            "a.sub(name)",
            "sub = value",
            "init = 3",
            "actor.run()",
            "message = \"text\"",
            "- (a) + b",
            "    - (void)load",
            "-1",
            "--flag",
            "(a, b) = c",
            "(default)",
            "case Some(x) => x",
            "case a:",
            "data = load()",
            "data[0] = 1",
            "instance = Reader()",
           
            "return this[i]",
            "public int size;",
            "new Foo()[0]",
            "class Reader:",
            "fun = 3",
            "function (a) {",
            "create a table for it",
            "create(table)",
            "~mask & 3",
            "open(path)",
            "and f(x)",
            "import a.b",
            "operator = 3",
            "value = a if b else c",
            "public void run() {",
            "process(item) ?",
            "Function call failed",
            "sub a.b.c x",
            "message the user",
            "service is down",
            "",
            " ",
            "-",
            "(",
            "~",
            "@",
            "#",
            "+",
            "é = 1",
        ] {
            if begins_in_other_language(line) {
                wrong.push(line);
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
