//! A chat model somewhere else, asked as LM Studio, Ollama and llama.cpp all understand it: `POST …/chat/completions` with
//! tools, and `GET …/models`.
//!
//! What comes back is read generously, since servers differ: arguments of a call as a string or as an object, contents as
//! a string or in parts, calls without an id.

use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::{BearerSecret, HttpError, HttpUrl, JsonRequest, JsonResponse};

/// A turn of a chat has some thousand tokens; what is larger comes from something else.
const LARGEST_ANSWER: usize = 4 << 20;

/// As much as is read of an answer that tells of a failure, and as much of that as is passed on.
const LARGEST_FAILURE: usize = 64 << 10;
const LONGEST_MESSAGE: usize = 300;

/// What a model's server wants to see before it answers.
pub type ModelKey = BearerSecret;

/// A server of chat models.
#[derive(Clone, Debug)]
pub struct ChatClient {
    base: HttpUrl,
    key: Option<ModelKey>,
}

/// A model that a server has.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ListedModel {
    pub id: String,
    /// What LM Studio says it is for.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
}

/// One turn to be taken.
#[derive(Debug, Serialize)]
pub struct ChatRequest<'a> {
    pub model: &'a str,
    pub messages: &'a [ChatMessage],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub tools: &'a [ChatTool],
    pub max_tokens: u32,
    pub temperature: f32,
}

/// What was said so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatMessage {
    System(String),
    User(String),
    Assistant { content: String, calls: Vec<ToolCall> },
    Tool { call: String, content: String },
}

/// A call that the model wants made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// JSON, or what the model takes for it.
    pub arguments: String,
}

/// A function that the model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatTool {
    pub name: &'static str,
    pub description: &'static str,
    /// A JSON schema.
    pub parameters: Value,
}

/// The model's turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatAnswer {
    pub content: String,
    pub calls: Vec<ToolCall>,
    /// Why the model will not answer.
    pub refusal: Option<String>,
    /// Whether it ended because it became too long.
    pub cut_off: bool,
    pub usage: Option<TokenUsage>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct TokenUsage {
    #[serde(default)]
    pub prompt_tokens: u64,
    #[serde(default)]
    pub completion_tokens: u64,
}

impl ChatClient {
    /// A server by the address that its paths begin with, such as `http://127.0.0.1:1234/v1`.
    pub fn new(base: HttpUrl, key: Option<ModelKey>) -> ChatClient {
        ChatClient { base, key }
    }

    /// The models that the server has, in its order.
    pub async fn models(&self, timeout: Duration) -> Result<Vec<ListedModel>, HttpError> {
        #[derive(Deserialize)]
        struct Listing {
            data: Vec<ListedModel>,
        }
        let body = successful(self.send("models", None, timeout).await?)?;
        let listing: Value = json_object(&body)?;
        let listing: Listing =
            serde_json::from_value(listing).map_err(|_| HttpError::NotAChat("it lists no models"))?;
        Ok(listing.data)
    }

    /// Takes a turn.
    pub async fn chat(&self, request: &ChatRequest<'_>, timeout: Duration) -> Result<ChatAnswer, HttpError> {
        /// Whole answers only: nobody watches the words come.
        #[derive(Serialize)]
        struct Whole<'a> {
            #[serde(flatten)]
            request: &'a ChatRequest<'a>,
            stream: bool,
        }
        let body = serde_json::to_string(&Whole { request, stream: false })
            .map_err(|error| HttpError::Broken(error.into()))?;
        let body = successful(self.send("chat/completions", Some(body), timeout).await?)?;
        ChatAnswer::read(&json_object(&body)?)
    }

    async fn send(
        &self,
        path: &str,
        body: Option<String>,
        timeout: Duration,
    ) -> Result<JsonResponse, HttpError> {
        let url = self.base.join(path).map_err(|error| HttpError::Broken(error.into()))?;
        let request = JsonRequest {
            secret: self.key.as_ref(),
            max_failure_bytes: LARGEST_FAILURE,
            ..JsonRequest::new(&url, body, LARGEST_ANSWER)
        };
        request.send(timeout).await
    }
}

