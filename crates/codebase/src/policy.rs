//! What is never read below a root, whoever asks: where people keep secrets, and what is no source of anything.

use std::path::Path;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::secrets::{is_example, is_secret};

/// Files of which more than this would have to be searched are left out: they are data, or somebody's bundle.
pub const LARGEST_SEARCHED: u64 = 4 << 20;

/// What is left out.
pub struct Policy {
    /// Patterns beyond the list of secrets.
    more: GlobSet,
    /// The same as they were written.
    patterns: Vec<String>,
    /// Names of that list that are read nevertheless.
    spared: Vec<String>,
    pub largest_searched: u64,
}

/// A pattern that is none.
#[derive(Debug, thiserror::Error)]
#[error("{pattern:?} is no pattern: {why}")]
pub struct PatternError {
    pub pattern: String,
    pub why: String,
}

/// Names with a dot in front that say something about a codebase, alone or with an ending: `.eslintrc.json`.
const TELLING: [&str; 39] = [
    ".babelrc",
    ".buildkite",
    ".cargo",
    ".changeset",
    ".circleci",
    ".clang-format",
    ".clang-tidy",
    ".config",
    ".coveragerc",
    ".devcontainer",
    ".docker",
    ".dockerignore",
    ".drone",
    ".editorconfig",
    ".eslintrc",
    ".flake8",
    ".forgejo",
    ".gitattributes",
    ".gitea",
    ".github",
    ".gitignore",
    ".gitlab",
    ".gitlab-ci",
    ".gitmodules",
    ".golangci",
    ".goreleaser",
    ".husky",
    ".mocharc",
    ".pre-commit-config",
    ".prettierrc",
    ".pylintrc",
    ".readthedocs",
    ".rubocop",
    ".rustfmt",
    ".storybook",
    ".stylelintrc",
    ".swcrc",
    ".tool-versions",
    ".travis",
];

impl Policy {
    /// What nobody wants to see in an answer.
    pub fn standard() -> Policy {
        Policy {
            more: GlobSet::empty(),
            patterns: Vec::new(),
            spared: Vec::new(),
            largest_searched: LARGEST_SEARCHED,
        }
    }

    /// The same, and what matches these patterns too. A pattern without `/` counts wherever it stands; a folder takes
    /// all that lies in it.
    pub fn denying(more: &[String]) -> Result<Policy, PatternError> {
        let mut denied = GlobSetBuilder::new();
        for pattern in more {
            for glob in wherever(pattern)? {
                denied.add(glob);
            }
        }
        let wrong = |why: globset::Error| PatternError { pattern: more.join(", "), why: why.to_string() };
        Ok(Policy { more: denied.build().map_err(wrong)?, patterns: more.to_vec(), ..Policy::standard() })
    }

    /// The same, but for these names of the list of secrets, such as `.npmrc`. For the settings of whoever owns the machine:
    /// a codebase must not decide that. What a version control system keeps is never spared.
    #[must_use]
    pub fn sparing(self, names: &[String]) -> Policy {
        let always = [".git", ".hg", ".svn", ".jj"];
        let spared = names.iter().filter(|name| !always.iter().any(|known| name.eq_ignore_ascii_case(known)));
        Policy { spared: spared.cloned().collect(), ..self }
    }

    /// What it leaves out, as a text: policies that leave out the same have the same.
    pub fn fingerprint(&self) -> String {
        format!("{:?} {:?} {}", self.patterns, self.spared, self.largest_searched)
    }

