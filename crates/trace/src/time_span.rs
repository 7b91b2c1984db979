//! Times as people and models write them: dates, times and the shorter forms of ISO 8601, each of which is a period.

use jiff::civil::{Date, DateTime, ISOWeekDate, Weekday};
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Span, Timestamp, ToSpan, Zoned};
use tamis_logs::event::Millis;

/// The period that a written time means: a year, month, week or day is all of it, and so are an hour, a minute and a second
/// without a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeSpan {
    pub first: Millis,
    pub last: Millis,
}

impl TimeSpan {
    /// Parses a date or a time in ISO 8601; without a zone it is in this one. What is beyond the last time that can be
    /// represented is taken as that one.
    pub fn parse(text: &str, zone: &TimeZone) -> Option<TimeSpan> {
        let text = text.trim();
        match text.split_once(['T', 't', ' ']) {
            None => period(text).map(|(first, next)| {
                let next = next.map_or(Timestamp::MAX.as_millisecond(), |next| millis(midnight(next), zone));
                let first = millis(midnight(first), zone);
                TimeSpan { first, last: (next - 1).max(first) }
            }),
            Some((date, time)) => period(date)
                // A month has no time of day.
                .filter(|(first, next)| first.tomorrow().ok() == *next)
                .and_then(|(day, _)| time_of_day(day, time, zone)),
        }
        // Years of six digits, and zones by name.
        .or_else(|| {
            let named = || Some(text.parse::<Zoned>().ok()?.timestamp());
            let first = text.parse::<Timestamp>().ok().or_else(named)?.as_millisecond();
            Some(TimeSpan { first, last: if first % 1000 == 0 { first + 999 } else { first } })
        })
    }
}

/// The first day of a year, a month, a week or a day, and the first after it if there is one.
fn period(text: &str) -> Option<(Date, Option<Date>)> {
    let year = |text: &str| digits(text, 4).and_then(|year| i16::try_from(year).ok());
    let of = |date: Date, span: Span| Some((date, date.checked_add(span).ok()));
    let (start, rest) = text.split_at_checked(4)?;
    let (year, basic) = (year(start)?, rest.strip_prefix('-').unwrap_or(rest));
    let is_basic = basic.len() == rest.len();
    let month = |month: &str| i8::try_from(digits(month, 2)?).ok();
    if rest.is_empty() {
        return of(Date::new(year, 1, 1).ok()?, 1.year());
    }
    if let Some(week) = basic.strip_prefix(['W', 'w']) {
        let (number, day) = week.split_at_checked(2)?;
        let day = if is_basic || day.is_empty() { day } else { day.strip_prefix('-')? };
        let weekday = if day.is_empty() { 1 } else { i8::try_from(digits(day, 1)?).ok()? };
        let weekday = Weekday::from_monday_one_offset(weekday).ok()?;
        let date = ISOWeekDate::new(year, month(number)?, weekday).ok()?.date();
        return of(date, if day.is_empty() { 1.week() } else { 1.day() });
    }
    match (basic.len(), is_basic) {
        // `202501` would be read as a day of 2020 by some, so the standard does not have it.
        (2, false) => of(Date::new(year, month(basic)?, 1).ok()?, 1.month()),
        (3, _) => {
            let day = i16::try_from(digits(basic, 3)?).ok()?;
            of(Date::new(year, 1, 1).ok()?.with().day_of_year(day).build().ok()?, 1.day())
        }
        (4, true) => {
            let (number, day) = basic.split_at_checked(2)?;
            of(Date::new(year, month(number)?, month(day)?).ok()?, 1.day())
        }
        (5, false) => {
            let (number, day) = basic.split_once('-')?;
            of(Date::new(year, month(number)?, month(day)?).ok()?, 1.day())
        }
        _ => None,
    }
}

