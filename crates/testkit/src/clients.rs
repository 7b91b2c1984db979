//! The installed clients, and how to start one without this machine's settings.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The clients that `scripts/install-test-clients` installed.
pub struct InstalledClients {
    folder: PathBuf,
}

impl InstalledClients {
    /// The clients in `TAMIS_TEST_CLIENTS`, or in the repository's target folder.
    pub fn installed() -> Self {
        let folder = std::env::var_os("TAMIS_TEST_CLIENTS").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-clients"),
            PathBuf::from,
        );
        let stamp = std::fs::read(folder.join("installed")).ok();
        let hint = "hint: run scripts/install-test-clients";
        assert!(stamp.is_some(), "no clients in {}\n\n{hint}", folder.display());
        assert!(
            stamp == Some(pins()),
            "the clients in {} are not the pinned ones\n\n{hint}",
            folder.display()
        );
        Self { folder: folder.canonicalize().expect("the clients' folder") }
    }

    /// A program that npm installed, in a clean environment with `home` as its home.
    pub fn tool(&self, program: &str, home: &Path) -> Command {
        self.clean(&self.folder.join("tools/node_modules/.bin").join(program), home)
    }

    /// A reference MCP server that npm installed, in a clean environment with `home` as its home.
    pub fn server(&self, program: &str, home: &Path) -> Command {
        self.clean(&self.folder.join("servers/node_modules/.bin").join(program), home)
    }

    /// Another program with these clients on its PATH, in a clean environment with `home` as its home.
    pub fn beside_tools(&self, program: &Path, home: &Path) -> Command {
        let mut command = self.clean(program, home);
        command.env("PATH", self.path());
        command
    }

    /// A PATH with these clients.
    pub(crate) fn path(&self) -> String {
        let [node, tools] =
            ["node", "tools"].map(|folder| self.folder.join(folder).join("node_modules/.bin"));
        format!("{}:{}:/usr/local/bin:/usr/bin:/bin", tools.display(), node.display())
    }

    /// The Python that has the `mcp` package, in a clean environment with `home` as its home.
    pub fn python(&self, home: &Path) -> Command {
        self.clean(&self.folder.join("python/bin/python"), home)
    }

    fn clean(&self, program: &Path, home: &Path) -> Command {
        let node = self.folder.join("node/node_modules/.bin");
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", node.display()))
            .env("HOME", home)
            .env("LANG", "C.UTF-8")
            .env("SHELL", "/bin/sh")
            .env("TERM", "dumb");
        command
    }
}

/// What the script writes when everything is installed: itself and the pinned versions.
fn pins() -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = ["scripts/install-test-clients", "tests/clients/node/package.json"];
    let more = [
        "tests/clients/package.json",
        "tests/clients/servers/package.json",
        "tests/clients/requirements.txt",
    ];
    let files = files.into_iter().chain(more);
    files.flat_map(|file| std::fs::read(root.join(file)).expect("a file of the repository")).collect()
}
