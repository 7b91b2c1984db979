//! One run: an agent behind its guard, what it writes as it comes, and what is made of it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::guard::{END, END_AT_ONCE, Order, TERMINATION_PATIENCE};
use crate::{Event, Lifecycle, McpServers, Provider, RunEvent, RunOptions, RunState, Stream, Tally, Tool};
use crate::{PrunerSettings, Resolution, Wiring, WiringError, descendants, wire_pruner};

/// Longer lines are passed on in pieces, and not understood.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// Lines that wait to be written, so that a slow reader slows the agent down instead of filling memory.
const LINES_IN_WAITING: usize = 64;
/// How long the streams may be silent, and yet open, when the guard has ended: only a process that it could not end
/// holds them then.
const STREAMS_PATIENCE: Duration = Duration::from_secs(5);

/// A run that is about to start.
pub struct Run {
    pub provider: &'static dyn Provider,
    /// The agent's program.
    pub program: PathBuf,
    pub prompt: String,
    pub cwd: PathBuf,
    pub model: Option<String>,
    pub agent_args: Vec<String>,
    /// Starts this program as the guard: it calls [`crate::guard::run`].
    pub guard: Command,
    lifecycle: Lifecycle,
    mcp_servers: McpServers,
}

/// Why a run did not come about.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("{0} is not UTF-8")]
    NotText(PathBuf),
    #[error("cannot start the guard of the agent")]
    Guard(#[source] io::Error),
}

/// Something to show.
#[derive(Debug)]
pub enum Output<'a> {
    /// A line as the agent wrote it, with its end.
    Line { stream: Stream, bytes: &'a [u8], show: bool },
    /// What it says. A result comes with its tool.
    Event { event: &'a Event, tool: Option<&'a Tool> },
}

/// How a run ended.
#[derive(Debug)]
pub struct Ending {
    /// The agent's exit code; none when its guard was killed.
    pub code: Option<i32>,
    pub cancelled: bool,
    /// How far the pruner's server came, before the shutdown.
    pub pruner: RunState,
    pub tally: Tally,
    /// Why there was no more output, when its reader failed.
    pub output_error: Option<io::Error>,
}

impl Run {
    /// `run:init`: decides on the pruner. `setting_problem` is what kept a setting of the pruner's from being read.
    pub fn new(
        provider: &'static dyn Provider,
        program: PathBuf,
        guard: Command,
        pruner: Result<&PrunerSettings, String>,
        resolution: &Resolution<'_>,
    ) -> Run {
        let mut lifecycle = Lifecycle::default();
        let wired =
            pruner.map_err(WiringError::Setting).and_then(|settings| wire_pruner(settings, resolution));
        let mcp_servers = match wired {
            Ok(Wiring::Servers(servers)) => {
                lifecycle.apply(RunEvent::ConfigResolved, "");
                servers
            }
            Ok(Wiring::Disabled) => {
                lifecycle.apply(RunEvent::DisabledByConfig, "JEEVES_PRUNER_ENABLED=1 enables it");
                McpServers::new()
            }
            Err(error) => {
                lifecycle.apply(RunEvent::ConfigInvalid, &error.to_string());
                McpServers::new()
            }
        };
        Run {
            provider,
            program,
            prompt: String::new(),
            cwd: resolution.cwd.to_owned(),
            model: None,
            agent_args: Vec::new(),
            guard,
            lifecycle,
            mcp_servers,
        }
    }

    pub fn state(&self) -> RunState {
        self.lifecycle.state()
    }

    /// Starts the agent.
    pub fn start(mut self) -> Result<Running, RunError> {
        let options =
            RunOptions { mcp_servers: self.mcp_servers, model: self.model, agent_args: self.agent_args };
        let args = self.provider.arguments(&options);
        let order = Order { program: text(&self.program)?, args, prompt: self.prompt };
        self.guard.current_dir(&self.cwd).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Should the guard be killed, what is below it comes to us.
        descendants::adopt_orphans();
        let mut guard = self.guard.spawn().map_err(RunError::Guard)?;
        let lifeline = guard.stdin.take().ok_or_else(|| RunError::Guard(io::ErrorKind::BrokenPipe.into()))?;
        let canceller = Canceller { lifeline: Arc::new(Mutex::new(Lifeline { pipe: lifeline, asked: 0 })) };
        // A guard that is gone already tells why on its stderr.
        let _ = canceller.send_order(&order);
        let (send, happenings) = sync_channel(LINES_IN_WAITING);
        if let Some(stdout) = guard.stdout.take() {
            let send = send.clone();
            std::thread::spawn(move || pass_on(stdout, Stream::Stdout, &send));
        }
        if let Some(stderr) = guard.stderr.take() {
            let send = send.clone();
            std::thread::spawn(move || pass_on(stderr, Stream::Stderr, &send));
        }
        std::thread::spawn(move || wait_for(guard, &send));
        Ok(Running { provider: self.provider, lifecycle: self.lifecycle, canceller, happenings })
    }
}

