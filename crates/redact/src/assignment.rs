//! Values beside names that announce a secret: `password=…`, `"api_key": "…"`, `--token …`, `<secret>…</secret>`, `setPassword("…")`,
//! in any language, and inside strings that are escaped, once or more.
//!
//! This is a reader of its own rather than a set of expressions: quotes must be closed by the quote that opened them, at the
//! same depth of escaping, and what an unquoted value is depends on what is around it.

use std::ops::Range;

use super::judge::{self, Notation};
use super::names::{self, SecretKind};
use super::reading::{
    closing_quote, floor_of_char, is_color, is_escape, quote_at, skip_lines, skip_spaces, triple_quoted,
};
use super::{headers, near};

/// How far a name is read to either side of its keyword, and a value from its beginning. The limits keep the work on
/// hostile text linear.
const NAME_REACH: usize = 64;
const VALUE_REACH: usize = 256;
/// A value may end a few bytes short of the reach, for a character that it would cut.
const BARELY_WHOLE: usize = VALUE_REACH - 4;

/// A value whose name announces a secret.
pub(super) struct Found {
    pub(super) range: Range<usize>,
    pub(super) kind: SecretKind,
}

/// A name in the text.
struct Name {
    range: Range<usize>,
    kind: SecretKind,
}

/// The secret beside the name of which `keyword` is a part.
pub(super) fn find(text: &[u8], keyword: Range<usize>) -> Option<Found> {
    let name = name_around(text, keyword)?;
    let kind = name.kind;
    let found = |range| Found { range, kind };
    let Some((from, notation)) = value_position(text, &name) else {
        return match kind {
            SecretKind::Password | SecretKind::Credential => None,
            _ => near::random_after(text, name.range.end).map(found),
        };
    };
    if kind == SecretKind::Authorization {
        return headers::authorization(text, from).map(found);
    }
    if let Some(password) = password_of_pair(text, &name, from).filter(|_| kind == SecretKind::Credential) {
        let secret = judge::is_secret(SecretKind::Password, &text[password.clone()], Notation::Quoted);
        return secret.then_some(Found { range: password, kind: SecretKind::Password });
    }
    // `pass` is more often a verdict, and what follows a slash is a path.
    let last = &text[name.range.end.saturating_sub(4)..name.range.end];
    let vague = last.eq_ignore_ascii_case(b"pass") || text[..name.range.start].ends_with(b"/");
    let (range, notation) = value_at(text, from, notation)?;
    // Only what a person may have chosen depends on it.
    let chosen = matches!(kind, SecretKind::Password | SecretKind::Secret);
    let notation = match notation {
        Notation::Bare if chosen && is_data(text, &name, &range) => Notation::Environment,
        _ => notation,
    };
    let alone = name.range.len() == 4 && notation == Notation::Bare;
    if vague && (notation == Notation::Loose || alone) {
        return None;
    }
    if judge::is_secret(kind, &text[range.clone()], notation) {
        return Some(found(whole_of_long(text, range)));
    }
    let line = line_from(text, range.start);
    (notation == Notation::Environment && judge::is_phrase(kind, &text[line.clone()])).then(|| found(line))
}

/// Ways to authenticate, which are listed in brackets as a user and a password are.
#[rustfmt::skip]
const WAYS_TO_AUTHENTICATE: &[&str] = &[
    "anonymous", "apikey", "api_key", "api-key", "aws4", "basic", "bearer", "certificate", "cookie", "digest", "gssapi", "hawk", "hmac", "jwt",
    "kerberos", "keyboard-interactive", "ldap", "md5", "mtls", "negotiate", "none", "ntlm", "oauth", "oauth1", "oauth1a", "oauth2", "oidc", "openid",
    "pam", "peer", "plain", "publickey", "saml", "saml2", "scram-sha-256", "session", "sha256", "sigv4", "tls", "token", "totp", "webauthn", "x509",
];

