//! An object of a log, taken apart in one pass.
//!
//! Logs are written by other programs: a number may stand where a text is expected, a key may come twice. A field holds its
//! value as the log has it, so a value of an unexpected type affects its own field only, the last of two counts, and fields
//! that no reader uses are skipped unparsed. Serde's derived readers would refuse the whole record.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::time;
use crate::event::Millis;

/// The keys that a reader knows.
pub(super) trait FieldKey: Copy + Eq + 'static {
    /// The member of a line that is taken apart with it.
    const INNER: Self;

    fn named(name: &str) -> Option<Self>;
}

/// Defines the keys of a reader. A lookup compares only names of the same length.
macro_rules! keys {
    ($inner:ident; $($variant:ident = $name:literal,)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Key { $($variant,)+ }

        impl $crate::readers::fields::FieldKey for Key {
            const INNER: Key = Key::$inner;

            fn named(name: &str) -> Option<Key> {
                const ALL: &[(&str, Key)] = &[$(($name, Key::$variant),)+];
                static BY_LENGTH: std::sync::LazyLock<Vec<Vec<(&str, Key)>>> = std::sync::LazyLock::new(|| {
                    let mut by_length = vec![Vec::new(); 64];
                    ALL.iter().for_each(|known| by_length[known.0.len()].push(*known));
                    by_length
                });
                let (_, key) = BY_LENGTH.get(name.len())?.iter().find(|(known, _)| *known == name)?;
                Some(*key)
            }
        }
    };
}
pub(super) use keys;

/// The known keys of an object, in its order. An object has a dozen of them at most, so that looking through them is quicker
/// than clearing a table of all that there could be.
#[derive(Clone, Debug)]
pub(super) struct Fields<'a, K>(Vec<(K, &'a RawValue)>);

impl<K> Default for Fields<'_, K> {
    fn default() -> Self {
        Fields(Vec::new())
    }
}

/// A line: its own keys, and those of its inner member where it has one, which may be no object.
#[derive(Debug)]
pub(super) struct Line<'a, K> {
    pub(super) own: Fields<'a, K>,
    pub(super) inner: Option<Fields<'a, K>>,
    pub(super) has_inner: bool,
}

impl<'a, K: FieldKey> Fields<'a, K> {
    /// An object that has only this.
    pub(super) fn only(key: K, value: &'a RawValue) -> Fields<'a, K> {
        Fields(vec![(key, value)])
    }

    /// The keys of a value that stands inside a record; of what is no object, none.
    pub(super) fn of(raw: &'a RawValue) -> Fields<'a, K> {
        Fields::parse(raw.get()).unwrap_or_default()
    }

    /// `None` when it is no object.
    pub(super) fn parse(json: &'a str) -> Option<Fields<'a, K>> {
        serde_json::from_str::<MaybeFields<'a, K>>(json).ok()?.0
    }

    /// The elements of an array, `None` for each that is no object; `None` when it is no array.
    pub(super) fn each(raw: &'a RawValue) -> Option<impl Iterator<Item = Option<Fields<'a, K>>>> {
        let elements: Vec<MaybeFields<'a, K>> = serde_json::from_str(raw.get()).ok()?;
        Some(elements.into_iter().map(|element| element.0))
    }

    /// A value, unless it is null.
    pub(super) fn get(&self, key: K) -> Option<&'a RawValue> {
        let (_, raw) = self.0.iter().rev().find(|(own, _)| *own == key)?;
        Some(*raw).filter(|raw| raw.get() != "null")
    }

    pub(super) fn first(&self, keys: &[K]) -> Option<&'a RawValue> {
        keys.iter().find_map(|key| self.get(*key))
    }

    pub(super) fn text(&self, key: K) -> Option<Cow<'a, str>> {
        text(self.get(key)?)
    }

    /// A text that is not empty.
    pub(super) fn word(&self, key: K) -> Option<Cow<'a, str>> {
        self.text(key).filter(|word| !word.is_empty())
    }

