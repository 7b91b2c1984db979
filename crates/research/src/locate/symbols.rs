//! Where the symbols are declared that a short question names: definitions before uses, code before tests before texts, the
//! exact spelling before others.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use tamis_code_index::{Declared, Indexer, SymbolHit, WordCounter, WordQuery, survey};
use tamis_codebase::{RootedPath, Roots, StopSignal, Stopped};
use tamis_syntax::{DeclarationKind, Notation, each_declaration, heuristic_outline, line_indent};
use tamis_text::split_lines;

use super::corpus::Corpus;
use super::{FileClass, Passage, is_test};
use crate::code_lines::CodeLines;
use crate::definitions::Outlined;
use crate::question::{Act, Question, Symbol, is_common};

/// A declaration of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SymbolPlace {
    pub(crate) place: RootedPath,
    pub(crate) passage: Passage,
    pub(crate) certainty: Certainty,
    /// Whether it belongs to the owner that the question names, if it names one.
    pub(crate) is_of_owner: bool,
}

/// How surely a place is what a question names, surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Certainty {
    /// Declared in the spelling of the question.
    Exact,
    /// The same, inside of a function: a constant or a type.
    Inner,
    /// In quotes in the spelling of the question, where code reads or declares it: an environment variable, a flag.
    Quoted,
    /// Declared with the same letters: `parse_config` for `parseConfig`.
    SameLetters,
    /// In the spelling of the question, but announced, quoted, or a key: a prototype, a route, a setting.
    Named,
    /// Declared with other forms of the words: `parse_configs`.
    Related,
    /// An attribute that is only set, a key in code, or an environment variable in a comment.
    Set,
    /// Also what has the letters of a name in capitals: `app_port` is not the environment variable `APP_PORT`.
    RelatedName,
    /// A local variable.
    Local,
}

impl SymbolPlace {
    /// Whether a declaration may be what is asked, where a question does not spell its subject as code.
    pub(super) fn answers(&self, act: Act) -> bool {
        let is_spelled =
            !matches!(self.certainty, Certainty::SameLetters | Certainty::Related | Certainty::RelatedName);
        match act {
            Act::Choose | Act::Raise => false,
            Act::Write | Act::Read => is_spelled,
            Act::Work => is_spelled || self.passage.last > self.passage.first,
        }
    }
}

/// The distance from which on a declaration belongs to something else than the owner.
const ELSEWHERE: usize = 3;
/// Lines that parameters take at most.
const FAR_PARAMETER: usize = 40;
/// Files that are read for a symbol, of those that declare it alike.
const MAX_FILES: usize = 60;

/// The places that declare the symbol that the question is about, best first: the first of its symbols that has any.
pub(super) fn find(
    question: &Question,
    counter: &WordCounter,
    corpus: &Corpus,
    indexer: Option<&Indexer>,
    roots: &Roots,
    stop: &StopSignal,
) -> Result<Vec<SymbolPlace>, Stopped> {
    let is_there = |symbol: &Symbol| {
        let mut texts = question.terms.iter().map(|term| term.word.as_str());
        let text = symbol.text.to_lowercase();
        let column = texts.position(|word| word == text).or_else(|| {
            let name = question.names.iter().position(|name| name.text == symbol.text)?;
            Some(counter.name_column(name))
        });
        column.is_none_or(|column| corpus.files.iter().any(|file| file.count(column) > 0))
    };
    for (number, symbol) in question.symbols.iter().enumerate().filter(|(_, symbol)| symbol.is_whole) {
        let owner = symbol
            .owner
            .as_ref()
            .and_then(|owner| question.names.iter().position(|name| name.text == *owner));
        let owner = owner.map(|name| counter.name_column(name));
        let places = declarations(number, symbol, owner, counter, corpus, roots, stop)?;
        if !places.is_empty() {
            return Ok(places);
        }
    }
    // Without the others, which are in no file, one word is all that the question names.
    // A word that every question may have says nothing without them.
    let is_telling = |symbol: &&Symbol| {
        symbol.is_code || symbol.text.starts_with(char::is_uppercase) || !is_common(&symbol.text)
    };
    // "where is NO_COLOR read": the act is not what is read.
    let is_act = |symbol: &&Symbol| {
        question.act.is_some() && !symbol.is_code && Act::is_word(&symbol.text.to_lowercase())
    };
    let parts = || question.symbols.iter().filter(|symbol| !symbol.is_whole);
    let says_act = parts().any(|symbol| is_act(&symbol));
    let mut present = parts().filter(|symbol| !is_act(symbol) && is_there(symbol)).filter(is_telling);
    let (Some(symbol), None) = (present.next(), present.next()) else { return Ok(Vec::new()) };
    let counter = WordCounter::new(WordQuery { symbols: vec![symbol.text.clone()], ..WordQuery::default() });
    let corpus = Corpus::new(survey(indexer, roots, &counter, stop)?);
    let mut places = declarations(0, symbol, None, &counter, &corpus, roots, stop)?;
    if says_act {
        // A key or an environment variable is read where it is quoted; a definition does not read itself.
        // A test only prepares it.
        let is_asked = |path: &str| question.wants_tests || !is_test(path);
        let is_quoted = |certainty| matches!(certainty, Certainty::Quoted | Certainty::Named);
        places.retain(|place| is_quoted(place.certainty) && is_asked(&place.place.path));
    }
    Ok(places)
}

