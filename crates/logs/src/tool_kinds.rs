//! What the clients' tools do, by name: one table, so that nothing else has to know the names.

use serde_json::Value;

/// What a tool does, as far as reading a session is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ToolKind {
    /// Reads a file.
    Read,
    /// Changes parts of files.
    Edit,
    /// Writes a file whole.
    Write,
    /// Runs a command.
    Run,
    /// Searches files or lists them.
    Search,
    /// Reads from the network.
    Fetch,
    /// Has another agent work.
    Delegate,
    /// Polls something that is running: repeating the call is not a loop.
    Poll,
    /// Asks the person: its duration is the person's.
    Ask,
    /// Keeps the agent's own plan.
    Plan,
    /// Not known here.
    Other,
}

/// A tool, under all the names that clients have for it, with the arguments that matter; the first that is there counts.
struct Tool {
    tool_kind: ToolKind,
    names: &'static [&'static str],
    paths: &'static [&'static str],
    words: &'static [&'static str],
}

const PATHS: &[&str] = &["file_path", "filePath", "absolute_path", "path", "notebook_path", "relative_path"];
const FOLDERS: &[&str] = &["path", "dir_path", "filePath"];

/// Names are compared without their case, and without the `mcp__server__` before them.
#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    Tool { tool_kind: ToolKind::Read, paths: PATHS, words: &[],
        names: &["read", "read_file", "readfile", "view", "view_file", "view_image", "notebookread", "read_many_files", "cat"] },
    Tool { tool_kind: ToolKind::Edit, paths: PATHS, words: &["input", "patchText", "patch"],
        names: &["edit", "multiedit", "replace", "str_replace", "str_replace_editor", "str_replace_based_edit_tool", "edit_file",
                 "notebookedit", "apply_patch", "patch"] },
    Tool { tool_kind: ToolKind::Write, paths: PATHS, words: &["content"],
        names: &["write", "write_file", "create_file"] },
    Tool { tool_kind: ToolKind::Run, paths: &[], words: &["command", "cmd", "script", "code", "input"],
        names: &["bash", "shell", "shell_command", "local_shell", "local_shell_call", "exec_command", "container.exec", "exec",
                 "run_shell_command", "run_command", "powershell"] },
    Tool { tool_kind: ToolKind::Search, paths: FOLDERS, words: &["pattern", "query", "glob"],
        names: &["grep", "grep_files", "grep_search", "search_file_content", "glob", "find_files", "ls", "list", "list_dir",
                 "list_directory", "codesearch", "toolsearch"] },
    Tool { tool_kind: ToolKind::Fetch, paths: &[], words: &["url", "query", "prompt"],
        names: &["webfetch", "web_fetch", "websearch", "web_search", "google_web_search", "web_search_call"] },
    Tool { tool_kind: ToolKind::Delegate, paths: &[], words: &["prompt", "message", "description", "objective"],
        names: &["task", "agent", "spawn_agent", "send_input", "skill", "codebase_investigator", "delegate_to_agent"] },
    Tool { tool_kind: ToolKind::Poll, paths: &[], words: &["bash_id", "shell_id", "task_id", "session_id", "id"],
        names: &["bashoutput", "taskoutput", "agentoutputtool", "write_stdin", "wait", "wait_agent", "killbash", "killshell",
                 "taskstop", "sleep", "monitor"] },
    Tool { tool_kind: ToolKind::Ask, paths: &[], words: &["question", "plan"],
        names: &["askuserquestion", "exitplanmode", "enterplanmode", "ask_user", "request_user_input", "question"] },
    Tool { tool_kind: ToolKind::Plan, paths: &[], words: &[],
        names: &["todowrite", "todoread", "update_plan", "write_todos", "taskcreate", "taskupdate", "tasklist", "taskget",
                 "save_memory"] },
];

/// A call, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallDetails {
    pub tool_kind: ToolKind,
    /// Files that it is about, as the call names them.
    pub paths: Vec<String>,
    /// The command, the pattern, the question: what it is about, if not a file.
    pub words: Option<String>,
    /// 1-based first line and how many, of a read in part.
    pub range: Option<(u64, u64)>,
}

fn tool_of(name: &str) -> Option<&'static Tool> {
    let own = name.rsplit("__").next().unwrap_or(name).to_ascii_lowercase();
    TOOLS.iter().find(|tool| tool.names.contains(&own.as_str()))
}

