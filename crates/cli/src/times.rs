//! Times and durations for people and for JSON. Times are milliseconds since 1970.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

/// Local time to the minute.
pub(crate) fn minute(at: Option<i64>) -> String {
    local(at, "%Y-%m-%d %H:%M")
}

/// Local time to the second.
pub(crate) fn second(at: Option<i64>) -> String {
    local(at, "%Y-%m-%d %H:%M:%S")
}

/// Local time of day to the second.
pub(crate) fn clock(at: Option<i64>) -> String {
    local(at, "%H:%M:%S")
}

fn local(at: Option<i64>, form: &str) -> String {
    // Logs write zero for an unknown time.
    let time = at.filter(|at| *at != 0).and_then(|at| Timestamp::from_millisecond(at).ok());
    time.map_or_else(|| "-".to_owned(), |time| time.to_zoned(TimeZone::system()).strftime(form).to_string())
}

/// UTC time for JSON.
pub(crate) fn utc(at: Option<i64>) -> Value {
    let time = at.filter(|at| *at != 0).and_then(|at| Timestamp::from_millisecond(at).ok());
    time.map_or(Value::Null, |time| Value::String(time.to_string()))
}

/// `4h 07m`, `12m 03s`, `8s`.
pub(crate) fn duration(seconds: u64) -> String {
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, seconds) => format!("{seconds}s"),
        (0, 0, minutes, seconds) => format!("{minutes}m {seconds:02}s"),
        (0, hours, minutes, _) => format!("{hours}h {minutes:02}m"),
        (days, hours, _, _) => format!("{days}d {hours:02}h"),
    }
}

/// The seconds between two times.
pub(crate) fn seconds(from: Option<i64>, to: Option<i64>) -> u64 {
    from.zip(to).map_or(0, |(from, to)| u64::try_from(to.saturating_sub(from)).unwrap_or(0) / 1000)
}
