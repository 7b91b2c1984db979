//! Logs of Codex: every message as an item for the model and as an event for the screen, running totals of tokens, a fifth
//! of them repeated.

use super::dialects::COMMANDS;
use super::json::{self, Json};
use super::log::{Log, timestamp};

pub(crate) struct CodexLog<'v> {
    pub(crate) log: Log<'v>,
    version: &'static str,
    model: &'static str,
    /// Input, of which cached, output, of which reasoning.
    pub(crate) total: [u64; 4],
    last: [u64; 4],
    context: u64,
}

const VERSIONS: &[(&str, &str)] =
    &[("0.46.0", "gpt-5-codex"), ("0.66.0", "gpt-5.1-codex-max"), ("0.98.0", "gpt-5.3-codex")];
const CONTEXT_LIMIT: u64 = 200_000;

/// Where a session comes from.
pub(crate) enum Origin<'a> {
    User,
    Subagent(&'a str),
    Fork(&'a str),
}

impl<'v> CodexLog<'v> {
    pub(crate) fn new(mut log: Log<'v>) -> CodexLog<'v> {
        let (version, model) = log.random().pick(VERSIONS);
        CodexLog { log, version, model, total: [0; 4], last: [0; 4], context: 6_000 }
    }

    pub(crate) fn session_meta(&mut self, origin: &Origin<'_>, instructions: &str) {
        let (id, version, project) = (self.log.session.clone(), self.version, self.log.project);
        let at = timestamp(self.log.clock);
        let mut commit = String::new();
        (0..5).for_each(|_| self.log.random().hex(&mut commit, 8));
        self.record("session_meta", |meta| {
            meta.text("id", &id).text("timestamp", &at).text("cwd", &project.root);
            meta.text("originator", "codex_cli_rs").text("cli_version", version);
            match origin {
                Origin::User => meta.text("source", "cli").done(),
                Origin::Fork(parent) => meta.text("forked_from_id", parent).text("source", "cli").done(),
                Origin::Subagent(parent) => meta
                    .fields("source", |source| {
                        source.fields("subagent", |subagent| {
                            subagent.fields("thread_spawn", |spawn| {
                                spawn.text("parent_thread_id", parent).number("depth", 1);
                            });
                        });
                    })
                    .done(),
            }
            meta.text("model_provider", "openai");
            meta.fields("base_instructions", |base| base.text("text", instructions).done());
            meta.fields("git", |git| git.text("commit_hash", &commit).text("branch", &project.branch).done());
        });
    }

    pub(crate) fn write(&mut self) {
        while !self.log.is_long_enough() || self.log.has_needles_left() {
            self.turn();
            self.log.end_turn(self.total);
        }
    }

    fn record(&mut self, kind: &str, payload: impl FnOnce(&mut Json<'_>)) {
        let at = self.log.tick(700.0);
        Json::object(&mut self.log.out, |record| {
            record.text("timestamp", &at).text("type", kind).fields("payload", payload);
        });
        self.log.end_line();
    }

    fn turn(&mut self) {
        self.log.tick(90_000.0);
        let image = self.log.image();
        let text = self.log.prose("user", 200);
        self.record("response_item", |item| {
            item.text("type", "message").text("role", "user").items("content", |parts| {
                parts.item(|part| part.text("type", "input_text").text("text", &text).done());
                if let Some(image) = &image {
                    let url = format!("data:image/png;base64,{image}");
                    parts.item(|part| part.text("type", "input_image").text("image_url", &url).done());
                }
            });
        });
        self.record("event_msg", |event| {
            event.text("type", "user_message").text("message", &text).raw("images", "[]");
        });
        let (root, model) = (&self.log.project.root, self.model);
        self.record("turn_context", |turn| {
            turn.text("cwd", root).text("approval_policy", "on-request");
            turn.fields("sandbox_policy", |policy| policy.text("type", "workspace-write").done());
            turn.text("model", model).text("effort", "medium").text("summary", "auto");
        });
        for _ in 0..self.log.random().size(10, 0.8, 80).max(1) {
            if self.log.is_long_enough() {
                break;
            }
            self.step();
        }
        let text = self.log.prose("message", 600);
        self.record("event_msg", |event| event.text("type", "agent_message").text("message", &text).done());
        self.record("response_item", |item| {
            item.text("type", "message").text("role", "assistant").items("content", |parts| {
                parts.item(|part| part.text("type", "output_text").text("text", &text).done());
            });
        });
        self.used(text.len());
        if self.context > CONTEXT_LIMIT {
            let summary = self.log.prose("summary", 4_000);
            self.record("compacted", |payload| payload.text("message", &summary).done());
            self.context = 12_000;
        }
    }

    fn step(&mut self) {
        let mut said = 0;
        if self.log.random().percent(70) {
            said += self.reasoning();
        }
        let call = self.log.random().token("call_", 24);
        if self.log.random().percent(20) {
            said += self.patch(&call);
            return self.used(said);
        }
        let (line, dialect) = self.log.random().pick(COMMANDS);
        let (command, root) = (self.log.author.filled(line), &self.log.project.root);
        let modern = self.version > "0.9";
        let arguments = json::object(|arguments| match modern {
            true => arguments.text("cmd", &command).text("workdir", root).done(),
            false => arguments.text("command", &command).text("workdir", root).done(),
        });
        self.record("response_item", |item| {
            item.text("type", "function_call")
                .text("name", if modern { "exec_command" } else { "shell_command" });
            item.text("arguments", &arguments).text("call_id", &call);
        });
        self.used(said + arguments.len());
        let exit = usize::from(self.log.random().percent(10));
        let reads = self.log.random().percent(35);
        let printed = if reads {
            let file = self.log.file();
            let (_, text) = self.log.some_lines(file, 300);
            self.log.plant("tool_result", text)
        } else {
            self.log.printed(dialect, 900)
        };
        let output =
            format!("Exit code: {exit}\nWall time: 0.{} seconds\nOutput:\n{printed}", printed.len() % 9 + 1);
        let in_parts = self.log.random().percent(10);
        self.record("response_item", |item| {
            item.text("type", "function_call_output").text("call_id", &call);
            if in_parts {
                item.items("output", |parts| {
                    parts.item(|part| part.text("type", "input_text").text("text", &output).done());
                });
            } else {
                item.text("output", &output);
            }
        });
        self.context += output.len() as u64 / 4;
    }

    fn reasoning(&mut self) -> usize {
        let text = self.log.prose("reasoning", 140);
        let mut encrypted = String::from("gAAAAABp");
        let letters = self.log.random().size(900, 0.5, 8_000);
        self.log.random().base64(&mut encrypted, letters);
        self.record("event_msg", |event| event.text("type", "agent_reasoning").text("text", &text).done());
        self.record("response_item", |item| {
            item.text("type", "reasoning").items("summary", |parts| {
                parts.item(|part| part.text("type", "summary_text").text("text", &text).done());
            });
            item.raw("content", "null").text("encrypted_content", &encrypted);
        });
        text.len() * 3
    }

    fn patch(&mut self, call: &str) -> usize {
        let file = self.log.file();
        let path = self.log.path_of(file);
        let (_, old, new) = self.log.edit(file);
        let mut patch = format!("*** Begin Patch\n*** Update File: {path}\n@@\n");
        old.lines().for_each(|line| patch.extend(["-", line, "\n"]));
        new.lines().for_each(|line| patch.extend(["+", line, "\n"]));
        patch.push_str("*** End Patch");
        self.record("response_item", |item| {
            item.text("type", "custom_tool_call").text("status", "completed").text("call_id", call);
            item.text("name", "apply_patch").text("input", &patch);
        });
        let output = json::object(|output| {
            output.text("output", &format!("Success. Updated the following files:\nM {path}\n"));
            output.fields("metadata", |metadata| metadata.number("exit_code", 0).done());
        });
        self.record("response_item", |item| {
            item.text("type", "custom_tool_call_output").text("call_id", call).text("output", &output);
        });
        patch.len()
    }

    /// Counts a request and tells the totals; a fifth of the records tell them again.
    fn used(&mut self, said: usize) {
        let output = 10 + said as u64 / 4;
        self.last = [self.context, self.context * 9 / 10 / 128 * 128, output, output / 3];
        for (total, last) in self.total.iter_mut().zip(self.last) {
            *total += last;
        }
        self.context += output;
        self.token_count();
        if self.log.random().percent(25) {
            self.token_count();
        }
    }

    fn token_count(&mut self) {
        let (total, last) = (self.total, self.last);
        self.record("event_msg", |event| {
            event.text("type", "token_count").fields("info", |info| {
                info.fields("total_token_usage", |usage| tokens(usage, total));
                info.fields("last_token_usage", |usage| tokens(usage, last));
                info.number("model_context_window", 258_400);
            });
            event.fields("rate_limits", |limits| {
                limits.fields("primary", |primary| {
                    primary.number("used_percent", "12.0").number("window_minutes", 300);
                });
            });
        });
    }
}

fn tokens(usage: &mut Json<'_>, [input, cached, output, reasoning]: [u64; 4]) {
    usage.number("input_tokens", input).number("cached_input_tokens", cached).number("output_tokens", output);
    usage.number("reasoning_output_tokens", reasoning).number("total_tokens", input + output);
}

/// A record of a parent's log, as its fork has it: written anew, at the time of the fork.
pub(crate) fn inherited(line: &str, at: &str, out: &mut String) {
    let (head, tail) = line.split_at_checked(r#"{"timestamp":""#.len()).unwrap_or((line, ""));
    out.extend([head, at, tail.get(at.len()..).unwrap_or_default()]);
}