    /// Whether a path from a root is off limits, itself or by a folder that it lies in. One that is not UTF-8 always is.
    pub fn denies(&self, relative: &Path) -> bool {
        let Some(path) = relative.to_str() else { return true };
        let mut folder = "";
        for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
            if self.is_secret(folder, name) {
                return true;
            }
            folder = name;
        }
        let denied = |path: &Path| !path.as_os_str().is_empty() && self.more.is_match(path);
        !self.more.is_empty() && relative.ancestors().any(denied)
    }

    /// The same for the name at the end of a path, of which the folders have been looked at on the way.
    pub(crate) fn denies_last(&self, path: &str) -> bool {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = folders.rsplit_once('/').map_or(folders, |(_, folder)| folder);
        self.is_secret(folder, name) || (!self.more.is_empty() && self.more.is_match(path))
    }

    /// Whether a folder is where secrets are kept, wherever on the machine: no root can lie there. Patterns of the settings
    /// count from roots, and do not matter here.
    pub(crate) fn denies_root(&self, path: &Path) -> bool {
        let names: Vec<_> = path.iter().filter_map(|name| name.to_str()).collect();
        let within = |number: usize| if number == 0 { "" } else { names[number - 1] };
        names.iter().enumerate().any(|(number, name)| self.is_secret(within(number), name))
    }

    /// Whether a name is one that walks pass by: it begins with a dot and tells nothing.
    pub fn hides(&self, name: &str) -> bool {
        let tells = |known: &&str| {
            name.strip_prefix(*known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        name.starts_with('.') && !is_example(name) && !TELLING.iter().any(tells)
    }

    fn is_secret(&self, folder: &str, name: &str) -> bool {
        is_secret(folder, name) && !self.spared.iter().any(|spared| spared == name)
    }
}

fn wherever(pattern: &str) -> Result<Vec<Glob>, PatternError> {
    let glob = |text: &str| {
        GlobBuilder::new(text)
            .literal_separator(true)
            .case_insensitive(true)
            .build()
            .map_err(|why| PatternError { pattern: pattern.to_owned(), why: why.kind().to_string() })
    };
    let plain = pattern.trim_end_matches('/');
    if plain.is_empty() {
        return Err(PatternError { pattern: pattern.to_owned(), why: "it is empty".to_owned() });
    }
    if plain.contains('/') {
        return Ok(vec![glob(plain.trim_start_matches('/'))?]);
    }
    Ok(vec![glob(plain)?, glob(&format!("**/{plain}"))?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_off_limits_wherever_they_lie() {
        let policy = Policy::denying(&["private/".to_owned(), "ops/*.yml".to_owned()]).unwrap();
        for (path, denied) in [
            (".env", true),
            ("app/.env.local", true),
            ("app/.env.example", false),
            ("deploy/ID_RSA", true),
            (".ssh/config", true),
            ("home/.aws/credentials", true),
            ("server.pem", true),
            ("src/key.rs", false),
            ("src/environment.rs", false),
            ("src/secrets/store.rs", false),
            ("config/secrets.yml", true),
            ("infra/prod.tfstate", true),
            (".docker/nginx.conf", false),
            (".docker/config.json", true),
            (".cargo/config.toml", false),
            (".cargo/credentials.toml", true),
            ("x/.config/gh/hosts.yml", true),
            (".git/config", true),
            ("./.git/config", true),
            (".github/workflows/ci.yml", false),
            ("a/private/x/y.txt", true),
            ("ops/a.yml", true),
            ("x/ops/a.yml", false),
            ("ops/a/b.yml", false),
        ] {
            assert_eq!(policy.denies(Path::new(path)), denied, "{path}");
            // Step by step as a walk goes it comes to the same.
            let ends = path.trim_start_matches("./");
            let stops = ends.match_indices('/').map(|(at, _)| at).chain([ends.len()]);
            assert_eq!(stops.into_iter().any(|end| policy.denies_last(&ends[..end])), denied, "{path}");
        }
        assert!(Policy::denying(&["a[".to_owned()]).is_err());
        assert!(Policy::denying(&["/".to_owned()]).is_err());
    }

    #[test]
    fn a_name_can_be_spared_but_history_never() {
        let policy = Policy::standard().sparing(&[".npmrc".to_owned(), ".git".to_owned()]);
        assert!(!policy.denies(Path::new("a/.npmrc")));
        assert!(policy.denies(Path::new(".git/HEAD")) && policy.denies(Path::new(".env")));
    }

    #[test]
    fn names_with_a_dot_are_passed_by_unless_they_tell() {
        let policy = Policy::standard();
        for (name, hidden) in [
            (".cache", true),
            (".github", false),
            (".eslintrc.json", false),
            (".configstore", true),
            (".env.example", false),
            ("a.rs", false),
            (".git", true),
        ] {
            assert_eq!(policy.hides(name), hidden, "{name}");
        }
    }
}
