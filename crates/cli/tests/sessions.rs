//! `tamis __session` in the real tmux: what runs in a session gets the folder, the words and the environment that it should,
//! and nothing that it should not.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tamis_agents::{
    AgentType, Code, Environment, InstanceId, Launch, SessionFiles, Tmux, agent_environment, plain_text,
};
use tamis_config::Setting;
use tamis_testkit::await_some;
use tempfile::TempDir;

struct Place {
    folder: TempDir,
    tmux: Tmux,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let tmux = Tmux::for_data_folder(folder.path()).unwrap();
        Place { folder, tmux }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn start(&self, id: &InstanceId, launch: &Launch) -> tamis_agents::Result<()> {
        let tamis = PathBuf::from(env!("CARGO_BIN_EXE_tamis"));
        let (file, log) = (self.path("launch/x.json"), self.path("logs/x.log"));
        launch.start(&self.tmux, id, SessionFiles { tamis: &tamis, launch: &file, log: &log })
    }

    fn tmux_says(&self, words: &[&str]) -> String {
        let said = Command::new("tmux").args(["-L", self.tmux.server()]).args(words).output().unwrap();
        String::from_utf8(said.stdout).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.tmux_says(&["kill-server"]);
    }
}

fn id() -> InstanceId {
    InstanceId::of_worker(AgentType::Coding, "test", 1)
}

/// A coordinator's environment with all that agents must not get.
fn environment() -> Environment {
    let secret = |name: &str| (OsString::from(name), OsString::from("s3cret"));
    let withheld =
        ["GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "TAMIS_TOKEN"];
    let withheld =
        withheld.into_iter().chain(["TAMIS_FAULT", "GIT_DIR", "GIT_SSH_COMMAND", "TMUX", "TMUX_PANE"]);
    let path = (OsString::from("PATH"), std::env::var_os("PATH").unwrap());
    agent_environment(withheld.map(secret).chain([
        path,
        ("KEPT".into(), "a\nb".into()),
        ("TERM".into(), "dumb".into()),
    ]))
}

#[test]
fn no_secret_of_the_settings_reaches_an_agent() {
    let secrets = Setting::all().iter().filter(|setting| setting.is_secret());
    let variables: Vec<&str> = secrets.flat_map(|setting| setting.variables).copied().collect();
    assert!(variables.contains(&"GITHUB_TOKEN") && variables.contains(&"TAMIS_TOKEN"), "{variables:?}");
    let own = variables.iter().map(|name| (OsString::from(name), OsString::from("s3cret")));
    assert_eq!(agent_environment(own), [("TERM".into(), "screen-256color".into())].into());
}

#[test]
fn a_session_becomes_what_its_file_says() {
    let place = Place::new();
    let work = place.path("work 'q' #{pane_id} %H");
    fs::create_dir(&work).unwrap();
    let script = "echo shown; { pwd; printf '%s\\0' \"$@\"; echo; env -0; } > out.part; mv out.part out; exec sleep 600";
    let words = ["sh", "-c", script, "sh", "$(id)", "it's", "a\nb", ""].map(str::to_owned);
    let mut launch = Launch::of_command(&words, &work, environment()).unwrap();
    launch.env.insert("TAMIS_INSTANCE".into(), id().as_str().into());
    place.start(&id(), &launch).unwrap();

    let out = await_some(|| fs::read_to_string(work.join("out")).ok());
    let (head, variables) = out.split_once("\0\n").unwrap();
    let work = work.canonicalize().unwrap();
    assert_eq!(head, format!("{}\n$(id)\0it's\0a\nb\0", work.display()));
    let mut variables: Vec<&str> = variables.split_terminator('\0').collect();
    variables.retain(|variable| {
        !["PATH=", "PWD=", "OLDPWD=", "SHLVL=", "_="].iter().any(|own| variable.starts_with(own))
    });
    variables.sort_unstable();
    let session = format!("TAMIS_SESSION={}/work-test-a1", place.tmux.server());
    let expected = ["KEPT=a\nb", "TAMIS_INSTANCE=work-test-a1", session.as_str(), "TERM=screen-256color"];
    assert_eq!(variables, expected);

    assert!(!place.path("launch/x.json").exists());
    let log = await_some(|| fs::read_to_string(place.path("logs/x.log")).ok().filter(|log| !log.is_empty()));
    assert_eq!(plain_text(&log), "shown\n");
    let modes = ["launch", "logs", "logs/x.log"]
        .map(|name| place.path(name).metadata().unwrap().permissions().mode());
    assert_eq!(modes.map(|mode| mode & 0o777), [0o700, 0o700, 0o600]);
    place.tmux.end(&id()).unwrap();
}

/// The tmux server outlives the process that started it, and shows its environment to every client.
#[test]
fn tmux_knows_no_secret() {
    let place = Place::new();
    let launch = Launch::of_command(&["sleep".into(), "600".into()], Path::new("/"), environment()).unwrap();
    place.start(&id(), &launch).unwrap();
    let known = place.tmux_says(&["show-environment", "-g"]);
    let names: Vec<&str> = known.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    let allowed = [
        "HOME",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "LOGNAME",
        "PATH",
        "PWD",
        "SHELL",
        "TMPDIR",
        "TMUX_TMPDIR",
        "USER",
    ];
    assert!(names.contains(&"PATH") && names.iter().all(|name| allowed.contains(name)), "{known}");
}

#[test]
fn what_cannot_be_started_is_told_before_or_in_its_session() {
    let place = Place::new();
    let missing = Launch::of_command(&["no-such-program".into()], Path::new("/"), environment()).unwrap_err();
    assert_eq!(
        (missing.code, missing.message.as_str()),
        (Code::AgentNotFound, "cannot find program `no-such-program`")
    );
    let empty = Launch::of_command(&[], Path::new("/"), environment()).unwrap_err();
    assert_eq!(empty.code, Code::ValidationError);

    let gone = place.path("gone");
    let launch = Launch::of_command(&["true".into()], &gone, environment()).unwrap();
    place.start(&id(), &launch).unwrap();
    let session = await_some(|| {
        place.tmux.settled_session(&id()).unwrap().filter(|session| session.exit_code.is_some())
    });
    assert_eq!((session.alive, session.exit_code), (false, Some(1)));
    let screen = place.tmux.capture(&id(), 50).unwrap();
    assert!(
        screen.contains("error: cannot start ") && screen.contains("No such file or directory"),
        "{screen}"
    );
    // A second of the same name leaves nothing behind.
    assert_eq!(place.start(&id(), &launch).unwrap_err().code, Code::TmuxError);
    assert!(!place.path("launch/x.json").exists());
}