/// An hour, a minute, a second or a moment of a day.
fn time_of_day(day: Date, text: &str, zone: &TimeZone) -> Option<TimeSpan> {
    let (time, offset) = match text.find(['Z', 'z', '+', '-', '−']) {
        Some(at) => (&text[..at], Some(offset(&text[at..])?)),
        None => (text, None),
    };
    let (whole, fraction) = match time.split_once(['.', ',']) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (time, None),
    };
    let parts = pairs(whole)?;
    let [hour, minute, second] = [0, 1, 2].map(|at| parts.get(at).copied().unwrap_or(0));
    let is_midnight = hour == 24 && minute == 0 && second == 0;
    if parts.len() > 3 || hour > 23 && !is_midnight || minute > 59 || second > 60 {
        return None;
    }
    let unit: Millis = [3_600_000, 60_000, 1_000][parts.len().checked_sub(1)?];
    let (after, length) = match fraction {
        None => (0, unit),
        Some(digits) if !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            // Rounded down to a millisecond.
            let part: f64 = format!("0.{digits}").parse().ok()?;
            ((part * unit as f64 + 1e-6) as Millis, 1)
        }
        Some(_) => return None,
    };
    let seconds = i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second.min(59));
    let at = midnight(day).checked_add(SignedDuration::from_millis(seconds * 1_000 + after));
    let zone = offset.map_or_else(|| zone.clone(), TimeZone::fixed);
    // Only at the end of the year 9999 is there no next day.
    let first = at.map_or(Timestamp::MAX.as_millisecond(), |at| millis(at, &zone));
    Some(TimeSpan { first, last: first + length - 1 })
}

/// A zone's distance from UTC: `Z`, `+01`, `+0100`, `+01:00`.
fn offset(text: &str) -> Option<Offset> {
    if text.eq_ignore_ascii_case("Z") {
        return Some(Offset::UTC);
    }
    let sign = if text.starts_with('+') { 1 } else { -1 };
    let parts = pairs(text.trim_start_matches(['+', '-', '−']))?;
    let [hours, minutes] = [0, 1].map(|at| parts.get(at).copied().unwrap_or(0));
    if parts.is_empty() || parts.len() > 2 || hours > 23 || minutes > 59 {
        return None;
    }
    Offset::from_seconds(sign * i32::from(hours * 60 + minutes) * 60).ok()
}

/// Numbers of two digits, with a colon between each or between none.
fn pairs(text: &str) -> Option<Vec<i16>> {
    let pair = |text: &str| i16::try_from(digits(text, 2)?).ok();
    if text.contains(':') {
        return text.split(':').map(pair).collect();
    }
    text.as_bytes().chunks(2).map(|chunk| pair(std::str::from_utf8(chunk).ok()?)).collect()
}

/// A number of exactly this many digits.
fn digits(text: &str, count: usize) -> Option<u32> {
    (text.len() == count && text.bytes().all(|digit| digit.is_ascii_digit())).then(|| text.parse().ok())?
}

fn midnight(day: Date) -> DateTime {
    day.at(0, 0, 0, 0)
}

