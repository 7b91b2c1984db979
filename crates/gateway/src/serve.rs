//! Running a gateway: starts the servers, reads from both sides, and ends everything in order.

use std::io::{BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::pin::Pin;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

use tamis_process::{ProcessGroups, Program, ProgramError, RunningProgram};
use tamis_tools::Services;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::client_output::ClientOutput;
use crate::gateway::Gateway;
use crate::http_link::HttpLink;
use crate::lines::{MAX_LINE_BYTES, ReadLine, read_line};
use crate::server::{Link, Server};
use crate::settings::{GatewayServer, GatewaySettings, ServerConnection};

/// How long servers have to end by themselves when the client has closed our input.
const IDLE_GRACE_PERIOD: Duration = Duration::from_secs(2);

/// The same while they have requests to answer.
const BUSY_GRACE_PERIOD: Duration = Duration::from_secs(5);

/// How long what a server wrote before its end may take to arrive. A process that it left behind may hold its stdout open.
const DRAIN_PERIOD: Duration = Duration::from_millis(500);

/// How long answers that are being made may take at the end.
const FINISH_PERIOD: Duration = Duration::from_secs(5);

/// How often the end looks whether requests are still to be answered.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Why a gateway ended before its client.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    #[error("cannot start the MCP server `{name}`")]
    Start { name: String, source: ProgramError },
    #[error("the MCP server `{name}` {how}")]
    ServerEnded { name: String, how: String },
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
}

/// Serves one client until it closes its end or `shutdown`, then ends the servers. Fails when all servers have ended before.
/// Programs are started with the services' process groups.
pub async fn serve(
    settings: GatewaySettings,
    services: Arc<Services>,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    shutdown: CancellationToken,
) -> Result<(), GatewayError> {
    let groups = services.workbench.process_groups.clone();
    let mut servers = Vec::new();
    let mut sources = Vec::new();
    for (index, GatewayServer { name, connection }) in settings.servers.into_iter().enumerate() {
        let (link, source) = match connect(&groups, &name, connection) {
            Ok(connected) => connected,
            Err(error) => {
                groups.end_all().await;
                return Err(error);
            }
        };
        servers.push(Server::new(index, name, link));
        sources.push(source);
    }
    let gateway = Arc::new(Gateway::new(
        servers,
        ClientOutput::new(output),
        settings.pruning,
        services,
        settings.project,
        Handle::current(),
    ));
    let result = Session::start(&gateway, sources, input)?.run(shutdown).await;
    groups.end_all().await;
    for server in &gateway.servers {
        server.end().await;
    }
    gateway.tasks.close();
    let _ = timeout(FINISH_PERIOD, gateway.tasks.wait()).await;
    result
}

/// Where a server's messages come from, and how its end is noticed.
enum Source {
    Stdout { stdout: Box<dyn Read + Send>, running: Option<RunningProgram> },
    Http { ended: mpsc::UnboundedReceiver<String> },
}

fn connect(
    groups: &ProcessGroups,
    name: &str,
    connection: ServerConnection,
) -> Result<(Link, Source), GatewayError> {
    Ok(match connection {
        ServerConnection::Program { program, args, env, folder } => {
            let mut program = Program::new(program).args(args).envs(env);
            if let Some(folder) = folder {
                program = program.folder(folder);
            }
            let started = groups.start(program);
            let (running, pipes) =
                started.map_err(|source| GatewayError::Start { name: name.to_owned(), source })?;
            let source = Source::Stdout { stdout: Box::new(pipes.stdout), running: Some(running) };
            (Link::stdin(pipes.stdin), source)
        }
        ServerConnection::Url { url, headers } => {
            let (link, ended) = HttpLink::new(url, headers);
            (Link::Http(Box::new(link)), Source::Http { ended })
        }
        ServerConnection::Pipes { stdin, stdout } => {
            (Link::stdin(stdin), Source::Stdout { stdout, running: None })
        }
    })
}

fn read_client(gateway: &Arc<Gateway>, input: impl Read) {
    let mut input = BufReader::with_capacity(64 << 10, input);
    let mut line = Vec::new();
    loop {
        match read_line(&mut input, &mut line, MAX_LINE_BYTES) {
            Ok(Some(ReadLine::Whole)) => gateway.from_client(&line),
            Ok(Some(ReadLine::Beginning)) => {
                if gateway.long_from_client(&line, &mut input).is_err() {
                    return;
                }
            }
            Ok(None) | Err(_) => return,
        }
    }
}

fn read_server(gateway: &Arc<Gateway>, server: usize, stdout: impl Read) {
    let server = &gateway.servers[server];
    let mut stdout = BufReader::with_capacity(64 << 10, stdout);
    let mut line = Vec::new();
    loop {
        match read_line(&mut stdout, &mut line, MAX_LINE_BYTES) {
            Ok(Some(ReadLine::Whole)) => gateway.from_server(server, &line),
            Ok(Some(ReadLine::Beginning)) => {
                if gateway.client.write_long(&line, &mut stdout).is_err() {
                    return;
                }
            }
            Ok(None) | Err(_) => return,
        }
    }
}

