//! JSON-RPC messages as they are read from a line: their members stay unparsed, and point into the line.
//!
//! A message is changed by replacing parts of its text, so that all other bytes stay as they are.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// What a line has.
#[derive(Debug)]
pub(crate) enum LineContent<'a> {
    Message(Message<'a>),
    /// Several messages in an array, which the revision 2025-03-26 allows.
    Batch(Vec<Message<'a>>),
    Blank,
    /// Neither: it can only be passed on.
    Unknown,
}

/// One message. All texts are JSON.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    /// The whole message.
    pub(crate) text: &'a str,
    pub(crate) id: Option<&'a str>,
    /// Decoded.
    pub(crate) method: Option<Cow<'a, str>>,
    pub(crate) params: Option<&'a str>,
    pub(crate) result: Option<&'a str>,
}

#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
}

/// Distinguishes members that are `null` from missing ones.
pub(crate) fn present<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> LineContent<'a> {
    pub(crate) fn of(line: &'a [u8]) -> LineContent<'a> {
        let Ok(line) = std::str::from_utf8(line) else { return LineContent::Unknown };
        let text = line.trim_ascii();
        match text.as_bytes().first() {
            None => LineContent::Blank,
            Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(text) {
                Ok(parts) => match parts.into_iter().map(|part| Message::of(part.get())).collect() {
                    Some(messages) => LineContent::Batch(messages),
                    None => LineContent::Unknown,
                },
                Err(_) => LineContent::Unknown,
            },
            Some(_) => Message::of(text).map_or(LineContent::Unknown, LineContent::Message),
        }
    }

    pub(crate) fn messages(&self) -> &[Message<'a>] {
        match self {
            LineContent::Message(message) => std::slice::from_ref(message),
            LineContent::Batch(messages) => messages,
            LineContent::Blank | LineContent::Unknown => &[],
        }
    }
}

impl<'a> Message<'a> {
    fn of(text: &'a str) -> Option<Message<'a>> {
        // serde would also take an array of the members.
        if !text.starts_with('{') {
            return None;
        }
        let Members { id, method, params, result } = serde_json::from_str(text).ok()?;
        let method = match method {
            Some(method) => Some(text_of(method.get())?),
            None => None,
        };
        let get = |value: Option<&'a RawValue>| value.map(RawValue::get);
        Some(Message { text, id: get(id), method, params: get(params), result: get(result) })
    }

    /// The id of a response; none for requests and notifications.
    pub(crate) fn response_id(&self) -> Option<&'a str> {
        self.id.filter(|_| self.method.is_none())
    }

    /// The id and method of a request.
    pub(crate) fn request(&self) -> Option<(&'a str, &str)> {
        Some((self.id?, self.method.as_deref()?))
    }

    /// The method of a notification.
    pub(crate) fn notification(&self) -> Option<&str> {
        self.method.as_deref().filter(|_| self.id.is_none())
    }

    /// The JSON text of a member of the parameters, by the names that lead to it.
    pub(crate) fn param(&self, path: &[&str]) -> Option<&'a str> {
        path.iter().try_fold(self.params?, |value, name| member(value, name))
    }
}

/// A decoded string; none if it is another value, or has half of a surrogate pair.
pub(crate) fn text_of(json: &str) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text<'_>>(json).ok().map(|Text(text)| text)
}

/// The JSON text of a member of an object. None as well if there are several of that name.
pub(crate) fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    struct Find<'n>(&'n str);
    impl<'de> serde::de::Visitor<'de> for Find<'_> {
        type Value = Option<&'de RawValue>;
        fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            out.write_str("an object")
        }
        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = None;
            while let Some(Key(key)) = map.next_key::<Key<'de>>()? {
                if key == self.0 {
                    if found.replace(map.next_value()?).is_some() {
                        return Err(serde::de::Error::duplicate_field("member"));
                    }
                } else {
                    map.next_value::<serde::de::IgnoredAny>()?;
                }
            }
            Ok(found)
        }
    }
    #[derive(Deserialize)]
    struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
    let mut deserializer = serde_json::Deserializer::from_str(object);
    Deserializer::deserialize_map(&mut deserializer, Find(name)).ok().flatten().map(RawValue::get)
}