impl CallDetails {
    pub fn of(name: &str, arguments: &Value) -> CallDetails {
        let Some(tool) = tool_of(name) else {
            return CallDetails { tool_kind: ToolKind::Other, paths: Vec::new(), words: None, range: None };
        };
        let mut words = tool.words.iter().find_map(|name| arguments.get(name)).map(text_of_argument);
        let mut paths: Vec<String> = tool
            .paths
            .iter()
            .find_map(|name| arguments.get(name).and_then(Value::as_str))
            .map(str::to_owned)
            .into_iter()
            .collect();
        let mut tool_kind = tool.tool_kind;
        if let Value::String(whole) = arguments {
            // A tool of free form has nothing but its input: Codex's patches are given so.
            words = Some(whole.clone());
        }
        if let Some(Value::Array(several)) = arguments.get("paths").or_else(|| arguments.get("include")) {
            paths.extend(several.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        // Codex's models also apply patches through the shell.
        if let Some(patch) = words.as_deref().filter(|words| words.contains(PATCH)) {
            paths = patched_files(patch);
            tool_kind = ToolKind::Edit;
        }
        // One tool of Anthropic's reads and edits, as its command says.
        if tool.tool_kind == ToolKind::Edit
            && arguments.get("command").and_then(Value::as_str) == Some("view")
        {
            tool_kind = ToolKind::Read;
        }
        CallDetails { tool_kind, paths, words, range: range_of(arguments) }
    }

    /// The command, pattern or question, or else the first file.
    pub fn subject(&self) -> &str {
        self.words.as_ref().or(self.paths.first()).map_or("", String::as_str)
    }

    /// What it is about, in a few words.
    pub fn target(&self) -> Option<&str> {
        self.paths.first().or(self.words.as_ref()).map(String::as_str)
    }
}

const PATCH: &str = "*** Begin Patch";

/// A command may be a list of words, of which a shell's own first two say nothing.
fn text_of_argument(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [_, flag, command] if flag.starts_with('-') && flag.ends_with('c') => (*command).to_owned(),
                words => words.join(" "),
            }
        }
        other => other.to_string(),
    }
}

fn patched_files(patch: &str) -> Vec<String> {
    const HEADS: [&str; 4] = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
    let file =
        |line: &str| HEADS.iter().find_map(|head| line.strip_prefix(head)).map(|path| path.trim().to_owned());
    patch.lines().filter_map(file).collect()
}

fn range_of(arguments: &Value) -> Option<(u64, u64)> {
    let number = |names: &[&str]| names.iter().find_map(|name| arguments.get(name).and_then(Value::as_u64));
    let first = number(&["offset", "start_line"]);
    let many = number(&["limit", "max_lines"]);
    let last = number(&["end_line"]);
    if first.is_none() && many.is_none() && last.is_none() {
        return None;
    }
    let first = first.unwrap_or(1).max(1);
    Some((first, many.or(last.map(|last| last.saturating_sub(first) + 1)).unwrap_or(u64::MAX)))
}

/// Texts that a call takes away from a file or leaves around what it changes: the agent must have known them.
pub fn replaced(arguments: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    each_edit(arguments, &mut |edit| texts.extend(text_of(edit, &["old_string", "oldString", "old_str"])));
    each_patch(arguments, &mut |patch| {
        texts.extend(patch.lines().filter_map(|line| known_line_of(line, &['-', ' '])));
    });
    texts
}

/// Arguments that hold what is put into a file.
const WRITTEN: &[&str] = &["new_string", "newString", "new_str", "content", "file_text", "new_source"];

/// Texts that a call puts into a file: the agent wrote them itself.
pub fn written(arguments: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    each_edit(arguments, &mut |edit| {
        texts.extend(text_of(edit, WRITTEN));
    });
    each_patch(arguments, &mut |patch| {
        texts.extend(patch.lines().filter_map(|line| known_line_of(line, &['+'])));
    });
    texts
}

/// A text of several lines that the agent wrote in a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenText {
    /// The file that it is in, or what else the call is about.
    pub label: String,
    pub text: String,
}

