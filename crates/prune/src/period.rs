//! The time that a question about a log is about: "between 9:30 and 9:50", "on July 7 before 8 am", "the last ten minutes".

mod clock;
mod items;
mod question;
mod words;

use tamis_text::{Date, Timestamp};

pub(crate) use question::period;

/// A time of the day in seconds.
type Seconds = u32;
const HOUR: Seconds = 3600;
const DAY: Seconds = 24 * HOUR;
/// Stands for the year of dates that have none.
const SOME_YEAR: u16 = 2000;

/// One or more spans of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Period {
    windows: Vec<Window>,
    /// Every word of the question that may refer to a time was understood.
    pub(crate) is_whole: bool,
}

/// Both ends are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Window {
    Between(Point, Point),
    /// A number of seconds at the beginning of the log.
    First(Seconds),
    /// The same at its end.
    Last(Seconds),
}

/// An end of a window. What is not given is any day, or all of the day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Point {
    day: Option<Day>,
    time: Option<Seconds>,
    /// Ambiguous: "at 9:30" may also be 21:30.
    is_of_either_half: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Day {
    Date(Date),
    /// Monday is 0.
    Weekday(u8),
}

/// What is known of a log's times, from which it follows which lines are in a period.
pub(crate) struct PeriodSurvey {
    period: Period,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    /// For each window, the number of lines in it: with ambiguous times read as written, and read as those of the afternoon.
    lines: Vec<[u64; 2]>,
}

/// A period in the times of one log.
#[derive(Clone, Debug)]
pub(crate) struct LogPeriod {
    /// The number of lines that have a time in the period, or may have.
    pub(crate) lines: u64,
    windows: Vec<Window>,
    first: Timestamp,
    last: Timestamp,
}

impl PeriodSurvey {
    pub(crate) fn new(period: Period) -> PeriodSurvey {
        let lines = vec![[0; 2]; period.windows.len()];
        PeriodSurvey { period, first: None, last: None, lines }
    }

    /// Adds the timestamp of the next line.
    pub(crate) fn add(&mut self, stamp: Timestamp) {
        if stamp == Timestamp::default() {
            return;
        }
        self.first.get_or_insert(stamp);
        self.last = Some(stamp);
        for (window, lines) in self.period.windows.iter().zip(&mut self.lines) {
            for (is_afternoon, lines) in [false, true].into_iter().zip(lines) {
                let is_in = match *window {
                    Window::Between(from, to) => {
                        is_between(from.read(is_afternoon), to.read(is_afternoon), stamp)
                    }
                    // The ends of the log are in them; which others are is known at its end.
                    Window::First(_) | Window::Last(_) => true,
                };
                *lines += u64::from(is_in);
            }
        }
    }

    /// The period in this log, unless no line is in one of its windows, or the log's years change and it says nothing of them.
    pub(crate) fn finish(self) -> Option<LogPeriod> {
        let (mut first, mut last) = (self.first?, self.last?);
        // Logs are printed from either end.
        if is_before(last, first) {
            std::mem::swap(&mut first, &mut last);
        }
        let months = (first.date, last.date);
        if let (Some(Date { year: None, month: from, .. }), Some(Date { year: None, month: to, .. })) = months
            && from.abs_diff(to) > 9
        {
            return None;
        }
        let mut windows = Vec::new();
        let mut lines = 0;
        for (window, found) in self.period.windows.iter().zip(&self.lines) {
            let halves: &[bool] = if window.is_of_either_half() { &[false, true] } else { &[false] };
            let count = windows.len();
            for &is_afternoon in halves.iter().filter(|&&is_afternoon| found[usize::from(is_afternoon)] > 0) {
                lines += found[usize::from(is_afternoon)];
                windows.push(match *window {
                    Window::Between(from, to) => {
                        Window::Between(from.read(is_afternoon), to.read(is_afternoon))
                    }
                    other => other,
                });
            }
            if windows.len() == count {
                return None;
            }
        }
        Some(LogPeriod { lines, windows, first, last })
    }
}

