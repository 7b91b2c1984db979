//! Finds the words of a question that speak of a time: days, times, parts of the day and lengths of time.

use tamis_text::{Date, Timestamp, timestamp};

use super::words::{
    ADDED_TO_HOUR, AFTER, AMBIGUOUS_MONTHS, AROUND, ARTICLES, BEFORE, BEFORE_LENGTH, BEFORE_PART_OF_DAY,
    BETWEEN_DAY_AND_TIME, FIRST, HOUR_UNITS, LAST, MIDNIGHT, MONTHS, NOON, NOT_HOURS, NUMBERS, OPENERS,
    PAIR_JOINERS, PARTS_OF_DAY, PARTS_OF_HOUR, PAST, RANGE_JOINERS, SKIPPED, TO, UNITS, WEEKDAYS,
};
use super::{DAY, Day, HOUR, Point, Seconds, Window};

/// Words of a question that are read.
const MOST_WORDS: usize = 200;

/// A word in lower case without punctuation.
pub(super) struct Word {
    text: String,
    is_capitalized: bool,
    /// The number of the chunk between white space that it is part of.
    pub(super) chunk: usize,
}

impl Word {
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

pub(super) fn words(goal: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for (chunk, written) in goal.split_whitespace().take(MOST_WORDS).enumerate() {
        let lower = written.to_lowercase();
        let text =
            lower.trim_matches(['?', ',', '.', ';', ':', '(', ')', '"', '\'', '!', '`', '“', '”', '[', ']']);
        let range = text.split_once(['-', '–', '—']).filter(|(from, to)| {
            clock(to).is_some() && (clock(from).is_some() || from.parse().is_ok_and(|hour: u32| hour <= 24))
        });
        let parts = match range {
            Some((from, to)) => vec![from, "-", to],
            None => vec![text],
        };
        let is_capitalized = written.starts_with(char::is_uppercase);
        words.extend(parts.into_iter().map(|text| Word { text: text.to_owned(), is_capitalized, chunk }));
    }
    words
}

/// Part of a question that speaks of a time: its first and its last word.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) time: ItemTime,
}

#[derive(Clone, Debug)]
pub(super) enum ItemTime {
    /// A point, and how many seconds it stands for.
    Point(Point, Seconds),
    /// A number of up to 31, which may be an hour or a day.
    Number(u32),
    /// From which hour to which.
    PartOfDay(u32, u32),
    Window(Window),
}

/// The items of a question, in order.
pub(super) fn items(words: &[Word]) -> Vec<Item> {
    let mut items = single_items(words);
    read_numbers_as_hours(words, &mut items);
    apply_part_of_day(words, &mut items);
    join_days_and_times(words, &mut items);
    items
}

fn single_items(words: &[Word]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let found = span_of_log(words, at)
            .or_else(|| moment(words, at))
            .or_else(|| day(words, at))
            .or_else(|| spoken_time(words, at))
            .or_else(|| time(words, at))
            .or_else(|| part_of_day(words, at));
        let number = || {
            let word = text(words, at);
            let number = number_of(word)
                .filter(|&number| number <= 31 && !(word.len() > 2 && word.starts_with('0')))?;
            (!is_in(NOT_HOURS, word)).then_some((ItemTime::Number(number), at))
        };
        match found.or_else(number) {
            Some((time, last)) => {
                items.push(Item { first: at, last, time });
                at = last + 1;
            }
            None => at += 1,
        }
    }
    items
}

pub(super) fn text(words: &[Word], at: usize) -> &str {
    words.get(at).map_or("", |word| word.text.as_str())
}

pub(super) fn is_in(list: &[&str], word: &str) -> bool {
    list.contains(&word)
}

