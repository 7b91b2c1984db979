//! One search of all files for some names as whole words, and what each occurrence does with its name.
//!
//! The search does not count as reading. Of each file only the first few hits are kept, so that a common name costs no
//! memory; the others are counted.

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use tamis_codebase::{RootedPath, Roots, StopSignal, cores, in_parallel, is_binary, scan};
use tamis_redact::searchable_bytes;
use tamis_syntax::{DeclarationKind, Notation, defined_name, each_declaration, heuristic_outline};
use tamis_text::split_lines;

use super::paths::is_prose_or_data;
use crate::code_lines::CodeLines;
use crate::definitions::Outlined;
use crate::locate::Locations;
use crate::{RoleError, RoleErrorKind};

/// What to search for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NameQuery {
    pub(super) name: String,
    /// Whether to find places that use it, or only those that define it.
    pub(super) uses: bool,
    /// Whether the question names it, so that no file may be left out.
    pub(super) in_question: bool,
}

/// What was found, in the order of files and lines.
#[derive(Debug, Default, PartialEq)]
pub(super) struct NameHits {
    pub(super) queries: Vec<NameQuery>,
    pub(super) files: Vec<FileHits>,
    /// Names whose uses were looked for in a part of the files only, since there are too many.
    pub(super) partial: Vec<String>,
}

/// One file that has some of the names.
#[derive(Debug, PartialEq)]
pub(super) struct FileHits {
    pub(super) place: RootedPath,
    /// Its path as references have it.
    pub(super) shown: String,
    pub(super) hits: Vec<Hit>,
    /// Numbers of all names that occur in it, in order.
    pub(super) names: Vec<usize>,
    /// Uses by name that are not among the hits.
    pub(super) more: Vec<(usize, usize)>,
}

/// A name at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// Its number among the queries.
    pub(super) name: usize,
    /// From 0.
    pub(super) line: usize,
    pub(super) kind: HitKind,
    /// The word before its dot: `memmem` of `memmem::find`.
    pub(super) owner: Option<String>,
    /// The enclosing definition, with its type; for a definition, its type.
    pub(super) within: Option<String>,
}

/// What a place does with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HitKind {
    Definition,
    /// `class X(Name)`, `impl Name for X`.
    Extension,
    /// `@name`, `#[name]`.
    Decorator,
    Call,
    /// `name = …`, `self.name = …`, `const NAME: …`.
    Assignment,
    /// Anything else in code.
    Mention,
    Import,
}

/// Many: a file may have dozens of types with a method of the same name.
const MAX_DEFINITIONS: usize = 64;
const MAX_USES: usize = 8;
/// Files with longer lines are generated.
const MAX_LINE_LENGTH: usize = 2000;
/// More threads only wait for the disk.
const MAX_THREADS: usize = 12;

/// Searches the files that may have one of the names, by the words known of them. For names that no word narrows down, it
/// searches around `homes`. Without known words it searches everything.
pub(super) fn search_names(
    roots: &Roots,
    locations: &Locations,
    queries: Vec<NameQuery>,
    homes: &[RootedPath],
    stop: &StopSignal,
) -> Result<NameHits, RoleError> {
    if queries.is_empty() {
        return Ok(NameHits::default());
    }
    let patterns = queries.iter().map(|query| query.name.as_bytes());
    // Names are whole words, so that the longest at a place is the only one that can be meant there.
    let finder = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(patterns)
        .map_err(|error| RoleError::new(RoleErrorKind::Internal, error.to_string()))?;
    let files_by_word = &locations.files_by_word;
    let unknown = |query: &&NameQuery| !files_by_word.narrows(&query.name);
    if files_by_word.is_empty() || queries.iter().filter(unknown).any(|query| query.in_question) {
        let lists = scan(roots, stop, Vec::new, |list: &mut Vec<FileHits>, place, bytes| {
            if !is_prose_or_data(&place.path) && finder.is_match(bytes) {
                list.extend(search_file(&finder, &queries, &place, &searchable_bytes(bytes)));
            }
        })?;
        return Ok(NameHits::of(queries, lists, Vec::new()).shown(roots, locations));
    }
    let mut folders: Vec<(usize, String)> = Vec::new();
    if queries.iter().any(|query| unknown(&query)) {
        let near = homes.iter().map(|place| (place.root, files_by_word.widest_folder_around(place)));
        folders.extend(
            near.chain(
                locations.best.iter().map(|location| (location.place.root, location.place.path.clone())),
            ),
        );
    }
    let mut places = files_by_word.files_with(queries.iter().map(|query| query.name.as_str()), &folders);
    places.retain(|place| !is_prose_or_data(&place.path));
    let lists = read_each(roots, &places, stop, |list: &mut Vec<FileHits>, place, bytes| {
        if finder.is_match(bytes) {
            list.extend(search_file(&finder, &queries, place, &searchable_bytes(bytes)));
        }
    })?;
    let everywhere =
        homes.iter().all(|place| files_by_word.widest_folder_around(place).is_empty()) && roots.len() == 1;
    let partial = queries.iter().filter(|query| query.uses && !everywhere).filter(unknown);
    let partial = partial.map(|query| query.name.clone()).collect();
    Ok(NameHits::of(queries, lists, partial).shown(roots, locations))
}

