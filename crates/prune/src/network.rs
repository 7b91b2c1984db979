//! The skimmer: a small network that reads lines, not words.
//!
//! A line's features become [`WIDTH`] channels. Convolutions over neighbouring lines follow, and between them what the
//! lines of one definition, of one top-level piece and of the whole text have in common. One number per line comes out:
//! the higher, the likelier it is needed. How the weights were made is in `training/`.
//!
//! The same numbers on every machine: each sum has one order, whatever the vector unit, and nothing is fused or
//! reordered. Vectors run over channels, so that the compiler may use them without changing a sum.

mod layers;
mod weights;

use layers::{Convolution, Dense, Norm};
use weights::{Misfit, Reader};

use crate::Unpruned;
use crate::features::{self, Features};
use crate::partition::{Levels, Units};

/// How many networks judge each line; their mean counts. Three small ones judge better than a large one.
const MEMBERS: usize = 3;
/// Channels of a line inside a network.
const WIDTH: usize = 32;
/// Channels before the last step.
const LEAVING: usize = 16;
/// Lines that a convolution reads, and how far apart they lie.
const KERNEL: usize = 5;
const DILATIONS: [usize; 2] = [1, 4];
/// The convolution after which lines look at the units they belong to.
const POOLED_AFTER: usize = 0;
/// Features are bounded to this many standard deviations.
const BOUND: f32 = 5.0;
/// Lines of nothing on either side of a text: as far as the widest convolution reaches.
const MARGIN: usize = KERNEL / 2 * DILATIONS[DILATIONS.len() - 1];

type Channels = [f32; WIDTH];
type Inputs = [f32; features::COUNT];

/// The networks, and what brings features to one scale.
pub(crate) struct Skimmer {
    means: Vec<f32>,
    scales: Vec<f32>,
    members: Vec<Network>,
}

impl Skimmer {
    /// The one whose weights come with the program.
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

    fn read(bytes: &[u8]) -> Result<Skimmer, Misfit> {
        let mut reader = Reader::open(bytes)?;
        let skimmer = Skimmer {
            means: reader.numbers(features::COUNT)?,
            scales: reader.numbers(features::COUNT)?,
            members: (0..MEMBERS).map(|_| Network::read(&mut reader)).collect::<Result<_, _>>()?,
        };
        reader.close()?;
        Ok(skimmer)
    }

    /// A number for every line: the higher, the likelier it is needed.
    pub(crate) fn judge(
        &self,
        features: &Features,
        levels: &Levels,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<f32>, Unpruned> {
        let mut judgements = vec![0.0; features.lines()];
        for member in &self.members {
            let state = self.enter(member, features);
            for (sum, judgement) in judgements.iter_mut().zip(member.judge(state, levels, interrupted)?) {
                *sum += judgement / MEMBERS as f32;
            }
        }
        Ok(judgements)
    }

    /// The features of each line, on one scale, as a member takes them in. A few lines at a time: all at once would
    /// double the memory that features take.
    fn enter(&self, member: &Network, features: &Features) -> Vec<Channels> {
        const AT_ONCE: usize = 64;
        let mut inputs: Vec<Inputs> = vec![[0.0; features::COUNT]; AT_ONCE];
        let mut state = Vec::with_capacity(features.lines());
        for first in (0..features.lines()).step_by(AT_ONCE) {
            let lines = first..(first + AT_ONCE).min(features.lines());
            for (number, (mean, scale)) in self.means.iter().zip(&self.scales).enumerate() {
                for (value, row) in features.by_number(number)[lines.clone()].iter().zip(&mut inputs) {
                    row[number] = ((value - mean) * scale).clamp(-BOUND, BOUND);
                }
            }
            state.extend(inputs[..lines.len()].iter().map(|row| layers::positive(member.enter.apply(row))));
        }
        state
    }
}

struct Network {
    enter: Dense<WIDTH>,
    convolutions: Vec<(Norm, Convolution)>,
    /// For near units, top units and the text.
    pools: [Dense<WIDTH>; 3],
    last: Norm,
    leave: Dense<LEAVING>,
    out: Dense<1>,
}

impl Network {
    fn read(reader: &mut Reader<'_>) -> Result<Network, Misfit> {
        Ok(Network {
            enter: Dense::read(reader, features::COUNT)?,
            convolutions: DILATIONS
                .iter()
                .map(|&dilation| Ok((Norm::read(reader)?, Convolution::read(reader, dilation)?)))
                .collect::<Result<_, Misfit>>()?,
            pools: [
                Dense::read(reader, 2 * WIDTH)?,
                Dense::read(reader, 2 * WIDTH)?,
                Dense::read(reader, 2 * WIDTH)?,
            ],
            last: Norm::read(reader)?,
            leave: Dense::read(reader, WIDTH)?,
            out: Dense::read(reader, LEAVING)?,
        })
    }

