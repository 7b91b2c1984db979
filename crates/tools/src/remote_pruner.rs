//! A pruner that is another program, reached over HTTP with the contract of swe-pruner's clients: `{code, query}` is
//! posted, and the pruned text is in `pruned_code`, `content` or `text` of the response.

use std::fmt;
use std::time::Duration;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use tamis_http::{HttpError, HttpUrl, JsonRequest};

/// A response may be this much larger than its request: swe-pruner adds a score for every token.
const RESPONSE_PER_REQUEST: usize = 16;

/// Allowed for any response, however short its request was.
const SMALLEST_LIMIT: usize = 16 << 20;

/// Allowed for no response, however long its request was: all of it is held in memory.
const LARGEST_LIMIT: usize = 256 << 20;

/// The members that may hold the pruned text, best first.
const MEMBERS: [&str; 3] = ["pruned_code", "content", "text"];

#[derive(Clone, Debug)]
pub struct RemotePruner {
    url: HttpUrl,
    timeout: Duration,
}

/// Why a remote pruner pruned nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemotePrunerError {
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("the response has status {0}")]
    Status(u16),
    #[error("the response is not a JSON object: {0}")]
    NotJsonObject(serde_json::Error),
    #[error("the response has no text in `pruned_code`, `content` or `text`")]
    NoText,
}

impl RemotePruner {
    pub fn new(url: HttpUrl, timeout: Duration) -> RemotePruner {
        RemotePruner { url, timeout }
    }

    /// Why the pruner cannot prune, if it cannot: it gets a text of one line.
    pub async fn check(&self) -> Result<(), String> {
        self.prune("tamis", "tamis").await.map(drop).map_err(|error| error.to_string())
    }

    /// What the pruner keeps of `code` for `query`. Both are sent unchanged.
    pub(crate) async fn prune(&self, code: &str, query: &str) -> Result<String, RemotePrunerError> {
        #[derive(Serialize)]
        struct Body<'a> {
            code: &'a str,
            query: &'a str,
        }
        let body =
            serde_json::to_string(&Body { code, query }).map_err(|error| HttpError::Broken(error.into()))?;
        let max_bytes = largest_response(body.len());
        let response = JsonRequest::new(&self.url, Some(body), max_bytes).send(self.timeout).await?;
        if !response.is_success() {
            return Err(RemotePrunerError::Status(response.status));
        }
        pruned_text(&response.body)
    }
}

/// The size limit of the response to a request of this many bytes.
fn largest_response(request: usize) -> usize {
    request.saturating_mul(RESPONSE_PER_REQUEST).clamp(SMALLEST_LIMIT, LARGEST_LIMIT)
}

fn pruned_text(body: &[u8]) -> Result<String, RemotePrunerError> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let Texts(texts) = serde_json::from_slice(body).map_err(RemotePrunerError::NotJsonObject)?;
    texts.into_iter().flatten().next().ok_or(RemotePrunerError::NoText)
}

/// The members that are strings. All others are skipped without being kept in memory.
struct Texts([Option<String>; MEMBERS.len()]);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Texts, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Texts;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Texts, M::Error> {
                let mut texts = Texts(Default::default());
                while let Some(name) = members.next_key::<String>()? {
                    match MEMBERS.iter().position(|member| *member == name) {
                        // Of two with one name the last one counts, as in JavaScript.
                        Some(index) => texts.0[index] = members.next_value::<MaybeText>()?.0,
                        None => drop(members.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(texts)
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// A string, or anything else.
struct MaybeText(Option<String>);

impl<'de> Deserialize<'de> for MaybeText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MaybeText, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Text(String),
            Other(IgnoredAny),
        }
        Ok(MaybeText(match Either::deserialize(deserializer)? {
            Either::Text(text) => Some(text),
            Either::Other(_) => None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_bounded_whatever_the_request() {
        for (request, response) in
            [(0, 16 << 20), (2 << 20, 32 << 20), (200 << 20, 256 << 20), (usize::MAX, 256 << 20)]
        {
            assert_eq!(largest_response(request), response, "{request}");
        }
    }

    #[test]
    fn the_first_of_three_members_that_is_a_string_is_the_pruned_text() {
        for (body, text) in [
            (r#"{"pruned_code":"a","content":"b","text":"c"}"#, Ok("a")),
            (r#"{"text":"c","content":"b"}"#, Ok("b")),
            (r#"{"text":"c"}"#, Ok("c")),
            (r#"{"pruned_code":null,"content":5,"text":"c"}"#, Ok("c")),
            (r#"{"pruned_code":["x"],"content":{"text":"y"},"text":"c"}"#, Ok("c")),
            (r#"{"pruned_code":"","content":"b"}"#, Ok("")),
            (r#"{"pruned_code":"a","pruned_code":"z"}"#, Ok("z")),
            ("\u{feff} {\"text\":\"é\\n\\u00e9\"} ", Ok("é\né")),
            ("{}", Err("no text")),
            (r#"{"pruned_code":true}"#, Err("no text")),
            ("[]", Err("not a JSON object")),
            (r#""a""#, Err("not a JSON object")),
            ("null", Err("not a JSON object")),
            ("", Err("not a JSON object")),
            ("<html></html>", Err("not a JSON object")),
            (r#"{"text":"a"} more"#, Err("not a JSON object")),
            (r#"{"text":"\ud800"}"#, Err("not a JSON object")),
        ] {
            match (pruned_text(body.as_bytes()), text) {
                (Ok(found), Ok(text)) => assert_eq!(found, text, "{body}"),
                (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{body}: {error}"),
                (found, _) => panic!("{body}: {found:?}"),
            }
        }
        assert!(pruned_text(b"{\"text\":\"\xff\"}").is_err());
    }
}
