//! Serving one client over stdin and stdout, and leaving nothing behind.

use std::sync::Arc;

use tamis_server::{Served, serve_stdio};
use tokio_util::sync::CancellationToken;

use crate::error::{CliError, CliResult};
use crate::{diagnostics, signals};

/// Serves until the client leaves or a signal asks us to. `meanwhile` runs beside it.
pub(crate) fn serve(
    served: Served,
    project: Option<String>,
    meanwhile: impl Future<Output = ()> + Send + 'static,
) -> CliResult {
    diagnostics::detach();
    let services = Arc::clone(&served.services);
    // One client, and pruning has threads of its own: one thread is enough, and starts faster.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::internal)?;
    let ended = runtime.block_on(async {
        tokio::spawn(meanwhile);
        let shutdown = CancellationToken::new();
        let session = serve_stdio(served, project, std::io::stdin(), std::io::stdout(), shutdown.clone());
        tokio::spawn(signals::watch(shutdown.clone()));
        let asked = Arc::clone(&services);
        tokio::spawn(async move {
            shutdown.cancelled().await;
            // Whoever asks us to end waits only so long, and commands may take for ever. Their callers get what there is.
            asked.workbench.process_groups.end_all().await;
        });
        let ended = session.await;
        services.workbench.process_groups.end_all().await;
        ended
    });
    runtime.shutdown_background();
    ended.map_err(CliError::failed)
}
