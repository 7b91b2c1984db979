//! Whether a value is a secret, given what its name announces, or a stand-in for one: a placeholder, a variable, a type,
//! a call.

use super::headers;
use super::names::SecretKind;
use super::randomness::{Shape, is_uuid};

/// How a value is written beside its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// `"name": "value"`, `name='value'`: a literal in data or code.
    Quoted,
    /// `name: value`, `name = value`: a literal in data, or an expression in code.
    Bare,
    /// `NAME=value` as shells and `.env` files hold it, `name: value` on a line of YAML: text, never an expression.
    Environment,
    /// `name("value")`, `"name", "value"`, "the name is value": likely not a secret.
    Loose,
}

/// Values that stand in for a secret, or that are widely known.
#[rustfmt::skip]
const PLACEHOLDERS: &[&str] = &[
    "admin", "any", "blank", "bool", "boolean", "bytes", "changeit", "changeme", "default", "disabled", "empty", "enabled", "example", "false", "foo",
    "foobar", "guest", "hidden", "inherit", "input", "invalid", "letters", "masked", "minioadmin", "missing", "none", "null", "number", "object", "optional",
    "password", "placeholder", "postgres", "redacted", "removed", "required", "root", "secret", "string", "test", "testing", "text", "true", "undefined",
    "unset", "user", "username", "value", "varchar", "wrong",
];

/// Words of a value that somebody is to replace: `your-api-key`, `<insert token>`, `REPLACE_ME`.
#[rustfmt::skip]
const PLACEHOLDER_WORDS: &[&str] = &[
    "your", "yours", "placeholder", "changeme", "changeit", "change", "replace", "replaceme", "insert", "redacted", "todo", "fixme", "here", "xxx", "omitted",
];

/// Words of a value that is said not to be real. Only a short one, or one without digits, is believed: real tokens have
/// such words too.
#[rustfmt::skip]
const PRETENDING_WORDS: &[&str] = &["example", "dummy", "fake", "sample", "mock", "foo", "bar", "foobar", "notreal", "invalid"];

/// From how many characters on, and with how many digits, a value is taken for a token whatever its words are.
const TOKEN_LENGTH: usize = 16;
const TOKEN_DIGITS: usize = 4;
/// Digits, not counting those of dates, that a token of words needs if none of them is such as `fake` or `test`:
/// `sales-report-2024-q4` and `settings-v20240115` are names of things.
const DIGITS_OF_WORDY_TOKEN: usize = 8;

/// Names of methods and encodings, which have digits as passwords do.
#[rustfmt::skip]
const METHODS: &[&str] = &[
    "argon2", "argon2id", "base32", "base64", "blake2b", "blake3", "ed25519", "hmac", "hs256", "hs512", "md5", "oauth2", "pbkdf2", "pkcs8", "pkcs12",
    "rs256", "scram", "sha1", "sha256", "sha384", "sha512", "utf8", "utf-8", "x25519", "x509", "int32", "int64", "uint8", "uint32", "uint64",
];

/// Beginnings of values that are looked up elsewhere or are plainly something else.
#[rustfmt::skip]
const ELSEWHERE: &[&str] = &[
    "process.env", "os.environ", "os.getenv", "env.", "env:", "ENV[", "import.meta", "secrets.", "vars.", "vault:", "op://", "ref+", "arn:", "file:", "data:",
    "keyring:", "ssm:", "sha1:", "sha256:", "sha512:", "sha1-", "sha256-", "sha384-", "sha512-", "ssh-", "urn:", "function", "System.", "std::", "self.", "this.",
    "iVBORw0KGgo", "R0lGOD", "UklGR", "PHN2Zy", "/9j/", "AAAAB3NzaC", "AAAAC3NzaC", "LS0tLS1CRUdJTiBDRVJU",
];

/// How much of a value is examined.
const MAX_LENGTH: usize = 256;

