//! One run without a user: the client below its minder, its output as it comes, and the events in it.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use tamis_process::{Canceller, MinderOrder, TERMINATION_GRACE_PERIOD, adopt_orphans, end_descendants};

use crate::{
    ClientEvent, ClientTool, ClientToolCall, McpServerStatus, McpServers, OutputParser, OutputStream,
    Provider, PrunerSettings, PrunerWiring, RunEvent, RunLifecycle, RunOptions, RunTotals, ServerLookup,
    approved_tools, wire_pruner,
};

/// Longer lines are shown in pieces and not parsed.
const MAX_LINE_BYTES: u64 = 16 << 20;
/// Lines that wait to be written: few, since each may be long, so that a slow reader slows the client down instead of filling
/// memory.
const LINES_IN_WAITING: usize = 2;
/// How long the streams may stay open and silent after the minder has ended. Then only a process that it could not end
/// holds them.
const STREAMS_PATIENCE: Duration = Duration::from_secs(5);

/// What to run.
pub struct RunRequest {
    pub provider: &'static dyn Provider,
    /// The client's program.
    pub program: PathBuf,
    pub prompt: String,
    /// The client's working folder.
    pub cwd: PathBuf,
    pub model: Option<String>,
    pub agent_args: Vec<String>,
    /// Starts this program as the minder, which calls [`tamis_process::run_minder`].
    pub minder: Command,
}

/// A run for which it is decided whether the pruner's server is wired in.
pub struct PreparedRun {
    request: RunRequest,
    lifecycle: RunLifecycle,
    mcp_servers: McpServers,
    approved: Vec<ClientTool>,
}

/// Why a run did not start.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("`{0}` is not UTF-8")]
    NotText(PathBuf),
    #[error("cannot start the minder")]
    Minder(#[source] io::Error),
}

/// Output to show.
#[derive(Debug)]
pub enum RunOutput<'a> {
    /// A line as the client wrote it, with its line end.
    Line { stream: OutputStream, bytes: &'a [u8], show: bool },
    /// An event in it. A result comes with its call.
    Event { event: &'a ClientEvent, call: Option<&'a ClientToolCall> },
}

/// How a run ended.
#[derive(Debug)]
pub struct RunOutcome {
    /// The client's exit code; none when the minder was killed.
    pub code: Option<i32>,
    pub cancelled: bool,
    pub totals: RunTotals,
    /// Why showing the output failed, which ended the run.
    pub output_error: Option<io::Error>,
}

impl PreparedRun {
    /// `run:init`.
    pub fn init(
        request: RunRequest,
        settings: &PrunerSettings,
        own_program: Option<&Path>,
        path_variable: Option<&OsStr>,
    ) -> PreparedRun {
        let lookup = ServerLookup { cwd: &request.cwd, own_program, path_variable };
        let mut lifecycle = RunLifecycle::with_pruner(settings.cannot_prune.clone());
        let mcp_servers = match wire_pruner(settings, &lookup) {
            Ok(PrunerWiring::Servers(servers)) => {
                lifecycle.apply(RunEvent::ConfigResolved, "");
                servers
            }
            Ok(PrunerWiring::Disabled) => {
                lifecycle.apply(RunEvent::DisabledByConfig, "JEEVES_PRUNER_ENABLED=1 enables it");
                McpServers::new()
            }
            Err(error) => {
                lifecycle.apply(RunEvent::ConfigInvalid, &error.to_string());
                McpServers::new()
            }
        };
        let approved = if mcp_servers.is_empty() { Vec::new() } else { approved_tools(settings) };
        PreparedRun { request, lifecycle, mcp_servers, approved }
    }

    /// Whether the client gets the pruner's server.
    pub fn is_wired(&self) -> bool {
        !self.mcp_servers.is_empty()
    }

    /// Starts the client.
    pub fn start(self) -> Result<ActiveRun, RunError> {
        let RunRequest { provider, program, prompt, cwd, model, agent_args, mut minder } = self.request;
        let (mcp_servers, approved) = (self.mcp_servers, self.approved);
        let args = provider.arguments(&RunOptions { mcp_servers, approved, model, agent_args });
        let order = MinderOrder { program: text(&program)?, args, stdin: prompt };
        minder.current_dir(cwd).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // If the minder is killed, its children become ours.
        adopt_orphans();
        let mut minder = minder.spawn().map_err(RunError::Minder)?;
        let lifeline =
            minder.stdin.take().ok_or_else(|| RunError::Minder(io::ErrorKind::BrokenPipe.into()))?;
        let canceller = Canceller::new(lifeline);
        // A minder that has ended already reported why on its stderr.
        let _ = canceller.send_order(&order);
        let (send, events) = sync_channel(LINES_IN_WAITING);
        if let Some(stdout) = minder.stdout.take() {
            let send = send.clone();
            std::thread::spawn(move || forward_lines(stdout, OutputStream::Stdout, &send));
        }
        if let Some(stderr) = minder.stderr.take() {
            let send = send.clone();
            std::thread::spawn(move || forward_lines(stderr, OutputStream::Stderr, &send));
        }
        std::thread::spawn(move || wait_for_minder(minder, &send));
        Ok(ActiveRun { provider, lifecycle: self.lifecycle, canceller, events })
    }
}