/// The second of two texts in quotes: `auth=("user", "password")`, `BasicAuth("user", "password")`. `at` is behind the sign
/// after the name.
fn password_of_pair(text: &[u8], name: &Name, at: usize) -> Option<Range<usize>> {
    let of_call = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':');
    let called = at + text[at..].iter().take(NAME_REACH).take_while(of_call).count();
    // Other names announce lists of files and methods.
    let is_list = called == at && text.get(at) == Some(&b'[');
    let last = &text[name.range.end.saturating_sub(4)..name.range.end];
    let of_auth = last.eq_ignore_ascii_case(b"auth");
    let first = match text.get(called) {
        Some(b'(') => skip_lines(text, called + 1),
        Some(b'[') if is_list && of_auth => skip_lines(text, called + 1),
        _ if text.get(name.range.end) == Some(&b'(') => skip_lines(text, at),
        _ if text[name.range.end..at].trim_ascii_end().ends_with(b"(") => at,
        _ => return None,
    };
    let user = quote_at(text, first)?;
    let user_end = closing_quote(text, &user)?;
    let comma = skip_lines(text, user_end + user.len());
    let second = (text.get(comma) == Some(&b',')).then(|| skip_lines(text, comma + 1))?;
    let open = quote_at(text, second)?;
    let end = closing_quote(text, &open)?;
    // Of more than two, none is known to be a password.
    let after = skip_lines(text, end + open.len());
    let after = if text.get(after) == Some(&b',') { skip_lines(text, after + 1) } else { after };
    let is_way =
        |quoted: &[u8]| WAYS_TO_AUTHENTICATE.iter().any(|way| quoted.eq_ignore_ascii_case(way.as_bytes()));
    let are_ways = is_list && (is_way(&text[user.end..user_end]) || is_way(&text[open.end..end]));
    (!are_ways && matches!(text.get(after), Some(b')' | b']'))).then_some(open.end..end)
}

/// Whether a value without quotes is data, and not an expression of code: `name=value` between spaces, or alone on its line.
fn is_data(text: &[u8], name: &Name, value: &Range<usize>) -> bool {
    let after = &text[value.end..text.len().min(value.end + 80)];
    let joint = &text[name.range.end..value.start];
    let start = line_start(text, name.range.start);
    let before = &text[start..name.range.start];
    let before = before.strip_suffix(b"name: ").unwrap_or(before);
    if joint == b"=" && after.starts_with(b";") {
        return ["Server=", "Source=", "Host="].iter().any(|part| judge::contains(before, part.as_bytes()));
    }
    if joint == b"=" {
        return matches!(
            after.first(),
            None | Some(b' ' | b'\n' | b'\r' | b'&' | b'\\' | b'`' | b'"' | b'\'')
        ) && !matches!(before.trim_ascii_end().last(), Some(b'(' | b',' | b'[' | b'{' | b'.'));
    }
    let joint = joint.trim_ascii();
    let joined = matches!(joint, b"=" | b"" | b": |" | b": >" | b": |-" | b": >-") || joint.ends_with(b":");
    let ends = matches!(after, [] | [b'\n' | b'\r', ..] | [b' ', b'#', ..] | [b'\\', b'n', ..]);
    if !ends || !joined || !before.iter().all(|byte| is_of_prefix(*byte)) {
        return false;
    }
    let above = text[start.saturating_sub(80)..start].trim_ascii_end().last();
    let below = after.trim_ascii_start().first();
    !matches!(above, Some(b',' | b'(' | b'[' | b'{' | b';' | b')' | b'}'))
        && !matches!(below, Some(b')' | b']' | b'}' | b'.'))
}

/// What may be before a name on a line of data: indentation, signs of lists, comments and differences, a line's number.
fn is_of_prefix(byte: u8) -> bool {
    byte.is_ascii_digit()
        || !byte.is_ascii()
        || matches!(byte, b' ' | b'\t' | b'-' | b'+' | b'#' | b':' | b'|' | b'>' | b'"' | b'\'')
}

/// Where the line begins, or as far back as is read.
fn line_start(text: &[u8], at: usize) -> usize {
    let before = &text[at.saturating_sub(VALUE_REACH)..at];
    at - before.len() + memchr::memrchr(b'\n', before).map_or(0, |end| end + 1)
}

