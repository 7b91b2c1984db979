//! Every name that a line declares: beside functions and types also constants, fields, macros, variants, keys, routes and flags.
//!
//! The outline knows only what has a body. This is wider and less certain: whether `int size;` is a field or a local variable
//! depends on what is around the line, which the caller knows.

mod c_like;
mod data;
mod literals;
mod script;
mod words;

use std::ops::Range;

use crate::keywords::{first_word, past_attributes};
use crate::signature::defined_name;
use words::{WORDS, after_modifiers, identifier, is_identifier, list_of_names};

/// How a line declares a name, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeclarationKind {
    /// A function, a type or a module.
    Definition,
    /// A constant, a variable, an alias, a macro or a field.
    Value,
    /// A name alone: a variant if the line is in an enum.
    Variant,
    /// A function without its body: `int size(void);`.
    Prototype,
    /// A key of a configuration file or of an object.
    Key,
    /// A quoted name: a route, a flag, an environment variable.
    Literal,
    /// `name = …`, `let name`, `self.name = …`.
    Assignment,
    /// What one file or statement calls something: `import a as name`, `(name := …)`.
    Local,
}

/// How the declarations of a file are written, by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    Python,
    Rust,
    Go,
    /// JavaScript and TypeScript.
    Script,
    /// C, C++, Java and their relatives.
    CLike,
    Shell,
    Sql,
    /// Configuration.
    Data,
    /// Declares nothing.
    Prose,
    /// Another language.
    Other,
}

/// Longer lines are generated.
const MAX_LINE_LENGTH: usize = 1000;

impl Notation {
    #[rustfmt::skip]
    pub fn of_path(path: &str) -> Notation {
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some((stem, ending)) = name.rsplit_once('.') else {
            return match name {
                "Makefile" | "makefile" | "GNUmakefile" | "Dockerfile" | "Containerfile" | "Procfile" | "Pipfile" => Notation::Data,
                "Jenkinsfile" | "Rakefile" | "Gemfile" | "Vagrantfile" | "BUILD" | "WORKSPACE" => Notation::Other,
                // LICENSE, COPYING-GPL
                _ if !name.bytes().any(|byte| byte.is_ascii_lowercase()) => Notation::Prose,
                _ => Notation::Other,
            };
        };
        // Names of packages, and not of this codebase.
        if name == "package-lock.json" || name == "pnpm-lock.yaml" || name == "npm-shrinkwrap.json" {
            return Notation::Prose;
        }
        let lowered = stem.to_ascii_lowercase();
        if ["license", "licence", "copying", "readme"].iter().any(|text| lowered.starts_with(text)) && stem.starts_with(char::is_uppercase) {
            return Notation::Prose;
        }
        match ending.to_ascii_lowercase().as_str() {
            "py" | "pyi" | "pyx" | "pxd" => Notation::Python,
            "rs" => Notation::Rust,
            "go" => Notation::Go,
            "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte" => Notation::Script,
            "c" | "h" | "cc" | "hh" | "cpp" | "hpp" | "cxx" | "hxx" | "ipp" | "inl" | "inc" | "m" | "mm" | "java" | "cs" | "kt"
            | "kts" | "scala" | "swift" | "dart" | "groovy" | "cu" | "cuh" | "glsl" | "y" | "l" => Notation::CLike,
            "sh" | "bash" | "zsh" | "fish" => Notation::Shell,
            "sql" => Notation::Sql,
            "toml" | "yaml" | "yml" | "json" | "jsonc" | "json5" | "ini" | "cfg" | "conf" | "config" | "properties" | "env"
            | "mk" | "dockerfile" | "editorconfig" | "gitattributes" | "xml" | "plist" | "desktop" | "service" => Notation::Data,
            "md" | "mdx" | "rst" | "txt" | "adoc" | "org" | "tex" | "html" | "htm" | "ipynb" | "svg" | "po" | "pot" | "csv"
            | "tsv" | "log" | "lock" | "sum" | "diff" | "patch" | "snap" | "css" | "scss" | "less" | "map" | "markdown" | "jsonl"
            | "stderr" | "stdout" | "out" | "golden" | "expected" => Notation::Prose,
            _ => Notation::Other,
        }
    }

    /// Whether `#` begins a comment.
    fn has_hash_comments(self) -> bool {
        matches!(self, Notation::Python | Notation::Shell | Notation::Data)
    }
}

