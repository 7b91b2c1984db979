//! A running `tamis serve`.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::process::Group;

const START_TIMEOUT: Duration = Duration::from_secs(60);
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// `tamis serve --port 0` with its own data folder. Dropping it sends SIGTERM, then SIGKILL.
pub struct TestServer {
    url: String,
    group: Group,
    folder: TempDir,
}

impl TestServer {
    /// Starts the server and waits until it has printed its address.
    pub fn start(binary: impl AsRef<Path>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new(binary.as_ref());
        command
            .args(["serve", "--port", "0"])
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", folder.path())
            .env("LANG", "C.UTF-8")
            .env("TAMIS_DATA_DIR", folder.path().join("data"))
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let (send, lines) = channel();
        let (group, ()) = Group::spawn_with(&mut command, |child| {
            follow(child.stdout.take().expect("a pipe"), send.clone());
            follow(child.stderr.take().expect("a pipe"), send);
        });
        let mut lines_before = Vec::new();
        let url = loop {
            // Fails after the time limit, and at once when the server has ended.
            let Ok(line) = lines.recv_timeout(START_TIMEOUT) else {
                panic!("the server did not print its address, but: {lines_before:#?}")
            };
            if let Some(url) = address_in(&line) {
                break url;
            }
            lines_before.push(line);
        };
        Self { url, group, folder }
    }

    /// `http://127.0.0.1:<port>`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The address of the MCP endpoint.
    pub fn mcp_url(&self) -> String {
        format!("{}/mcp", self.url)
    }

    /// The server's data folder.
    pub fn data_dir(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.group.signal(Signal::TERM);
        let ended = self.group.wait(END_TIMEOUT);
        // A failed test has panicked already.
        assert!(ended.is_some() || std::thread::panicking(), "the server does not end after SIGTERM");
    }
}

/// Forwards the lines of a pipe until its end, so that the server never blocks on it.
fn follow(pipe: impl Read + Send + 'static, lines: Sender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            let _ = lines.send(line);
        }
    });
}

/// The scheme, host and port of the first loopback address in a line.
fn address_in(line: &str) -> Option<String> {
    const SCHEME: &str = "http://127.0.0.1:";
    let start = line.find(SCHEME)?;
    let port: String = line[start + SCHEME.len()..].chars().take_while(char::is_ascii_digit).collect();
    (!port.is_empty()).then(|| format!("{SCHEME}{port}"))
}

#[cfg(test)]
mod tests {
    use super::address_in;

    #[test]
    fn finds_the_address() {
        let line = "tamis: open http://127.0.0.1:40123/?link=x or https://127.0.0.1:1";
        assert_eq!(address_in(line).as_deref(), Some("http://127.0.0.1:40123"));
        assert_eq!(address_in("starting on http://127.0.0.1:?"), None);
    }
}