/// The rest of the line, without spaces at its end.
fn line_from(text: &[u8], start: usize) -> Range<usize> {
    let reach = &text[start..text.len().min(start + VALUE_REACH)];
    let line = &reach[..memchr::memchr(b'\n', reach).unwrap_or(reach.len())];
    start..start + line.trim_ascii_end().len()
}

/// Some tokens are longer than is worth reading before they are known to be one.
fn whole_of_long(text: &[u8], range: Range<usize>) -> Range<usize> {
    let part = |byte: &&u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b'.' | b'%')
    };
    match range.len() {
        0..BARELY_WHOLE => range,
        _ => range.start..range.end + text[range.end..].iter().take_while(part).count(),
    }
}

fn name_around(text: &[u8], keyword: Range<usize>) -> Option<Name> {
    if !names::may_announce(&text[keyword.end..text.len().min(keyword.end + NAME_REACH)]) {
        return None;
    }
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let mut start =
        keyword.start - text[..keyword.start].iter().rev().take(NAME_REACH).take_while(part).count();
    let mut end = keyword.end + text[keyword.end..].iter().take(NAME_REACH).take_while(part).count();
    if start < keyword.start && is_escape(text, start) {
        start += 1;
    }
    // `[31mname`
    let color = start + text[start..keyword.start].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if color < keyword.start && is_color(text, color) {
        start = color + 1;
    }
    // `--name` and `name->field`, `name.`
    while start < keyword.start && matches!(text[start], b'-' | b'.') {
        start += 1;
    }
    while end > keyword.end && matches!(text[end - 1], b'-' | b'.') {
        end -= 1;
    }
    // `API key`, as prose has it.
    if start == keyword.start {
        start -= ["api ", "access ", "secret "]
            .iter()
            .find(|word| {
                let before = &text[..start];
                before.len() >= word.len()
                    && before[before.len() - word.len()..].eq_ignore_ascii_case(word.as_bytes())
            })
            .map_or(0, |word| word.len());
    }
    let kind = names::announced_kind(&text[start..end])?;
    Some(Name { range: start..end, kind })
}

