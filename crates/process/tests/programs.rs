//! Programs run to their end, with all that they write, within limits; and they end with the call that started them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use tamis_process::{ProcessGroups, Program, ProgramError, ProgramOutput};
use tokio_util::sync::CancellationToken;

/// Longer than anything here takes, so that a failing test ends.
const LONG: Duration = Duration::from_secs(60);

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    (folder, path)
}

async fn run(command: &str) -> ProgramOutput {
    let (_folder, working) = folder();
    ProcessGroups::new(None).run(Program::bash(command, &working), &CancellationToken::new()).await.unwrap()
}

async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONG, "still not so: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a process runs. A zombie does not.
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
async fn stdout_stderr_and_exit_code_are_separate() {
    let ended = run("echo out; echo err >&2; exit 7").await;
    assert_eq!((ended.stdout, ended.stderr), (b"out\n".to_vec(), b"err\n".to_vec()));
    assert_eq!(ended.status.code(), Some(7));
    let killed = run("kill -KILL $$").await;
    assert_eq!((killed.code(), killed.signal()), (None, Some(9)));
}

#[tokio::test]
async fn stdin_is_empty() {
    assert_eq!(run("cat; read x || echo end").await.stdout, b"end\n");
}

#[tokio::test]
async fn much_output_on_both_pipes_does_not_stop_the_program() {
    let ended = run("head -c 20000000 /dev/zero & head -c 20000000 /dev/zero >&2; wait").await;
    assert_eq!((ended.stdout.len(), ended.stderr.len()), (20_000_000, 20_000_000));
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_an_error() {
    let nowhere = Path::new("/nowhere/at/all");
    let started =
        ProcessGroups::new(None).run(Program::bash("true", nowhere), &CancellationToken::new()).await;
    assert_eq!(
        started.unwrap_err().to_string(),
        "cannot start bash in '/nowhere/at/all': ENOENT: no such file or directory"
    );
    let (_folder, working) = folder();
    let started =
        ProcessGroups::new(None).run(Program::bash("echo \0", &working), &CancellationToken::new()).await;
    assert!(started.unwrap_err().to_string().contains("nul byte"));
}

/// What each command leaves in the background, and what its output must be. Whatever holds one of the pipes is waited for,
/// however long it is silent; whatever holds neither is not.
#[tokio::test]
async fn background_jobs_that_hold_the_output_are_waited_for() {
    for (command, stdout, stderr) in [
        ("(sleep 1; echo late) & echo early", "early\nlate\n", ""),
        ("(sleep 1; echo late >&2) & echo early", "early\n", "late\n"),
        // Longer than any silence that could be taken for the end.
        ("(sleep 3; echo late) & echo early", "early\nlate\n", ""),
        ("(for i in 1 2 3; do sleep 0.9; echo $i; done) &", "1\n2\n3\n", ""),
        ("((sleep 1; echo grandchild) &) ; echo early", "early\ngrandchild\n", ""),
        ("nohup sh -c 'sleep 1; echo late' 2>/dev/null & disown; echo early", "early\nlate\n", ""),
        ("setsid sh -c 'sleep 1; echo late' & echo early", "early\nlate\n", ""),
        ("coproc (sleep 1; echo late >&2); echo early", "early\n", "late\n"),
        ("echo one > >(sleep 1; cat; echo two)", "one\ntwo\n", ""),
        ("sleep 20 >/dev/null 2>&1 & echo early", "early\n", ""),
    ] {
        let begun = Instant::now();
        let ended = tokio::time::timeout(LONG, run(command)).await.expect(command);
        let output = [&ended.stdout, &ended.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert_eq!((output, ended.code()), ([stdout, stderr].map(str::to_owned), Some(0)), "{command}");
        assert!(begun.elapsed() < Duration::from_secs(15), "{command}");
    }
}

#[tokio::test]
async fn a_background_job_that_holds_no_output_lives_on_until_we_end() {
    let (folder, working) = folder();
    let (pids, later) = (folder.path().join("pids"), folder.path().join("later"));
    let groups = ProcessGroups::new(None);
    let command = "(until [ -e go ]; do sleep 0.01; done; echo yes > later; sleep 600) >/dev/null 2>&1 & \
                   echo $! > pids; echo started";
    let ended = groups.run(Program::bash(command, &working), &CancellationToken::new()).await.unwrap();
    assert_eq!((ended.code(), ended.stdout), (Some(0), b"started\n".to_vec()));
    fs::write(folder.path().join("go"), "").unwrap();
    eventually("it went on", || written(&later)).await;
    let pid = words(&pids).remove(0);
    assert!(runs(&pid));
    groups.end_all().await;
    eventually("it ended with us", || !runs(&pid)).await;
}

#[tokio::test]
async fn waiting_for_a_background_job_ends_with_the_time_limit_and_with_the_call() {
    let (_folder, working) = folder();
    let command = "(while :; do echo more; sleep 0.01; done) & echo started";
    let limited = Program::bash(command, &working).time_limit(Duration::from_secs(1));
    let ended = ProcessGroups::new(None).run(limited, &CancellationToken::new()).await;
    assert!(matches!(ended, Err(ProgramError::TimedOut { .. })), "{ended:?}");

    let (groups, cancelled) = (ProcessGroups::new(None), CancellationToken::new());
    let (_folder, pids, running) = start(&groups, "sleep 600 & echo $! > pids", &cancelled).await;
    cancelled.cancel();
    let ended = tokio::time::timeout(LONG, running).await.unwrap().unwrap();
    assert!(matches!(ended, Err(ProgramError::Cancelled { .. })), "{ended:?}");
    eventually("it has ended", || !pids.iter().any(|pid| runs(pid))).await;
}

#[tokio::test]
async fn a_program_beside_us_is_talked_to_through_pipes_and_ends_with_us() {
    let (_folder, working) = folder();
    let groups = ProcessGroups::new(None);
    let (running, mut pipes) = groups.start(sh("read x; echo got $x; exit 3")).unwrap();
    pipes.stdin.write_all(b"this\n").unwrap();
    let mut output = String::new();
    pipes.stdout.read_to_string(&mut output).unwrap();
    assert_eq!((output.as_str(), running.wait().unwrap().code()), ("got this\n", Some(3)));

    let script = "trap '' HUP; sleep 600 & echo $! $$ > pids; wait";
    let (running, _pipes) = groups.start(sh(script).folder(&working)).unwrap();
    eventually("it has begun", || written(&working.join("pids"))).await;
    let waiting = std::thread::spawn(|| running.wait().unwrap());
    groups.end_all().await;
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&waiting.join().unwrap()), Some(15));
    let pids = words(&working.join("pids"));
    eventually("all have ended", || !pids.iter().any(|pid| runs(pid))).await;
}