/// An id that compares equal however its text is written: programs echo `1.0` as `1` and round large numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum IdKey {
    Text(String),
    /// The bits of the number.
    Number(u64),
    Other(String),
}

impl IdKey {
    pub(crate) fn of(id: &str) -> IdKey {
        if let Some(text) = text_of(id) {
            return IdKey::Text(text.into_owned());
        }
        match id.parse::<f64>() {
            // Minus zero is zero.
            Ok(number) => IdKey::Number((number + 0.0).to_bits()),
            Err(_) => IdKey::Other(id.to_owned()),
        }
    }
}

/// Where `part`, which points into `whole`, is.
pub(crate) fn range_in(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - whole.as_ptr() as usize;
    start..start + part.len()
}

/// The text with ranges replaced. They must be in order and must not overlap.
pub(crate) fn replace(text: &str, replacements: &[(Range<usize>, String)]) -> String {
    let added: usize = replacements.iter().map(|(_, new)| new.len()).sum();
    let mut changed = String::with_capacity(text.len() + added);
    let mut end = 0;
    for (range, new) in replacements {
        changed.push_str(&text[end..range.start]);
        changed.push_str(new);
        end = range.end;
    }
    changed.push_str(&text[end..]);
    changed
}

/// A JSON string.
pub(crate) fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A response with a result; both are JSON.
pub(crate) fn success(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// A response with an error; `id` is JSON.
pub(crate) fn failure(id: &str, code: i32, message: &str, data: Option<&serde_json::Value>) -> String {
    let data = data.map_or(String::new(), |data| format!(r#","data":{data}"#));
    let message = json_string(message);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}{data}}}}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_and_ids_compare_by_value() {
        let line = " {\"id\":1.0,\"method\":\"tools\\/call\",\"x\":[1],\"params\":{\"a\":{\"b\":\"c\"}}} \r";
        let LineContent::Message(message) = LineContent::of(line.as_bytes()) else { panic!("a message") };
        assert_eq!(message.request(), Some(("1.0", "tools/call")));
        assert_eq!(message.param(&["a", "b"]), Some("\"c\""));
        assert_eq!(message.param(&["a", "c"]), None);
        for (one, other, equal) in [
            ("1", "1.0", true),
            ("1e3", "1000", true),
            ("12345678901234567890", "12345678901234567000", true),
            ("\"\\u00e9\"", "\"é\"", true),
            ("\"1\"", "1", false),
            ("null", "0", false),
        ] {
            assert_eq!(IdKey::of(one) == IdKey::of(other), equal, "{one} {other}");
        }
    }

    #[test]
    fn what_is_no_message_is_unknown() {
        for line in ["nonsense", "3", "{\"id\":1,\"id\":2}", "[1]", "{\"method\":7}", "\u{feff}{}", "{"] {
            assert!(matches!(LineContent::of(line.as_bytes()), LineContent::Unknown), "{line}");
        }
        assert!(matches!(LineContent::of(b"{\"a\":\"\xff\"}"), LineContent::Unknown));
        assert!(matches!(LineContent::of(b" \r"), LineContent::Blank));
        assert_eq!(LineContent::of(br#"[{"id":1},{"method":"x"}]"#).messages().len(), 2);
    }

    #[test]
    fn only_what_is_replaced_changes() {
        let text = r#"{"a":1,"b" : 2}"#;
        let b = member(text, "b").unwrap();
        assert_eq!(replace(text, &[(range_in(text, b), "[]".to_owned())]), r#"{"a":1,"b" : []}"#);
    }
}
