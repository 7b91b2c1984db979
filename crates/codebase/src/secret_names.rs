//! Names of files and folders in which secrets are kept, and exceptions that only look like it.
//!
//! A folder that is merely called `secrets` is not among them: in a codebase it usually holds the code that deals with
//! secrets, and hiding that would spoil answers. Users who keep secrets there can exclude it in the settings.

use std::borrow::Cow;

/// Never read, as a file or as a folder with everything in it. Lower case and sorted; case does not matter.
const NAMES: &[&str] = &[
    ".aliyun",
    ".ash_history",
    ".authinfo",
    ".authinfo.gpg",
    ".aws",
    ".azure",
    ".bash_history",
    ".bluemix",
    ".boto",
    ".claude.json",
    ".cloudflared",
    ".credentials",
    ".credentials.json",
    ".curlrc",
    ".databrickscfg",
    ".dbshell",
    ".dev.vars",
    ".dockercfg",
    ".dockerconfigjson",
    ".env",
    ".envrc",
    ".esmtprc",
    ".fetchmailrc",
    ".gcloud",
    ".git",
    ".git-credentials",
    ".gnupg",
    ".hg",
    ".histfile",
    ".history",
    ".htpasswd",
    ".huggingface",
    ".irb_history",
    ".jj",
    ".julia_history",
    ".ksh_history",
    ".kube",
    ".lesshst",
    ".lftprc",
    ".mailrc",
    ".mongorc.js",
    ".msmtprc",
    ".my.cnf",
    ".mylogin.cnf",
    ".mysql_history",
    ".netrc",
    ".netrc.gpg",
    ".node_repl_history",
    ".npmrc",
    ".oci",
    ".octave_hist",
    ".password-store",
    ".pgpass",
    ".php_history",
    ".pry_history",
    ".psql_history",
    ".pypirc",
    ".python_history",
    ".rediscli_history",
    ".rhistory",
    ".s3cfg",
    ".scala_history",
    ".secrets",
    ".sh_history",
    ".snowflake",
    ".sqlite_history",
    ".ssh",
    ".subversion",
    ".svn",
    ".tcsh_history",
    ".terraform.d",
    ".terraformrc",
    ".ts_node_repl_history",
    ".vault-token",
    ".vault_pass",
    ".vault_password",
    ".viminfo",
    ".wgetrc",
    ".zhistory",
    ".zsh_history",
    "_netrc",
    "application_default_credentials.json",
    "client_secret.json",
    "client_secrets.json",
    "consolehost_history.txt",
    "cookies.sqlite",
    "credentials.csv",
    "credentials.json",
    "credentials.tfrc.json",
    "credentials.yaml",
    "credentials.yml",
    "fish_history",
    "gcloud-service-key.json",
    "gcp-key.json",
    "google-credentials.json",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "id_rsa",
    "kaggle.json",
    "key3.db",
    "key4.db",
    "kubeconfig",
    "local.settings.json",
    "login.keychain-db",
    "logins.json",
    "ngrok.yml",
    "oauth_creds.json",
    "pgpass.conf",
    "rclone.conf",
    "secrets.ini",
    "secrets.json",
    "secrets.properties",
    "secrets.toml",
    "secrets.xml",
    "secrets.yaml",
    "secrets.yml",
    "secring.gpg",
    "terraform.rc",
    "vault-password.txt",
    "vault_password.txt",
    "wallet.dat",
];

