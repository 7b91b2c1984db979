//! The date and the time of day that a line of a log begins with.
//!
//! Programs write them in dozens of forms. A form is recognised by its shape alone, so that a line can be read without the others.

/// A day. A year is often not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Date {
    pub year: Option<u16>,
    pub month: u8,
    pub day: u8,
}

impl Date {
    /// A date, if there is such a day.
    pub fn new(year: Option<u16>, month: u32, day: u32) -> Option<Date> {
        let is_date = (1..=12).contains(&month) && (1..=DAYS[month as usize - 1]).contains(&day);
        is_date.then_some(Date { year, month: month as u8, day: day as u8 })
    }

    /// The days since 1 January 1970 in the given year, or in the date's own.
    pub fn days(self, year: u16) -> i64 {
        // Years begin in March, so that a leap day is a year's last.
        let (month, day) = (i64::from(self.month), i64::from(self.day));
        let year = i64::from(self.year.unwrap_or(year)) - i64::from(month <= 2);
        let days_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + days_of_year - 719_468
    }

    /// The inverse of [`Date::days`].
    fn of_days(days: i64) -> Date {
        let days = days + 719_468;
        let of_era = days.rem_euclid(146_097);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let (day, month) =
            (of_year - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
        let year = year + 400 * days.div_euclid(146_097) + i64::from(month <= 2);
        Date { year: Some(year as u16), month: month as u8, day: day as u8 }
    }

    /// The day of the week, Monday being 0, if the year is known.
    pub fn weekday(self) -> Option<u8> {
        // 1 January 1970 was a Thursday.
        self.year.map(|year| (self.days(year) + 3).rem_euclid(7) as u8)
    }
}

/// What a line says about when it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamp {
    pub date: Option<Date>,
    /// Seconds since midnight.
    pub time: Option<u32>,
}

