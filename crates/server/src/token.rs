//! The token for everything that is not open to all programs of this machine.
//!
//! It is stored in a file that only the user can read; being able to read it proves to be the user.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Shorter tokens can be guessed.
const MIN_LENGTH: usize = 16;

/// A secret shared between this machine's user and the server.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerToken(String);

/// Why a token cannot be used or stored.
#[derive(Debug, thiserror::Error)]
pub enum ServerTokenError {
    #[error("a token has {MIN_LENGTH} to 1024 visible ASCII characters")]
    Malformed,
    #[error("`{path}` does not contain a valid token")]
    MalformedFile { path: PathBuf },
    #[error("cannot read or write the token in `{path}`")]
    Io { path: PathBuf, source: io::Error },
}

impl ServerToken {
    /// A token that the user chose.
    pub fn chosen(text: &str) -> Result<ServerToken, ServerTokenError> {
        let text = text.trim();
        let sound =
            (MIN_LENGTH..=1024).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if sound { Ok(ServerToken(text.to_owned())) } else { Err(ServerTokenError::Malformed) }
    }

    /// The token in this file, if there is one.
    pub fn load(path: &Path) -> Result<Option<ServerToken>, ServerTokenError> {
        match fs::read_to_string(path) {
            Ok(text) => match ServerToken::chosen(&text) {
                Ok(token) => Ok(Some(token)),
                Err(_) => Err(ServerTokenError::MalformedFile { path: path.to_owned() }),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(ServerTokenError::Io { path: path.to_owned(), source }),
        }
    }

    /// The token in this file, which is created if missing. When several processes try at once, all get the token of one: the
    /// file appears complete, by a hard link that fails when the name is taken.
    pub fn load_or_create(path: &Path) -> Result<ServerToken, ServerTokenError> {
        if let Some(token) = ServerToken::load(path)? {
            return Ok(token);
        }
        let failed = |source| ServerTokenError::Io { path: path.to_owned(), source };
        let token = ServerToken::random().map_err(failed)?;
        // Random, because processes in different containers can have the same id.
        let draft = path.with_extension(format!("{}.new", &ServerToken::random().map_err(failed)?.0[..16]));
        let linked = write_privately(&draft, &token.0).and_then(|()| fs::hard_link(&draft, path));
        // If this fails, an unused token is left.
        let _ = fs::remove_file(&draft);
        match linked {
            Ok(()) => Ok(token),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                ServerToken::load(path)?.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
            }
            Err(error) => Err(failed(error)),
        }
    }

    fn random() -> io::Result<ServerToken> {
        let mut bytes = [0u8; 24];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(ServerToken(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Compares in constant time.
    pub fn matches(&self, sent: &[u8]) -> bool {
        let difference =
            self.0.bytes().zip(sent).fold(self.0.len() ^ sent.len(), |sum, (a, b)| sum | usize::from(a ^ b));
        difference == 0
    }

    /// In clear text, for the user.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for ServerToken {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("ServerToken(…)")
    }
}

fn write_privately(path: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        assert_eq!(ServerToken::load(&path).unwrap(), None);
        let made = ServerToken::load_or_create(&path).unwrap();
        assert_eq!(ServerToken::load_or_create(&path).unwrap(), made);
        assert_eq!(made.reveal().len(), 48);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn only_the_whole_token_matches() {
        let token = ServerToken::chosen("0123456789abcdef\n").unwrap();
        assert!(token.matches(b"0123456789abcdef"));
        for wrong in ["", "0123456789abcde", "0123456789abcdeF", "0123456789abcdef0"] {
            assert!(!token.matches(wrong.as_bytes()), "{wrong}");
        }
        assert!(ServerToken::chosen("short").is_err());
        assert!(ServerToken::chosen("with a space in it, and long").is_err());
        assert!(!format!("{token:?}").contains("0123"));
    }
}
