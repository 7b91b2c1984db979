//! Where a peer is: an absolute `http` or `https` address.

use http::Uri;
use http::uri::{Authority, PathAndQuery};

/// An address that can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub(crate) secure: bool,
    authority: Authority,
    path_and_query: PathAndQuery,
}

/// An address that cannot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("it is not an address: {0}")]
    Malformed(String),
    #[error("it does not begin with http:// or https://")]
    Scheme,
    #[error("it has a user name or password in it")]
    Credentials,
}

impl std::str::FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        let parts =
            text.parse::<Uri>().map_err(|error| AddressError::Malformed(error.to_string()))?.into_parts();
        let secure = match parts.scheme.as_ref().map(|scheme| scheme.as_str()) {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(AddressError::Scheme),
        };
        let authority = parts.authority.ok_or(AddressError::Scheme)?;
        if authority.as_str().contains('@') {
            return Err(AddressError::Credentials);
        }
        if authority.host().is_empty() {
            return Err(AddressError::Malformed("it names no host".to_owned()));
        }
        if authority.port_u16().is_none() && authority.as_str().trim_end_matches(':') != authority.host() {
            return Err(AddressError::Malformed("its port is none".to_owned()));
        }
        let path_and_query = parts.path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
        Ok(Address { secure, authority, path_and_query })
    }
}

impl Address {
    /// What lies below this one: `http://host/v1` and `models` make `http://host/v1/models`. A query stays.
    pub fn below(&self, path: &str) -> Result<Address, AddressError> {
        let (folder, query) = match self.path_and_query.as_str().split_once('?') {
            Some((folder, query)) => (folder, format!("?{query}")),
            None => (self.path_and_query.as_str(), String::new()),
        };
        let text = format!("{}/{path}{query}", folder.trim_end_matches('/'));
        let path_and_query =
            text.parse::<PathAndQuery>().map_err(|error| AddressError::Malformed(error.to_string()))?;
        Ok(Address { path_and_query, ..self.clone() })
    }

    /// Whether what is said on the way there can be read by nobody else: encrypted, or within this machine.
    pub fn is_private(&self) -> bool {
        let loopback = self.host().parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        self.secure || loopback || self.host().eq_ignore_ascii_case("localhost")
    }

    pub(crate) fn host_header(&self) -> &str {
        self.authority.as_str()
    }

    pub(crate) fn path_and_query(&self) -> &str {
        self.path_and_query.as_str()
    }

    /// Without the brackets of an IPv6 address.
    pub fn host(&self) -> &str {
        self.authority.host().trim_start_matches('[').trim_end_matches(']')
    }

    pub(crate) fn port(&self) -> u16 {
        self.authority.port_u16().unwrap_or(if self.secure { 443 } else { 80 })
    }
}

impl std::fmt::Display for Address {
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
            let url: Address = text.parse().unwrap();
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
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_lies_below_an_address() {
        for (text, below) in [
            ("http://h:1/v1", "http://h:1/v1/models"),
            ("http://h/v1/", "http://h/v1/models"),
            ("http://h", "http://h/models"),
            ("https://h/a?b=c", "https://h/a/models?b=c"),
        ] {
            assert_eq!(text.parse::<Address>().unwrap().below("models").unwrap().to_string(), below);
        }
        assert!("http://h".parse::<Address>().unwrap().below("a b").is_err());
    }

    #[test]
    fn others_can_read_what_leaves_the_machine_in_the_clear() {
        for (text, private) in [
            ("https://h", true),
            ("http://127.0.0.1:80", true),
            ("http://[::1]", true),
            ("http://localhost", true),
            ("http://localhost.example", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(text.parse::<Address>().unwrap().is_private(), private, "{text}");
        }
    }
}
