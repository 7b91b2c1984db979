//! Selecting files by patterns on their paths.
//!
//! A pattern is like a line of `.gitignore`: without `/` it applies in every folder, a folder means everything in it, and
//! `!` in front excludes files.

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::PatternError;

pub(crate) struct FilePatterns {
    included: Gitignore,
    excluded: Gitignore,
}

impl FilePatterns {
    pub(crate) fn new(patterns: &[String]) -> Result<FilePatterns, PatternError> {
        let (excluded, included): (Vec<_>, Vec<_>) =
            patterns.iter().map(String::as_str).partition(|pattern| pattern.starts_with('!'));
        Ok(FilePatterns {
            included: set(&included)?,
            excluded: set(&excluded.into_iter().map(|pattern| &pattern[1..]).collect::<Vec<_>>())?,
        })
    }

    /// Whether a path from a root is selected.
    pub(crate) fn matches(&self, path: &str) -> bool {
        let hit = |set: &Gitignore| set.matched_path_or_any_parents(path, false).is_ignore();
        (self.included.is_empty() || hit(&self.included))
            && (self.excluded.is_empty() || !hit(&self.excluded))
    }
}

fn set(patterns: &[&str]) -> Result<Gitignore, PatternError> {
    let mut builder = GitignoreBuilder::new("");
    builder.allow_unclosed_class(false);
    for pattern in patterns {
        let wrong = |why: String| PatternError { pattern: (*pattern).to_owned(), why };
        // Paths start at a root.
        let plain = pattern.strip_prefix("./").unwrap_or(pattern);
        if plain.trim().trim_matches('/').is_empty() {
            return Err(wrong("it is empty".to_owned()));
        }
        if plain.contains('\0') || plain.split('/').any(|name| name == "..") {
            return Err(wrong("it leads outside the roots".to_owned()));
        }
        // At the start of a line these have a meaning in `.gitignore`, and none here.
        let escaped = if plain.starts_with(['#', '!']) { format!("\\{plain}") } else { plain.to_owned() };
        builder.add_line(None, &escaped).map_err(|why| wrong(glob_error(&why)))?;
    }
    builder.build().map_err(|why| PatternError { pattern: patterns.join(", "), why: glob_error(&why) })
}

fn glob_error(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } => err.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_include_and_exclude_files() {
        let matches = |patterns: &[&str], path: &str| {
            let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
            FilePatterns::new(&patterns).unwrap().matches(path)
        };
        for (patterns, path, expected) in [
            (&[][..], "a/b.rs", true),
            (&["*.rs"], "a/b.rs", true),
            (&["*.rs"], "a/b.rs.txt", false),
            (&["*.{rs,toml}"], "Cargo.toml", true),
            (&["/src/*.rs"], "src/a.rs", true),
            (&["src/*.rs"], "src/a/b.rs", false),
            (&["src/**/*.rs"], "src/a/b.rs", true),
            (&["src/**/*.rs"], "src/b.rs", true),
            (&["src/"], "src/a/b.rs", true),
            (&["./src/b.rs"], "src/b.rs", true),
            (&["!target/"], "x/target/a.rs", false),
            (&["!target/"], "src/a.rs", true),
            (&["*.rs", "!tests"], "tests/a.rs", false),
            (&["*.rs", "!tests"], "src/a.rs", true),
            (&["#odd"], "#odd", true),
            (&["#odd"], "even", false),
        ] {
            assert_eq!(matches(patterns, path), expected, "{patterns:?} {path}");
        }
        for bad in ["", "!", "/", "a[", "a{b", "../x"] {
            assert!(FilePatterns::new(&[bad.to_owned()]).is_err(), "{bad:?}");
        }
    }
}