/// Calls `visit` with each name that `line` declares, as a byte range of the line. `next` are the lines that follow. A name may be
/// visited twice.
pub fn each_declaration(
    line: &str,
    next: &[&str],
    notation: Notation,
    visit: &mut dyn FnMut(Range<usize>, DeclarationKind),
) {
    let start = line.trim_ascii_start();
    if notation == Notation::Prose || start.is_empty() || line.len() > MAX_LINE_LENGTH {
        return;
    }
    let indent = line.len() - start.len();
    let text = start.trim_ascii_end();
    let comments: &[&str] = if notation.has_hash_comments() {
        &["#"]
    } else if notation == Notation::Sql {
        &["--"]
    } else {
        &["//", "/*", "* ", "*/"]
    };
    // `* name () {` is a generator, or in a comment: the caller knows.
    let is_generator = notation == Notation::Script && text.starts_with('*') && text.ends_with('{');
    if comments.iter().any(|comment| text.starts_with(comment)) && !is_generator || text == "*" {
        return;
    }
    let mut found = |name: Range<usize>, kind: DeclarationKind| {
        if !name.is_empty() {
            visit(name.start + indent..name.end + indent, kind);
        }
    };
    if notation == Notation::Data {
        data::keys(text, &mut found);
        return;
    }
    // `impl Name` adds to what is defined elsewhere.
    let defined = defined_name(line, next).filter(|_| !text.starts_with("impl"));
    // Functions have no types here that could come before the name, so `name(…)` alone is a call.
    let is_call = |name: &Range<usize>| name.start == indent && text.ends_with(')');
    // `struct Name;` is all of a struct only in Rust.
    let is_forward = || {
        let text = text.split("//").next().unwrap_or(text).trim_ascii_end();
        let is_type = text.starts_with("struct ") || text.starts_with("enum ");
        is_type && text.ends_with(';') && !text.contains(['{', '('])
    };
    let defined = defined.filter(|name| match notation {
        Notation::Script => !is_call(name),
        Notation::CLike => !is_forward(),
        _ => true,
    });
    if let Some(name) = &defined {
        found(name.start - indent..name.end - indent, DeclarationKind::Definition);
    }
    let table_kind = |kind| if notation == Notation::Sql { kind } else { DeclarationKind::Literal };
    literals::each_table(text, &mut |name, kind| found(name, table_kind(kind)));
    literals::each_literal(text, &mut found);
    if text.starts_with('"') || text.starts_with('\'') {
        if matches!(notation, Notation::Python | Notation::Script | Notation::Other) {
            data::keys(text, &mut found);
        }
        // `'name': function name() {`
        if notation == Notation::Script {
            script::named_expressions(text, &mut found);
        }
        return;
    }
    imported_as(text, &mut found);
    match notation {
        Notation::Python => python(text, &mut found),
        Notation::Rust => rust(text, &mut found),
        Notation::Go => go(text, &mut found),
        Notation::Script => script::declarations(text, next, &mut found),
        Notation::CLike => c_like::declarations(text, next, &mut found),
        Notation::Shell => shell(text, &mut found),
        Notation::Sql | Notation::Data | Notation::Prose => {}
        Notation::Other => other(text, &mut found),
    }
}

type Found<'a> = dyn FnMut(Range<usize>, DeclarationKind) + 'a;

/// `import a as name`, `use a as name`, `export { a as name }`.
fn imported_as(text: &str, found: &mut Found<'_>) {
    let (word, rest) = first_word(text);
    if !matches!(word, "import" | "from" | "use" | "pub" | "extern" | "export") || !rest.starts_with(' ') {
        return;
    }
    for (at, sign) in text.match_indices(" as ") {
        identifier(text, at + sign.len()).into_iter().for_each(|name| found(name, DeclarationKind::Local));
    }
}

