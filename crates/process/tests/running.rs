//! Programs run to their end with all that they write, and end with whoever asked for them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use tamis_process::{Children, Ended, RunError, bash, grep};
use tokio_util::sync::CancellationToken;

/// Longer than anything here takes; only so that a test which fails ends.
const PATIENCE: Duration = Duration::from_secs(60);

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    (folder, path)
}

async fn run(command: &str) -> Ended {
    let (_folder, working) = folder();
    Children::new(None).run(bash(command, &working), &CancellationToken::new()).await.unwrap()
}

async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "still not so: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a process runs; one that has ended and waits to be collected does not.
fn runs(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X'])))
}

fn written(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.ends_with('\n'))
}

fn words(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap().split_whitespace().map(str::to_owned).collect()
}

#[tokio::test]
async fn output_errors_and_exit_code_are_told_apart() {
    let ended = run("echo out; echo err >&2; exit 7").await;
    assert_eq!((ended.stdout, ended.stderr), (b"out\n".to_vec(), b"err\n".to_vec()));
    assert_eq!(ended.status.code(), Some(7));
    let killed = run("kill -KILL $$").await;
    assert_eq!((killed.code(), killed.signal()), (None, Some(9)));
}

#[tokio::test]
async fn there_is_nothing_to_read_from() {
    assert_eq!(run("cat; read x || echo end").await.stdout, b"end\n");
}

