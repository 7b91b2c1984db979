//! Finds the words of a question that speak of a time: days, times, parts of the day and lengths of time.

use tamis_text::{Date, Timestamp, timestamp};

use super::clock::{clock, spoken_time, time};
use super::words::{
    AFTER, AMBIGUOUS_MONTHS, AROUND, ARTICLE_HOURS, ARTICLES, BEFORE, BEFORE_PART_OF_DAY,
    BETWEEN_DAY_AND_TIME, FIRST, LAST, MONTHS, OPENERS, PAIR_JOINERS, PARTS_OF_DAY, QUANTITIES,
    RANGE_JOINERS, SKIPPED, UNITS, WEEKDAYS,
};
use super::{DAY, Day, HOUR, Point, Seconds, Window};
use crate::number_words::number;

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
        let bare_number = || {
            let word = text(words, at);
            let number =
                number(word).filter(|&number| number <= 31 && !(word.len() > 2 && word.starts_with('0')))?;
            Some((ItemTime::Number(number), at))
        };
        match found.or_else(bare_number) {
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
    let number = quantity(text(words, at + 1));
    // `24h`, `30min`, `5m`
    let joined = || {
        let word = text(words, at + 1);
        let digits = word.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        let name = if word.ends_with('m') { "min" } else { &word[digits.len()..] };
        let (unit, _) = UNITS.iter().find(|(_, names)| names.contains(&name))?;
        Some((digits.parse::<u32>().ok()?, *unit))
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

/// A count of units of time.
fn quantity(word: &str) -> Option<u32> {
    let vague = QUANTITIES.iter().find(|(_, names)| names.contains(&word)).map(|(number, _)| *number);
    vague.or_else(|| number(word)).filter(|&number| number <= 10_000)
}

/// A number that may be an hour, a minute or a day.
pub(super) fn number_of(word: &str) -> Option<u32> {
    number(word).or_else(|| is_in(ARTICLE_HOURS, word).then_some(1))
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
