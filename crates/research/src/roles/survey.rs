//! One search of all files for some names as whole words, and what each place does with its name.
//!
//! Nothing that is found here counts as read. Of each file only the first few places are kept, so that a common name costs
//! no memory; what is left out is counted.

use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, MatchKind};
use tamis_codebase::{Halt, Place, Roots, cores, is_binary, on_threads, scan};
use tamis_syntax::{defined_name, outline_by_lines};
use tamis_text::split_lines;

use super::code::CodeLines;
use super::definitions::Outlined;
use super::places::is_prose_or_data;
use crate::map::Map;
use crate::{Fault, FaultKind};

/// What to search for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sought {
    pub(super) name: String,
    /// Whether places that use it are wanted, or only those that define it.
    pub(super) uses: bool,
    /// Whether the question names it, so that no file may be left out.
    pub(super) asked: bool,
}

/// What was found, in the order of files and lines.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Survey {
    pub(super) files: Vec<Surveyed>,
    /// Names whose uses were looked for in a part of the files only, since there are too many.
    pub(super) partly: Vec<String>,
}

/// One file that has some of the names.
#[derive(Debug, PartialEq)]
pub(super) struct Surveyed {
    pub(super) place: Place,
    pub(super) hits: Vec<Hit>,
    /// Numbers of all names that occur in it, in order.
    pub(super) names: Vec<usize>,
    /// Uses by name that are not among the hits.
    pub(super) more: Vec<(usize, usize)>,
}

/// A name at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// Its number among what was sought.
    pub(super) name: usize,
    /// From 0.
    pub(super) line: usize,
    pub(super) kind: HitKind,
    /// The definition that it stands in, with its type; of a definition, the type that it belongs to.
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
const MOST_DEFINITIONS: usize = 64;
const MOST_USES: usize = 8;
/// Files with longer lines are generated.
const LONGEST_LINE: usize = 2000;
/// More wait for the disk, or for each other.
const MOST_THREADS: usize = 12;

/// Searches once: files that may have one of the names by what the map knows of them, and for names of which it knows
/// nothing, the surroundings of `homes`. A map that knows nothing leaves everything to be searched.
pub(super) fn survey(
    roots: &Roots,
    map: &Map,
    sought: &[Sought],
    homes: &[Place],
    halt: &Halt,
) -> Result<Survey, Fault> {
    if sought.is_empty() {
        return Ok(Survey::default());
    }
    let patterns = sought.iter().map(|sought| sought.name.as_bytes());
    // Names are whole words, so that the longest at a place is the only one that can be meant there.
    let finder = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(patterns)
        .map_err(|error| Fault::new(FaultKind::Internal, error.to_string()))?;
    let territory = &map.territory;
    let untold = |sought: &&Sought| !territory.tells(&sought.name);
    if territory.is_empty() || sought.iter().filter(untold).any(|sought| sought.asked) {
        let lists = scan(roots, halt, Vec::new, |list: &mut Vec<Surveyed>, place, bytes| {
            if !is_prose_or_data(&place.path) {
                list.extend(look(&finder, sought, &place, bytes));
            }
        })?;
        return Ok(Survey::of(lists, Vec::new()));
    }
    let mut folders: Vec<(usize, String)> = Vec::new();
    if sought.iter().any(|sought| untold(&sought)) {
        let near = homes.iter().map(|place| (place.root, territory.around(place)));
        folders.extend(near.chain(map.spots.iter().map(|spot| (spot.place.root, spot.place.path.clone()))));
    }
    let mut places = territory.files_with(sought.iter().map(|sought| sought.name.as_str()), &folders);
    places.retain(|place| !is_prose_or_data(&place.path));
    let lists = read_each(roots, &places, halt, |list: &mut Vec<Surveyed>, place, bytes| {
        list.extend(look(&finder, sought, place, bytes));
    })?;
    let everywhere = homes.iter().all(|place| territory.around(place).is_empty()) && roots.len() == 1;
    let partly = sought.iter().filter(|sought| sought.uses && !everywhere).filter(untold);
    Ok(Survey::of(lists, partly.map(|sought| sought.name.clone()).collect()))
}

/// Calls `each` with the bytes of these files, from several threads.
fn read_each<S: Default + Send>(
    roots: &Roots,
    places: &[&Place],
    halt: &Halt,
    each: impl Fn(&mut S, &Place, &[u8]) + Sync,
) -> Result<Vec<S>, Fault> {
    let limit = roots.policy().largest_searched;
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut state, mut bytes) = (S::default(), Vec::new());
        while let Some(place) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
            if halt.is_due() {
                break;
            }
            // What has gone since, nobody looks for.
            if roots.read_into(place, limit, &mut bytes).is_ok() && !is_binary(&bytes) {
                each(&mut state, place, &bytes);
            }
        }
        state
    };
    let states = on_threads(cores().min(MOST_THREADS).min(places.len()), work);
    halt.check()?;
    Ok(states)
}

impl Survey {
    fn of(lists: Vec<Vec<Surveyed>>, partly: Vec<String>) -> Survey {
        let mut files: Vec<Surveyed> = lists.into_iter().flatten().collect();
        files.sort_by(|a, b| a.place.cmp(&b.place));
        Survey { files, partly }
    }
}

fn look(finder: &AhoCorasick, sought: &[Sought], place: &Place, bytes: &[u8]) -> Option<Surveyed> {
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
    let mut surveyed =
        Surveyed { place: place.clone(), hits: Vec::new(), names: Vec::new(), more: Vec::new() };
    let (mut line, mut line_start, mut counted) = (0, 0, 0);
    for (name, at) in found {
        for newline in memchr::memchr_iter(b'\n', &bytes[counted..at]) {
            line += 1;
            line_start = counted + newline + 1;
        }
        counted = at;
        surveyed.names.push(name);
        // Bytes that are no text take more room in `lines` than in the file: then the name lies elsewhere in its line.
        let column = at - line_start;
        let content = lines.get(line).copied().unwrap_or("");
        if content.len() > LONGEST_LINE
            || !content[..].get(column..).is_some_and(|rest| rest.starts_with(&sought[name].name))
        {
            continue;
        }
        let Some((kind, within)) = file.judge(line, column, &sought[name].name, sought[name].uses) else {
            continue;
        };
        let same = |hit: &&Hit| {
            hit.name == name && (hit.kind == HitKind::Definition) == (kind == HitKind::Definition)
        };
        let known = surveyed.hits.iter().filter(same).count();
        let most = if kind == HitKind::Definition { MOST_DEFINITIONS } else { MOST_USES };
        if surveyed.hits.last().is_some_and(|last| last.name == name && last.line == line) {
            continue;
        }
        if known < most {
            surveyed.hits.push(Hit { name, line, kind, within });
        } else if kind != HitKind::Definition {
            match surveyed.more.iter_mut().find(|(of, _)| *of == name) {
                Some((_, count)) => *count += 1,
                None => surveyed.more.push((name, 1)),
            }
        }
    }
    surveyed.names.sort_unstable();
    surveyed.names.dedup();
    Some(surveyed)
}

/// A file that has one of the names; what is dear to know of it is found out when it is asked for.
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
        let outline = self.outline.get_or_insert_with(|| outline_by_lines(lines, &|| false));
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
        Some((kind, within))
    }
}

fn kind(line: &str, here: &std::ops::Range<usize>, opens_type: bool) -> HitKind {
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
