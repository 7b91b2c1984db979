//! From features to a keep-score: how likely a line is needed, between 0 and 1.
//!
//! A weighted sum of the features, softened over neighbours and squeezed so that 0.5 is the point where about 95 %
//! of the needed lines stay. A learned scorer would replace [`score`] and nothing else.

use tamis_text::Kind;

use crate::features::{Feature, Features};
use crate::relevance::blur;

/// For code and documents.
///
/// Fitted by ridge logistic regression (C = 2e-4 on standardised columns) over the benchmark's training cases (a
/// third of train_commits, half of train_docs), with dev_agent_read at 0.3 of their weight so that the goals
/// of agents, which no training file has, are not a surprise. Fitted on one half of dev_agent_read, the other half
/// gained as much. Needed lines weigh the same in every case, others by their width; protected lines are left out.
/// Columns that added nothing were dropped; boosted trees over the same columns gained under one point.
const CODE: Model = Model {
    constant: 1.344,
    weights: &[
        (Feature::Line, -0.3860),
        (Feature::LineShare, 1.1186),
        (Feature::LineRank, -2.0056),
        (Feature::HeadlineBlur8, 0.1562),
        (Feature::Blur15Share, 1.0796),
        (Feature::Window30Cover, 1.3439),
        (Feature::Paragraph, 0.1861),
        (Feature::ParagraphCover, -0.7277),
        (Feature::ParagraphShare, 0.7531),
        (Feature::Near, 0.2139),
        (Feature::NearShare, 0.3998),
        (Feature::NearCover, -0.6962),
        (Feature::NearTitle, 0.1071),
        (Feature::NearTitleCover, 1.5936),
        (Feature::NearTitlePrecision, 0.8880),
        (Feature::NearLength, -0.0523),
        (Feature::NearDistance, 0.0329),
        (Feature::Top, -0.0773),
        (Feature::TopShare, 0.2060),
        (Feature::TopCover, 0.3456),
        (Feature::TopLength, -0.0126),
        (Feature::NamedBlur, 0.5464),
        (Feature::PhraseBlur, 0.5815),
        (Feature::PhraseNear, -0.1061),
        (Feature::Company, -0.2452),
        (Feature::CompanyNear, 0.2330),
        (Feature::CompanyRank, -0.6301),
        (Feature::IsComment, -0.8621),
        (Feature::InTests, -0.8183),
        (Feature::TextLines, -0.0413),
        (Feature::GoalFound, -0.9413),
        (Feature::BestCover, -0.7138),
        (Feature::BestNear, -0.3205),
        (Feature::Contrast, 0.1965),
    ],
    middle: -1.5,
    slope: 0.75,
    softening: 2,
};

/// For logs and command output, where repetition says more than the goal does.
///
/// Fitted as above on dev_agent_shell, the only logs there are; either half gave the other the same figures.
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
const TRUSTED_WEIGHT: f32 = 8.0;

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
    let model = if kind == Kind::Logs { &LOGS } else { &CODE };
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
    sums.iter().map(|sum| 1.0 - trust * (1.0 - squeeze(model.slope * (sum - model.middle)))).collect()
}

/// How far the goal is to be believed, 0 to 1. Without a word that is in the text there is nothing to go by.
fn trust(kind: Kind, features: &Features) -> f32 {
    let root = features.column(Feature::GoalWeight).first().copied().unwrap_or(0.0);
    match kind {
        // Repetition speaks for itself.
        Kind::Logs => 1.0,
        Kind::Code | Kind::Docs => (root * root / TRUSTED_WEIGHT).min(1.0),
    }
}

fn squeeze(value: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-value))
}
