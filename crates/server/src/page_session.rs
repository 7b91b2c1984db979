//! How the page gets in: a one-time code in a link becomes a cookie.
//!
//! `tamis open` and `tamis serve` print a link whose fragment has the code. A browser sends no fragment, so the code is in no
//! request line, log or `Referer`; the page takes it out of its address, and sends it once. The cookie is signed with a key that is
//! derived from the server's token, so it outlasts a restart of the server, and ends with the token.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use axum::http::{HeaderMap, Method, header};
use parking_lot::Mutex;

use crate::ServerToken;

/// How long a link can be used.
const CODE_LIFETIME: Duration = Duration::from_secs(10 * 60);
/// How long a browser stays signed in.
const COOKIE_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Codes that are remembered; a further one replaces the oldest.
const MOST_CODES: usize = 64;

/// Separates these keys from others that may be derived from the token.
const CONTEXT: &str = "tamis 2026-11-16 dashboard cookie";

/// Why a code does not let anyone in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeRefusal {
    Used,
    Unknown,
}

#[derive(Debug)]
struct Code {
    /// The code itself is not kept.
    hash: blake3::Hash,
    made: Instant,
    is_used: bool,
}

/// The codes and cookies of a server.
#[derive(Clone)]
pub(crate) struct PageSessions {
    key: Option<[u8; blake3::KEY_LEN]>,
    codes: Arc<Mutex<Vec<Code>>>,
}

impl PageSessions {
    /// Without a token no one gets in.
    pub(crate) fn new(token: Option<&ServerToken>) -> PageSessions {
        let key = token.map(|token| blake3::derive_key(CONTEXT, token.reveal().as_bytes()));
        PageSessions { key, codes: Arc::default() }
    }

    /// A new code for one use; none if the system has no random numbers, or the server no token.
    pub(crate) fn new_code(&self, now: Instant) -> Option<String> {
        self.key?;
        let code = random_hex()?;
        let mut codes = self.codes.lock();
        codes.retain(|code| now.duration_since(code.made) < CODE_LIFETIME);
        if codes.len() == MOST_CODES {
            codes.remove(0);
        }
        codes.push(Code { hash: blake3::hash(code.as_bytes()), made: now, is_used: false });
        Some(code)
    }

    /// Uses up a code; the answer is the value of a cookie.
    pub(crate) fn enter(
        &self,
        code: &str,
        now: Instant,
        today: SystemTime,
    ) -> Result<Option<String>, CodeRefusal> {
        let hash = blake3::hash(code.as_bytes());
        let mut codes = self.codes.lock();
        // Comparing two hashes takes the same time whatever they are.
        let known = codes
            .iter_mut()
            .find(|code| code.hash == hash && now.duration_since(code.made) < CODE_LIFETIME)
            .ok_or(CodeRefusal::Unknown)?;
        if known.is_used {
            return Err(CodeRefusal::Used);
        }
        known.is_used = true;
        Ok(self.new_cookie(today))
    }

    fn new_cookie(&self, today: SystemTime) -> Option<String> {
        let until = seconds(today + COOKIE_LIFETIME);
        let signed = format!("{until}.{}", random_hex()?);
        let mac = self.mac(&signed)?.to_hex();
        Some(format!("{signed}.{mac}"))
    }

    fn mac(&self, signed: &str) -> Option<blake3::Hash> {
        Some(blake3::keyed_hash(self.key.as_ref()?, signed.as_bytes()))
    }

    fn is_valid(&self, cookie: &str, today: SystemTime) -> bool {
        let valid = || {
            let (signed, mac) = cookie.rsplit_once('.')?;
            let mac = blake3::Hash::from_hex(mac).ok()?;
            let until: u64 = signed.split_once('.')?.0.parse().ok()?;
            // The comparison of two hashes takes constant time.
            Some(self.mac(signed)? == mac && seconds(today) < until)
        };
        valid().unwrap_or(false)
    }

    /// Whether the page of this server sent the request, from a browser that is signed in. `port` is that of the request's host.
    ///
    /// Cookies are not separated by port, and pages of other ports of this machine are of the same site. So a request must also
    /// say that it comes from this origin. Browsers that do not say it about reading requests cannot read the answers either.
    pub(crate) fn admits(
        &self,
        method: &Method,
        headers: &HeaderMap,
        port: Option<u16>,
        today: SystemTime,
    ) -> bool {
        let of_this_origin = match headers.get("sec-fetch-site").map(|site| site.as_bytes()) {
            Some(site) => site == b"same-origin" || site == b"none",
            None => true,
        };
        // The guard has compared the Origin with the host.
        let is_reading =
            [Method::GET, Method::HEAD].contains(method) && !headers.contains_key(header::UPGRADE);
        let has_origin = headers.contains_key(header::ORIGIN);
        let name = cookie_name(port);
        let mut cookies = headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|cookies| cookies.to_str().ok())
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .filter(|(found, _)| *found == name)
            .map(|(_, value)| value);
        of_this_origin && (is_reading || has_origin) && cookies.any(|cookie| self.is_valid(cookie, today))
    }
}

