//! A small seeded source of chance: the same seed gives the same logs, with no dependency whose next version would not.

use std::fmt::Write as _;

/// SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        let mut random = Random { state: seed };
        // Neighbouring seeds begin alike otherwise.
        random.state = random.next() ^ seed.rotate_left(32);
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to, and without, `end`; 0 for an `end` of 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// From `first` to `last`, both included.
    pub(crate) fn between(&mut self, first: usize, last: usize) -> usize {
        first + self.below(last + 1 - first)
    }

    pub(crate) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// One of the items, each as often as its weight says.
    pub(crate) fn weighted<T: Copy>(&mut self, items: &[(T, usize)]) -> T {
        let mut at = self.below(items.iter().map(|(_, weight)| weight).sum());
        for (item, weight) in items {
            if at < *weight {
                return *item;
            }
            at -= weight;
        }
        items[0].0
    }

    /// From 1 up to, and without, 2^`bits`, by Zipf's law with steps: each doubling of the rank is equally likely.
    pub(crate) fn rank(&mut self, bits: u32) -> usize {
        let chance = self.next();
        let octave = ((chance >> 32) * u64::from(bits)) >> 32;
        ((1 << octave) | (chance & ((1 << octave) - 1))) as usize
    }

    /// From 0 up to, and without, 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        // Twelve uniform numbers add up to what is normal enough, with tails that end at six sigma.
        let normal = (0..12).map(|_| self.unit()).sum::<f64>() - 6.0;
        median * (sigma * normal).exp()
    }

    /// A length in bytes.
    pub(crate) fn size(&mut self, median: usize, sigma: f64, most: usize) -> usize {
        (self.log_normal(median as f64, sigma) as usize).min(most)
    }

    pub(crate) fn uuid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | (low >> 50),
            low & 0xffff_ffff_ffff
        )
    }

    /// A UUID of version 7, which begins with its time.
    pub(crate) fn uuid_of_time(&mut self, millis: i64) -> String {
        let random = self.uuid();
        format!("{:08x}-{:04x}-7{}", millis >> 16, millis & 0xffff, &random[15..])
    }

    pub(crate) fn hex(&mut self, out: &mut String, digits: usize) {
        let number = self.next();
        let _ = write!(out, "{:0digits$x}", number >> (64 - 4 * digits.min(16)));
    }

    /// The random part of an id such as `msg_01Ld2AzRRtpX28MuPRGiC8jn`.
    pub(crate) fn token(&mut self, prefix: &str, letters: usize) -> String {
        let mut token = String::with_capacity(prefix.len() + letters);
        token.push_str(prefix);
        for _ in 0..letters {
            token.push(char::from(BASE64[self.below(62)]));
        }
        token
    }

    pub(crate) fn base64(&mut self, out: &mut String, letters: usize) {
        out.reserve(letters + 10);
        let end = out.len() + letters;
        while out.len() < end {
            let bits = self.next();
            out.extend((0..10).map(|at| char::from(BASE64[(bits >> (6 * at) & 63) as usize])));
        }
    }
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
