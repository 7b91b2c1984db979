//! What a name says of its value: `DB_PASSWORD`, `apiKey` and `client-secret` announce secrets, `token_count`,
//! `primaryKey` and `passwordField` do not.
//!
//! The end of a name says what it is, what stands before only which one. So names are taken apart into words and read
//! from the end.

/// What a name announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    /// Chosen by a person: it may be short and made of words.
    Password,
    /// Chosen by a person or drawn by a machine.
    Secret,
    /// Drawn by a machine.
    Token,
    /// Drawn by a machine.
    Key,
    /// Whatever opens a door: often a user and a password together.
    Credential,
    /// The header, whose value begins with a scheme.
    Authorization,
}

impl Telling {
    /// The word in the mark.
    pub(super) fn label(self) -> &'static str {
        match self {
            Telling::Password => "password",
            Telling::Secret => "secret",
            Telling::Token => "token",
            Telling::Key => "key",
            Telling::Credential => "credential",
            Telling::Authorization => "authorization",
        }
    }
}

/// Words by which telling names are found in a text. Each ending below contains one of them.
pub(super) const KEYWORDS: &[&str] = &["pass", "pwd", "secret", "token", "key", "auth", "cred"];

/// Endings that tell, most specific first. `Whole` must be words of their own; `Tail` may be written together with what is
/// before it, as in `PGPASSWORD`.
const ENDINGS: &[(&str, Bound, Telling)] = &[
    ("password", Bound::Tail, Telling::Password),
    ("passwd", Bound::Tail, Telling::Password),
    ("passphrase", Bound::Tail, Telling::Password),
    ("passcode", Bound::Tail, Telling::Password),
    ("pwd", Bound::Whole, Telling::Password),
    ("pass", Bound::Whole, Telling::Password),
    ("secret", Bound::Tail, Telling::Secret),
    ("token", Bound::Tail, Telling::Token),
    ("credential", Bound::Tail, Telling::Credential),
    ("credentials", Bound::Tail, Telling::Credential),
    ("creds", Bound::Whole, Telling::Credential),
    ("auth", Bound::Whole, Telling::Credential),
    ("authorization", Bound::Tail, Telling::Authorization),
];

#[derive(Clone, Copy, PartialEq)]
enum Bound {
    Whole,
    Tail,
}

/// What makes a key a secret one, when it stands right before `key`.
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

/// Keys that name things, which even in capitals are none to hide.
#[rustfmt::skip]
const NAMING_KEYS: &[&str] = &[
    "cache", "column", "composite", "config", "dedup", "dedupe", "default", "dict", "env", "event", "field", "foreign", "group", "hash", "header",
    "hot", "id", "idempotency", "index", "item", "json", "label", "local", "lock", "lookup", "map", "message", "meta", "metadata", "object",
    "option", "param", "parent", "partition", "path", "press", "primary", "prop", "property", "public", "pub", "publishable", "query", "range",
    "registry", "route", "routing", "row", "s3", "search", "section", "settings", "short", "shortcut", "site", "sort", "state", "static", "style",
    "table", "tag", "theme", "trace", "translation", "type", "unique", "user", "value", "verify", "verification", "version", "i18n", "locale", "stroke",
];

/// What comes before `token` in names of places in a text or a list, or of things that all may see.
#[rustfmt::skip]
const NAMING_TOKENS: &[&str] = &[
    "next", "page", "paging", "pagination", "continuation", "continue", "cursor", "sync", "resume", "cancellation", "cancel", "stop", "eos", "bos", "pad",
    "padding", "unk", "mask", "sep", "cls", "special", "start", "end", "first", "last", "prev", "previous", "peek", "current", "public",
    "progress", "expected", "unexpected", "invalid", "change", "watch", "design",
];

/// What has been done to a secret that may then be seen.
const SPOILT: &[&str] = &["hashed", "encrypted", "sealed", "masked", "redacted", "public"];

/// Words after the telling ones that change nothing.
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

/// How the words of [`KEYWORDS`] go on where they are part of a longer one that tells.
const CONTINUED: &[&str] = &["word", "wd", "phrase", "code", "s", "ential", "orization", "token", "key"];

/// Whether a name may tell, given what is left of it after its keyword: `passed` and `authority` may not, and they are
/// many.
pub(super) fn may_tell(rest: &[u8]) -> bool {
    !rest.first().is_some_and(u8::is_ascii_lowercase)
        || CONTINUED.iter().any(|continued| rest.starts_with(continued.as_bytes()))
}

/// What `name` announces, if it is telling.
pub(super) fn telling(name: &[u8]) -> Option<Telling> {
    let words = Words::of(name);
    let words = words.as_bytes();
    for (ending, bound, telling) in ENDINGS {
        let Some(before) = words.strip_suffix(ending.as_bytes()) else { continue };
        let own_word = before.is_empty() || before.ends_with(b"_");
        if *bound == Bound::Whole && !own_word {
            continue;
        }
        let which = last_word(before);
        let naming = *telling == Telling::Token && is_any_of(which, NAMING_TOKENS);
        return (!naming && !is_any_of(which, SPOILT)).then_some(*telling);
    }
    key(name, words.strip_suffix(b"key")?).then_some(Telling::Key)
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
    is_any_of(last, SECRET_KEYS) || capitals && !is_any_of(last, NAMING_KEYS)
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
    fn the_end_of_a_name_says_what_it_is() {
        for (name, expected) in [
            ("password", Some(Telling::Password)),
            ("PGPASSWORD", Some(Telling::Password)),
            ("DB_PASSWORD_PROD", Some(Telling::Password)),
            ("spring.datasource.password", Some(Telling::Password)),
            ("smtpPass", Some(Telling::Password)),
            ("secret_key_base", Some(Telling::Key)),
            ("AWS_SECRET_ACCESS_KEY", Some(Telling::Key)),
            ("apiKey", Some(Telling::Key)),
            ("APIKey2", Some(Telling::Key)),
            ("X-Api-Key", Some(Telling::Key)),
            ("apikey", Some(Telling::Key)),
            ("FOO_KEY", Some(Telling::Key)),
            ("clientSecret", Some(Telling::Secret)),
            ("_authToken", Some(Telling::Token)),
            ("accesstoken", Some(Telling::Token)),
            ("Proxy-Authorization", Some(Telling::Authorization)),
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
            assert_eq!(telling(name.as_bytes()), expected, "{name}");
        }
    }
}
