//! What is left out of a codebase by `.gitignore` and similar files.
//!
//! These files belong to the codebase, so they are opened from descriptors like all others: one that is a link, a FIFO or a
//! hundred megabytes long is ignored.

use std::io::Read;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{AtFlags, Mode, OFlags};

use crate::open::open_below;
use crate::roots::Root;

/// Files with rules, the strongest first. Only those of git end at the boundary of a repository.
pub(crate) const RULE_FILES: [&str; 3] = [".rgignore", ".ignore", ".gitignore"];
const OF_GIT: usize = 2;

/// Larger files were not written by hand, and are ignored.
const LARGEST: u64 = 256 << 10;

/// The rules of a folder, and of those above it.
pub(crate) struct Rules {
    above: Option<Arc<Rules>>,
    /// For a folder above the root: the path from it to the root. Empty for all others.
    prefix: String,
    sets: [Option<Gitignore>; RULE_FILES.len()],
    /// From the repository's `.git/info/exclude`.
    excluded: Option<Gitignore>,
    is_repository: bool,
}

/// Which files with rules a folder has.
#[derive(Clone, Copy, Default)]
pub(crate) struct RuleFiles {
    pub(crate) rules: [bool; RULE_FILES.len()],
    pub(crate) repository: bool,
}

impl RuleFiles {
    pub(crate) fn note(&mut self, name: &str) {
        match RULE_FILES.iter().position(|known| *known == name) {
            Some(number) => self.rules[number] = true,
            None => self.repository |= name == ".git",
        }
    }
}

impl Rules {
    /// The rules for an open folder.
    pub(crate) fn of(
        folder: impl AsFd,
        path: &str,
        found: RuleFiles,
        above: Option<&Arc<Rules>>,
    ) -> Option<Arc<Rules>> {
        if !found.repository && !found.rules.contains(&true) {
            return above.cloned();
        }
        let set =
            |number: usize| found.rules[number].then(|| read(&folder, path, RULE_FILES[number])).flatten();
        let excluded = found.repository.then(|| read(&folder, path, ".git/info/exclude")).flatten();
        Some(Arc::new(Rules {
            above: above.cloned(),
            prefix: String::new(),
            sets: std::array::from_fn(set),
            excluded,
            is_repository: found.repository,
        }))
    }

    /// The rules from above a root: up to its repository, or to the root that it was narrowed from. Rules further up do not
    /// apply, such as those for a whole home folder.
    pub(crate) fn above(root: &Root) -> Option<Arc<Rules>> {
        let is_repository = |folder: &Path| folder.join(".git").symlink_metadata().is_ok();
        let repository = root.path.ancestors().find(|folder| is_repository(folder));
        let reaches = |folder: &Path| {
            folder.starts_with(&root.top)
                || repository.is_some_and(|repository| folder.starts_with(repository))
        };
        let folders: Vec<&Path> =
            root.path.ancestors().skip(1).take_while(|folder| reaches(folder)).collect();
        let mut rules = None;
        for folder in folders.into_iter().rev() {
            let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY | OFlags::NOFOLLOW;
            let Ok(opened) = rustix::fs::open(folder, flags, Mode::empty()) else { continue };
            let mut found = RuleFiles::default();
            for name in RULE_FILES.into_iter().chain([".git"]) {
                if rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                    found.note(name);
                }
            }
            let Some(own) = Rules::of(&opened, "", found, rules.as_ref()) else { continue };
            let below = root.path.strip_prefix(folder).ok().and_then(Path::to_str).unwrap_or_default();
            rules = match Arc::try_unwrap(own) {
                Ok(own) => Some(Arc::new(Rules { prefix: format!("{below}/"), ..own })),
                // This folder has none of its own.
                Err(own) => Some(own),
            };
        }
        rules
    }

    /// Whether a path from the root is left out; none when no rule matches.
    fn verdict(&self, path: &str, is_folder: bool) -> Option<bool> {
        let mut decided = [None; RULE_FILES.len() + 1];
        let mut past_repository = false;
        let mut next = Some(self);
        while let Some(rules) = next {
            let full = (!rules.prefix.is_empty()).then(|| format!("{}{path}", rules.prefix));
            let path = full.as_deref().unwrap_or(path);
            let sets = rules.sets.iter().chain([&rules.excluded]);
            for (number, (set, decided)) in sets.zip(&mut decided).enumerate() {
                if let (Some(set), None) = (set, &decided)
                    && (number < OF_GIT || !past_repository)
                {
                    *decided = verdict(set, path, is_folder);
                }
            }
            past_repository |= rules.is_repository;
            next = rules.above.as_deref();
        }
        decided.into_iter().flatten().next()
    }
}

/// Whether a path from a root is left out, by rules of its folder or by the user's own; none when no rule matches.
pub(crate) fn leaves_out(
    rules: Option<&Rules>,
    own: &Gitignore,
    path: &str,
    is_folder: bool,
) -> Option<bool> {
    let ruled = rules.and_then(|rules| rules.verdict(path, is_folder));
    ruled.or_else(|| verdict(own, path, is_folder))
}

/// The user's own rules, from git's `core.excludesFile`.
pub(crate) fn user_rules() -> Gitignore {
    GitignoreBuilder::new("").build_global().0
}

fn verdict(set: &Gitignore, path: &str, is_folder: bool) -> Option<bool> {
    match set.matched(path, is_folder) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}

fn read(folder: impl AsFd, path: &str, name: &str) -> Option<Gitignore> {
    let file = open_below(folder, Path::new(name), OFlags::NONBLOCK | OFlags::NOCTTY).ok()?;
    let file = std::fs::File::from(file);
    let metadata = file.metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() <= LARGEST)?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new(path);
    for line in text.trim_start_matches('\u{feff}').lines() {
        // An invalid pattern is ignored, as by git.
        let _ = builder.add_line(None::<PathBuf>, line);
    }
    builder.build().ok().filter(|set| !set.is_empty())
}
