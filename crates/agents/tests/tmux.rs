//! Sessions in the real tmux: created, listed, sent messages, captured and ended.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tamis_agents::{AgentType, Code, InstanceId, Tmux, TmuxSession};
use tamis_testkit::await_some;
use tempfile::TempDir;

/// A data folder whose tmux server ends with it.
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

    /// Starts a shell script with arguments, which it sees as `$1` and so on.
    fn start(&self, id: &InstanceId, script: &str, args: &[&Path]) {
        let words = [
            &["sh", "-c", script, "sh"].map(OsString::from)[..],
            &args.iter().map(OsString::from).collect::<Vec<_>>(),
        ];
        self.tmux.create(id, &words.concat(), &[]).unwrap();
    }

    fn session(&self, id: &InstanceId) -> TmuxSession {
        self.tmux.session(id).unwrap().unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", self.tmux.server(), "kill-server"]).output();
    }
}

fn id(number: u32) -> InstanceId {
    InstanceId::of_worker(AgentType::Coding, "test", number)
}

/// The text of a file, once it ends with a line.
#[track_caller]
fn lines_of(path: &Path) -> String {
    await_some(|| fs::read_to_string(path).ok().filter(|text| text.ends_with('\n')))
}

fn lives(pid: &str) -> bool {
    // A dead process that is not reaped yet has no command line.
    fs::read(format!("/proc/{}/cmdline", pid.trim())).is_ok_and(|words| !words.is_empty())
}

#[test]
fn a_session_lives_and_tells_how_it_ended() {
    let place = Place::new();
    assert_eq!((place.tmux.is_running(), place.tmux.sessions()), (Ok(false), Ok(Vec::new())));
    let go = place.path("go");
    assert!(Command::new("mkfifo").arg(&go).status().unwrap().success());
    place.start(&id(1), "cat \"$1\"; exit 7", &[&go]);
    let session = place.session(&id(1));
    assert_eq!((session.alive, session.exit_code, place.tmux.is_running()), (true, None, Ok(true)));
    assert!(lives(&session.pane_pid.unwrap().to_string()));
    fs::write(&go, "said\n").unwrap();
    // tmux may miss the end until it is reminded.
    let ended = await_some(|| {
        place.tmux.settled_session(&id(1)).unwrap().filter(|session| session.exit_code.is_some())
    });
    assert_eq!((ended.alive, ended.exit_code, ended.created), (false, Some(7), session.created));
    let screen = place.tmux.capture(&id(1), 1000).unwrap();
    assert_eq!(screen, "said", "and nothing of tmux's own");
    place.tmux.end(&id(1)).unwrap();
    assert_eq!((place.tmux.session(&id(1)), place.tmux.is_running()), (Ok(None), Ok(false)));
    // Again: it is ended already.
    place.tmux.end(&id(1)).unwrap();
}

#[test]
fn a_name_is_there_once_and_names_that_begin_alike_are_kept_apart() {
    let place = Place::new();
    place.start(&id(1), "sleep 600", &[]);
    let again = place.tmux.create(&id(1), &["true".into()], &[]).unwrap_err();
    assert_eq!(
        (again.code, again.message.as_str()),
        (Code::TmuxError, "session work-test-a1 already exists")
    );
    place.start(&id(11), "sleep 600", &[]);
    place.tmux.end(&id(1)).unwrap();
    for missing in [place.tmux.capture(&id(1), 1).map(drop), place.tmux.send_message(&id(1), "x")] {
        assert_eq!(missing.unwrap_err().message, "there is no session work-test-a1");
    }
    assert!(place.session(&id(11)).alive);
}

#[test]
fn no_word_is_taken_for_more_than_a_word() {
    let place = Place::new();
    let hostile =
        ["$(touch pwned)", "`id`", "#{pane_id}#(touch pwned)", "%H", "a;", ";", "-x", "it's \"q\"", "é\n"];
    // The folder's name is hostile too, and so the log's.
    let folder = place.path("#{pane_id} %H $(id) 'q' #[x];");
    fs::create_dir(&folder).unwrap();
    let (out, log) = (folder.join("out;"), folder.join("log;"));
    let script = "echo shown; printf '%s|' \"$@\" > \"$0.part\"; mv \"$0.part\" \"$0\"; sleep 600";
    let mut words = ["sh", "-c", script].map(OsString::from).to_vec();
    words.push(out.clone().into());
    words.extend(hostile.map(OsString::from));
    place.tmux.create(&id(1), &words, &["tee".into(), log.clone().into()]).unwrap();
    let said = await_some(|| fs::read_to_string(&out).ok());
    assert_eq!(said, hostile.join("|") + "|");
    let logged = await_some(|| fs::read_to_string(&log).ok().filter(|text| text.contains('\n')));
    assert_eq!(logged, "shown\r\n");
    place.tmux.end(&id(1)).unwrap();
}