fn text(path: &Path) -> Result<String, RunError> {
    path.to_str().map(str::to_owned).ok_or_else(|| RunError::NotText(path.to_owned()))
}

enum Happening {
    Line(Stream, Vec<u8>),
    StreamEnded,
    GuardEnded(io::Result<ExitStatus>),
}

fn pass_on(stream: impl Read, which: Stream, send: &SyncSender<Happening>) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        match stream.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) if send.send(Happening::Line(which, line)).is_err() => return,
            Ok(_) => {}
        }
    }
    let _ = send.send(Happening::StreamEnded);
}

fn wait_for(mut guard: Child, send: &SyncSender<Happening>) {
    let _ = send.send(Happening::GuardEnded(guard.wait()));
}

/// Ends a run from anywhere.
#[derive(Clone)]
pub struct Canceller {
    lifeline: Arc<Mutex<Lifeline>>,
}

struct Lifeline {
    pipe: ChildStdin,
    asked: u32,
}

impl Canceller {
    /// Ends the run in good order; asked again, at once.
    pub fn cancel(&self) {
        let mut lifeline = self.lifeline.lock().unwrap_or_else(PoisonError::into_inner);
        lifeline.asked += 1;
        let byte = if lifeline.asked == 1 { END } else { END_AT_ONCE };
        // A guard that has ended already has done what is asked.
        let _ = lifeline.pipe.write_all(&[byte]);
    }

    fn cancelled(&self) -> bool {
        self.lifeline.lock().unwrap_or_else(PoisonError::into_inner).asked > 0
    }

    fn send_order(&self, order: &Order) -> io::Result<()> {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        self.lifeline.lock().unwrap_or_else(PoisonError::into_inner).pipe.write_all(&line)
    }
}

/// A run under way. Dropping it ends it.
pub struct Running {
    provider: &'static dyn Provider,
    lifecycle: Lifecycle,
    canceller: Canceller,
    happenings: Receiver<Happening>,
}

impl Running {
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// Follows the run to its end. `show` gets all that the agent writes and says; when it fails, the run is ended.
    pub fn follow(mut self, mut show: impl FnMut(Output<'_>) -> io::Result<()>) -> Ending {
        let mut transcript = self.provider.transcript();
        let mut tally = Tally::default();
        let mut output_error = None;
        let (mut open_streams, mut guard) = (2, None);
        while open_streams > 0 || guard.is_none() {
            let happening = match guard {
                Some(_) => self.happenings.recv_timeout(STREAMS_PATIENCE).ok(),
                None => self.happenings.recv().ok(),
            };
            match happening {
                Some(Happening::Line(stream, bytes)) => {
                    let line = String::from_utf8_lossy(&bytes);
                    let reading = transcript.read(stream, line.trim_end_matches(['\r', '\n']));
                    tally.unknown_reports += u64::from(reading.unknown);
                    let mut outputs =
                        vec![(Output::Line { stream, bytes: &bytes, show: reading.show }, None)];
                    // A server that is lost while the run is being ended is lost to us.
                    let cancelled = self.canceller.cancelled();
                    for event in &reading.events {
                        if !cancelled {
                            self.lifecycle.observe(event);
                        }
                        outputs.push((Output::Event { event, tool: None }, tally.count(event)));
                    }
                    for (mut output, of) in outputs {
                        if let Output::Event { tool, .. } = &mut output {
                            *tool = of.as_ref();
                        }
                        if output_error.is_none()
                            && let Err(error) = show(output)
                        {
                            output_error = Some(error);
                            self.canceller.cancel();
                        }
                    }
                }
                Some(Happening::StreamEnded) => open_streams -= 1,
                Some(Happening::GuardEnded(status)) => {
                    let code = status.ok().and_then(|status| status.code());
                    if code.is_none() {
                        end_the_orphans();
                    }
                    guard = Some(code);
                }
                None => break,
            }
        }
        let pruner = self.lifecycle.state();
        self.lifecycle.end();
        Ending { code: guard.flatten(), cancelled: self.canceller.cancelled(), pruner, tally, output_error }
    }
}

/// Does what a guard that was killed can do no more.
fn end_the_orphans() {
    tracing::warn!("the guard of the agent was killed; ending what it guarded");
    for signal in [Signal::TERM, Signal::KILL] {
        descendants::signal_all(signal);
        let deadline = Instant::now() + TERMINATION_PATIENCE;
        while descendants::count() > 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
