//! The skimmer: an ensemble of small convolutional networks over the features of lines.
//!
//! A dense layer turns a line's features into [`WIDTH`] channels. Two convolutions over neighbouring lines follow, with
//! pooling between them over the inner part, the outer part and the whole text. The output is one number per line: the
//! higher, the more likely the line is needed. How the weights were made is in `training/`.
//!
//! Results are the same on every machine: each sum has one order, and nothing is fused or reordered. Vector instructions
//! run over channels, so that the compiler may use them without changing a sum.

mod layers;
mod weights;

use layers::{Convolution, Dense, LayerNorm};
use weights::{Reader, WeightsError};

use crate::EngineError;
use crate::features::{self, FeatureTable};
use crate::partition::{Partition, Partitions};

/// How many networks are averaged. Three small ones do better than one large one.
const MEMBERS: usize = 3;
/// Channels of a line inside a network.
const WIDTH: usize = 32;
/// Channels before the output layer.
const HEAD_WIDTH: usize = 16;
/// The kernel size of the convolutions, and the dilation of each.
const KERNEL: usize = 5;
const DILATIONS: [usize; 2] = [1, 4];
/// The convolution after which the pooling is done.
const POOLED_AFTER: usize = 0;
/// Features are clamped to this many standard deviations.
const BOUND: f32 = 5.0;
/// Zero padding on either side of a text: as far as the widest convolution reaches.
const MARGIN: usize = KERNEL / 2 * DILATIONS[DILATIONS.len() - 1];

type Channels = [f32; WIDTH];
type Inputs = [f32; features::COUNT];

/// The networks, and the mean and scale that standardise their input.
pub(crate) struct Skimmer {
    means: Vec<f32>,
    scales: Vec<f32>,
    members: Vec<Network>,
}

impl Skimmer {
    /// The skimmer with the embedded weights.
    pub(crate) fn embedded() -> &'static Skimmer {
        static EMBEDDED: std::sync::LazyLock<Skimmer> = std::sync::LazyLock::new(|| {
            let bytes = include_bytes!("../skimmer.weights");
            #[expect(
                clippy::expect_used,
                reason = "a test reads the embedded file, and a build holds just one"
            )]
            Skimmer::read(bytes).expect("the embedded weights fit this network")
        });
        &EMBEDDED
    }

    fn read(bytes: &[u8]) -> Result<Skimmer, WeightsError> {
        let mut reader = Reader::open(bytes)?;
        let skimmer = Skimmer {
            means: reader.numbers(features::COUNT)?,
            scales: reader.numbers(features::COUNT)?,
            members: (0..MEMBERS).map(|_| Network::read(&mut reader)).collect::<Result<_, _>>()?,
        };
        reader.close()?;
        Ok(skimmer)
    }

    /// The output for every line, averaged over the networks.
    pub(crate) fn forward(
        &self,
        features: &FeatureTable,
        partitions: &Partitions,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<f32>, EngineError> {
        let mut outputs = vec![0.0; features.lines()];
        for member in &self.members {
            let state = self.apply_input(member, features);
            for (sum, output) in outputs.iter_mut().zip(member.forward(state, partitions, interrupted)?) {
                *sum += output / MEMBERS as f32;
            }
        }
        Ok(outputs)
    }

    /// Standardises the features and applies the input layer. It takes a few lines at a time, since a second copy of all
    /// features would double the memory.
    fn apply_input(&self, member: &Network, features: &FeatureTable) -> Vec<Channels> {
        const BATCH_LINES: usize = 64;
        let mut inputs: Vec<Inputs> = vec![[0.0; features::COUNT]; BATCH_LINES];
        let mut state = Vec::with_capacity(features.lines());
        for first in (0..features.lines()).step_by(BATCH_LINES) {
            let lines = first..(first + BATCH_LINES).min(features.lines());
            for (number, (mean, scale)) in self.means.iter().zip(&self.scales).enumerate() {
                for (value, row) in features.by_number(number)[lines.clone()].iter().zip(&mut inputs) {
                    row[number] = ((value - mean) * scale).clamp(-BOUND, BOUND);
                }
            }
            state.extend(inputs[..lines.len()].iter().map(|row| layers::relu(member.input.apply(row))));
        }
        state
    }
}