/// Never read in a folder of that name; the folder itself is common in codebases. Sorted.
const IN_FOLDER: &[(&str, &str)] = &[
    (".bundle", "config"),
    (".cargo", "credentials"),
    (".cargo", "credentials.toml"),
    (".codex", "auth.json"),
    (".composer", "auth.json"),
    (".config", ".wrangler"),
    (".config", "configstore"),
    (".config", "doctl"),
    (".config", "gcloud"),
    (".config", "gh"),
    (".config", "github-copilot"),
    (".config", "glab-cli"),
    (".config", "hcloud"),
    (".config", "heroku"),
    (".config", "hub"),
    (".config", "linode-cli"),
    (".config", "netlify"),
    (".config", "ngrok"),
    (".config", "op"),
    (".config", "rclone"),
    (".config", "scw"),
    (".config", "sops"),
    (".config", "stripe"),
    (".continue", "config.json"),
    (".continue", "config.yaml"),
    (".cursor", "auth.json"),
    (".docker", "config.json"),
    (".factory", "auth.json"),
    (".fly", "config.yml"),
    (".gem", "credentials"),
    (".gemini", "google_accounts.json"),
    (".gemini", "mcp-oauth-tokens-v2.json"),
    (".gemini", "mcp-oauth-tokens.json"),
    (".gradle", "gradle.properties"),
    (".m2", "settings-security.xml"),
    (".m2", "settings.xml"),
    (".netlify", "config.json"),
    (".nuget", "nuget.config"),
    (".pulumi", "credentials.json"),
    (".railway", "config.json"),
    (".snowsql", "config"),
    (".supabase", "access-token"),
    (".vercel", "auth.json"),
    ("amp", "secrets.json"),
    ("com.vercel.cli", "auth.json"),
    ("composer", "auth.json"),
    ("containers", "auth.json"),
    ("crush", "crush.json"),
    ("cursor", "auth.json"),
    ("goose", "secrets.yaml"),
    ("huggingface", "stored_tokens"),
    ("huggingface", "token"),
    ("opencode", "auth.json"),
    ("opencode", "mcp-auth.json"),
    ("tamis", "identities"),
    ("tamis", "token"),
];

/// Never read when the name starts with this.
const BEGINNINGS: &[&str] = &[".env.", ".env-", ".env_", ".dev.vars.", ".vault_pass_", ".vault-pass"];

/// Never read when the name ends with this.
const ENDINGS: &[&str] = &[
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".p8",
    ".pkcs12",
    ".pkcs8",
    ".jks",
    ".jceks",
    ".bks",
    ".keystore",
    ".kdbx",
    ".kdb",
    ".ppk",
    ".env",
    ".ovpn",
    ".agekey",
    ".keytab",
    ".kubeconfig",
    ".tfvars",
    ".tfvars.json",
    ".tfstate",
    ".tfstate.backup",
    ".mobileprovision",
    ".keychain",
    ".keychain-db",
    ".tfstate.lock.info",
];

/// Never read when the name starts and ends like this. Files with other endings may be code about such files.
const ENCLOSURES: &[(&str, &str)] = &[
    ("secrets.", ".yml"),
    ("secrets.", ".yaml"),
    ("secrets.", ".json"),
    ("secrets.", ".toml"),
    ("secrets.", ".ini"),
    ("secrets.", ".properties"),
    ("secrets.", ".xml"),
    ("client_secret", ".json"),
    ("gha-creds-", ".json"),
];

/// A JSON file with one of these in its name is the key of a service account.
const SERVICE_ACCOUNTS: &[&str] = &["adminsdk", "service-account", "service_account", "serviceaccount"];

/// A file of environment variables whose name ends with one of these words is made to be read.
const EXAMPLE_WORDS: &[&str] = &["example", "sample", "template", "dist", "defaults", "schema"];

/// Whether a name, in a folder of this name, is one for secrets.
pub(crate) fn is_secret(folder: &str, name: &str) -> bool {
    if name.is_ascii() && folder.is_ascii() {
        is_secret_when_folded(&lowercase(folder), &lowercase(name))
    } else {
        is_secret_when_folded(&folded(folder), &folded(name))
    }
}

