//! Names of requests, which must be the same in every run and release, since the index keeps them.

use sha2::{Digest, Sha256};

use crate::usage::{Claim, ExclusionReason, Tokens};

/// The claim of a report that may be repeated under the same name.
pub(super) fn claim_of(tokens: &Tokens, name: Option<&str>) -> Claim {
    match name {
        _ if tokens.is_zero() => Claim::Excluded(ExclusionReason::Empty),
        Some(name) => Claim::Request(first_bytes(name)),
        None => Claim::Once,
    }
}

fn first_bytes(name: &str) -> u64 {
    let digest = Sha256::digest(name.as_bytes());
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// SHA-256 in hexadecimal, which identifies projects: older logs of Gemini CLI have nothing else.
pub fn hex_sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