/// "The last ten minutes", "the first hour", and the number of the last word.
fn span_of_log(words: &[Word], at: usize) -> Option<(ItemTime, usize)> {
    let is_last = is_in(LAST, text(words, at));
    if !is_last && !is_in(FIRST, text(words, at)) {
        return None;
    }
    let unit_at = |at: usize| {
        let unit = text(words, at);
        UNITS.iter().find(|(_, names)| names.contains(&unit)).map(|(seconds, _)| *seconds)
    };
    let number = number_of(text(words, at + 1));
    // `24h`, `30min`
    let joined = || {
        let word = text(words, at + 1);
        let digits = word.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        let (_, names) = (digits.parse::<u32>().ok()?, &word[digits.len()..]);
        let unit = UNITS
            .iter()
            .find(|(_, units)| units.contains(&names) || units.contains(&format!("{names}in").as_str()))?
            .0;
        Some((digits.parse::<u32>().ok()?, unit))
    };
    if let Some((count, unit)) = joined() {
        return Some((span(is_last, count.saturating_mul(unit)), at + 1));
    }
    // "A couple of minutes", "half an hour"
    let (count, unit, last) = match (number, unit_at(at + 1)) {
        (_, Some(unit)) => (1, unit, at + 1),
        (Some(30), _) if text(words, at + 1) == "half" => match (unit_at(at + 2), unit_at(at + 3)) {
            (Some(unit), _) => (1, unit / 2, at + 2),
            (None, unit) => (1, unit? / 2, at + 3),
        },
        (Some(count), _) => match (unit_at(at + 2), unit_at(at + 3)) {
            (Some(unit), _) => (count, unit, at + 2),
            (None, Some(unit)) if text(words, at + 2) == "of" => (count, unit, at + 3),
            _ => return None,
        },
        _ => return None,
    };
    Some((span(is_last, count.saturating_mul(unit)), last.min(words.len() - 1)))
}

fn span(is_last: bool, seconds: Seconds) -> ItemTime {
    ItemTime::Window(if is_last { Window::Last(seconds) } else { Window::First(seconds) })
}

fn number_of(word: &str) -> Option<u32> {
    let spelled = NUMBERS.iter().find(|(_, names)| names.contains(&word)).map(|(number, _)| *number);
    spelled.or_else(|| word.parse().ok().filter(|&number| number <= 10_000))
}

/// `2026-11-17T01:12:30Z`, `2026-11-17`, `17.11.2026`
fn moment(words: &[Word], at: usize) -> Option<(ItemTime, usize)> {
    let word = text(words, at);
    if !word.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let Timestamp { date, time } = timestamp(word);
    let day = Some(Day::Date(date?));
    let point = Point { day, time, is_of_either_half: false };
    let length = match word.matches(':').count() {
        0 => DAY,
        1 => 60,
        _ => 1,
    };
    Some((ItemTime::Point(point, length), at))
}

/// `July 7`, `7th of July 2026`, `30 de julio`, `Monday`, `on 07/30`
fn day(words: &[Word], at: usize) -> Option<(ItemTime, usize)> {
    let item = |day: Day, last: usize| {
        Some((ItemTime::Point(Point { day: Some(day), ..Point::default() }, DAY), last))
    };
    let month_at = |at: usize| {
        let word = text(words, at);
        MONTHS.iter().position(|names| names.contains(&word)).map(|month| month as u32 + 1)
    };
    let day_at = |at: usize| {
        let word = text(words, at);
        let digits = word.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        let has_ending =
            matches!(&word[digits.len()..], "" | "st" | "nd" | "rd" | "th" | "." | "er" | "º" | "°");
        digits.parse::<u32>().ok().filter(|day| has_ending && digits.len() <= 2 && (1..=31).contains(day))
    };
    let year_at = |at: usize| text(words, at).parse::<u16>().ok().filter(|year| (1970..2100).contains(year));
    let is_of = |at: usize| matches!(text(words, at), "of" | "de" | "del" | "di");
    let with_year = |month: u32, day: u32, last: usize| {
        let behind = last + 1 + usize::from(is_of(last + 1));
        let year = year_at(behind);
        item(Day::Date(Date::new(year, month, day)?), if year.is_some() { behind } else { last })
    };
    // "It may 5 times", "set 3 flags"
    let is_month = |at: usize| {
        !is_in(AMBIGUOUS_MONTHS, text(words, at))
            || words[at].is_capitalized && at > 0
            || words[at].is_capitalized && text(words, at).chars().count() > 4
            || relation_word(words, at, &[OPENERS, AFTER, BEFORE, &["on"]]).is_some()
    };
    if let (Some(month), Some(day)) = (month_at(at), day_at(at + 1))
        && is_month(at)
    {
        return with_year(month, day, at + 1);
    }
    if let Some(day) = day_at(at) {
        let behind = at + 1 + usize::from(is_of(at + 1));
        if let Some(month) = month_at(behind) {
            return with_year(month, day, behind);
        }
    }
    let word = text(words, at);
    let is_on = at > 0
        && matches!(text(words, at - 1), "on" | "am" | "le" | "el" | "since" | "until" | "before" | "after");
    if let Some(weekday) = WEEKDAYS.iter().position(|names| names.contains(&word))
        && (is_on || word.chars().count() > 4)
    {
        return item(Day::Weekday(weekday as u8), at);
    }
    let (first, second) = word.split_once('/').filter(|_| is_on)?;
    let (first, second) = (first.parse().ok()?, second.parse().ok()?);
    item(Day::Date(Date::new(None, first, second).or_else(|| Date::new(None, second, first))?), at)
}