fn successful(response: JsonResponse) -> Result<Bytes, HttpError> {
    if response.is_success() {
        return Ok(response.body);
    }
    let status = response.status;
    // `{"error": {"message": …}}`, `{"error": …}` or `{"message": …}`, depending on the server.
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    let messages = [&body["error"]["message"], &body["error"], &body["message"]];
    match messages.into_iter().find_map(Value::as_str).map(str::trim) {
        None | Some("") => Err(HttpError::Status(status)),
        Some(message) => {
            Err(HttpError::Failed { status, message: message.chars().take(LONGEST_MESSAGE).collect() })
        }
    }
}

fn json_object(body: &[u8]) -> Result<Value, HttpError> {
    match serde_json::from_slice::<Value>(body) {
        Ok(value) if value.is_object() => Ok(value),
        Ok(_) => Err(HttpError::NotJsonObject("it is another value".to_owned())),
        Err(error) => Err(HttpError::NotJsonObject(error.to_string())),
    }
}

impl ChatAnswer {
    fn read(body: &Value) -> Result<ChatAnswer, HttpError> {
        let choice = body["choices"].get(0).ok_or(HttpError::NotAChat("it has no choices"))?;
        let message = choice.get("message").ok_or(HttpError::NotAChat("it has no message"))?;
        let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
        Ok(ChatAnswer {
            content: text_of(&message["content"]),
            calls: calls
                .iter()
                .enumerate()
                .map(|(number, call)| ToolCall {
                    id: call["id"]
                        .as_str()
                        .filter(|id| !id.is_empty())
                        .map_or_else(|| format!("call_{number}"), str::to_owned),
                    name: call["function"]["name"].as_str().unwrap_or_default().to_owned(),
                    arguments: match &call["function"]["arguments"] {
                        Value::String(text) => text.clone(),
                        Value::Null => "{}".to_owned(),
                        other => other.to_string(),
                    },
                })
                .collect(),
            refusal: message["refusal"].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned),
            cut_off: choice["finish_reason"] == "length",
            usage: serde_json::from_value(body["usage"].clone()).ok(),
        })
    }
}

/// A text, or the texts of its parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

impl Serialize for ChatMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let told = match self {
            ChatMessage::System(content) => json!({"role": "system", "content": content}),
            ChatMessage::User(content) => json!({"role": "user", "content": content}),
            ChatMessage::Assistant { content, calls } if calls.is_empty() => {
                json!({"role": "assistant", "content": content})
            }
            ChatMessage::Assistant { content, calls } => {
                json!({"role": "assistant", "content": content, "tool_calls": calls})
            }
            ChatMessage::Tool { call, content } => {
                json!({"role": "tool", "tool_call_id": call, "content": content})
            }
        };
        told.serialize(serializer)
    }
}

impl Serialize for ToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let function = json!({"name": self.name, "arguments": self.arguments});
        json!({"id": self.id, "type": "function", "function": function}).serialize(serializer)
    }
}

