//! Absolute `http` and `https` URLs.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use http::Uri;
use http::uri::PathAndQuery;

/// A URL that a request can be sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpUrl(Uri);

/// Why a text is not such a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpUrlError {
    #[error("not a URL: {0}")]
    Malformed(String),
    #[error("it does not begin with `http://` or `https://`")]
    Scheme,
    #[error("it contains a user name or password")]
    Credentials,
}

impl FromStr for HttpUrl {
    type Err = HttpUrlError;

    fn from_str(text: &str) -> Result<HttpUrl, HttpUrlError> {
        let url: Uri = text.parse().map_err(malformed)?;
        let authority = match (url.scheme_str(), url.authority()) {
            (Some("http" | "https"), Some(authority)) => authority,
            _ => return Err(HttpUrlError::Scheme),
        };
        if authority.as_str().contains('@') {
            return Err(HttpUrlError::Credentials);
        }
        if authority.host().is_empty() {
            return Err(malformed("no host"));
        }
        if authority.port_u16().is_none() && authority.as_str().trim_end_matches(':') != authority.host() {
            return Err(malformed("invalid port"));
        }
        Ok(HttpUrl(url))
    }
}

fn malformed(why: impl fmt::Display) -> HttpUrlError {
    HttpUrlError::Malformed(why.to_string())
}

impl HttpUrl {
    /// Appends to the path: `http://host/v1` and `models` make `http://host/v1/models`. A query stays.
    pub fn join(&self, path: &str) -> Result<HttpUrl, HttpUrlError> {
        let query = self.0.query().map_or(String::new(), |query| format!("?{query}"));
        let joined = format!("{}/{path}{query}", self.0.path().trim_end_matches('/'));
        let mut parts = self.0.clone().into_parts();
        parts.path_and_query = Some(joined.parse::<PathAndQuery>().map_err(malformed)?);
        Ok(HttpUrl(Uri::from_parts(parts).map_err(malformed)?))
    }

    /// Whether no other machine can read the request: it is encrypted or does not leave this one.
    pub fn is_private(&self) -> bool {
        self.0.scheme_str() == Some("https") || is_loopback(self.host())
    }

    /// Without the brackets of an IPv6 address.
    pub fn host(&self) -> &str {
        host_of(&self.0)
    }

    /// The host with the port, where one is given.
    pub(crate) fn authority(&self) -> &str {
        self.0.authority().map_or("", |authority| authority.as_str())
    }

    pub(crate) fn uri(&self) -> &Uri {
        &self.0
    }
}

pub(crate) fn host_of(url: &Uri) -> &str {
    url.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
}

pub(crate) fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

impl fmt::Display for HttpUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_http_urls_are_accepted() {
        for (text, host, port, path) in [
            ("http://localhost:8000/prune", "localhost", Some(8000), "/prune"),
            ("https://pruner.example", "pruner.example", None, "/"),
            ("http://[::1]/a?b=c", "::1", None, "/a?b=c"),
            ("HTTP://127.0.0.1/", "127.0.0.1", None, "/"),
        ] {
            let url: HttpUrl = text.parse().unwrap();
            let path_and_query = url.0.path_and_query().map_or("/", PathAndQuery::as_str);
            assert_eq!((url.host(), url.0.port_u16(), path_and_query), (host, port, path));
        }
        for text in [
            "localhost:8000/prune",
            "/prune",
            "ftp://host/",
            "http://",
            "http:///prune",
            "http://user:secret@host/",
            "http://host:99999/",
            "http://ho st/",
            "  ",
            "prune",
        ] {
            assert!(text.parse::<HttpUrl>().is_err(), "{text}");
        }
    }

    #[test]
    fn joining_appends_to_the_path() {
        for (text, joined) in [
            ("http://h:1/v1", "http://h:1/v1/models"),
            ("http://h/v1/", "http://h/v1/models"),
            ("http://h", "http://h/models"),
            ("https://h/a?b=c", "https://h/a/models?b=c"),
        ] {
            assert_eq!(text.parse::<HttpUrl>().unwrap().join("models").unwrap().to_string(), joined);
        }
        assert!("http://h".parse::<HttpUrl>().unwrap().join("a b").is_err());
    }

    #[test]
    fn plain_http_is_private_within_the_machine_only() {
        for (text, private) in [
            ("https://h", true),
            ("http://127.0.0.1:80", true),
            ("http://[::1]", true),
            ("http://localhost", true),
            ("http://localhost.example", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(text.parse::<HttpUrl>().unwrap().is_private(), private, "{text}");
        }
    }
}
