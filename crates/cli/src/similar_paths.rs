//! The path that the user may have meant.

use std::path::{Path, PathBuf};

/// The existing path whose names differ least from those of a missing one. None if one of its names is like no other.
pub(crate) fn nearest(missing: &Path) -> Option<PathBuf> {
    let mut found = PathBuf::new();
    for part in missing.components() {
        let next = found.join(part);
        found =
            if next.exists() { next } else { found.join(nearest_name(&found, part.as_os_str().to_str()?)?) };
    }
    found.exists().then_some(found)
}

/// The name in a folder that is most like this one.
fn nearest_name(folder: &Path, name: &str) -> Option<String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let names = folder.read_dir().ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|other| Some((difference(name, &other)?, other))).min().map(|(_, other)| other)
}

/// The number of letters between the common beginning and the common end of two names, or none if the names differ by more
/// than a typing error does.
fn difference(one: &str, other: &str) -> Option<usize> {
    let [one, other] = [one, other].map(|name| name.to_lowercase().chars().collect::<Vec<_>>());
    let shorter = one.len().min(other.len());
    let longer = one.len().max(other.len());
    let begin = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let end = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
    let differing = longer - begin - end.min(shorter - begin);
    (differing <= 2 && differing * 3 <= longer).then_some(differing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_a_typing_error_are_near() {
        for (one, other, expected) in [
            ("token.rs", "tokens.rs", Some(1)),
            ("tokens.rs", "token.rs", Some(1)),
            ("Tokens.rs", "tokens.rs", Some(0)),
            ("tokesn.rs", "tokens.rs", Some(2)),
            ("scr", "src", None),
            ("aa", "a", None),
            ("missing", "huge", None),
            ("main.rs", "lib.rs", None),
        ] {
            assert_eq!(difference(one, other), expected, "{one} {other}");
        }
    }
}