/// Where the value begins: after the sign that joins it to the name, and the spaces behind that.
fn value_position(text: &[u8], name: &Name) -> Option<(usize, Notation)> {
    let quoted = quote_at(text, name.range.end);
    let mut at = quoted.as_ref().map_or(name.range.end, |quote| quote.end);
    if quoted.is_some() && text.get(at) == Some(&b']') {
        at += 1;
    }
    if text[..name.range.start].ends_with(b"**") && text[at..].starts_with(b"**") {
        at += 2;
    }
    let spaced = skip_spaces(text, at);
    let rest = &text[spaced..];
    let before = &text[..name.range.start];
    let flag = before.ends_with(b"--");
    let apart = quoted.is_none() && spaced > at;
    let variable = before.ends_with(b"ENV ") || before.ends_with(b"ARG ");
    match rest {
        [b':', b':', ..] => None,
        // `${NAME:-value}` and `${NAME:?message}`
        [b':', b'-', ..] if text[..name.range.start].ends_with(b"${") => Some((spaced + 2, Notation::Bare)),
        [b':', b'?', ..] => None,
        [b':', b'=', ..]
        | [b'=', b'>', ..]
        | [b'?', b'=', ..]
        | [b'|', b'|', ..]
        | [b'?', b'?', ..]
        | [b'+', b'=', ..] => {
            // `||=`, `??=`
            let end = spaced + 2 + usize::from(rest.get(2) == Some(&b'='));
            Some((literal_below(text, end).unwrap_or_else(|| skip_spaces(text, end)), Notation::Bare))
        }
        [b'=', b'=', b'=', ..] | [b'!', b'=', b'=', ..] => {
            Some((skip_spaces(text, spaced + 3), Notation::Loose))
        }
        [b'=', b'=', ..] | [b'!', b'=', ..] => Some((skip_spaces(text, spaced + 2), Notation::Loose)),
        [b'=', ..] => {
            let capitals = !text[name.range.clone()].iter().any(u8::is_ascii_lowercase);
            let tight = quoted.is_none() && spaced == at && !rest.get(1).is_none_or(u8::is_ascii_whitespace);
            if let Some(below) = literal_below(text, spaced + 1) {
                return Some((below, Notation::Bare));
            }
            let notation = if capitals && tight { Notation::Environment } else { Notation::Bare };
            Some((skip_spaces(text, spaced + 1), notation))
        }
        [b':', ..] => {
            let after = skip_spaces(text, spaced + 1);
            if let Some(below) = value_below(text, name, after, quoted.is_some()) {
                return Some((below, Notation::Bare));
            }
            if text.get(after) == Some(&b'{') {
                return member_of_object(text, after, b"value").map(|at| (at, Notation::Bare));
            }
            let after = after_type(text, after).unwrap_or(after);
            // A key in quotes with a value that has none is JSON, where only numbers and the like have none. Leaving them
            // keeps JSON valid.
            let bare = !matches!(text.get(after), Some(b'"' | b'\'' | b'`' | b'\\'));
            (!(quoted.is_some() && bare)).then_some((after, Notation::Bare))
        }
        [b',', ..] if quoted.is_some() || text[..name.range.start].ends_with(b":") => {
            let after = skip_lines(text, spaced + 1);
            // An option of a command line, a constant, a variable of the environment.
            let is_given = text[..name.range.start].ends_with(b"--")
                || !text[name.range.clone()].iter().any(u8::is_ascii_lowercase);
            let (after, notation) = match after_value_word(text, after) {
                Some(after) => (after, Notation::Bare),
                None if is_given => (after, Notation::Bare),
                None => (after, Notation::Loose),
            };
            quote_at(text, after).map(|_| (after, notation))
        }
        // A block of Terraform.
        [b'{', ..] if quoted.is_some() && spaced > at => {
            member_of_object(text, spaced, b"default").map(|at| (at, Notation::Bare))
        }
        // A table of Markdown.
        [b'|', b' ', ..] => Some((skip_spaces(text, spaced + 1), Notation::Loose)),
        [b'(', ..] if spaced == at => Some((skip_lines(text, spaced + 1), Notation::Loose)),
        [b'>', ..] if text[..name.range.start].ends_with(b"<") => Some((spaced + 1, Notation::Quoted)),
        // `<string name="api_key">…</string>`
        [b'>', ..] if quoted.is_some() && spaced == at && is_in_tag(text, name) => {
            Some((spaced + 1, Notation::Quoted))
        }
        _ if apart && (variable || is_after_login(text, name) || is_directive(text, name)) => {
            Some((spaced, Notation::Environment))
        }
        _ if apart && flag => Some((spaced, Notation::Bare)),
        [b'i', b's', b' ', ..] if spaced > at => Some((skip_spaces(text, spaced + 3), Notation::Loose)),
        [b'\'', ..] if spaced > at && quoted.is_none() => Some((spaced, Notation::Loose)),
        [b's', b't', b'r', b'i', b'n', b'g', ..] => {
            after_type(text, spaced).map(|after| (after, Notation::Bare))
        }
        _ => after_value_word(text, skip_lines(text, at)).map(|after| (after, Notation::Bare)),
    }
}

/// The literal on the line below a sign, also in parentheses: `= "…"`, `= ("…")`, with a line's end behind `=` or `(`.
fn literal_below(text: &[u8], sign_end: usize) -> Option<usize> {
    let mut at = skip_spaces(text, sign_end);
    if text.get(at) == Some(&b'(') {
        at = skip_spaces(text, at + 1);
    }
    // A shell's or Python's line that goes on.
    at += usize::from(text.get(at) == Some(&b'\\') && matches!(text.get(at + 1), Some(b'\n' | b'\r')));
    let below = skip_lines(text, at);
    (memchr::memchr(b'\n', &text[at..below]).is_some() && quote_at(text, below).is_some()).then_some(below)
}

/// Whether the name is what an element is called: `<entry key="name"`, but not `<label for="name"`.
fn is_in_tag(text: &[u8], name: &Name) -> bool {
    let before = &text[line_start(text, name.range.start)..name.range.start];
    let open = memchr::memrchr(b'<', before);
    let attribute =
        [&b" name=\""[..], b" name='", b" key=\"", b" key='"].iter().any(|it| before.ends_with(it));
    attribute && open.is_some_and(|open| memchr::memchr(b'>', &before[open..]).is_none())
}