/// Texts that the agent wrote in a call, as they stand in the file afterwards: what it puts there, the new side of a patch, and
/// commands, which may print a text into a file. `label` names the call.
pub fn written_texts(call: &CallDetails, label: &str, arguments: &Value) -> Vec<WrittenText> {
    let mut texts = Vec::new();
    let mut add = |label: &str, text: String| {
        if text.contains('\n') {
            texts.push(WrittenText { label: label.to_owned(), text });
        }
    };
    match call.tool_kind {
        ToolKind::Edit | ToolKind::Write => {
            each_edit(arguments, &mut |edit| {
                if let Some(text) = text_of(edit, WRITTEN) {
                    add(label, text);
                }
            });
            each_patch(arguments, &mut |patch| {
                for (file, text) in new_sides(patch) {
                    add(file.unwrap_or(label), text);
                }
            });
        }
        ToolKind::Run => call.words.iter().for_each(|words| add(label, words.clone())),
        _ => {}
    }
    texts
}

/// The new side of each change of a patch, with its file.
fn new_sides(patch: &str) -> Vec<(Option<&str>, String)> {
    let mut sides: Vec<(Option<&str>, Vec<&str>)> = Vec::new();
    let mut file = None;
    let mut begins = true;
    for line in patch.lines() {
        if line.starts_with("***") || line.starts_with("@@") {
            let names = ["*** Add File: ", "*** Update File: ", "*** Move to: "];
            file = names.iter().find_map(|name| line.strip_prefix(name)).map(str::trim).or(file);
            begins = true;
        } else if let Some(text) = line.strip_prefix(['+', ' ']).or(line.is_empty().then_some("")) {
            match sides.last_mut() {
                Some((_, side)) if !begins => side.push(text),
                _ => sides.push((file, vec![text])),
            }
            begins = false;
        }
    }
    sides.into_iter().map(|(file, side)| (file, side.join("\n"))).collect()
}

fn each_edit(arguments: &Value, visit: &mut dyn FnMut(&Value)) {
    visit(arguments);
    if let Some(Value::Array(edits)) = arguments.get("edits") {
        edits.iter().for_each(visit);
    }
}

fn text_of(edit: &Value, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| edit.get(name)).and_then(Value::as_str).map(str::to_owned)
}

fn each_patch(arguments: &Value, visit: &mut dyn FnMut(&str)) {
    let words = match arguments {
        Value::String(whole) => Some(whole.clone()),
        _ => ["input", "patchText", "patch", "command", "cmd"]
            .iter()
            .find_map(|name| arguments.get(name))
            .map(text_of_argument),
    };
    if let Some(words) = words
        && let Some(start) = words.find(PATCH)
    {
        visit(&words[start..]);
    }
}

fn known_line_of(line: &str, signs: &[char]) -> Option<String> {
    if line.starts_with("***") || line.starts_with("---") || line.starts_with("+++") {
        return None;
    }
    line.strip_prefix(signs).map(str::to_owned)
}

