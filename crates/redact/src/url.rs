//! Passwords in addresses: `postgres://user:password@host`, `https://TOKEN@host`, and what drivers write without a scheme.

use std::ops::Range;

use super::judge;
use super::randomness::{Shape, is_uuid};

const REACH: usize = 512;

/// The password in the address whose `://` is at `sign`. User and host stay.
pub(super) fn password(text: &[u8], sign: Range<usize>) -> Option<Range<usize>> {
    let scheme = text[..sign.start].last().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if !scheme {
        return None;
    }
    let from = sign.end;
    let reach = &text[from..text.len().min(from + REACH)];
    let over = |byte: &u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'|')
    };
    let reach = &reach[..reach.iter().position(over).unwrap_or(reach.len())];
    let colon = reach.iter().position(|byte| matches!(byte, b':' | b'/' | b'?' | b'#' | b'@'))?;
    if !reach[..colon].iter().all(|byte| is_of_user(*byte)) {
        return None;
    }
    if reach[colon] == b'@' {
        return is_token(&reach[..colon]).then(|| from..from + colon);
    }
    if reach[colon] != b':' {
        return None;
    }
    let password = &reach[colon + 1..];
    let authority =
        password.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(password.len());
    // People forget to encode `/` and `#`, but what begins like a port is one.
    let port = password[..authority].iter().all(u8::is_ascii_digit);
    let at = match memchr::memrchr(b'@', &password[..authority]) {
        Some(at) => at,
        None if port => return None,
        None => memchr::memchr(b'@', password).filter(|at| !judge::contains(&password[..*at], b"://"))?,
    };
    let host = password.get(at + 1).is_some_and(|byte| {
        byte.is_ascii_alphanumeric()
            || !byte.is_ascii()
            || matches!(byte, b'[' | b'$' | b'{' | b'%' | b'_' | b'.' | b'-' | b'*')
    });
    let secret = host && is_password(&password[..at]);
    secret.then(|| from + colon + 1..from + colon + 1 + at)
}

/// The password in `user:password@tcp(host)`, whose `@tcp(` begins at `at`.
pub(super) fn password_before(text: &[u8], at: usize) -> Option<Range<usize>> {
    let reach = &text[at.saturating_sub(128)..at];
    let over = |byte: &u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'=')
    };
    let reach = &reach[reach.iter().rposition(over).map_or(0, |at| at + 1)..];
    let colon = memchr::memchr(b':', reach)?;
    let password = &reach[colon + 1..];
    (is_password(password) && reach[..colon].iter().all(|byte| is_of_user(*byte)))
        .then(|| at - password.len()..at)
}

/// Even a word such as `changeme` in that place is a password, but not a variable or a mask.
fn is_password(password: &[u8]) -> bool {
    if password.is_empty() || judge::contains(password, super::MARK.as_bytes()) || password.contains(&b',') {
        return false;
    }
    let template = matches!(password[0], b'$' | b'{' | b'<' | b'[' | b'(' | b'%' | b'*')
        && !(password[0] == b'%' && password.len() > 3 && password[1..3].iter().all(u8::is_ascii_hexdigit));
    let inside = [&b"${"[..], b"{{", b"#{", b"$("].iter().any(|sign| judge::contains(password, sign));
    let mask = password.len() >= 3 && judge::is_mask(password);
    !(template || inside || mask)
}

/// In the place of a user, only what looks random is a secret: `https://TOKEN@host`.
fn is_token(user: &[u8]) -> bool {
    user.len() >= 16 && (Shape::of(user).is_random() || is_uuid(user)) && !judge::is_stand_in(user)
}

fn is_of_user(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'.' | b'_' | b'-' | b'+' | b'%' | b'~' | b'!' | b'$' | b'{' | b'}' | b'*' | b'=')
        || !byte.is_ascii()
}
