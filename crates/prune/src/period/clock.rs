//! Finds the times of the day in the words of a question: in digits, and as they are spoken.

use super::items::{ItemTime, Word, is_in, number_of, relation_word, text};
use super::words::{
    ADDED_TO_HOUR, AFTER, BEFORE, BEFORE_LENGTH, HOUR_UNITS, MIDNIGHT, NOON, OPENERS, PAIR_JOINERS,
    PARTS_OF_HOUR, PAST, RANGE_JOINERS, TO,
};
use super::{DAY, HOUR, Point, Seconds};

/// `1:12`, `9am`, `9:30 pm`, `14 Uhr`, `noon`, `235000`
pub(super) fn time(words: &[Word], at: usize) -> Option<(ItemTime, usize)> {
    let (word, next) = (text(words, at), text(words, at + 1));
    let item = |from: Seconds, length: Seconds, is_of_either_half: bool, last: usize| {
        let point = Point { day: None, time: Some(from), is_of_either_half };
        Some((ItemTime::Point(point, length), last))
    };
    if is_in(NOON, word) {
        return item(DAY / 2, 60, false, at);
    }
    if is_in(MIDNIGHT, word) {
        return item(0, 60, false, at);
    }
    let half = half_of_day(next);
    // `2h` is also a length of time.
    let is_bare = word.strip_suffix('h').is_some_and(|hour| hour.parse::<u32>().is_ok());
    if is_bare && !is_time_of_day(words, at) {
        return None;
    }
    if let Some(Clock { from, length, is_of_either_half }) = clock(word) {
        return match half {
            Some(half) => item(from % (DAY / 2) + half, length, false, at + 1),
            None if is_in(HOUR_UNITS, next) => item(from, length, false, at + 1),
            None => item(from, length, is_of_either_half, at),
        };
    }
    let is_spoken_of = is_time_of_day(words, at);
    if word.len() == 6 && is_spoken_of {
        let number: u32 = word.parse().ok()?;
        let (hour, minute, second) = (number / 10_000, number / 100 % 100, number % 100);
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        return item(hour * HOUR + minute * 60 + second, if second == 0 { 60 } else { 1 }, false, at);
    }
    let hour = word.parse::<u32>().ok().filter(|&hour| hour <= 24 && word.len() <= 2)?;
    match half {
        Some(half) => item(hour % 12 * HOUR + half, HOUR, false, at + 1),
        // "2 h" is also a length of time.
        None if is_in(HOUR_UNITS, next) && (is_spoken_of || matches!(next, "uhr" | "o'clock" | "oclock")) => {
            item(hour % 24 * HOUR, HOUR, (1..=12).contains(&hour) && next != "uhr", at + 1)
        }
        None => None,
    }
}

/// "Half past eleven", "twenty to nine pm", "halb elf", "eleven o'clock", "onze heures et demie"
pub(super) fn spoken_time(words: &[Word], at: usize) -> Option<(ItemTime, usize)> {
    let hour_at = |at: usize| {
        let word = text(words, at);
        let hour = number_of(word).filter(|hour| (1..=24).contains(hour))?;
        // "Ten apples" is no time: a unit or a part of an hour must be near.
        let has_unit = is_in(HOUR_UNITS, text(words, at + 1));
        Some((hour, at + usize::from(has_unit), has_unit))
    };
    let item = |minutes: u32, last: usize| {
        let half = half_of_day(text(words, last + 1));
        let is_of_either_half = half.is_none() && minutes < 13 * 60;
        let minutes = if half.is_some() { minutes % 720 } else { minutes % 1440 };
        let time = Some(60 * minutes + half.unwrap_or(0));
        let length = if minutes % 60 == 0 { HOUR } else { 60 };
        let last = last + usize::from(half.is_some());
        Some((ItemTime::Point(Point { day: None, time, is_of_either_half }, length), last))
    };
    let word = text(words, at);
    if word == "halb" {
        let (hour, last, _) = hour_at(at + 1)?;
        return item(60 * hour - 30, last);
    }
    let of_hour = |list: &[(u32, &[&str])], word: &str| {
        list.iter().find(|(_, names)| names.contains(&word)).map(|(minutes, _)| *minutes)
    };
    let minutes = of_hour(&PARTS_OF_HOUR, word).or_else(|| {
        let minutes = number_of(word).filter(|minutes| *minutes < 60);
        minutes.filter(|_| relation_word(words, at, &[OPENERS]).is_none() || !is_in(TO, text(words, at + 1)))
    });
    if let Some(minutes) = minutes {
        let relation = at + 1 + usize::from(matches!(text(words, at + 1), "minutes" | "minuten" | "min"));
        let (is_past, is_to) = (is_in(PAST, text(words, relation)), is_in(TO, text(words, relation)));
        if let Some((hour, last, has_unit)) = hour_at(relation + 1).filter(|_| is_past || is_to) {
            let is_spelled = text(words, relation + 1).parse::<u32>().is_err();
            if is_spelled
                || has_unit
                || of_hour(&PARTS_OF_HOUR, word).is_some()
                || half_of_day(text(words, last + 1)).is_some()
            {
                let of_day = if is_past { 60 * hour + minutes } else { (60 * hour).saturating_sub(minutes) };
                return item(of_day, last);
            }
        }
    }
    let (hour, last, has_unit) = hour_at(at).filter(|_| word.parse::<u32>().is_err())?;
    let added = (matches!(text(words, last + 1), "et" | "y" | "e"))
        .then(|| of_hour(&ADDED_TO_HOUR, text(words, last + 2)))
        .flatten();
    match added {
        Some(minutes) => item(60 * hour + minutes, last + 2),
        None if has_unit
            && (matches!(text(words, last), "uhr" | "o'clock" | "oclock") || is_time_of_day(words, at)) =>
        {
            item(60 * hour, last)
        }
        None if half_of_day(text(words, last + 1)).is_some() => item(60 * hour, last),
        None => None,
    }
}

