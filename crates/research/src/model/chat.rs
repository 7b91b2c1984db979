//! The wire format of chat models, in the form that LM Studio, Ollama and llama.cpp share with OpenAI's API:
//! `POST …/chat/completions` with tools, and `GET …/models`.
//!
//! Responses are read leniently, because servers differ: arguments of a call may be a string or an object, contents a string or
//! parts, and calls may have no id.

use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use tamis_http::{BearerSecret, HttpError, HttpUrl, JsonRequest, JsonResponse};
use tamis_redact::excerpt;

/// A turn of a chat has some thousand tokens, so a larger response is not one.
const MAX_RESPONSE_BYTES: usize = 4 << 20;

/// How much of a failure's body is read, and how many characters of its message are reported.
const MAX_FAILURE_BYTES: usize = 64 << 10;
const MAX_MESSAGE_CHARS: usize = 300;

/// A client of one model server.
#[derive(Clone, Debug)]
pub(crate) struct ChatClient {
    base: HttpUrl,
    key: Option<BearerSecret>,
}

/// A model that a server lists.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct ListedModel {
    pub(crate) id: String,
    /// Its kind; only LM Studio has this.
    #[serde(default, rename = "type")]
    pub(crate) kind: Option<String>,
}

/// A request for one turn.
#[derive(Debug, Serialize)]
pub(crate) struct ChatRequest<'a> {
    pub(crate) model: &'a str,
    pub(crate) messages: &'a [ChatMessage],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) tools: &'a [ChatTool],
    pub(crate) max_tokens: u32,
    pub(crate) temperature: f32,
}

/// A message of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(crate) enum ChatMessage {
    System {
        content: String,
    },
    User {
        content: String,
    },
    Assistant {
        content: String,
        #[serde(rename = "tool_calls", skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
    },
    Tool {
        #[serde(rename = "tool_call_id")]
        call: String,
        content: String,
    },
}

/// A tool call by the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolCall {
    pub(crate) id: String,
    pub(crate) name: String,
    /// Supposed to be JSON.
    pub(crate) arguments: String,
}

/// A function that the model may call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChatTool {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// A JSON schema.
    pub(crate) parameters: Value,
}

/// The model's turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChatAnswer {
    pub(crate) content: String,
    pub(crate) calls: Vec<ToolCall>,
    /// Why the model refuses to answer.
    pub(crate) refusal: Option<String>,
    /// Whether it was cut off at the token limit.
    pub(crate) cut_off: bool,
    pub(crate) usage: Option<TokenUsage>,
}

/// Why there is no turn.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChatError {
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("the response has status {status}{}", .message.as_ref().map_or(String::new(), |text| format!(": {text}")))]
    Status { status: u16, message: Option<String> },
    #[error("the response is not a JSON object: {0}")]
    NotJsonObject(String),
    #[error("the response is not a chat completion: {0}")]
    NotAChat(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct TokenUsage {
    #[serde(default)]
    pub(crate) prompt_tokens: u64,
    #[serde(default)]
    pub(crate) completion_tokens: u64,
}

impl ChatClient {
    /// A client of the server whose paths begin with `base`, such as `http://127.0.0.1:1234/v1`.
    pub(crate) fn new(base: HttpUrl, key: Option<BearerSecret>) -> ChatClient {
        ChatClient { base, key }
    }

    /// The models that the server has, in its order.
    pub(crate) async fn models(&self, timeout: Duration) -> Result<Vec<ListedModel>, ChatError> {
        #[derive(Deserialize)]
        struct Listing {
            data: Vec<ListedModel>,
        }
        let listing = json_object(&self.send("models", None, timeout).await?)?;
        let listing: Listing =
            serde_json::from_value(listing).map_err(|_| ChatError::NotAChat("it lists no models"))?;
        Ok(listing.data)
    }

    /// Requests a turn.
    pub(crate) async fn chat(
        &self,
        request: &ChatRequest<'_>,
        timeout: Duration,
    ) -> Result<ChatAnswer, ChatError> {
        /// Whole responses only; streaming has no use here.
        #[derive(Serialize)]
        struct Whole<'a> {
            #[serde(flatten)]
            request: &'a ChatRequest<'a>,
            stream: bool,
        }
        let body = serde_json::to_string(&Whole { request, stream: false })
            .map_err(|error| HttpError::Broken(error.into()))?;
        let response = self.send("chat/completions", Some(body), timeout).await?;
        ChatAnswer::read(&json_object(&response)?)
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
            max_failure_bytes: MAX_FAILURE_BYTES,
            ..JsonRequest::new(&url, body, MAX_RESPONSE_BYTES)
        };
        request.send(timeout).await
    }
}