/// Whether `value` is a secret, given the kind of secret that its name announces.
pub(super) fn is_secret(kind: SecretKind, value: &[u8], notation: Notation) -> bool {
    let least = if kind == SecretKind::Password { 4 } else { 8 };
    if value.len() < least {
        return false;
    }
    if value.iter().any(u8::is_ascii_whitespace) {
        return notation == Notation::Quoted && is_phrase(kind, value);
    }
    let value = &value[..value.len().min(MAX_LENGTH)];
    // The cheap checks first: most values are not secrets.
    let shape = Shape::of(value);
    let literal = matches!(notation, Notation::Quoted | Notation::Environment);
    let secret = if is_uuid(value) || shape.is_random() {
        literal
            || headers::is_user_and_password(value)
            || kind != SecretKind::Credential && !is_expression(value, &shape)
    } else {
        match kind {
            SecretKind::Password | SecretKind::Secret => is_chosen(kind, value, &shape, notation),
            SecretKind::Credential => headers::is_user_and_password(value),
            SecretKind::Token | SecretKind::Key | SecretKind::Authorization => false,
        }
    };
    let secret = secret || kind != SecretKind::Credential && is_wordy_token(value, &shape, notation);
    let other = is_address(kind, value)
        || kind != SecretKind::Password && is_number_or_date(value, &shape)
        || contains(value, b"%3A%2F%2F");
    secret && !other && !is_stand_in(value)
}

/// Whether a value has the length and the digits of a token: `fake-token-1234567890`.
pub(super) fn has_token_digits(shape: &Shape) -> bool {
    shape.length >= TOKEN_LENGTH && shape.digits >= TOKEN_DIGITS
}

/// Whether the value is a token although its words could be those of an ordinary name.
pub(super) fn is_token_of_words(value: &[u8], shape: &Shape) -> bool {
    let pretends = |word: &[u8]| {
        word == b"test" || PRETENDING_WORDS.iter().any(|pretending| pretending.as_bytes() == word)
    };
    has_token_digits(shape)
        && (shape.digits - digits_of_dates(value) >= DIGITS_OF_WORDY_TOKEN
            || value.to_ascii_lowercase().split(|byte| !byte.is_ascii_alphabetic()).any(pretends))
}

/// How many digits are those of `20240115` and `2024-01-15`.
fn digits_of_dates(value: &[u8]) -> usize {
    let is_number = |digits: &[u8], from: u8, to: u8| {
        digits.len() == 2
            && digits.iter().all(u8::is_ascii_digit)
            && (from..=to).contains(&((digits[0] - b'0') * 10 + digits[1] - b'0'))
    };
    let date_at = |at: usize| {
        let rest = &value[at..];
        let joint = usize::from(matches!(rest.get(4), Some(b'-' | b'_' | b'.' | b'/')));
        let part = |from: usize| rest.get(from..from + 2).unwrap_or_default();
        (at == 0 || !value[at - 1].is_ascii_digit())
            && is_number(part(0), 19, 20)
            && is_number(part(2), 0, 99)
            && is_number(part(4 + joint), 1, 12)
            && is_number(part(6 + 2 * joint), 1, 31)
            && !rest.get(8 + 2 * joint).is_some_and(u8::is_ascii_digit)
    };
    8 * (0..value.len()).filter(|&at| date_at(at)).count()
}

/// A token whose words keep it from looking random.
fn is_wordy_token(value: &[u8], shape: &Shape, notation: Notation) -> bool {
    let token = |byte: &u8| is_word_byte(*byte) || matches!(byte, b'+' | b'/' | b'=' | b'.' | b'~');
    let literal = match notation {
        Notation::Quoted | Notation::Environment => true,
        // A variable may have a number, too.
        Notation::Bare => value.contains(&b'-') || shape.digits >= 2 * TOKEN_DIGITS,
        Notation::Loose => false,
    };
    let method = METHODS.iter().any(|method| value.to_ascii_lowercase().starts_with(method.as_bytes()));
    literal
        && is_token_of_words(value, shape)
        && value.iter().all(token)
        && !method
        && !is_path_or_expression(value)
        && !is_dotted(value)
}