/// The declarations of a symbol. Files that only mention it in other spellings are read where nothing better is found.
fn declarations(
    number: usize,
    symbol: &Symbol,
    owner: Option<usize>,
    counter: &WordCounter,
    corpus: &Corpus,
    roots: &Roots,
    stop: &StopSignal,
) -> Result<Vec<SymbolPlace>, Stopped> {
    let by_place = |a: usize, b: usize| corpus.files[a].place.cmp(&corpus.files[b].place);
    // Of many files that declare it, those that mention its owner.
    let has_owner = |file: usize| owner.is_some_and(|column| corpus.files[file].count(column) > 0);
    let order = |file: usize| (Reverse(has_owner(file)), corpus.classes[file]);
    let mut found: Vec<Candidate> = Vec::new();
    let mut read: BTreeSet<usize> = BTreeSet::new();
    for way in [Declared::is_defined, Declared::is_declared, Declared::is_folded] {
        let declaring = (0..corpus.files.len()).filter(|file| way(corpus.files[*file].declares, number));
        let mut files: Vec<usize> = declaring.filter(|file| !read.contains(file)).collect();
        files.sort_by(|&a, &b| order(a).cmp(&order(b)).then_with(|| by_place(a, b)));
        files.truncate(MAX_FILES);
        read.extend(&files);
        found.extend(corpus.look_into(&files, roots, stop, |file, text| {
            let (place, class) = (&corpus.files[file].place, corpus.classes[file]);
            DeclaredIn { number, symbol, place, class }.best(text, counter)
        })?);
        let is_sure = |found: &Candidate| {
            found.owner == 0
                && found.certainty == Certainty::Exact
                && !found.is_dollar_missing
                && found.class == FileClass::Source
        };
        if found.iter().any(is_sure) {
            break;
        }
    }
    found.sort();
    Ok(found.into_iter().map(|candidate| candidate.place()).collect())
}

/// A declaration, in the order in which declarations are presented.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// How far its owner is from the one that the question names.
    owner: usize,
    certainty: Certainty,
    /// Whether only one of it and the question has a dollar sign: `$Schema` is not `Schema`.
    is_dollar_missing: bool,
    class: FileClass,
    kind: DeclarationKind,
    is_function: bool,
    /// Whether its file has another name.
    is_elsewhere: bool,
    path: RootedPath,
    /// What overrides a method is further inside than the method.
    indent: usize,
    line: usize,
    name: String,
    last: usize,
    /// The line itself.
    text: String,
}

impl Candidate {
    fn place(self) -> SymbolPlace {
        let Candidate { line: first, last, text, name, .. } = self;
        let passage = Passage { first, last, line: text, name: Some(name), defines: true };
        let is_of_owner = self.owner < ELSEWHERE;
        SymbolPlace { place: self.path, passage, certainty: self.certainty, is_of_owner }
    }
}

/// A symbol and a file that declares it.
struct DeclaredIn<'a> {
    number: usize,
    symbol: &'a Symbol,
    place: &'a RootedPath,
    class: FileClass,
}

