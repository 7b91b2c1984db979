//! The pruned text in an answer: the first of three members that is a string.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::RemoteError;

/// In this order.
const MEMBERS: [&str; 3] = ["pruned_code", "content", "text"];

pub(crate) fn pruned_text(body: &[u8]) -> Result<String, RemoteError> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let Texts(texts) =
        serde_json::from_slice(body).map_err(|error| RemoteError::NotJson(error.to_string()))?;
    texts.into_iter().flatten().next().ok_or(RemoteError::NoText)
}

/// The members that are strings. All else is read past without being kept.
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
                        // Of two alike the last one counts, as in JavaScript.
                        Some(place) => texts.0[place] = members.next_value::<MaybeText>()?.0,
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
    fn the_first_string_of_three_counts() {
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
