//! `prune_text`: cuts a text down to what a goal needs.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tamis_sieve::{MarkerForm, PruneOptions, Pruned};
use tamis_text::TextKind;

use crate::input::{Ratio, Whole};
use crate::services::PruneJob;
use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct PruneText;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PruneTextInput {
    text: String,
    goal_hint: String,
    source_type: SourceType,
    options: PruneTextOptions,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SourceType {
    Code,
    Logs,
    Docs,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PruneTextOptions {
    max_prune_ratio: Ratio,
    min_keep_lines: Whole<0>,
    timeout_ms: Whole<1>,
    annotate_lines: bool,
    include_markers: bool,
}

impl Operation for PruneText {
    const NAME: &'static str = "prune_text";
    const TOOLSET: Toolset = Toolset::Prune;
    const DESCRIPTION: &'static str = "Cut a text down to the lines that goal_hint needs. recover_text restores \
        what was cut.";
    const READ_ONLY: bool = true;
    type Input = PruneTextInput;
    type Output = Pruned;

    async fn run(input: PruneTextInput, context: Context) -> Result<Pruned, Failure> {
        let options = input.options;
        let job = PruneJob {
            kind: Some(match input.source_type {
                SourceType::Code => TextKind::Code,
                SourceType::Logs => TextKind::Logs,
                SourceType::Docs => TextKind::Docs,
            }),
            options: PruneOptions {
                max_prune_ratio: options.max_prune_ratio.0,
                min_keep_lines: usize::try_from(options.min_keep_lines.0).unwrap_or(usize::MAX),
                timeout: Duration::from_millis(options.timeout_ms.0),
                annotate_lines: options.annotate_lines,
                include_markers: options.include_markers,
                markers: MarkerForm::Contract,
                ..PruneOptions::default()
            },
            ..PruneJob::new(input.text, input.goal_hint)
        };
        let (_, pruned) = context.services.prune(job, context.caller, context.cancellation).await?;
        Ok(pruned)
    }
}
