//! The token that opens everything which is not open to all.
//!
//! It lies in a file of its own that only the user can read. Whoever can read it is the user.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Shorter ones can be guessed.
const SHORTEST: usize = 16;

/// A secret shared between this machine's user and the server.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("a token has {SHORTEST} to 1024 visible ASCII characters")]
    Malformed,
    #[error("{path} holds no token")]
    MalformedFile { path: PathBuf },
    #[error("cannot read or write the token in {path}")]
    Io { path: PathBuf, source: io::Error },
}

impl Token {
    /// A token that the user chose.
    pub fn chosen(text: &str) -> Result<Token, TokenError> {
        let text = text.trim();
        let sound =
            (SHORTEST..=1024).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if sound { Ok(Token(text.to_owned())) } else { Err(TokenError::Malformed) }
    }

    /// The token in this file, if there is one.
    pub fn load(path: &Path) -> Result<Option<Token>, TokenError> {
        match fs::read_to_string(path) {
            Ok(text) => match Token::chosen(&text) {
                Ok(token) => Ok(Some(token)),
                Err(_) => Err(TokenError::MalformedFile { path: path.to_owned() }),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(TokenError::Io { path: path.to_owned(), source }),
        }
    }

    /// The token in this file, which is made if need be. Of several processes that try at once, one wins and all
    /// get its token: the file appears whole, by a link that fails when the name is taken.
    pub fn load_or_create(path: &Path) -> Result<Token, TokenError> {
        if let Some(token) = Token::load(path)? {
            return Ok(token);
        }
        let failed = |source| TokenError::Io { path: path.to_owned(), source };
        let token = Token::random().map_err(failed)?;
        // Part of the token itself, so that no two processes share a name, in whatever container they are.
        let draft = path.with_extension(format!("{}.new", &Token::random().map_err(failed)?.0[..16]));
        let linked = write_privately(&draft, &token.0).and_then(|()| fs::hard_link(&draft, path));
        // Best effort: what is left is a token that nobody uses.
        let _ = fs::remove_file(&draft);
        match linked {
            Ok(()) => Ok(token),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Token::load(path)?.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
            }
            Err(error) => Err(failed(error)),
        }
    }

    fn random() -> io::Result<Token> {
        let mut bytes = [0u8; 24];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// In a time that does not tell how much of it was right.
    pub fn matches(&self, shown: &[u8]) -> bool {
        let difference = self
            .0
            .bytes()
            .zip(shown)
            .fold(self.0.len() ^ shown.len(), |sum, (a, b)| sum | usize::from(a ^ b));
        difference == 0
    }

    /// In clear, for the user's own eyes.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Token(…)")
    }
}

fn write_privately(path: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
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
        assert_eq!(Token::load(&path).unwrap(), None);
        let made = Token::load_or_create(&path).unwrap();
        assert_eq!(Token::load_or_create(&path).unwrap(), made);
        assert_eq!(made.reveal().len(), 48);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn only_the_whole_token_matches() {
        let token = Token::chosen("0123456789abcdef\n").unwrap();
        assert!(token.matches(b"0123456789abcdef"));
        for wrong in ["", "0123456789abcde", "0123456789abcdeF", "0123456789abcdef0"] {
            assert!(!token.matches(wrong.as_bytes()), "{wrong}");
        }
        assert!(Token::chosen("short").is_err());
        assert!(Token::chosen("with a space in it, and long").is_err());
        assert!(!format!("{token:?}").contains("0123"));
    }
}
