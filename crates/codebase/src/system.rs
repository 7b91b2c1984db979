//! Where the operating system lives. A question about it is not one about a codebase.

use std::path::Path;

/// Nobody's code, with all that lies in them.
const WHOLE: [&str; 36] = [
    "/bin",
    "/boot",
    "/cores",
    "/dev",
    "/efi",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/lost+found",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr/bin",
    "/usr/include",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/local/bin",
    "/usr/local/etc",
    "/usr/local/sbin",
    "/usr/sbin",
    "/usr/share",
    "/var/backups",
    "/var/cache",
    "/var/log",
    "/var/mail",
    "/var/run",
    "/var/spool",
    "/Library",
    "/System",
    "/private/etc",
    "/private/var/db",
];

/// Too wide to be meant, though code may well lie somewhere in them.
const ITSELF: [&str; 15] = [
    "/",
    "/Applications",
    "/Users",
    "/Volumes",
    "/home",
    "/media",
    "/mnt",
    "/nix",
    "/opt",
    "/private",
    "/private/var",
    "/srv",
    "/usr",
    "/usr/local",
    "/var",
];

/// People do work there: on a disk that was plugged in, and in memory.
const AFTER_ALL: [&str; 2] = ["/run/media", "/dev/shm"];

/// Whether an absolute path without links cannot be a root.
pub(crate) fn is_system(path: &Path) -> bool {
    if AFTER_ALL.iter().any(|known| path.starts_with(known) && path != Path::new(known)) {
        return false;
    }
    WHOLE.iter().any(|known| path.starts_with(known)) || ITSELF.iter().any(|known| path == Path::new(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_code_may_lie_is_not_the_system() {
        for (path, system) in [
            ("/", true),
            ("/etc", true),
            ("/etc/nginx", true),
            ("/etcetera", false),
            ("/proc/self/cwd", true),
            ("/usr", true),
            ("/usr/lib/python3", true),
            ("/usr/src/linux", false),
            ("/usr/local", true),
            ("/usr/local/src/tool", false),
            ("/home", true),
            ("/home/me", false),
            ("/run/user/1000", true),
            ("/run/media/me/disk", false),
            ("/dev/shm/build", false),
            ("/System/Library", true),
            ("/private/etc/ssh", true),
            ("/private/var/folders/x", false),
            ("/Users/me/code", false),
            ("/var/lib/jenkins/workspace/x", false),
        ] {
            assert_eq!(is_system(Path::new(path)), system, "{path}");
        }
    }
}
