//! Reads the time that a question names, in its own words.

use tamis_text::Date;

use super::items::{Item, ItemTime, Word, is_in, items, joiner, relation_word, text, words};
use super::words::{
    AFTER, AROUND, BEFORE, BEFORE_TIME, BETWEEN_DAY_AND_TIME, CLOSE, OPENERS, RANGE_JOINERS, UNREAD,
};
use super::{DAY, Day, HOUR, Period, Point, Seconds, Window};

/// "At 14:05" also means the minutes next to it, "at 14:05:30" the seconds, and "around 3 pm" the half hour before it.
const NEXT_TO: Seconds = 60;
const NEXT_SECONDS: Seconds = 3;
const AROUND_HOUR: Seconds = 1800;
/// "Shortly after" is not longer.
const SHORTLY: Seconds = 600;
/// With more times than this, a question is a text.
const MOST_WINDOWS: usize = 16;

/// The period that a question names, and the question without the words for it.
pub(crate) fn period(goal: &str) -> Option<(Period, String)> {
    let words = words(goal);
    let items = items(&words);
    let (windows, named) = windows(&words, &items);
    if windows.is_empty() || windows.len() > MOST_WINDOWS {
        return None;
    }
    // A chunk such as `9:30-9:50` is several words.
    let is_named = |chunk: usize| words.iter().zip(&named).any(|(word, named)| *named && word.chunk == chunk);
    let rest: Vec<&str> = goal
        .split_whitespace()
        .enumerate()
        .filter(|(chunk, _)| !is_named(*chunk))
        .map(|(_, text)| text)
        .collect();
    let is_unread = |(word, named): (&Word, &bool)| !named && is_in(UNREAD, word.text());
    let is_whole = !words.iter().zip(&named).any(is_unread)
        && !items.windows(2).any(|pair| is_number_beside_time(&words, pair))
        && !windows.iter().any(is_of_weekdays);
    Some((Period { windows, is_whole }, rest.join(" ")))
}

/// A number that is joined to a time and was not read as one.
fn is_number_beside_time(words: &[Word], pair: &[Item]) -> bool {
    let is_number = |item: &Item| matches!(item.time, ItemTime::Number(_));
    let is_point = |item: &Item| matches!(item.time, ItemTime::Point(..));
    (is_number(&pair[0]) && is_point(&pair[1]) || is_point(&pair[0]) && is_number(&pair[1]))
        && joiner(words, &pair[0], &pair[1]).is_some()
}

/// From one day of the week on, until one, or over midnight: which dates these are is not known.
fn is_of_weekdays(window: &Window) -> bool {
    let Window::Between(from, to) = window else { return false };
    let is_weekday = |point: &Point| matches!(point.day, Some(Day::Weekday(_)));
    let is_over_midnight = matches!((from.time, to.time), (Some(from), Some(to)) if from > to);
    is_weekday(from) != is_weekday(to)
        || is_weekday(from) && is_over_midnight
        || is_weekday(from) && from.day != to.day
}

/// How a point stands to the time that is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    Pair,
    After,
    Before,
    At,
}

/// The windows, and which words name them.
fn windows(words: &[Word], items: &[Item]) -> (Vec<Window>, Vec<bool>) {
    let mut named = vec![false; words.len()];
    let mut found: Vec<(Relation, Point, Point)> = Vec::new();
    let mut windows = Vec::new();
    let has_hours =
        items.iter().any(|item| matches!(item.time, ItemTime::Point(Point { time: Some(_), .. }, _)));
    let mut at = 0;
    while at < items.len() {
        let item = &items[at];
        at += 1;
        let (point, length) = match &item.time {
            ItemTime::Point(point, length) => (*point, *length),
            ItemTime::Window(window) => {
                match *window {
                    Window::Between(from, to) => found.push((Relation::Pair, from, to)),
                    other => windows.push(other),
                }
                mark_named(words, &mut named, item.first, item.last);
                continue;
            }
            ItemTime::PartOfDay(..) => {
                if has_hours {
                    mark_named(words, &mut named, item.first, item.last);
                }
                continue;
            }
            ItemTime::Number(_) => continue,
        };
        let opener = relation_word(words, item.first, &[OPENERS]);
        if let Some(next) = items.get(at)
            && let ItemTime::Point(end, end_length) = next.time
            && let Some(joiner) = joiner(words, item, next)
            && (opener.is_some() || is_in(RANGE_JOINERS, joiner))
        {
            found.push((Relation::Pair, in_same_half_as(point, end), end_of(end, end_length)));
            mark_named(words, &mut named, opener.unwrap_or(item.first), next.last);
            at += 1;
            continue;
        }
        let relation = relation_word(words, item.first, &[AFTER, BEFORE, AROUND]);
        found.push(window_of(words, relation, point, length));
        mark_named(words, &mut named, relation.unwrap_or(item.first), item.last);
    }
    // "After 9:00 and before 10:00" is one window.
    for number in (1..found.len()).rev() {
        if let [(Relation::After, from, _), (Relation::Before, _, to)] = found[number - 1..=number] {
            found.splice(number - 1..=number, [(Relation::Pair, from, to)]);
        }
    }
    complete_days(&mut found);
    windows.extend(found.into_iter().map(|(_, from, to)| Window::Between(from, to)));
    (windows, named)
}

