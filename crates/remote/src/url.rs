//! Where a pruner is: an absolute `http` or `https` address.

use http::Uri;
use http::uri::{Authority, PathAndQuery};

/// An address that can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrunerUrl {
    pub(crate) secure: bool,
    authority: Authority,
    path_and_query: PathAndQuery,
}

/// An address that cannot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    #[error("it is not an address: {0}")]
    Malformed(String),
    #[error("it does not begin with http:// or https://")]
    Scheme,
    #[error("it has a user name or password in it")]
    Credentials,
}

impl std::str::FromStr for PrunerUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<PrunerUrl, UrlError> {
        let parts = text.parse::<Uri>().map_err(|error| UrlError::Malformed(error.to_string()))?.into_parts();
        let secure = match parts.scheme.as_ref().map(|scheme| scheme.as_str()) {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(UrlError::Scheme),
        };
        let authority = parts.authority.ok_or(UrlError::Scheme)?;
        if authority.as_str().contains('@') {
            return Err(UrlError::Credentials);
        }
        if authority.host().is_empty() {
            return Err(UrlError::Malformed("it names no host".to_owned()));
        }
        if authority.port_u16().is_none() && authority.as_str().trim_end_matches(':') != authority.host() {
            return Err(UrlError::Malformed("its port is none".to_owned()));
        }
        let path_and_query = parts.path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
        Ok(PrunerUrl { secure, authority, path_and_query })
    }
}

impl PrunerUrl {
    pub(crate) fn host_header(&self) -> &str {
        self.authority.as_str()
    }

    pub(crate) fn path_and_query(&self) -> &str {
        self.path_and_query.as_str()
    }

    /// Without the brackets of an IPv6 address.
    pub(crate) fn host(&self) -> &str {
        self.authority.host().trim_start_matches('[').trim_end_matches(']')
    }

    pub(crate) fn port(&self) -> u16 {
        self.authority.port_u16().unwrap_or(if self.secure { 443 } else { 80 })
    }
}

impl std::fmt::Display for PrunerUrl {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        write!(out, "{scheme}://{}{}", self.authority, self.path_and_query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_http_addresses_will_do() {
        for (text, host, port, path) in [
            ("http://localhost:8000/prune", "localhost", 8000, "/prune"),
            ("https://pruner.example", "pruner.example", 443, "/"),
            ("http://[::1]/a?b=c", "::1", 80, "/a?b=c"),
            ("HTTP://127.0.0.1/", "127.0.0.1", 80, "/"),
        ] {
            let url: PrunerUrl = text.parse().unwrap();
            assert_eq!((url.host(), url.port(), url.path_and_query()), (host, port, path));
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
            assert!(text.parse::<PrunerUrl>().is_err(), "{text}");
        }
    }
}
