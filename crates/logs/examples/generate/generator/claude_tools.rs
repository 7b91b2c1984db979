//! The tools of Claude Code: the call, and the result twice over, for the model and for the client.

use super::claude::ClaudeLog;
use super::claude_request::{Request, picture};
use super::dialects::{COMMANDS, Dialect, GREP, LISTING};
use super::json::{self, Json};

#[derive(Clone, Copy)]
enum Tool {
    Bash,
    Read,
    Edit,
    Write,
    Grep,
    Glob,
    TodoWrite,
    WebFetch,
}

/// As often as they are used.
const TOOLS: &[(Tool, usize)] = &[
    (Tool::Bash, 36),
    (Tool::Read, 22),
    (Tool::Edit, 14),
    (Tool::Write, 8),
    (Tool::TodoWrite, 8),
    (Tool::Grep, 7),
    (Tool::Glob, 3),
    (Tool::WebFetch, 2),
];

/// A call whose result is to come.
pub(crate) struct Call {
    id: String,
    kind: Kind,
}

enum Kind {
    Prints(&'static Dialect),
    Reads { file: usize },
    Edits { file: usize, before: String, first: usize, old: String, new: String },
    Writes { path: String, text: String },
    Todos,
    Fetches,
}

pub(crate) fn call(claude: &mut ClaudeLog<'_>, request: &mut Request) -> Call {
    let id = claude.log.random().token("toolu_01", 22);
    let tool = claude.log.random().weighted(TOOLS);
    let log = &mut claude.log;
    let (name, input, kind) = match tool {
        Tool::Bash => {
            let (line, dialect) = log.random().pick(COMMANDS);
            let (command, what) = (log.author.filled(line), log.author.filled("%s"));
            let input = json::object(|input| {
                input.text("command", &command).text("description", &what);
            });
            ("Bash", input, Kind::Prints(dialect))
        }
        Tool::Read => {
            let file = log.file();
            let path = log.path_of(file);
            ("Read", json::object(|input| input.text("file_path", &path).done()), Kind::Reads { file })
        }
        Tool::Edit => {
            let file = log.file();
            let (path, before) = (log.path_of(file), log.text_of(file).to_owned());
            let (first, old, new) = log.edit(file);
            let input = json::object(|input| {
                input.text("file_path", &path).text("old_string", &old).text("new_string", &new);
            });
            ("Edit", input, Kind::Edits { file, before, first, old, new })
        }
        Tool::Write => {
            let file = log.file();
            let (path, text) = (log.path_of(file), log.text_of(file).to_owned());
            let input = json::object(|input| input.text("file_path", &path).text("content", &text).done());
            ("Write", input, Kind::Writes { path, text })
        }
        Tool::Grep | Tool::Glob => {
            let pattern = log.author.name().to_owned();
            let (name, dialect) = match tool {
                Tool::Grep => ("Grep", &GREP),
                _ => ("Glob", &LISTING),
            };
            (name, json::object(|input| input.text("pattern", &pattern).done()), Kind::Prints(dialect))
        }
        Tool::TodoWrite => {
            let todos: Vec<String> =
                (0..log.random().between(2, 8)).map(|_| log.author.filled("%s %s")).collect();
            let input = json::object(|input| {
                input.items("todos", |items| {
                    for todo in &todos {
                        items.item(|item| {
                            item.text("content", todo).text("status", "pending").text("activeForm", todo);
                        });
                    }
                });
            });
            ("TodoWrite", input, Kind::Todos)
        }
        Tool::WebFetch => {
            let (url, prompt) =
                (log.author.filled("https://docs.example.org/%w/%n"), log.author.filled("%s"));
            let input = json::object(|input| input.text("url", &url).text("prompt", &prompt).done());
            ("WebFetch", input, Kind::Fetches)
        }
    };
    claude.part(request, input.len(), |part| {
        part.text("type", "tool_use").text("id", &id).text("name", name).raw("input", &input);
    });
    Call { id, kind }
}

pub(crate) fn result(claude: &mut ClaudeLog<'_>, call: Call) {
    let log = &mut claude.log;
    let mut failed = false;
    // What the model gets, and what the client keeps for itself.
    let (content, kept) = match call.kind {
        Kind::Prints(dialect) => {
            failed = log.random().percent(9);
            let text = log.printed(dialect, 700);
            let kept = json::object(|kept| {
                kept.text("stdout", &text)
                    .text("stderr", "")
                    .raw("interrupted", "false")
                    .raw("isImage", "false");
            });
            (text, kept)
        }
        Kind::Reads { file } => {
            if let Some(image) = log.image() {
                return picture_result(claude, &call.id, &image);
            }
            let (first, text) = log.some_lines(file, 400);
            let count = text.lines().count();
            let path = log.path_of(file);
            let kept = json::object(|kept| {
                kept.text("type", "text").fields("file", |file| {
                    file.text("filePath", &path).text("content", &text).number("numLines", count);
                    file.number("startLine", first + 1).number("totalLines", count + first);
                });
            });
            (log.plant("tool_result", numbered(&text, first)), kept)
        }
        Kind::Edits { file, before, first, old, new } => {
            let path = log.path_of(file);
            let kept = json::object(|kept| {
                kept.text("filePath", &path).text("oldString", &old).text("newString", &new);
                kept.text("originalFile", &before).items("structuredPatch", |patch| {
                    patch.item(|hunk| {
                        hunk.number("oldStart", first + 1).number("newStart", first + 1).items(
                            "lines",
                            |lines| {
                                old.lines().for_each(|line| lines.item_text(&format!("-{line}")).done());
                                new.lines().for_each(|line| lines.item_text(&format!("+{line}")).done());
                            },
                        );
                    });
                });
            });
            let said = format!("The file {path} has been updated. Here's the result of running `cat -n`:\n");
            (log.plant("tool_result", said + &numbered(&new, first)), kept)
        }
        Kind::Writes { path, text } => {
            let kept = json::object(|kept| {
                kept.text("type", "create").text("filePath", &path).text("content", &text);
                kept.raw("structuredPatch", "[]");
            });
            (log.plant("tool_result", format!("File created successfully at: {path}")), kept)
        }
        Kind::Todos => ("Todos have been modified successfully.".to_owned(), "{\"oldTodos\":[]}".to_owned()),
        Kind::Fetches => {
            let text = log.prose("tool_result", 2_500);
            let kept = json::object(|kept| {
                kept.number("bytes", text.len()).number("code", 200).text("result", &text);
            });
            (text, kept)
        }
    };
    claude.grow(content.len());
    let in_parts = claude.log.random().percent(12);
    claude.record("user", |record| {
        answer(record, |part| {
            part.text("tool_use_id", &call.id).text("type", "tool_result");
            if in_parts {
                part.items("content", |parts| {
                    parts.item(|part| part.text("type", "text").text("text", &content).done());
                });
            } else {
                part.text("content", &content);
            }
            if failed {
                part.raw("is_error", "true");
            }
        });
        record.raw("toolUseResult", &kept);
    });
}

fn picture_result(claude: &mut ClaudeLog<'_>, id: &str, image: &str) {
    claude.record("user", |record| {
        answer(record, |part| {
            part.text("tool_use_id", id).text("type", "tool_result").items("content", |parts| {
                parts.item(|part| picture(part, image));
            });
        });
    });
}

fn answer(record: &mut Json<'_>, part: impl FnOnce(&mut Json<'_>)) {
    record.fields("message", |message| {
        message.text("role", "user").items("content", |parts| {
            parts.item(part);
        });
    });
}

fn numbered(text: &str, first: usize) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len() * 5 / 4);
    for (at, line) in text.lines().enumerate() {
        let _ = writeln!(out, "{:>6}→{line}", first + at + 1);
    }
    out
}
