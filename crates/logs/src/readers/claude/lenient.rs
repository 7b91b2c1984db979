//! Reading JSON that may be of another shape than expected.
//!
//! A log is other people's: a number may stand where a text is expected, a key may come twice. Such a field is empty and
//! the record's others are read all the same, which serde's derived readers do not do.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A field's value, empty when it is of another type.
pub(super) trait Field<'de>: Default {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

/// An object whose keys are known.
pub(super) trait Object<'de>: Default {
    fn read<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error>;
}

/// Deserializes a field.
pub(super) struct Of<T>(PhantomData<T>);

impl<T> Default for Of<T> {
    fn default() -> Self {
        Of(PhantomData)
    }
}

impl<'de, T: Field<'de>> DeserializeSeed<'de> for Of<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        T::read(deserializer)
    }
}

/// The methods by which a visitor takes what it does not expect for an empty value.
macro_rules! or_else_empty {
    ($($method:ident($type:ty)),* $(; $($rest:ident),*)?) => {
        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("JSON")
        }
        $(fn $method<E: Error>(self, _: $type) -> Result<Self::Value, E> { Ok(Self::Value::default()) })*
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
        $($(or_else_empty!(@$rest);)*)?
    };
    (@seq) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
    (@map) => {
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Option<Cow<'de, str>>;

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }

    or_else_empty!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64); seq, map);
}

impl<'de> Field<'de> for Option<Cow<'de, str>> {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct BoolVisitor;

impl<'de> Visitor<'de> for BoolVisitor {
    type Value = bool;

    fn visit_bool<E: Error>(self, value: bool) -> Result<bool, E> {
        Ok(value)
    }

    or_else_empty!(visit_str(&str), visit_i64(i64), visit_u64(u64), visit_f64(f64); seq, map);
}

impl<'de> Field<'de> for bool {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BoolVisitor)
    }
}

struct CountVisitor;

impl<'de> Visitor<'de> for CountVisitor {
    type Value = u64;

    fn visit_u64<E: Error>(self, value: u64) -> Result<u64, E> {
        Ok(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<u64, E> {
        // Saturates; a negative number and none at all are 0.
        Ok(value as u64)
    }

    or_else_empty!(visit_str(&str), visit_i64(i64), visit_bool(bool); seq, map);
}

impl<'de> Field<'de> for u64 {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

/// Anything but null, as it stands.
impl<'de> Field<'de> for Option<&'de RawValue> {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue as serde::Deserialize>::deserialize(deserializer)?;
        Ok((raw.get() != "null").then_some(raw))
    }
}

/// An object, or nothing.
#[derive(Default)]
pub(super) struct Maybe<T>(pub(super) Option<T>);

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Object<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Option<T>;

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Option<T>, A::Error> {
        T::read(map).map(Some)
    }

    or_else_empty!(visit_str(&str), visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64); seq);
}

impl<'de, T: Object<'de>> Field<'de> for Maybe<T> {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjectVisitor(PhantomData)).map(Maybe)
    }
}

/// The elements of an array; of anything else there are none.
#[derive(Default)]
pub(super) struct Each<T>(pub(super) Vec<T>);

struct EachVisitor<T>(PhantomData<T>);

impl<'de, T: Field<'de>> Visitor<'de> for EachVisitor<T> {
    type Value = Vec<T>;

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element_seed(Of::default())? {
            elements.push(element);
        }
        Ok(elements)
    }

    or_else_empty!(visit_str(&str), visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64); map);
}

impl<'de, T: Field<'de>> Field<'de> for Each<T> {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EachVisitor(PhantomData)).map(Each)
    }
}

/// Reads a field out of a text of JSON, to its end.
pub(super) fn read<'de, T: Field<'de>>(text: &'de str) -> Result<T, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = T::read(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// The text of a JSON string. What cannot be decoded (half of a surrogate pair) is given as it stands.
pub(super) fn text_of(raw: &RawValue) -> Option<Cow<'_, str>> {
    let json = raw.get();
    if !json.starts_with('"') {
        return None;
    }
    match read::<Option<Cow<'_, str>>>(json) {
        Ok(text) => text,
        Err(_) => Some(Cow::Borrowed(json.trim_matches('"'))),
    }
}

/// Defines an object of lenient fields.
macro_rules! object {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $key:literal $(| $alias:literal)* => $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Default)]
        pub(super) struct $name<'a> {
            $($(#[$doc])* pub(super) $field: $type,)*
            borrowed: PhantomData<&'a ()>,
        }

        impl<'a> Object<'a> for $name<'a> {
            fn read<A: MapAccess<'a>>(mut map: A) -> Result<Self, A::Error> {
                let mut object = $name::default();
                while let Some(key) = map.next_key_seed(Of::<Option<Cow<'a, str>>>::default())? {
                    match key.as_deref().unwrap_or_default() {
                        $($key $(| $alias)* => object.$field = map.next_value_seed(Of::<$type>::default())?,)*
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(object)
            }
        }
    };
}
pub(super) use object;
