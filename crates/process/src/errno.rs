//! System errors as Node writes them, which coding agents know: `ENOENT: no such file or directory`.

use std::io;

use rustix::io::Errno;

/// Those that agents meet in practice; others keep the system's text.
const NAMES: &[(Errno, &str, &str)] = &[
    (Errno::NOENT, "ENOENT", "no such file or directory"),
    (Errno::ACCESS, "EACCES", "permission denied"),
    (Errno::PERM, "EPERM", "operation not permitted"),
    (Errno::ISDIR, "EISDIR", "illegal operation on a directory"),
    (Errno::NOTDIR, "ENOTDIR", "not a directory"),
    (Errno::LOOP, "ELOOP", "too many symbolic links encountered"),
    (Errno::NAMETOOLONG, "ENAMETOOLONG", "name too long"),
    (Errno::MFILE, "EMFILE", "too many open files"),
    (Errno::NFILE, "ENFILE", "file table overflow"),
    (Errno::AGAIN, "EAGAIN", "resource temporarily unavailable"),
    (Errno::NOMEM, "ENOMEM", "not enough memory"),
    (Errno::NXIO, "ENXIO", "no such device or address"),
    (Errno::TOOBIG, "E2BIG", "argument list too long"),
    (Errno::NOEXEC, "ENOEXEC", "exec format error"),
    (Errno::IO, "EIO", "i/o error"),
    (Errno::STALE, "ESTALE", "stale file handle"),
];

/// `ENOENT: no such file or directory`, or the system's own text.
pub fn errno_text(error: &io::Error) -> String {
    let known = Errno::from_io_error(error)
        .and_then(|errno| NAMES.iter().find(|(known, _, _)| *known == errno))
        .map(|(_, name, text)| format!("{name}: {text}"));
    known.unwrap_or_else(|| error.to_string())
}
