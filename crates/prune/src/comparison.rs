//! Whether a goal compares: asks for an extreme, for a number above or below another, or for what is absent.
//!
//! Which record answers such a question is decided by values, which the engine does not compare. So every record that might be
//! the answer is wanted.

/// What a goal compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Comparison {
    /// Which record it is follows from the whole record: the last one, one without something.
    Records,
    /// Which record it is follows from numbers: the highest one, one below zero.
    Numbers,
}

/// Superlatives, and words for what is computed from all numbers.
#[rustfmt::skip]
const EXTREMES: &[&str] = &[
    "most", "least", "fewest", "highest", "lowest", "largest", "biggest", "greatest", "hugest", "smallest", "tiniest", "littlest", "longest",
    "shortest", "slowest", "fastest", "quickest", "speediest", "heaviest", "lightest", "widest", "broadest", "narrowest", "deepest", "shallowest",
    "tallest", "thickest", "thinnest", "fattest", "fullest", "emptiest", "cheapest", "dearest", "priciest", "costliest", "busiest", "hottest",
    "warmest", "coldest", "coolest", "richest", "poorest", "strongest", "weakest", "worst", "best", "closest", "nearest", "farthest", "furthest",
    "loudest", "quietest", "noisiest", "rarest", "commonest", "steepest", "densest", "freshest", "stalest", "laggiest", "flakiest", "hungriest",
    "uppermost", "topmost", "max", "maximum", "maximal", "maxima", "min", "minimum", "minimal", "minima", "peak", "peaks", "peaked", "top", "bottom",
    "average", "averages", "median", "percentile", "total", "totals", "sum", "negative", "nonzero", "zero", "overdrawn", "exceed", "exceeds",
    "exceeded", "exceeding",
    "maximale", "minimale", "négatif", "négative", "négatifs", "négatives", "meilleur", "meilleure", "pire", "pires", "moyenne", "médiane",
    "mayor", "mayores", "menor", "menores", "máximo", "máxima", "mínimo", "mínima", "mejor", "peor", "negativo", "negativa", "promedio",
    "maggiore", "minore", "massimo", "massima", "minimo", "minima", "migliore", "peggiore",
    "negativ", "negative", "negativen", "negativem", "negativer", "durchschnitt", "maximal", "minimal",
];

/// German superlatives without their endings.
#[rustfmt::skip]
const GERMAN_EXTREMES: &[&str] = &[
    "höchst", "niedrigst", "größt", "kleinst", "längst", "kürzest", "schnellst", "langsamst", "meist", "wenigst", "ältest", "neuest", "jüngst",
    "teuerst", "billigst", "günstigst", "best", "schlechtest", "schwerst", "leichtest", "tiefst", "heißest", "kältest",
];

/// Comparatives: with "than", or in a question such as "which is faster".
#[rustfmt::skip]
const COMPARATIVES: &[&str] = &[
    "higher", "lower", "larger", "bigger", "greater", "smaller", "longer", "shorter", "slower", "faster", "quicker", "older", "newer", "younger",
    "heavier", "lighter", "wider", "narrower", "deeper", "shallower", "taller", "thicker", "thinner", "cheaper", "dearer", "pricier", "costlier",
    "busier", "hotter", "warmer", "colder", "cooler", "richer", "poorer", "stronger", "weaker", "worse", "earlier", "later",
];

/// These also have other meanings, so they count only with "than".
const COMPARATIVES_WITH_THAN: &[&str] = &["more", "less", "fewer", "better", "closer", "farther", "further"];
const ASKING_FOR_ONE: &[&str] = &["which", "who", "whose", "what"];

/// Before a number, these compare with it.
#[rustfmt::skip]
const BOUNDS: &[&str] = &["over", "above", "below", "under", "beyond", "past", "between", "beneath"];

