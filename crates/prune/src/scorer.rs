//! From features to a keep-score: how likely a line is needed, between 0 and 1.
//!
//! A weighted sum of the features, softened over neighbours and squeezed so that 0.5 is the point where about 95 %
//! of the needed lines stay. A learned scorer would replace [`score`] and nothing else.

use tamis_text::Kind;

use crate::DEFAULT_THRESHOLD;
use crate::features::{Feature, Features};
use crate::relevance::{blur, highest};

/// For code.
///
/// Fitted by ridge logistic regression (C = 2e-4 on standardised columns) over the benchmark's training cases (a
/// third of train_commits, half of train_docs), with dev_agent_read at 0.3 of their weight so that the goals of
/// agents, which no training file has, are not a surprise. When only one half of dev_agent_read took part, the other
/// half still gained: two points of cut at 95 % recall, against four for the half that did. Needed lines weigh the same
/// in every case, others by their width; protected lines are left out. Columns that added nothing were dropped, and
/// boosted trees over all columns gained at most two points of recall at 20 %. The middle was set on the dev files.
///
/// The weight of the text's length is half of what the fit gave. The fit counts characters, so it took its cuts where
/// they are cheap: long files lost 15 % of what was needed while short ones were hardly cut. Halved, the worst tenth of
/// cases keeps 6 to 13 points more, at 3 to 4 points of cut.
const CODE: Model = Model {
    constant: 1.3038,
    weights: &[
        (Feature::Line, -0.3714),
        (Feature::LineShare, 1.0980),
        (Feature::LineRank, -1.9592),
        (Feature::HeadlineBlur8, 0.1638),
        (Feature::Blur15Share, 1.0341),
        (Feature::Window30Cover, 1.3333),
        (Feature::Paragraph, 0.1894),
        (Feature::ParagraphCover, -0.7147),
        (Feature::ParagraphShare, 0.7524),
        (Feature::Near, 0.2011),
        (Feature::NearShare, 0.3810),
        (Feature::NearCover, -0.6704),
        (Feature::NearTitle, 0.1225),
        (Feature::NearTitleCover, 1.5669),
        (Feature::NearTitlePrecision, 0.8892),
        (Feature::NearLength, -0.0493),
        (Feature::NearDistance, 0.0316),
        (Feature::Top, -0.0772),
        (Feature::TopShare, 0.2498),
        (Feature::TopCover, 0.3614),
        (Feature::TopLength, -0.0133),
        (Feature::NamedBlur, 0.5730),
        (Feature::PhraseBlur, 0.5646),
        (Feature::PhraseNear, -0.1003),
        (Feature::Company, -0.2557),
        (Feature::CompanyNear, 0.2714),
        (Feature::CompanyRank, -0.6145),
        (Feature::IsComment, -0.8673),
        (Feature::InTests, -0.7992),
        (Feature::TextLines, -0.0203),
        (Feature::GoalFound, -0.9491),
        (Feature::BestCover, -0.7227),
        (Feature::BestNear, -0.3316),
        (Feature::Contrast, 0.1964),
    ],
    middle: -0.99,
    slope: 0.75,
    softening: 2,
};

/// For documents: the same words matter, in texts that are shorter and of smaller pieces. No training file has any;
/// the middle is a cautious reading of the 26 documents in dev_agent_read.
const DOCS: Model = Model { middle: -0.35, ..CODE };

/// For logs and command output, where repetition says more than the goal does.
///
/// Fitted as above on dev_agent_shell, the only logs there are. Fitted on either half, the other half can be cut by
/// 15 % at 95 % recall, as all of it can when fitted on all.
const LOGS: Model = Model {
    constant: 0.36,
    weights: &[
        (Feature::Line, 0.22),
        (Feature::LineShare, 0.35),
        (Feature::Repeats, -0.63),
        (Feature::EarlierRepeats, -0.47),
        (Feature::Window30Cover, 0.5),
        (Feature::TextLines, -0.022),
        (Feature::IsWarning, 0.08),
    ],
    middle: -0.5,
    slope: 1.0,
    softening: 0,
};

/// A line's neighbours count for this much of its sum.
const NEIGHBOURS: f32 = 0.6;

/// Below this weight of words found, the goal is trusted in proportion: a word or two may be anywhere.
const TRUSTED_WEIGHT: f32 = 6.0;

/// The goal's words are all in one title.
const WHOLE_TITLE: f32 = 0.99;

struct Model {
    constant: f32,
    weights: &'static [(Feature, f32)],
    /// The sum that becomes 0.5, and how steeply scores change around it.
    middle: f32,
    slope: f32,
    /// How many neighbours on each side a sum is softened over.
    softening: usize,
}

/// The score of every line.
pub(crate) fn score(kind: Kind, features: &Features) -> Vec<f32> {
    let model = match kind {
        Kind::Code => &CODE,
        Kind::Docs => &DOCS,
        Kind::Logs => &LOGS,
    };
    let mut sums = vec![model.constant; features.lines()];
    for &(feature, weight) in model.weights {
        for (sum, value) in sums.iter_mut().zip(features.column(feature)) {
            *sum += weight * value;
        }
    }
    if model.softening > 0 {
        let soft = blur(&sums, model.softening);
        for (sum, soft) in sums.iter_mut().zip(soft) {
            *sum += NEIGHBOURS * (soft - *sum);
        }
    }
    let trust = trust(kind, features);
    let mut scores: Vec<f32> =
        sums.iter().map(|sum| 1.0 - trust * (1.0 - squeeze(model.slope * (sum - model.middle)))).collect();
    if kind == Kind::Logs {
        lift_examples(&mut scores, features);
    }
    scores
}

/// However often a log says something, a reader needs to see it said once; and a line with a word of the
/// goal that hardly another has must not go because a hundred others differ from it in a number only; nor must one that differs from all
/// the others of its log. They stay at the default threshold, and go before others above it.
fn lift_examples(scores: &mut [f32], features: &Features) {
    let column = |feature| features.column(feature);
    let (repeats, earlier) = (column(Feature::Repeats), column(Feature::EarlierRepeats));
    let (rare, stands_out) = (column(Feature::Rare), column(Feature::StandsOut));
    for (line, score) in scores.iter_mut().enumerate() {
        let example = repeats[line] > 1.0 && earlier[line] == 0.0;
        if example || rare[line] > 0.0 || stands_out[line] > 0.0 {
            *score = score.max(DEFAULT_THRESHOLD);
        }
    }
}

/// How far the goal is to be believed, 0 to 1. Without a word that is in the text there is nothing to go by.
fn trust(kind: Kind, features: &Features) -> f32 {
    let root = features.column(Feature::GoalWeight).first().copied().unwrap_or(0.0);
    match kind {
        // Repetition speaks for itself.
        Kind::Logs => 1.0,
        // The name of a definition or the title of a section says all, be it one word.
        Kind::Code | Kind::Docs if highest(features.column(Feature::NearTitleCover)) > WHOLE_TITLE => 1.0,
        Kind::Code | Kind::Docs => (root * root / TRUSTED_WEIGHT).min(1.0),
    }
}

fn squeeze(value: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-value))
}
