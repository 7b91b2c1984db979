//! Callers and callees of a definition, by name.
//!
//! Only names are compared, so an ambiguous name counts only with further evidence: the same file, the same type, or the
//! type's name in the same file.

use tamis_syntax::SymbolUse;

use super::target::Target;
use crate::locate::is_test;
use crate::roles::format::Item;
use crate::roles::name_search::{HitKind, NameHits};
use crate::roles::paths::nearness;

/// Names that every library has: calls of them are ignored unless they are defined nearby.
#[rustfmt::skip]
const UBIQUITOUS: [&str; 74] = [
    "len", "get", "set", "new", "add", "append", "push", "pop", "print", "println", "format", "str", "int", "list", "dict",
    "iter", "next", "map", "filter", "collect", "clone", "into", "from", "unwrap", "expect", "ok", "err", "is_empty",
    "to_string", "to_owned", "join", "split", "strip", "replace", "items", "keys", "values", "update", "copy", "close",
    "open", "read", "write", "run", "call", "apply", "bind", "then", "catch", "log", "debug", "info", "warn", "error",
    "isinstance", "super", "type", "repr", "hash", "id", "min", "max", "sum", "any", "all", "sorted", "range", "zip",
    "toString", "equals", "size", "remove", "insert", "contains",
];

pub(super) fn is_ubiquitous(name: &str) -> bool {
    name.len() < 3 || UBIQUITOUS.contains(&name)
}

/// Those who use a definition.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Callers {
    /// Outside of tests, best first.
    pub(super) code: Vec<Item>,
    /// Uses outside of tests beside those.
    pub(super) more: usize,
    pub(super) tests: Vec<Item>,
    pub(super) more_tests: usize,
    /// Types made from it.
    pub(super) extensions: Vec<Item>,
    /// Other definitions of the same name, outside of tests.
    pub(super) namesakes: Vec<Item>,
}

impl NameHits {
    /// Where something of this name is defined: path, line from 1, the type it belongs to.
    fn definitions(&self, name: &str) -> Vec<(&str, usize, Option<&str>)> {
        let Some(number) = self.number(name) else { return Vec::new() };
        let all = self.files.iter().flat_map(|file| file.hits.iter().map(move |hit| (file, hit)));
        all.filter(|(_, hit)| hit.name == number && hit.kind == HitKind::Definition)
            .map(|(file, hit)| (file.shown.as_str(), hit.line + 1, hit.within.as_deref()))
            .collect()
    }

    pub(super) fn callers(&self, target: &Target) -> Callers {
        let mut callers = Callers::default();
        let name = target.used_as();
        let Some(number) = self.number(name) else { return callers };
        let made = name != target.name;
        let is_type = target.is_type || made;
        let defined = self.definitions(name);
        if !made {
            let other = |(path, line, _): &&(&str, usize, Option<&str>)| {
                (*path != target.shown || *line != target.line) && !is_test(path)
            };
            let others = defined.iter().filter(other).map(|&(path, line, parent)| Item {
                what: parent.map_or_else(|| name.to_owned(), |parent| format!("{parent}.{name}")),
                path: path.to_owned(),
                line,
            });
            callers.namesakes = others.collect();
        }
        let strict = !is_type && (defined.len() > 1 || is_ubiquitous(name));
        let parent = target.parent.as_deref().filter(|_| !made);
        let parent_number = parent.and_then(|parent| self.number(parent));
        let mut found = Vec::new();
        for file in &self.files {
            let path = file.shown.as_str();
            let at_home = file.place == target.place;
            let knows_parent = parent_number.is_some_and(|parent| file.names.binary_search(&parent).is_ok());
            if strict && !at_home && !knows_parent {
                continue;
            }
            let test = is_test(path);
            let left = file.more.iter().find(|(of, _)| *of == number).map_or(0, |(_, count)| *count);
            *(if test { &mut callers.more_tests } else { &mut callers.more }) += left;
            for hit in file.hits.iter().filter(|hit| hit.name == number) {
                let within = hit.within.as_deref().unwrap_or("top level");
                if hit.kind == HitKind::Definition
                    || hit.kind == HitKind::Import
                    || (at_home && hit.line + 1 == target.line)
                    || (at_home && within == target.qualified())
                {
                    continue;
                }
                let item = Item { what: within.to_owned(), path: path.to_owned(), line: hit.line + 1 };
                if hit.kind == HitKind::Extension {
                    callers.extensions.push(item);
                } else {
                    found.push((test, hit.kind, std::cmp::Reverse(nearness(path, &target.shown)), item));
                }
            }
        }
        found.sort_by(|a, b| {
            let key = |found: &(bool, HitKind, std::cmp::Reverse<usize>, Item)| (found.0, found.1, found.2);
            key(a).cmp(&key(b)).then_with(|| (&a.3.path, a.3.line).cmp(&(&b.3.path, b.3.line)))
        });
        for (test, _, _, item) in found {
            let (list, more) = if test {
                (&mut callers.tests, &mut callers.more_tests)
            } else {
                (&mut callers.code, &mut callers.more)
            };
            // One place of each caller.
            if list.iter().any(|known| known.what == item.what && known.path == item.path) {
                *more += 1;
            } else {
                list.push(item);
            }
        }
        callers.extensions.sort_by_key(|item| is_test(&item.path));
        callers
    }