    pub(super) fn number(&self, key: K) -> Option<u64> {
        let raw = self.get(key)?.get();
        // What is negative was never used; what is a fraction was never counted.
        raw.parse().ok().or_else(|| Some(raw.parse::<f64>().ok()?.max(0.0) as u64))
    }

    pub(super) fn flag(&self, key: K) -> Option<bool> {
        match self.get(key)?.get() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    pub(super) fn object(&self, key: K) -> Option<Fields<'a, K>> {
        self.get(key).filter(|raw| raw.get().starts_with('{')).map(Fields::of)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The text of a JSON string. Borrowed where nothing in it is escaped; what cannot be decoded (half of a surrogate pair) is
/// given as it stands.
pub(super) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inside = inside(raw)?;
    match memchr::memchr(b'\\', inside.as_bytes()) {
        None => Some(Cow::Borrowed(inside)),
        Some(_) => Some(serde_json::from_str(raw.get()).map_or(Cow::Borrowed(inside), Cow::Owned)),
    }
}

/// What stands between the quotes of a JSON string, escapes and all.
pub(super) fn inside(raw: &RawValue) -> Option<&str> {
    raw.get().strip_prefix('"')?.strip_suffix('"')
}

/// A time: RFC 3339, or a number of seconds or milliseconds.
pub(super) fn moment(raw: &RawValue) -> Option<Millis> {
    const SECONDS_END: f64 = 1e11;
    if raw.get().starts_with('"') {
        return time(&text(raw)?);
    }
    let number: f64 = raw.get().parse().ok().filter(|number: &f64| number.is_finite())?;
    Some(if number.abs() < SECONDS_END { number * 1000.0 } else { number } as Millis)
}

/// Reads a line; `None` when it is no object.
pub(super) fn read_line<'a, K: FieldKey>(line: &'a str) -> serde_json::Result<Option<Line<'a, K>>> {
    let mut deserializer = serde_json::Deserializer::from_str(line);
    let object = deserializer.deserialize_any(ObjectVisitor { with_inner: true, keys: PhantomData })?;
    deserializer.end()?;
    Ok(object)
}

struct MaybeFields<'a, K>(Option<Fields<'a, K>>);

impl<'de, K: FieldKey> Deserialize<'de> for MaybeFields<'de, K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = deserializer.deserialize_any(ObjectVisitor { with_inner: false, keys: PhantomData })?;
        Ok(MaybeFields(object.map(|line| line.own)))
    }
}

struct KeySeed<K>(PhantomData<K>);

impl<'de, K: FieldKey> DeserializeSeed<'de> for KeySeed<K> {
    type Value = Option<K>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<K>, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<K: FieldKey> Visitor<'_> for KeySeed<K> {
    type Value = Option<K>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E>(self, name: &str) -> Result<Option<K>, E> {
        Ok(K::named(name))
    }
}

struct ObjectVisitor<K> {
    with_inner: bool,
    keys: PhantomData<K>,
}

/// The methods by which a visitor takes what is no object for nothing.
macro_rules! or_nothing {
    ($($method:ident($type:ty),)+) => {
        $(fn $method<E: Error>(self, _: $type) -> Result<Self::Value, E> { Ok(None) })+
    };
}

impl<'de, K: FieldKey> Visitor<'de> for ObjectVisitor<K> {
    type Value = Option<Line<'de, K>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        const USUAL: usize = 16;
        let mut line = Line { own: Fields(Vec::with_capacity(USUAL)), inner: None, has_inner: false };
        while let Some(key) = map.next_key_seed(KeySeed(PhantomData))? {
            match key {
                Some(key) if self.with_inner && key == K::INNER => {
                    line.inner = map.next_value::<MaybeFields<'de, K>>()?.0;
                    line.has_inner = true;
                }
                Some(key) => line.own.0.push((key, map.next_value()?)),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Some(line))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    or_nothing! {
        visit_bool(bool), visit_u64(u64), visit_i64(i64), visit_f64(f64), visit_str(&str),
    }
}
