//! Histories, lists of files, findings and tables: which entries the goal selects.

use super::{Listing, Verdict};
use crate::comparison::Comparison;
use crate::goal::Intent;
use crate::records::{RecordForm, RecordRole};
use crate::want::Amount;

/// The share of the goal's words that the best entry must have, before words select anything.
const FOUND: f32 = 0.6;
/// Entries that have this share of what the best entry has are as good as it.
const AS_GOOD: f32 = 0.6;

pub(super) fn decide_history(listing: &Listing<'_>, verdicts: &mut [Verdict]) {
    let commits = listing.entries(RecordForm::History);
    if commits.is_empty() {
        return;
    }
    let want = listing.want();
    let kept = if want.is_stated { Verdict::Answer } else { Verdict::Doubtful };
    // What belongs to a commit counts for it: names of files, changed lines.
    let mut names = vec![0u32; listing.records().len()];
    let mut terms = vec![0u64; listing.records().len()];
    for number in 0..listing.records().len() {
        let root = listing.inputs.records.root(number);
        names[root] |= listing.names_of(number);
        terms[root] |= listing.terms[number];
    }
    let selected: Option<Vec<bool>> = if commits.len() == 1 {
        None
    } else {
        match want.amount {
            Amount::Latest(count) | Amount::First(count) if listing.is_question() => {
                let newest_first = !is_ascending(listing, &commits);
                let from_start = matches!(want.amount, Amount::Latest(_)) == newest_first;
                let is_taken = |position: usize| {
                    if from_start { position < count } else { position + count >= commits.len() }
                };
                let strong = listing.named.spelled | listing.named.files;
                Some(
                    commits
                        .iter()
                        .enumerate()
                        .map(|(position, &number)| is_taken(position) || names[number] & strong != 0)
                        .collect(),
                )
            }
            Amount::One | Amount::YesNo
                if listing.may_select()
                    || want.amount == Amount::One
                        && !want.is_long
                        && want.comparison != Some(Comparison::Numbers) =>
            {
                best_of(&commits.iter().map(|&number| listing.weight_of(terms[number])).collect::<Vec<f32>>())
            }
            _ => None,
        }
    };
    for (position, &number) in commits.iter().enumerate() {
        verdicts[number] = match &selected {
            Some(selected) if selected[position] => Verdict::Answer,
            Some(_) => Verdict::Rest,
            None => kept,
        };
    }
    // The message of a commit that was selected stays too.
    if let Some(selected) = &selected {
        for (position, &number) in commits.iter().enumerate().filter(|(position, _)| selected[*position]) {
            let end = commits.get(position + 1).copied().unwrap_or(listing.records().len());
            for (detail, verdict) in verdicts.iter_mut().enumerate().take(end).skip(number + 1) {
                let record = &listing.records()[detail];
                if record.role == RecordRole::Detail
                    && record.form == RecordForm::History
                    && record.parent == Some(number)
                {
                    *verdict = Verdict::Doubtful;
                }
            }
        }
    }
}

/// The entries that have most of the goal's words, if they are few of many.
fn best_of(coverage: &[f32]) -> Option<Vec<bool>> {
    let best = coverage.iter().copied().fold(0.0, f32::max);
    let selected: Vec<bool> = coverage.iter().map(|&coverage| coverage >= AS_GOOD * best).collect();
    let count = selected.iter().filter(|selected| **selected).count();
    (best >= FOUND && count * 2 <= selected.len()).then_some(selected)
}

/// Whether the commits are from the oldest to the newest. Neighbours may be out of order, so most of them decide.
fn is_ascending(listing: &Listing<'_>, commits: &[usize]) -> bool {
    let date = |number: usize| {
        let record = &listing.records()[number];
        listing.inputs.lines[record.first..=record.last].iter().find_map(|line| crate::records::date_in(line))
    };
    let dates: Vec<_> = commits.iter().filter_map(|&number| date(number)).collect();
    let rising = dates.windows(2).filter(|pair| pair[0] < pair[1]).count();
    let falling = dates.windows(2).filter(|pair| pair[0] > pair[1]).count();
    rising > 2 * falling && dates.first() < dates.last()
}

/// Decides about lists of files, findings and tables.
pub(super) fn decide(listing: &Listing<'_>, form: RecordForm, verdicts: &mut [Verdict]) {
    let entries = listing.entries(form);
    if entries.is_empty() {
        return;
    }
    let want = listing.want();
    let selected = select(listing, form, &entries);
    // Without a selection, why a build fails is for the network to say: it was trained on that.
    let about_failures = form == RecordForm::Findings && !want.is_stated
        || form == RecordForm::Findings
            && listing.inputs.goal.intents.contains(&Intent::Failures)
            && want.amount != Amount::All;
    let kept = match form {
        _ if want.is_stated && want.amount == Amount::All => Verdict::Answer,
        _ if about_failures => Verdict::Open,
        _ => Verdict::Doubtful,
    };
    for (position, &number) in entries.iter().enumerate() {
        verdicts[number] = match &selected {
            Some(selected) if selected[position] => Verdict::Answer,
            Some(_) => Verdict::Rest,
            None => kept,
        };
    }
    let is_detail = |number: &usize| {
        listing.records()[*number].form == form && listing.records()[*number].role == RecordRole::Detail
    };
    for number in (0..listing.records().len()).filter(is_detail) {
        let of = listing.records()[number].parent;
        verdicts[number] = match of.map(|parent| verdicts[parent]) {
            Some(Verdict::Answer) if selected.is_some() => Verdict::Doubtful,
            Some(Verdict::Rest) => Verdict::Rest,
            _ => Verdict::Open,
        };
    }
}

fn select(listing: &Listing<'_>, form: RecordForm, entries: &[usize]) -> Option<Vec<bool>> {
    if !listing.may_select() {
        return None;
    }
    let named = &listing.named;
    let want = listing.want();
    let asks_for_one = matches!(want.amount, Amount::One | Amount::YesNo);
    let by_names = |bits: u32| -> Option<Vec<bool>> {
        let selected: Vec<bool> =
            entries.iter().map(|&number| listing.names_of(number) & bits != 0).collect();
        (selected.contains(&true) && selected.contains(&false)).then_some(selected)
    };
    let strong = named.spelled | named.files | named.hyphenated;
    if let Some(selected) = by_names(strong) {
        return Some(selected);
    }
    // Words select only what a question for one thing, or for a sort of finding, asks for.
    match form {
        RecordForm::Files if asks_for_one => by_names(named.words).or_else(|| by_words(listing, entries)),
        RecordForm::Table if asks_for_one => by_names(named.words),
        RecordForm::Findings if want.is_stated => by_words(listing, entries),
        _ => None,
    }
}

fn by_words(listing: &Listing<'_>, entries: &[usize]) -> Option<Vec<bool>> {
    best_of(&entries.iter().map(|&number| listing.coverage(number)).collect::<Vec<f32>>())
}