/// `name = …`, `name: Type = …`, `a, b = …`, `(a, *b) = …`, `self.name = …`, `(name := …)`.
fn python(text: &str, found: &mut Found<'_>) {
    for (at, _) in text.match_indices(" := ") {
        let start =
            text[..at].rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |before| before + 1);
        identifier(text, start).into_iter().for_each(|name| found(name, DeclarationKind::Local));
    }
    if text.starts_with(['(', '['])
        && let Some(sign) = text.find(" = ")
    {
        let targets = text[..sign].trim_end_matches([')', ']']);
        list_of_names(targets, 1, &mut |name| found(name, DeclarationKind::Value));
        return;
    }
    if text.starts_with("self.")
        && let Some((targets, _)) = text.split_once(" = ").filter(|(targets, _)| targets.contains(", "))
    {
        for (at, owner) in targets.match_indices("self.") {
            let name = identifier(targets, at + owner.len());
            name.into_iter().for_each(|name| found(name, DeclarationKind::Assignment));
        }
        return;
    }
    let mut at = 0;
    // `a = b = …`
    for _ in 0..4 {
        let Some(name) = identifier(text, at) else { return };
        let is_word = WORDS.contains(&&text[name.clone()]);
        let (owner, name) = match text[name.end..].strip_prefix('.') {
            Some(_) => match identifier(text, name.end + 1) {
                Some(member) if matches!(&text[name.clone()], "self" | "cls") => (true, member),
                _ => return,
            },
            None => (false, name),
        };
        let kind = if owner { DeclarationKind::Assignment } else { DeclarationKind::Value };
        let rest = text[name.end..].trim_ascii_start();
        let spaced = text[name.end..].starts_with(' ');
        if let Some(value) = rest.strip_prefix('=') {
            // A keyword argument has no spaces around its sign.
            if value.starts_with('=') || (!spaced && text.ends_with([',', ')'])) {
                return;
            }
            found(name, kind);
            at = text.len() - value.trim_ascii_start().len();
            continue;
        }
        if let Some(annotation) = rest.strip_prefix(':') {
            // A parameter on a line of its own ends with a comma.
            if annotation.starts_with(' ') && !text.ends_with(',') && !text.ends_with(':') && !is_word {
                found(name, kind);
            }
            return;
        }
        if rest.starts_with(',')
            && !is_word
            && let Some(sign) = text.find(" = ")
        {
            list_of_names(&text[..sign], at, &mut |name| found(name, kind));
        }
        return;
    }
}

fn rust(text: &str, found: &mut Found<'_>) {
    let (begin, text_after) = if text.starts_with("#[") {
        let rest = past_attributes(text);
        (text.len() - rest.len(), rest)
    } else {
        (0, text)
    };
    rust_item(text_after, &mut |name, kind| found(name.start + begin..name.end + begin, kind));
}

fn rust_item(text: &str, found: &mut Found<'_>) {
    let at = after_modifiers(text);
    let (word, rest) = first_word(&text[at..]);
    // What is declared inside of braces on the same line.
    let opens = |open: &usize| !text[..*open].contains(['(', '=', '"']) && !text[*open..].contains("=>");
    if let Some(open) = text.find('{').filter(opens)
        && (matches!(word, "enum" | "struct" | "union") || word.starts_with(|c: char| c.is_ascii_uppercase()))
    {
        let inside = &text[..text[open..].rfind('}').map_or(text.len(), |close| open + close)];
        list_of_names(inside, open + 1, &mut |name| {
            let is_field = text[name.end..].starts_with(':') && !text[name.end..].starts_with("::");
            match word {
                "enum" => found(name, DeclarationKind::Variant),
                _ if is_field => found(name, DeclarationKind::Value),
                _ => {}
            }
        });
    }
    let after =
        |from: usize| identifier(text, from + text[from..].len() - text[from..].trim_ascii_start().len());
    let begin = at + word.len();
    match word {
        "const" | "static" | "type" | "mod" | "let" if rest.starts_with(' ') => {
            let mut name = after(begin);
            if word == "let" && rest.starts_with(" (") {
                let end = text.find(" = ").unwrap_or(text.len());
                let names = text[..end].trim_end_matches(')');
                return list_of_names(names, begin + 2, &mut |name| found(name, DeclarationKind::Assignment));
            }
            while let Some(known) = name.clone().filter(|name| matches!(&text[name.clone()], "mut" | "ref")) {
                name = after(known.end);
            }
            let Some(name) =
                name.filter(|name| !matches!(&text[name.clone()], "fn" | "unsafe" | "async" | "extern"))
            else {
                return;
            };
            let kind = match word {
                "let" => DeclarationKind::Assignment,
                "mod" => DeclarationKind::Prototype,
                _ => DeclarationKind::Value,
            };
            found(name, kind);
        }
        "" => {}
        _ => {
            let name = at..begin;
            let rest = rest.trim_ascii_start();
            if rest.starts_with(':') && !rest.starts_with("::") {
                found(name, DeclarationKind::Value);
            } else if word.starts_with(|c: char| c.is_ascii_uppercase())
                && (rest.is_empty() || rest.starts_with([',', '(', '{', '=']) && !rest.starts_with("=>"))
            {
                list_of_names(text, at, &mut |name| found(name, DeclarationKind::Variant));
            }
        }
    }
}

/// Keywords of Go that begin a line.
#[rustfmt::skip]
const GO_WORDS: [&str; 18] = [
    "break", "case", "continue", "default", "defer", "else", "fallthrough", "for", "func", "go", "goto", "if", "import", "package",
    "range", "return", "select", "switch",
];