impl Window {
    fn is_of_either_half(&self) -> bool {
        matches!(self, Window::Between(from, to) if from.is_of_either_half || to.is_of_either_half)
    }
}

impl LogPeriod {
    /// Whether it has a length of time at an end of the log that is more than a fifth of the log.
    pub(crate) fn is_most_of_the_log(&self) -> bool {
        self.windows.iter().any(|window| match window {
            Window::First(seconds) | Window::Last(seconds) => {
                is_within(self.first, self.last, seconds.saturating_mul(5))
            }
            Window::Between(..) => false,
        })
    }

    /// Whether it is only a length of time at an end of the log.
    pub(crate) fn is_of_ends(&self) -> bool {
        self.windows.iter().all(|window| matches!(window, Window::First(_) | Window::Last(_)))
    }

    pub(crate) fn has(&self, stamp: Timestamp) -> bool {
        self.windows.iter().any(|window| match *window {
            Window::Between(from, to) => is_between(from, to, stamp),
            Window::First(seconds) => is_within(self.first, stamp, seconds),
            Window::Last(seconds) => is_within(stamp, self.last, seconds),
        })
    }
}

/// Whether a time is before another, where both have a date.
fn is_before(stamp: Timestamp, other: Timestamp) -> bool {
    let (Some(date), Some(other_date)) = (stamp.date, other.date) else { return false };
    (order(date, other_date), stamp.time.cmp(&other.time))
        < (std::cmp::Ordering::Equal, std::cmp::Ordering::Equal)
}

impl Point {
    fn read(self, is_afternoon: bool) -> Point {
        let time = self
            .time
            .map(|time| (time + if is_afternoon && self.is_of_either_half { DAY / 2 } else { 0 }) % DAY);
        Point { time, ..self }
    }

    fn date(self) -> Option<Date> {
        match self.day? {
            Day::Date(date) => Some(date),
            Day::Weekday(_) => None,
        }
    }
}

fn is_between(from: Point, to: Point, stamp: Timestamp) -> bool {
    for point in [from, to] {
        if let Some(Day::Weekday(weekday)) = point.day
            && stamp.date.and_then(Date::weekday) != Some(weekday)
        {
            return false;
        }
    }
    let (first, last) = (from.time.unwrap_or(0), to.time.unwrap_or(DAY - 1));
    if from.date().is_none() && to.date().is_none() {
        let is_any_time = from.time.is_none() && to.time.is_none();
        return match stamp.time {
            // A time that ends before it begins is over midnight.
            Some(time) if first > last => time >= first || time <= last,
            Some(time) => (first..=last).contains(&time),
            None => is_any_time,
        };
    }
    let Some(date) = stamp.date else {
        // A log without dates is of the day that is meant, as far as is known.
        return stamp.time.is_some_and(|time| from.time.is_some() && (first..=last).contains(&time));
    };
    let is_after = |day: Option<Date>| {
        day.is_none_or(|day| {
            let days = order(date, day);
            days.is_gt() || days.is_eq() && stamp.time.is_none_or(|time| time >= first)
        })
    };
    let is_before = |day: Option<Date>| {
        day.is_none_or(|day| {
            let days = order(date, day);
            days.is_lt() || days.is_eq() && stamp.time.is_none_or(|time| time <= last)
        })
    };
    is_after(from.date()) && is_before(to.date())
}

/// The order of two dates, of which a year counts only if both have one.
fn order(date: Date, other: Date) -> std::cmp::Ordering {
    let year = |of: Date, or: Date| or.year.and(of.year).unwrap_or(0);
    (year(date, other), date.month, date.day).cmp(&(year(other, date), other.month, other.day))
}