/// Waits for one end or the other.
struct Session<'a> {
    gateway: &'a Arc<Gateway>,
    client_closed: oneshot::Receiver<()>,
    /// The servers that have ended, and how.
    ended: mpsc::UnboundedReceiver<(usize, String)>,
    /// How many have not.
    running: usize,
}

impl<'a> Session<'a> {
    /// Starts the threads that read.
    fn start(
        gateway: &'a Arc<Gateway>,
        sources: Vec<Source>,
        input: impl Read + Send + 'static,
    ) -> Result<Session<'a>, GatewayError> {
        let running = sources.len();
        let (send_end, ended) = mpsc::unbounded_channel();
        for (server, source) in sources.into_iter().enumerate() {
            let end = start_reading(gateway, server, source)?;
            let send_end = send_end.clone();
            tokio::spawn(async move {
                // The session may be over.
                let _ = send_end.send((server, end.await));
            });
        }
        let client = Arc::clone(gateway);
        let client_closed = on_thread(move || read_client(&client, input))?;
        Ok(Session { gateway, client_closed, ended, running })
    }

    async fn run(mut self, shutdown: CancellationToken) -> Result<(), GatewayError> {
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return Ok(()),
                () = self.gateway.client.closed.cancelled() => return Ok(()),
                _ = &mut self.client_closed => {
                    self.close(&shutdown).await;
                    return Ok(());
                }
                Some((server, how)) = self.ended.recv() => {
                    self.note_end(server, &how).await;
                    if self.running == 0 {
                        let name = self.gateway.servers[server].name.clone();
                        return Err(GatewayError::ServerEnded { name, how });
                    }
                }
            }
        }
    }

    async fn note_end(&mut self, server: usize, how: &str) {
        self.running -= 1;
        let gateway = Arc::clone(self.gateway);
        let name = &gateway.servers[server].name;
        tracing::debug!(server = name, how, "the server has ended");
        let _ = gateway.servers[server].end.set(how.to_owned());
        // Writing to the client and to other servers may block. It fails only when the runtime ends.
        let _ = spawn_blocking(move || gateway.answer_for_ended(&gateway.servers[server])).await;
    }

    /// The client sends nothing more: gives the servers time to answer and to end.
    async fn close(&mut self, shutdown: &CancellationToken) {
        self.gateway.servers.iter().for_each(|server| server.close(self.gateway));
        let begun = Instant::now();
        while self.running > 0 {
            let is_busy = self.gateway.servers.iter().any(|server| !server.in_flight.is_empty());
            let deadline = begun + if is_busy { BUSY_GRACE_PERIOD } else { IDLE_GRACE_PERIOD };
            if Instant::now() >= deadline {
                return;
            }
            tokio::select! {
                Some((server, how)) = self.ended.recv() => self.note_end(server, &how).await,
                () = sleep(CHECK_INTERVAL) => {}
                () = shutdown.cancelled() => return,
                () = self.gateway.client.closed.cancelled() => return,
            }
        }
    }
}

/// Starts to handle what a server writes. The future resolves when the server has ended, to how.
fn start_reading(
    gateway: &Arc<Gateway>,
    server: usize,
    source: Source,
) -> Result<Pin<Box<dyn Future<Output = String> + Send>>, GatewayError> {
    Ok(match source {
        Source::Stdout { stdout, running } => {
            let gateway = Arc::clone(gateway);
            let stdout_closed = on_thread(move || read_server(&gateway, server, stdout))?;
            let exited = running.map(|running| on_thread(move || exit_of(running))).transpose()?;
            Box::pin(end_of(stdout_closed, exited))
        }
        Source::Http { mut ended } => Box::pin(async move { ended.recv().await.unwrap_or_default() }),
    })
}

/// Runs work that blocks on a thread of its own; it may outlive the session.
fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<oneshot::Receiver<T>, GatewayError> {
    let (send, done) = oneshot::channel();
    thread::Builder::new().spawn(move || drop(send.send(work()))).map_err(GatewayError::Thread)?;
    Ok(done)
}

fn exit_of(running: RunningProgram) -> String {
    running.wait().map_or_else(|error| format!("cannot be waited for: {error}"), describe)
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// How a server ends. All that it has written is handled first.
async fn end_of(
    mut stdout_closed: oneshot::Receiver<()>,
    exited: Option<oneshot::Receiver<String>>,
) -> String {
    let closed_output = || "closed its output".to_owned();
    let Some(mut exited) = exited else {
        let _ = stdout_closed.await;
        return closed_output();
    };
    tokio::select! {
        how = &mut exited => {
            let _ = timeout(DRAIN_PERIOD, stdout_closed).await;
            how.unwrap_or_else(|_| closed_output())
        }
        _ = &mut stdout_closed => {
            timeout(DRAIN_PERIOD, exited).await.ok().and_then(Result::ok).unwrap_or_else(closed_output)
        }
    }
}