/// Whether the words before a number speak of a time of the day, and not of a length of time.
fn is_time_of_day(words: &[Word], at: usize) -> bool {
    let before = |count: usize| at.checked_sub(count).map_or("", |before| text(words, before));
    let is_length = (before(3), before(2), before(1)) == ("il", "y", "a")
        || (at.saturating_sub(2)..at).any(|before| is_in(BEFORE_LENGTH, text(words, before)))
        || (at + 1..at + 3).any(|behind| matches!(text(words, behind), "ago" | "later" | "long"));
    !is_length
        && (relation_word(words, at, &[OPENERS, AFTER, BEFORE, RANGE_JOINERS, PAIR_JOINERS]).is_some()
            || at > 0
                && matches!(
                    text(words, at - 1),
                    "at" | "à" | "las" | "alle" | "um" | "around" | "gegen" | "vers"
                ))
}

/// The first second of the half of the day that a word names.
fn half_of_day(word: &str) -> Option<Seconds> {
    match word {
        "am" | "a.m" => Some(0),
        "pm" | "p.m" => Some(DAY / 2),
        _ => None,
    }
}

pub(super) struct Clock {
    from: Seconds,
    length: Seconds,
    is_of_either_half: bool,
}

/// `1:12`, `01:12:30.5`, `1h12`, `14h`, `9am`, `9:30pm`
pub(super) fn clock(word: &str) -> Option<Clock> {
    let (digits, half) =
        match word.strip_suffix('m').map(|start| (start.strip_suffix('a'), start.strip_suffix('p'))) {
            Some((Some(digits), _)) => (digits, Some(0)),
            Some((_, Some(digits))) => (digits, Some(DAY / 2)),
            _ => (word.trim_end_matches('z'), None),
        };
    // `3h58m11s`
    let spelled = digits.replace("min", "m").replace('m', "h");
    let digits = if digits.contains('h') { spelled.trim_end_matches('s') } else { digits };
    let sign = if digits.contains(':') { ':' } else { 'h' };
    let whole = digits.split(['.', '+']).next().unwrap_or_default();
    if !whole.contains(sign) && half.is_none() {
        return None;
    }
    let mut parts = whole.split(sign);
    let number =
        |part: &str, most: u32| part.parse::<u32>().ok().filter(|&value| value <= most && part.len() <= 2);
    let hour_text = parts.next().unwrap_or_default();
    let hour = number(hour_text, 24)?;
    // `16:9` is a ratio. Behind `14h` there may be nothing.
    let mut sixtieth = || match parts.next() {
        None => Some(None),
        Some("") if sign == 'h' => Some(None),
        Some(part) if part.len() == 2 => number(part, 59).map(Some),
        Some(_) => None,
    };
    let (minute, second) = (sixtieth()?, sixtieth()?);
    if parts.next().is_some() || half.is_some() && !(1..=12).contains(&hour) {
        return None;
    }
    let length = match (minute, second) {
        (None, _) => HOUR,
        (_, None) => 60,
        _ => 1,
    };
    Some(Clock {
        from: half.map_or(hour % 24 * HOUR, |half| hour % 12 * HOUR + half)
            + 60 * minute.unwrap_or(0)
            + second.unwrap_or(0),
        length,
        is_of_either_half: half.is_none()
            && sign == ':'
            && (1..=12).contains(&hour)
            && !hour_text.starts_with('0'),
    })
}