/// Whether two paths may name one file: logs have absolute ones and relative ones for the same.
pub fn may_be_one_file(one: &str, other: &str) -> bool {
    let plain = |path: &str| path.trim_start_matches("./").to_owned();
    let (one, other) = (plain(one), plain(other));
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    ends(&one, &other) || ends(&other, &one)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_that_the_agent_wrote_stand_as_in_the_file() {
        let of = |name: &str, arguments: Value| {
            let texts = written_texts(&CallDetails::of(name, &arguments), "call", &arguments);
            texts.into_iter().map(|written| (written.label, written.text)).collect::<Vec<_>>()
        };
        let of_call = |text: &str| ("call".to_owned(), text.to_owned());
        let of_file = |file: &str, text: &str| (file.to_owned(), text.to_owned());
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@ fn a()\n one\n-two\n+2\n three\n@@\n-x\n+y\n+++z\n*** Add File: b.rs\n+fn b() {\n+}\n*** End Patch";
        for (name, arguments, expected) in [
            ("Write", json!({"file_path": "/a", "content": "a\nb\n"}), vec![of_call("a\nb\n")]),
            (
                "Edit",
                json!({"file_path": "/a", "old_string": "x\ny", "new_string": "a\nb"}),
                vec![of_call("a\nb")],
            ),
            (
                "MultiEdit",
                json!({"file_path": "/a", "edits": [{"new_string": "a\nb"}, {"new_string": "c"}]}),
                vec![of_call("a\nb")],
            ),
            ("Bash", json!({"command": "cat > a <<'E'\na\nb\nE"}), vec![of_call("cat > a <<'E'\na\nb\nE")]),
            ("Bash", json!({"command": "ls"}), vec![]),
            (
                "apply_patch",
                json!(patch),
                vec![
                    of_file("a.rs", "one\n2\nthree"),
                    of_file("a.rs", "y\n++z"),
                    of_file("b.rs", "fn b() {\n}"),
                ],
            ),
            ("Read", json!({"file_path": "/a\nb"}), vec![]),
            ("Grep", json!({"pattern": "a\nb"}), vec![]),
        ] {
            assert_eq!(of(name, arguments.clone()), expected, "{name} {arguments}");
        }
    }

    #[test]
    fn the_clients_tools_are_understood() {
        let of = |name: &str, arguments: Value| {
            let CallDetails { tool_kind, paths, words, range } = CallDetails::of(name, &arguments);
            (tool_kind, paths.join(" "), words.unwrap_or_default(), range)
        };
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-old\n+new\n*** End Patch";
        let path = |path: &str| path.to_owned();
        for (name, arguments, expected) in [
            (
                "Read",
                json!({"file_path": "/a", "offset": 10, "limit": 5}),
                (ToolKind::Read, path("/a"), path(""), Some((10, 5))),
            ),
            ("read", json!({"filePath": "/a"}), (ToolKind::Read, path("/a"), path(""), None)),
            (
                "read_file",
                json!({"absolute_path": "/a", "start_line": 3, "end_line": 7}),
                (ToolKind::Read, path("/a"), path(""), Some((3, 5))),
            ),
            (
                "replace",
                json!({"file_path": "a", "old_string": "x"}),
                (ToolKind::Edit, path("a"), path(""), None),
            ),
            (
                "shell",
                json!({"command": ["bash", "-lc", "ls -l"]}),
                (ToolKind::Run, path(""), path("ls -l"), None),
            ),
            (
                "shell",
                json!({"command": ["apply_patch", patch]}),
                (ToolKind::Edit, path("a.rs"), format!("apply_patch {patch}"), None),
            ),
            ("exec_command", json!({"cmd": "ls"}), (ToolKind::Run, path(""), path("ls"), None)),
            ("run_shell_command", json!({"command": "ls"}), (ToolKind::Run, path(""), path("ls"), None)),
            ("apply_patch", json!(patch), (ToolKind::Edit, path("a.rs"), path(patch), None)),
            ("apply_patch", json!({"patchText": patch}), (ToolKind::Edit, path("a.rs"), path(patch), None)),
            ("mcp__tamis__grep", json!({"pattern": "x"}), (ToolKind::Search, path(""), path("x"), None)),
            ("mcp__other__frobnicate", json!({}), (ToolKind::Other, path(""), path(""), None)),
            (
                "str_replace_based_edit_tool",
                json!({"command": "view", "path": "/a"}),
                (ToolKind::Read, path("/a"), path(""), None),
            ),
        ] {
            assert_eq!(of(name, arguments.clone()), expected, "{name} {arguments}");
        }
    }

    #[test]
    fn what_an_edit_needs_and_what_it_brings() {
        let edits = json!({"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}, {"old_string": "z", "new_string": ""}]});
        assert_eq!(
            (replaced(&edits), written(&edits)),
            (vec!["x".into(), "z".into()], vec!["y".into(), String::new()])
        );
        let patch = json!("*** Begin Patch\n*** Update File: a\n@@ fn x\n kept\n-old\n+new\n*** End Patch");
        assert_eq!(
            (replaced(&patch), written(&patch)),
            (vec!["kept".into(), "old".into()], vec!["new".to_owned()])
        );
        assert_eq!(written(&json!({"file_path": "a", "content": "all"})), ["all"]);
    }

    #[test]
    fn one_file_has_several_paths() {
        for (one, other, same) in [
            ("/w/src/a.rs", "src/a.rs", true),
            ("./a.rs", "a.rs", true),
            ("ba.rs", "a.rs", false),
            ("/w/a.rs", "/v/a.rs", false),
        ] {
            assert_eq!(
                (may_be_one_file(one, other), may_be_one_file(other, one)),
                (same, same),
                "{one} {other}"
            );
        }
    }
}
