//! What a peer wants to see before it answers.

use std::fmt;

use http::HeaderValue;

/// A key or token that goes along as `Authorization: Bearer …`. Never shown.
#[derive(Clone)]
pub struct BearerSecret(HeaderValue);

impl BearerSecret {
    /// None when it is empty or cannot stand in a header.
    pub fn new(secret: &str) -> Option<BearerSecret> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", secret.trim())).ok()?;
        value.set_sensitive(true);
        (!secret.trim().is_empty()).then_some(BearerSecret(value))
    }

    pub(crate) fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl fmt::Debug for BearerSecret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("BearerSecret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_shown() {
        let secret = BearerSecret::new(" a-key-that-is-secret ").unwrap();
        assert_eq!(format!("{secret:?}"), "BearerSecret(…)");
        assert!(!format!("{:?}", secret.header()).contains("secret"));
        assert!(BearerSecret::new(" ").is_none() && BearerSecret::new("a\nb").is_none());
    }
}