/// The window of one point, and the word before it that relates to it.
fn window_of(
    words: &[Word],
    relation: Option<usize>,
    point: Point,
    length: Seconds,
) -> (Relation, Point, Point) {
    let word = relation.map_or("", |at| text(words, at));
    let is_close = relation.and_then(|at| at.checked_sub(1)).is_some_and(|at| is_in(CLOSE, text(words, at)));
    let end = end_of(point, length);
    let shifted = |point: Point, by: i64| Point {
        time: point.time.map(|time| (i64::from(time) + by).rem_euclid(i64::from(DAY)) as Seconds),
        ..point
    };
    let short = i64::from(SHORTLY);
    if is_in(BEFORE, word) && point.time.is_none() && !is_in(RANGE_JOINERS, word) {
        // The day itself is meant only by "until".
        (Relation::Before, Point::default(), Point { time: Some(0), ..point })
    } else if is_in(BEFORE, word) {
        (Relation::Before, if is_close { shifted(point, -short) } else { Point::default() }, end)
    } else if is_in(AFTER, word) {
        (Relation::After, point, if is_close { shifted(end, short) } else { Point::default() })
    } else if point.time.is_none() {
        (Relation::At, point, end)
    } else if length < HOUR {
        let next_to = i64::from(if length < 60 && !is_in(AROUND, word) { NEXT_SECONDS } else { NEXT_TO });
        (Relation::At, shifted(point, -next_to), shifted(end, next_to))
    } else if is_in(AROUND, word) {
        (Relation::At, shifted(point, -i64::from(AROUND_HOUR)), end)
    } else {
        (Relation::At, point, end)
    }
}

/// Marks words as part of a time, with the prepositions before them.
fn mark_named(words: &[Word], named: &mut [bool], first: usize, last: usize) {
    let before = (0..first).rev().take_while(|&at| {
        is_in(BETWEEN_DAY_AND_TIME, text(words, at)) || is_in(BEFORE_TIME, text(words, at))
    });
    let first = before.last().unwrap_or(first);
    named[first..=last].fill(true);
}

/// "Between 9:35 and 9:45 am": the first time is of the half of the day that the second one names.
fn in_same_half_as(point: Point, end: Point) -> Point {
    match (point.time, end.time) {
        (Some(time), Some(last)) if point.is_of_either_half && !end.is_of_either_half => {
            let is_later = time + DAY / 2 <= last;
            Point {
                time: Some(if is_later { time + DAY / 2 } else { time }),
                is_of_either_half: false,
                ..point
            }
        }
        _ => point,
    }
}

/// The last second that a point stands for.
fn end_of(point: Point, length: Seconds) -> Point {
    Point { time: point.time.map(|time| (time + length.max(1) - 1).min(DAY - 1)), ..point }
}

