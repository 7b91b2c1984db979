//! Times as people and models write them.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use tamis_logs::event::Millis;

/// What a written time means: a date is the whole day, and a time without a fraction the whole second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeSpan {
    pub first: Millis,
    pub last: Millis,
}

impl TimeSpan {
    /// Parses a date or a time in ISO 8601; without a zone it is in this one.
    pub fn parse(text: &str, zone: &TimeZone) -> Option<TimeSpan> {
        let text = text.trim();
        let start = |time: DateTime| Some(time.to_zoned(zone.clone()).ok()?.timestamp());
        if let (Ok(date), 10) = (text.parse::<Date>(), text.len()) {
            let next = date.checked_add(1.day()).ok()?;
            let [first, next] = [date, next].map(|day| start(day.at(0, 0, 0, 0)));
            return Some(TimeSpan { first: first?.as_millisecond(), last: next?.as_millisecond() - 1 });
        }
        let time = text.parse::<Timestamp>().ok().or_else(|| start(text.parse().ok()?))?;
        let first = time.as_millisecond();
        Some(TimeSpan { first, last: if first % 1000 == 0 { first + 999 } else { first } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_in_several_forms() {
        let parse = |text| TimeSpan::parse(text, &TimeZone::UTC);
        let second = TimeSpan { first: 1_767_335_925_000, last: 1_767_335_925_999 };
        for text in ["2026-01-02T06:38:45Z", "2026-01-02T07:38:45+01:00", "2026-01-02 06:38:45"] {
            assert_eq!(parse(text), Some(second), "{text}");
        }
        let day = TimeSpan { first: 1_767_312_000_000, last: 1_767_398_399_999 };
        assert_eq!(parse("2026-01-02"), Some(day));
        for text in ["", "yesterday", "2026-13-01", "1767335925"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