/// Whether `later` follows `earlier` within a number of seconds.
fn is_within(earlier: Timestamp, later: Timestamp, seconds: Seconds) -> bool {
    let (Some(from), Some(to)) = (earlier.time, later.time) else { return earlier.date == later.date };
    let day = i64::from(DAY);
    let between = i64::from(to) - i64::from(from);
    let between = match (earlier.date, later.date) {
        (Some(from), Some(to)) => day * (to.days(SOME_YEAR) - from.days(SOME_YEAR)) + between,
        _ => between.rem_euclid(day),
    };
    (0..=i64::from(seconds)).contains(&between)
}

#[cfg(test)]
mod tests {
    use tamis_text::timestamp;

    use super::*;

    fn lines_in(goal: &str, log: &[&str]) -> Option<Vec<usize>> {
        let (period, _) = period(goal)?;
        let mut survey = PeriodSurvey::new(period);
        log.iter().for_each(|line| survey.add(timestamp(line)));
        let found = survey.finish()?;
        Some((0..log.len()).filter(|&line| found.has(timestamp(log[line]))).collect())
    }

    #[test]
    fn lines_of_a_period_are_found() {
        let dated = [
            "2026-11-16 09:31:00 a",
            "2026-11-17 08:00:00 b",
            "2026-11-17 09:31:00 c",
            "2026-11-17 21:40:00 d",
            "2026-11-17 23:55:00 e",
            "2026-11-18 00:05:00 f",
            "2026-11-18 03:00:00 g",
        ];
        for (goal, expected) in [
            ("between 9:30 and 9:50", Some(vec![0, 2, 3])),
            ("between 09:30 and 09:50", Some(vec![0, 2])),
            ("what happened on Nov 17 between 9:30 and 9:50", Some(vec![2, 3])),
            ("on 17 November 2025", None),
            ("on 2026-11-17 after 20:00", Some(vec![3, 4])),
            ("after 2026-11-17 20:00", Some(vec![3, 4, 5, 6])),
            ("since Nov 17 23:00", Some(vec![4, 5, 6])),
            ("from 23:50 on Nov 17 until 00:15", Some(vec![4, 5])),
            ("between 23:50 and 00:10", Some(vec![4, 5])),
            ("from Nov 16 to Nov 17", Some(vec![0, 1, 2, 3, 4])),
            ("before Nov 17", Some(vec![0])),
            ("on Wednesday", Some(vec![5, 6])),
            ("between 9:35 and 9:45", Some(vec![3])),
            ("at 9:31 and at 9:40", Some(vec![0, 2, 3])),
            ("between 9:35 and 9:45 am", None),
            ("between 13:00 and 14:00", None),
            ("in the last three hours", Some(vec![5, 6])),
            ("in the last four hours of the log", Some(vec![4, 5, 6])),
            ("during the first hour", Some(vec![0])),
        ] {
            assert_eq!(lines_in(goal, &dated), expected, "{goal}");
        }
        let undated = ["23:50:00 a", "23:59:00 b", "00:00:30 c", "00:10:00 d"];
        for (goal, expected) in [
            ("in the last 10 minutes", Some(vec![2, 3])),
            ("the first ten minutes", Some(vec![0, 1])),
            ("at midnight", Some(vec![1, 2])),
            ("on Nov 17 after 23:55", Some(vec![1])),
            ("on Nov 17", None),
        ] {
            assert_eq!(lines_in(goal, &undated), expected, "{goal}");
        }
        let reversed: Vec<&str> = dated.iter().rev().copied().collect();
        assert_eq!(lines_in("in the last three hours", &reversed), Some(vec![0, 1]));
        assert_eq!(
            lines_in("since Dec 31", &["Dec 30 10:00:00 a", "Dec 31 10:00:00 b", "Jan  1 10:00:00 c"]),
            None
        );
        let days = ["Nov 17 x", "Nov 18 y"];
        assert_eq!(lines_in("what was on Nov 18", &days), Some(vec![1]));
        assert_eq!(lines_in("what was at 9:30", &["no time"]), None);
    }
}
