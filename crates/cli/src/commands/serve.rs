use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tamis_agents::LockHolder;
use tamis_config::{Config, ConfigEnvironment};
use tamis_coordinator::{AgentService, Leadership};
use tamis_server::{
    BoundListener, Exposure, HostPolicy, HttpDoor, HttpSettings, Served, ServerProfile, ServerToken, bind,
};
use tamis_store::{DataDir, Lock, create_private_dir};
use tokio_util::sync::CancellationToken;

use crate::error::{CliError, CliResult};
use crate::{print, setup, signals};

/// The lock of whoever starts a server, in the folder of agents.
pub(crate) const START_LOCK: &str = "serve.lock";

/// Serve every tool over HTTP on this machine
///
/// MCP at /mcp, JSON-RPC at /rpc, swe-pruner's contract at /prune, agents at /api, their events at /ws, /metrics and /health.
/// Coordinates the agents of the data folder, unless another `tamis serve` does: then it forwards to that one, and takes over
/// when it is gone. Ends with Ctrl-C or SIGTERM, after what is under way; agents go on in tmux.
#[derive(Args)]
pub(crate) struct Serve {
    /// Address to listen on; other machines can reach it only when this is not a loopback one [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    host: Option<String>,
    /// Port to listen on; 0 takes a free one [default: 3001]
    #[arg(long)]
    port: Option<u16>,
    /// Also listen here, for clients that expect a pruner on 8006
    #[arg(long, value_name = "PORT")]
    pruner_port: Option<u16>,
    /// Also listen here, for clients that expect /prune on 8000
    #[arg(long, value_name = "PORT")]
    prune_port: Option<u16>,
}

pub(crate) fn run(arguments: Serve) -> CliResult {
    let environment = ConfigEnvironment::of_process()
        .flag("http.host", arguments.host)
        .flag("http.port", arguments.port)
        .flag("http.pruner_port", arguments.pruner_port)
        .flag("http.prune_port", arguments.prune_port);
    let config = setup::load(&environment)?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CliError::internal)?;
    let served = runtime.block_on(serve(&config));
    // What did not end in good time is not waited for again.
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

async fn serve(config: &Config) -> CliResult {
    let beginning = beginning(config);
    let bound = listeners(config).await?;
    let token = token(config, &bound)?;
    let services = setup::services(config)?;
    let shutdown = CancellationToken::new();
    let settings = HttpSettings {
        max_body_bytes: config.http.max_body_bytes.value,
        hosts: HostPolicy { allowed_names: config.http.allowed_hosts.value.clone() },
        token,
    };
    let served = Served {
        registry: Arc::new(setup::registry(&[])?),
        services: Arc::clone(&services),
        profile: &ServerProfile::TAMIS,
    };
    let door = HttpDoor::new(served, settings);

    for bound in &bound {
        print::note(format_args!("tamis {} listens on http://{}", env!("CARGO_PKG_VERSION"), bound.address));
    }
    // Folders that cannot be researched are reported now, not by the first question.
    services.research();
    if let Some(agents) = services.agents() {
        agents.lead(&own_url(&bound), print_leadership).map_err(CliError::internal)?;
    }
    drop(beginning);
    tokio::spawn(setup::clean_up_now_and_then(Arc::clone(&services), Duration::ZERO));
    tokio::spawn(signals::watch(shutdown.clone()));
    tamis_server::serve(&door, bound, shutdown).await;
    services.workbench.process_groups.end_all().await;
    let finish = move || {
        if let Some(agents) = services.agents() {
            resign(agents);
        }
        setup::finish(&services);
    };
    tokio::task::spawn_blocking(finish).await.map_err(CliError::internal)
}

/// Held from before it listens until it coordinates, or another is known to: whoever looks for a server meanwhile waits for
/// this one, and starts no second. Whoever holds it already has started this one.
fn beginning(config: &Config) -> Option<Lock> {
    let folder = DataDir::at(config.data_dir()).agents();
    // Where it cannot be had there are no agents to coordinate, and that is told by whoever tries.
    create_private_dir(&folder).ok()?;
    Lock::try_acquire(&folder.join(START_LOCK)).ok().flatten()
}

fn print_leadership(leadership: &Leadership) {
    match leadership {
        Leadership::Leader => print::note("coordinates the agents of this data folder"),
        Leadership::Forwarding(LockHolder { url, pid }) => print::note(format_args!(
            "another server coordinates the agents of this data folder, at {url} as process {pid}: calls of agents are \
             forwarded to it"
        )),
    }
}

/// Where other processes of this machine find this one.
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

/// Coordinates no longer, and says so when somebody may miss it. Agents themselves go on.
fn resign(agents: &AgentService) {
    let coordinated = agents.is_leader();
    agents.resign();
    let instances = agents.archive().and_then(|archive| archive.instances()).unwrap_or_default();
    let live = instances.iter().filter(|instance| instance.status.is_live()).count() as u64;
    if coordinated && live > 0 {
        let agents = print::count(live, "agent");
        print::note(format_args!("{agents} may go on in tmux; `tamis serve` takes them up again"));
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

/// The token that opens everything. On loopback tamis does without one if it must; the network never gets in without.
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
                "{} can be reached from other machines, and there is no token yet",
                bound.address
            ))
            .hint("`tamis token` makes one and prints it, for the clients that are to get in")),
        };
    }
    let made = data
        .create()
        .map_err(CliError::failed)
        .and_then(|()| Ok(ServerToken::load_or_create(&data.token())?));
    Ok(match made {
        Ok(token) => Some(token),
        Err(error) => {
            tracing::warn!("no token can be kept, so only open tools are served: {:#}", error.error);
            None
        }
    })
}
