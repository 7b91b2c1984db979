//! One run: an agent behind its minder, what it writes as it comes, and what is made of it.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::minder::{Order, TERMINATION_PATIENCE};
use crate::{
    Call, Canceller, Event, Lifecycle, McpServers, Provider, PrunerSettings, Resolution, RunEvent,
    RunOptions, ServerStatus, Stream, Tally, Tool, Transcript, Wiring, approved_tools, descendants,
    wire_pruner,
};

/// Longer lines are passed on in pieces, and not understood.
const MAX_LINE_BYTES: u64 = 16 << 20;
/// Lines that wait to be written: few, since each may be long, so that a slow reader slows the agent down instead of
/// filling memory.
const LINES_IN_WAITING: usize = 2;
/// How long the streams may be silent, and yet open, when the minder has ended: only a process that it could not end
/// holds them then.
const STREAMS_PATIENCE: Duration = Duration::from_secs(5);

/// What is to be run.
pub struct Request {
    pub provider: &'static dyn Provider,
    /// The agent's program.
    pub program: PathBuf,
    pub prompt: String,
    /// Where the agent works.
    pub cwd: PathBuf,
    pub model: Option<String>,
    pub agent_args: Vec<String>,
    /// Starts this program as the minder: it calls [`crate::minder::run`].
    pub minder: Command,
}

/// A run that is about to start: the pruner is decided on.
pub struct Run {
    request: Request,
    lifecycle: Lifecycle,
    mcp_servers: McpServers,
    approved: Vec<Tool>,
}

/// Why a run did not come about.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("{0} is not UTF-8")]
    NotText(PathBuf),
    #[error("cannot start the minder of the agent")]
    Minder(#[source] io::Error),
}

/// Something to show.
#[derive(Debug)]
pub enum Output<'a> {
    /// A line as the agent wrote it, with its end.
    Line { stream: Stream, bytes: &'a [u8], show: bool },
    /// What it says. A result comes with its call.
    Event { event: &'a Event, call: Option<&'a Call> },
}

/// How a run ended.
#[derive(Debug)]
pub struct Ending {
    /// The agent's exit code; none when its minder was killed.
    pub code: Option<i32>,
    pub cancelled: bool,
    pub tally: Tally,
    /// Why there was no more output, when its reader failed.
    pub output_error: Option<io::Error>,
}