/// In lower case; copied only when that differs, since most names of a codebase are.
fn lowercase(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

fn is_secret_when_folded(folder: &str, name: &str) -> bool {
    if is_example(name) {
        return false;
    }
    let encloses = |(start, end): &(&str, &str)| {
        name.len() > start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
    };
    NAMES.binary_search(&name).is_ok()
        || IN_FOLDER.binary_search(&(folder, name)).is_ok()
        || ENDINGS.iter().any(|end| name.len() > end.len() && name.ends_with(end))
        || BEGINNINGS.iter().any(|start| name.starts_with(start))
        || ENCLOSURES.iter().any(encloses)
        || (name.ends_with(".json") && SERVICE_ACCOUNTS.iter().any(|part| name.contains(part)))
        || is_named_ssh_key(name)
}

/// A private key with a name of its own (`id_rsa_work`, `id_ed25519.old`); its public half ends in `.pub`.
fn is_named_ssh_key(name: &str) -> bool {
    let rest = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"].iter().find_map(|kind| name.strip_prefix(kind));
    rest.is_some_and(|rest| rest.starts_with(['_', '-', '.']) && !rest.ends_with(".pub"))
}

/// Whether a file of environment variables is made to be read: `.env.example`, `.env.production.sample`.
pub(crate) fn is_example(name: &str) -> bool {
    let rest = name.strip_prefix(".env").or_else(|| name.strip_prefix(".dev.vars"));
    let last = rest.and_then(|rest| rest.rsplit_once(['.', '-', '_']));
    last.is_some_and(|(_, word)| EXAMPLE_WORDS.contains(&word))
}

/// A number that changes when other names are secrets, for whatever was built from the files that may be read.
pub(crate) fn fingerprint() -> u64 {
    let plain = [NAMES, BEGINNINGS, ENDINGS, SERVICE_ACCOUNTS, EXAMPLE_WORDS].into_iter().flatten().copied();
    let pairs = [IN_FOLDER, ENCLOSURES].into_iter().flatten().flat_map(|(first, second)| [*first, *second]);
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in plain.chain(pairs).flat_map(|text| text.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
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
    fn the_tables_can_be_searched() {
        assert!(NAMES.is_sorted() && IN_FOLDER.is_sorted());
        let pairs = IN_FOLDER.iter().chain(ENCLOSURES).flat_map(|(first, second)| [*first, *second]);
        let plain = [NAMES, BEGINNINGS, ENDINGS, SERVICE_ACCOUNTS, EXAMPLE_WORDS].into_iter().flatten();
        for text in pairs.chain(plain.copied()) {
            assert_eq!(text, lowercase(text), "{text}");
        }
    }

    #[test]
    fn places_of_secrets_are_told_from_code_about_them() {
        // As a path of the folder and the name.
        let secrets = "
            .env .env.local .env-prod .env_staging .env.production.local .dev.vars .dev.vars.production prod.env .envrc
            id_rsa id_rsa_work id_ed25519-github id_ecdsa.old id_ed25519_sk
            terraform.tfvars terraform.tfvars.json prod.auto.tfvars.json x.tfstate x.tfstate.backup
            service-account.json my-service-account.json serviceAccountKey.json gcp_service_account_prod.json
            shop-firebase-adminsdk-ab12c.json client_secret_123.apps.googleusercontent.com.json gha-creds-0a1b.json
            .bash_history .zsh_history .python_history .psql_history fish/fish_history .rediscli_history .lesshst
            PSReadLine/ConsoleHost_history.txt
            .claude/.credentials.json .claude.json .codex/auth.json .gemini/oauth_creds.json opencode/auth.json
            .config/github-copilot goose/secrets.yaml tamis/token
            .docker/config.json .cargo/credentials.toml .config/gh .m2/settings.xml .kube .aws .oci .npmrc .pypirc
            secrets.yml secrets.prod.yaml credentials.json rclone.conf server.pem key.p12 login.keychain-db";
        for path in secrets.split_whitespace() {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            assert!(is_secret(folder, name), "{path}");
        }
        let readable = "
            .env.example .env-sample .env_template .env.production.example .dev.vars.example env.rs environment.ts
            id_rsa.pub id_rsa_work.pub id_rsa.rs.txt.pub id_rsac.rs ids.rs
            variables.tf service_account.rs service-account.md service_accounts.py auth.json locales/auth.json
            history.rs bash_history.rs .history.md claude.json .claude/settings.json .codex/config.toml .gemini/settings.json
            .docker/Dockerfile .cargo/config.toml .config/nextest.toml .github settings.xml secrets.rs secrets secret.yaml
            credentials.rs token tokens.json key keys.rs keystore.rs pem.rs kube.rs";
        for path in readable.split_whitespace() {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            assert!(!is_secret(folder, name), "{path}");
        }
    }

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
