use std::io::IsTerminal;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use tamis_agents::{LockHolder, lock_holder};
use tamis_config::{Config, ConfigEnvironment};
use tamis_coordinator::{AgentService, Leadership};
use tamis_dashboard::{Dashboard, DashboardSettings, NowClient};
use tamis_process::{Process, terminate};
use tamis_server::{
    BoundListener, Exposure, HostPolicy, HttpDoor, HttpSettings, Served, ServerProfile, ServerToken, bind,
};
use tamis_setup::{ConnectionState, Setup, SetupClient, SetupPart};
use tamis_store::{DataDir, Lock, create_private_dir};
use tamis_tools::{Registry, Services};
use tokio_util::sync::CancellationToken;

use super::{gain, reach};
use crate::error::{CliError, CliResult};
use crate::startup::help_with_default;
use crate::{print, signals, startup};

mod health;

/// The lock of the process that starts a server, in the folder of agents.
pub(crate) const START_LOCK: &str = "serve.lock";

/// Time limit for a server to end after it got the signal. It finishes running requests first.
const STOP_LIMIT: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Serve every tool over HTTP on this machine
///
/// Serves the dashboard at /, MCP at /mcp, JSON-RPC at /rpc, swe-pruner's API at /prune, agents at /api, their events at /ws, and
/// /metrics and /health. Also coordinates the agents of the data folder; if another `tamis serve` already does, forwards to it and takes over
/// when it ends. On Ctrl-C or SIGTERM, finishes running requests and exits; agents keep running in tmux. --stop stops the
/// coordinator, such as one that `tamis agents start` started in the background.
#[derive(Args)]
pub(crate) struct Serve {
    /// Stop the coordinator of the data folder
    #[arg(long, exclusive = true)]
    stop: bool,
    #[arg(
        long,
        value_name = "ADDRESS",
        help = help_with_default("Address to listen on; any address other than loopback exposes the server to the network", "http.host")
    )]
    host: Option<String>,
    #[arg(long, help = help_with_default("Port to listen on; 0 picks a free one", "http.port"))]
    port: Option<u16>,
    /// Additional port to listen on, for clients that expect a pruner on 8006
    #[arg(long, value_name = "PORT")]
    pruner_port: Option<u16>,
    /// Additional port to listen on, for clients that expect /prune on 8000
    #[arg(long, value_name = "PORT")]
    prune_port: Option<u16>,
}

pub(crate) fn run(arguments: Serve) -> CliResult {
    if arguments.stop {
        return stop(&DataDir::at(startup::load(&ConfigEnvironment::of_process())?.data_dir()));
    }
    let environment = ConfigEnvironment::of_process()
        .flag("http.host", arguments.host)
        .flag("http.port", arguments.port)
        .flag("http.pruner_port", arguments.pruner_port)
        .flag("http.prune_port", arguments.prune_port);
    let config = startup::load(&environment)?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CliError::internal)?;
    let served = runtime.block_on(serve(&config));
    // Requests that outlasted the shutdown are not waited for again.
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

