//! Credentials in headers and on command lines: `Authorization: Bearer …`, `Basic …`, `Cookie: …`, `curl -u user:…`.

use std::ops::Range;

use super::judge;
use super::randomness::{Shape, decode_base64, is_uuid};
use super::reading::{quote_at, skip_spaces};

const REACH: usize = 4096;

/// Names of schemes that are followed by what to hide.
#[rustfmt::skip]
const SCHEMES: &[&str] = &[
    "bearer", "basic", "token", "bot", "apikey", "api-key", "negotiate", "oauth", "splunk", "key", "ssws", "geniekey", "zoho-oauthtoken", "sso-key",
    "klaviyo-api-key", "ntlm", "hawk",
];

/// The credential of an `Authorization` header whose value begins at `at`, with or without quotes.
pub(super) fn authorization(text: &[u8], at: usize) -> Option<Range<usize>> {
    // `f"…"`, as Python has it.
    let at = if text[at..].starts_with(b"f\"") || text[at..].starts_with(b"f'") { at + 1 } else { at };
    let at = quote_at(text, at).map_or(at, |quote| quote.end);
    let word = at
        + text[at..].iter().take(16).take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'-').count();
    let scheme = SCHEMES.iter().any(|scheme| text[at..word].eq_ignore_ascii_case(scheme.as_bytes()));
    let value = if scheme && text.get(word) == Some(&b' ') { skip_spaces(text, word) } else { at };
    let range = credential_at(text, value)?;
    let credential = &text[range.clone()];
    let shape = Shape::of(credential);
    let random = credential.len() >= 8 && (shape.is_random() || shape.digits > 0 && !shape.is_wordy());
    // Behind a scheme, anything with digits is a credential; else it may be the name of one.
    let random = random
        || if value == at {
            judge::is_token_of_words(credential, &shape)
        } else {
            judge::has_token_digits(&shape)
        };
    (random && !judge::is_stand_in(credential)).then_some(range)
}

/// The credential after a scheme that is named without its header.
pub(super) fn after_scheme(text: &[u8], scheme: Range<usize>) -> Option<Range<usize>> {
    let begins = scheme.start == 0 || !text[scheme.start - 1].is_ascii_alphanumeric();
    let value = skip_spaces(text, scheme.end);
    if !begins || value == scheme.end && !text[..scheme.end].ends_with(b" ") {
        return None;
    }
    let range = credential_at(text, value)?;
    let credential = &text[range.clone()];
    let basic = text[scheme].eq_ignore_ascii_case(b"basic ");
    let secret = match basic {
        true => is_user_and_password(credential),
        false => {
            let shape = Shape::of(credential);
            credential.len() >= 16
                && (shape.is_random() || is_uuid(credential) || judge::is_token_of_words(credential, &shape))
                && !judge::is_stand_in(credential)
        }
    };
    secret.then_some(range)
}

fn credential_at(text: &[u8], at: usize) -> Option<Range<usize>> {
    let part = |byte: &&u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'-' | b'|' | b':')
    };
    let length = text[at..].iter().take(REACH).take_while(part).count();
    let trailing =
        text[at..at + length].iter().rev().take_while(|byte| matches!(byte, b'.' | b':' | b'|')).count();
    let length = length - trailing;
    // `Bearer token={x}` and `Bearer prefix${x}` go on with a variable.
    let goes_on = matches!(text.get(at + length), Some(b'$' | b'{' | b'<' | b'(' | b'[' | b'*' | b'%'));
    let cut_short = trailing >= 3 || text[at + length..].starts_with("…".as_bytes());
    let begins = text
        .get(at)
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-'));
    (length > 0 && begins && !goes_on && !cut_short).then(|| at..at + length)
}

/// `user:password` in base64.
pub(super) fn is_user_and_password(credential: &[u8]) -> bool {
    credential.len() >= 8
        && credential.len() <= 512
        && decode_base64(credential).is_some_and(|decoded| {
            decoded.len() >= 5
                && decoded.contains(&b':')
                && decoded.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ')
        })
}