/// With the port, since two servers of one machine share their cookies.
fn cookie_name(port: Option<u16>) -> String {
    format!("tamis_page_{}", port.unwrap_or(80))
}

/// The header that sets the cookie.
pub(crate) fn set_cookie(port: Option<u16>, value: &str) -> String {
    let age = COOKIE_LIFETIME.as_secs();
    format!("{}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict", cookie_name(port))
}

/// The header that removes it.
pub(crate) fn clear_cookie(port: Option<u16>) -> String {
    format!("{}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", cookie_name(port))
}

fn random_hex() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn sessions(token: &str) -> PageSessions {
        PageSessions::new(Some(&ServerToken::chosen(token).unwrap()))
    }

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&str, &str)| {
            (name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn a_code_lets_in_once_and_not_for_long() {
        let (sessions, now, today) = (sessions(TOKEN), Instant::now(), SystemTime::now());
        let code = sessions.new_code(now).unwrap();
        assert_eq!(sessions.enter("guess", now, today), Err(CodeRefusal::Unknown));
        assert_eq!(sessions.enter("", now, today), Err(CodeRefusal::Unknown));
        assert!(sessions.enter(&code, now, today).unwrap().is_some());
        assert_eq!(sessions.enter(&code, now, today), Err(CodeRefusal::Used));
        let late = sessions.new_code(now).unwrap();
        assert_eq!(sessions.enter(&late, now + CODE_LIFETIME, today), Err(CodeRefusal::Unknown));
        assert_eq!(PageSessions::new(None).new_code(now), None);
    }

    #[test]
    fn old_codes_make_room_for_new_ones() {
        let (sessions, now, today) = (sessions(TOKEN), Instant::now(), SystemTime::now());
        let codes: Vec<String> = (0..=MOST_CODES).map(|_| sessions.new_code(now).unwrap()).collect();
        assert_eq!(sessions.enter(&codes[0], now, today), Err(CodeRefusal::Unknown));
        assert!(sessions.enter(&codes[MOST_CODES], now, today).is_ok());
    }

    #[test]
    fn a_cookie_holds_for_its_server_time_and_port_only() {
        let (ours, now, today) = (sessions(TOKEN), Instant::now(), SystemTime::now());
        let cookie = ours.enter(&ours.new_code(now).unwrap(), now, today).unwrap().unwrap();
        let sent = |value: &str| headers(&[("cookie", &format!("a=b; tamis_page_3001={value}; c"))]);
        let admits = |sessions: &PageSessions, value: &str, port, day| {
            sessions.admits(&Method::GET, &sent(value), Some(port), day)
        };
        assert!(admits(&ours, &cookie, 3001, today));
        // After a restart with the same token.
        assert!(admits(&sessions(TOKEN), &cookie, 3001, today));
        assert!(!admits(&sessions("fedcba9876543210"), &cookie, 3001, today));
        assert!(!admits(&PageSessions::new(None), &cookie, 3001, today));
        assert!(!admits(&ours, &cookie, 3002, today));
        assert!(!admits(&ours, &cookie, 3001, today + COOKIE_LIFETIME));
        let longer = cookie.replacen(char::is_numeric, "9", 1);
        for forged in ["", ".", "..", "x.y.z", longer.as_str(), &cookie[1..], &cookie[..cookie.len() - 1]] {
            assert!(!admits(&ours, forged, 3001, today), "{forged}");
        }
    }

    #[test]
    fn the_cookie_counts_only_for_requests_of_our_own_page() {
        let (ours, now, today) = (sessions(TOKEN), Instant::now(), SystemTime::now());
        let value = ours.enter(&ours.new_code(now).unwrap(), now, today).unwrap().unwrap();
        let cookie = format!("tamis_page_3001={value}");
        let admits = |method: Method, more: &[(&str, &str)]| {
            let all = [&[("cookie", cookie.as_str())], more].concat();
            ours.admits(&method, &headers(&all), Some(3001), today)
        };
        let origin = ("origin", "http://127.0.0.1:3001");
        assert!(admits(Method::GET, &[]));
        assert!(admits(Method::GET, &[("sec-fetch-site", "same-origin")]));
        assert!(admits(Method::GET, &[("sec-fetch-site", "none")]));
        assert!(!admits(Method::GET, &[("sec-fetch-site", "same-site")]));
        assert!(!admits(Method::GET, &[("sec-fetch-site", "cross-site")]));
        assert!(admits(Method::POST, &[origin]));
        assert!(!admits(Method::POST, &[]));
        assert!(!admits(Method::POST, &[origin, ("sec-fetch-site", "same-site")]));
        assert!(!admits(Method::GET, &[("upgrade", "websocket")]));
        assert!(admits(Method::GET, &[("upgrade", "websocket"), origin]));
    }
}
