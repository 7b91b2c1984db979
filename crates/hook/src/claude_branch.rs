//! The part of a Claude Code log that leads to a call, or to its last record, read from the end. The conversation is a tree: what a person has
//! rewound stays in the log. Most lines are old results, which are long, so no more of a line is parsed than is needed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use memchr::memmem;
use serde::Deserialize;
use tamis_clients::Client;
use tamis_logs::event::{EventBody, EventStream};

use crate::context::each_event_of;

/// Results beyond those that count, so that the calls of the first of these are among the lines too.
const MORE_RESULTS: usize = 8;
/// Of older messages of the agent, only the last counts, but messages may be blank.
const OLDER_MESSAGES: usize = 8;
/// Bytes of lines with older results, which count too as far as they are certain to be in the context. A line has its result about
/// twice.
pub(crate) const OLDER_RESULT_BYTES: usize = 400_000;

/// The lines that count, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ClaudeBranch<'a> {
    /// Older ones, for the latest messages.
    pub(crate) messages: Vec<&'a str>,
    /// Those with the last results, since the client last wrote that it cleared some from the model's context.
    pub(crate) recent: Vec<&'a str>,
    /// Whether these are all results since the last compaction.
    pub(crate) has_all_results: bool,
    /// Calls of the message that the call is in, as far as they are logged; 0 where that is not known.
    pub(crate) message_calls: usize,
}

/// Where a record is in the tree.
#[derive(Debug, PartialEq, Eq, Deserialize)]
struct TreeNode<'a> {
    #[serde(borrow, default)]
    uuid: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "parentUuid")]
    parent: Option<Cow<'a, str>>,
}

impl<'a> TreeNode<'a> {
    fn of(line: &'a str) -> Option<TreeNode<'a>> {
        TreeNode::found_in(line).or_else(|| serde_json::from_str(line).ok())
    }

    /// The node without parsing the line. None where a name is not there exactly once, or a value is not a plain id. Quotation
    /// marks in texts are escaped, so a name that is found is one.
    fn found_in(line: &'a str) -> Option<TreeNode<'a>> {
        let value = |name: &str| {
            let mut places = memmem::find_iter(line.as_bytes(), name);
            let start = places.next()? + name.len();
            places.next().is_none().then(|| line[start..].trim_start())
        };
        let id = |text: &'a str| {
            let text = text.strip_prefix('"')?;
            let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')?;
            text[end..].starts_with('"').then(|| Cow::Borrowed(&text[..end]))
        };
        let parent = value("\"parentUuid\":")?;
        let parent = if parent.starts_with("null") { None } else { Some(id(parent)?) };
        Some(TreeNode { uuid: Some(id(value("\"uuid\":")?)?), parent })
    }
}

impl<'a> ClaudeBranch<'a> {
    /// Reads the last lines of a log backwards, until it has this number of results, older ones of some bytes, and what the person
    /// wrote last. The branch is that of the call, or of the last record. Records before a compaction do not lead there.
    pub(crate) fn read(
        tail: &'a str,
        path: &Path,
        call_id: Option<&str>,
        results: usize,
        older_bytes: usize,
    ) -> ClaudeBranch<'a> {
        let mut reader = BranchReader {
            path,
            recent: Vec::new(),
            messages: Vec::new(),
            results_left: results.saturating_add(MORE_RESULTS),
            older_bytes_left: older_bytes,
            messages_left: OLDER_MESSAGES,
            has_person: false,
        };
        let call = call_id.map(|id| format!("\"id\":\"{id}\""));
        let mut wanted: Option<Cow<'a, str>> = None;
        let mut is_started = false;
        let mut has_start = false;
        // Records that are not on the branch so far, by their ids.
        let mut skipped: HashMap<Cow<'a, str>, (usize, &'a str)> = HashMap::new();
        // Of parallel calls, only one result leads to the next message. The others are found by the calls that they follow.
        let mut results_by_call: HashMap<Cow<'a, str>, Vec<Cow<'a, str>>> = HashMap::new();
        for (index, line) in tail.lines().rev().enumerate() {
            if reader.is_done() {
                break;
            }
            if reader.has_results_left() && is_clearing(line) {
                (reader.results_left, reader.older_bytes_left) = (0, 0);
            }
            let Some(TreeNode { uuid: Some(uuid), parent }) = TreeNode::of(line) else { continue };
            let is_on_branch = match is_started {
                true => wanted.as_ref() == Some(&uuid),
                false => call.as_ref().is_none_or(|call| has(line, call)),
            };
            if !is_on_branch {
                if let Some(parent) = parent.filter(|_| has(line, "\"tool_result\"")) {
                    results_by_call.entry(parent).or_default().push(uuid.clone());
                }
                skipped.insert(uuid, (index, line));
                continue;
            }
            is_started = true;
            let mut next = Some((uuid, parent, index, line));
            while let Some((uuid, parent, index, line)) = next {
                for result in results_by_call.remove(&uuid).unwrap_or_default() {
                    if let Some((index, line)) = skipped.remove(&result) {
                        reader.take(index, line);
                    }
                }
                reader.take(index, line);
                wanted = parent;
                next = wanted.as_ref().and_then(|uuid| skipped.remove_entry(uuid)).map(
                    |(uuid, (index, line))| {
                        (uuid, TreeNode::of(line).and_then(|node| node.parent), index, line)
                    },
                );
            }
            if wanted.is_none() {
                has_start = true;
                break;
            }
        }
        let has_all_results = has_start && reader.has_results_left();
        let in_order = |mut lines: Vec<(usize, &'a str)>| {
            lines.sort_by_key(|(index, _)| std::cmp::Reverse(*index));
            lines.into_iter().map(|(_, line)| line).collect()
        };
        ClaudeBranch {
            messages: in_order(reader.messages),
            recent: in_order(reader.recent),
            has_all_results,
            message_calls: call.map_or(0, |call| calls_beside(tail, &call)),
        }
    }
}