/// `machine … login … password …`, as `.netrc` has it, on one line or on several.
fn is_after_login(text: &[u8], name: &Name) -> bool {
    let before = &text[name.range.start.saturating_sub(160)..name.range.start];
    &text[name.range.clone()] == b"password"
        && judge::contains(before, b"login ")
        && judge::contains(before, b"machine ")
}

/// Settings of servers and options of programs that are followed by a space and the secret.
const DIRECTIVES: &[&str] = &["requirepass", "masterauth", "-storepass", "-keypass"];

fn is_directive(text: &[u8], name: &Name) -> bool {
    let dash = usize::from(text[..name.range.start].ends_with(b"-"));
    let directive = &text[name.range.start - dash..name.range.end];
    DIRECTIVES.iter().any(|known| known.as_bytes() == directive)
}

/// A value on the line below its name: of YAML, where it is indented further than the name, or of JSON, in quotes. `at` is
/// behind the colon.
fn value_below(text: &[u8], name: &Name, at: usize, quoted: bool) -> Option<usize> {
    // `|`, `>-`: a block of text.
    let block =
        text[at..].iter().take(3).take_while(|byte| matches!(byte, b'|' | b'>' | b'-' | b'+')).count();
    let end = skip_spaces(text, at + block);
    let end = end + usize::from(text.get(end) == Some(&b'\r'));
    if text.get(end) != Some(&b'\n') {
        return None;
    }
    let below = skip_spaces(text, end + 1);
    if quoted {
        return quote_at(text, below).map(|_| below);
    }
    let start = line_start(text, name.range.start);
    let line = &text[line_from(text, below)];
    let word = !line.iter().any(u8::is_ascii_whitespace) && !line.ends_with(b":") && !line.starts_with(b"-");
    (below - (end + 1) > name.range.start - start && word).then_some(below)
}

/// The value of a member of the object that begins at `at`: `{"sensitive": true, "value": "…"}`.
fn member_of_object(text: &[u8], at: usize, member: &[u8]) -> Option<usize> {
    let object = &text[at..text.len().min(at + VALUE_REACH)];
    let object = &object[..memchr::memchr(b'}', object).unwrap_or(object.len())];
    memchr::memmem::find_iter(object, member).find_map(|found| {
        let end = at + found + member.len();
        let end = quote_at(text, end).map_or(end, |quote| quote.end);
        let sign = skip_spaces(text, end);
        let value = skip_lines(text, sign + 1);
        (matches!(text.get(sign), Some(b':' | b'=')) && quote_at(text, value).is_some()).then_some(value)
    })
}

/// Past `value:`, `"value": ` or `value=`, as in lists of names and values.
fn after_value_word(text: &[u8], at: usize) -> Option<usize> {
    let at = quote_at(text, at).map_or(at, |quote| quote.end);
    let word = text.get(at..at + 5)?;
    if !word.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let at = quote_at(text, at + 5).map_or(at + 5, |quote| quote.end);
    let at = skip_spaces(text, at);
    matches!(text.get(at), Some(b':' | b'=')).then(|| skip_spaces(text, at + 1))
}

/// Past a type and the `=` after it: `name: &str = "…"`.
fn after_type(text: &[u8], at: usize) -> Option<usize> {
    let of_type = |byte: &&u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'_' | b'&' | b'\'' | b'<' | b'>' | b'[' | b']' | b' ' | b'|' | b'?' | b'.' | b':'
            )
    };
    if !text.get(at).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'&') {
        return None;
    }
    let equals = at + text[at..].iter().take(48).take_while(of_type).count();
    let sign = text.get(equals) == Some(&b'=') && !matches!(text.get(equals + 1), Some(b'=' | b'>'));
    let after = literal_below(text, equals + 1).unwrap_or_else(|| skip_spaces(text, equals + 1));
    (sign && text[at..equals].ends_with(b" ") && quote_at(text, after).is_some()).then_some(after)
}