#[tokio::test]
async fn what_bash_and_grep_wrote_up_to_the_limit_is_kept() {
    const LIMIT: usize = 1 << 20;
    let (folder, working) = folder();
    fs::write(folder.path().join("much"), "a line\n".repeat(LIMIT)).unwrap();
    for (program, stdout, stderr) in [
        (Program::bash("echo first; exec yes", &working), "first\ny\ny\n", ""),
        (Program::bash("echo why >&2; exec yes", &working), "y\ny\n", "why\n"),
        (Program::bash("echo first; exec yes >&2", &working), "first\n", "y\ny\n"),
        (Program::bash("yes & yes >&2", &working), "", ""),
        (Program::grep("line", "much", &working), "1:a line\n2:a line\n", ""),
    ] {
        let program = program.max_output(LIMIT);
        let ended = ProcessGroups::new(None).run(program, &CancellationToken::new()).await.unwrap();
        assert!(ended.stdout.starts_with(stdout.as_bytes()), "{stdout}");
        assert!(ended.stderr.starts_with(stderr.as_bytes()), "{stderr}");
        assert_eq!(ended.stdout.len() + ended.stderr.len(), LIMIT);
        assert_eq!((ended.output_limit, ended.code()), (Some(LIMIT), None));
    }
    let whole = Program::bash("echo all", &working).max_output(LIMIT).run().unwrap();
    assert_eq!((whole.output_limit, whole.stdout), (None, b"all\n".to_vec()));
}