/// The number of calls in the message that has this one. Each is a record of its own, and all have the message's id.
fn calls_beside(tail: &str, call: &str) -> usize {
    let message = tail.lines().rev().find(|line| has(line, call)).and_then(|line| {
        let start = memmem::find(line.as_bytes(), b"\"id\":\"msg_")?;
        let end = memmem::find(&line.as_bytes()[start + 6..], b"\"")?;
        line.get(start..start + 6 + end + 1)
    });
    // Later calls belong to it anyway.
    let calls = |line: &str| memmem::find_iter(line.as_bytes(), "\"type\":\"tool_use\"").count();
    let last = tail.lines().rev().position(|line| has(line, call)).unwrap_or(0);
    let later: usize = tail.lines().rev().take(last + 1).map(calls).sum();
    message
        .map_or(1, |message| tail.lines().rev().filter(|line| has(line, message)).map(calls).sum())
        .max(later)
}

/// Signs of records with which the client has removed something from the model's context: results, or whole messages.
const REMOVALS: &[&str] = &[
    "\"applied_edits\":[{",
    "\"type\":\"content-replacement\"",
    "\"type\":\"marble-origami-commit\"",
    "\"subtype\":\"snip_boundary\"",
];

fn is_clearing(line: &str) -> bool {
    REMOVALS.iter().any(|sign| has(line, sign))
}

fn has(line: &str, text: &str) -> bool {
    memmem::find(line.as_bytes(), text.as_bytes()).is_some()
}

