//! The network's building blocks. Sums run over inputs in order, one at a time; vectors over outputs.

use super::weights::{Misfit, Reader};
use super::{Channels, KERNEL, MARGIN, WIDTH};

/// Channels that are summed at once: few enough for the registers of any machine.
const LANES: usize = 16;
/// Lines that share one reading of the weights.
const TOGETHER: usize = 2;
/// Lines that the last of them may read beyond the margin.
pub(super) const SPARE: usize = TOGETHER - 1;

const _: () = assert!(WIDTH.is_multiple_of(LANES));

/// Every output is a weighted sum of all inputs.
pub(super) struct Dense<const OUT: usize> {
    /// By input, then output.
    weights: Vec<[f32; OUT]>,
    bias: [f32; OUT],
}

impl<const OUT: usize> Dense<OUT> {
    /// Weights lie in the file by output, then input.
    pub(super) fn read(reader: &mut Reader<'_>, inputs: usize) -> Result<Self, Misfit> {
        let flat = reader.numbers(OUT * inputs)?;
        let weights =
            (0..inputs).map(|input| std::array::from_fn(|output| flat[output * inputs + input])).collect();
        Ok(Dense { weights, bias: reader.array()? })
    }

    pub(super) fn apply(&self, inputs: &[f32]) -> [f32; OUT] {
        let mut sums = self.bias;
        for (input, weights) in inputs.iter().zip(&self.weights) {
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += input * weight;
            }
        }
        sums
    }
}

/// A line's channels, brought to mean 0 and spread 1, then weighted.
pub(super) struct Norm {
    weights: Channels,
    bias: Channels,
}

impl Norm {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Norm, Misfit> {
        Ok(Norm { weights: reader.array()?, bias: reader.array()? })
    }

    pub(super) fn apply(&self, row: &Channels, out: &mut Channels) {
        const SMALLEST: f32 = 1e-5;
        let mean = sum(row) / WIDTH as f32;
        let centred: Channels = std::array::from_fn(|channel| row[channel] - mean);
        let squares: Channels = std::array::from_fn(|channel| centred[channel] * centred[channel]);
        let scale = 1.0 / (sum(&squares) / WIDTH as f32 + SMALLEST).sqrt();
        for channel in 0..WIDTH {
            out[channel] = centred[channel] * scale * self.weights[channel] + self.bias[channel];
        }
    }
}

/// The sum of all channels, as eight running sums that are then added in order.
fn sum(row: &Channels) -> f32 {
    let mut sums = [0.0f32; 8];
    for part in row.chunks_exact(8) {
        for (sum, value) in sums.iter_mut().zip(part) {
            *sum += value;
        }
    }
    sums.iter().fold(0.0, |all, sum| all + sum)
}

/// A weighted sum over lines `dilation` apart.
pub(super) struct Convolution {
    dilation: usize,
    /// By group of lanes, then place, then input.
    weights: Vec<[[[f32; LANES]; WIDTH]; KERNEL]>,
    bias: Channels,
}

impl Convolution {
    /// Weights lie in the file by place, then output, then input.
    pub(super) fn read(reader: &mut Reader<'_>, dilation: usize) -> Result<Convolution, Misfit> {
        let flat = reader.numbers(KERNEL * WIDTH * WIDTH)?;
        let weight =
            |place: usize, input: usize, output: usize| flat[(place * WIDTH + output) * WIDTH + input];
        let mut weights = vec![[[[0.0; LANES]; WIDTH]; KERNEL]; WIDTH / LANES];
        for (group, places) in weights.iter_mut().enumerate() {
            for (place, inputs) in places.iter_mut().enumerate() {
                for (input, lanes) in inputs.iter_mut().enumerate() {
                    *lanes = std::array::from_fn(|lane| weight(place, input, group * LANES + lane));
                }
            }
        }
        Ok(Convolution { dilation, weights, bias: reader.array()? })
    }

    /// Adds to each line what its neighbours, in `padded`, give; never less than nothing.
    pub(super) fn add(&self, padded: &[Channels], state: &mut [Channels]) {
        let mut first = 0;
        while first < state.len() {
            let together = (state.len() - first).min(TOGETHER);
            for group in 0..WIDTH / LANES {
                let sums = self.sums(padded, first, group);
                for (line, sums) in sums.iter().enumerate().take(together) {
                    let lanes = &mut state[first + line][group * LANES..(group + 1) * LANES];
                    for (value, sum) in lanes.iter_mut().zip(sums) {
                        *value += if *sum > 0.0 { *sum } else { 0.0 };
                    }
                }
            }
            first += together;
        }
    }

    /// Some channels of the lines that begin with `first`. The last may lie beyond the text, within its margin.
    #[inline]
    fn sums(&self, padded: &[Channels], first: usize, group: usize) -> [[f32; LANES]; TOGETHER] {
        let bias: [f32; LANES] = std::array::from_fn(|lane| self.bias[group * LANES + lane]);
        let mut sums = [bias; TOGETHER];
        for (place, inputs) in self.weights[group].iter().enumerate() {
            let from = MARGIN + first + place * self.dilation - KERNEL / 2 * self.dilation;
            let rows: [&Channels; TOGETHER] = std::array::from_fn(|line| &padded[from + line]);
            for (input, weights) in inputs.iter().enumerate() {
                for (sums, row) in sums.iter_mut().zip(rows) {
                    let value = row[input];
                    for (sum, weight) in sums.iter_mut().zip(weights) {
                        *sum += value * weight;
                    }
                }
            }
        }
        sums
    }
}

/// What is above 0, and 0 for the rest.
pub(super) fn positive<const COUNT: usize>(mut values: [f32; COUNT]) -> [f32; COUNT] {
    for value in &mut values {
        *value = if *value > 0.0 { *value } else { 0.0 };
    }
    values
}
