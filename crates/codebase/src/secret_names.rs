//! Names of files and folders in which secrets are kept, and exceptions that only look like it.
//!
//! A folder that is merely called `secrets` is not among them: in a codebase it usually holds the code that deals with
//! secrets, and hiding that would spoil answers. Users who keep secrets there can exclude it in the settings.

/// Never read, as a file or as a folder with everything in it. Case does not matter.
const NAMES: [&str; 46] = [
    ".env",
    ".envrc",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".htpasswd",
    ".npmrc",
    ".pypirc",
    ".dockercfg",
    ".dockerconfigjson",
    ".s3cfg",
    ".boto",
    ".vault-token",
    ".vault_pass",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    "secrets.ini",
    "credentials.json",
    "credentials.yml",
    "credentials.yaml",
    "credentials.csv",
    "client_secret.json",
    "kubeconfig",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".gcloud",
    ".kube",
    ".password-store",
    ".secrets",
    ".terraform.d",
    // Their history still has every secret that was ever removed.
    ".git",
    ".hg",
    ".svn",
    ".jj",
];

/// Never read in a folder of that name; the folder itself is common in codebases.
const IN_FOLDER: [(&str, &str); 12] = [
    (".docker", "config.json"),
    (".cargo", "credentials"),
    (".cargo", "credentials.toml"),
    (".gem", "credentials"),
    (".m2", "settings-security.xml"),
    (".config", "gcloud"),
    (".config", "gh"),
    (".config", "hub"),
    (".config", "op"),
    (".config", "rclone"),
    (".config", "sops"),
    (".config", "doctl"),
];

/// Never read when the name starts with this.
const BEGINNINGS: [&str; 1] = [".env."];

/// Never read when the name ends with this.
const ENDINGS: [&str; 18] = [
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".p8",
    ".jks",
    ".keystore",
    ".kdbx",
    ".ppk",
    ".env",
    ".ovpn",
    ".agekey",
    ".keytab",
    ".kubeconfig",
    ".tfvars",
    ".tfstate",
    ".tfstate.backup",
    ".mobileprovision",
];

/// Exceptions, which are made to be read.
const EXAMPLES: [&str; 6] =
    [".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults", ".env.schema"];

/// Whether a name, in a folder of this name, is one for secrets.
pub(crate) fn is_secret(folder: &str, name: &str) -> bool {
    if name.is_ascii() && folder.is_ascii() {
        is_secret_in_ascii(folder, name)
    } else {
        is_secret_in_ascii(&folded(folder), &folded(name))
    }
}

fn is_secret_in_ascii(folder: &str, name: &str) -> bool {
    let is = |known: &&str| name.eq_ignore_ascii_case(known);
    if EXAMPLES.iter().any(is) {
        return false;
    }
    NAMES.iter().any(is)
        || ENDINGS.iter().any(|end| ends_with(name, end))
        || BEGINNINGS.iter().any(|start| starts_with(name, start))
        || IN_FOLDER.iter().any(|(known, inner)| is(inner) && folder.eq_ignore_ascii_case(known))
}

pub(crate) fn is_example(name: &str) -> bool {
    EXAMPLES.contains(&name)
}

fn ends_with(name: &str, end: &str) -> bool {
    name.len() > end.len() && name.as_bytes()[name.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes())
}

fn starts_with(name: &str, start: &str) -> bool {
    name.len() >= start.len() && name.as_bytes()[..start.len()].eq_ignore_ascii_case(start.as_bytes())
}

/// A name as file systems see it that ignore case and invisible characters: some open `.git` by a name that is spelt
/// differently.
fn folded(name: &str) -> String {
    let is_invisible = |c: &char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    name.chars()
        .filter(|c| !is_invisible(c))
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_recognised_in_every_spelling_that_opens_it() {
        for name in
            [".GIT", ".gi\u{200c}t", ".\u{17f}\u{17f}h", ".\u{212a}ube", "ID_RSA", "a.PEM", "prod.env"]
        {
            assert!(is_secret("", name), "{name:?}");
        }
        for name in ["git", ".github", "key", ".key.rs", "über.rs", "secrets", "secrets.rs", "environment.ts"]
        {
            assert!(!is_secret("", name), "{name:?}");
        }
        assert!(is_secret(".Docker", "config.json") && !is_secret("docker", "config.json"));
    }
}