/// The random-looking values among a cookie header's `name=value` pairs, from `at` on, and where the header ends.
pub(super) fn cookies(text: &[u8], at: usize) -> (Vec<Range<usize>>, usize) {
    let line = &text[at..text.len().min(at + REACH)];
    let line = &line
        [..line.iter().position(|byte| matches!(byte, b'\n' | b'"' | b'\'' | b'\\')).unwrap_or(line.len())];
    let mut found = Vec::new();
    let mut from = 0;
    for pair in line.split(|&byte| byte == b';') {
        if let Some(equals) = memchr::memchr(b'=', pair) {
            let value = pair[equals + 1..].trim_ascii();
            let start = at
                + from
                + equals
                + 1
                + (pair.len() - equals - 1 - pair[equals + 1..].trim_ascii_start().len());
            let random = value.len() >= 16 && (Shape::of(value).is_random() || is_uuid(value));
            if random && !value.iter().any(u8::is_ascii_whitespace) && !judge::is_stand_in(value) {
                found.push(start..start + value.len());
            }
        }
        from += pair.len() + 1;
    }
    (found, at + line.len())
}

/// Options of a program, and what follows them.
type Options = &'static [(&'static [&'static str], Argument)];

/// Programs that take secrets as arguments.
#[rustfmt::skip]
pub(super) const PROGRAMS: &[(&str, Options)] = &[
    ("curl ", &[
        (&[" -u ", " --user ", " -u", " --user=", " --proxy-user "], Argument::UserAndPassword),
        (&[" -b ", " --cookie ", " -b", " --cookie="], Argument::Cookies),
    ]),
    ("sshpass ", &[(&[" -p ", " -p"], Argument::Password)]),
    ("mysql", &[(&[" -p"], Argument::Password)]),
    ("mongosh ", &[(&[" -p "], Argument::Password)]),
    ("sqlcmd ", &[(&[" -P "], Argument::Password)]),
    ("ldapsearch ", &[(&[" -w "], Argument::Password)]),
    ("docker login", &[(&[" -p "], Argument::Password)]),
    ("az login", &[(&[" -p "], Argument::Password)]),
    ("redis-cli", &[(&[" -a "], Argument::Password)]),
];

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Argument {
    Password,
    UserAndPassword,
    Cookies,
}

/// The secrets among a program's arguments, which begin at `at`, and how far they were read.
pub(super) fn arguments(
    text: &[u8],
    at: usize,
    options: Options,
) -> (Vec<(Range<usize>, &'static str)>, usize) {
    // The space before the first option may be the program's last byte.
    let base = at.saturating_sub(1);
    let line = &text[base..text.len().min(at + 512)];
    let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
    let mut found = Vec::new();
    for (options, argument) in options {
        let Some((value, apart)) = options.iter().find_map(|option| {
            let at = memchr::memmem::find(line, option.as_bytes())?;
            Some((at + option.len(), option.ends_with([' ', '='])))
        }) else {
            continue;
        };
        let quotes = line[value..].iter().take(4).take_while(|byte| apart && is_quote(byte)).count();
        let value = value + quotes;
        match argument {
            Argument::Cookies => {
                found.extend(cookies(text, base + value).0.into_iter().map(|range| (range, "cookie")));
            }
            _ => found.extend(
                password_in(line, value, *argument)
                    .map(|range| (base + range.start..base + range.end, "password")),
            ),
        }
    }
    (found, base + line.len())
}

fn is_quote(byte: &u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'\\')
}

fn password_in(line: &[u8], value: usize, argument: Argument) -> Option<Range<usize>> {
    let over = |byte: &u8| byte.is_ascii_whitespace() || is_quote(byte) || matches!(byte, b'`' | b'|' | b';');
    let end = value + line[value..].iter().position(over).unwrap_or(line.len() - value);
    let start = match argument {
        Argument::UserAndPassword => value + memchr::memchr(b':', &line[value..end])? + 1,
        _ => value,
    };
    let password = &line[start..end];
    let option = password.starts_with(b"-") || password.starts_with(b"/");
    let chosen = password.len() >= 6 && !option && !Shape::of(password).is_wordy();
    let chosen = chosen || argument == Argument::UserAndPassword && password.len() >= 4;
    (chosen && !judge::is_stand_in(password)).then_some(start..end)
}