impl DeclaredIn<'_> {
    /// The best declaration of the file.
    fn best(&self, bytes: &[u8], counter: &WordCounter) -> Option<Candidate> {
        let text = String::from_utf8_lossy(bytes);
        let lines = split_lines(&text);
        let mut hits: Vec<(usize, usize, String, DeclarationKind)> = Vec::new();
        let (mut line, mut counted) = (0, 0);
        counter.each_symbol(bytes, &self.place.path, |hit: SymbolHit<'_>| {
            line += memchr::memchr_iter(b'\n', &bytes[counted..hit.line_start]).count();
            counted = hit.line_start;
            if hit.symbol == self.number {
                hits.push((line, hit.column, hit.name.to_owned(), hit.kind));
            }
        });
        if hits.is_empty() {
            return None;
        }
        let outline = heuristic_outline(&lines, &|| false);
        let outlined = Outlined { lines: &lines, outline: &outline };
        let code = CodeLines::of(&lines, &self.place.path);
        let candidates = hits.into_iter().filter_map(|(line, column, name, kind)| {
            // A text may have a table of SQL or a flag; else it only looks like code.
            if !matches!(kind, DeclarationKind::Literal | DeclarationKind::Key)
                && !code.is_code(&lines, line, column)
            {
                return None;
            }
            let certainty = self.certainty(outlined, &code, (line, column), &name, kind)?;
            let (before, after) = lines[line].split_at_checked(column)?;
            let has_dollar =
                before.ends_with('$') || after.get(name.len()..).is_some_and(|rest| rest.starts_with('$'));
            let is_dollar_missing = has_dollar != self.symbol.has_dollar;
            let owner = self.owner_distance(outlined, (line, column), &name, &text);
            let at = outlined.at_line(line, &name);
            let is_function = at.map_or(kind == DeclarationKind::Definition, |at| !outlined.is_type(at));
            let last = at.map_or(line, |at| outlined.definition(at).last);
            let last = last.min(line + Passage::MAX_LINES - 1) + 1;
            let (class, path) = (self.class, self.place.clone());
            let file = path.path.rsplit('/').next().unwrap_or("");
            let is_elsewhere = letters(file.split('.').next().unwrap_or("")) != letters(&name);
            let text = Passage::shown(lines[line]);
            let indent = line_indent(lines[line]);
            let line = line + 1;
            Some(Candidate {
                owner,
                certainty,
                is_dollar_missing,
                class,
                kind,
                is_function,
                is_elsewhere,
                path,
                indent,
                line,
                name,
                last,
                text,
            })
        });
        candidates.min()
    }

    /// None when the place only looks like a declaration.
    fn certainty(
        &self,
        outlined: Outlined<'_>,
        code: &CodeLines,
        (line, column): (usize, usize),
        name: &str,
        kind: DeclarationKind,
    ) -> Option<Certainty> {
        let is_exact = name == self.symbol.text;
        let before = outlined.lines[line].get(..column).unwrap_or("");
        let is_flag = kind == DeclarationKind::Literal && before.ends_with("--");
        let notation = Notation::of_path(&self.place.path);
        let around = outlined.enclosing(line, name);
        let is_type = around.is_some_and(|at| outlined.is_type(at));
        let in_function = around.is_some() && !is_type;
        let lines = outlined.lines;
        let above = lines[..line]
            .iter()
            .rev()
            .find(|above| !above.trim().is_empty())
            .map_or("", |above| above.trim());
        // `: size_(size), name_(name) {}` sets what is declared elsewhere.
        let initialises =
            notation == Notation::CLike && (above.ends_with(',') || lines[line].trim().starts_with(':'));
        let is_top = line_indent(outlined.lines[line]) == 0;
        let content = lines[line].trim();
        let begins_with = |words: &[&str]| {
            let bare = content.strip_prefix("pub ").unwrap_or(content);
            words.iter().any(|word| bare.strip_prefix(word).is_some_and(|rest| rest.starts_with(' ')))
        };
        // A line in round brackets has parameters; in Go also `var (`.
        let has_parameters =
            matches!(notation, Notation::Python | Notation::Rust | Notation::Script | Notation::CLike);
        let is_parameter = has_parameters
            && !begins_with(&["static", "const"])
            && code.bracket(line).is_some_and(|(open, at)| open == b'(' && line - at < FAR_PARAMETER);
        if is_parameter && !matches!(kind, DeclarationKind::Definition | DeclarationKind::Literal) {
            return None;
        }
        // `const {` goes on over lines.
        let opening = code.bracket(line).map_or("", |(_, at)| lines[at].trim());
        let is_taken_apart = notation == Notation::Script
            && begins_variable(opening)
            && opening.ends_with(['{', '['])
            && !opening.contains('=');
        const INNER: u8 = 10;
        const QUOTED: u8 = 11;
        let strength: u8 = match kind {
            DeclarationKind::Definition if initialises => return None,
            DeclarationKind::Definition => 0,
            // A macro is not local.
            DeclarationKind::Value if lines[line].trim().starts_with('#') => 0,
            // Items of a function are like those outside of it.
            DeclarationKind::Value if in_function && is_item(notation, &begins_with) => INNER,
            DeclarationKind::Value if in_function => 3,
            DeclarationKind::Value if is_type || is_top || notation == Notation::Go => 0,
            // The outline does not know every form of a type: `class [[nodiscard]] Name<Derived<T>> {`.
            DeclarationKind::Value if notation == Notation::CLike && is_in_record(lines, line, code) => 0,
            DeclarationKind::Value => 1,
            DeclarationKind::Variant
                if is_in_enum(lines, line, code) || (notation == Notation::Go && !in_function) =>
            {
                0
            }
            // Its type is on the line above.
            DeclarationKind::Variant
                if is_type && lines[line].trim().ends_with(';') && ends_with_type(above) =>
            {
                0
            }
            DeclarationKind::Variant | DeclarationKind::Assignment
                if !is_taken_apart && is_further(notation, lines, line, code) =>
            {
                if in_function {
                    3
                } else {
                    0
                }
            }
            DeclarationKind::Variant | DeclarationKind::Key if is_taken_apart => {
                if is_top {
                    2
                } else {
                    3
                }
            }
            DeclarationKind::Variant => return None,
            DeclarationKind::Local => 3,
            DeclarationKind::Prototype if in_function => return None,
            // `mod name;` points at a file.
            DeclarationKind::Prototype if notation == Notation::Rust => 2,
            // A method of an interface has no body anywhere; elsewhere, the definition with the body comes first.
            DeclarationKind::Prototype if is_type => 0,
            DeclarationKind::Literal if self.class <= FileClass::Auxiliary => {
                // A table of SQL may be in a text of several lines.
                let opening = before.rfind(['"', '\'', '`']);
                match opening.map_or_else(|| before.ends_with('.'), |at| code.is_code(lines, line, at)) {
                    true if is_flag && self.symbol.is_flag => QUOTED,
                    true if mentions_environment(lines[line]) => QUOTED,
                    // A comment or a docstring mentions it.
                    false if opening.is_some() => 2,
                    _ => 1,
                }
            }
            DeclarationKind::Prototype | DeclarationKind::Literal => 1,
            DeclarationKind::Key if notation == Notation::Data || is_type || !in_function => 1,
            DeclarationKind::Key => 2,
            DeclarationKind::Assignment if is_type => 0,
            // `const { name } = require(…)` takes what another file declares.
            DeclarationKind::Assignment if is_top && notation == Notation::Script => 2,
            DeclarationKind::Assignment if is_top => 1,
            DeclarationKind::Assignment
                if outlined.lines[line].contains("self.") || outlined.lines[line].contains("this.") =>
            {
                2
            }
            DeclarationKind::Assignment => 3,
        };
        // A name that equals the flag's is not the flag.
        let strength = match strength {
            0 | INNER | QUOTED if self.symbol.is_flag && !is_flag => 1,
            strength => strength,
        };
        let is_upper_case = self.symbol.text.contains('_') && !self.symbol.text.contains(char::is_lowercase);
        Some(match (is_exact, strength) {
            (true, 0) => Certainty::Exact,
            (true, INNER) => Certainty::Inner,
            (true, QUOTED) => Certainty::Quoted,
            (true, 1) => Certainty::Named,
            (true, 2) => Certainty::Set,
            (false, 0) if letters(name) == letters(&self.symbol.text) => match is_upper_case {
                true => Certainty::RelatedName,
                false => Certainty::SameLetters,
            },
            (false, 0) => Certainty::Related,
            (false, 1 | INNER | QUOTED) => Certainty::RelatedName,
            (true, _) if self.symbol.is_code => Certainty::Local,
            _ => return None,
        })
    }

    /// 0 when the declaration belongs to the owner that the question names, or when it names none.
    fn owner_distance(
        &self,
        outlined: Outlined<'_>,
        (line, column): (usize, usize),
        name: &str,
        text: &str,
    ) -> usize {
        let Some(owner) = &self.symbol.owner else { return 0 };
        let own = outlined.at_line(line, name);
        let parent = match own {
            Some(at) => outlined.parent(at),
            None => outlined.enclosing(line, name).map(|at| outlined.name(at)),
        };
        // `Status Owner::name(`, `Owner.prototype.name =`
        let before = outlined.lines[line].get(..column).unwrap_or("");
        let written = before.trim_end_matches(['.', ':']).trim_end_matches(".prototype");
        let word = written.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("");
        let is_qualified = before.ends_with(['.', ':']) && word == owner;
        let file = self.place.path.rsplit('/').next().unwrap_or("");
        let module = file.split('.').next().unwrap_or("");
        if parent == Some(owner.as_str()) || is_qualified {
            0
        } else if parent.is_some_and(|parent| parent.eq_ignore_ascii_case(owner)) || module == owner {
            1
        } else if self.place.path.split('/').any(|folder| folder == owner) {
            2
        } else if text.contains(owner.as_str()) {
            ELSEWHERE
        } else {
            ELSEWHERE + 1
        }
    }
}

