//! Where the real clients are installed, and how to start one with nothing of this machine's settings in its way.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder that `scripts/install-test-clients` fills.
pub struct Clients {
    folder: PathBuf,
}

impl Clients {
    /// The clients under `TAMIS_TEST_CLIENTS`, or under the repository's own target folder.
    pub fn installed() -> Self {
        let folder = std::env::var_os("TAMIS_TEST_CLIENTS").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-clients"),
            PathBuf::from,
        );
        let installed = folder.join("installed").is_file();
        assert!(installed, "no clients in {}\n\nhint: run scripts/install-test-clients", folder.display());
        Self { folder: folder.canonicalize().expect("the clients' folder") }
    }

    /// A program that npm installed, in a clean environment with `home` as its home.
    pub fn tool(&self, program: &str, home: &Path) -> Command {
        self.clean(&self.folder.join("tools/node_modules/.bin").join(program), home)
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
