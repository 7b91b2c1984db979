//! Peers that are asked over HTTP: pruners, chat models, and whoever speaks JSON.
//!
//! A [pruner](RemotePruner) speaks the contract of swe-pruner's clients: `{code, query}` goes out, and the pruned text comes
//! back in `pruned_code`, `content` or `text`. A [chat model](ChatClient) speaks what LM Studio, Ollama and llama.cpp have in
//! common with OpenAI's API. A [request of JSON](JsonRequest) is for all others.
//!
//! Asking fails often and in many ways, and the caller then goes on with what it has; so every failure is one error
//! value, and none takes longer than the time limit, which holds from the look-up of the name to the last byte. Whoever
//! no longer wants an answer drops the future, and the connection is closed with it.
//!
//! Deliberately missing: redirects, proxies, compression, streaming, and connections that are kept. Few words are exchanged.

mod address;
mod answer;
mod chat;
mod connection;
mod exchange;
mod json;
mod pruner;
mod secret;

use std::time::Duration;

pub use address::{Address, AddressError};
pub use chat::{
    ChatAnswer, ChatClient, ChatMessage, ChatRequest, ChatTool, ListedModel, ModelKey, TokenUsage, ToolCall,
};
pub use json::{AnswerHeaders, JsonAnswer, JsonMethod, JsonRequest};
pub use pruner::RemotePruner;
pub use secret::BearerSecret;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    #[error("no answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    #[error("cannot connect to {host}: {source}")]
    Connect { host: String, source: std::io::Error },
    #[error("the connection failed: {0}")]
    Broken(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("its answer ends in the middle")]
    CutShort,
    #[error("what it says is not HTTP: {0}")]
    NotHttp(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("it answered with status {0}")]
    Status(u16),
    #[error("it answered with status {status}: {said}")]
    Failed { status: u16, said: String },
    #[error("its answer has over {0} bytes")]
    TooLarge(usize),
    #[error("its answer is not a JSON object: {0}")]
    NotJson(String),
    #[error("its answer is not JSON: {0}")]
    Unreadable(String),
    #[error("its answer has no text in pruned_code, content or text")]
    NoText,
    #[error("its answer is not one of a chat model: {0}")]
    NotAChat(&'static str),
}
