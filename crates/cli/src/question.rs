//! Answering a person's question from a text, or from what a command wrote.

use std::sync::Arc;
use std::time::Duration;

use tamis_config::{Config, Surroundings};
use tamis_process::{Ended, RunError, Shell};
use tamis_prune::DEFAULT_THRESHOLD;
use tamis_sieve::{PruneRequest, Pruned};
use tamis_text::Kind;
use tamis_tools::Services;

use crate::error::CliError;
use crate::{print, setup, signals};

/// A person who waits longer has long pressed Ctrl-C.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A command that answers, or does without a question.
pub(crate) struct Asked {
    surroundings: Surroundings,
    pub(crate) services: Arc<Services>,
}

impl Asked {
    pub(crate) fn new() -> Result<Asked, CliError> {
        let surroundings = Surroundings::of_process();
        let config: Config = setup::load(&surroundings)?;
        Ok(Asked { services: setup::services(&config)?, surroundings })
    }

    /// Runs a program to its end; Ctrl-C ends it and all that it started.
    pub(crate) fn run(&self, shell: Shell) -> Result<Ended, CliError> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::internal)?;
        let children = &self.services.workbench.children;
        let ended = runtime.block_on(async {
            let cancelled = tokio_util::sync::CancellationToken::new();
            let running = children.run(shell, &cancelled);
            tokio::pin!(running);
            let ended = tokio::select! {
                ended = &mut running => ended,
                () = signals::asked_to_end() => {
                    cancelled.cancel();
                    running.await
                }
            };
            // What it left in the background ends with us: nobody else could.
            children.end_all().await;
            ended
        });
        ended.map_err(|error| match error {
            RunError::Cancelled => CliError::interrupted(),
            error => CliError::failed(error),
        })
    }

    /// Prints what of `text` the question needs, and on stderr how much that is.
    pub(crate) fn answer(&self, command: &str, text: &str, question: &str) -> Result<(), CliError> {
        let request = PruneRequest {
            text,
            goal: question,
            kind: Kind::detect(text),
            threshold: DEFAULT_THRESHOLD,
            max_prune_ratio: 1.0,
            min_keep_lines: 0,
            keep_first_lines: 0,
            timeout: TIMEOUT,
            annotate_lines: false,
            include_markers: true,
        };
        let caller = setup::person(&self.surroundings, command);
        let pruned = self.services.sieve.prune(&request, &caller, &|| false);
        print::bytes(pruned.pruned_text.as_bytes())?;
        if !pruned.pruned_text.ends_with('\n') && !pruned.pruned_text.is_empty() {
            print::bytes(b"\n")?;
        }
        summarise(&pruned, text, "nothing was cut: a question that says more cuts more");
        setup::finish(&self.services);
        Ok(())
    }
}

/// Tells how much is left of a text, and how to have back what is not.
pub(crate) fn summarise(pruned: &Pruned, text: &str, nothing_cut: &str) {
    setup::tell_warnings(&pruned.warnings);
    let stats = &pruned.stats;
    // A person does not count what follows the last newline.
    let after_the_last = usize::from(text.ends_with('\n') || text.is_empty());
    let [kept, lines] = [stats.kept_lines, stats.original_lines]
        .map(|lines| print::grouped(lines.saturating_sub(after_the_last) as u64));
    let [after, before] =
        [stats.tokens_est_after, stats.tokens_est_before].map(|tokens| print::grouped(tokens as u64));
    print::note(format_args!("kept {kept} of {lines} lines, about {after} of {before} tokens"));
    match pruned.annotations.first() {
        Some(cut) => print::note(format_args!(
            "`tamis recover {} {}-{}` gives back the first cut",
            pruned.prune_id, cut.original_start_line, cut.original_end_line
        )),
        None if !stats.used_fallback => print::note(nothing_cut),
        None => {}
    }
}
