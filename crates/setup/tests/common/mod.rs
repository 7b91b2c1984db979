//! A home and a project in a temporary folder.

#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses its part of this")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use tamis_setup::{Setup, SetupClient, SetupEnvironment, SetupError, SetupPart, SetupScope, SetupStep};
use tamis_store::DataDir;

pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) setup: Setup,
}

impl World {
    pub(crate) fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        for name in ["home", "project"] {
            fs::create_dir(at(name)).unwrap();
        }
        let environment = SetupEnvironment {
            home: at("home"),
            project: at("project"),
            working_dir: at("project"),
            variables: BTreeMap::new(),
        };
        World { setup: Setup { data: DataDir::at(at("data")), environment }, folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// What there is to do for each file of a client.
    pub(crate) fn steps(
        &self,
        client: SetupClient,
        scope: SetupScope,
        parts: &[SetupPart],
        command: &str,
    ) -> Vec<SetupStep> {
        self.setup.plan(client, scope, parts, command).into_iter().map(Result::unwrap).collect()
    }

    /// What there is to do for the MCP server of a client.
    pub(crate) fn plan(
        &self,
        client: SetupClient,
        scope: SetupScope,
        command: &str,
    ) -> Result<SetupStep, SetupError> {
        self.setup.plan(client, scope, &[SetupPart::Mcp], command).remove(0)
    }

    /// Adds the MCP server.
    pub(crate) fn add(&self, client: SetupClient, scope: SetupScope) {
        self.add_parts(client, scope, &[SetupPart::Mcp]);
    }

    pub(crate) fn add_parts(&self, client: SetupClient, scope: SetupScope, parts: &[SetupPart]) {
        for step in self.steps(client, scope, parts, "tamis") {
            match step {
                SetupStep::Change(change) => self.setup.apply(&change).unwrap(),
                other => panic!("{client:?}: {other:?}"),
            }
        }
    }

    /// Removes everything; whether an entry stayed.
    pub(crate) fn remove(&self) -> bool {
        self.remove_parts(SetupPart::ALL)
    }

    pub(crate) fn remove_parts(&self, parts: &[SetupPart]) -> bool {
        let changes = self.setup.plan_removal(&[], None, parts).unwrap();
        assert!(!changes.is_empty());
        let changes: Vec<_> = changes.into_iter().map(|(_, change)| change.unwrap()).collect();
        changes.iter().for_each(|change| self.setup.apply(change).unwrap());
        changes.iter().any(|change| change.keeps_entry())
    }

    /// Every file and folder below the home and the project.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Option<String>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.path("home"), self.path("project")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                found.insert(path.clone(), fs::read_to_string(path).ok());
            }
        }
        found
    }
}

/// A text without its blanks.
pub(crate) fn bare(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}
