//! The layers of the network. Sums run over inputs in order, vector instructions over outputs.

use super::weights::{Reader, WeightsError};
use super::{Channels, KERNEL, MARGIN, WIDTH};

/// Channels that are summed together: few enough for the vector registers of any machine.
const LANES: usize = 16;
/// Lines that are computed together, so that weights are loaded once for all of them.
const BATCH_LINES: usize = 2;
/// Padding that the last group of lines may read beyond the margin.
pub(super) const SPARE: usize = BATCH_LINES - 1;

const _: () = assert!(WIDTH.is_multiple_of(LANES));

/// A dense layer.
pub(super) struct Dense<const OUT: usize> {
    /// By input, then output.
    weights: Vec<[f32; OUT]>,
    bias: [f32; OUT],
}

impl<const OUT: usize> Dense<OUT> {
    /// In the file, weights are ordered by output, then input.
    pub(super) fn read(reader: &mut Reader<'_>, inputs: usize) -> Result<Self, WeightsError> {
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

/// Layer normalisation over the channels of a line.
pub(super) struct LayerNorm {
    weights: Channels,
    bias: Channels,
}

impl LayerNorm {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<LayerNorm, WeightsError> {
        Ok(LayerNorm { weights: reader.array()?, bias: reader.array()? })
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

/// A dilated convolution over lines.
pub(super) struct Convolution {
    dilation: usize,
    /// By group of lanes, then kernel position, then input.
    weights: Vec<[[[f32; LANES]; WIDTH]; KERNEL]>,
    bias: Channels,
}

impl Convolution {
    /// In the file, weights are ordered by kernel position, then output, then input.
    pub(super) fn read(reader: &mut Reader<'_>, dilation: usize) -> Result<Convolution, WeightsError> {
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

    /// Adds the rectified convolution of `padded` to each line.
    pub(super) fn add(&self, padded: &[Channels], state: &mut [Channels]) {
        let mut first = 0;
        while first < state.len() {
            let together = (state.len() - first).min(BATCH_LINES);
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

    /// The sums of one group of channels, for the lines from `first` on. The last line may be in the padding.
    #[inline]
    fn sums(&self, padded: &[Channels], first: usize, group: usize) -> [[f32; LANES]; BATCH_LINES] {
        let bias: [f32; LANES] = std::array::from_fn(|lane| self.bias[group * LANES + lane]);
        let mut sums = [bias; BATCH_LINES];
        for (place, inputs) in self.weights[group].iter().enumerate() {
            let from = MARGIN + first + place * self.dilation - KERNEL / 2 * self.dilation;
            let rows: [&Channels; BATCH_LINES] = std::array::from_fn(|line| &padded[from + line]);
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

/// Rectified linear unit: negative values become 0.
pub(super) fn relu<const COUNT: usize>(mut values: [f32; COUNT]) -> [f32; COUNT] {
    for value in &mut values {
        *value = if *value > 0.0 { *value } else { 0.0 };
    }
    values
}