/// In these languages an adjective gets a word before it: "le plus lent", "il più lento", "la más alta".
#[rustfmt::skip]
const EXTREMES_OF_TWO_WORDS: &[(&[&str], &[&str])] = &[
    (&["le", "la", "les", "de", "au", "aux"], &["plus", "moins"]),
    (&["el", "la", "los", "las", "lo", "con", "tiene", "de"], &["más", "menos"]),
    (&["il", "lo", "la", "i", "gli", "le", "con"], &["più", "meno"]),
    (&["plus", "moins", "más", "menos", "più", "meno", "mehr", "weniger", "größer", "kleiner"], &["de", "que", "di", "als", "d'"]),
];

/// Behind "most" these ask for an opinion or for a time: "the most likely cause", "most recent".
#[rustfmt::skip]
const NOT_EXTREME_AFTER_MOST: &[&str] = &[
    "likely", "probable", "probably", "plausible", "important", "relevant", "interesting", "useful", "helpful", "obvious", "obviously", "recent",
    "recently", "promising", "suspicious", "of",
];
const NOT_EXTREME_AFTER_LEAST: &[&str] = &["one", "once", "a", "an"];
const NOT_EXTREME_AFTER_TOP: &[&str] = &["level", "of", "left", "right"];
/// These are also what parts of code are called: "the sum function", "the top module". But "max file size" is a number.
#[rustfmt::skip]
const NAMES_IN_CODE: &[&str] = &[
    "average", "bottom", "max", "maximum", "median", "min", "minimum", "peak", "percentile", "sum", "top", "total", "totals", "zero",
];
const PARTS_OF_CODE: &[&str] = &["function", "module", "file", "class", "method"];
const MEASURES: &[&str] =
    &["size", "sizes", "length", "count", "counts", "time", "times", "duration", "calls", "coverage"];
const NOT_EXTREME_AFTER_BEST: &[&str] = &["way", "practice", "practices", "place", "approach"];

/// Words for what is absent, for one end of a list, and for much or little of something.
#[rustfmt::skip]
const WHOLE_RECORDS: &[&str] = &[
    "not", "no", "never", "without", "except", "missing", "lacks", "lack", "lacking", "none", "nobody", "nothing", "neither", "nor", "other",
    "don't", "doesn't", "didn't", "isn't", "aren't", "wasn't", "weren't", "hasn't", "haven't", "hadn't", "cannot", "can't", "won't",
    "empty", "blank", "null", "nan", "unset", "unused", "inactive", "expired", "overdue", "outdated", "duplicate", "duplicates", "unique",
    "different", "differs", "differ", "odd", "last", "latest", "newest", "oldest", "earliest", "youngest", "first", "recent", "recently",
    "slow", "fast", "high", "low", "large", "big", "huge", "small", "tiny", "long", "short", "expensive", "cheap", "positive", "many", "few",
    "sans", "aucun", "aucune", "jamais", "pas", "dernier", "dernière", "ohne", "kein", "keine", "keinen", "nicht", "nie", "sin", "ningún", "ninguna",
    "nunca", "último", "última", "senza", "nessun", "mai",
];

/// What the words of a question, in lower case, compare. `question` is the goal that they are from.
pub(crate) fn comparison(question: &str, words: &[String]) -> Option<Comparison> {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let compares_two = words.iter().any(|word| word == "than");
    let asks_for_one = ASKING_FOR_ONE.contains(&word(0));
    let is_number = |word: &str| word.starts_with(|letter: char| letter.is_ascii_digit()) || word == "zero";
    let by_numbers = words.iter().enumerate().any(|(at, found)| {
        let (before, found, after) = (at.checked_sub(1).map_or("", word), found.as_str(), word(at + 1));
        if EXTREMES.contains(&found) {
            let exceptions: &[&str] = match found {
                "most" => NOT_EXTREME_AFTER_MOST,
                "least" => NOT_EXTREME_AFTER_LEAST,
                "top" | "bottom" => NOT_EXTREME_AFTER_TOP,
                "best" => NOT_EXTREME_AFTER_BEST,
                _ => &[],
            };
            let names_code = NAMES_IN_CODE.contains(&found)
                && PARTS_OF_CODE.contains(&after)
                && !MEASURES.contains(&word(at + 2));
            return !exceptions.contains(&after) && !names_code;
        }
        // "What does it mean" asks for no number.
        found == "mean" && before == "the"
            || COMPARATIVES.contains(&found) && before != "no" && (compares_two || asks_for_one)
            || COMPARATIVES_WITH_THAN.contains(&found) && compares_two
            || BOUNDS.contains(&found) && is_number(after)
            // "Wie geht das am besten" asks for a way.
            || is_german_extreme(found) && (before, found) != ("am", "besten")
            || EXTREMES_OF_TWO_WORDS
                .iter()
                .any(|(first, second)| first.contains(&before) && second.contains(&found))
    });
    if by_numbers || has_sign(question) || has_zero(question) {
        Some(Comparison::Numbers)
    } else {
        has(WHOLE_RECORDS).then_some(Comparison::Records)
    }
}

