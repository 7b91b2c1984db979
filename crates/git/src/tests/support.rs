//! A repository in a folder of its own, with a home of its own; a plain git beside ours; and canaries.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::{BranchName, Commit, Git, Repository, Worktree};

pub(super) const AT: i64 = 1_700_000_000;

pub(super) struct World {
    folder: TempDir,
    pub(super) git: Git,
}

/// The branch of the instance whose worktree the tests work in.
pub(super) fn branch() -> BranchName {
    BranchName::of_instance("work-1-a1").unwrap()
}

impl World {
    /// A repository with two files and one commit.
    pub(super) fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let git = Git::new(folder.path().join("scratch"))
            .with_variable("HOME", folder.path().join("home"))
            .with_variable("XDG_CONFIG_HOME", folder.path().join("home/.config"))
            .with_variable("GIT_CONFIG_GLOBAL", folder.path().join("home/.gitconfig"))
            .with_variable("GIT_CONFIG_NOSYSTEM", "1");
        let world = World { folder, git };
        for name in ["home", "repo", "canaries"] {
            fs::create_dir(world.path(name)).unwrap();
        }
        world.plain("home", &["config", "--global", "user.name", "Some Body"]);
        world.plain("home", &["config", "--global", "user.email", "some@body.invalid"]);
        world.plain("home", &["config", "--global", "protocol.file.allow", "always"]);
        world.plain("repo", &["init", "--quiet", "--initial-branch=main"]);
        world.write("repo/a.txt", "a\n");
        world.write("repo/b.txt", "b\n");
        world.commit("repo", "begin");
        world
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn repository(&self) -> Repository {
        Repository::find(&self.git, &self.path("repo")).unwrap()
    }

    /// The coding agent's worktree: `tree`, on its branch.
    pub(super) fn worktree(&self) -> Worktree {
        let repository = self.repository();
        let (_, tip) = repository.default_base().unwrap();
        repository.add_worktree(&self.path("tree"), &branch(), &tip).unwrap()
    }

    /// git as a person would run it.
    pub(super) fn try_plain(&self, folder: &str, arguments: &[&str]) -> (bool, String) {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        let output = command
            .args(arguments)
            .current_dir(self.path(folder))
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("home/.config"))
            .env("GIT_CONFIG_GLOBAL", self.path("home/.gitconfig"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        (output.status.success(), text + &String::from_utf8_lossy(&output.stderr))
    }

    pub(super) fn plain(&self, folder: &str, arguments: &[&str]) -> String {
        let (done, text) = self.try_plain(folder, arguments);
        assert!(done, "git {arguments:?}: {text}");
        text
    }

    pub(super) fn commit(&self, folder: &str, subject: &str) -> Commit {
        self.plain(folder, &["add", "--all"]);
        self.plain(folder, &["commit", "--quiet", "--allow-empty", "-m", subject]);
        self.plain(folder, &["rev-parse", "HEAD"]).parse().unwrap()
    }

    pub(super) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// A shell command that leaves a canary.
    pub(super) fn canary(&self, name: &str) -> String {
        format!("touch {}", self.path("canaries").join(name).display())
    }

    /// A program that leaves a canary; a filter passes its input on.
    pub(super) fn canary_program(&self, name: &str) -> String {
        let path = self.path(&format!("programs/{name}"));
        let rest = if name.contains("filter") { "cat" } else { "exit 1" };
        self.write(&format!("programs/{name}"), format!("#!/bin/sh\n{}\n{rest}\n", self.canary(name)));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    /// The canaries that are there; they are taken away.
    pub(super) fn canaries(&self) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.path("canaries")).unwrap().flatten() {
            found.push(entry.file_name().to_string_lossy().into_owned());
            fs::remove_file(entry.path()).unwrap();
        }
        found.sort();
        found
    }

    /// Everything in a worktree that is not committed, or is: files with their bytes, and the index's entries.
    pub(super) fn everything(&self, folder: &str) -> Everything {
        let mut files = BTreeMap::new();
        collect(&self.path(folder), &self.path(folder), &mut files);
        let mut index = BTreeMap::new();
        for line in self.plain(folder, &["ls-files", "-s", "-z"]).split('\0').filter(|line| !line.is_empty())
        {
            let (entry, path) = line.split_once('\t').unwrap();
            index.insert(path.to_owned(), entry.to_owned());
        }
        Everything { files, index }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Everything {
    pub(super) files: BTreeMap<String, Vec<u8>>,
    pub(super) index: BTreeMap<String, String>,
}

impl Everything {
    pub(super) fn without(mut self, path: &str) -> Everything {
        self.files.remove(path);
        self.index.remove(path);
        self
    }
}

pub(super) fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        let about = path.symlink_metadata().unwrap();
        if name == ".git" {
            continue;
        }
        if about.is_symlink() {
            files.insert(name, fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
        } else if about.is_dir() {
            files.insert(format!("{name}/"), Vec::new());
            collect(root, &path, files);
        } else {
            files.insert(name, fs::read(&path).unwrap());
        }
    }
}
