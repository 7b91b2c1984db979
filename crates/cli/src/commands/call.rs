use std::sync::Arc;

use clap::Args;
use serde_json::Value;
use tamis_config::ConfigEnvironment;
use tamis_tools::{Access, Context, Progress, Registry, Reply};

use crate::detached_runtime::DetachedRuntime;
use crate::error::{CliError, CliResult};
use crate::{input, print, signals, startup};

/// Call a tool by name and print its answer
///
/// Goes through the tool registry, like calls from agents. For example: `tamis call health`, `tamis call recover_text
/// '{"prune_id": …}'`.
#[derive(Args)]
pub(crate) struct Call {
    /// Name of the tool, as in `tamis tools`
    name: String,
    /// Input of the tool as a JSON object; `-` reads it from stdin
    #[arg(default_value = "{}")]
    input: String,
}

pub(crate) fn run(arguments: Call) -> CliResult {
    let environment = ConfigEnvironment::of_process();
    let config = startup::load(&environment)?;
    let input = if arguments.input == "-" { input::stdin()? } else { arguments.input.into_bytes() };
    let input: Value = serde_json::from_slice(&input).map_err(|error| {
        CliError::usage(format_args!("invalid JSON input: {error}"))
            .hint(format!("`tamis tools --json` shows the input schema of `{}`", arguments.name))
    })?;
    let services = startup::services(&config)?;
    let runtime = DetachedRuntime::on_this_thread()?;
    let reply = runtime.block_on(async {
        let mut context =
            Context::new(Arc::clone(&services), startup::person(&environment, ""), Access::Full);
        let (progress, mut updates) = Progress::channel();
        context.progress = progress;
        let cancellation = context.cancellation.clone();
        let registry = Registry::all();
        let call = registry.call(&arguments.name, input, context);
        tokio::pin!(call);
        loop {
            tokio::select! {
                biased;
                Some(update) = updates.recv() => {
                    print::note(update.message.unwrap_or_else(|| format!("{}", update.done)));
                }
                reply = &mut call => break reply,
                () = signals::next_signal(), if !cancellation.is_cancelled() => cancellation.cancel(),
            }
        }
    });
    let printed = match reply {
        Reply::Text { text, is_error: false } => print::line(text),
        Reply::Text { text, is_error: true } => Err(CliError::failed(anyhow::anyhow!("{text}"))),
        Reply::Error(error) => {
            let unknown = error.data.as_ref().is_some_and(|data| data["code"] == "unknown_tool");
            let error = CliError::from(error);
            Err(if unknown { error.hint("`tamis tools` lists the tools") } else { error })
        }
    };
    startup::finish(&services);
    printed
}
