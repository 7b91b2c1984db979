//! Access control: Host, Origin, token and identity, judged from the headers before any part of a body is read.
//!
//! Any web page can make a browser send requests to 127.0.0.1, and with DNS rebinding it can even read the answers. Such
//! requests have the page's Origin, or a Host that is not ours. Programs send neither.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::uri::Authority;
use serde_json::json;
use tamis_agents::{AgentsError, Code};
use tamis_coordinator::identity_required;
use tamis_dashboard::page_file;
use tamis_tools::{Access, Credentials, IDENTITY_PREFIX};

use crate::api::{self, ApiError};
use crate::connections::Connection;
use crate::page::{ENTER, LINK};
use crate::page_session::PageSessions;
use crate::per_minute::PerMinute;
use crate::{Served, ServerToken, body};

/// Who can reach a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// Programs on this machine: open toolsets need no token.
    Loopback,
    /// Other machines: everything needs the token.
    Network,
}

/// The host names that requests may use.
#[derive(Clone, Debug, Default)]
pub struct HostPolicy {
    /// In addition to localhost and, from the network, any IP address.
    pub allowed_names: Vec<String>,
}

/// The access rules of one listener.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) exposure: Exposure,
    pub(crate) hosts: Arc<HostPolicy>,
    pub(crate) token: Option<ServerToken>,
    pub(crate) page_sessions: PageSessions,
}

/// An admitted request's rights.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Admitted {
    pub(crate) access: Access,
    /// The identity of an instance that exists. The coordinator decides what that instance may do.
    pub(crate) identity: Option<String>,
}

impl Admitted {
    pub(crate) fn credentials(&self) -> Credentials {
        Credentials { access: self.access, has_identity: self.identity.is_some() }
    }

    /// Whether the caller has shown the token or an identity.
    pub(crate) fn is_trusted(&self) -> bool {
        self.access == Access::Full || self.identity.is_some()
    }
}

/// Without the identity, which is a secret.
impl std::fmt::Debug for Admitted {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:?}", self.credentials())
    }
}

/// Refuses requests that are not allowed, and passes the rights of the others to the routes.
pub(crate) async fn check(
    State((guard, served)): State<(Guard, Served)>,
    request: Request,
    next: Next,
) -> Response {
    let (mut head, body) = request.into_parts();
    let judged = match guard.judge(&head) {
        Ok(admitted) => check_identity(admitted, &served).await,
        Err(refusal) => Err(refusal.into_response()),
    };
    if !judged.as_ref().is_ok_and(|admitted| admitted.identity.is_some()) {
        api::record_stranger(&served, head.uri.path());
    }
    let has_place = |admitted: &Admitted| {
        let connection = head.extensions.get::<Connection>();
        connection.is_none_or(|connection| connection.admit(admitted.is_trusted()))
    };
    match judged {
        Ok(admitted) if !has_place(&admitted) => {
            refuse(Request::from_parts(head, body), Refusal::Overloaded.into_response())
        }
        Ok(admitted) => {
            head.extensions.insert(admitted);
            next.run(Request::from_parts(head, body)).await
        }
        Err(refusal) => refuse(Request::from_parts(head, body), refusal),
    }
}

/// Refuses an identity that no instance has.
async fn check_identity(admitted: Admitted, served: &Served) -> Result<Admitted, Response> {
    let Some(identity) = admitted.identity.clone() else { return Ok(admitted) };
    let owner = match api::agents(served) {
        Ok(agents) => agents.owner_of(identity).await,
        Err(error) => Err(error),
    };
    let unknown = || {
        AgentsError::new(Code::IdentityRequired, "the caller is not a known instance")
            .suggest("these tools are for agents started by `tamis agents start`")
    };
    match owner.and_then(|owner| owner.ok_or_else(unknown)) {
        Ok(_) => Ok(admitted),
        Err(error) => Err(ApiError::from(error).into_response()),
    }
}

/// Allows only requests with the token.
pub(crate) async fn only_with_token(request: Request, next: Next) -> Response {
    let admitted = request.extensions().get::<Admitted>();
    if admitted.is_some_and(|admitted| admitted.access == Access::Full) {
        return next.run(request).await;
    }
    refuse(request, Refusal::NoToken.into_response())
}

/// Allows only requests with the token or an identity.
pub(crate) async fn only_with_token_or_identity(request: Request, next: Next) -> Response {
    if request.extensions().get().is_some_and(Admitted::is_trusted) {
        return next.run(request).await;
    }
    refuse(request, Refusal::NoToken.into_response())
}

/// Allows only requests with an identity.
pub(crate) async fn only_with_identity(request: Request, next: Next) -> Response {
    let admitted = request.extensions().get::<Admitted>();
    if admitted.is_some_and(|admitted| admitted.identity.is_some()) {
        return next.run(request).await;
    }
    refuse(request, ApiError::from(identity_required()).into_response())
}

