//! Logs of Gemini CLI: one document for each session, or in newer versions one line for each message and change.

use super::dialects::COMMANDS;
use super::json::{self, Json};
use super::log::{Log, timestamp};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Document,
    Lines,
}

pub(crate) struct GeminiLog<'v> {
    pub(crate) log: Log<'v>,
    pub(crate) layout: Layout,
    root_hash: String,
    context: u64,
}

impl<'v> GeminiLog<'v> {
    pub(crate) fn new(mut log: Log<'v>, root_hash: String) -> GeminiLog<'v> {
        let layout = if log.random().percent(50) { Layout::Document } else { Layout::Lines };
        GeminiLog { log, layout, root_hash, context: 8_000 }
    }

    pub(crate) fn write(&mut self) {
        let (session, started) = (self.log.session.clone(), timestamp(self.log.clock));
        let head = json::object(|head| {
            head.text("sessionId", &session).text("projectHash", &self.root_hash);
            head.text("startTime", &started).text("lastUpdated", &started).text("kind", "main");
        });
        match self.layout {
            Layout::Lines => {
                self.log.out.push_str(&head);
                self.log.end_line();
            }
            Layout::Document => {
                self.log.out.push_str(head.trim_end_matches('}'));
                self.log.out.push_str(",\n  \"messages\": [");
            }
        }
        while !self.log.is_long_enough() || self.log.has_needles_left() {
            self.turn();
        }
        if self.layout == Layout::Document {
            self.log.out.push_str("\n  ]\n}\n");
            self.log.planted.iter_mut().for_each(|planted| planted.line = None);
        }
    }

    fn message(&mut self, kind: &str, body: impl FnOnce(&mut Json<'_>)) {
        let (at, id) = (self.log.tick(4_000.0), self.log.random().uuid());
        if self.layout == Layout::Document {
            let first = self.log.out.ends_with('[');
            self.log.out.push_str(if first { "\n    " } else { ",\n    " });
        }
        Json::object(&mut self.log.out, |message| {
            message.text("id", &id).text("timestamp", &at).text("type", kind);
            body(message);
        });
        if self.layout == Layout::Lines {
            self.log.end_line();
            Json::object(&mut self.log.out, |change| {
                change.fields("$set", |set| set.text("lastUpdated", &at).done());
            });
            self.log.end_line();
        }
    }

    fn turn(&mut self) {
        self.log.tick(60_000.0);
        let text = self.log.prose("user", 180);
        let lines = self.layout == Layout::Lines;
        self.message("user", |message| match lines {
            true => message
                .items("content", |parts| parts.item(|part| part.text("text", &text).done()).done())
                .done(),
            false => message.text("content", &text).done(),
        });
        for _ in 0..self.log.random().size(6, 0.7, 40).max(1) {
            if self.log.is_long_enough() {
                break;
            }
            self.step();
        }
        let text = self.log.prose("message", 600);
        self.answer(&text, "");
    }

    fn step(&mut self) {
        let (line, dialect) = self.log.random().pick(COMMANDS);
        let (command, what) = (self.log.author.filled(line), self.log.author.filled("%s"));
        let id = format!("run_shell_command-{}", self.log.clock);
        let printed = self.log.printed(dialect, 900);
        let output =
            format!("Command: {command}\nDirectory: (root)\nOutput: {printed}\nError: (none)\nExit Code: 0");
        let at = timestamp(self.log.clock);
        let call = json::object(|call| {
            call.text("id", &id).text("name", "run_shell_command").fields("args", |args| {
                args.text("command", &command).text("description", &what);
            });
            call.items("result", |results| {
                results.item(|result| {
                    result.fields("functionResponse", |response| {
                        response.text("id", &id).text("name", "run_shell_command");
                        response.fields("response", |inner| inner.text("output", &output).done());
                    });
                });
            });
            call.text("status", "success").text("timestamp", &at).text("resultDisplay", &printed);
            call.text("displayName", "Shell").raw("renderOutputAsMarkdown", "false");
        });
        let text = self.log.author.filled("%s %s.");
        self.answer(&text, &call);
        self.context += printed.len() as u64 / 4;
    }

    fn answer(&mut self, text: &str, call: &str) {
        let (subject, thought) = (self.log.author.filled("%s"), self.log.author.prose(180));
        let (input, output, at) = (self.context, 20 + text.len() as u64 / 4, timestamp(self.log.clock));
        self.message("gemini", |message| {
            message.text("content", text).items("thoughts", |thoughts| {
                thoughts.item(|item| {
                    item.text("subject", &subject).text("description", &thought).text("timestamp", &at);
                });
            });
            message.fields("tokens", |tokens| {
                tokens.number("input", input).number("output", output).number("cached", input * 4 / 5);
                tokens.number("thoughts", 40).number("tool", 0).number("total", input + output + 40);
            });
            message.text("model", "gemini-2.5-pro");
            if !call.is_empty() {
                message.raw("toolCalls", &format!("[{call}]"));
            }
        });
        self.context = (self.context + output) % 900_000;
    }
}