/// Ends the coordinating server, and waits until it has ended.
fn stop(data_dir: &DataDir) -> CliResult {
    let Some(LockHolder { pid, url }) = lock_holder(data_dir) else {
        print::note("no server coordinates the agents of this data folder");
        return Ok(());
    };
    let server = i32::try_from(pid).ok().and_then(Process::find);
    terminate(pid).map_err(|error| {
        CliError::failed(anyhow::Error::new(error).context(format!("cannot stop process {pid}")))
    })?;
    let deadline = Instant::now() + STOP_LIMIT;
    // It gives the lock back before it counts its last calls.
    let holds_lock = || lock_holder(data_dir).is_some_and(|holder| holder.pid == pid);
    while holds_lock() || server.is_some_and(|server| server.is_alive()) {
        if Instant::now() >= deadline {
            let error = anyhow::anyhow!("process {pid} has not ended after {} seconds", STOP_LIMIT.as_secs());
            return Err(CliError::failed(error)
                .hint(format!("it finishes running requests first; `kill {pid}` ends it at once")));
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    print::note(format_args!("stopped the server at {url} (process {pid}); agents keep running in tmux"));
    Ok(())
}

async fn serve(config: &Config) -> CliResult {
    let start_lock = start_lock(config);
    let bound = listeners(config).await?;
    let token = token(config, &bound)?;
    let services = startup::services(config)?;
    let shutdown = CancellationToken::new();
    let settings = HttpSettings {
        max_body_bytes: config.http.max_body_bytes.value,
        hosts: HostPolicy { allowed_names: config.http.allowed_hosts.value.clone() },
        token,
        dashboard: Some(Arc::new(dashboard(config, &services)?)),
    };
    let served = Served {
        registry: Arc::new(Registry::all()),
        services: Arc::clone(&services),
        profile: &ServerProfile::TAMIS,
    };
    let door = HttpDoor::new(served, settings);

    for bound in &bound {
        print::note(format_args!("tamis {} listens on http://{}", env!("CARGO_PKG_VERSION"), bound.address));
    }
    print_link(&door, &own_url(&bound));
    // Folders that cannot be researched are reported now, not by the first question.
    services.research();
    if let Some(agents) = services.agents() {
        agents.lead(&own_url(&bound), print_leadership).map_err(CliError::internal)?;
    }
    drop(start_lock);
    tokio::spawn(startup::clean_up_now_and_then(Arc::clone(&services), Duration::ZERO));
    tokio::spawn(signals::watch(shutdown.clone()));
    tamis_server::serve(&door, bound, shutdown).await;
    services.workbench.process_groups.end_all().await;
    let finish = move || {
        if let Some(agents) = services.agents() {
            resign(agents);
        }
        startup::finish(&services);
    };
    tokio::task::spawn_blocking(finish).await.map_err(CliError::internal)
}

/// Held from before the server listens until a coordinator is known, so that a process that needs one meanwhile waits for this
/// server instead of starting a second. `None` if the process that started this server holds it.
fn start_lock(config: &Config) -> Option<Lock> {
    let folder = DataDir::at(config.data_dir()).agents();
    // Without the folder there are no agents to coordinate; commands that need it report the error.
    create_private_dir(&folder).ok()?;
    Lock::try_acquire(&folder.join(START_LOCK)).ok().flatten()
}

/// The dashboard for this server.
fn dashboard(config: &Config, services: &Arc<Services>) -> Result<Dashboard, CliError> {
    let setup = startup::client_setup(config, &ConfigEnvironment::of_process())?;
    let (past, max_chars) = (Arc::clone(services), config.sieve.max_input_chars.value);
    let settings = DashboardSettings {
        version: env!("CARGO_PKG_VERSION"),
        prices: gain::prices(config)?,
        clients: Box::new(move || clients(&setup)),
        reach: Box::new(move || match past.sessions() {
            Some(sessions) => reach::for_page(&sessions.trace, max_chars),
            None => Err("past sessions are not served here".to_owned()),
        }),
        health: health::sources(config, services)?,
    };
    Ok(Dashboard::new(Arc::clone(services), settings))
}

/// The clients that can be connected, and whether they are.
fn clients(setup: &Setup) -> Vec<NowClient> {
    let client = |client: &SetupClient| NowClient {
        name: client.name(),
        display_name: client.display_name(),
        is_installed: client.is_installed(&setup.environment),
        is_connected: [SetupPart::Mcp, SetupPart::Hooks].iter().any(|part| {
            let connections = setup.connections(*client, *part);
            connections.into_iter().flatten().any(|connection| connection.state == ConnectionState::Active)
        }),
        command: format!("tamis setup {}", client.name()),
    };
    SetupClient::ALL.iter().map(client).collect()
}

/// The link to the dashboard, for a person only: it signs in whoever reads it first.
fn print_link(door: &HttpDoor, url: &str) {
    if let Some(code) = std::io::stderr().is_terminal().then(|| door.page_code()).flatten() {
        print::note(format_args!("dashboard: {url}/#code={code} (works once; `tamis open` gives another)"));
    }
}

fn print_leadership(leadership: &Leadership) {
    match leadership {
        Leadership::Leader => print::note("coordinates the agents of this data folder"),
        Leadership::Forwarding(LockHolder { url, pid }) => print::note(format_args!(
            "another server (process {pid}, at {url}) coordinates the agents of this data folder; calls of agents are \
             forwarded to it"
        )),
    }
}

/// The URL at which other processes of this machine reach this server.
fn own_url(bound: &[BoundListener]) -> String {
    let Some(bound) = bound.first() else { return String::new() };
    let mut address = bound.address;
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{address}")
}

/// Gives up coordination, with a note if agents are still running: they go on without a coordinator.
fn resign(agents: &AgentService) {
    let coordinated = agents.is_leader();
    agents.resign();
    let instances = agents.archive().and_then(|archive| archive.instances()).unwrap_or_default();
    let live = instances.iter().filter(|instance| instance.status.is_live()).count() as u64;
    if coordinated && live > 0 {
        let agents = print::count(live, "agent");
        print::note(format_args!(
            "{agents} may still be running in tmux; the next `tamis serve` coordinates them"
        ));
    }
}

async fn listeners(config: &Config) -> Result<Vec<BoundListener>, CliError> {
    let http = &config.http;
    let mut wanted = vec![(http.host.value.as_str(), http.port.value)];
    for port in [http.pruner_port.value, http.prune_port.value].into_iter().flatten() {
        let listener = (http.pruner_host.value.as_str(), port);
        // Every listener has every route, so one per address is enough.
        if port == 0 || !wanted.contains(&listener) {
            wanted.push(listener);
        }
    }
    let mut bound = Vec::new();
    for (host, port) in wanted {
        bound.push(bind(host, port).await?);
    }
    Ok(bound)
}

/// The token that gives access to every tool. On loopback the server can run without one; on the network it never does.
fn token(config: &Config, bound: &[BoundListener]) -> Result<Option<ServerToken>, CliError> {
    if let Some(chosen) = &config.http.token.value {
        return Ok(Some(ServerToken::chosen(chosen.reveal())?));
    }
    let data = DataDir::at(config.data_dir());
    let exposed = bound.iter().find(|bound| bound.exposure == Exposure::Network);
    if let Some(bound) = exposed {
        return match ServerToken::load(&data.token())? {
            Some(token) => Ok(Some(token)),
            None => Err(CliError::usage(format_args!(
                "cannot listen on `{}`: other machines can reach it, and there is no token yet",
                bound.address
            ))
            .hint("create and print a token with `tamis token`, and pass it to the clients")),
        };
    }
    let made = data
        .create()
        .map_err(CliError::failed)
        .and_then(|()| Ok(ServerToken::load_or_create(&data.token())?));
    Ok(match made {
        Ok(token) => Some(token),
        Err(error) => {
            tracing::warn!(
                "cannot store a token, so only tools that do not need one are served: {:#}",
                error.error
            );
            None
        }
    })
}