    fn judge(
        &self,
        mut state: Vec<Channels>,
        levels: &Levels,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<f32>, Unpruned> {
        let go_on = || if interrupted() { Err(Unpruned::Interrupted) } else { Ok(()) };
        go_on()?;
        // One more buffer serves all convolutions; its margins stay empty.
        let mut normal = vec![[0.0; WIDTH]; state.len() + 2 * MARGIN + layers::SPARE];
        for (number, (norm, convolution)) in self.convolutions.iter().enumerate() {
            for (line, row) in state.iter().enumerate() {
                norm.apply(row, &mut normal[MARGIN + line]);
            }
            convolution.add(&normal, &mut state);
            go_on()?;
            if number == POOLED_AFTER {
                self.pool(&mut state, levels);
                go_on()?;
            }
        }
        Ok(state.iter().map(|row| self.leave(row)).collect())
    }

    /// Adds to each line what the lines of each of its units have in common: their mean and their maximum.
    fn pool(&self, state: &mut [Channels], levels: &Levels) {
        let [near, top, text] = &self.pools;
        let near = pooled(near, state, Some(&levels.near));
        let top = pooled(top, state, Some(&levels.top));
        let text = pooled(text, state, None);
        for (line, row) in state.iter_mut().enumerate() {
            let near = &near[levels.near.of_line[line] as usize];
            let top = &top[levels.top.of_line[line] as usize];
            for channel in 0..WIDTH {
                row[channel] += near[channel] + top[channel] + text[0][channel];
            }
        }
    }

    fn leave(&self, row: &Channels) -> f32 {
        let mut normal = [0.0; WIDTH];
        self.last.apply(row, &mut normal);
        self.out.apply(&layers::positive(self.leave.apply(&normal)))[0]
    }
}

/// For each unit, or for the whole text as one, what `dense` makes of its lines' mean and maximum.
fn pooled(dense: &Dense<WIDTH>, state: &[Channels], units: Option<&Units>) -> Vec<Channels> {
    let count = units.map_or(1, Units::count);
    let mut gathered = vec![[0.0f32; 2 * WIDTH]; count];
    let mut sizes = vec![0.0f32; count];
    for (line, row) in state.iter().enumerate() {
        let unit = units.map_or(0, |units| units.of_line[line] as usize);
        let (sums, highest) = gathered[unit].split_at_mut(WIDTH);
        for channel in 0..WIDTH {
            sums[channel] += row[channel];
            // Nothing in the state is negative, so nothing is lost by starting from 0.
            highest[channel] = if row[channel] > highest[channel] { row[channel] } else { highest[channel] };
        }
        sizes[unit] += 1.0;
    }
    let settle = |(gathered, size): (&mut [f32; 2 * WIDTH], f32)| {
        gathered[..WIDTH].iter_mut().for_each(|sum| *sum /= size.max(1.0));
        layers::positive(dense.apply(gathered))
    };
    gathered.iter_mut().zip(sizes).map(settle).collect()
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