#[tokio::test]
async fn much_output_on_both_sides_does_not_stop_the_program() {
    let ended = run("head -c 20000000 /dev/zero & head -c 20000000 /dev/zero >&2; wait").await;
    assert_eq!((ended.stdout.len(), ended.stderr.len()), (20_000_000, 20_000_000));
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_told() {
    let nowhere = Path::new("/nowhere/at/all");
    let started = Children::new(None).run(bash("true", nowhere), &CancellationToken::new()).await;
    assert_eq!(
        started.unwrap_err().to_string(),
        "cannot start bash in '/nowhere/at/all': ENOENT: no such file or directory"
    );
    let (_folder, working) = folder();
    let started = Children::new(None).run(bash("echo \0", &working), &CancellationToken::new()).await;
    assert!(started.unwrap_err().to_string().contains("nul byte"));
}

#[tokio::test]
async fn what_is_left_in_the_background_is_not_waited_for_and_lives_on() {
    let (folder, working) = folder();
    let (pids, later) = (folder.path().join("pids"), folder.path().join("later"));
    let children = Children::new(None);
    // It holds both pipes, and writes to them once the call has been answered.
    let command = "(until [ -e go ]; do sleep 0.01; done; echo late; echo late >&2; echo yes > later; sleep 600) & \
                   echo $! > pids; echo started";
    let ended = children.run(bash(command, &working), &CancellationToken::new()).await.unwrap();
    assert_eq!((ended.code(), ended.stdout), (Some(0), b"started\n".to_vec()));
    fs::write(folder.path().join("go"), "").unwrap();
    eventually("it could go on writing", || written(&later)).await;
    let pid = words(&pids).remove(0);
    assert!(runs(&pid));
    children.end_all().await;
    eventually("it ended with us", || !runs(&pid)).await;
}

#[tokio::test]
async fn somebody_who_goes_on_talking_in_the_background_is_not_waited_for() {
    let (_folder, working) = folder();
    let children = Children::new(None);
    let command = "(while :; do echo more; sleep 0.01; done) & echo started; echo started >&2";
    let running = children.run(bash(command, &working), &CancellationToken::new()).await.unwrap();
    assert_eq!((running.code(), running.stderr.as_slice()), (Some(0), &b"started\n"[..]));
    assert!(running.stdout.starts_with(b"started\n") || running.stdout.starts_with(b"more\n"));
    children.end_all().await;
}

#[tokio::test]
async fn what_comes_just_after_the_end_is_kept() {
    // Bash does not wait for what reads from it.
    let ended = run("echo one > >(sleep 0.02; cat; echo two)").await;
    assert_eq!(ended.stdout, b"one\ntwo\n");
}

/// Starts `command` in the background and waits until it has written its process numbers to `pids`.
async fn start(
    children: &Children,
    command: &str,
    cancelled: &CancellationToken,
) -> (tempfile::TempDir, Vec<String>, tokio::task::JoinHandle<Result<Ended, RunError>>) {
    let (folder, working) = folder();
    let (children, shell, cancelled) = (children.clone(), bash(command, &working), cancelled.clone());
    let running = tokio::spawn(async move { children.run(shell, &cancelled).await });
    let pids = folder.path().join("pids");
    eventually("the command has begun", || written(&pids)).await;
    let pids = words(&pids);
    assert!(pids.iter().all(|pid| runs(pid)), "{pids:?}");
    (folder, pids, running)
}

const FAMILY: &str = "sleep 600 & (sleep 600 & echo $! > inner; wait) & \
    until [ -s inner ]; do sleep 0.01; done; echo $$ $(jobs -p) $(cat inner) > pids; wait";

#[tokio::test]
async fn cancelling_ends_the_whole_group() {
    let (children, cancelled) = (Children::new(None), CancellationToken::new());
    let (_folder, pids, running) = start(&children, FAMILY, &cancelled).await;
    assert_eq!(pids.len(), 4);
    cancelled.cancel();
    let ended = tokio::time::timeout(PATIENCE, running).await.unwrap().unwrap();
    assert!(matches!(ended, Err(RunError::Cancelled)), "{ended:?}");
    eventually("all have ended", || !pids.iter().any(|pid| runs(pid))).await;
}

#[tokio::test]
async fn whoever_does_not_wait_any_more_ends_the_whole_group() {
    let children = Children::new(None);
    let (_folder, pids, running) = start(&children, FAMILY, &CancellationToken::new()).await;
    running.abort();
    eventually("all have ended", || !pids.iter().any(|pid| runs(pid))).await;
}

#[tokio::test]
async fn those_who_do_not_listen_are_made_to_end() {
    let (children, cancelled) = (Children::new(None), CancellationToken::new());
    let deaf = "trap '' TERM; (trap '' TERM; sleep 600 & wait) & echo $$ $! > pids; while :; do wait; done";
    let (_folder, pids, running) = start(&children, deaf, &cancelled).await;
    cancelled.cancel();
    assert!(tokio::time::timeout(PATIENCE, running).await.unwrap().unwrap().is_err());
    eventually("all have ended", || !pids.iter().any(|pid| runs(pid))).await;
}

#[tokio::test]
async fn a_command_may_clean_up_when_it_is_ended() {
    let (children, cancelled) = (Children::new(None), CancellationToken::new());
    let tidy = "trap 'rm lock; exit' TERM; touch lock; echo $$ > pids; while :; do sleep 0.01; done";
    let (folder, _, running) = start(&children, tidy, &cancelled).await;
    cancelled.cancel();
    assert!(tokio::time::timeout(PATIENCE, running).await.unwrap().unwrap().is_err());
    assert!(!folder.path().join("lock").exists());
}

#[tokio::test]
async fn a_call_that_is_cancelled_before_it_begins_runs_nothing() {
    let (folder, working) = folder();
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let ended = Children::new(None).run(bash("touch ran", &working), &cancelled).await;
    assert!(matches!(ended, Err(RunError::Cancelled)));
    assert!(!folder.path().join("ran").exists());
}

fn blocking<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_exit_code_is_told(code: u8) {
        let ended = blocking(run(&format!("exit {code}")));
        prop_assert_eq!(ended.code(), Some(i32::from(code)));
    }

    #[test]
    fn any_bytes_come_back(stdout: Vec<u8>, stderr: Vec<u8>) {
        let (folder, working) = folder();
        fs::write(folder.path().join("stdout"), &stdout).unwrap();
        fs::write(folder.path().join("stderr"), &stderr).unwrap();
        let shell = bash("cat stdout; cat stderr >&2", &working);
        let ended = blocking(Children::new(None).run(shell, &CancellationToken::new())).unwrap();
        prop_assert_eq!((ended.stdout, ended.stderr), (stdout, stderr));
    }

    /// Whatever the pattern and the path: grep gets them as they are, and neither is an option or a shell's word.
    #[test]
    fn any_pattern_reaches_grep(pattern in "[^\0]{0,12}", file in "[a-z-][a-z$` '*-]{0,8}") {
        let (folder, working) = folder();
        fs::write(folder.path().join(&file), format!("{pattern}\nother\n")).unwrap();
        let ours = blocking(Children::new(None).run(grep(&pattern, &file, &working), &CancellationToken::new()));
        let theirs = std::process::Command::new("grep")
            .args(["-r", "-n", "--color=never", "-e", &pattern, "--", &file])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let ours = ours.unwrap();
        prop_assert_eq!(ours.code(), theirs.status.code());
        prop_assert_eq!(ours.stdout, theirs.stdout);
    }
}