impl Run {
    /// `run:init`.
    pub fn init(
        request: Request,
        settings: &PrunerSettings,
        own_program: Option<&Path>,
        path_variable: Option<&OsStr>,
    ) -> Run {
        let resolution = Resolution { cwd: &request.cwd, own_program, path_variable };
        let mut lifecycle = Lifecycle::default();
        let mcp_servers = match wire_pruner(settings, &resolution) {
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
        let approved = if mcp_servers.is_empty() { Vec::new() } else { approved_tools(settings) };
        Run { request, lifecycle, mcp_servers, approved }
    }

    /// Whether the agent will be told of the pruner's server.
    pub fn is_wired(&self) -> bool {
        !self.mcp_servers.is_empty()
    }

    /// Starts the agent.
    pub fn start(self) -> Result<Running, RunError> {
        let Request { provider, program, prompt, cwd, model, agent_args, mut minder } = self.request;
        let (mcp_servers, approved) = (self.mcp_servers, self.approved);
        let args = provider.arguments(&RunOptions { mcp_servers, approved, model, agent_args });
        let order = Order { program: text(&program)?, args, prompt };
        minder.current_dir(cwd).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Should the minder be killed, what is below it comes to us.
        descendants::adopt_orphans();
        let mut minder = minder.spawn().map_err(RunError::Minder)?;
        let lifeline =
            minder.stdin.take().ok_or_else(|| RunError::Minder(io::ErrorKind::BrokenPipe.into()))?;
        let canceller = Canceller::new(lifeline);
        // A minder that is gone already tells why on its stderr.
        let _ = canceller.send_order(&order);
        let (send, happenings) = sync_channel(LINES_IN_WAITING);
        if let Some(stdout) = minder.stdout.take() {
            let send = send.clone();
            std::thread::spawn(move || pass_on(stdout, Stream::Stdout, &send));
        }
        if let Some(stderr) = minder.stderr.take() {
            let send = send.clone();
            std::thread::spawn(move || pass_on(stderr, Stream::Stderr, &send));
        }
        std::thread::spawn(move || wait_for(minder, &send));
        Ok(Running { provider, lifecycle: self.lifecycle, canceller, happenings })
    }
}

fn text(path: &Path) -> Result<String, RunError> {
    path.to_str().map(str::to_owned).ok_or_else(|| RunError::NotText(path.to_owned()))
}

enum Happening {
    Line(Stream, Vec<u8>),
    StreamEnded,
    MinderEnded(io::Result<ExitStatus>),
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

fn wait_for(mut minder: Child, send: &SyncSender<Happening>) {
    let _ = send.send(Happening::MinderEnded(minder.wait()));
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
    pub fn follow(mut self, show: impl FnMut(Output<'_>) -> io::Result<()>) -> Ending {
        let mut following = Following {
            transcript: self.provider.transcript(),
            tally: Tally::default(),
            output_error: None,
            canceller: self.canceller.clone(),
            show,
        };
        let (mut open_streams, mut minder) = (2, None);
        while open_streams > 0 || minder.is_none() {
            let happening = match minder {
                Some(_) => self.happenings.recv_timeout(STREAMS_PATIENCE).ok(),
                None => self.happenings.recv().ok(),
            };
            match happening {
                Some(Happening::Line(stream, bytes)) => following.line(&mut self.lifecycle, stream, &bytes),
                Some(Happening::StreamEnded) => open_streams -= 1,
                Some(Happening::MinderEnded(status)) => {
                    let code = status.ok().and_then(|status| status.code());
                    if code.is_none() {
                        end_the_orphans();
                    }
                    minder = Some(code);
                }
                None => break,
            }
        }
        self.lifecycle.end();
        Ending {
            code: minder.flatten(),
            cancelled: self.canceller.cancelled(),
            tally: following.tally,
            output_error: following.output_error,
        }
    }
}

/// What is made of the agent's lines.
struct Following<Show> {
    transcript: Box<dyn Transcript>,
    tally: Tally,
    output_error: Option<io::Error>,
    canceller: Canceller,
    show: Show,
}

impl<Show: FnMut(Output<'_>) -> io::Result<()>> Following<Show> {
    fn line(&mut self, lifecycle: &mut Lifecycle, stream: Stream, bytes: &[u8]) {
        let line = String::from_utf8_lossy(bytes);
        let reading = self.transcript.read(stream, line.trim_end_matches(['\r', '\n']));
        self.tally.unknown_reports += u64::from(reading.unknown);
        self.show(Output::Line { stream, bytes, show: reading.show });
        for event in &reading.events {
            if !self.is_our_doing(event) {
                lifecycle.observe(event);
            }
            let call = self.tally.count(event);
            self.show(Output::Event { event, call: call.as_ref() });
        }
    }

    /// A server that is lost while the run is being ended.
    fn is_our_doing(&self, event: &Event) -> bool {
        let lost = matches!(event, Event::McpServer { status: ServerStatus::Failed(_), .. });
        lost && self.canceller.cancelled()
    }

    fn show(&mut self, output: Output<'_>) {
        if self.output_error.is_none()
            && let Err(error) = (self.show)(output)
        {
            self.output_error = Some(error);
            self.canceller.cancel();
        }
    }
}

/// Does what a minder that was killed can do no more.
fn end_the_orphans() {
    tracing::warn!("the minder of the agent was killed; ending what is left");
    for signal in [Signal::TERM, Signal::KILL] {
        descendants::signal_all(signal);
        let deadline = Instant::now() + TERMINATION_PATIENCE;
        while descendants::count() > 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