impl Serialize for ChatTool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let function =
            json!({"name": self.name, "description": self.description, "parameters": self.parameters});
        json!({"type": "function", "function": function}).serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ResponseHeaders;

    fn read(message: Value) -> ChatAnswer {
        ChatAnswer::read(&json!({"choices": [{"message": message, "finish_reason": "stop"}]})).unwrap()
    }

    #[test]
    fn answers_are_read_as_servers_write_them() {
        let call = |id: &str, arguments: &str| ToolCall {
            id: id.into(),
            name: "grep".into(),
            arguments: arguments.into(),
        };
        let said = |content: &str| ChatAnswer { content: content.into(), ..ChatAnswer::default() };
        let called = |calls| ChatAnswer { calls, ..ChatAnswer::default() };
        for (message, answer) in [
            (json!({"content": "a"}), said("a")),
            (
                json!({"content": [{"type": "text", "text": "a"}, {"text": "b"}, {"type": "image"}]}),
                said("ab"),
            ),
            (json!({"content": null, "tool_calls": null, "refusal": ""}), said("")),
            (
                json!({"tool_calls": [{"id": "x", "function": {"name": "grep", "arguments": "{\"a\":1}"}},
                    {"function": {"name": "grep", "arguments": {"a": 1}}}, {"id": "", "function": {"name": "grep"}}]}),
                called(vec![call("x", "{\"a\":1}"), call("call_1", "{\"a\":1}"), call("call_2", "{}")]),
            ),
            (json!({"refusal": "no"}), ChatAnswer { refusal: Some("no".into()), ..ChatAnswer::default() }),
        ] {
            assert_eq!(read(message.clone()), answer, "{message}");
        }
        let cut = json!({"choices": [{"message": {}, "finish_reason": "length"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}});
        let usage = Some(TokenUsage { prompt_tokens: 3, completion_tokens: 4 });
        assert_eq!(
            ChatAnswer::read(&cut).unwrap(),
            ChatAnswer { cut_off: true, usage, ..ChatAnswer::default() }
        );
        for body in [json!({}), json!({"choices": []}), json!({"choices": "x"}), json!({"choices": [{}]})] {
            assert!(ChatAnswer::read(&body).is_err(), "{body}");
        }
    }

    #[test]
    fn a_conversation_is_told_in_the_usual_form() {
        let calls = vec![ToolCall { id: "1".into(), name: "ls".into(), arguments: "{}".into() }];
        let messages = [
            ChatMessage::System("s".into()),
            ChatMessage::Assistant { content: String::new(), calls },
            ChatMessage::Tool { call: "1".into(), content: "r".into() },
        ];
        let tools = [ChatTool { name: "ls", description: "d", parameters: json!({"type": "object"}) }];
        let request =
            ChatRequest { model: "m", messages: &messages, tools: &tools, max_tokens: 9, temperature: 0.0 };
        assert_eq!(
            serde_json::to_value(&request).unwrap(),
            json!({"model": "m", "max_tokens": 9, "temperature": 0.0, "messages": [
                {"role": "system", "content": "s"},
                {"role": "assistant", "content": "", "tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "1", "content": "r"}],
                "tools": [{"type": "function", "function":
                    {"name": "ls", "description": "d", "parameters": {"type": "object"}}}]})
        );
        let request = ChatRequest { tools: &[], ..request };
        assert!(serde_json::to_value(&request).unwrap().get("tools").is_none());
    }

    #[test]
    fn a_key_is_never_shown() {
        let key = ModelKey::new(" a-key-that-is-secret ").unwrap();
        let client = ChatClient::new("http://h/v1".parse().unwrap(), Some(key));
        assert!(!format!("{client:?}").contains("secret"));
        assert!(ModelKey::new(" ").is_none() && ModelKey::new("a\nb").is_none());
    }

    #[test]
    fn what_a_failing_server_says_is_passed_on() {
        for (body, told) in [
            (r#"{"error":{"message":"no such model"}}"#, "the response has status 404: no such model"),
            (r#"{"error":"gone"}"#, "the response has status 404: gone"),
            ("<html>", "the response has status 404"),
        ] {
            let response =
                JsonResponse { status: 404, headers: ResponseHeaders::default(), body: body.into() };
            assert_eq!(successful(response).unwrap_err().to_string(), told);
        }
    }

    #[tokio::test]
    async fn a_key_goes_along_where_there_is_one() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};

        for (key, told) in [(ModelKey::new("k-1"), true), (None, false)] {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}/v1", listener.local_addr().unwrap());
            let server = tokio::spawn(async move {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                let body = r#"{"data":[{"id":"a","type":"llm"},{"id":"b"}]}"#;
                let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                stream.write_all(answer.as_bytes()).await.unwrap();
                String::from_utf8(head).unwrap()
            });
            let client = ChatClient::new(url.parse().unwrap(), key);
            let listed = client.models(Duration::from_secs(60)).await.unwrap();
            let kind = Some("llm".to_owned());
            assert_eq!(
                listed,
                [ListedModel { id: "a".into(), kind }, ListedModel { id: "b".into(), kind: None }]
            );
            let head = server.await.unwrap();
            assert!(head.starts_with("GET /v1/models HTTP/1.1\r\n"), "{head}");
            assert_eq!(head.contains("authorization: Bearer k-1\r\n"), told, "{head}");
        }
    }
}