    /// What a definition calls and this repository defines, in order.
    pub(super) fn callees(&self, target: &Target) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        for call in target.callees() {
            if let Some((path, line, what)) = self.resolve(target, call)
                && (path != target.shown || line != target.line)
                && !items.iter().any(|known| known.path == path && known.line == line)
            {
                items.push(Item { what, path: path.to_owned(), line });
            }
        }
        items
    }

    /// What it raises, with the line on which it does.
    pub(super) fn raises(&self, target: &Target) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        for raised in &target.uses.raises {
            if !items.iter().any(|known| known.what == raised.name) {
                let (what, path) = (raised.name.clone(), target.shown.clone());
                items.push(Item { what, path, line: raised.line + 1 });
            }
        }
        items
    }

    fn resolve<'a>(&'a self, target: &'a Target, call: &SymbolUse) -> Option<(&'a str, usize, String)> {
        let home = target.shown.as_str();
        let qualified = |parent: Option<&str>| {
            parent.map_or_else(|| call.name.clone(), |parent| format!("{parent}.{}", call.name))
        };
        let own = call.of.as_deref().is_some_and(|of| matches!(of, "self" | "this" | "cls" | "Self"));
        let near: Vec<_> = target.neighbours.iter().filter(|known| known.name == call.name).collect();
        let same_type = near.iter().find(|known| known.parent.is_some() && known.parent == target.parent);
        let of_type = near.iter().find(|known| known.parent.is_some() && known.parent == call.of);
        let here = match (&call.of, near.as_slice()) {
            (Some(_), _) if own && same_type.is_some() => same_type.copied(),
            (Some(_), _) if of_type.is_some() => of_type.copied(),
            (Some(_), [only]) if !is_ubiquitous(&call.name) => Some(*only),
            (None, some) => some.iter().copied().find(|known| known.parent.is_none()).or(match some {
                [only] => Some(*only),
                _ => None,
            }),
            _ => None,
        };
        if let Some(known) = here {
            return Some((home, known.line, qualified(known.parent.as_deref())));
        }
        if is_ubiquitous(&call.name) {
            return None;
        }
        let mut defined = self.definitions(&call.name);
        if !is_test(home) {
            defined.retain(|(path, _, _)| !is_test(path));
        }
        // A method call does not call a function, unless a module's name is before the dot.
        match call.of.as_deref() {
            None => defined.retain(|(_, _, parent)| parent.is_none()),
            Some(of) => {
                let of_it = |(path, _, parent): &(&str, usize, Option<&str>)| {
                    *parent == Some(of) || path.split(['/', '.']).any(|part| part == of)
                };
                if defined.iter().any(of_it) {
                    defined.retain(of_it);
                } else {
                    // A method of a type that the file never mentions belongs to something else.
                    let known = |parent: &str| {
                        target.types.binary_search_by(|known| known.as_str().cmp(parent)).is_ok()
                    };
                    defined.retain(|(_, _, parent)| own || parent.is_some_and(known));
                }
            }
        }
        let nearest = defined.iter().map(|(path, _, _)| nearness(path, home)).max()?;
        let all = defined.len();
        defined.retain(|(path, _, _)| nearness(path, home) == nearest);
        let certain = all == 1 || (defined.len() == 1 && call.of.is_none());
        let (path, line, parent) = *defined.first().filter(|_| certain)?;
        Some((path, line, qualified(parent)))
    }
}