/// Whether a line in a function declares a constant or a type, and not a variable.
fn is_item(notation: Notation, begins_with: &dyn Fn(&[&str]) -> bool) -> bool {
    match notation {
        Notation::Rust => begins_with(&["static", "const", "type"]),
        Notation::Script => begins_with(&["type"]),
        Notation::CLike => begins_with(&["using", "typedef"]),
        _ => false,
    }
}

/// A name in small letters, without separators.
fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a line of code reads or sets an environment variable.
fn mentions_environment(line: &str) -> bool {
    #[rustfmt::skip]
    const SIGNS: [&str; 12] = [
        "environ", "getenv", "Getenv", "LookupEnv", "env::var", "env!(", "process.env", "import.meta.env", "ENV[", "ENV.fetch", "envvar",
        "env(",
    ];
    SIGNS.iter().any(|sign| line.contains(sign))
}

/// Whether a line begins a list of variables.
fn begins_variable(line: &str) -> bool {
    let line = line.strip_prefix("export ").unwrap_or(line);
    ["var ", "let ", "const "].iter().any(|word| line.starts_with(word))
}

/// Whether a line goes on with the declarations of one above: `var a = 1,`, then `b = 2`; `unsigned a:1,`, then `b:1;`.
fn is_further(notation: Notation, lines: &[&str], line: usize, code: &CodeLines) -> bool {
    /// Longer lists of variables are rare, and each line of one is looked at from there.
    const FAR: usize = 100;
    let is_c = notation == Notation::CLike;
    if !is_c && notation != Notation::Script {
        return false;
    }
    let goes_on = |text: &str| {
        let comment = if is_c { ["/*", "//"].iter().filter_map(|sign| text.find(sign)).min() } else { None };
        text[..comment.unwrap_or(text.len())].trim_end().ends_with(',')
    };
    let is_comment =
        |text: &str| text == "*" || ["//", "/*", "* ", "*/", "#"].iter().any(|sign| text.starts_with(sign));
    let is_skipped = |text: &str| text.is_empty() || (is_c && is_comment(text));
    let above = (0..line).rev().take(FAR).filter(|at| !is_skipped(lines[*at].trim()));
    let above = above.take_while(|at| goes_on(lines[*at].trim()));
    let Some(first) = above.last().filter(|first| code.bracket(*first) == code.bracket(line)) else {
        return false;
    };
    match notation {
        Notation::Script => begins_variable(lines[first].trim()),
        Notation::CLike => {
            // The types that a class is made of are a list as well.
            let (mut has_value, mut has_definition) = (false, false);
            each_declaration(lines[first], &[], notation, &mut |_, kind| {
                has_value |= kind == DeclarationKind::Value;
                has_definition |= kind == DeclarationKind::Definition;
            });
            has_value && !has_definition
        }
        _ => false,
    }
}