fn is_german_extreme(word: &str) -> bool {
    ["e", "en", "er", "es", "em"]
        .iter()
        .filter_map(|ending| word.strip_suffix(ending))
        .any(|stem| GERMAN_EXTREMES.contains(&stem))
}

/// A `0` by itself, and not in an address or a version.
fn has_zero(question: &str) -> bool {
    question.split_whitespace().any(|word| word.trim_matches(['?', ',', '.', ';', ':', '(', ')']) == "0")
}

/// `> 500`, `balance<0`, `>= 1.5`, but not `-> 5` and `=> 5`
fn has_sign(question: &str) -> bool {
    question.match_indices(['<', '>']).any(|(at, sign)| {
        let rest = question[at + sign.len()..].trim_start_matches(['=', ' ']);
        let is_arrow = sign == ">" && question[..at].ends_with(['-', '=']);
        !is_arrow
            && rest
                .trim_start_matches(['-', '$', '€', '£'])
                .starts_with(|letter: char| letter.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::want::Want;

    #[test]
    fn questions_that_compare_are_told_from_others() {
        use Comparison::{Numbers, Records};
        for (goal, expected) in [
            ("which user has a negative balance", Some(Numbers)),
            ("which customer has the most orders", Some(Numbers)),
            ("highest number of orders", Some(Numbers)),
            ("which query took the least time", Some(Numbers)),
            ("which query was the fastest?", Some(Numbers)),
            ("which of the two is faster", Some(Numbers)),
            ("requests that took longer than 500 ms", Some(Numbers)),
            ("more than 500 orders", Some(Numbers)),
            ("balance below zero", Some(Numbers)),
            ("users over 65", Some(Numbers)),
            ("balance < 0", Some(Numbers)),
            ("has 0 orders", Some(Numbers)),
            ("orders of 0?", Some(Numbers)),
            ("what did 10.0.0.12 do", None),
            ("what happened between 9:30 and 9:50", None),
            ("which request between 9:30 and 9:50 was the slowest", Some(Numbers)),
            ("what is the mean latency", Some(Numbers)),
            ("quel client a le plus de commandes", Some(Numbers)),
            ("welche Abfrage war die langsamste", Some(Numbers)),
            ("qué usuario tiene más pedidos", Some(Numbers)),
            ("which customer has no orders", Some(Records)),
            ("who logged in last", Some(Records)),
            ("which pods are not running?", Some(Records)),
            ("welches Paket ist das größte", Some(Numbers)),
            ("wer hat den größten Ordner", Some(Numbers)),
            ("welches Modell hat den besten Wert", Some(Numbers)),
            ("wie behebe ich den Absturz am besten", None),
            ("balance >= 5", Some(Numbers)),
            ("where is x -> 5 set", None),
            ("the arm x => 5", None),
            ("which commit changed the sum function", None),
            ("where is the total method", None),
            ("fix the top module", None),
            ("what does the max class do", None),
            ("what is the max file size", Some(Numbers)),
            ("which is the longest function", Some(Numbers)),
            ("sum of all orders", Some(Numbers)),
            ("what is the most likely cause", None),
            ("the service is running and takes up more memory", None),
            ("fails at least once", None),
            ("what does this mean", None),
            ("look over the code", None),
            ("add a -> b and a <T> parameter", None),
            ("where is the socket closed", None),
            ("", None),
        ] {
            assert_eq!(Want::read(goal).comparison, expected, "{goal}");
        }
    }
}