fn go(text: &str, found: &mut Found<'_>) {
    let (word, rest) = first_word(text);
    let mut at = 0;
    let mut kind = DeclarationKind::Value;
    let declares = matches!(word, "var" | "const" | "type") && rest.starts_with(' ');
    if declares {
        at = word.len() + 1;
    } else if GO_WORDS.contains(&word) || word.is_empty() {
        return;
    }
    let mut names: Vec<Range<usize>> = Vec::new();
    loop {
        let Some(name) = identifier(text, at) else { return };
        at = name.end;
        names.push(name);
        match text[at..].strip_prefix(", ") {
            Some(_) => at += 2,
            None => break,
        }
    }
    let rest = text[at..].split("//").next().unwrap_or("").trim_ascii();
    let begins_type = rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '*' | '[' | '_'))
        || ["func(", "<-", "..."].iter().any(|sign| rest.starts_with(sign));
    if rest.starts_with(":=") {
        kind = DeclarationKind::Assignment;
    } else if rest.is_empty() {
        // One of a list with `iota`, or an embedded type.
        kind = DeclarationKind::Variant;
    } else if rest.starts_with('(') && text[at..].starts_with('(') && !rest.ends_with('{') && names.len() == 1
    {
        // A method of an interface, or a call.
        kind = DeclarationKind::Prototype;
        if rest.ends_with(',') || rest.contains('"') {
            return;
        }
    } else if rest.starts_with('=') && !rest.starts_with("==") {
        // In a block of constants, or an assignment.
    } else if !(declares || begins_type && text[at..].starts_with([' ', '\t']) && !rest.ends_with(',')) {
        return;
    }
    names.into_iter().for_each(|name| found(name, kind));
}

fn shell(text: &str, found: &mut Found<'_>) {
    let mut at = 0;
    loop {
        let (word, rest) = first_word(&text[at..]);
        let is_modifier =
            matches!(word, "export" | "readonly" | "local" | "declare" | "typeset" | "alias" | "set");
        if is_modifier && rest.starts_with(' ') {
            at = text.len() - rest.trim_ascii_start().len();
            continue;
        }
        if rest.starts_with('=') && !word.is_empty() {
            found(at..at + word.len(), DeclarationKind::Value);
        }
        return;
    }
}

/// Languages without rules of their own: a keyword before the name, or a sign after it.
fn other(text: &str, found: &mut Found<'_>) {
    #[rustfmt::skip]
    const KEYWORDS: [&str; 31] = [
        "alias", "attr_accessor", "attr_reader", "attr_writer", "const", "constexpr", "def", "defmacro", "defp", "defstruct", "fn",
        "fun", "func", "function", "let", "local", "message", "my", "newtype", "our", "proc", "procedure", "resource", "rpc",
        "service", "static", "sub", "type", "typealias", "val", "var",
    ];
    let mut at = after_modifiers(text);
    loop {
        let (word, rest) = first_word(&text[at..]);
        if KEYWORDS.contains(&word) && rest.starts_with([' ', '!']) {
            at = text.len() - rest.trim_start_matches([' ', '!', ':', '$', '@']).len();
            // `def self.name`, `function M.name(`
            let Some(mut name) = identifier(text, at) else { return };
            if KEYWORDS.contains(&&text[name.clone()]) {
                continue;
            }
            while text[name.end..].starts_with(['.', ':'])
                && let Some(member) = identifier(text, name.end + 1)
            {
                name = member;
            }
            let is_function =
                !matches!(word, "const" | "let" | "local" | "my" | "our" | "static" | "val" | "var");
            let kind = if is_function { DeclarationKind::Definition } else { DeclarationKind::Value };
            return found(name, kind);
        }
        break;
    }
    let (word, rest) = first_word(text.trim_start_matches(['$', '@']));
    let begin = text.len() - text.trim_start_matches(['$', '@']).len();
    let rest = rest.trim_ascii_start();
    let signs = ["=", ":=", "<-", "::", ":", "?="];
    if is_identifier(word)
        && !WORDS.contains(&word)
        && signs.iter().any(|sign| rest.starts_with(sign))
        && !rest.starts_with("==")
        && !rest.starts_with("=>")
    {
        found(begin..begin + word.len(), DeclarationKind::Value);
    }
}

/// The text after its annotations, and where it begins.
fn unannotated(text: &str) -> (usize, &str) {
    let rest = if text.starts_with('@') { past_attributes(text) } else { text };
    (text.len() - rest.len(), rest)
}
