//! Numbers and texts as the contracts mean them.
//!
//! JSON Schema's `integer` takes `40.0` too, and models do write it. A number too large for us is the largest we
//! have: it can only mean "more than there will ever be".

use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, Error, Unexpected};
use serde_json::Number;

// Plain comments: what documents a type goes into the schemas that use it.

// A share, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
pub(crate) struct Ratio(#[schemars(range(min = 0, max = 1))] pub(crate) f64);

// A whole number of at least `LEAST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
pub(crate) struct Whole<const LEAST: u64>(#[schemars(range(min = LEAST))] pub(crate) u64);

// A line's number. Numbers below 1 get through, because the contract has its own error for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
pub(crate) struct LineNumber(#[schemars(range(min = 1))] pub(crate) i64);

// A text that may be left out, but not be null.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema)]
pub(crate) struct OptionalText(pub(crate) Option<String>);

impl<'de> Deserialize<'de> for OptionalText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| OptionalText(Some(text)))
    }
}

impl<'de> Deserialize<'de> for Ratio {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        if (0.0..=1.0).contains(&value) {
            Ok(Ratio(value))
        } else {
            Err(D::Error::invalid_value(Unexpected::Float(value), &"a number from 0 to 1"))
        }
    }
}

impl<'de, const LEAST: u64> Deserialize<'de> for Whole<LEAST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = format!("a whole number, {LEAST} or more");
        match whole(&Number::deserialize(deserializer)?) {
            Ok(value) if value >= i128::from(LEAST) => Ok(Whole(u64::try_from(value).unwrap_or(u64::MAX))),
            Ok(value) => Err(D::Error::invalid_value(
                Unexpected::Signed(i64::try_from(value).unwrap_or(i64::MIN)),
                &expected.as_str(),
            )),
            Err(fraction) => Err(D::Error::invalid_type(Unexpected::Float(fraction), &expected.as_str())),
        }
    }
}

impl<'de> Deserialize<'de> for LineNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match whole(&Number::deserialize(deserializer)?) {
            Ok(value) => Ok(LineNumber(value.clamp(i64::MIN.into(), i64::MAX.into()) as i64)),
            Err(fraction) => Err(D::Error::invalid_type(Unexpected::Float(fraction), &"a whole number")),
        }
    }
}

/// The whole number that this is, or the fraction that it is instead.
fn whole(number: &Number) -> Result<i128, f64> {
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(value), _, _) => Ok(value.into()),
        (_, Some(value), _) => Ok(value.into()),
        // The cast saturates, as it should.
        (_, _, Some(value)) if value.fract() == 0.0 => Ok(value as i128),
        (_, _, value) => Err(value.unwrap_or(f64::NAN)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_may_be_written_as_floats_and_may_be_huge() {
        let parse = |text: &str| serde_json::from_str::<Whole<1>>(text).map_err(|error| error.to_string());
        assert_eq!(parse("40"), Ok(Whole(40)));
        assert_eq!(parse("40.0"), Ok(Whole(40)));
        assert_eq!(parse("18446744073709551616"), Ok(Whole(u64::MAX)));
        assert_eq!(parse("1e300"), Ok(Whole(u64::MAX)));
        for text in ["0", "-1", "-1e300", "1.5", "\"1\"", "null", "true"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ratios_lie_between_0_and_1() {
        for text in ["0", "1", "0.55", "1e-9"] {
            assert!(serde_json::from_str::<Ratio>(text).is_ok(), "{text}");
        }
        for text in ["-0.1", "1.0001", "\"0.5\"", "null"] {
            assert!(serde_json::from_str::<Ratio>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn line_numbers_below_one_are_left_to_the_contract() {
        assert_eq!(serde_json::from_str::<LineNumber>("-3").unwrap(), LineNumber(-3));
        assert_eq!(serde_json::from_str::<LineNumber>("1e300").unwrap(), LineNumber(i64::MAX));
        assert!(serde_json::from_str::<LineNumber>("1.5").is_err());
    }
}