/// Whether a line is in the braces of an enum.
fn is_in_enum(lines: &[&str], line: usize, code: &CodeLines) -> bool {
    const FAR: usize = 1000;
    let has = |line: &str| line.split(|c: char| !c.is_alphanumeric()).any(|word| word == "enum");
    let width = line_indent(lines[line]);
    let outer = |above: &&&str| {
        let trimmed = above.trim();
        !trimmed.is_empty() && !trimmed.starts_with(['#', '{', '/', '*']) && line_indent(above) < width
    };
    let is_opened_by = |(open, at): (u8, usize)| {
        open == b'{' && (has(lines[at]) || (lines[at].trim() == "{" && at > 0 && has(lines[at - 1])))
    };
    has(lines[line])
        || code.bracket(line).is_some_and(is_opened_by)
        || lines[..line].iter().rev().take(FAR).find(outer).is_some_and(|opening| has(opening))
}

/// Whether a line is directly in the braces of a class, a struct, a union or a namespace.
fn is_in_record(lines: &[&str], line: usize, code: &CodeLines) -> bool {
    let Some((b'{', at)) = code.bracket(line) else { return false };
    // Not the type of a parameter or of a value.
    let head = lines[at].split(['(', '=']).next().unwrap_or_default();
    let mut words = head.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.any(|word| matches!(word, "class" | "struct" | "union" | "namespace"))
}

fn ends_with_type(line: &str) -> bool {
    line.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '>' | '*' | '&'))
        && !line.starts_with(['#', '/', '*'])
}