/// Whether the value is what a person would choose as a password.
fn is_chosen(kind: SecretKind, value: &[u8], shape: &Shape, notation: Notation) -> bool {
    let plain = shape.digits == 0
        && value
            .iter()
            .all(|byte| is_word_byte(*byte) || !byte.is_ascii() || matches!(byte, b'.' | b':' | b'/'));
    let lower = value.to_ascii_lowercase();
    if METHODS.iter().any(|method| lower.starts_with(method.as_bytes())) || is_path_or_expression(value) {
        return false;
    }
    if plain {
        return kind == SecretKind::Password && is_chosen_word(value, &lower, shape, notation);
    }
    let least = if kind == SecretKind::Password { 6 } else { 8 };
    if value.len() < least {
        return false;
    }
    // `secret-1` in tests, but not `my-super-secret-key-2024`, which people do use.
    if kind == SecretKind::Secret && value.len() < 20 && describes_itself(&lower) {
        return false;
    }
    let identifier = describes_itself(&lower) && shape.uppers == 0 && value.contains(&b'_');
    match notation {
        Notation::Quoted if identifier => false,
        Notation::Environment | Notation::Quoted => !is_dotted(value),
        Notation::Bare => !describes_itself(&lower) && !is_expression(value, shape) && !is_dotted(value),
        Notation::Loose => {
            kind == SecretKind::Password
                && value.len() >= 8
                && shape.has_mixed_word()
                && shape.lowers > 0
                && !value.contains(&b'\\')
                && !describes_itself(&lower)
                && !is_expression(value, shape)
                && !is_dotted(value)
        }
    }
}

/// A password of letters only. One word is more often a label, a type or a variable.
fn is_chosen_word(value: &[u8], lower: &[u8], shape: &Shape, notation: Notation) -> bool {
    let humps = 1 + value
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        .count();
    if !value.iter().all(u8::is_ascii_alphabetic) || shape.lowers == 0 || describes_itself(lower) || humps > 4
    {
        return false;
    }
    let last = value.iter().rposition(u8::is_ascii_uppercase).map_or(lower, |at| &lower[at..]);
    if WORDS_OF_CODE.iter().any(|word| word.as_bytes() == lower || word.as_bytes() == last) {
        return false;
    }
    let is_one_small_word = shape.uppers == 0;
    match notation {
        Notation::Environment => value.len() >= 8 && (is_one_small_word || humps > 1),
        Notation::Quoted if is_one_small_word => value.len() >= if shape.is_wordy() { 10 } else { 6 },
        Notation::Quoted => value.len() >= 10 && humps > 1,
        Notation::Bare | Notation::Loose => false,
    }
}

/// Words that are written after `password` in code, schemas, messages and translations, and are longer than seven letters
/// or end such a word.
#[rustfmt::skip]
const WORDS_OF_CODE: &[&str] = &[
    "accepted", "adgangskode", "alphanumeric", "array", "authenticate", "authenticated", "authentication", "available", "buffer", "bytes", "callback", "column", "command", "component",
    "config", "configuration", "configured", "confirm", "confirmation", "contains", "correct", "current", "data", "decrypted", "encoded", "encrypted", "environment", "expected",
    "expired", "failed", "failure", "field", "forbidden", "function", "generate", "generated", "handler", "hash", "hashed", "identifier", "incorrect", "input", "keychain", "kennwort",
    "label", "literal", "mandatory", "mismatch", "model", "module", "nullable", "option", "optional", "options", "otherwise", "parameter", "params", "plain", "plaintext", "private", "promise",
    "prompt", "property", "props", "protected", "provided", "provider", "readline", "ref", "rejected", "remember", "removed", "required", "response", "result", "salasana", "schema", "securely",
    "securestring", "sensitive", "service", "settings", "state", "str", "string", "success", "supported", "terminal", "text", "type", "unavailable", "unchanged", "undefined", "unknown", "unsupported",
    "username", "validate", "validation", "validator", "value", "variable", "visible", "wachtwoord", "wrapper", "configmap", "statement", "subject", "internal", "external", "argument", "arguments", "disabled", "invisible",
];