/// Refused requests that are logged in a minute: a flood must not fill the log.
static LOGGED: PerMinute = PerMinute::new(30);

fn refuse(request: Request, refusal: Response) -> Response {
    if let Some(missed) = LOGGED.pass(Instant::now()) {
        let (path, status) = (request.uri().path(), refusal.status());
        tracing::warn!(path, %status, "refused a request");
        if missed > 0 {
            tracing::warn!(missed, "refused more requests than were logged");
        }
    }
    body::answer_unread(request, refusal)
}

/// Whether a route accepts an identity where everything else needs the token.
fn accepts_identity(path: &str) -> bool {
    ["/mcp", "/rpc", "/api/instances"].contains(&path)
        || ["/api/call/", "/api/instances/"].iter().any(|start| path.starts_with(start))
}

/// Whether a route accepts the page's cookie: what the page needs, and no tools.
fn accepts_cookie(path: &str) -> bool {
    path == "/ws" || (path.starts_with("/api/") && !path.starts_with("/api/call/") && path != LINK)
}

/// The files of the page, which are the same for everyone, and where a browser signs in.
fn is_without_data(path: &str) -> bool {
    path == ENTER || page_file(path).is_some()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    ForeignHost,
    ForeignOrigin,
    WrongToken,
    NoToken,
    Overloaded,
}

impl Guard {
    fn judge(&self, head: &Parts) -> Result<Admitted, Refusal> {
        let path = head.uri.path();
        let admitted = self.admit(&head.method, path, &head.headers, head.uri.authority())?;
        let is_elsewhere =
            admitted.access == Access::None && !accepts_identity(path) && !is_without_data(path);
        if is_elsewhere { Err(Refusal::NoToken) } else { Ok(admitted) }
    }

    fn admit(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
        target: Option<&Authority>,
    ) -> Result<Admitted, Refusal> {
        let host = match only(headers, &header::HOST).map_err(|_| Refusal::ForeignHost)? {
            Some(value) => value.to_str().ok().and_then(|text| text.parse::<Authority>().ok()),
            None => target.cloned(),
        };
        let ours =
            |authority: &Authority| !authority.as_str().contains('@') && self.is_ours(authority.host());
        let host = host.filter(ours).ok_or(Refusal::ForeignHost)?;
        if !target.is_none_or(ours) {
            return Err(Refusal::ForeignHost);
        }
        if let Some(origin) = only(headers, &header::ORIGIN).map_err(|_| Refusal::ForeignOrigin)? {
            let same = origin.to_str().is_ok_and(|origin| same_origin(origin, &host));
            if !same {
                return Err(Refusal::ForeignOrigin);
            }
        }
        let authorization = only(headers, &header::AUTHORIZATION).map_err(|_| Refusal::WrongToken)?;
        let open = match self.exposure {
            Exposure::Loopback => Access::Open,
            Exposure::Network => Access::None,
        };
        if let Some(identity) = authorization.and_then(identity) {
            return Ok(Admitted { access: open, identity: Some(identity) });
        }
        let access = match (authorization.map(bearer), &self.token) {
            (Some(Some(sent)), Some(token)) if token.matches(sent) => Access::Full,
            (Some(_), Some(_)) => return Err(Refusal::WrongToken),
            (None, Some(_))
                if accepts_cookie(path)
                    && self.page_sessions.admits(method, headers, host.port_u16(), SystemTime::now()) =>
            {
                Access::Full
            }
            // Where the server has no token, sending one is not an error.
            (_, _) if open == Access::Open => open,
            (_, _) if is_without_data(path) => Access::None,
            (_, _) => return Err(Refusal::NoToken),
        };
        Ok(Admitted { access, identity: None })
    }

    fn is_ours(&self, host: &str) -> bool {
        is_loopback(host)
            || self.hosts.allowed_names.iter().any(|name| name.eq_ignore_ascii_case(host))
            // An IP address needs no DNS lookup, so it cannot have been rebound.
            || (self.exposure == Exposure::Network && address(host).is_some())
    }
}

/// The token in a `Bearer` header.
fn bearer(authorization: &HeaderValue) -> Option<&[u8]> {
    let (scheme, token) = authorization.as_bytes().split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
}

/// The identity in the header, if it is one and not the server's token.
fn identity(authorization: &HeaderValue) -> Option<String> {
    let token = std::str::from_utf8(bearer(authorization)?).ok()?;
    token.starts_with(IDENTITY_PREFIX).then(|| token.to_owned())
}

/// The only header of that name. With several, another program might use a different one than we do.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a HeaderValue>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(()),
        (first, None) => Ok(first),
    }
}

fn address(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || address(host).is_some_and(|address| address.is_loopback())
}

