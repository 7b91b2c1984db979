use std::io::IsTerminal;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::Args;
use serde::Deserialize;
use tamis_agents::LockHolder;
use tamis_clients::find_program;
use tamis_config::ConfigEnvironment;
use tamis_http::{BearerSecret, HttpUrl, JsonRequest, block_on};
use tamis_server::ServerToken;
use tamis_store::DataDir;

use crate::background_server::coordinator;
use crate::error::{CliError, CliResult};
use crate::{print, startup};

/// Time limit of the server's answer.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// Maximum size of that answer.
const MAX_ANSWER: usize = 4096;

/// Open the dashboard in a browser
///
/// Prints a link that signs one browser in, once, within ten minutes, and opens it. Starts `tamis serve` in the background if no
/// server is running; `tamis serve --stop` stops it.
#[derive(Args)]
pub(crate) struct Open {
    /// Print the link and open nothing
    #[arg(long)]
    print: bool,
}

#[derive(Deserialize)]
struct Link {
    code: String,
}

pub(crate) fn run(arguments: &Open) -> CliResult {
    let config = startup::load(&ConfigEnvironment::of_process())?;
    let (LockHolder { url, .. }, was_started) = coordinator(&config)?;
    if was_started {
        print::note(format_args!("started `tamis serve` at {url}; `tamis serve --stop` stops it"));
    }
    let token = match &config.http.token.value {
        Some(chosen) => Some(ServerToken::chosen(chosen.reveal())?),
        None => ServerToken::load(&DataDir::at(config.data_dir()).token())?,
    };
    let secret = token.and_then(|token| BearerSecret::new(token.reveal()));
    let code = request_code(&url, secret.as_ref())?;
    let link = format!("{}/#code={code}", url.trim_end_matches('/'));
    print::line(&link)?;
    if !arguments.print && !open_browser(&link) && std::io::stderr().is_terminal() {
        print::note("no browser could be started here: open the link in one");
    }
    Ok(())
}

fn request_code(url: &str, secret: Option<&BearerSecret>) -> Result<String, CliError> {
    let address: HttpUrl = format!("{}/api/page/link", url.trim_end_matches('/'))
        .parse()
        .with_context(|| format!("invalid address of the server: {url}"))
        .map_err(CliError::failed)?;
    let request = JsonRequest { secret, ..JsonRequest::new(&address, Some("{}".to_owned()), MAX_ANSWER) };
    let failed = |error: anyhow::Error| {
        CliError::failed(error.context(format!("the server at {url} gives no link")))
            .hint("`tamis serve --stop` ends it; then run `tamis open` again")
    };
    let response = block_on(request.send_directly(TIME_LIMIT))
        .flatten()
        .map_err(|error| failed(anyhow::Error::new(error)))?;
    match response.status {
        200 => serde_json::from_slice(&response.body)
            .map(|Link { code }| code)
            .map_err(|error| failed(anyhow::Error::new(error))),
        401 => Err(failed(anyhow!("it has another token than this data folder"))),
        404 => Err(failed(anyhow!("it is an older version without a dashboard"))),
        status => Err(failed(anyhow!("it answers with status {status}"))),
    }
}

/// Starts the desktop's own program for links. It is not waited for, and what it prints is not ours.
fn open_browser(link: &str) -> bool {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let has_display = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let path = std::env::var_os("PATH");
    let Some(program) = find_program(opener, path.as_deref()).filter(|_| has_display) else { return false };
    let mut command = Command::new(program);
    command.arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
