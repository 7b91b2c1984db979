//! Which files below a root are never read or searched: those with secrets, and those that are too large.

use std::path::Path;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::secret_names::{is_example, is_secret};

/// Larger files are not searched: they are data, or bundled code.
pub const LARGEST_SEARCHED: u64 = 4 << 20;

/// Which files are left out.
pub struct Policy {
    /// Patterns of the settings, beyond the list of secrets.
    more: GlobSet,
    /// The same as text.
    patterns: Vec<String>,
    /// Exceptions to the list of secrets.
    spared: Vec<String>,
    pub largest_searched: u64,
}

#[derive(Debug, thiserror::Error)]
#[error("{pattern:?} is not a valid pattern: {why}")]
pub struct PatternError {
    pub pattern: String,
    pub why: String,
}

/// Names with a dot in front that are part of a codebase, also with an extension: `.eslintrc.json`.
const VISIBLE_DOT_NAMES: [&str; 39] = [
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
    /// Leaves out secrets.
    pub fn standard() -> Policy {
        Policy {
            more: GlobSet::empty(),
            patterns: Vec::new(),
            spared: Vec::new(),
            largest_searched: LARGEST_SEARCHED,
        }
    }

    /// Leaves out secrets, and files that match these patterns. A pattern without `/` applies in every folder; a folder means
    /// everything in it.
    pub fn denying(more: &[String]) -> Result<Policy, PatternError> {
        let mut denied = GlobSetBuilder::new();
        for pattern in more {
            for glob in globs_for(pattern)? {
                denied.add(glob);
            }
        }
        let wrong = |why: globset::Error| PatternError { pattern: more.join(", "), why: why.to_string() };
        Ok(Policy { more: denied.build().map_err(wrong)?, patterns: more.to_vec(), ..Policy::standard() })
    }

    /// Allows these names of the list of secrets, such as `.npmrc`. For the settings of the machine's owner only: a codebase
    /// must not decide that. The folders of version control systems are never allowed.
    #[must_use]
    pub fn sparing(self, names: &[String]) -> Policy {
        let always = [".git", ".hg", ".svn", ".jj"];
        let spared = names.iter().filter(|name| !always.iter().any(|known| name.eq_ignore_ascii_case(known)));
        Policy { spared: spared.cloned().collect(), ..self }
    }

    /// A text that is the same for policies that leave out the same.
    pub fn fingerprint(&self) -> String {
        format!("{:?} {:?} {}", self.patterns, self.spared, self.largest_searched)
    }

    /// Whether a path from a root may not be read, because of its own name or of a folder on the way. One that is not UTF-8
    /// may never be read.
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

    /// The same for the last name of a path whose folders have been checked before.
    pub(crate) fn denies_last(&self, path: &str) -> bool {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = folders.rsplit_once('/').map_or(folders, |(_, folder)| folder);
        self.is_secret(folder, name) || (!self.more.is_empty() && self.more.is_match(path))
    }

    /// Whether a folder of the machine is one for secrets, which cannot be a root. Patterns of the settings are relative to
    /// roots and do not apply.
    pub(crate) fn denies_root(&self, path: &Path) -> bool {
        let names: Vec<_> = path.iter().filter_map(|name| name.to_str()).collect();
        let within = |number: usize| if number == 0 { "" } else { names[number - 1] };
        names.iter().enumerate().any(|(number, name)| self.is_secret(within(number), name))
    }

    /// Whether walks skip a name: it starts with a dot and is not known to be part of codebases.
    pub fn hides(&self, name: &str) -> bool {
        let is_known = |known: &&str| {
            name.strip_prefix(*known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        name.starts_with('.') && !is_example(name) && !VISIBLE_DOT_NAMES.iter().any(is_known)
    }

    fn is_secret(&self, folder: &str, name: &str) -> bool {
        is_secret(folder, name) && !self.spared.iter().any(|spared| spared == name)
    }
}

fn globs_for(pattern: &str) -> Result<Vec<Glob>, PatternError> {
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
    fn secrets_are_denied_in_every_folder() {
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
            // A walk checks each name on the way, with the same result.
            let ends = path.trim_start_matches("./");
            let stops = ends.match_indices('/').map(|(at, _)| at).chain([ends.len()]);
            assert_eq!(stops.into_iter().any(|end| policy.denies_last(&ends[..end])), denied, "{path}");
        }
        assert!(Policy::denying(&["a[".to_owned()]).is_err());
        assert!(Policy::denying(&["/".to_owned()]).is_err());
    }

    #[test]
    fn a_name_can_be_allowed_but_version_control_never() {
        let policy = Policy::standard().sparing(&[".npmrc".to_owned(), ".git".to_owned()]);
        assert!(!policy.denies(Path::new("a/.npmrc")));
        assert!(policy.denies(Path::new(".git/HEAD")) && policy.denies(Path::new(".env")));
    }

    #[test]
    fn dot_names_are_hidden_unless_known() {
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