/// Words of sentences, which passphrases do not have.
#[rustfmt::skip]
const SENTENCE_WORDS: &[&str] = &[
    "the", "your", "you", "and", "are", "must", "not", "for", "enter", "please", "with", "this", "that", "has", "have", "can", "was", "will", "should", "when",
    "from", "least", "between", "characters", "letters", "its", "use", "uses", "used", "set", "get", "user", "users", "file", "string", "value", "required", "invalid", "match", "does",
];

/// A passphrase: several short words in small letters that make no sentence.
pub(super) fn is_phrase(kind: SecretKind, value: &[u8]) -> bool {
    let word = |word: &[u8]| (3..=12).contains(&word.len()) && word.iter().all(u8::is_ascii_lowercase);
    let words = value.split(|byte| *byte == b' ');
    kind == SecretKind::Password
        && (4..=24).contains(&words.clone().count())
        && words.clone().all(word)
        && !words.clone().any(|word| SENTENCE_WORDS.iter().any(|other| other.as_bytes() == word))
        && !describes_itself(value)
        && !has_placeholder_word(value)
}

/// A placeholder, a variable, a template, a mask, or something with a form of its own.
pub(super) fn is_stand_in(value: &[u8]) -> bool {
    if value.is_empty()
        || contains(value, super::MARK.as_bytes())
        || is_mask(value)
        || is_template(value)
        || is_pattern(value)
    {
        return true;
    }
    if ELSEWHERE.iter().any(|start| value.starts_with(start.as_bytes())) || contains(value, b"://") {
        return true;
    }
    let lower = value.to_ascii_lowercase();
    if PLACEHOLDERS.iter().any(|placeholder| placeholder.as_bytes() == lower) {
        return true;
    }
    lower.starts_with(b"your") || lower.starts_with(b"changeme") || has_placeholder_word(&lower)
}

/// Whether one of the value's words marks it as a stand-in.
fn has_placeholder_word(lower: &[u8]) -> bool {
    let is_believed = !has_token_digits(&Shape::of(lower));
    lower.split(|byte| !byte.is_ascii_alphabetic()).any(|word| {
        let is_one_of = |words: &[&str]| words.iter().any(|placeholder| placeholder.as_bytes() == word);
        word.len() >= 3 && (is_one_of(PLACEHOLDER_WORDS) || is_believed && is_one_of(PRETENDING_WORDS))
    })
}

/// `****`, `xxxxxxxx`, `sk-...`, `••••`, `0000`.
pub(super) fn is_mask(value: &[u8]) -> bool {
    let masking = |byte: &u8| {
        matches!(byte, b'*' | b'x' | b'X' | b'.' | b'-' | b'_' | b'#' | b'?' | b'0') || !byte.is_ascii()
    };
    value.iter().all(masking)
        || [&b"***"[..], b"...", b"xxxx", b"XXXX", "…".as_bytes(), "••".as_bytes()]
            .iter()
            .any(|mask| contains(value, mask))
        || value.iter().all(|byte| *byte == value[0])
}

/// `${X}`, `$X`, `$(cmd)`, `{{ x }}`, `{x}`, `<x>`, `%s`, `%X%`, `#{x}`, `@x@`, `[x]`, `(x)`.
fn is_template(value: &[u8]) -> bool {
    let last = value[value.len() - 1];
    match value[0] {
        b'$' => {
            let name = &value[1..];
            matches!(name.first(), Some(b'{' | b'(' | b'['))
                || name.iter().all(|byte| is_word_byte(*byte) || matches!(byte, b':' | b'.' | b'/'))
        }
        b'<' => contains(value, b">"),
        b'{' | b'[' | b'(' => true,
        b'%' => value.len() <= 3 || last == b'%' || matches!(value[1], b'(' | b'{'),
        b'#' => {
            value.get(1) == Some(&b'{')
                || matches!(value.len(), 4 | 7 | 9) && value[1..].iter().all(u8::is_ascii_hexdigit)
        }
        b'@' => {
            last == b'@' || value[1..].iter().all(|byte| is_word_byte(*byte) || matches!(byte, b'/' | b'.'))
        }
        b'&' | b'*' | b'!' => value[1..].iter().all(|byte| is_word_byte(*byte) || *byte == b'.'),
        _ => {
            contains(value, b"${")
                || contains(value, b"{{")
                || contains(value, b"#{")
                || contains(value, b"$(")
        }
    }
}

