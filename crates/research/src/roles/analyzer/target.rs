//! A definition to describe, with what its own file says about it.

use tamis_codebase::RootedPath;
use tamis_syntax::{LineSpan, ParseBudget, SymbolUse, SymbolUses};

use super::data::{Datum, data};
use crate::SourceFile;
use crate::definitions::Outlined;
use crate::question::Question;

/// A definition.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Target {
    pub(super) place: RootedPath,
    /// Its path as references have it.
    pub(super) shown: String,
    /// From 1.
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) parent: Option<String>,
    pub(super) is_type: bool,
    pub(super) signature: String,
    /// Of its doc comment; may be empty.
    pub(super) sentence: String,
    pub(super) uses: SymbolUses,
    pub(super) data: Vec<Datum>,
    /// What is defined in it. Lines from 1.
    pub(super) members: Vec<(String, usize)>,
    pub(super) neighbours: Vec<Neighbour>,
    /// The share of the question's words that its lines have.
    pub(super) coverage: f64,
    /// Whether the question names it.
    pub(super) named: bool,
    /// How well it fits what the question names, with all evidence.
    pub(super) score: f64,
    /// The same by name, type and path alone.
    pub(super) fit: f64,
    /// The file's words that begin like a type, in order: what it may call methods of.
    pub(super) types: Vec<String>,
}

/// What else its file defines.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Neighbour {
    pub(super) name: String,
    pub(super) parent: Option<String>,
    pub(super) line: usize,
}

/// Constructors: their callers call the type.
const MAKERS: [&str; 6] = ["__init__", "__new__", "initialize", "constructor", "new", "__post_init__"];

impl Target {
    pub(super) fn of(source: &SourceFile, number: usize, question: &Question, score: Option<f64>) -> Target {
        let lines = source.lines();
        let outlined = Outlined { lines: &lines, outline: source.outline() };
        let definition = outlined.definition(number);
        let is_type = outlined.is_type(number);
        let body = LineSpan { first: definition.signature.first, last: definition.last };
        let uses = if is_type {
            SymbolUses::default()
        } else {
            let budget = ParseBudget::for_bytes(source.text.len());
            tamis_syntax::symbol_uses(&source.text, &lines, body, budget, &|| false)
        };
        let inside = LineSpan { first: (definition.signature.last + 1).min(body.last), last: body.last };
        let own: String = lines.get(definition.lead..=definition.last).unwrap_or_default().join("\n");
        let within = |at: &usize| {
            let inner = outlined.definition(*at);
            inner.depth == definition.depth + 1
                && inner.signature.first > definition.signature.first
                && inner.last <= definition.last
        };
        let all = || 0..source.outline().definitions.len();
        let line_of = |at: usize| outlined.definition(at).signature.first + 1;
        let of_member = |at| (outlined.name(at).to_owned(), line_of(at));
        let mut members: Vec<(String, usize)> = all().filter(within).map(of_member).collect();
        // Those with words of the question first.
        members.sort_by_key(|(name, _)| question.matched_stems(name).is_empty());
        Target {
            place: source.place.clone(),
            shown: source.place.path.clone(),
            line: definition.signature.first + 1,
            name: outlined.name(number).to_owned(),
            parent: outlined.parent(number).map(str::to_owned),
            is_type,
            signature: outlined.signature(number),
            sentence: outlined.first_sentence(number),
            data: if is_type { Vec::new() } else { data(&lines, inside, &source.place.path) },
            uses,
            members,
            neighbours: all()
                .filter(|&at| at != number && !within(&at))
                .map(|at| Neighbour {
                    name: outlined.name(at).to_owned(),
                    parent: outlined.parent(at).map(str::to_owned),
                    line: line_of(at),
                })
                .collect(),
            coverage: question.coverage(&format!("{} {own}", outlined.qualified(number))),
            named: score.is_some(),
            score: score.unwrap_or(0.0),
            fit: 0.0,
            types: types(&source.text),
        }
    }

    /// A name without a body, such as a constant or a field. Its signature is its line.
    pub(super) fn declared(
        source: &SourceFile,
        line: usize,
        name: &str,
        question: &Question,
        score: f64,
    ) -> Target {
        let lines = source.lines();
        let outlined = Outlined { lines: &lines, outline: source.outline() };
        let content = lines.get(line).copied().unwrap_or("");
        let around =
            outlined.enclosing(line, name).map(|at| outlined.name(at)).filter(|name| !name.is_empty());
        Target {
            place: source.place.clone(),
            shown: source.place.path.clone(),
            line: line + 1,
            name: name.to_owned(),
            parent: around.map(str::to_owned),
            is_type: false,
            signature: content.trim().trim_end_matches(['{', ',']).trim_end().to_owned(),
            sentence: outlined.sentence_above(line),
            uses: SymbolUses::default(),
            data: Vec::new(),
            members: Vec::new(),
            neighbours: Vec::new(),
            coverage: question.coverage(&format!("{name} {content}")),
            named: true,
            score,
            fit: score,
            types: Vec::new(),
        }
    }

    pub(super) fn qualified(&self) -> String {
        match &self.parent {
            Some(parent) => format!("{parent}.{}", self.name),
            None => self.name.clone(),
        }
    }

    /// The name by which others use it: a constructor is used by its type's.
    pub(super) fn used_as(&self) -> &str {
        match &self.parent {
            Some(parent) if MAKERS.contains(&self.name.as_str()) => parent,
            _ => &self.name,
        }
    }

    /// What it calls, each once, in order; itself left out.
    pub(super) fn callees(&self) -> Vec<&SymbolUse> {
        let mut seen: Vec<&SymbolUse> = Vec::new();
        for call in &self.uses.calls {
            let known = seen.iter().any(|known| known.name == call.name);
            if !known && call.name != self.name {
                seen.push(call);
            }
        }
        seen
    }
}

fn types(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let types = words.filter(|word| word.trim_start_matches('_').starts_with(char::is_uppercase));
    let types: std::collections::BTreeSet<&str> = types.collect();
    types.into_iter().map(str::to_owned).collect()
}