/// The JSON object of a successful response.
fn json_object(response: &JsonResponse) -> Result<Value, ChatError> {
    if response.is_success() {
        return match response.json() {
            Ok(value @ Value::Object(_)) => Ok(value),
            Ok(_) => Err(ChatError::NotJsonObject("it is another value".to_owned())),
            Err(error) => Err(ChatError::NotJsonObject(error.to_string())),
        };
    }
    // `{"error": {"message": …}}`, `{"error": …}` or `{"message": …}`, depending on the server.
    let body: Value = response.json().unwrap_or_default();
    let messages = [&body["error"]["message"], &body["error"], &body["message"]];
    let message = messages.into_iter().find_map(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let message = message.map(|text| excerpt(text, MAX_MESSAGE_CHARS).into_inner());
    Err(ChatError::Status { status: response.status, message })
}

impl ChatAnswer {
    fn read(body: &Value) -> Result<ChatAnswer, ChatError> {
        let choice = body["choices"].get(0).ok_or(ChatError::NotAChat("it has no choices"))?;
        let message = choice.get("message").ok_or(ChatError::NotAChat("it has no message"))?;
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

/// A text, or the joined texts of its parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
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
    use tamis_http::ResponseHeaders;

    fn read(message: Value) -> ChatAnswer {
        ChatAnswer::read(&json!({"choices": [{"message": message, "finish_reason": "stop"}]})).unwrap()
    }

    #[test]
    fn responses_of_all_servers_are_read() {
        let call = |id: &str, arguments: &str| ToolCall {
            id: id.into(),
            name: "grep".into(),
            arguments: arguments.into(),
        };
        let text = |content: &str| ChatAnswer { content: content.into(), ..ChatAnswer::default() };
        let called = |calls| ChatAnswer { calls, ..ChatAnswer::default() };
        for (message, answer) in [
            (json!({"content": "a"}), text("a")),
            (
                json!({"content": [{"type": "text", "text": "a"}, {"text": "b"}, {"type": "image"}]}),
                text("ab"),
            ),
            (json!({"content": null, "tool_calls": null, "refusal": ""}), text("")),
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
    fn a_conversation_is_written_in_openais_format() {
        let calls = vec![ToolCall { id: "1".into(), name: "ls".into(), arguments: "{}".into() }];
        let messages = [
            ChatMessage::System { content: "s".into() },
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
        let key = BearerSecret::new(" a-key-that-is-secret ").unwrap();
        let client = ChatClient::new("http://h/v1".parse().unwrap(), Some(key));
        assert!(!format!("{client:?}").contains("secret"));
        assert!(BearerSecret::new(" ").is_none() && BearerSecret::new("a\nb").is_none());
    }

    #[test]
    fn the_message_of_a_failing_server_is_reported() {
        for (body, message) in [
            (r#"{"error":{"message":"no such model"}}"#, "the response has status 404: no such model"),
            (r#"{"error":"gone"}"#, "the response has status 404: gone"),
            ("<html>", "the response has status 404"),
        ] {
            let response =
                JsonResponse { status: 404, headers: ResponseHeaders::default(), body: body.into() };
            assert_eq!(json_object(&response).unwrap_err().to_string(), message);
        }
    }

    #[tokio::test]
    async fn a_key_is_sent_if_there_is_one() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};

        for (key, is_sent) in [(BearerSecret::new("k-1"), true), (None, false)] {
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
            assert_eq!(head.contains("authorization: Bearer k-1\r\n"), is_sent, "{head}");
        }
    }
}