#[test]
fn what_is_told_arrives_as_text_and_then_enter() {
    let place = Place::new();
    let [out, ready] = ["out", "ready"].map(|name| place.path(name));
    let expected = "\u{1b}[200~C-c Enter #{pane_id} $(id)\r-two\t;\u{1b}[201~\r";
    // A program that asks for bracketed paste, as agents do, shows what it gets, and keeps every byte up to the Enter.
    let script = format!(
        "stty raw -echo; printf '\\033[?2004h'; echo > \"$2\"; \
         dd bs=1 count={} 2>/dev/null | tee \"$1.part\" | tr '\\r' '\\n'; mv \"$1.part\" \"$1\"; sleep 600",
        expected.len()
    );
    place.start(&id(1), &script, &[&out, &ready]);
    lines_of(&ready);
    let text = "C-c Enter #{pane_id} $(id)\u{1b}[201~\r\n\u{3}-two\t;\u{7}";
    place.tmux.send_message(&id(1), text).unwrap();
    assert_eq!(await_some(|| fs::read_to_string(&out).ok()), expected);
    place.tmux.end(&id(1)).unwrap();
}

/// An agent that asks a question shows no text that is pasted, and takes Enter for an answer.
#[test]
fn enter_is_not_pressed_where_the_text_does_not_show() {
    let place = Place::new();
    let [out, ready] = ["out", "ready"].map(|name| place.path(name));
    let script = "stty -echo; echo > \"$2\"; read -r answer; echo answered > \"$1\"; sleep 600";
    place.start(&id(1), script, &[&out, &ready]);
    lines_of(&ready);
    let error = place.tmux.send_message(&id(1), "Feedback is there.").unwrap_err();
    assert_eq!(error.message, "session work-test-a1 does not show the message");
    assert!(!out.exists());
}

#[test]
fn nobody_listens_in_a_session_that_has_ended() {
    let place = Place::new();
    place.start(&id(1), "exit 3", &[]);
    await_some(|| (!place.session(&id(1)).alive).then_some(()));
    let error = place.tmux.send_message(&id(1), "hello").unwrap_err();
    assert_eq!(error.code, Code::TmuxError);
    assert!(error.message.starts_with("the program in session work-test-a1 has ended"), "{error}");
}

/// An agent's children need not care for a terminal, be in its group or in its session, or heed a SIGTERM.
#[test]
fn nothing_of_an_ended_session_goes_on() {
    let place = Place::new();
    let names = ["hangup", "stubborn", "detached"];
    let [hangup, stubborn, detached] = names.map(|name| place.path(name));
    let script = "(trap '' HUP; echo $(exec sh -c 'echo $PPID') > \"$1\"; sleep 600) & \
                  (trap '' HUP TERM; echo $(exec sh -c 'echo $PPID') > \"$2\"; while :; do sleep 600; done) & \
                  setsid sh -c 'trap \"\" HUP; echo $$ > \"$1\"; sleep 600' sh \"$3\" & wait";
    place.start(&id(1), script, &[&hangup, &stubborn, &detached]);
    let pids = [hangup, stubborn, detached].map(|path| lines_of(&path));
    assert!(pids.iter().all(|pid| lives(pid)), "{pids:?}");
    place.tmux.end(&id(1)).unwrap();
    assert_eq!(pids.map(|pid| lives(&pid)), [false; 3]);
}

#[test]
fn fifty_sessions_are_made_and_ended_at_once() {
    let place = Place::new();
    let all: Vec<InstanceId> = (1..=50).map(id).collect();
    std::thread::scope(|threads| {
        for id in &all {
            threads.spawn(|| place.start(id, "sleep 600", &[]));
        }
    });
    let mut found: Vec<_> = place.tmux.sessions().unwrap().into_iter().map(|it| (it.id, it.alive)).collect();
    found.sort();
    let mut expected: Vec<_> = all.iter().map(|id| (id.clone(), true)).collect();
    expected.sort();
    assert_eq!(found, expected);
    std::thread::scope(|threads| {
        for id in &all {
            threads.spawn(|| place.tmux.end(id).unwrap());
        }
    });
    assert_eq!(place.tmux.sessions(), Ok(Vec::new()));
}

/// The server exits with its last session, and others begin at that very moment.
#[test]
fn a_server_that_goes_is_no_obstacle_to_one_that_comes() {
    let place = Place::new();
    std::thread::scope(|threads| {
        for number in 1..=4 {
            let place = &place;
            threads.spawn(move || {
                for _ in 0..5 {
                    place.start(&id(number), "sleep 600", &[]);
                    assert!(place.session(&id(number)).alive);
                    place.tmux.end(&id(number)).unwrap();
                }
            });
        }
    });
    assert_eq!(place.tmux.is_running(), Ok(false));
}