/// A regular expression.
fn is_pattern(value: &[u8]) -> bool {
    [&b"[a-z"[..], b"[A-Z", b"[0-9", b"[^", b"(?:", b"(?i", b"(?P", b"\\d", b"\\w", b"\\b("]
        .iter()
        .any(|part| contains(value, part))
}

/// A short number, or the public address of a coin, which is also called a token.
fn is_address(kind: SecretKind, value: &[u8]) -> bool {
    value.starts_with(b"0x") && (value.len() <= 18 || kind == SecretKind::Token && value.len() == 42)
}

/// Digits, and what separates digits in numbers, dates and versions.
fn is_number_or_date(value: &[u8], shape: &Shape) -> bool {
    shape.uppers + shape.lowers <= 2
        && value.iter().all(|byte| {
            byte.is_ascii_digit()
                || matches!(byte, b'.' | b'-' | b'_' | b':' | b'/' | b'T' | b'Z' | b'+' | b',')
        })
}

/// Paths, addresses, patterns and expressions, which are not passwords.
fn is_path_or_expression(value: &[u8]) -> bool {
    let email = value.iter().position(|&byte| byte == b'@').is_some_and(|at| {
        at > 0
            && value[at..].contains(&b'.')
            && value.iter().all(|byte| is_word_byte(*byte) || matches!(byte, b'@' | b'.' | b'+'))
    });
    email
        || matches!(value[0], b'/' | b'^' | b'~' | b'-' | b'=' | b',' | b')' | b'|' | b'?')
        || value.starts_with(b"./")
        || value.starts_with(b"../")
        || contains(value, b"=>")
        || contains(value, b"->")
        || contains(value, b"::")
        || contains(value, b"&&")
        || contains(value, b"||")
        || value.iter().filter(|byte| matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}')).count() >= 2
}

/// A value without quotes that code would compute: `user.password`, `token2`, `Token<T>`, `a.b[0]`.
fn is_expression(value: &[u8], shape: &Shape) -> bool {
    let optional = matches!(value, [name @ .., b'?' | b'!'] if name.iter().all(u8::is_ascii_alphabetic));
    let brackets = value.iter().any(|byte| matches!(byte, b'(' | b'[' | b'{' | b'<'));
    let signed = matches!(value, [b'+', rest @ ..] if !rest.iter().any(u8::is_ascii_digit) || Shape::of(rest).is_wordy());
    if brackets || optional || signed || value[0] == b'!' {
        return true;
    }
    let identifier = value.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    identifier && is_dotted(value)
        || identifier
            && !value[0].is_ascii_digit()
            && shape.is_wordy()
            && describes_itself(&value.to_ascii_lowercase())
}

/// `user.password`, `config.auth.token`, `com.example.Token2`: words joined by dots.
fn is_dotted(value: &[u8]) -> bool {
    let mut parts = value.split(|&byte| byte == b'.').peekable();
    value.contains(&b'.')
        && parts.all(|part| {
            part.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
                && part.iter().all(|byte| is_word_byte(*byte))
                && !Shape::of(part).is_random()
        })
}

/// A value that describes a secret rather than being one: `newPassword`, `user_token2`.
fn describes_itself(lower: &[u8]) -> bool {
    ["passw", "passphrase", "secret", "token", "apikey", "api_key", "api-key", "credential", "pwd"]
        .iter()
        .any(|word| contains(lower, word.as_bytes()))
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// For needles of a few bytes in values of a few dozen, where a searcher would cost more than the search.
pub(super) fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memchr_iter(needle[0], haystack).any(|at| haystack[at..].starts_with(needle))
}
