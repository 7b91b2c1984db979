//! What a name announces: `DB_PASSWORD`, `apiKey` and `client-secret` name secrets, `token_count`,
//! `primaryKey` and `passwordField` do not.
//!
//! The end of a name is what it is, the rest only which one. So names are split into words and read from the end.

/// The kind of secret that a name announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecretKind {
    /// Chosen by a person: it may be short and made of words.
    Password,
    /// Chosen by a person or generated.
    Secret,
    /// Generated.
    Token,
    /// Generated.
    Key,
    /// Anything that grants access: often a user and a password together.
    Credential,
    /// The header, whose value begins with a scheme.
    Authorization,
}

impl SecretKind {
    pub(super) const ALL: [SecretKind; 6] = [
        SecretKind::Password,
        SecretKind::Secret,
        SecretKind::Token,
        SecretKind::Key,
        SecretKind::Credential,
        SecretKind::Authorization,
    ];

    /// The word in the mark.
    pub(super) fn label(self) -> &'static str {
        match self {
            SecretKind::Password => "password",
            SecretKind::Secret => "secret",
            SecretKind::Token => "token",
            SecretKind::Key => "key",
            SecretKind::Credential => "credential",
            SecretKind::Authorization => "authorization",
        }
    }
}

/// Words by which such names are found in a text. Each ending below contains one of them.
pub(super) const KEYWORDS: &[&str] = &["pass", "pwd", "secret", "token", "key", "auth", "cred", "pat"];

/// Endings that announce a secret, most specific first. `Whole` must be words of their own; `Tail` may be written together with what is
/// before it, as in `PGPASSWORD`.
const ENDINGS: &[(&str, Bound, SecretKind)] = &[
    ("password", Bound::Tail, SecretKind::Password),
    ("passwd", Bound::Tail, SecretKind::Password),
    ("passphrase", Bound::Tail, SecretKind::Password),
    ("passcode", Bound::Tail, SecretKind::Password),
    ("pwd", Bound::Whole, SecretKind::Password),
    ("pass", Bound::Whole, SecretKind::Password),
    ("requirepass", Bound::Whole, SecretKind::Password),
    ("masterauth", Bound::Whole, SecretKind::Password),
    ("storepass", Bound::Whole, SecretKind::Password),
    ("keypass", Bound::Whole, SecretKind::Password),
    ("secret", Bound::Tail, SecretKind::Secret),
    ("token", Bound::Tail, SecretKind::Token),
    ("pat", Bound::Whole, SecretKind::Token),
    ("credential", Bound::Tail, SecretKind::Credential),
    ("credentials", Bound::Tail, SecretKind::Credential),
    ("creds", Bound::Whole, SecretKind::Credential),
    ("auth", Bound::Whole, SecretKind::Credential),
    ("authorization", Bound::Tail, SecretKind::Authorization),
];

#[derive(Clone, Copy, PartialEq)]
enum Bound {
    Whole,
    Tail,
}

/// What makes a key a secret one, when it is right before `key`.
#[rustfmt::skip]
const SECRET_KEYS: &[&str] = &[
    "access", "account", "admin", "aes", "anon", "api", "app", "application", "auth", "authentication", "bearer", "client", "consumer",
    "cookie", "crypto", "decrypt", "decryption", "deploy", "deployment", "encrypt", "encryption", "fernet", "function", "functions", "gpg",
    "hmac", "ingest", "ingestion", "integration", "jwt", "kms", "license", "licence", "login", "management", "master", "pgp",
    "private", "pre_shared", "psk", "root", "rsa", "secret", "security", "server", "service", "service_role", "session", "shared",
    "shared_access", "sign", "signature", "signing", "ssh", "storage", "subscription", "symmetric", "unseal", "vault", "webhook", "wifi", "write",
    "anthropic", "aws", "azure", "cohere", "datadog", "dd", "gemini", "github", "gitlab", "google", "groq", "heroku", "langsmith", "mailgun",
    "maps", "mistral", "openai", "openrouter", "pinecone", "sendgrid", "slack", "stripe", "supabase", "tavily", "twilio", "wandb",
];

