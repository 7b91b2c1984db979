//! Which files below a root are never read or searched: those with secrets, and those that are too large.

use std::path::Path;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::secret_names::{self, is_example, is_secret};

/// Larger files are not searched: they are data, or bundled code.
pub const LARGEST_SEARCHED: u64 = 4 << 20;

/// Which files are left out.
pub struct Policy {
    /// Patterns of the settings, beyond the list of secrets.
    more: GlobSet,
    /// The same as text.
    patterns: Vec<String>,
    pub largest_searched: u64,
}

/// What the path of a root adds when the names below it are checked: a root can itself be a folder in which some names are
/// secrets (`.docker`), and it can be part of a larger root, to which patterns are relative.
#[derive(Default)]
pub(crate) struct RootContext {
    /// The root folder's own name.
    name: String,
    /// From the root that it was narrowed from, with a `/` at the end; empty when it was not narrowed.
    from_top: String,
}

impl RootContext {
    /// For a root and the root that it was narrowed from.
    pub(crate) fn new(path: &Path, top: &Path) -> RootContext {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut from_top = path.strip_prefix(top).unwrap_or(Path::new("")).to_string_lossy().into_owned();
        if !from_top.is_empty() {
            from_top.push('/');
        }
        RootContext { name, from_top }
    }
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
        Policy { more: GlobSet::empty(), patterns: Vec::new(), largest_searched: LARGEST_SEARCHED }
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

    /// A text that is the same for policies that leave out the same.
    pub fn fingerprint(&self) -> String {
        format!("{:x} {:?} {}", secret_names::fingerprint(), self.patterns, self.largest_searched)
    }

    /// Whether a path from a root may not be read, because of its own name or of a folder on the way. One that is not UTF-8
    /// may never be read.
    pub(crate) fn denies(&self, root: &RootContext, relative: &Path) -> bool {
        let Some(path) = relative.to_str() else { return true };
        let mut folder = root.name.as_str();
        for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
            if is_secret(folder, name) {
                return true;
            }
            folder = name;
        }
        if self.more.is_empty() {
            return false;
        }
        let denied = |path: &Path| !path.as_os_str().is_empty() && self.more.is_match(path);
        relative.ancestors().any(denied)
            || (!root.from_top.is_empty() && Path::new(&root.from_top).join(relative).ancestors().any(denied))
    }

    /// The same for the last name of a path whose folders have been checked before.
    pub(crate) fn denies_last(&self, root: &RootContext, path: &str) -> bool {
        let (folders, name) = path.rsplit_once('/').unwrap_or((&root.name, path));
        let folder = folders.rsplit_once('/').map_or(folders, |(_, folder)| folder);
        is_secret(folder, name)
            || (!self.more.is_empty()
                && (self.more.is_match(path)
                    || (!root.from_top.is_empty() && self.more.is_match(format!("{}{path}", root.from_top)))))
    }

    /// Whether a folder of the machine is one for secrets, which cannot be a root. Patterns of the settings are relative to
    /// roots and do not apply.
    pub(crate) fn denies_root(&self, path: &Path) -> bool {
        let names: Vec<_> = path.iter().filter_map(|name| name.to_str()).collect();
        let within = |number: usize| if number == 0 { "" } else { names[number - 1] };
        names.iter().enumerate().any(|(number, name)| is_secret(within(number), name))
    }

    /// Whether walks skip a name: it starts with a dot and is not known to be part of codebases.
    pub fn hides(&self, name: &str) -> bool {
        let is_known = |known: &&str| {
            name.strip_prefix(*known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        name.starts_with('.') && !is_example(name) && !VISIBLE_DOT_NAMES.iter().any(is_known)
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
            assert_eq!(policy.denies(&RootContext::default(), Path::new(path)), denied, "{path}");
            // A walk checks each name on the way, with the same result.
            let ends = path.trim_start_matches("./");
            let stops = ends.match_indices('/').map(|(at, _)| at).chain([ends.len()]);
            assert_eq!(
                stops.into_iter().any(|end| policy.denies_last(&RootContext::default(), &ends[..end])),
                denied,
                "{path}"
            );
        }
        assert!(Policy::denying(&["a[".to_owned()]).is_err());
        assert!(Policy::denying(&["/".to_owned()]).is_err());
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
