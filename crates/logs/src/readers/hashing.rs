//! Names of requests, which must be the same in every run and release, since the index keeps them.

use sha2::{Digest, Sha256};

use crate::usage::{Claim, ExclusionReason, Tokens};

pub(super) const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, which is the same on every machine and in every version.
pub(super) fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

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