/// Keys that identify things; even in capitals they are not secrets.
#[rustfmt::skip]
const NAMING_KEYS: &[&str] = &[
    "cache", "column", "composite", "config", "dedup", "dedupe", "default", "dict", "env", "event", "field", "foreign", "group", "hash", "header",
    "hot", "id", "idempotency", "index", "item", "json", "label", "local", "lock", "lookup", "map", "message", "meta", "metadata", "object",
    "option", "param", "parent", "partition", "path", "press", "primary", "prop", "property", "public", "pub", "publishable", "query", "range",
    "registry", "route", "routing", "row", "s3", "search", "section", "settings", "short", "shortcut", "site", "sort", "state", "static", "style",
    "table", "tag", "theme", "trace", "translation", "type", "unique", "user", "value", "verify", "verification", "version", "i18n", "locale", "stroke",
];

/// What comes before `token` in names of positions in a text or a list, or of public things.
#[rustfmt::skip]
const NAMING_TOKENS: &[&str] = &[
    "next", "page", "paging", "pagination", "continuation", "continue", "cursor", "sync", "resume", "cancellation", "cancel", "stop", "eos", "bos", "pad",
    "padding", "unk", "mask", "sep", "cls", "special", "start", "end", "first", "last", "prev", "previous", "peek", "current", "public",
    "progress", "expected", "unexpected", "invalid", "change", "watch", "design",
];

/// What comes before `password` in names of what is done with one, or said about one.
#[rustfmt::skip]
const NAMING_PASSWORDS: &[&str] = &[
    "forgot", "forgotten", "reset", "change", "update", "show", "hide", "toggle", "enter", "invalid", "missing", "wrong", "incorrect", "weak", "no",
    "without", "generate", "lost", "recover", "expired", "bad", "empty", "repeat", "retype", "choose",
];

/// What comes before `pat` where it is a personal access token, and not a pattern.
#[rustfmt::skip]
const TOKEN_OWNERS: &[&str] = &[
    "ado", "airtable", "azure", "bitbucket", "bot", "ci", "databricks", "deploy", "devops", "docker", "dockerhub", "figma", "gh", "git", "github", "gitlab",
    "hubspot", "jira", "org", "personal", "repo", "snowflake", "user", "vercel",
];

/// What was done to a secret that may then be seen.
const PROTECTED: &[&str] = &["hashed", "encrypted", "sealed", "masked", "redacted", "public"];

/// Words after such an ending that change nothing.
#[rustfmt::skip]
const NEUTRAL: &[&str] = &[
    "value", "val", "plain", "plaintext", "raw", "b", "base", "hex", "v", "prod", "production", "prd", "dev", "development", "staging",
    "stage", "stg", "test", "live", "sandbox", "old", "new", "current", "backup", "global", "main", "local",
];

const LONGEST: usize = 40;

/// A name in small letters with `_` between its words, without neutral endings.
struct Words {
    bytes: [u8; LONGEST * 2],
    length: usize,
}

impl Words {
    fn of(name: &[u8]) -> Words {
        let name = &name[name.len().saturating_sub(LONGEST)..];
        let mut words = Words { bytes: [0; LONGEST * 2], length: 0 };
        for (at, &byte) in name.iter().enumerate() {
            if byte.is_ascii_alphanumeric() {
                let before = at.checked_sub(1).map_or(b'_', |before| name[before]);
                let after = name.get(at + 1).copied().unwrap_or(b'_');
                // `apiKey` and `APIKey` have two words.
                let begins = byte.is_ascii_uppercase()
                    && (before.is_ascii_lowercase()
                        || before.is_ascii_digit()
                        || before.is_ascii_uppercase() && after.is_ascii_lowercase());
                if begins {
                    words.separate();
                }
                words.bytes[words.length] = byte.to_ascii_lowercase();
                words.length += 1;
            } else {
                words.separate();
            }
        }
        words.drop_neutral();
        words
    }

    fn separate(&mut self) {
        if self.length > 0 && self.bytes[self.length - 1] != b'_' {
            self.bytes[self.length] = b'_';
            self.length += 1;
        }
    }