/// Calls `each` with the bytes of these files, from several threads.
fn read_each<S: Default + Send>(
    roots: &Roots,
    places: &[&RootedPath],
    stop: &StopSignal,
    each: impl Fn(&mut S, &RootedPath, &[u8]) + Sync,
) -> Result<Vec<S>, RoleError> {
    let limit = roots.policy().largest_searched;
    let states = in_parallel(places, cores().min(MAX_THREADS), |places| {
        let (mut state, mut bytes) = (S::default(), Vec::new());
        for (_, place) in places.take_while(|_| !stop.is_due()) {
            // Files that are gone by now are skipped.
            if roots.read_into(place, limit, &mut bytes).is_ok() && !is_binary(&bytes) {
                each(&mut state, place, &bytes);
            }
        }
        state
    });
    stop.check()?;
    Ok(states)
}

impl NameHits {
    /// The number of a name among the queries.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.queries.iter().position(|query| query.name == name)
    }

    /// Whether some file has the name of this number.
    pub(super) fn occurs(&self, number: usize) -> bool {
        self.files.iter().any(|file| file.names.binary_search(&number).is_ok())
    }

    /// The same with paths as references have them.
    fn shown(mut self, roots: &Roots, locations: &Locations) -> NameHits {
        for file in self.files.iter_mut().filter(|_| roots.len() > 1) {
            file.shown = locations.files_by_word.shown(roots, &file.place);
        }
        self
    }

    fn of(queries: Vec<NameQuery>, lists: Vec<Vec<FileHits>>, partial: Vec<String>) -> NameHits {
        let mut files: Vec<FileHits> = lists.into_iter().flatten().collect();
        files.sort_by(|a, b| a.place.cmp(&b.place));
        NameHits { queries, files, partial }
    }
}

fn search_file(
    finder: &AhoCorasick,
    queries: &[NameQuery],
    place: &RootedPath,
    bytes: &[u8],
) -> Option<FileHits> {
    let word = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at)).is_some_and(|&b| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80)
    };
    let mut found = finder
        .find_iter(bytes)
        .filter(|found| !word(found.start().checked_sub(1)) && !word(Some(found.end())))
        .map(|found| (found.pattern().as_usize(), found.start()))
        .peekable();
    found.peek()?;
    let text = String::from_utf8_lossy(bytes);
    let lines = split_lines(&text);
    let mut file = File { lines: &lines, code: None, outline: None, path: &place.path };
    let mut file_hits = FileHits {
        place: place.clone(),
        shown: place.path.clone(),
        hits: Vec::new(),
        names: Vec::new(),
        more: Vec::new(),
    };
    let (mut line, mut line_start, mut counted) = (0, 0, 0);
    for (name, at) in found {
        for newline in memchr::memchr_iter(b'\n', &bytes[counted..at]) {
            line += 1;
            line_start = counted + newline + 1;
        }
        counted = at;
        file_hits.names.push(name);
        // Invalid UTF-8 takes more bytes in `lines` than in the file, so the column may be off.
        let column = at - line_start;
        let content = lines.get(line).copied().unwrap_or("");
        if content.len() > MAX_LINE_LENGTH
            || !content[..].get(column..).is_some_and(|rest| rest.starts_with(&queries[name].name))
        {
            continue;
        }
        let Some((kind, within)) = file.judge(line, column, &queries[name].name, queries[name].uses) else {
            continue;
        };
        let same = |hit: &&Hit| {
            hit.name == name && (hit.kind == HitKind::Definition) == (kind == HitKind::Definition)
        };
        let known = file_hits.hits.iter().filter(same).count();
        let most = if kind == HitKind::Definition { MAX_DEFINITIONS } else { MAX_USES };
        let owner = owner(&content[..column]);
        if let Some(last) = file_hits.hits.last_mut().filter(|last| last.name == name && last.line == line) {
            last.owner = last.owner.take().or(owner);
            continue;
        }
        if known < most {
            file_hits.hits.push(Hit { name, line, kind, owner, within });
        } else if kind != HitKind::Definition {
            match file_hits.more.iter_mut().find(|(of, _)| *of == name) {
                Some((_, count)) => *count += 1,
                None => file_hits.more.push((name, 1)),
            }
        }
    }
    file_hits.names.sort_unstable();
    file_hits.names.dedup();
    Some(file_hits)
}

