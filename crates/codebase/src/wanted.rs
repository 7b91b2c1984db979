//! Which files somebody wants, by patterns on their paths.
//!
//! A pattern is like a line of `.gitignore`: without `/` it counts in every folder, a folder means all that lies in it, and
//! `!` in front takes files out.

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::PatternError;

pub(crate) struct Wanted {
    named: Gitignore,
    taken_out: Gitignore,
}

impl Wanted {
    pub(crate) fn new(patterns: &[String]) -> Result<Wanted, PatternError> {
        let (taken_out, named): (Vec<_>, Vec<_>) =
            patterns.iter().map(String::as_str).partition(|pattern| pattern.starts_with('!'));
        Ok(Wanted {
            named: set(&named)?,
            taken_out: set(&taken_out.into_iter().map(|pattern| &pattern[1..]).collect::<Vec<_>>())?,
        })
    }

    /// Whether a path from a root is wanted.
    pub(crate) fn has(&self, path: &str) -> bool {
        let hit = |set: &Gitignore| set.matched_path_or_any_parents(path, false).is_ignore();
        (self.named.is_empty() || hit(&self.named)) && (self.taken_out.is_empty() || !hit(&self.taken_out))
    }
}

fn set(patterns: &[&str]) -> Result<Gitignore, PatternError> {
    let mut builder = GitignoreBuilder::new("");
    builder.allow_unclosed_class(false);
    for pattern in patterns {
        let wrong = |why: String| PatternError { pattern: (*pattern).to_owned(), why };
        // Every path begins at a root.
        let plain = pattern.strip_prefix("./").unwrap_or(pattern);
        if plain.trim().trim_matches('/').is_empty() {
            return Err(wrong("it is empty".to_owned()));
        }
        if plain.contains('\0') || plain.split('/').any(|name| name == "..") {
            return Err(wrong("it leads out of the roots".to_owned()));
        }
        // What means something to git at the start of a line means nothing here.
        let escaped = if plain.starts_with(['#', '!']) { format!("\\{plain}") } else { plain.to_owned() };
        builder.add_line(None, &escaped).map_err(|why| wrong(plainly(&why)))?;
    }
    builder.build().map_err(|why| PatternError { pattern: patterns.join(", "), why: plainly(&why) })
}

fn plainly(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } => err.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_files_and_take_them_out() {
        let has = |patterns: &[&str], path: &str| {
            let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
            Wanted::new(&patterns).unwrap().has(path)
        };
        for (patterns, path, wanted) in [
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
            assert_eq!(has(patterns, path), wanted, "{patterns:?} {path}");
        }
        for bad in ["", "!", "/", "a[", "a{b", "../x"] {
            assert!(Wanted::new(&[bad.to_owned()]).is_err(), "{bad:?}");
        }
    }
}
