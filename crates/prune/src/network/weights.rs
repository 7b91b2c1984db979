//! Reads the file of weights: one header line, then numbers in the order in which the network reads them.

/// The version of the features and the network. Changes with them, and not with the rules around them.
const WEIGHTS_VERSION: &str = "skimmer-4";

/// How the header begins. The version follows, so that weights are never used with other features.
const MAGIC: &[u8] = b"tamis skimmer ";

/// Why a file of weights cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WeightsError {
    #[error("not a file of weights")]
    Magic,
    #[error("made for different features: {0}")]
    Version(String),
    #[error("{0} numbers are missing")]
    Short(usize),
    #[error("{0} bytes too many")]
    Long(usize),
}

pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Checks the first line, `tamis skimmer <version>`.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Reader<'a>, WeightsError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(WeightsError::Magic)?;
        let end = rest.iter().position(|&byte| byte == b'\n').ok_or(WeightsError::Magic)?;
        if &rest[..end] != WEIGHTS_VERSION.as_bytes() {
            return Err(WeightsError::Version(String::from_utf8_lossy(&rest[..end]).into_owned()));
        }
        Ok(Reader { rest: &rest[end + 1..] })
    }

    /// The next numbers, little-endian, 16 bits each: the upper half of an `f32`, which is all that weights need.
    pub(super) fn numbers(&mut self, count: usize) -> Result<Vec<f32>, WeightsError> {
        let Some((bytes, rest)) = self.rest.split_at_checked(2 * count) else {
            return Err(WeightsError::Short(count - self.rest.len() / 2));
        };
        self.rest = rest;
        let number = |pair: &[u8]| f32::from_bits(u32::from(pair[1]) << 24 | u32::from(pair[0]) << 16);
        Ok(bytes.chunks_exact(2).map(number).collect())
    }

    pub(super) fn array<const COUNT: usize>(&mut self) -> Result<[f32; COUNT], WeightsError> {
        let numbers = self.numbers(COUNT)?;
        Ok(std::array::from_fn(|index| numbers[index]))
    }

    pub(super) fn close(self) -> Result<(), WeightsError> {
        if self.rest.is_empty() { Ok(()) } else { Err(WeightsError::Long(self.rest.len())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(numbers: &[f32]) -> Vec<u8> {
        let mut bytes = [MAGIC, WEIGHTS_VERSION.as_bytes(), b"\n"].concat();
        for number in numbers {
            bytes.extend_from_slice(&number.to_le_bytes()[2..]);
        }
        bytes
    }

    #[test]
    fn numbers_are_read_in_order() {
        let bytes = file(&[1.0, -2.5, 0.0]);
        let mut reader = Reader::open(&bytes).unwrap();
        assert_eq!(reader.numbers(2), Ok(vec![1.0, -2.5]));
        assert_eq!(reader.array(), Ok([0.0]));
        assert_eq!(reader.close(), Ok(()));
    }

    #[test]
    fn weights_that_do_not_fit_are_refused() {
        assert_eq!(Reader::open(b"something else\n").err(), Some(WeightsError::Magic));
        let other = Reader::open(b"tamis skimmer lexical-1\n").err();
        assert_eq!(other, Some(WeightsError::Version("lexical-1".into())));
        let bytes = file(&[1.0]);
        let mut reader = Reader::open(&bytes).unwrap();
        assert_eq!(reader.numbers(3), Err(WeightsError::Short(2)));
        assert_eq!(Reader::open(&bytes).unwrap().close(), Err(WeightsError::Long(2)));
    }
}
