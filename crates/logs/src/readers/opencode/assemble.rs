//! From a stored session to events.

use serde_json::Value;

use super::parts::{PartContent, part};
use super::tokens::tokens;
use super::{Message, Session};
use crate::event::{Content, EventBody, EventStream, LogEvent, Millis};
use crate::readers::hashing::claim_of;
use crate::readers::{ParsedLog, Relation, SessionFact, Unrecognised};
use crate::usage::{Claim, ExclusionReason, Tokens, UsageReport};

pub(super) fn transcript(mut session: Session) -> ParsedLog<'static> {
    let messages = std::mem::take(&mut session.messages);
    let mut reader = Reader {
        stream: if session.parent.is_some() { EventStream::Subagent } else { EventStream::Main },
        created: session.created,
        parsed: ParsedLog { unrecognised: std::mem::take(&mut session.unrecognised), ..ParsedLog::default() },
    };
    let reverted = |name: &str| {
        let value = session.revert.as_ref().and_then(|revert| revert.get(name));
        value.and_then(Value::as_str).map(str::to_owned)
    };
    let (from, from_part) = (reverted("messageID"), reverted("partID"));
    let mut gone = false;
    for (place, message) in messages.iter().enumerate() {
        let here = !gone && from.as_ref() == Some(&message.id);
        if here {
            let count = messages.len() - place;
            let what = if count == 1 { "message is" } else { "messages are" };
            let text = format!("{count} {what} reverted, until the next prompt takes them away");
            if from_part.is_none() {
                reader.event(message.created, EventBody::Notification(Content::text(text)));
                gone = true;
            }
        }
        gone = reader.message(message, gone, from_part.as_deref().filter(|_| here));
    }
    ParsedLog { facts: facts(session), ..reader.parsed }
}

fn facts(session: Session) -> Vec<SessionFact<'static>> {
    let mut facts = vec![SessionFact::Id(session.id.into())];
    let some = |text: Option<String>| text.filter(|text| !text.is_empty());
    facts.extend(some(session.root).map(|root| SessionFact::Root(root.into())));
    facts.extend(session.created.map(SessionFact::Started));
    facts.extend(some(session.title).map(|title| SessionFact::Title(title.into())));
    facts.extend(some(session.version).map(|version| SessionFact::Version(version.into())));
    if let Some(parent) = some(session.parent) {
        facts.push(SessionFact::Parent { id: parent.into(), relation: Relation::Subagent });
        facts.extend(some(session.agent).map(|agent| SessionFact::AgentName(agent.into())));
    } else if let Some(origin) = session.origin {
        facts.push(SessionFact::Parent { id: origin.into(), relation: Relation::Fork });
    }
    facts
}

struct Reader {
    stream: EventStream,
    created: Option<Millis>,
    parsed: ParsedLog<'static>,
}

impl Reader {
    fn event(&mut self, at: Option<Millis>, body: EventBody<'static>) {
        self.parsed.events.push(LogEvent { at, stream: self.stream, body });
    }

    /// A tool's part holds its call and its result, and tools run at the same time, so their events are put in order.
    fn in_order(&mut self, running: &mut Vec<(Option<Millis>, EventBody<'static>)>) {
        running.sort_by_key(|(at, _)| *at);
        for (at, body) in running.drain(..) {
            self.event(at, body);
        }
    }

    /// Gives the events of a message, of which only the tokens count once it is `gone`, from the part `until` on where there is one.
    /// Gives whether what follows is gone.
    fn message(&mut self, message: &Message, mut gone: bool, until: Option<&str>) -> bool {
        let data = &message.data;
        let role = data.get("role").and_then(Value::as_str).unwrap_or("none");
        let person = match role {
            "user" => true,
            "assistant" => false,
            other => {
                self.parsed.unrecognised.push(Unrecognised::Record(format!("message.{other}").into()));
                false
            }
        };
        let summary = data.get("summary").is_some_and(|summary| *summary == true);
        let inherited = message.is_inherited(self.created);
        let mut at = message.created;
        let mut steps = 0;
        let mut running = Vec::new();
        for stored in &message.parts {
            if until.is_some_and(|until| until == stored.id) {
                self.in_order(&mut running);
                let text = "the rest of the session is reverted, until the next prompt takes it away";
                self.event(at, EventBody::Notification(Content::text(text)));
                gone = true;
            }
            // The row of a copied part has the time of the copying, and a prompt's parts are written before it is sent.
            let row = stored.created.filter(|_| !inherited && !person);
            for content in part(&stored.data, person, summary, &mut self.parsed.unrecognised) {
                match content {
                    PartContent::Event(..) if gone => {}
                    PartContent::Event(own, body) => {
                        at = own.or(row).or(at);
                        if !matches!(body, EventBody::ToolCall(_) | EventBody::ToolResult(_)) {
                            self.in_order(&mut running);
                        }
                        running.push((at, body));
                    }
                    PartContent::Step(tokens) => {
                        self.in_order(&mut running);
                        steps += 1;
                        at = row.or(at);
                        self.usage(tokens, message, &stored.id, inherited, at);
                    }
                }
            }
        }
        self.in_order(&mut running);
        let completed = data.pointer("/time/completed").and_then(Value::as_i64).or(at);
        if steps == 0 && !person {
            let reported = data.get("tokens").or_else(|| data.pointer("/metadata/assistant/tokens"));
            let tokens = reported.map(tokens).unwrap_or_default();
            if !tokens.is_zero() {
                self.usage(tokens, message, &message.id, inherited, completed);
            }
        }
        if let Some(error) = data.get("error").filter(|error| !error.is_null() && !gone) {
            let name = error.get("name").and_then(Value::as_str).unwrap_or("error");
            let why = error.pointer("/data/message").or_else(|| error.get("message"));
            let text = why.and_then(Value::as_str).map_or(name.to_owned(), |why| format!("{name}: {why}"));
            self.event(completed, EventBody::Notification(Content::text(text)));
        }
        gone
    }

    fn usage(&mut self, tokens: Tokens, message: &Message, name: &str, inherited: bool, at: Option<Millis>) {
        let data = &message.data;
        let locations = ["/modelID", "/model/modelID", "/metadata/assistant/modelID"];
        let model = locations.iter().find_map(|place| data.pointer(place).and_then(Value::as_str));
        let claim = match claim_of(&tokens, Some(name)) {
            Claim::Request(_) if inherited => Claim::Excluded(ExclusionReason::Inherited),
            claim => claim,
        };
        let model = model.map(|model| model.to_owned().into());
        self.event(at, EventBody::TokenUsage(UsageReport { tokens, model, claim, prompt: None }));
    }
}
