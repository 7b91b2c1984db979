//! What people leave out of their codebases by `.gitignore` and the like.
//!
//! Read from descriptors like everything else, since these files are the codebase's own: one that is a link to somewhere, a
//! FIFO that never ends, or a hundred megabytes long is no rule.

use std::io::Read;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{AtFlags, Mode, OFlags};

use crate::below::open_below;
use crate::roots::Root;

/// Where rules stand, the strongest first. Only those of git end at the edge of a repository.
pub(crate) const RULE_FILES: [&str; 3] = [".rgignore", ".ignore", ".gitignore"];
const OF_GIT: usize = 2;

/// Rules that nobody wrote by hand are none.
const LARGEST: u64 = 256 << 10;

/// The rules of a folder, and of those above it.
pub(crate) struct Rules {
    above: Option<Arc<Rules>>,
    /// What leads from this folder to the root, for a folder above the root; empty for all others.
    prefix: String,
    sets: [Option<Gitignore>; RULE_FILES.len()],
    /// The repository's own, that it does not share.
    excluded: Option<Gitignore>,
    is_repository: bool,
}

/// What is known of a folder from its list of names.
#[derive(Clone, Copy, Default)]
pub(crate) struct Found {
    pub(crate) rules: [bool; RULE_FILES.len()],
    pub(crate) repository: bool,
}

impl Found {
    pub(crate) fn note(&mut self, name: &str) {
        match RULE_FILES.iter().position(|known| *known == name) {
            Some(number) => self.rules[number] = true,
            None => self.repository |= name == ".git",
        }
    }
}

impl Rules {
    /// Those that hold in a folder, which is open.
    pub(crate) fn of(
        folder: impl AsFd,
        path: &str,
        found: Found,
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

    /// Those from above a root: as far up as its repository goes, or the root that it was narrowed from. What lies higher is
    /// somebody else's, such as rules for a whole home folder.
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
            let mut found = Found::default();
            for name in RULE_FILES.into_iter().chain([".git"]) {
                if rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                    found.note(name);
                }
            }
            let Some(own) = Rules::of(&opened, "", found, rules.as_ref()) else { continue };
            let below = root.path.strip_prefix(folder).ok().and_then(Path::to_str).unwrap_or_default();
            rules = match Arc::try_unwrap(own) {
                Ok(own) => Some(Arc::new(Rules { prefix: format!("{below}/"), ..own })),
                // Nothing new: those of the folder above.
                Err(own) => Some(own),
            };
        }
        rules
    }

    /// Whether they leave out a path from the root.
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

/// Whether a path from a root is left out, by rules of its folder or by those of the person who asks; none when they say
/// nothing of it.
pub(crate) fn leaves_out(
    rules: Option<&Rules>,
    own: &Gitignore,
    path: &str,
    is_folder: bool,
) -> Option<bool> {
    let ruled = rules.and_then(|rules| rules.verdict(path, is_folder));
    ruled.or_else(|| verdict(own, path, is_folder))
}

/// What a person leaves out everywhere, by `core.excludesFile`.
pub(crate) fn personal() -> Gitignore {
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
        // What is no pattern is no rule, as git has it.
        let _ = builder.add_line(None::<PathBuf>, line);
    }
    builder.build().ok().filter(|set| !set.is_empty())
}