const DAYS: [u32; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MONTHS: [&[u8; 3]; 12] =
    [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];

/// Only this much of a line is searched.
const LINE_BYTES: usize = 160;

/// The first date and the first time in the beginning of a line, wherever they are.
pub fn timestamp(line: impl AsRef<[u8]>) -> Timestamp {
    let line = line.as_ref();
    let bytes = &line[..line.len().min(LINE_BYTES)];
    let mut found = Timestamp::default();
    let mut at = 0;
    // Where a date ended: behind it, a time may have a form that is too common elsewhere.
    let mut date_end = None;
    while at < bytes.len() {
        if !begins_word(bytes, at) {
            at += 1;
            continue;
        }
        if let Some((date, end)) = date_at(bytes, at) {
            // A date without a time may be followed by one with a time.
            found.date = found.date.or(Some(date));
            date_end = Some(end);
            at = end;
            continue;
        }
        if let Some((time, end)) = time_at(bytes, at, date_end) {
            found.time = Some(of_half(time, bytes, end));
            // `Sun Dec 04 04:47:44 2005`
            if let Some(Date { year: year @ None, .. }) = &mut found.date
                && bytes.get(end) == Some(&b' ')
            {
                *year = number(bytes, end + 1, 4)
                    .filter(|&(_, last)| !is_digit(bytes, last))
                    .and_then(|(year, _)| known_year(year));
            }
            return found;
        }
        at += 1;
    }
    if found == Timestamp::default() { epoch(bytes).unwrap_or_default() } else { found }
}

/// `11:31:02 AM`, `1:00:29PM`
fn of_half(time: u32, bytes: &[u8], at: usize) -> u32 {
    const HALF: u32 = 12 * 3600;
    let at = at + usize::from(bytes.get(at) == Some(&b' '));
    let is_word = |word: &[u8]| {
        bytes.get(at..at + 2).is_some_and(|found| found.eq_ignore_ascii_case(word))
            && !bytes.get(at + 2).is_some_and(u8::is_ascii_alphanumeric)
    };
    match time {
        _ if !(3600..13 * 3600).contains(&time) => time,
        _ if is_word(b"am") => time % HALF,
        _ if is_word(b"pm") => time % HALF + HALF,
        _ => time,
    }
}

/// Seconds or milliseconds since 1970, in UTC: at the beginning of a line, or as the value of a field for the time.
fn epoch(bytes: &[u8]) -> Option<Timestamp> {
    const FIELDS: [&[u8]; 6] =
        [b"\"time\":", b"\"ts\":", b"\"timestamp\":", b"\"@timestamp\":", b"ts=", b"time="];
    // The first long number.
    let mut at = 0;
    let digits = loop {
        let digits = bytes.get(at..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        match digits {
            0 if at >= bytes.len() => return None,
            10.. => break digits,
            _ => at += digits + 1,
        }
    };
    let before = bytes[..at].trim_ascii_end();
    let is_named = FIELDS.iter().any(|field| before.ends_with(field));
    // From 2001 to 2033.
    let is_epoch = matches!(digits, 10 | 13 | 16) && bytes[at] == b'1';
    let ends = !bytes
        .get(at + digits)
        .is_some_and(|next| next.is_ascii_alphanumeric() || *next == b',' && !is_named);
    if !is_epoch || !ends || !(is_named || matches!(before, [] | [b'['])) {
        return None;
    }
    let (seconds, _) = number(bytes, at, 10)?;
    Some(Timestamp { date: Some(Date::of_days(i64::from(seconds / 86_400))), time: Some(seconds % 86_400) })
}

/// Whether a date, a time or a name of a month may begin here.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| bytes[before]);
    match bytes[at] {
        b'0'..=b'9' => !before.is_some_and(|before| before.is_ascii_digit()),
        byte if byte.is_ascii_alphabetic() => !before.is_some_and(|before| before.is_ascii_alphanumeric()),
        _ => false,
    }
}

fn is_digit(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(u8::is_ascii_digit)
}

/// A number of up to `most` digits, and where it ends.
fn number(bytes: &[u8], at: usize, most: usize) -> Option<(u32, usize)> {
    let digits = bytes.get(at..)?.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    let value = bytes[at..at + digits].iter().fold(0, |value, digit| 10 * value + u32::from(digit - b'0'));
    (digits > 0).then_some((value, at + digits))
}

/// A number of exactly two digits.
fn two(bytes: &[u8], at: usize) -> Option<u32> {
    number(bytes, at, 2).filter(|&(_, end)| end == at + 2).map(|(value, _)| value)
}

fn known_year(year: u32) -> Option<u16> {
    (1970..2100).contains(&year).then_some(year as u16)
}

fn month_at(bytes: &[u8], at: usize) -> Option<u32> {
    let name = bytes.get(at..at + 3)?;
    let ends = !bytes.get(at + 3).is_some_and(u8::is_ascii_alphanumeric);
    let month = MONTHS.iter().position(|month| name.eq_ignore_ascii_case(*month))? as u32 + 1;
    ends.then_some(month)
}

fn date_at(bytes: &[u8], at: usize) -> Option<(Date, usize)> {
    if bytes[at].is_ascii_alphabetic() {
        return named_month(bytes, at).or_else(|| glog(bytes, at));
    }
    let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    // The rest of a version, an address or a path.
    let is_joined = at > 0 && matches!(bytes[at - 1], b'.' | b'/');
    if is_joined && digits != 4 {
        return None;
    }
    let is_time_next =
        |at: usize| matches!(bytes.get(at), Some(b' ' | b'-' | b'T' | b'_')) && is_digit(bytes, at + 1);
    match digits {
        4 => year_first(bytes, at),
        // `20171223-22:15:29`
        8 => {
            let (year, month, day) = (number(bytes, at, 4)?.0, two(bytes, at + 4)?, two(bytes, at + 6)?);
            let date = Date::new(Some(known_year(year)?), month, day)?;
            is_time_next(at + 8).then_some((date, at + 8))
        }
        // `081109 203615`
        6 => {
            let (year, month, day) = (two(bytes, at)?, two(bytes, at + 2)?, two(bytes, at + 4)?);
            let date = Date::new(Some(2000 + year as u16), month, day)?;
            let spaces = bytes[at + 6..].iter().take(2).take_while(|&&byte| byte == b' ').count();
            let time = at + 6 + spaces;
            let has_time =
                spaces > 0 && (clock(bytes, time).is_some() || compact_time(bytes, time).is_some());
            has_time.then_some((date, at + 6))
        }
        1 | 2 => day_or_month_first(bytes, at, digits),
        _ => None,
    }
}

/// `2026-11-17`, `2026/11/17`, `2026.11.17`
fn year_first(bytes: &[u8], at: usize) -> Option<(Date, usize)> {
    let year = known_year(number(bytes, at, 4)?.0)?;
    let sign = *bytes.get(at + 4)?;
    let (month, end) = number(bytes, at + 5, 2)?;
    if !matches!(sign, b'-' | b'/' | b'.') || bytes.get(end) != Some(&sign) {
        return None;
    }
    let (day, end) = number(bytes, end + 1, 2)?;
    (!is_digit(bytes, end)).then_some((Date::new(Some(year), month, day)?, end))
}

/// `17/Nov/2026`, `17-Nov-2026`, `17 Nov 2026`, `17/11/09 20:10`, `17.11.2026`, `11/17/2026`, `11-17 20:10`, `11.17 20:10`
fn day_or_month_first(bytes: &[u8], at: usize, digits: usize) -> Option<(Date, usize)> {
    let (first, end) = number(bytes, at, 2)?;
    let sign = *bytes.get(end)?;
    if !matches!(sign, b'-' | b'/' | b'.' | b' ') {
        return None;
    }
    // `17. Nov`
    let space = usize::from(sign == b'.' && bytes.get(end + 1) == Some(&b' '));
    if let Some(month) = month_at(bytes, end + 1 + space) {
        let end = end + 4 + space;
        let has_year = matches!(bytes.get(end), Some(b'-' | b'/' | b' '));
        let year = number(bytes, end + 1, 4).filter(|_| has_year);
        let year = year.and_then(|(year, last)| known_year(year).map(|year| (year, last)));
        let date = Date::new(year.map(|(year, _)| year), month, first)?;
        return Some((date, year.map_or(end, |(_, last)| last)));
    }
    if sign == b' ' || digits != 2 {
        return None;
    }
    let second = two(bytes, end + 1)?;
    let end = end + 3;
    if is_digit(bytes, end) {
        return None;
    }
    if bytes.get(end) == Some(&sign) {
        let (third, last) = number(bytes, end + 1, 4)?;
        return match last - end - 1 {
            // The month is first in America, unless there is no such month.
            4 => {
                let year = Some(known_year(third)?);
                let month_first = if sign == b'/' { Date::new(year, first, second) } else { None };
                Some((month_first.or_else(|| Date::new(year, second, first))?, last))
            }
            2 if clock(bytes, last + 1).is_some() => {
                let year_first = Date::new(Some(2000 + first as u16), second, third);
                let others = || {
                    Date::new(Some(2000 + third as u16), second, first)
                        .or_else(|| Date::new(Some(2000 + third as u16), first, second))
                };
                Some((year_first.or_else(others)?, last))
            }
            _ => None,
        };
    }
    let date = Date::new(None, first, second).or_else(|| Date::new(None, second, first))?;
    (bytes.get(end) == Some(&b' ') && clock(bytes, end + 1).is_some()).then_some((date, end))
}

/// `Nov 17`, `Nov  7`, `Nov 17, 2026`
fn named_month(bytes: &[u8], at: usize) -> Option<(Date, usize)> {
    let month = month_at(bytes, at)?;
    let spaces = bytes[at + 3..].iter().take_while(|&&byte| byte == b' ').count();
    if !(1..=2).contains(&spaces) {
        return None;
    }
    let (day, end) = number(bytes, at + 3 + spaces, 2)?;
    // `Nov 10:00:00` is an hour.
    if is_digit(bytes, end) || bytes.get(end) == Some(&b':') {
        return None;
    }
    let behind = end + usize::from(bytes.get(end) == Some(&b',')) + 1;
    let year = number(bytes, behind, 4).filter(|&(_, last)| last == behind + 4 && !is_digit(bytes, last));
    let year = year.and_then(|(year, last)| known_year(year).map(|year| (year, last)));
    Some((Date::new(year.map(|(year, _)| year), month, day)?, year.map_or(end, |(_, last)| last)))
}

/// `I1117 20:10:40`
fn glog(bytes: &[u8], at: usize) -> Option<(Date, usize)> {
    let (month, day) = (two(bytes, at + 1)?, two(bytes, at + 3)?);
    let is_glog = matches!(bytes[at], b'I' | b'W' | b'E' | b'F')
        && bytes.get(at + 5) == Some(&b' ')
        && clock(bytes, at + 6).is_some();
    Date::new(None, month, day).filter(|_| is_glog).map(|date| (date, at + 5))
}

fn time_at(bytes: &[u8], at: usize, date_end: Option<usize>) -> Option<(u32, usize)> {
    let is_behind_date = date_end == Some(at.wrapping_sub(1));
    match at.checked_sub(1).map(|before| bytes[before]) {
        // `src/a.rs:12:30`, `::1:20`, and the rest of a version.
        Some(b':' | b'.' | b'/' | b'a'..=b'z' | b'A'..=b'Z') if !is_behind_date => return None,
        _ => {}
    }
    let compact = || {
        is_behind_date.then(|| {
            compact_time(bytes, at).or_else(|| dotted_time(bytes, at)).or_else(|| loose_time(bytes, at))
        })?
    };
    clock(bytes, at).or_else(compact)
}

/// `20:10`, `20:10:40`, `9:05`
fn clock(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    let (hour, end) = number(bytes, at, 2)?;
    let minute = two(bytes, end + 1).filter(|_| bytes.get(end) == Some(&b':'))?;
    if hour > 23 || minute > 59 || is_digit(bytes, end + 3) {
        return None;
    }
    let end = end + 3;
    let second = two(bytes, end + 1)
        .filter(|&second| bytes.get(end) == Some(&b':') && second <= 60 && !is_digit(bytes, end + 3));
    Some((3600 * hour + 60 * minute + second.unwrap_or(0), if second.is_some() { end + 3 } else { end }))
}

/// `201040`
fn compact_time(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    let (hour, minute, second) = (two(bytes, at)?, two(bytes, at + 2)?, two(bytes, at + 4)?);
    let is_time = hour < 24 && minute < 60 && second < 60 && !is_digit(bytes, at + 6);
    is_time.then_some((3600 * hour + 60 * minute + second, at + 6))
}

/// `20.10.40.767551`
fn dotted_time(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    let is_dotted = bytes.get(at + 2) == Some(&b'.') && bytes.get(at + 5) == Some(&b'.');
    let (hour, minute, second) = (two(bytes, at)?, two(bytes, at + 3)?, two(bytes, at + 6)?);
    let is_time = is_dotted && hour < 24 && minute < 60 && second < 60 && !is_digit(bytes, at + 8);
    is_time.then_some((3600 * hour + 60 * minute + second, at + 8))
}

/// `0:5:7:215`, without zeros in front.
fn loose_time(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    let (hour, end) = number(bytes, at, 2)?;
    let (minute, end) = number(bytes, end + 1, 2).filter(|_| bytes.get(end) == Some(&b':'))?;
    let (second, end) = number(bytes, end + 1, 2).filter(|_| bytes.get(end) == Some(&b':'))?;
    let is_time = hour < 24 && minute < 60 && second < 60 && !is_digit(bytes, end);
    is_time.then_some((3600 * hour + 60 * minute + second, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_of_lines_are_read() {
        let date =
            |year: u16, month: u8, day: u8| Some(Date { year: (year > 0).then_some(year), month, day });
        let time = |hour: u32, minute: u32, second: u32| Some(3600 * hour + 60 * minute + second);
        for (line, day, moment) in [
            ("2026-11-17 01:12:17.927 DEBUG", date(2026, 11, 17), time(1, 12, 17)),
            ("2026-11-17T01:12:17Z", date(2026, 11, 17), time(1, 12, 17)),
            ("2026/11/17 01:12:17 [error] 12#0: x", date(2026, 11, 17), time(1, 12, 17)),
            ("[2026-11-17 01:12:17,927] INFO", date(2026, 11, 17), time(1, 12, 17)),
            ("10.0.0.1 - - [17/Nov/2026:22:07:26 +0100] \"GET /\"", date(2026, 11, 17), time(22, 7, 26)),
            ("Nov 17 01:12:17 host sshd[12]: x", date(0, 11, 17), time(1, 12, 17)),
            ("Nov  7 01:12:17 host sshd[12]: x", date(0, 11, 7), time(1, 12, 17)),
            ("[Sun Dec 04 04:47:44 2005] [notice] x", date(2005, 12, 4), time(4, 47, 44)),
            ("Tue, 17 Nov 2026 01:12:17 GMT", date(2026, 11, 17), time(1, 12, 17)),
            ("2041:M 17 Nov 2026 01:12:17.123 * Ready", date(2026, 11, 17), time(1, 12, 17)),
            ("17-Nov-2026 01:12:17.123 INFO", date(2026, 11, 17), time(1, 12, 17)),
            ("Nov 17, 2026 1:12:17 AM org.apache", date(2026, 11, 17), time(1, 12, 17)),
            ("20171223-22:15:29:606|Step_LSC|30002312|x", date(2017, 12, 23), time(22, 15, 29)),
            ("20171224-0:5:7:215|Step_LSC|30002312|x", date(2017, 12, 24), time(0, 5, 7)),
            ("081109 203615 148 INFO dfs.DataNode", date(2008, 11, 9), time(20, 36, 15)),
            ("081109 20:36:15 mysqld started", date(2008, 11, 9), time(20, 36, 15)),
            ("17/06/09 20:10:40 INFO executor.Executor", date(2017, 6, 9), time(20, 10, 40)),
            ("25/12/31 20:10:40 INFO x", date(2025, 12, 31), time(20, 10, 40)),
            ("17.11.2026 20:10:40 x", date(2026, 11, 17), time(20, 10, 40)),
            ("11/17/2026 20:10:40 x", date(2026, 11, 17), time(20, 10, 40)),
            ("17/11/2026 20:10:40 x", date(2026, 11, 17), time(20, 10, 40)),
            ("03-17 16:13:38.811  1702  2395 D WindowManager", date(0, 3, 17), time(16, 13, 38)),
            ("[10.30 16:49:06] chrome.exe - x", date(0, 10, 30), time(16, 49, 6)),
            ("I1117 16:49:06.123456 12 server.go:80] x", date(0, 11, 17), time(16, 49, 6)),
            (
                "- 1117838570 2005.06.03 R02-M1-N0-C:J12-U11 2005-06-03-15.42.50.675872 R02 RAS",
                date(2005, 6, 3),
                time(15, 42, 50),
            ),
            ("{\"ts\":\"2026-11-17T01:12:17\"}", date(2026, 11, 17), time(1, 12, 17)),
            ("ts=2026-11-17T01:12:17Z level=info", date(2026, 11, 17), time(1, 12, 17)),
            ("261119  4:29:31\t    23 Connect\tapp@localhost", date(2026, 11, 19), time(4, 29, 31)),
            ("11:31:02 AM HTTP  [web] lea", None, time(11, 31, 2)),
            ("12:05:00 AM x", None, time(0, 5, 0)),
            ("Nov 12, 2026 1:00:29 PM Dispatch route", date(2026, 11, 12), time(13, 0, 29)),
            ("--- Thu 04:38:44 AM", None, time(4, 38, 44)),
            ("1794904090.326     35 127.0.0.1 NONE_NONE/503", date(2026, 11, 17), time(8, 28, 10)),
            ("{\"level\":30,\"time\":1794609860691,\"pid\":3669}", date(2026, 11, 13), time(22, 44, 20)),
            ("ts=1794609860 level=info", date(2026, 11, 13), time(22, 44, 20)),
            ("4794609860 x", None, None),
            ("id 1794609860 x", None, None),
            ("Di 17. Nov 10:00:00 CET 2026", date(0, 11, 17), time(10, 0, 0)),
            ("    1794609860, 1794609861,", None, None),
            ("[10:30] started", None, time(10, 30, 0)),
            ("9:05:07 PM started", None, time(21, 5, 7)),
            ("2026-11-17", date(2026, 11, 17), None),
            (
                "nova-api.log.1.2017-05-16_13:53:08 2017-05-16 00:00:00.008 INFO",
                date(2017, 5, 16),
                time(13, 53, 8),
            ),
            ("localhost:8080 is up", None, None),
            ("src/a.rs:12:30: warning", None, None),
            ("version 1.2.3 of 10.0.0.1:12", None, None),
            ("99:10 and 12:75 and 2026-13-40", None, None),
            ("12345678 12345", None, None),
            ("marching on, 17 of 20", None, None),
            ("é Nov", None, None),
            ("", None, None),
        ] {
            assert_eq!(timestamp(line), Timestamp { date: day, time: moment }, "{line}");
        }
    }

    #[test]
    fn days_and_weekdays_are_counted() {
        let date = |year, month, day| Date::new(Some(year), month, day).expect("a date");
        assert_eq!(date(1970, 1, 1).days(0), 0);
        for days in (-800..40_000).step_by(13) {
            assert_eq!(Date::of_days(days).days(0), days);
        }
        assert_eq!(date(2000, 3, 1).days(0) - date(2000, 2, 28).days(0), 2);
        assert_eq!(date(2026, 3, 1).days(0) - date(2026, 2, 28).days(0), 1);
        // A Thursday.
        assert_eq!(date(2026, 11, 19).weekday(), Some(3));
        assert_eq!(Date::new(None, 2, 29).and_then(Date::weekday), None);
        assert_eq!(Date::new(None, 2, 30), None);
    }
}