/// `1:12`, `9am`, `9:30 pm`, `14 Uhr`, `noon`, `235000`
fn time(words: &[Word], at: usize) -> Option<(ItemTime, usize)> {
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
        return (hour < 24 && minute < 60 && second < 60).then_some(item(
            hour * HOUR + minute * 60 + second,
            if second == 0 { 60 } else { 1 },
            false,
            at,
        )?);
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
fn spoken_time(words: &[Word], at: usize) -> Option<(ItemTime, usize)> {
    let hour_at = |at: usize| {
        let word = text(words, at);
        let hour = number_of(word).filter(|hour| (1..=24).contains(hour) && !is_in(NOT_HOURS, word))?;
        // "Ten apples" is no time: a unit or a part of an hour must be near.
        let has_unit = is_in(HOUR_UNITS, text(words, at + 1));
        Some((hour, at + usize::from(has_unit), has_unit))
    };
    let item = |minutes: u32, last: usize, is_certain: bool| {
        let half = half_of_day(text(words, last + 1));
        let is_of_either_half = half.is_none() && !is_certain && minutes < 13 * 60;
        let minutes = if half.is_some() { minutes % 720 } else { minutes % 1440 };
        let time = Some(60 * minutes + half.unwrap_or(0));
        let length = if minutes % 60 == 0 { HOUR } else { 60 };
        let last = last + usize::from(half.is_some());
        Some((ItemTime::Point(Point { day: None, time, is_of_either_half }, length), last))
    };
    let word = text(words, at);
    if word == "halb" {
        let (hour, last, _) = hour_at(at + 1)?;
        return item(60 * hour - 30, last, false);
    }
    let of_hour = |list: &[(u32, &[&str])], word: &str| {
        list.iter().find(|(_, names)| names.contains(&word)).map(|(minutes, _)| *minutes)
    };
    let minutes = of_hour(&PARTS_OF_HOUR, word).or_else(|| {
        let minutes = number_of(word).filter(|minutes| *minutes < 60 && !is_in(NOT_HOURS, word));
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
                return item(
                    if is_past { 60 * hour + minutes } else { (60 * hour).saturating_sub(minutes) },
                    last,
                    false,
                );
            }
        }
    }
    let (hour, last, has_unit) = hour_at(at).filter(|_| word.parse::<u32>().is_err())?;
    let added = (matches!(text(words, last + 1), "et" | "y" | "e"))
        .then(|| of_hour(&ADDED_TO_HOUR, text(words, last + 2)))
        .flatten();
    match added {
        Some(minutes) => item(60 * hour + minutes, last + 2, false),
        None if has_unit
            && (matches!(text(words, last), "uhr" | "o'clock" | "oclock") || is_time_of_day(words, at)) =>
        {
            item(60 * hour, last, false)
        }
        None if half_of_day(text(words, last + 1)).is_some() => item(60 * hour, last, false),
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

struct Clock {
    from: Seconds,
    length: Seconds,
    is_of_either_half: bool,
}

/// `1:12`, `01:12:30.5`, `1h12`, `14h`, `9am`, `9:30pm`
fn clock(word: &str) -> Option<Clock> {
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

fn part_of_day(words: &[Word], at: usize) -> Option<(ItemTime, usize)> {
    let (from, to, _) = PARTS_OF_DAY.iter().find(|(_, _, names)| names.contains(&text(words, at)))?;
    Some((ItemTime::PartOfDay(*from, *to), at))
}

/// The number of the nearest word before `at` that is in one of the lists, with nothing but small words between.
pub(super) fn relation_word(words: &[Word], at: usize, lists: &[&[&str]]) -> Option<usize> {
    for before in (0..at).rev() {
        let word = text(words, before);
        if lists.iter().any(|list| is_in(list, word)) {
            return Some(before);
        }
        if !is_in(SKIPPED, word) && !is_in(BETWEEN_DAY_AND_TIME, word) {
            return None;
        }
    }
    None
}

/// The joiner between two items, if there is nothing else but small words.
pub(super) fn joiner<'a>(words: &'a [Word], item: &Item, next: &Item) -> Option<&'a str> {
    let between = || words[item.last + 1..next.first].iter().map(|word| word.text.as_str());
    let is_joiner = |word: &&str| is_in(RANGE_JOINERS, word) || is_in(PAIR_JOINERS, word);
    let found = between().find(is_joiner)?;
    between().all(|word| is_in(SKIPPED, word) || is_in(BEFORE, word) || is_joiner(&word)).then_some(found)
}

/// "Between 8 and 9 in the morning", "from 3 to 5 pm", "on July 7 after 8": numbers that are hours because of what is near.
fn read_numbers_as_hours(words: &[Word], items: &mut [Item]) {
    let names_day = items.iter().any(|item| match &item.time {
        ItemTime::Point(point, _) => point.day.is_some(),
        ItemTime::PartOfDay(..) => true,
        _ => false,
    });
    read_numbers_as_days(words, items);
    for number in (0..items.len()).rev() {
        let ItemTime::Number(hour @ ..=24) = items[number].time else { continue };
        let next = items.get(number + 1).filter(|next| joiner(words, &items[number], next).is_some());
        let is_opened = relation_word(words, items[number].first, &[OPENERS]).is_some();
        let before = number.checked_sub(1).map(|before| &items[before]);
        let is_end = before.is_some_and(|before| {
            matches!(before.time, ItemTime::Number(_))
                && joiner(words, before, &items[number]).is_some()
                && relation_word(words, before.first, &[OPENERS]).is_some()
        });
        let has_relation =
            relation_word(words, items[number].first, &[AFTER, BEFORE, AROUND, &["at"]]).is_some();
        let time = match next.map(|next| &next.time) {
            Some(ItemTime::Point(Point { time: Some(time), is_of_either_half, .. }, _)) if is_opened => {
                let is_afternoon = *time >= DAY / 2 && hour < 12 && hour * HOUR + DAY / 2 <= *time;
                Some((
                    hour * HOUR
                        + if is_afternoon && text(words, items[number + 1].last) == "pm" {
                            DAY / 2
                        } else {
                            0
                        },
                    *is_of_either_half,
                ))
            }
            _ if names_day && (is_end || has_relation) => Some((hour * HOUR, (1..=12).contains(&hour))),
            // "From 9:30 to 10"
            _ => before
                .filter(|before| {
                    matches!(before.time, ItemTime::Point(Point { time: Some(_), .. }, _))
                        && joiner(words, before, &items[number]).is_some_and(|joiner| {
                            is_in(RANGE_JOINERS, joiner)
                                || relation_word(words, before.first, &[OPENERS]).is_some()
                        })
                })
                .map(|_| (hour * HOUR, (1..=12).contains(&hour))),
        };
        if let Some((time, is_of_either_half)) = time {
            let point = Point { day: None, time: Some(time % DAY), is_of_either_half };
            items[number].time = ItemTime::Point(point, HOUR);
        }
    }
}

/// "From 17 to 19 November", "Nov 17 - 19"
fn read_numbers_as_days(words: &[Word], items: &mut [Item]) {
    for at in 1..items.len() {
        let (before, behind) = (&items[at - 1], &items[at]);
        let day_of = |item: &Item| match item.time {
            ItemTime::Point(Point { day: Some(Day::Date(date)), time: None, .. }, _) => Some(date),
            _ => None,
        };
        let (number, date, index) = match (&before.time, &behind.time) {
            (ItemTime::Number(number), _) => (*number, day_of(behind), at - 1),
            (_, ItemTime::Number(number)) => (*number, day_of(before), at),
            _ => continue,
        };
        let Some(date) = date.filter(|_| joiner(words, before, behind).is_some()) else { continue };
        // "Until 8 on Nov 9" is an hour.
        let joined_by_day =
            index == at || !words[before.last + 1..behind.first].iter().any(|word| word.text == "on");
        if let Some(date) = Date::new(date.year, u32::from(date.month), number).filter(|_| joined_by_day) {
            let point = Point { day: Some(Day::Date(date)), ..Point::default() };
            items[index].time = ItemTime::Point(point, DAY);
        }
    }
}

/// Hours are of the part of the day that is named, and a part of the day without hours is a window.
fn apply_part_of_day(words: &[Word], items: &mut [Item]) {
    let Some(part) = items.iter().position(|item| matches!(item.time, ItemTime::PartOfDay(..))) else {
        return;
    };
    let ItemTime::PartOfDay(from, to) = items[part].time else { return };
    let mut has_hours = false;
    for item in items.iter_mut() {
        let ItemTime::Point(Point { time: Some(time), is_of_either_half, .. }, _) = &mut item.time else {
            continue;
        };
        has_hours = true;
        // In the night, small hours are of the morning.
        let is_later = from >= 12 && *time < DAY / 2 && !(from > to && *time < to * HOUR);
        if *is_of_either_half && is_later {
            *time += DAY / 2;
        }
        *is_of_either_half = false;
    }
    let has_day = items.iter().any(|item| matches!(item.time, ItemTime::Point(..)));
    let first = items[part].first;
    let before = |count: usize| first.checked_sub(count).map_or("", |before| text(words, before));
    let is_named = has_day
        || is_in(BEFORE_PART_OF_DAY, before(1))
        || is_in(ARTICLES, before(1)) && is_in(BEFORE_PART_OF_DAY, before(2))
        || text(words, first).ends_with('s')
        || text(words, first) == "overnight";
    if !has_hours && is_named {
        let point = |hour: u32| Point { time: Some((hour * HOUR).min(DAY - 1)), ..Point::default() };
        items[part].time = ItemTime::Window(Window::Between(point(from), point(to)));
    }
}

/// "On Nov 17 at 23:00" is one point.
fn join_days_and_times(words: &[Word], items: &mut Vec<Item>) {
    let mut joined: Vec<Item> = Vec::with_capacity(items.len());
    for item in items.drain(..) {
        if let (
            Some(Item { time: ItemTime::Point(last, last_length), last: end, .. }),
            ItemTime::Point(next, length),
        ) = (joined.last_mut(), &item.time)
            && last.day.is_some() != next.day.is_some()
            && last.time.is_some() != next.time.is_some()
            && words[*end + 1..item.first].iter().all(|word| is_in(BETWEEN_DAY_AND_TIME, &word.text))
        {
            *last = Point {
                day: last.day.or(next.day),
                time: last.time.or(next.time),
                is_of_either_half: last.is_of_either_half || next.is_of_either_half,
            };
            *last_length = (*last_length).min(*length);
            *end = item.last;
        } else {
            joined.push(item);
        }
    }
    *items = joined;
}
