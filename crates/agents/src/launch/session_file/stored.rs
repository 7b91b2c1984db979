//! A launch as it stands in its file. Words of the system need not be UTF-8, and JSON must be.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use serde::{Deserialize, Serialize};

use super::Launch;

#[derive(Serialize, Deserialize)]
struct Stored {
    program: Word,
    args: Vec<Word>,
    cwd: Word,
    env: Vec<(Word, Word)>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Word {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&OsStr> for Word {
    fn from(word: &OsStr) -> Word {
        word.to_str()
            .map_or_else(|| Word::Bytes(word.as_bytes().to_owned()), |text| Word::Text(text.to_owned()))
    }
}

impl From<Word> for OsString {
    fn from(word: Word) -> OsString {
        match word {
            Word::Text(text) => text.into(),
            Word::Bytes(bytes) => OsString::from_vec(bytes),
        }
    }
}

pub(super) fn to_json(launch: &Launch) -> Vec<u8> {
    let stored = Stored {
        program: launch.program.as_os_str().into(),
        args: launch.args.iter().map(|word| word.as_os_str().into()).collect(),
        cwd: launch.cwd.as_os_str().into(),
        env: launch
            .env
            .iter()
            .map(|(name, value)| (name.as_os_str().into(), value.as_os_str().into()))
            .collect(),
    };
    // Cannot fail: there are only strings, numbers and lists in it.
    serde_json::to_vec(&stored).unwrap_or_default()
}

pub(super) fn from_json(bytes: &[u8]) -> Option<Launch> {
    let stored: Stored = serde_json::from_slice(bytes).ok()?;
    Some(Launch {
        program: OsString::from(stored.program).into(),
        args: stored.args.into_iter().map(OsString::from).collect(),
        cwd: OsString::from(stored.cwd).into(),
        env: stored.env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_word_is_read_back(words in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 4..9)) {
            let words: Vec<OsString> = words.into_iter().map(OsString::from_vec).collect();
            let launch = Launch {
                program: words[0].clone().into(),
                cwd: words[1].clone().into(),
                env: [(words[2].clone(), words[3].clone())].into(),
                args: words,
            };
            prop_assert_eq!(from_json(&to_json(&launch)), Some(launch));
        }
    }
}