#[test]
fn a_command_that_begins_with_a_sign_is_no_option() {
    let (_folder, working) = folder();
    for (command, code) in [("-x; echo ran", 0), ("+x; echo ran", 0), ("--help; echo ran", 0), ("-c", 127)] {
        let ended = Program::bash(command, &working).run().unwrap();
        let ran: &[u8] = if code == 0 { b"ran\n" } else { b"" };
        assert_eq!((ended.code(), &*ended.stdout), (Some(code), ran), "{command}");
    }
}

/// Starts `command` in the background and waits until it has written its process numbers to `pids`.
async fn start(
    groups: &ProcessGroups,
    command: &str,
    cancelled: &CancellationToken,
) -> (tempfile::TempDir, Vec<String>, tokio::task::JoinHandle<Result<ProgramOutput, ProgramError>>) {
    let (folder, working) = folder();
    let (groups, program, cancelled) = (groups.clone(), Program::bash(command, &working), cancelled.clone());
    let running = tokio::spawn(async move { groups.run(program, &cancelled).await });
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
    let (groups, cancelled) = (ProcessGroups::new(None), CancellationToken::new());
    let (_folder, pids, running) = start(&groups, FAMILY, &cancelled).await;
    assert_eq!(pids.len(), 4);
    cancelled.cancel();
    let ended = tokio::time::timeout(LONG, running).await.unwrap().unwrap();
    assert!(matches!(ended, Err(ProgramError::Cancelled { .. })), "{ended:?}");
    eventually("all have ended", || !pids.iter().any(|pid| runs(pid))).await;
}

#[tokio::test]
async fn dropping_the_future_ends_the_whole_group() {
    let groups = ProcessGroups::new(None);
    let (_folder, pids, running) = start(&groups, FAMILY, &CancellationToken::new()).await;
    running.abort();
    eventually("all have ended", || !pids.iter().any(|pid| runs(pid))).await;
}

#[tokio::test]
async fn processes_that_ignore_sigterm_are_killed() {
    let (groups, cancelled) = (ProcessGroups::new(None), CancellationToken::new());
    let ignores_sigterm =
        "trap '' TERM; (trap '' TERM; sleep 600 & wait) & echo $$ $! > pids; while :; do wait; done";
    let (_folder, pids, running) = start(&groups, ignores_sigterm, &cancelled).await;
    cancelled.cancel();
    assert!(tokio::time::timeout(LONG, running).await.unwrap().unwrap().is_err());
    eventually("all have ended", || !pids.iter().any(|pid| runs(pid))).await;
}

#[tokio::test]
async fn a_cancelled_command_can_clean_up() {
    let (groups, cancelled) = (ProcessGroups::new(None), CancellationToken::new());
    let cleans_up = "trap 'rm lock; exit' TERM; touch lock; echo $$ > pids; while :; do sleep 0.01; done";
    let (folder, _, running) = start(&groups, cleans_up, &cancelled).await;
    cancelled.cancel();
    assert!(tokio::time::timeout(LONG, running).await.unwrap().unwrap().is_err());
    assert!(!folder.path().join("lock").exists());
}

#[tokio::test]
async fn a_call_that_is_cancelled_before_it_starts_runs_nothing() {
    let (folder, working) = folder();
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let ended = ProcessGroups::new(None).run(Program::bash("touch ran", &working), &cancelled).await;
    assert!(matches!(ended, Err(ProgramError::Cancelled { .. })));
    assert!(!folder.path().join("ran").exists());
}

fn sh(script: &str) -> Program {
    Program::new("sh").args(["-c", script]).time_limit(LONG)
}

