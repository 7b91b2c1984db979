//! The tools that models may call. They only read, within the roots and the read budget of the request.
//!
//! Whole files are redacted before a part is taken: half of a key is still a secret, and no rule recognises it.

use serde_json::{Value, json};
use tamis_codebase::{
    AccessError, Case, EntryKind, GlobError, RootedPath, Search, SearchError, Stopped, glob, list, search,
};
use tamis_redact::Redacted;
use tamis_text::split_lines;

use super::arguments::{Arguments, flag, number, optional_text, text};
use super::chat::ChatTool;
use super::tool_calls::ToolCaller;
use crate::Role;
use crate::reader::{SourceFile, SourceReadError};

/// Why a call has no result.
pub(super) enum ToolError {
    /// The model gets this text in place of a result.
    Message(String),
    /// The same, because the request's limits are used up.
    Limited(String),
    /// The request was cancelled or ran out of time.
    Stopped(Stopped),
}

/// A tool: name, schema, roles and handler.
struct Tool {
    name: &'static str,
    description: &'static str,
    roles: &'static [Role],
    parameters: fn() -> Value,
    call: fn(&ToolCaller<'_>, &Arguments) -> Result<String, ToolError>,
}

const TOOLS: [Tool; 5] = [
    Tool {
        name: "grep",
        description: "Search file contents with a regular expression; returns path:line: text.",
        roles: &Role::ALL,
        parameters: || {
            json!({"type": "object", "required": ["pattern"], "properties": {
                "pattern": {"type": "string", "description": "regular expression; a lowercase pattern ignores case"},
                "glob": {"type": "string", "description": "only in files such as *.rs or src/**"},
                "literal": {"type": "boolean", "description": "treat the pattern as literal text"}}})
        },
        call: grep,
    },
    Tool {
        name: "glob",
        description: "Find files by name, such as **/*config*.toml or src/.",
        roles: &Role::ALL,
        parameters: || json!({"type": "object", "required": ["pattern"], "properties": {"pattern": {"type": "string"}}}),
        call: find_files,
    },
    Tool {
        name: "ls",
        description: "List a folder; the root without a path.",
        roles: &Role::ALL,
        parameters: || json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        call: list_folder,
    },
    Tool {
        name: "outline",
        description: "The definitions of a source file with their lines.",
        roles: &Role::ALL,
        parameters: || json!({"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}}}),
        call: outline,
    },
    Tool {
        name: "read",
        description: "Read lines of a file, at most 200 at a time.",
        roles: &[Role::Analyzer, Role::Patterns, Role::Thoughts],
        parameters: || {
            json!({"type": "object", "required": ["path"], "properties": {
                "path": {"type": "string"},
                "start": {"type": "integer", "description": "first line, from 1"},
                "end": {"type": "integer", "description": "last line"}}})
        },
        call: read,
    },
];

const MAX_HITS: usize = 60;
const MAX_HITS_PER_FILE: usize = 8;
const MAX_FILES: usize = 100;
const MAX_ENTRIES: usize = 120;
const MAX_DEFINITIONS: usize = 150;
const MAX_LINES: usize = 200;
const MAX_LINE_LENGTH: usize = 240;

/// The tools of a role.
pub(super) fn offered(role: Role) -> Vec<ChatTool> {
    let own = TOOLS.iter().filter(|tool| tool.roles.contains(&role));
    own.map(|tool| ChatTool {
        name: tool.name,
        description: tool.description,
        parameters: (tool.parameters)(),
    })
    .collect()
}

pub(super) fn call(caller: &ToolCaller<'_>, name: &str, arguments: &Arguments) -> Result<String, ToolError> {
    let own = || TOOLS.iter().filter(|tool| tool.roles.contains(&caller.role));
    let Some(tool) = own().find(|tool| tool.name == name) else {
        let names: Vec<&str> = own().map(|tool| tool.name).collect();
        return Err(tool_error(format!("unknown tool {name:?}; the tools are {}", names.join(", "))));
    };
    (tool.call)(caller, arguments)
}

pub(super) fn tool_error(why: impl std::fmt::Display) -> ToolError {
    ToolError::Message(format!("error: {why}"))
}

fn grep(caller: &ToolCaller<'_>, arguments: &Arguments) -> Result<String, ToolError> {
    let mut query = Search::new(text(arguments, "pattern")?);
    query.literal = flag(arguments, "literal");
    query.case = Case::Smart;
    query.most_matches = MAX_HITS;
    query.most_per_file = MAX_HITS_PER_FILE;
    // `path` is not in the schema, but models know it from other grep tools.
    let named = |name| optional_text(arguments, name).filter(|glob| !matches!(*glob, "." | "./" | "" | "*"));
    query.globs.extend(match (named("path"), named("glob")) {
        (Some(folder), Some(glob)) if !glob.contains('/') => {
            Some(format!("{}/**/{glob}", folder.trim_end_matches('/')))
        }
        (_, Some(glob)) => Some(glob.to_owned()),
        (folder, None) => folder.map(str::to_owned),
    });
    let roots = &caller.reader.roots;
    let matches = search(roots, &query, caller.stop).map_err(|error| match error {
        SearchError::Stopped(stopped) => ToolError::Stopped(stopped),
        other => {
            tool_error(other.hint().map_or_else(|| other.to_string(), |hint| format!("{other}; {hint}")))
        }
    })?;
    let mut result = String::new();
    let mut shown = 0;
    for file in &matches.files {
        caller.stop.check().map_err(ToolError::Stopped)?;
        // Read again, to be redacted as a whole. It may be gone by now.
        let Ok(whole) = roots.read_text(&file.place, roots.policy().largest_searched) else { continue };
        let whole = Redacted::from(whole);
        let lines = lines_of(whole.as_str());
        for hit in file.lines.iter().filter(|line| line.is_match) {
            let number = usize::try_from(hit.number).unwrap_or(usize::MAX);
            let Some(line) = lines.get(number.saturating_sub(1)) else { continue };
            result.push_str(&format!("{}:{number}: {}\n", file.place, clipped(line.trim())));
            shown += 1;
        }
        if result.len() > caller.longest {
            break;
        }
    }
    if matches.matching_lines == 0 {
        return Ok(format!("nothing in {} files", matches.files_searched));
    }
    if shown < matches.matching_lines {
        result.truncate(result.floor_char_boundary(caller.longest - 100));
        let (lines, files) = (matches.matching_lines, matches.matching_files);
        result.push_str(&format!("… truncated: {lines} lines match in {files} files"));
    }
    Ok(result)
}

fn find_files(caller: &ToolCaller<'_>, arguments: &Arguments) -> Result<String, ToolError> {
    let pattern = text(arguments, "pattern")?;
    let found = glob(&caller.reader.roots, pattern, MAX_FILES, caller.stop).map_err(|error| match error {
        GlobError::Stopped(stopped) => ToolError::Stopped(stopped),
        GlobError::Pattern(error) => tool_error(error),
    })?;
    if found.places.is_empty() {
        return Ok("no files".to_owned());
    }
    let mut result: String = found.places.iter().map(|place| format!("{place}\n")).collect();
    if found.total > found.places.len() {
        result.push_str(&format!("… not all: {} files match", found.total));
    }
    Ok(result)
}

fn list_folder(caller: &ToolCaller<'_>, arguments: &Arguments) -> Result<String, ToolError> {
    let folder = optional_text(arguments, "path").unwrap_or_default();
    let listing = list(&caller.reader.roots, folder, MAX_ENTRIES).map_err(tool_error)?;
    if listing.entries.is_empty() {
        return Ok("empty".to_owned());
    }
    let mut result: String = listing
        .entries
        .iter()
        .map(|entry| match entry.kind {
            EntryKind::File { bytes } => format!("{} ({bytes} bytes)\n", entry.name),
            EntryKind::Folder => format!("{}/\n", entry.name),
            EntryKind::Link => format!("{} (link, not followed)\n", entry.name),
            EntryKind::Other => format!("{} (no file)\n", entry.name),
        })
        .collect();
    if listing.total > listing.entries.len() {
        result.push_str(&format!("… not all: {} names", listing.total));
    }
    Ok(result)
}

fn outline(caller: &ToolCaller<'_>, arguments: &Arguments) -> Result<String, ToolError> {
    let source = open(caller, text(arguments, "path")?)?;
    let definitions = &source.outline().definitions;
    if definitions.is_empty() {
        return Ok(format!("no definitions known in its {} lines", lines_of(&source.text).len()));
    }
    let lines = lines_of(&source.text);
    let mut result = String::new();
    for definition in definitions.iter().take(MAX_DEFINITIONS) {
        let line = lines.get(definition.signature.first).map_or("", |line| line.trim());
        let indent = "  ".repeat(definition.depth.min(8));
        result.push_str(&format!("{}: {indent}{}\n", definition.signature.first + 1, clipped(line)));
    }
    if definitions.len() > MAX_DEFINITIONS {
        result.push_str(&format!("… not all: {} definitions", definitions.len()));
    }
    Ok(result)
}

fn read(caller: &ToolCaller<'_>, arguments: &Arguments) -> Result<String, ToolError> {
    let (path, line) = match text(arguments, "path")?.rsplit_once(':') {
        // `path:line`, as in every result.
        Some((path, line)) if line.parse::<usize>().is_ok() => (path, line.parse::<usize>().ok()),
        _ => (text(arguments, "path")?, None),
    };
    let source = open(caller, path)?;
    let lines = lines_of(&source.text);
    let around = line.map(|line| line.saturating_sub(20));
    let start = number(arguments, "start")?.or(around).unwrap_or(1).max(1);
    let end = number(arguments, "end")?.unwrap_or(usize::MAX).min(start.saturating_add(MAX_LINES - 1));
    if start > lines.len() {
        return Ok(format!("the file has {} lines", lines.len()));
    }
    let mut result = String::new();
    let mut last = start - 1;
    for (index, line) in lines.iter().enumerate().take(end).skip(start - 1) {
        if result.len() + MAX_LINE_LENGTH + 100 > caller.longest {
            break;
        }
        last = index + 1;
        result.push_str(&format!("{last}: {}\n", clipped(line.trim_end())));
    }
    if last < lines.len() {
        result.push_str(&format!("… {} lines in all; read on with start {}", lines.len(), last + 1));
    }
    Ok(result)
}

/// Opens a file by the path that a model gave.
fn open(caller: &ToolCaller<'_>, path: &str) -> Result<std::sync::Arc<SourceFile>, ToolError> {
    let places: Vec<RootedPath> = caller.reader.roots.places_of(path);
    let mut trouble = tool_error(format!("{path:?} is outside the roots"));
    for place in places {
        match caller.reader.read(&place) {
            Ok(source) => return Ok(source),
            Err(SourceReadError::LimitReached) => {
                return Err(ToolError::Limited(format!(
                    "error: {} Answer from what you have seen.",
                    "the limits of this request are exhausted: no further file can be read."
                )));
            }
            Err(SourceReadError::Access(error @ AccessError::TooLarge { .. })) => {
                trouble = tool_error(format!("{error}; search it with grep"));
            }
            Err(SourceReadError::Access(error)) => trouble = tool_error(error),
        }
    }
    Err(trouble)
}

/// Lines as editors number them: a final newline does not start another line.
pub(super) fn lines_of(text: &str) -> Vec<&str> {
    let mut lines = split_lines(text);
    lines.pop_if(|last| last.is_empty());
    lines
}

/// A line, cut to what is shown.
fn clipped(line: &str) -> String {
    match line.char_indices().nth(MAX_LINE_LENGTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