/// Timestamps end a day before the calendar does, so that they have a date in every zone; the rest is their end.
fn millis(time: DateTime, zone: &TimeZone) -> Millis {
    let limit = if time.year() > 0 { Timestamp::MAX } else { Timestamp::MIN };
    zone.to_timestamp(time).unwrap_or(limit).as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The period of a text as times in UTC, without what they have in common.
    fn parsed(text: &str) -> Option<String> {
        let TimeSpan { first, last } = TimeSpan::parse(text, &TimeZone::UTC)?;
        let shown =
            |at| Timestamp::from_millisecond(at).unwrap().strftime("%Y-%m-%dT%H:%M:%S%.3f").to_string();
        Some(format!("{} {}", shown(first), shown(last)))
    }

    #[test]
    #[rustfmt::skip]
    fn times_come_in_several_forms() {
        for (texts, period) in [
            (&["2026"][..], "2026-01-01T00:00:00.000 2026-12-31T23:59:59.999"),
            (&["2026-02"], "2026-02-01T00:00:00.000 2026-02-28T23:59:59.999"),
            (&["2026-12"], "2026-12-01T00:00:00.000 2026-12-31T23:59:59.999"),
            (&["2026-W03", "2026W03", "2026-w03"], "2026-01-12T00:00:00.000 2026-01-18T23:59:59.999"),
            (&["2026-W01"], "2025-12-29T00:00:00.000 2026-01-04T23:59:59.999"),
            (&["2026-01-15", "20260115", "2026-W03-4", "2026W034", "2026-015", "2026015", " 2026-01-15 "],
                "2026-01-15T00:00:00.000 2026-01-15T23:59:59.999"),
            (&["2024-02-29", "2024-060"], "2024-02-29T00:00:00.000 2024-02-29T23:59:59.999"),
            (&["2026-01-15T10", "2026-01-15T10Z", "2026-01-15T11+01", "2026-W03-4T10", "20260115T10Z"],
                "2026-01-15T10:00:00.000 2026-01-15T10:59:59.999"),
            (&["2026-01-15T10:30", "2026-01-15 10:30Z", "2026-01-15T1030", "2026-01-15T09:00-01:30"],
                "2026-01-15T10:30:00.000 2026-01-15T10:30:59.999"),
            (&["2026-01-02T06:38:45Z", "2026-01-02T07:38:45+01:00", "2026-01-02T07:38:45+0100", "2026-01-02 06:38:45",
                "20260102T063845Z", "2026-01-02t06:38:45z", "2026-01-02T05:38:45−01:00", "2026-002T06:38:45Z",
                "2026-01-02T06:38:45Z[UTC]", "+002026-01-02T06:38:45Z"],
                "2026-01-02T06:38:45.000 2026-01-02T06:38:45.999"),
            (&["2026-01-02T06:38:45.123Z", "2026-01-02T06:38:45,123Z", "2026-01-02T06:38:45.123999Z"],
                "2026-01-02T06:38:45.123 2026-01-02T06:38:45.123"),
            (&["2026-01-02T06:30:30.000Z", "2026-01-02T06:30.5Z"], "2026-01-02T06:30:30.000 2026-01-02T06:30:30.000"),
            (&["2026-01-02T06:38:60Z"], "2026-01-02T06:38:59.000 2026-01-02T06:38:59.999"),
            (&["2025-12-31T24:00:00Z"], "2026-01-01T00:00:00.000 2026-01-01T00:00:00.999"),
            (&["2025-12-31T24:00"], "2026-01-01T00:00:00.000 2026-01-01T00:00:59.999"),
            (&["2026-01-15T10:00:00-23:59"], "2026-01-16T09:59:00.000 2026-01-16T09:59:00.999"),
        ] {
            for text in texts {
                assert_eq!(parsed(text).as_deref(), Some(period), "{text}");
            }
        }
    }

    #[test]
    fn a_time_beyond_the_last_one_is_the_last_one() {
        let last = Timestamp::MAX.as_millisecond();
        for text in
            ["9999-12-31", "9999-12-31T23:59:59Z", "9999-12-31T24:00:00Z", "9999-365", "9999-12-31T12-12:00"]
        {
            let span = TimeSpan::parse(text, &TimeZone::UTC).unwrap();
            assert!(span.first >= last && span.last >= span.first, "{text}: {span:?}");
        }
        for text in ["9999", "9999-12", "9999-W52"] {
            let span = TimeSpan::parse(text, &TimeZone::UTC).unwrap();
            assert!(span.first < last && span.last + 1 >= last, "{text}: {span:?}");
        }
        assert!(TimeSpan::parse("0000-01-01", &TimeZone::UTC).is_some());
    }

    #[test]
    #[rustfmt::skip]
    fn what_is_no_time_is_refused() {
        for text in [
            "", "yesterday", "2026-13-01", "2026-13", "2026-00", "2026-02-30", "2026-366", "2026-000", "2026-W54", "2026-W00",
            "2026-W03-8", "1767335925", "202601", "26-01-02", "2026-1-2", "2026-01-02T", "2026-01-02T25", "2026-01-02T24:00:01",
            "2026-01-02T10:60", "2026-01-02T10:00:61", "2026-01-02T1", "2026-01-02T10:00:00.", "2026-01-02T10:00+1",
            "2026-01T10:00", "2026T10", "2026-W03T10", "2026-01-02T10:00Zebra", "日本-01-02", "2026/01/02",
            "2026-01-02--2026-01-03", "2026-01-02/2026-01-03", "P7D", "202é", "2026-é",
        ] {
            assert_eq!(TimeSpan::parse(text, &TimeZone::UTC), None, "{text}");
        }
    }

    #[test]
    fn a_time_without_a_zone_is_in_that_of_the_reader() {
        let zone = TimeZone::fixed(Offset::constant(2));
        let utc = |text| TimeSpan::parse(text, &TimeZone::UTC).unwrap();
        let here = |text| TimeSpan::parse(text, &zone).unwrap();
        assert_eq!(here("2026-01-02T08:00"), utc("2026-01-02T06:00"));
        assert_eq!(here("2026-01-02T08:00Z"), utc("2026-01-02T08:00"));
        assert_eq!(here("2026-01").first, utc("2025-12-31T22:00").first);
    }
}
