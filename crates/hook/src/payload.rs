//! The JSON that clients send to hooks. All four name its fields alike; OpenCode's comes from our own plugin.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tamis_clients::{Client, ClientHooks};

/// A hook call. Fields that a client does not send are none.
#[derive(Debug, Deserialize)]
pub(crate) struct HookPayload<'a> {
    /// The whole JSON.
    #[serde(skip)]
    text: &'a str,
    #[serde(borrow)]
    pub(crate) hook_event_name: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) session_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) transcript_path: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) cwd: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) tool_name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_response: Option<&'a RawValue>,
    /// Claude Code: the subagent whose call it is.
    #[serde(borrow, default)]
    pub(crate) agent_id: Option<Cow<'a, str>>,
    /// Gemini CLI: the tool whose output this call stands in for.
    #[serde(borrow, default)]
    pub(crate) original_request_name: Option<Cow<'a, str>>,
    /// OpenCode: the latest messages of the person and of the agent.
    #[serde(borrow, default)]
    pub(crate) person: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) agent: Option<Cow<'a, str>>,
}

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookPhase {
    Before,
    After,
    Other,
}

impl<'a> HookPayload<'a> {
    pub(crate) fn parse(input: &'a str) -> serde_json::Result<HookPayload<'a>> {
        serde_json::from_str(input).map(|payload| HookPayload { text: input, ..payload })
    }

    /// What the calls of two hooks for the same output have in common, and no others.
    pub(crate) fn output_key(&self, client: Client) -> String {
        let session = self.session_id.as_deref().unwrap_or_default();
        let output = match &self.tool_use_id {
            // Some model servers number the calls of each answer from 0, so the id alone is not enough.
            Some(id) => {
                let output = self.tool_response.map_or("", RawValue::get);
                format!("{id} {:016x}", fnv1a(output.as_bytes()))
            }
            // Gemini CLI sends no id, but the time and the output.
            None => format!("{:016x}", fnv1a(self.text.as_bytes())),
        };
        format!("{} {session} {output}", client.name())
    }

    pub(crate) fn phase(&self, client: Client) -> HookPhase {
        let ClientHooks { after, before } = client.hooks();
        match self.hook_event_name.as_ref() {
            name if name == before.name => HookPhase::Before,
            name if name == after.name => HookPhase::After,
            _ => HookPhase::Other,
        }
    }

    pub(crate) fn tool(&self) -> &str {
        self.tool_name.as_deref().unwrap_or_default()
    }

    /// The tool's arguments; null if there are none.
    pub(crate) fn arguments(&self) -> Value {
        parsed(self.tool_input)
    }

    /// What the tool returned; null if there is nothing.
    pub(crate) fn response(&self) -> Value {
        parsed(self.tool_response)
    }

    /// Bytes of the response, of which the text in it has fewer.
    pub(crate) fn response_bytes(&self) -> usize {
        self.tool_response.map_or(0, |response| response.get().len())
    }
}

fn parsed(raw: Option<&RawValue>) -> Value {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or(Value::Null)
}

/// The same in every version of tamis, of which two may run side by side.
fn fnv1a(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
