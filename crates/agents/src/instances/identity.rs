//! Who calls: a random token for each instance, in a file that only its owner reads. The database has its hash alone.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::launch::preparation::write_private;
use crate::{AgentsError, Code, InstanceId};

/// What shows that a bearer token is an instance's and not the server's.
pub const PREFIX: &str = "tai_";

/// An instance's proof of who it is.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub instance: InstanceId,
    token: String,
}

impl Identity {
    pub(crate) fn random(instance: &InstanceId) -> Result<Identity, AgentsError> {
        let token = random_hex::<24>()?;
        Ok(Identity { instance: instance.clone(), token: format!("{PREFIX}{token}") })
    }

    /// The identity in this file.
    pub fn load(path: &Path) -> Result<Identity, AgentsError> {
        let refused = |why: String| {
            AgentsError::new(
                Code::IdentityRequired,
                format!("`{}` does not contain an identity: {why}", path.display()),
            )
            .suggest("`tamis agents start` starts an agent that has one")
        };
        let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        serde_json::from_str(&text).map_err(|_| refused("it is malformed".to_owned()))
    }

    /// Writes the file, for its owner alone. One of the same instance, of an attempt that failed, is replaced.
    pub(crate) fn write(&self, path: &Path) -> Result<(), AgentsError> {
        let text = serde_json::to_string(self).expect("texts are JSON");
        write_private(path, text.as_bytes())
    }

    /// In clear, for the header of a request.
    pub fn reveal(&self) -> &str {
        &self.token
    }

    /// What the database knows of it.
    pub(crate) fn hash(&self) -> String {
        hash_of(&self.token)
    }
}

/// Random bytes, in hexadecimal.
pub(crate) fn random_hex<const BYTES: usize>() -> Result<String, AgentsError> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| AgentsError::new(Code::InternalError, format!("no random bytes: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What the database knows of a token.
pub(crate) fn hash_of(token: &str) -> String {
    blake3::hash(token.as_bytes()).to_hex().to_string()
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Identity({}, …)", self.instance)
    }
}
