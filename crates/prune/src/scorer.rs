//! From features to a keep-score.

use tamis_text::Kind;

use crate::features::{Feature, Features};

const WEIGHTS: &[(Feature, f32)] =
    &[(Feature::Near, 1.0), (Feature::Blur6, 1.0), (Feature::NearTitlePrecision, 1.0)];

pub(crate) fn score(_kind: Kind, features: &Features) -> Vec<f32> {
    let mut scores = vec![0.0f32; features.lines()];
    for &(feature, weight) in WEIGHTS {
        for (score, value) in scores.iter_mut().zip(features.column(feature)) {
            *score += weight * value;
        }
    }
    for score in &mut scores {
        *score = *score / (2.0 + *score);
    }
    scores
}
