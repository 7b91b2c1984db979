//! What is never read below a root, whoever asks: where people keep secrets, and what is no source of anything.

use std::path::Path;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// Files of which more than this would have to be searched are left out: they are data, or somebody's bundle.
pub const LARGEST_SEARCHED: u64 = 4 << 20;

/// What is left out.
pub struct Policy {
    denied: GlobSet,
    pub largest_searched: u64,
}

/// A pattern that is none.
#[derive(Debug, thiserror::Error)]
#[error("{pattern:?} is no pattern: {why}")]
pub struct PatternError {
    pub pattern: String,
    pub why: String,
}

/// Where secrets are kept. A name without `/` counts wherever it stands; a folder takes all that lies in it.
const SECRETS: [&str; 33] = [
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ppk",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".git-credentials",
    ".htpasswd",
    ".npmrc",
    ".pypirc",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".gcloud",
    ".kube",
    ".docker",
    ".vault-token",
    ".password-store",
    ".git",
    ".hg",
    ".svn",
];

/// Names that look like the above and are made to be read.
const EXAMPLES: [&str; 4] = [".env.example", ".env.sample", ".env.template", ".env.dist"];

/// Names with a dot in front that say something about a codebase.
const TELLING: [&str; 12] = [
    ".github",
    ".gitlab",
    ".gitlab-ci.yml",
    ".circleci",
    ".travis.yml",
    ".cargo",
    ".config",
    ".pre-commit-config.yaml",
    ".eslintrc",
    ".prettierrc",
    ".editorconfig",
    ".rubocop.yml",
];

impl Policy {
    /// What nobody wants to see in an answer.
    pub fn standard() -> Policy {
        Policy::denying(&[]).expect("the list of secrets is held by a test")
    }

    /// The same, and what matches these patterns too.
    pub fn denying(more: &[String]) -> Result<Policy, PatternError> {
        let mut denied = GlobSetBuilder::new();
        for pattern in SECRETS.iter().copied().chain(more.iter().map(String::as_str)) {
            for glob in wherever(pattern)? {
                denied.add(glob);
            }
        }
        let wrong = |why: globset::Error| PatternError { pattern: more.join(", "), why: why.to_string() };
        Ok(Policy { denied: denied.build().map_err(wrong)?, largest_searched: LARGEST_SEARCHED })
    }

    /// Whether a path from a root is off limits, itself or by a folder that it lies in.
    pub fn denies(&self, relative: &Path) -> bool {
        let example = relative.file_name().is_some_and(|name| EXAMPLES.iter().any(|known| name == *known));
        let matched = |path: &Path| self.denied.is_match(path);
        (!example && matched(relative))
            || relative.ancestors().skip(1).any(|folder| !folder.as_os_str().is_empty() && matched(folder))
    }

    /// Whether a name is one that walks pass by: it begins with a dot and tells nothing.
    pub fn hides(&self, name: &str) -> bool {
        name.starts_with('.') && !TELLING.iter().chain(&EXAMPLES).any(|known| name.starts_with(known))
    }
}

fn wherever(pattern: &str) -> Result<Vec<Glob>, PatternError> {
    let glob = |text: &str| {
        GlobBuilder::new(text)
            .literal_separator(true)
            .case_insensitive(true)
            .build()
            .map_err(|why| PatternError { pattern: pattern.to_owned(), why: why.to_string() })
    };
    let pattern = pattern.trim_end_matches('/');
    if pattern.contains('/') {
        return Ok(vec![glob(pattern.trim_start_matches('/'))?]);
    }
    Ok(vec![glob(pattern)?, glob(&format!("**/{pattern}"))?])
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
            (".git/config", true),
            (".github/workflows/ci.yml", false),
            ("a/private/x/y.txt", true),
            ("ops/a.yml", true),
            ("x/ops/a.yml", false),
            ("ops/a/b.yml", false),
        ] {
            assert_eq!(policy.denies(Path::new(path)), denied, "{path}");
        }
        assert!(Policy::denying(&["a[".to_owned()]).is_err());
    }

    #[test]
    fn names_with_a_dot_are_passed_by_unless_they_tell() {
        let policy = Policy::standard();
        for (name, hidden) in
            [(".cache", true), (".github", false), (".eslintrc.json", false), ("a.rs", false), (".git", true)]
        {
            assert_eq!(policy.hides(name), hidden, "{name}");
        }
    }
}
