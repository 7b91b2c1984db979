//! git as a user runs it, without this machine's settings.

use std::path::Path;
use std::process::Command;

/// What git prints. Panics if it fails.
#[track_caller]
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]);
    command.args(arguments).current_dir(folder).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.output().expect("git runs");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
