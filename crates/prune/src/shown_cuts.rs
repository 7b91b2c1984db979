//! Cuts what was already shown, beside what the engine cuts for the goal.

use crate::{Cut, CutCause, CutPlace, CutReason, LEAST_SHOWN_LINES, ShownPlace, ShownRun};

/// What decides whether shown lines are cut.
pub(crate) struct ShownCandidates<'a> {
    pub(crate) runs: &'a [ShownRun],
    /// Lines that stay, whatever was shown.
    pub(crate) stays: &'a [bool],
    /// Bytes of each line, its newline included.
    pub(crate) bytes: &'a [usize],
    /// The maximum number of lines that may be cut.
    pub(crate) most: usize,
    pub(crate) marker_bytes: &'a dyn Fn(&Cut) -> usize,
}

/// Adds cuts of the shown runs. Of a cut that overlaps with a run, the lines outside of the run remain a cut of their own, next
/// to the run's. A run inside of a cut changes nothing, since one marker is enough. Where the limits do not allow all of them,
/// there are none.
pub(crate) fn add_shown(cuts: Vec<Cut>, candidates: &ShownCandidates<'_>) -> Vec<Cut> {
    let is_worth_it = |cut: &Cut| {
        let bytes: usize = candidates.bytes[cut.first_line - 1..cut.last_line].iter().sum();
        (candidates.marker_bytes)(cut) < bytes
    };
    let is_inside = |cut: &Cut| {
        cuts.iter().any(|other| other.first_line <= cut.first_line && cut.last_line <= other.last_line)
    };
    let fits = |run: &&ShownRun| run.first_line > 0 && run.last_line <= candidates.stays.len();
    let mut joined: Vec<Cut> =
        candidates.runs.iter().filter(fits).flat_map(|run| pieces(run, candidates.stays)).collect();
    joined.retain(|cut| is_worth_it(cut) && !is_inside(cut));
    let shown = joined.len();
    for cut in &cuts {
        let mut first = cut.first_line;
        let ends = joined[..shown]
            .iter()
            .filter(|run| run.first_line <= cut.last_line && run.last_line >= cut.first_line);
        let ends: Vec<(usize, usize)> = ends.map(|run| (run.first_line, run.last_line)).collect();
        for (run_first, run_last) in ends.into_iter().chain([(cut.last_line + 1, cut.last_line + 1)]) {
            if first < run_first {
                let rest = Cut { first_line: first, last_line: run_first - 1, reason: cut.reason.clone() };
                joined.push(with_count(rest));
            }
            first = run_last + 1;
        }
    }
    // What remains of a cut may be smaller than its marker.
    let mut index = 0;
    joined.retain(|cut| {
        index += 1;
        index <= shown || cuts.contains(cut) || is_worth_it(cut)
    });
    joined.sort_unstable_by_key(|cut| cut.first_line);
    part_equal_neighbours(&mut joined);
    let lines: usize = joined.iter().map(|cut| cut.last_line - cut.first_line + 1).sum();
    if lines <= candidates.most { joined } else { cuts }
}

/// Keeps a line between two runs that follow each other and were shown at the same place: one marker for both would say that the
/// second goes on there, where it begins anew.
fn part_equal_neighbours(cuts: &mut [Cut]) {
    for at in 1..cuts.len() {
        let (before, cut) = (&cuts[at - 1], &cuts[at]);
        if before.last_line + 1 == cut.first_line && before.reason == cut.reason {
            let cut = &mut cuts[at];
            cut.first_line += 1;
            if let CutPlace::Shown(place) = &mut cut.reason.place {
                place.first_line += 1;
            }
        }
    }
}

/// The parts of a run between the lines that stay.
fn pieces(run: &ShownRun, stays: &[bool]) -> Vec<Cut> {
    let mut pieces = Vec::new();
    let mut first = run.first_line;
    for line in run.first_line..=run.last_line + 1 {
        if line <= run.last_line && !stays[line - 1] {
            continue;
        }
        if line - first >= LEAST_SHOWN_LINES {
            let place =
                ShownPlace { first_line: run.place.first_line + first - run.first_line, ..run.place.clone() };
            let reason = CutReason { cause: CutCause::AlreadyShown, place: CutPlace::Shown(place) };
            pieces.push(Cut { first_line: first, last_line: line - 1, reason });
        }
        first = line + 1;
    }
    pieces
}