#[test]
fn output_is_whole_though_a_background_process_holds_the_pipes() {
    let output = sh("echo said; echo why >&2; sleep 20 & exit 3").run().unwrap();
    assert_eq!(
        (output.code(), output.stdout.as_slice(), output.stderr.as_slice()),
        (Some(3), &b"said\n"[..], &b"why\n"[..])
    );
    let output = sh("head -c 3000000 /dev/zero; sleep 20 &").run().unwrap();
    assert_eq!(output.stdout.len(), 3_000_000);
    let output = sh("exec 2>&-; echo said; exec >&-; sleep 0.1; exit 4").run().unwrap();
    assert_eq!((output.code(), output.stdout.as_slice()), (Some(4), &b"said\n"[..]));
}

#[test]
fn a_program_that_takes_too_long_or_writes_too_much_is_ended() {
    const MAX: usize = 1 << 20;
    let slow = sh("sleep 1000").time_limit(Duration::from_millis(50)).run();
    assert!(matches!(slow, Err(ProgramError::TimedOut { .. })));
    for script in ["yes", "yes >&2"] {
        let endless = sh(script).max_output(64 * MAX).run();
        assert!(matches!(endless, Err(ProgramError::TooMuchOutput { .. })), "{script}");
    }
    let output = sh("head -c 2000000 /dev/zero >&2; echo done").max_stderr(MAX).run().unwrap();
    assert_eq!((output.stdout.as_slice(), output.stderr.len()), (&b"done\n"[..], MAX));
}

#[test]
fn a_program_that_is_out_of_time_can_clean_up_and_takes_its_group_with_it() {
    let (folder, working) = folder();
    let script =
        "trap 'rm lock; exit' TERM; touch lock; sleep 600 & echo $! > pids; while :; do sleep 0.01; done";
    let ended = sh(script).folder(&working).time_limit(Duration::from_secs(1)).run();
    assert!(matches!(ended, Err(ProgramError::TimedOut { .. })));
    assert!(!folder.path().join("lock").exists());
    assert!(!runs(&words(&folder.path().join("pids"))[0]));
}

#[test]
fn stdin_is_written_whatever_its_size_and_need_not_be_read() {
    let much = vec![b'x'; 3_000_000];
    assert_eq!(sh("cat").stdin(much.clone()).run().unwrap().stdout, much);
    assert_eq!(sh("echo done").stdin(much).run().unwrap().stdout, b"done\n");
}

#[test]
fn only_allowed_variables_are_inherited() {
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let print = |program: Program| String::from_utf8(program.run().unwrap().stdout).unwrap();
    let printed = print(Program::new("env").inherit_env(|name| name == "PATH").env("LC_ALL", "C"));
    let names: Vec<&str> = printed.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    assert_eq!(names, ["LC_ALL", "PATH"]);
    assert!(print(Program::new("env")).contains("CARGO_MANIFEST_DIR="));
}

#[test]
fn a_program_that_does_not_exist_is_an_error() {
    let Err(error) = Program::new("no-such-program").run() else { panic!("it ran") };
    assert_eq!(error.to_string(), "cannot start no-such-program: ENOENT: no such file or directory");
}

fn blocking<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_exit_code_is_returned(code: u8) {
        let ended = blocking(run(&format!("exit {code}")));
        prop_assert_eq!(ended.code(), Some(i32::from(code)));
    }

    #[test]
    fn any_bytes_are_returned(stdout: Vec<u8>, stderr: Vec<u8>) {
        let (folder, working) = folder();
        fs::write(folder.path().join("stdout"), &stdout).unwrap();
        fs::write(folder.path().join("stderr"), &stderr).unwrap();
        let program = Program::bash("cat stdout; cat stderr >&2", &working);
        let ended = blocking(ProcessGroups::new(None).run(program, &CancellationToken::new())).unwrap();
        prop_assert_eq!((ended.stdout, ended.stderr), (stdout, stderr));
    }

    /// Neither the pattern nor the path can be read as an option, or by a shell.
    #[test]
    fn any_pattern_reaches_grep(pattern in "[^\0]{0,12}", file in "[a-z-][a-z$` '*-]{0,8}") {
        let (folder, working) = folder();
        fs::write(folder.path().join(&file), format!("{pattern}\nother\n")).unwrap();
        let ours = blocking(ProcessGroups::new(None).run(Program::grep(&pattern, &file, &working), &CancellationToken::new()));
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