struct Network {
    input: Dense<WIDTH>,
    convolutions: Vec<(LayerNorm, Convolution)>,
    /// For the inner parts, the outer parts and the text.
    pools: [Dense<WIDTH>; 3],
    last_norm: LayerNorm,
    head: Dense<HEAD_WIDTH>,
    output: Dense<1>,
}

impl Network {
    fn read(reader: &mut Reader<'_>) -> Result<Network, WeightsError> {
        Ok(Network {
            input: Dense::read(reader, features::COUNT)?,
            convolutions: DILATIONS
                .iter()
                .map(|&dilation| Ok((LayerNorm::read(reader)?, Convolution::read(reader, dilation)?)))
                .collect::<Result<_, WeightsError>>()?,
            pools: [
                Dense::read(reader, 2 * WIDTH)?,
                Dense::read(reader, 2 * WIDTH)?,
                Dense::read(reader, 2 * WIDTH)?,
            ],
            last_norm: LayerNorm::read(reader)?,
            head: Dense::read(reader, WIDTH)?,
            output: Dense::read(reader, HEAD_WIDTH)?,
        })
    }

    fn forward(
        &self,
        mut state: Vec<Channels>,
        partitions: &Partitions,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<f32>, EngineError> {
        let check_interrupted = || if interrupted() { Err(EngineError::Interrupted) } else { Ok(()) };
        check_interrupted()?;
        // One padded buffer serves all convolutions; its margins stay zero.
        let mut normal = vec![[0.0; WIDTH]; state.len() + 2 * MARGIN + layers::SPARE];
        for (number, (norm, convolution)) in self.convolutions.iter().enumerate() {
            for (line, row) in state.iter().enumerate() {
                norm.apply(row, &mut normal[MARGIN + line]);
            }
            convolution.add(&normal, &mut state);
            check_interrupted()?;
            if number == POOLED_AFTER {
                self.pool(&mut state, partitions);
                check_interrupted()?;
            }
        }
        Ok(state.iter().map(|row| self.output(row)).collect())
    }

    /// Adds to each line the pooled mean and maximum of the parts that it is in.
    fn pool(&self, state: &mut [Channels], partitions: &Partitions) {
        let [inner, outer, text] = &self.pools;
        let inner = pooled(inner, state, Some(&partitions.inner));
        let outer = pooled(outer, state, Some(&partitions.outer));
        let text = pooled(text, state, None);
        for (line, row) in state.iter_mut().enumerate() {
            let inner = &inner[partitions.inner.of_line[line] as usize];
            let outer = &outer[partitions.outer.of_line[line] as usize];
            for channel in 0..WIDTH {
                row[channel] += inner[channel] + outer[channel] + text[0][channel];
            }
        }
    }

    fn output(&self, row: &Channels) -> f32 {
        let mut normal = [0.0; WIDTH];
        self.last_norm.apply(row, &mut normal);
        self.output.apply(&layers::relu(self.head.apply(&normal)))[0]
    }
}

/// Applies `dense` to the mean and maximum of the lines of each part, or of the whole text.
fn pooled(dense: &Dense<WIDTH>, state: &[Channels], partition: Option<&Partition>) -> Vec<Channels> {
    let count = partition.map_or(1, Partition::count);
    let mut gathered = vec![[0.0f32; 2 * WIDTH]; count];
    let mut sizes = vec![0.0f32; count];
    for (line, row) in state.iter().enumerate() {
        let part = partition.map_or(0, |partition| partition.of_line[line] as usize);
        let (sums, highest) = gathered[part].split_at_mut(WIDTH);
        for channel in 0..WIDTH {
            sums[channel] += row[channel];
            // No value in the state is negative, so the maximum can start from 0.
            highest[channel] = if row[channel] > highest[channel] { row[channel] } else { highest[channel] };
        }
        sizes[part] += 1.0;
    }
    let finish = |(gathered, size): (&mut [f32; 2 * WIDTH], f32)| {
        gathered[..WIDTH].iter_mut().for_each(|sum| *sum /= size.max(1.0));
        layers::relu(dense.apply(gathered))
    };
    gathered.iter_mut().zip(sizes).map(finish).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_weights_fit() {
        let skimmer = Skimmer::embedded();
        assert_eq!(skimmer.means.len(), features::COUNT);
        assert!(skimmer.scales.iter().all(|scale| scale.is_finite()));
    }
}