/// A cut whose reason names its own number of lines.
fn with_count(mut cut: Cut) -> Cut {
    if let CutPlace::Lines(count) = &mut cut.reason.place {
        *count = cut.last_line - cut.first_line + 1;
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(first_line: usize, last_line: usize) -> Cut {
        let reason =
            CutReason { cause: CutCause::Unrelated, place: CutPlace::Lines(last_line - first_line + 1) };
        Cut { first_line, last_line, reason }
    }

    fn place(first_line: usize) -> ShownPlace {
        ShownPlace { label: "cat a".to_owned(), ago: 2, first_line, is_written: false }
    }

    fn shown(first_line: usize, last_line: usize, at: usize) -> Cut {
        let reason = CutReason { cause: CutCause::AlreadyShown, place: CutPlace::Shown(place(at)) };
        Cut { first_line, last_line, reason }
    }

    fn joined(cuts: &[Cut], runs: &[(usize, usize)], stays: &[usize], most: usize) -> Vec<Cut> {
        let runs: Vec<ShownRun> = runs
            .iter()
            .map(|(first, last)| ShownRun { first_line: *first, last_line: *last, place: place(100 + first) })
            .collect();
        let stays: Vec<bool> = (1..=50).map(|line| stays.contains(&line)).collect();
        let candidates =
            ShownCandidates { runs: &runs, stays: &stays, bytes: &[20; 50], most, marker_bytes: &|_| 60 };
        add_shown(cuts.to_vec(), &candidates)
    }

    #[test]
    fn shown_runs_and_other_cuts_are_joined() {
        let shown_at = |first: usize, last: usize| shown(first, last, 100 + first);
        for (what, cuts, runs, expected) in [
            ("apart", vec![cut(1, 5)], vec![(10, 20)], vec![cut(1, 5), shown_at(10, 20)]),
            ("the cut goes on before", vec![cut(5, 15)], vec![(10, 20)], vec![cut(5, 9), shown_at(10, 20)]),
            ("the cut goes on after", vec![cut(15, 30)], vec![(10, 20)], vec![shown_at(10, 20), cut(21, 30)]),
            ("the rest is too small", vec![cut(8, 15)], vec![(10, 20)], vec![shown_at(10, 20)]),
            ("the run has all of the cut", vec![cut(12, 18)], vec![(10, 20)], vec![shown_at(10, 20)]),
            ("the cut has all of the run", vec![cut(5, 30)], vec![(10, 20)], vec![cut(5, 30)]),
            (
                "a cut between two runs",
                vec![cut(8, 32)],
                vec![(2, 10), (30, 40)],
                vec![shown_at(2, 10), cut(11, 29), shown_at(30, 40)],
            ),
        ] {
            assert_eq!(joined(&cuts, &runs, &[], 50), expected, "{what}");
        }
    }

    #[test]
    fn neighbouring_runs_of_one_place_are_two_cuts() {
        let run = |first_line: usize, last_line: usize| ShownRun { first_line, last_line, place: place(1) };
        let candidates = ShownCandidates {
            runs: &[run(1, 10), run(11, 20), run(22, 30)],
            stays: &[false; 50],
            bytes: &[20; 50],
            most: 50,
            marker_bytes: &|_| 60,
        };
        assert_eq!(add_shown(vec![], &candidates), [shown(1, 10, 1), shown(12, 20, 2), shown(22, 30, 1)]);
    }

    #[test]
    fn lines_that_stay_split_a_run() {
        assert_eq!(joined(&[], &[(10, 30)], &[12, 20], 50), [shown(13, 19, 113), shown(21, 30, 121)]);
        assert_eq!(joined(&[], &[(10, 20)], &[15], 50), []);
    }

    #[test]
    fn limits_come_first() {
        assert_eq!(joined(&[cut(1, 5)], &[(10, 20)], &[], 15), [cut(1, 5)]);
    }
}