/// A file with one of the names; what is expensive to compute is computed when needed.
struct File<'a> {
    lines: &'a [&'a str],
    code: Option<CodeLines>,
    outline: Option<tamis_syntax::Outline>,
    path: &'a str,
}

impl File<'_> {
    fn judge(
        &mut self,
        line: usize,
        column: usize,
        name: &str,
        uses: bool,
    ) -> Option<(HitKind, Option<String>)> {
        let lines = self.lines;
        let content = lines[line];
        let here = column..column + name.len();
        let defined = defined_name(content, lines.get(line + 1..).unwrap_or_default());
        let defines = defined.as_ref() == Some(&here);
        if !defines && !uses {
            return None;
        }
        let (path, code) = (self.path, &mut self.code);
        if !code.get_or_insert_with(|| CodeLines::of(lines, path)).is_code(lines, line, column) {
            return None;
        }
        let outline = self.outline.get_or_insert_with(|| heuristic_outline(lines, &|| false));
        let outlined = Outlined { lines, outline };
        let around = outlined.around(line);
        if defines {
            // `impl Name` adds to what is defined elsewhere.
            let adds = content.trim_start().starts_with("impl");
            let own = around.filter(|&at| outlined.definition(at).signature.first == line);
            let parent = own.and_then(|at| outlined.parent(at)).map(str::to_owned);
            return (!adds).then_some((HitKind::Definition, parent));
        }
        let within = around.map(|at| outlined.qualified(at));
        if outline.imports.iter().any(|span| span.first <= line && line <= span.last) {
            return Some((HitKind::Import, within));
        }
        let kind = kind(
            content,
            &here,
            around.is_some_and(|at| outlined.is_type(at) && outlined.definition(at).signature.first == line),
        );
        if kind == HitKind::Assignment && is_function_assigned(content, &lines[line + 1..], path, &here) {
            return Some((HitKind::Definition, owner(&content[..column])));
        }
        Some((kind, within))
    }
}

/// Whether the line defines what it assigns to: `res.redirect = function redirect(url) {`.
fn is_function_assigned(line: &str, next: &[&str], path: &str, here: &Range<usize>) -> bool {
    let mut is_defined = false;
    each_declaration(line, next, Notation::of_path(path), &mut |name, kind| {
        is_defined |= name == *here && kind == DeclarationKind::Definition;
    });
    is_defined
}

/// The word at the end of a text, if a dot, `::` or `->` follows it.
fn owner(before: &str) -> Option<String> {
    let signs = ["?.", ".", "::", "->", "#"];
    let owner = signs.iter().find_map(|sign| before.strip_suffix(sign))?;
    let word = owner.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
    (!word.is_empty()).then(|| word.to_owned())
}

fn kind(line: &str, here: &Range<usize>, opens_type: bool) -> HitKind {
    let (before, after) = (&line[..here.start], &line[here.end..]);
    let opening = before.trim_start();
    if opening.starts_with('@') || opening.starts_with("#[") {
        return HitKind::Decorator;
    }
    // `struct X(Name)` has one, and is none.
    if opens_type && (!before.contains("struct ") || before.contains(':')) {
        return HitKind::Extension;
    }
    let call = after.trim_start_matches("::");
    let call = if call.starts_with('<') { call.split_once('>').map_or("", |(_, rest)| rest) } else { after };
    if call.starts_with('(') || ["!(", "![", "!{"].iter().any(|open| call.starts_with(open)) {
        return HitKind::Call;
    }
    let rest = after.trim_start();
    let set = rest.strip_prefix('=').is_some_and(|value| !value.starts_with(['=', '>', '~']));
    let declared =
        ["const ", "static ", "let ", "var ", "#define "].iter().any(|word| before.ends_with(word));
    let plain = before
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ' ' | '\t' | '@' | '*' | '>' | '-'));
    if declared || (plain && (set || (rest.starts_with(": ") && rest.contains(" = ")))) {
        return HitKind::Assignment;
    }
    HitKind::Mention
}
