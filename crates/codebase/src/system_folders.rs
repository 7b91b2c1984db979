//! Folders of the operating system, which cannot be roots: a question about them is not about a codebase.

use std::path::Path;

/// Excluded with everything in them.
const TREES: [&str; 36] = [
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

/// Too wide to be a root, though folders in them may be one.
const FOLDERS: [&str; 15] = [
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

/// Allowed though they are in [`TREES`]: removable disks, and memory.
const EXCEPTIONS: [&str; 2] = ["/run/media", "/dev/shm"];

/// Whether an absolute path without links cannot be a root.
pub(crate) fn is_system(path: &Path) -> bool {
    if EXCEPTIONS.iter().any(|known| path.starts_with(known) && path != Path::new(known)) {
        return false;
    }
    TREES.iter().any(|known| path.starts_with(known)) || FOLDERS.iter().any(|known| path == Path::new(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_may_hold_code_are_not_system_folders() {
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
