//! Serves one client over stdin and stdout, and ends every process that its calls started.

use std::sync::Arc;

use tamis_server::{Served, serve_stdio};
use tokio_util::sync::CancellationToken;

use crate::detached_runtime::DetachedRuntime;
use crate::error::{CliError, CliResult};
use crate::{diagnostics, signals};

/// Serves until the client leaves or a signal arrives. `meanwhile` runs beside it.
pub(crate) fn serve(
    served: Served,
    project: Option<String>,
    meanwhile: impl Future<Output = ()> + Send + 'static,
) -> CliResult {
    diagnostics::detach();
    let services = Arc::clone(&served.services);
    // One client, and pruning has threads of its own: one thread is enough, and starts faster.
    let runtime = DetachedRuntime::on_this_thread()?;
    let ended = runtime.block_on(async {
        tokio::spawn(meanwhile);
        let shutdown = CancellationToken::new();
        let session = serve_stdio(served, project, std::io::stdin(), std::io::stdout(), shutdown.clone());
        tokio::spawn(signals::watch(shutdown.clone()));
        let at_shutdown = Arc::clone(&services);
        tokio::spawn(async move {
            shutdown.cancelled().await;
            // Commands may never end, and a supervisor waits only a while. Their callers get the output so far.
            at_shutdown.workbench.process_groups.end_all().await;
        });
        let ended = session.await;
        services.workbench.process_groups.end_all().await;
        ended
    });
    ended.map_err(CliError::failed)
}