    /// `API_KEY_PROD_2` is an `api_key`.
    fn drop_neutral(&mut self) {
        loop {
            let words = self.as_bytes();
            let words = &words[..words.iter().rposition(u8::is_ascii_alphabetic).map_or(0, |at| at + 1)];
            let last = last_word(words).len();
            let length = match is_any_of(last_word(words), NEUTRAL) {
                true => words.len() - last,
                false => words.len(),
            };
            if length == self.length {
                return;
            }
            self.length = length;
        }
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// How the words of [`KEYWORDS`] continue in longer words that announce a secret.
const CONTINUED: &[&str] = &["word", "wd", "phrase", "code", "s", "ential", "orization", "token", "key"];

/// Whether a name may announce a secret, given what follows its keyword: `passed` and `authority` do not, and are common.
pub(super) fn may_announce(rest: &[u8]) -> bool {
    !rest.first().is_some_and(u8::is_ascii_lowercase)
        || CONTINUED.iter().any(|continued| rest.starts_with(continued.as_bytes()))
}

/// The kind of secret that `name` announces.
pub(super) fn announced_kind(name: &[u8]) -> Option<SecretKind> {
    let words = Words::of(name);
    let words = words.as_bytes();
    for (ending, bound, kind) in ENDINGS {
        // Most names are settled by their last letter.
        if words.last() != ending.as_bytes().last() {
            continue;
        }
        let Some(before) = words.strip_suffix(ending.as_bytes()) else { continue };
        let own_word = before.is_empty() || before.ends_with(b"_");
        if *bound == Bound::Whole && !own_word {
            continue;
        }
        let which = last_word(before);
        let naming = match kind {
            SecretKind::Token if *ending == "pat" => !is_any_of(which, TOKEN_OWNERS),
            SecretKind::Token => is_any_of(which, NAMING_TOKENS),
            SecretKind::Password => is_any_of(which, NAMING_PASSWORDS),
            _ => false,
        };
        return (!naming && !is_any_of(which, PROTECTED)).then_some(*kind);
    }
    key(name, words.strip_suffix(b"key")?).then_some(SecretKind::Key)
}

/// Whether the key of that kind is a secret one.
fn key(name: &[u8], kind: &[u8]) -> bool {
    if kind.is_empty() {
        return false;
    }
    let Some(kind) = kind.strip_suffix(b"_") else {
        // Written together: `apikey`, `secretkey`.
        return ["api", "secret", "access", "private", "encryption", "signing", "auth"]
            .iter()
            .any(|together| kind.ends_with(together.as_bytes()));
    };
    let last = last_word(kind);
    let capitals = !name.iter().any(u8::is_ascii_lowercase);
    is_any_of(last, SECRET_KEYS) || last.ends_with(b"api") || capitals && !is_any_of(last, NAMING_KEYS)
}

fn last_word(words: &[u8]) -> &[u8] {
    let words = words.strip_suffix(b"_").unwrap_or(words);
    &words[words.iter().rposition(|&byte| byte == b'_').map_or(0, |at| at + 1)..]
}

fn is_any_of(word: &[u8], words: &[&str]) -> bool {
    words.iter().any(|candidate| candidate.as_bytes() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_decides() {
        for (name, expected) in [
            ("password", Some(SecretKind::Password)),
            ("PGPASSWORD", Some(SecretKind::Password)),
            ("DB_PASSWORD_PROD", Some(SecretKind::Password)),
            ("spring.datasource.password", Some(SecretKind::Password)),
            ("smtpPass", Some(SecretKind::Password)),
            ("secret_key_base", Some(SecretKind::Key)),
            ("AWS_SECRET_ACCESS_KEY", Some(SecretKind::Key)),
            ("apiKey", Some(SecretKind::Key)),
            ("APIKey2", Some(SecretKind::Key)),
            ("X-Api-Key", Some(SecretKind::Key)),
            ("apikey", Some(SecretKind::Key)),
            ("FOO_KEY", Some(SecretKind::Key)),
            ("clientSecret", Some(SecretKind::Secret)),
            ("_authToken", Some(SecretKind::Token)),
            ("accesstoken", Some(SecretKind::Token)),
            ("Proxy-Authorization", Some(SecretKind::Authorization)),
            ("passed", None),
            ("bypass", None),
            ("password_field", None),
            ("passwordReset.ts", None),
            ("token_count", None),
            ("input_tokens", None),
            ("nextPageToken", None),
            ("primary_key", None),
            ("CACHE_KEY", None),
            ("key", None),
            ("monkey", None),
            ("author", None),
            ("secretName", None),
            ("hashed_secret", None),
            ("", None),
        ] {
            assert_eq!(announced_kind(name.as_bytes()), expected, "{name}");
        }
    }
}
