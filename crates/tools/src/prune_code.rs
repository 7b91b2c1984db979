//! `POST /prune`: the contract of swe-pruner's clients.
//!
//! Not an MCP tool, but an operation like the others: the same sieve, the same protections, markers in the text,
//! and a `prune_id`, so that cuts can be recovered. Clients wait 30 s for the whole request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis_prune::DEFAULT_THRESHOLD;
use tamis_text::split_lines;

use crate::services::PruneJob;
use crate::{Context, Failure, Operation, Toolset, Visibility};

/// What `always_keep_first_frags` keeps: enough to recognise the file or command.
const FIRST_LINES: usize = 10;

pub(crate) struct PruneCode;

/// Unknown fields are ignored, as the service that this stands in for does.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct PruneCodeInput {
    query: String,
    code: String,
    #[serde(default = "default_threshold")]
    threshold: f64,
    #[serde(default)]
    always_keep_first_frags: bool,
    /// Taken for compatibility: there are no chunks here that could overlap.
    #[serde(default, rename = "chunk_overlap_tokens")]
    _chunk_overlap_tokens: Option<u64>,
    /// Ours: fills `token_scores`, one pair a line.
    #[serde(default)]
    include_token_scores: bool,
}

fn default_threshold() -> f64 {
    DEFAULT_THRESHOLD.into()
}

#[derive(Serialize)]
pub(crate) struct PruneCodeOutput {
    /// How well the best line fits the query.
    score: f32,
    pruned_code: String,
    token_scores: Vec<(String, f32)>,
    /// 1-based numbers of the lines that stay.
    kept_frags: Vec<usize>,
    origin_token_cnt: usize,
    left_token_cnt: usize,
    /// No model reads anything.
    model_input_token_cnt: usize,
    error_msg: Option<String>,
    prune_id: String,
}

impl Operation for PruneCode {
    const NAME: &'static str = "prune_code";
    const TOOLSET: Toolset = Toolset::Prune;
    const DESCRIPTION: &'static str = "Prune code for a query, in the form of swe-pruner's clients.";
    const READ_ONLY: bool = true;
    const VISIBILITY: Visibility = Visibility::RouteOnly;
    type Input = PruneCodeInput;
    type Output = PruneCodeOutput;

    async fn run(input: PruneCodeInput, context: Context) -> Result<PruneCodeOutput, Failure> {
        let mut job = PruneJob::new(input.code, input.query);
        job.options.threshold = input.threshold.clamp(0.0, 1.0) as f32;
        job.options.keep_first_lines = if input.always_keep_first_frags { FIRST_LINES } else { 0 };
        let (job, pruned) = context.services.prune(job, context.caller, context.cancellation).await?;

        let mut cuts = pruned.annotations.iter().peekable();
        let mut kept_frags = Vec::with_capacity(pruned.stats.kept_lines);
        for line in 1..=pruned.stats.original_lines {
            cuts.next_if(|cut| cut.original_end_line < line);
            if cuts.peek().is_none_or(|cut| line < cut.original_start_line) {
                kept_frags.push(line);
            }
        }
        let token_scores = if input.include_token_scores {
            split_lines(&job.text).into_iter().map(str::to_owned).zip(pruned.scores.iter().copied()).collect()
        } else {
            Vec::new()
        };
        let warnings: Vec<_> = pruned.warnings.iter().map(|warning| warning.code()).collect();
        Ok(PruneCodeOutput {
            score: pruned.scores.iter().copied().fold(0.0, f32::max),
            pruned_code: pruned.pruned_text,
            token_scores,
            kept_frags,
            origin_token_cnt: pruned.stats.tokens_est_before,
            left_token_cnt: pruned.stats.tokens_est_after,
            model_input_token_cnt: 0,
            error_msg: pruned.stats.used_fallback.then(|| warnings.join(", ")),
            prune_id: pruned.prune_id,
        })
    }
}