/// A day that is named once is the day of all times, and the end of a window is on the day of its beginning, or on the next.
fn complete_days(found: &mut Vec<(Relation, Point, Point)>) {
    let is_whole_day =
        |(relation, from, _): &(Relation, Point, Point)| *relation == Relation::At && from.time.is_none();
    let has_time_only = found.iter().any(|(_, from, to)| from.day.is_none() && to.day.is_none());
    let whole_days: Vec<Option<Day>> =
        found.iter().filter(|window| is_whole_day(window)).map(|window| window.1.day).collect();
    if let ([day], true) = (whole_days.as_slice(), has_time_only) {
        found.retain(|window| !is_whole_day(window));
        for (_, from, to) in found.iter_mut().filter(|(_, from, to)| from.day.is_none() && to.day.is_none()) {
            (from.day, to.day) = (*day, *day);
        }
    }
    for (relation, from, to) in found.iter_mut() {
        if *relation == Relation::Pair {
            from.day = from.day.or(to.day);
            to.day = to.day.or(from.day);
        }
        let is_over_midnight =
            from.day == to.day && matches!((from.time, to.time), (Some(from), Some(to)) if from > to);
        if let (true, Some(Day::Date(date))) = (is_over_midnight, to.day) {
            match relation {
                Relation::Pair => to.day = Some(Day::Date(next_day(date))),
                // A time of this day, and the minutes next to it: midnight at its beginning, or the last minutes.
                _ if from.time.is_some_and(|time| (time + NEXT_TO) % DAY < DAY / 2) => from.time = Some(0),
                _ => to.time = Some(DAY - 1),
            }
        }
    }
}

