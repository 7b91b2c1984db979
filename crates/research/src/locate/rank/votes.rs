//! Votes: names used where the question points add to the score of the files that define them, and what the best file defines to
//! the score of the files that use it.

use std::collections::{BTreeMap, BTreeSet};

use tamis_code_index::each_run;
use tamis_codebase::{StopSignal, Stopped};

use super::passage::{InspectedFile, RankInput};
use crate::locate::FileClass;

/// What the votes of a named definition's inside weigh, against the mean of the best three.
const FROM_INSIDE: f64 = 0.4;
/// What the votes of the best files weigh.
const FROM_THE_BEST: f64 = 0.25;
const VOTERS: usize = 20;
/// What it weighs to use what the best file defines, and the best files that are looked at for it.
const FROM_USERS: f64 = 0.3;
const USERS: usize = 40;
/// A name that more files define counts for none of them.
const MAX_FOR_INSIDE: usize = 6;
const MAX_FOR_BEST: usize = 3;
/// A name in the question that is defined more often is too general.
const MAX_DEFINITIONS: usize = 8;

/// Adds the votes to the totals.
pub(crate) fn count(
    totals: &mut [f64],
    best: &[(usize, f64)],
    inspected: &[InspectedFile],
    input: RankInput<'_>,
    classes: &[FileClass],
    stop: &StopSignal,
) -> Result<(), Stopped> {
    let RankInput { question, counter, weights, .. } = input;
    let source = |at: usize| classes[best[at].0] == FileClass::Source;
    // Which of the best files define a name, anywhere and outermost.
    let mut anywhere: Definers<'_> = BTreeMap::new();
    let mut outermost: Definers<'_> = BTreeMap::new();
    for (at, looked) in inspected.iter().enumerate().filter(|(at, _)| source(*at)) {
        for definition in &looked.definitions {
            anywhere.entry(&definition.name).or_default().insert(at);
            if definition.depth == 0 {
                outermost.entry(&definition.name).or_default().insert(at);
            }
        }
    }
    let mut inside = vec![0.0; totals.len()];
    for (number, name) in question.names.iter().enumerate() {
        if weights.columns[counter.name_column(number)] <= 0.0 {
            continue;
        }
        let definitions: Vec<_> = inspected
            .iter()
            .enumerate()
            .flat_map(|(at, looked)| {
                looked.definitions.iter().map(move |definition| (at, looked, definition))
            })
            .filter(|(_, _, definition)| definition.name == name.text)
            .collect();
        if definitions.is_empty() || definitions.len() > MAX_DEFINITIONS {
            continue;
        }
        let share = if name.doubtful { 0.6 } else { 1.0 } / definitions.len() as f64;
        for (at, looked, definition) in definitions {
            stop.check()?;
            let body = lines_of(&looked.text, definition.first, definition.last);
            for (used, files) in names_in(body, &anywhere) {
                if used.len() <= 2 || used == name.text {
                    continue;
                }
                let others: Vec<usize> = files.iter().copied().filter(|&file| file != at).collect();
                if others.is_empty() || others.len() > MAX_FOR_INSIDE {
                    continue;
                }
                let rarity = libm::log(1.0 + inspected.len() as f64 / (files.len() as f64 + 0.5));
                for &file in &others {
                    inside[file] += share * rarity / others.len() as f64;
                }
            }
        }
    }
    let most = inside.iter().copied().fold(0.0, f64::max);
    if most > 0.0 {
        let measure = mean_of_best(totals);
        for (total, votes) in totals.iter_mut().zip(&inside) {
            *total += FROM_INSIDE * votes / most * measure;
        }
    }
    let mut order: Vec<usize> = (0..totals.len()).collect();
    order.sort_by(|&a, &b| totals[b].total_cmp(&totals[a]).then(a.cmp(&b)));
    let Some(&first) = order.first() else { return Ok(()) };
    let mut votes = vec![0.0; totals.len()];
    for &voter in order.iter().take(VOTERS) {
        let standing = totals[voter] / totals[first];
        stop.check()?;
        for (used, files) in names_in(&inspected[voter].text, &outermost) {
            if files.len() > MAX_FOR_BEST || files.contains(&voter) {
                continue;
            }
            let meets = weights.of_name(counter, used);
            for &file in files {
                votes[file] += standing * meets / files.len() as f64;
            }
        }
    }
    let most = votes.iter().copied().fold(0.0, f64::max);
    if most > 0.0 {
        let measure = mean_of_best(totals);
        for ((total, votes), (number, _)) in totals.iter_mut().zip(&votes).zip(best) {
            *total += FROM_THE_BEST * (votes / most).sqrt() * measure * classes[*number].worth();
        }
    }
    let mut order: Vec<usize> = (0..totals.len()).collect();
    order.sort_by(|&a, &b| totals[b].total_cmp(&totals[a]).then(a.cmp(&b)));
    let first = order[0];
    let mut used = vec![0.0; totals.len()];
    for &user in order.iter().take(USERS).skip(1) {
        stop.check()?;
        let names = names_in(&inspected[user].text, &outermost);
        let of_first = names.values().filter(|files| files.len() <= MAX_FOR_BEST && files.contains(&first));
        used[user] = of_first.map(|files| 1.0 / files.len() as f64).sum();
    }
    let most = used.iter().copied().fold(0.0, f64::max);
    if most > 0.0 {
        let measure = mean_of_best(totals);
        for ((total, used), (number, _)) in totals.iter_mut().zip(&used).zip(best) {
            *total += FROM_USERS * used / most * measure * classes[*number].worth();
        }
    }
    Ok(())
}

fn mean_of_best(totals: &[f64]) -> f64 {
    let mut sorted = totals.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    sorted.truncate(3);
    sorted.iter().sum::<f64>() / sorted.len().max(1) as f64
}

fn lines_of(text: &str, first: usize, last: usize) -> &str {
    let mut starts = memchr::memchr_iter(b'\n', text.as_bytes()).map(|newline| newline + 1);
    let start = if first <= 1 { 0 } else { starts.nth(first - 2).unwrap_or(text.len()) };
    let length = memchr::memchr_iter(b'\n', &text.as_bytes()[start..]).nth(last.saturating_sub(first));
    &text[start..length.map_or(text.len(), |length| start + length)]
}

/// Which files define a name.
type Definers<'a> = BTreeMap<&'a str, BTreeSet<usize>>;

/// The names that a text uses, of those that are defined somewhere.
fn names_in<'a, 'b>(text: &'a str, definers: &'b Definers<'_>) -> BTreeMap<&'a str, &'b BTreeSet<usize>> {
    let mut names = BTreeMap::new();
    each_run(text.as_bytes(), |at, run| {
        if let Some(name) = text.get(at..at + run.len())
            && let Some(files) = definers.get(name)
        {
            names.insert(name, files);
        }
    });
    names
}
