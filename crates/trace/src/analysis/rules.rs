//! What costs points: one list. The most that each can cost adds up to a hundred, so the parts always explain the score.

use serde::Serialize;

/// What a session is checked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Lens {
    Failures,
    Loops,
    TokenUsage,
    SlowSteps,
    RepeatedReads,
    ContextGrowth,
}

impl Lens {
    pub const ALL: &'static [Lens] = &[
        Lens::Failures,
        Lens::Loops,
        Lens::TokenUsage,
        Lens::SlowSteps,
        Lens::RepeatedReads,
        Lens::ContextGrowth,
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    NeverPutRight,
    FailedAgain,
    PutRight,
    SameCall,
    Alternating,
    Churn,
    ReadAgain,
    LargeTurn,
    CacheMiss,
    ContextJump,
    Slow,
}

struct Price {
    rule: Rule,
    lens: Lens,
    what: &'static str,
    each: u64,
    most: u64,
}

/// In the order of [`Rule`].
#[rustfmt::skip]
const PRICES: &[Price] = &[
    Price { rule: Rule::NeverPutRight, lens: Lens::Failures, each: 4, most: 30, what: "failed calls that nothing put right" },
    Price { rule: Rule::FailedAgain, lens: Lens::Failures, each: 3, most: 15, what: "calls that failed again with nothing changed" },
    Price { rule: Rule::PutRight, lens: Lens::Failures, each: 1, most: 10, what: "failed calls that were put right" },
    Price { rule: Rule::SameCall, lens: Lens::Loops, each: 3, most: 10, what: "calls repeated three times or more for the same result" },
    Price { rule: Rule::Alternating, lens: Lens::Loops, each: 3, most: 5, what: "pairs of calls taken in turns" },
    Price { rule: Rule::Churn, lens: Lens::Loops, each: 1, most: 5, what: "files read and edited over and over" },
    Price { rule: Rule::ReadAgain, lens: Lens::RepeatedReads, each: 1, most: 5, what: "files read again though unchanged" },
    Price { rule: Rule::LargeTurn, lens: Lens::TokenUsage, each: 2, most: 5, what: "turns far above the median in tokens" },
    Price { rule: Rule::CacheMiss, lens: Lens::TokenUsage, each: 1, most: 5, what: "requests that lost the prompt cache" },
    Price { rule: Rule::ContextJump, lens: Lens::ContextGrowth, each: 1, most: 5, what: "jumps of the context" },
    Price { rule: Rule::Slow, lens: Lens::SlowSteps, each: 1, most: 5, what: "calls of five minutes or more" },
];

/// Above this many calls, what failed and what was repeated weighs by its share and no longer by its number: ten failures
/// among twenty calls are not ten among two thousand.
const CALLS_THAT_COUNT_FULL: u64 = 100;

/// A part of the score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Deduction {
    pub lens: Lens,
    pub what: &'static str,
    pub count: u64,
    pub points: u64,
}

pub(super) const RULES: usize = PRICES.len();

/// The points that these counts cost in a session with `calls` calls.
pub(super) fn deductions(counts: &[u64; RULES], calls: u64) -> Vec<Deduction> {
    PRICES
        .iter()
        .filter_map(|price| {
            let count = counts[price.rule as usize];
            let full = count.saturating_mul(price.each);
            let scaled =
                full.saturating_mul(CALLS_THAT_COUNT_FULL).div_ceil(calls.max(CALLS_THAT_COUNT_FULL));
            let points = scaled.min(price.most);
            (count > 0).then_some(Deduction { lens: price.lens, what: price.what, count, points })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn prices_are_in_order_and_add_up_to_a_hundred() {
        for (index, price) in PRICES.iter().enumerate() {
            assert_eq!(price.rule as usize, index);
        }
        assert_eq!(PRICES.iter().map(|price| price.most).sum::<u64>(), 100);
    }

    proptest! {
        #[test]
        fn parts_never_cost_more_than_a_hundred(counts: [u64; RULES], calls: u64) {
            let deductions = deductions(&counts, calls);
            prop_assert!(deductions.iter().map(|part| part.points).sum::<u64>() <= 100);
            prop_assert!(deductions.iter().all(|part| part.points > 0 && part.count > 0));
        }
    }
}