fn text(path: &Path) -> Result<String, RunError> {
    path.to_str().map(str::to_owned).ok_or_else(|| RunError::NotText(path.to_owned()))
}

enum ProcessEvent {
    Line(OutputStream, Vec<u8>),
    StreamEnded,
    MinderEnded(io::Result<ExitStatus>),
}

fn forward_lines(stream: impl Read, which: OutputStream, send: &SyncSender<ProcessEvent>) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        match stream.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) if send.send(ProcessEvent::Line(which, line)).is_err() => return,
            Ok(_) => {}
        }
    }
    let _ = send.send(ProcessEvent::StreamEnded);
}

fn wait_for_minder(mut minder: Child, send: &SyncSender<ProcessEvent>) {
    let _ = send.send(ProcessEvent::MinderEnded(minder.wait()));
}

/// A run under way. Dropping it ends it.
pub struct ActiveRun {
    provider: &'static dyn Provider,
    lifecycle: RunLifecycle,
    canceller: Canceller,
    events: Receiver<ProcessEvent>,
}

impl ActiveRun {
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// Follows the run to its end. `show` gets all lines and events; when it fails, the run is ended.
    pub fn follow(mut self, show: impl FnMut(RunOutput<'_>) -> io::Result<()>) -> RunOutcome {
        let mut following = Following {
            parser: self.provider.output_parser(),
            totals: RunTotals::default(),
            output_error: None,
            canceller: self.canceller.clone(),
            show,
        };
        let (mut open_streams, mut minder) = (2, None);
        while open_streams > 0 || minder.is_none() {
            let happening = match minder {
                Some(_) => self.events.recv_timeout(STREAMS_PATIENCE).ok(),
                None => self.events.recv().ok(),
            };
            match happening {
                Some(ProcessEvent::Line(stream, bytes)) => {
                    following.line(&mut self.lifecycle, stream, &bytes);
                }
                Some(ProcessEvent::StreamEnded) => open_streams -= 1,
                Some(ProcessEvent::MinderEnded(status)) => {
                    let code = status.ok().and_then(|status| status.code());
                    if code.is_none() {
                        tracing::warn!("the minder was killed; ending the processes that it left behind");
                        end_descendants(TERMINATION_GRACE_PERIOD);
                    }
                    minder = Some(code);
                }
                None => break,
            }
        }
        self.lifecycle.end();
        RunOutcome {
            code: minder.flatten(),
            cancelled: self.canceller.is_cancelled(),
            totals: following.totals,
            output_error: following.output_error,
        }
    }
}

/// Parses the client's lines and counts their events.
struct Following<Show> {
    parser: Box<dyn OutputParser>,
    totals: RunTotals,
    output_error: Option<io::Error>,
    canceller: Canceller,
    show: Show,
}

impl<Show: FnMut(RunOutput<'_>) -> io::Result<()>> Following<Show> {
    fn line(&mut self, lifecycle: &mut RunLifecycle, stream: OutputStream, bytes: &[u8]) {
        let line = String::from_utf8_lossy(bytes);
        let parsed = self.parser.read(stream, line.trim_end_matches(['\r', '\n']));
        self.totals.unknown_reports += u64::from(parsed.unknown);
        self.show(RunOutput::Line { stream, bytes, show: parsed.show });
        for event in &parsed.events {
            if !self.is_caused_by_cancelling(event) {
                lifecycle.observe(event);
            }
            let call = self.totals.count(event);
            self.show(RunOutput::Event { event, call: call.as_ref() });
        }
    }

    /// A server that is lost because the run is being ended.
    fn is_caused_by_cancelling(&self, event: &ClientEvent) -> bool {
        let lost = matches!(event, ClientEvent::McpServer { status: McpServerStatus::Failed(_), .. });
        lost && self.canceller.is_cancelled()
    }

    fn show(&mut self, output: RunOutput<'_>) {
        if self.output_error.is_none()
            && let Err(error) = (self.show)(output)
        {
            self.output_error = Some(error);
            self.canceller.cancel();
        }
    }
}