/// Takes the lines of the branch, the last first.
struct BranchReader<'a, 'p> {
    path: &'p Path,
    /// With their places, counted from the end.
    recent: Vec<(usize, &'a str)>,
    messages: Vec<(usize, &'a str)>,
    results_left: usize,
    older_bytes_left: usize,
    messages_left: usize,
    has_person: bool,
}

impl<'a> BranchReader<'a, '_> {
    fn has_results_left(&self) -> bool {
        self.results_left > 0 || self.older_bytes_left > 0
    }

    fn is_done(&self) -> bool {
        !self.has_results_left() && self.has_person
    }

    fn take(&mut self, index: usize, line: &'a str) {
        let has_result = has(line, "\"tool_result\"");
        let is_agent = has(line, "\"type\":\"assistant\"");
        if !has_result && !is_agent && !self.has_person {
            self.has_person = self.is_of_person(line);
        }
        if self.has_results_left() {
            if has_result && self.results_left > 0 {
                self.results_left -= 1;
            } else if has_result {
                self.older_bytes_left = self.older_bytes_left.saturating_sub(line.len());
            }
            self.recent.push((index, line));
            return;
        }
        if is_agent {
            let has_words = has(line, "\"type\":\"text\"") || has(line, "\"type\":\"thinking\"");
            if has_words && self.messages_left > 0 {
                self.messages_left -= 1;
                self.messages.push((index, line));
            }
        } else if !has_result {
            self.messages.push((index, line));
        }
    }

    fn is_of_person(&self, line: &str) -> bool {
        let mut is_of_person = false;
        each_event_of(Client::ClaudeCode, self.path, &[line], &mut |event| {
            is_of_person |= event.stream != EventStream::Sidechain
                && matches!(event.body, EventBody::User(_) | EventBody::SlashCommand { .. });
        });
        is_of_person
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_is_found_is_the_one_that_is_parsed() {
        for (line, is_found) in [
            (
                r#"{"parentUuid":null,"type":"user","uuid":"a-1","message":{"content":"\"uuid\":\"x\""}}"#,
                true,
            ),
            (r#"{"parentUuid":"b","uuid":"a"}"#, true),
            (r#"{"parentUuid": "b", "uuid": "a"}"#, true),
            // Nested, escaped, missing, no id.
            (r#"{"parentUuid":"b","uuid":"a","data":{"uuid":"c"}}"#, false),
            (r#"{"parentUuid":"b","uuid":"\u0061"}"#, false),
            (r#"{"uuid":"a"}"#, false),
            (r#"{"parentUuid":"b","uuid":7}"#, false),
            (r#"{"parentUuid":"b","uuid":"a"#, false),
        ] {
            let parsed = serde_json::from_str::<TreeNode<'_>>(line).ok();
            assert_eq!(TreeNode::found_in(line).is_some(), is_found, "{line}");
            assert_eq!(TreeNode::of(line), parsed, "{line}");
        }
    }

    #[test]
    fn results_of_parallel_calls_are_all_there() {
        let record = |uuid: &str, parent: &str, role: &str, content: &str| {
            format!(
                r#"{{"parentUuid":"{parent}","type":"{role}","uuid":"{uuid}","sessionId":"s","message":{{"role":"{role}","content":{content}}}}}"#
            )
        };
        let call = |uuid: &str, parent: &str| {
            let content = format!(r#"[{{"type":"tool_use","id":"t{uuid}","name":"Bash","input":{{}}}}]"#);
            record(uuid, parent, "assistant", &content)
        };
        let result = |uuid: &str, parent: &str| {
            let content = format!(r#"[{{"type":"tool_result","tool_use_id":"t{parent}","content":"done"}}]"#);
            record(uuid, parent, "user", &content)
        };
        let lines = [
            record("u", "", "user", r#""why?""#),
            // Rewound, with its result.
            call("x", "u"),
            result("rx", "x"),
            call("a", "u"),
            call("b", "a"),
            call("c", "b"),
            result("ra", "a"),
            result("rc", "c"),
            result("rb", "b"),
            call("d", "rc"),
            result("rd", "d"),
        ];
        let tail = lines.join("\n");
        let branch = ClaudeBranch::read(&tail, Path::new("s.jsonl"), None, 5, 0);
        let expected: Vec<&str> = [0, 3, 4, 5, 6, 7, 8, 9, 10].map(|line| lines[line].as_str()).to_vec();
        assert_eq!(branch.recent, expected);
    }

    #[test]
    fn only_what_counts_is_read() {
        let record = |uuid: usize, role: &str, content: &str| {
            format!(
                r#"{{"parentUuid":"{}","type":"{role}","uuid":"{uuid}","sessionId":"s","message":{{"role":"{role}","content":{content}}}}}"#,
                uuid - 1
            )
        };
        let mut lines = vec![record(1, "user", r#""before""#), record(2, "user", r#""why?""#)];
        for call in 1..=40 {
            lines.push(record(
                2 * call + 1,
                "assistant",
                r#"[{"type":"tool_use","id":"t","name":"Bash","input":{}}]"#,
            ));
            lines.push(record(
                2 * call + 2,
                "user",
                r#"[{"type":"tool_result","tool_use_id":"t","content":"done"}]"#,
            ));
        }
        // A record that is written before the one that it follows.
        let (last, before) = (lines.len() - 1, lines.len() - 2);
        lines.swap(last, before);
        lines.push(record(83, "assistant", r#"[{"type":"text","text":"now"}]"#));
        let tail = lines.join("\n");
        let branch = ClaudeBranch::read(&tail, Path::new("s.jsonl"), None, 5, 0);
        // The calls of 13 results, and what follows.
        assert_eq!(branch.recent.len(), 2 * 13);
        assert_eq!(branch.recent.last(), Some(&lines[lines.len() - 1].as_str()));
        assert_eq!(branch.messages, [lines[1].as_str()]);
    }
}