fn next_day(date: Date) -> Date {
    let (month, day) = (u32::from(date.month), u32::from(date.day));
    let is_end_of_february = (month, day) == (2, 28);
    let next = if is_end_of_february { None } else { Date::new(date.year, month, day + 1) };
    let of_next_month = || Date::new(date.year, month + 1, 1);
    let of_next_year = || Date::new(date.year.map(|year| year + 1), 1, 1);
    next.or_else(of_next_month).or_else(of_next_year).unwrap_or(date)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn render(point: Point) -> String {
        let day = match point.day {
            Some(Day::Date(Date { year, month, day })) => {
                format!("{}{month:02}-{day:02} ", year.map_or(String::new(), |year| format!("{year}-")))
            }
            Some(Day::Weekday(weekday)) => format!("weekday {weekday} "),
            None => String::new(),
        };
        let time = point.time.map_or("*".to_owned(), |time| {
            let (hour, minute, second) = (time / HOUR, time / 60 % 60, time % 60);
            format!("{hour:02}:{minute:02}:{second:02}{}", if point.is_of_either_half { "?" } else { "" })
        });
        day + &time
    }

    fn read(goal: &str) -> (Vec<String>, String) {
        let Some((period, rest)) = period(goal) else { return (Vec::new(), goal.to_owned()) };
        let windows = period.windows.iter().map(|window| match *window {
            Window::Between(from, to) => format!("{} to {}", render(from), render(to)),
            Window::First(seconds) => format!("first {seconds}"),
            Window::Last(seconds) => format!("last {seconds}"),
        });
        (windows.collect(), rest)
    }

    #[test]
    fn times_of_a_question_are_read() {
        for (goal, windows, rest) in [
            ("what happened between 1:12 and 1:16?", vec!["01:12:00? to 01:16:59?"], "what happened"),
            ("everything from 01:12 to 01:16", vec!["01:12:00 to 01:16:59"], "everything"),
            ("show 01:12-01:16", vec!["01:12:00 to 01:16:59"], "show"),
            ("show 01:12–01:16, please", vec!["01:12:00 to 01:16:59"], "show please"),
            (
                "qu'est-ce qui s'est passé entre 13h12 et 13h16 ?",
                vec!["13:12:00 to 13:16:59"],
                "qu'est-ce qui s'est passé ?",
            ),
            ("was geschah zwischen 13:12 und 13:16 Uhr", vec!["13:12:00 to 13:16:59"], "was geschah"),
            ("qué pasó entre las 13:12 y las 13:16", vec!["13:12:00 to 13:16:59"], "qué pasó"),
            ("between 1:12 am and 1:16 AM", vec!["01:12:00 to 01:16:59"], ""),
            ("what happened after 14:05", vec!["14:05:00 to *"], "what happened"),
            ("since 9am", vec!["09:00:00 to *"], ""),
            ("errors before 9:30 pm", vec!["* to 21:30:59"], "errors"),
            ("seit 14 Uhr", vec!["14:00:00 to *"], ""),
            ("at 14:05", vec!["14:04:00 to 14:06:59"], ""),
            ("entre 3h58m11s et 3h58min13s", vec!["03:58:11 to 03:58:13"], ""),
            ("on May 5", vec!["05-05 * to 05-05 *"], ""),
            ("around 3pm", vec!["14:30:00 to 15:59:59"], ""),
            ("just before 14:05", vec!["13:55:00 to 14:05:59"], "just"),
            ("between 9 and 10 pm", vec!["21:00:00 to 22:59:59"], ""),
            ("between 23:50 and 00:10", vec!["23:50:00 to 00:10:59"], ""),
            ("at 14:05 and 15:20", vec!["14:04:00 to 14:06:59", "15:19:00 to 15:21:59"], "and"),
            ("after 14:05 and before 15:20", vec!["14:05:00 to 15:20:59"], "and"),
            ("at 14:05:30", vec!["14:05:27 to 14:05:33"], ""),
            ("around noon", vec!["11:59:00 to 12:01:59"], ""),
            ("what hapened at midnight", vec!["23:59:00 to 00:01:59"], "what hapened"),
            ("since 2026-11-17T01:12:30Z", vec!["2026-11-17 01:12:30 to *"], ""),
            ("go through the minute 18:05 with me", vec!["18:04:00 to 18:06:59"], "go through with me"),
            (
                "show me July 7 between 8 and 9 in the morning",
                vec!["07-07 08:00:00 to 07-07 09:59:59"],
                "show me",
            ),
            (
                "was lief am 4. Dezember zwischen 8 und 16 Uhr?",
                vec!["12-04 08:00:00 to 12-04 16:59:59"],
                "was lief",
            ),
            (
                "everything from 235000 on Nov 9 until 001500",
                vec!["11-09 23:50:00 to 11-10 00:15:59"],
                "everything",
            ),
            (
                "what did the mac do on 4 July between 3 and 5 am",
                vec!["07-04 03:00:00 to 07-04 05:59:59"],
                "what did the mac do",
            ),
            (
                "qué pasó el 30 de julio entre las 17 y las 18 horas",
                vec!["07-30 17:00:00 to 07-30 18:59:59"],
                "qué pasó",
            ),
            (
                "the log on 2016-09-28 after 4:35 till the end of that day",
                vec!["2016-09-28 04:35:00? to 2016-09-28 *"],
                "the log till the end of that day",
            ),
            ("Dec 10 before 7am", vec!["12-10 * to 12-10 07:59:59"], ""),
            ("after December 10th, 2025 at 7 in the evening", vec!["2025-12-10 19:00:00 to *"], ""),
            ("what ran on Monday afternoon", vec!["weekday 0 12:00:00 to weekday 0 18:00:00"], "what ran"),
            ("anything odd during the night?", vec!["20:00:00 to 06:00:00"], "anything odd"),
            ("from Nov 9 22:00 to Nov 11 03:00", vec!["11-09 22:00:00 to 11-11 03:00:59"], ""),
            ("what happened on 11.07.2026", vec!["2026-07-11 * to 2026-07-11 *"], "what happened"),
            ("logs of 07/30", vec![], "logs of 07/30"),
            ("logs on 07/30", vec!["07-30 * to 07-30 *"], "logs"),
            ("the last ten minutes of the log", vec!["last 600"], "of the log"),
            ("what came in the first 30 s", vec!["first 30"], "what came"),
            ("the last half hour", vec!["last 1800"], ""),
            ("letzte Stunde", vec!["last 3600"], ""),
            (
                "between half past eleven and noon, what went on?",
                vec!["11:30:00 to 12:00:59"],
                "what went on?",
            ),
            ("twenty past ten to half past ten pm", vec!["22:20:00 to 22:30:59"], ""),
            ("at quarter to nine", vec!["08:44:00? to 08:46:59?"], ""),
            ("was passierte nach ein Uhr mittags?", vec!["13:00:00 to *"], "was passierte"),
            ("um halb elf", vec!["10:29:00? to 10:31:59?"], ""),
            ("viertel nach neun Uhr", vec!["09:14:00? to 09:16:59?"], ""),
            ("since eleven o'clock", vec!["11:00:00? to *"], ""),
            ("à onze heures et demie", vec!["11:29:00? to 11:31:59?"], ""),
            ("from ten to eleven am", vec!["10:00:00 to 11:59:59"], ""),
            ("ten apples after nine days", vec![], "ten apples after nine days"),
            ("what happened in the last 24h", vec!["last 86400"], "what happened"),
            ("the last 30min", vec!["last 1800"], ""),
            ("2h ago", vec![], "2h ago"),
            ("it took about 2 h", vec![], "it took about 2 h"),
            ("il y a 2 heures", vec![], "il y a 2 heures"),
            ("hace dos horas", vec![], "hace dos horas"),
            ("was geschah von 09:30 bis 10?", vec!["09:30:00 to 10:59:59?"], "was geschah"),
            ("from 17 to 19 November", vec!["11-17 * to 11-19 *"], ""),
            ("Nov 17 - 19", vec!["11-17 * to 11-19 *"], ""),
            ("on Nov 17 at 23:59", vec!["11-17 23:58:00 to 11-17 23:59:59"], ""),
            ("on Nov 17 at midnight", vec!["11-17 00:00:00 to 11-17 00:01:59"], ""),
            (
                "what happened at 2026-11-17T09:30",
                vec!["2026-11-17 09:29:00 to 2026-11-17 09:31:59"],
                "what happened",
            ),
            ("the last half hour errors of pool", vec!["last 1800"], "errors of pool"),
            ("set 5 flags", vec![], "set 5 flags"),
            ("which of 3 and 4", vec![], "which of 3 and 4"),
            ("difference between 3 and 4", vec![], "difference between 3 and 4"),
            ("fix src/a.rs:12", vec![], "fix src/a.rs:12"),
            ("ratio 16:9 of x:y", vec![], "ratio 16:9 of x:y"),
            ("am I right", vec![], "am I right"),
            ("requests over 200 ms, or 5 h", vec![], "requests over 200 ms, or 5 h"),
            ("the first line and the last test", vec![], "the first line and the last test"),
            ("item 4711 of version 1.2.3", vec![], "item 4711 of version 1.2.3"),
            ("the morning job", vec![], "the morning job"),
            ("it may 5 times", vec![], "it may 5 times"),
            ("", vec![], ""),
        ] {
            let expected = (windows.into_iter().map(str::to_owned).collect::<Vec<_>>(), rest.to_owned());
            assert_eq!(read(goal), expected, "{goal}");
        }
    }

    #[test]
    fn it_is_known_when_a_time_was_not_read_whole() {
        let is_whole = |goal: &str| period(goal).map(|(period, _)| period.is_whole);
        for goal in [
            "what happened between 9:30 and 9:50",
            "the last ten minutes of the log",
            "what did the mac do on 4 July between 3 and 5 am",
            "go through the minute 18:05 with me",
            "was lief am 4. Dezember zwischen 8 und 16 Uhr?",
        ] {
            assert_eq!(is_whole(goal), Some(true), "{goal}");
        }
        for goal in [
            "show everything up to 09:30",
            "everything 09:30 onwards",
            "tout à partir de 09h30",
            "within 10 minutes of 09:30",
            "the ten minutes following 09:30",
            "at 09:30 and the next 20 minutes",
            "the last ten minutes before the restart",
            "ersten fünf Minuten nach dem Neustart",
            "what happened outside 09:00 to 17:00",
            "since Monday",
            "in the morning and in the evening",
            "what happened in the week of Nov 16",
            "neuf heures moins le quart, et à 9:30",
        ] {
            assert!(is_whole(goal) != Some(true), "{goal}");
        }
    }

    proptest! {
        #[test]
        fn any_question_is_read_and_loses_only_words(
            words in prop::collection::vec(
                prop_oneof![
                    "[0-9]{1,6}", "[0-9]{1,2}:[0-9]{1,2}(:[0-9]{2})?(am|pm)?", "[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}",
                    "(between|from|to|until|at|on|after|before|and|the|last|first|just|in|de|-|–)",
                    "(am|pm|uhr|h|morning|night|noon|midnight|monday|May|july|minutes|hours|of|half|an?)", "\\PC{0,6}",
                ],
                0..12,
            ),
        ) {
            let goal = words.join(" ");
            if let Some((period, rest)) = period(&goal) {
                let mut left = goal.split_whitespace();
                prop_assert!(rest.split_whitespace().all(|word| left.any(|other| other == word)), "{:?}", rest);
                let mut survey = super::super::PeriodSurvey::new(period);
                for line in ["2026-11-17 09:31:00 a", "23:59:00 b", "Nov 18 c"] {
                    survey.add(tamis_text::timestamp(line));
                }
                survey.finish();
            }
        }
    }
}
