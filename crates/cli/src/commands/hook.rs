use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio, exit};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use clap::Args;
use clap::builder::PossibleValuesParser;
use tamis_clients::Client;
use tamis_config::{Config, ConfigEnvironment, ConfigSource};
use tamis_hook::{Hook, HookCalls, HookResult, LeftReason};
use tamis_store::DataDir;

use crate::error::{CliError, CliResult};
use crate::startup;

/// The client goes on without a reply after this, unless the configuration sets another time.
const DEADLINE: Duration = Duration::from_millis(150);
/// Time limit for writing the ledger's row, while the client waits.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(50);
/// Time limit for recording that the deadline has passed.
const RECORD_TIMEOUT: Duration = Duration::from_millis(20);
/// Longer calls stay without a reply. No client sends as much.
const MAX_INPUT_BYTES: u64 = 64 << 20;

/// Prune the output of a client's own tools, in its hooks
///
/// Clients run this after each call of their tools, once `tamis setup` has connected them. Reads the client's JSON from stdin and prints the reply
/// that has the pruned text in it. If there is nothing to cut, or anything goes wrong, it prints nothing, and the client shows what
/// its tool printed. Before a file is written, it refuses text with markers in it.
#[derive(Args)]
pub(crate) struct HookCommand {
    /// Client that runs the hook
    #[arg(value_name = "CLIENT", value_parser = PossibleValuesParser::new(Client::NAMES))]
    client: String,
}

/// Who writes to stdout: the reply, or nothing once the deadline has passed.
const WORKING: u8 = 0;
const REPLYING: u8 = 1;
const ABANDONED: u8 = 2;

/// What the thread that answers reports.
enum Progress {
    /// The configuration sets this time limit.
    Limit(Duration),
    Done,
}

pub(crate) fn run(arguments: HookCommand) -> CliResult {
    let started = Instant::now();
    if io::stdin().is_terminal() {
        return Err(CliError::usage(
            "`tamis hook` reads the JSON that a client sends to its hooks".to_owned(),
        )
        .hint("`tamis setup` makes clients run it"));
    }
    let Some(client) = Client::ALL.iter().copied().find(|client| client.name() == arguments.client) else {
        return Ok(());
    };
    let state = Arc::new(AtomicU8::new(WORKING));
    let (report, progress) = mpsc::channel();
    let worker = thread::Builder::new().name("hook".to_owned()).spawn({
        let state = Arc::clone(&state);
        move || answer(client, started, &state, &report)
    });
    if worker.is_err() {
        return Ok(());
    }
    let mut limit = DEADLINE;
    loop {
        match progress.recv_timeout((started + limit).saturating_duration_since(Instant::now())) {
            Ok(Progress::Limit(configured)) => limit = configured,
            Err(mpsc::RecvTimeoutError::Timeout)
                if state.compare_exchange(WORKING, ABANDONED, Ordering::SeqCst, Ordering::SeqCst).is_ok() =>
            {
                record_slow_call(client, started.elapsed());
                break;
            }
            // The reply is being written.
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let _ = progress.recv_timeout(FLUSH_TIMEOUT);
                break;
            }
            Ok(Progress::Done) | Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    // Without waiting for threads that write to the ledger.
    exit(0)
}

/// Records that there was no time, if there is time for that: the disk may be what is slow.
fn record_slow_call(client: Client, elapsed: Duration) {
    let (done, wait) = mpsc::channel();
    thread::spawn(move || {
        let (config, _) = Config::explain(&ConfigEnvironment::of_process());
        if let Some(calls) = recorded_calls(&config) {
            let _ = calls.add(client.name(), &HookResult::left(LeftReason::TooSlow), elapsed);
        }
        let _ = done.send(());
    });
    let _ = wait.recv_timeout(RECORD_TIMEOUT);
}

/// The record of calls, unless the data folder cannot be trusted. Then nothing is cut either.
fn recorded_calls(config: &Config) -> Option<HookCalls> {
    let data = DataDir::at(config.data_dir());
    let is_usable = config.data.dir.source != ConfigSource::Unset && data.secure().is_ok();
    is_usable.then(|| HookCalls::new(data))
}

/// Answers the call, unless the deadline passes first.
fn answer(client: Client, started: Instant, state: &AtomicU8, report: &mpsc::Sender<Progress>) {
    // Nothing is logged: what a hook writes to stderr, some clients show.
    let (config, _) = Config::explain(&ConfigEnvironment::of_process());
    let limit = config.hook.deadline.value;
    // The other end waits for it, or is gone.
    let _ = report.send(Progress::Limit(limit));
    let mut input = Vec::new();
    if io::stdin().lock().take(MAX_INPUT_BYTES).read_to_end(&mut input).is_err() {
        return;
    }
    let sieve = startup::sieve(&config);
    let calls = recorded_calls(&config);
    let hook = Hook {
        client,
        sieve: &sieve,
        calls: calls.as_ref(),
        min_chars: config.hook.min_chars.value,
        skip_tools: &config.hook.skip_tools.value,
        redacts: config.hook.redact_output.value,
        log_deadline: started + limit * 2 / 3,
        now: SystemTime::now(),
        deadline: started + limit,
    };
    let result = hook.run(&String::from_utf8_lossy(&input));
    if state.compare_exchange(WORKING, REPLYING, Ordering::SeqCst, Ordering::SeqCst).is_err() {
        return;
    }
    if let Some(reply) = &result.reply {
        // A client that is gone needs no reply.
        let _ = io::stdout().write_all(reply.to_string().as_bytes());
        let _ = io::stdout().flush();
    }
    if let Some(calls) = &calls {
        // The client comes first; it has its reply.
        let _ = calls.add(client.name(), &result, started.elapsed());
    }
    if let Some(prune) = result.unrecorded {
        sieve.record_shown(prune);
        // On a loaded machine, what is left of the deadline: a row that is lost is missing in the balance.
        sieve.flush(limit.saturating_sub(started.elapsed()).max(FLUSH_TIMEOUT));
    }
    if sieve.is_clean_up_due() {
        clean_up_later();
    }
    let _ = report.send(Progress::Done);
}

/// Removes expired originals in a process of its own: the client waits for this one.
fn clean_up_later() {
    let Ok(program) = startup::this_program() else { return };
    let mut command = Command::new(program);
    command.arg("__clean-up").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // In a group of its own, so that the end of the client does not end it.
    let _ = command.process_group(0).spawn();
}

/// Removes what has expired, for a hook that has no time to.
#[derive(Args)]
pub(crate) struct CleanUp {}

pub(crate) fn clean_up() -> CliResult {
    let (config, _) = Config::explain(&ConfigEnvironment::of_process());
    startup::sieve(&config).clean_up_if_due();
    Ok(())
}