/// Whether `origin` is this server, as addressed by `host`.
fn same_origin(origin: &str, host: &Authority) -> bool {
    let Some(authority) = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) else {
        return false;
    };
    let Ok(authority) = authority.parse::<Authority>() else {
        return false;
    };
    let same_host = authority.host().eq_ignore_ascii_case(host.host())
        || (is_loopback(authority.host()) && is_loopback(host.host()));
    same_host && authority.port_u16() == host.port_u16()
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, error, hint) = match self {
            Refusal::ForeignHost => (
                StatusCode::FORBIDDEN,
                "foreign_host",
                "use 127.0.0.1 or localhost, or name the host in TAMIS_HTTP_ALLOWED_HOSTS",
            ),
            Refusal::ForeignOrigin => {
                (StatusCode::FORBIDDEN, "foreign_origin", "web pages of other origins are not served")
            }
            Refusal::WrongToken => {
                (StatusCode::UNAUTHORIZED, "wrong_token", "`tamis token` prints the correct token")
            }
            Refusal::NoToken => (
                StatusCode::UNAUTHORIZED,
                "token_needed",
                "send `Authorization: Bearer <token>`; `tamis token` prints it",
            ),
            Refusal::Overloaded => (
                StatusCode::SERVICE_UNAVAILABLE,
                "overloaded",
                "try again later; callers with the token have a separate limit",
            ),
        };
        let mut response =
            (status, axum::Json(json!({"error": {"code": error, "message": error, "hint": hint}})))
                .into_response();
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn admit(exposure: Exposure, headers: &[(&str, &str)]) -> Result<Access, Refusal> {
        let guard = Guard {
            exposure,
            hosts: Arc::new(HostPolicy { allowed_names: vec!["box.example".into()] }),
            token: Some(ServerToken::chosen(TOKEN).unwrap()),
            page_sessions: PageSessions::new(None),
        };
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap()))
            .collect();
        guard.admit(&Method::GET, "/mcp", &headers, None).map(|admitted| admitted.access)
    }

    #[test]
    fn hosts_that_are_not_ours_are_refused() {
        for host in
            ["127.0.0.1:3001", "localhost", "LOCALHOST:80", "[::1]:3001", "127.9.9.9", "box.example:1"]
        {
            assert_eq!(admit(Exposure::Loopback, &[("host", host)]), Ok(Access::Open), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example:3001",
            "127.0.0.1.evil.example",
            "192.168.1.4",
            "",
            "a b",
            "0.0.0.0:3001",
            "evil.example@localhost",
            ":80",
        ] {
            assert_eq!(admit(Exposure::Loopback, &[("host", host)]), Err(Refusal::ForeignHost), "{host}");
        }
        assert_eq!(admit(Exposure::Loopback, &[]), Err(Refusal::ForeignHost));
        let twice = [("host", "localhost"), ("host", "evil.example")];
        assert_eq!(admit(Exposure::Loopback, &twice), Err(Refusal::ForeignHost));
        let bearer = format!("Bearer {TOKEN}");
        for (host, answer) in
            [("192.168.1.4:3001", Ok(Access::Full)), ("evil.example", Err(Refusal::ForeignHost))]
        {
            assert_eq!(
                admit(Exposure::Network, &[("host", host), ("authorization", &bearer)]),
                answer,
                "{host}"
            );
        }
    }

    #[test]
    fn only_pages_of_our_own_origin_are_admitted() {
        let with = |origin| admit(Exposure::Loopback, &[("host", "127.0.0.1:3001"), ("origin", origin)]);
        for origin in ["http://127.0.0.1:3001", "http://localhost:3001", "https://localhost:3001"] {
            assert_eq!(with(origin), Ok(Access::Open), "{origin}");
        }
        for origin in [
            "null",
            "",
            "http://evil.example",
            "http://127.0.0.1:5173",
            "http://localhost",
            "http://localhost:3001.evil.example",
            "file://",
            "ws://127.0.0.1:3001",
        ] {
            assert_eq!(with(origin), Err(Refusal::ForeignOrigin), "{origin}");
        }
    }

    #[test]
    fn the_token_opens_everything_and_a_wrong_one_nothing() {
        let with =
            |exposure, value: &str| admit(exposure, &[("host", "localhost"), ("authorization", value)]);
        for exposure in [Exposure::Loopback, Exposure::Network] {
            assert_eq!(with(exposure, &format!("Bearer {TOKEN}")), Ok(Access::Full));
            assert_eq!(with(exposure, &format!("bearer {TOKEN}")), Ok(Access::Full));
            for wrong in ["", "Bearer", "Bearer ", "Bearer wrong", "Basic dTpw", TOKEN] {
                assert_eq!(with(exposure, wrong), Err(Refusal::WrongToken), "{wrong}");
            }
        }
        assert_eq!(admit(Exposure::Network, &[("host", "localhost")]), Err(Refusal::NoToken));
    }
}