/// The value at `at`, without its quotes, and how it is written.
fn value_at(text: &[u8], at: usize, notation: Notation) -> Option<(Range<usize>, Notation)> {
    let wrapped = past_wrapper(text, at);
    if let Some(range) = triple_quoted(text, wrapped).filter(|_| notation != Notation::Loose) {
        return Some((range, Notation::Quoted));
    }
    if let Some(open) = quote_at(text, wrapped) {
        let notation = match notation {
            Notation::Loose => Notation::Loose,
            _ if wrapped > at + 1 && !is_constructor(&text[at..wrapped]) => Notation::Loose,
            _ => Notation::Quoted,
        };
        return closing_quote(text, &open).map(|end| (open.end..end, notation));
    }
    if notation == Notation::Quoted {
        if !text[..at].ends_with(b">") {
            return None;
        }
        // Between tags.
        let end =
            at + text[at..].iter().take(VALUE_REACH).position(|byte| matches!(byte, b'<' | b'\n' | b'"'))?;
        return (text.get(end) == Some(&b'<')).then_some((at..end, notation));
    }
    let is_cell = notation == Notation::Loose && text[..at].ends_with(b"| ") && is_row(text, at);
    if notation == Notation::Loose && !is_cell && !(at > 3 && text[..at].ends_with(b"is ")) {
        return None;
    }
    bare_value(text, at, notation).map(|range| (range, notation))
}

/// Whether what is at `at` is in a row of a table of Markdown: `| name | value |`.
fn is_row(text: &[u8], at: usize) -> bool {
    text[line_start(text, at)..at].trim_ascii_start().starts_with(b"|")
}

/// Past what may precede a literal: `b"…"`, `String::from("…")`, `new Secret("…")`.
fn past_wrapper(text: &[u8], at: usize) -> usize {
    let of_call =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b' ' | b'@');
    let end = at + text[at..].iter().take(40).take_while(of_call).count();
    match text.get(end) {
        Some(b'(') if end > at => skip_lines(text, end + 1),
        Some(b'"' | b'\'' | b'`') if end == at + 1 => end,
        _ => at,
    }
}

/// Calls that only wrap a literal: `String::from(`, `Some(`, `new SecretString(`.
fn is_constructor(call: &[u8]) -> bool {
    let call = call.trim_ascii_end().strip_suffix(b"(").unwrap_or(call);
    let last = call.rsplit(|byte| !byte.is_ascii_alphanumeric()).next().unwrap_or(call);
    [&b"from"[..], b"new", b"Some", b"String", b"SecretString", b"SecretStr", b"Secret", b"SecureString"]
        .contains(&last)
}

fn bare_value(text: &[u8], at: usize, notation: Notation) -> Option<Range<usize>> {
    let reach = &text[at..floor_of_char(text, text.len().min(at + VALUE_REACH))];
    let ends = |(at, byte): (usize, &u8)| match byte {
        b'"' | b'\'' | b'`' | b'\\' | b';' => true,
        b',' | b'(' | b')' | b'{' | b'}' | b'<' | b'>' | b'|' => notation != Notation::Environment,
        b'&' => is_next_parameter(&reach[at + 1..]),
        byte => byte.is_ascii_whitespace() || byte.is_ascii_control(),
    };
    let mut length = reach.iter().enumerate().position(ends).unwrap_or(reach.len());
    // What a call, a generic type or a template goes on with makes it an expression.
    if matches!(reach.get(length), Some(b'(' | b'{' | b'<')) {
        return None;
    }
    let trailing =
        |byte: u8| byte == b',' || notation != Notation::Environment && matches!(byte, b'.' | b':');
    while length > 0 && trailing(reach[length - 1]) {
        length -= 1;
    }
    (length > 0).then_some(at..at + length)
}

/// `name=`, after the `&` of an address.
fn is_next_parameter(rest: &[u8]) -> bool {
    let name = rest
        .iter()
        .take(32)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        .count();
    rest.first().is_none_or(|first| *first == b'&') || matches!(rest.get(name), Some(b'='))
}
