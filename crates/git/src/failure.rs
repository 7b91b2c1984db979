//! What a failed git wrote, as an error: its kind, its message, and what to do.
//!
//! Messages quote text of others (names of files and branches, answers of servers): they are cut, and lose control
//! characters and credentials.

use crate::error::{GitError, GitErrorKind};

/// Longer messages lose their beginning.
const LONGEST_MESSAGE: usize = 1500;

/// The lock file that another git holds, or left behind.
pub(super) fn lock_file(stderr: &str) -> Option<&str> {
    let (_, rest) = stderr.split_once("Unable to create '")?;
    let (path, rest) = rest.split_once("': ")?;
    (path.ends_with(".lock") && rest.starts_with("File exists")).then_some(path)
}

pub(super) fn of(call: &str, stderr: &str, code: Option<i32>) -> GitError {
    let message = readable(stderr);
    if let Some(lock) = lock_file(stderr) {
        let lock = readable(lock);
        return GitError::new(GitErrorKind::Locked, format!("{call} failed: another git process holds `{lock}`"))
            .hint(format!("`fuser -v '{lock}'` and `ps -C git -o pid,lstart,args` show the process that holds it"))
            .hint("try again when that process has ended; if none is running, a killed process left the file behind, and it can be moved away");
    }
    if ["No space left on device", "Disk quota exceeded", "File too large"]
        .iter()
        .any(|sign| message.contains(sign))
    {
        return GitError::new(GitErrorKind::File, format!("{call} cannot write: {message}"))
            .hint("free up disk space and try again; nothing was changed");
    }
    if let Some((_, rest)) = message.split_once("detected dubious ownership in repository at '") {
        let folder = rest.split('\'').next().unwrap_or_default();
        return GitError::new(
            GitErrorKind::Failed,
            format!("`{folder}` belongs to another user, so git refuses to use it"),
        )
        .hint(format!("if you trust it, run: git config --global --add safe.directory '{folder}'"));
    }
    let ended = match code {
        Some(code) => format!("{call} failed ({code})"),
        None => format!("{call} was killed"),
    };
    GitError::new(
        GitErrorKind::Failed,
        if message.is_empty() { ended } else { format!("{ended}: {message}") },
    )
}

/// A program's output as it can be shown: without control characters and credentials, and bounded.
pub(super) fn readable(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with("hint: ") && !line.trim().is_empty()) {
        let plain: String = line.chars().filter(|letter| !letter.is_control() || *letter == '\t').collect();
        lines.push(without_credentials(plain.trim_end()));
    }
    let whole = lines.join("\n");
    let excess = whole.chars().count().saturating_sub(LONGEST_MESSAGE);
    if excess == 0 { whole } else { format!("…{}", whole.chars().skip(excess).collect::<String>()) }
}

/// An address may have a password in it, and a request's trace a header.
pub(super) fn without_credentials(line: &str) -> String {
    if let Some(at) = line.to_ascii_lowercase().find("authorization:") {
        return format!("{}authorization: …", &line[..at]);
    }
    let mut shown = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("://") {
        shown.push_str(before);
        shown.push_str("://");
        let authority = after.find(['/', ' ', '\'', '"', '?', '#']).unwrap_or(after.len());
        rest = match after[..authority].rfind('@') {
            Some(at) => &after[at + 1..],
            None => after,
        };
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_and_escapes_are_not_shown() {
        let stderr = "fatal: unable to access 'https://me:pa@ss@host.test/x.git/': no\u{1b}[2J\n> Authorization: Basic Zm9v\nhint: try";
        assert_eq!(
            readable(stderr),
            "fatal: unable to access 'https://host.test/x.git/': no[2J\n> authorization: …"
        );
        assert_eq!(readable("ssh://git@host/x and https://host/@x"), "ssh://host/x and https://host/@x");
        assert_eq!(readable(&"é".repeat(9000)).chars().count(), LONGEST_MESSAGE + 1);
    }

    #[test]
    fn a_lock_is_named() {
        let stderr = "fatal: Unable to create '/r/.git/index.lock': File exists.\n\nAnother git process seems to be running";
        assert_eq!(lock_file(stderr), Some("/r/.git/index.lock"));
        assert_eq!(of("git add", stderr, Some(128)).kind, GitErrorKind::Locked);
        assert_eq!(lock_file("fatal: Unable to create '/r/.git/index.lock': Permission denied"), None);
        let full = of("git add", "error: unable to write file x: No space left on device", Some(128));
        assert_eq!(full.kind, GitErrorKind::File);
    }
}
