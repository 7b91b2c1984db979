//! `recover_text`: restores lines that were cut.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tamis_sieve::{PastedCuts, RecoverError, RecoveredText};

use crate::input::LineNumber;
use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct RecoverText;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecoverTextInput {
    prune_id: String,
    ranges: Vec<RangeInput>,
    include_line_numbers: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RangeInput {
    start_line: LineNumber,
    end_line: LineNumber,
}

impl Operation for RecoverText {
    const NAME: &'static str = "recover_text";
    const ALIASES: &'static [&'static str] = &["recover_range"];
    const TOOLSET: Toolset = Toolset::Prune;
    const DESCRIPTION: &'static str = "Restore lines that tamis cut, by prune_id (prn_…) and lines of its markers: \
        [tamis cut A-B: …], [tamis A-B].";
    const READ_ONLY: bool = true;
    type Input = RecoverTextInput;
    type Output = RecoveredText;

    async fn run(input: RecoverTextInput, context: Context) -> Result<RecoveredText, Failure> {
        let mut prune_id = input.prune_id;
        let mut ranges: Vec<_> =
            input.ranges.iter().map(|range| (range.start_line.0, range.end_line.0)).collect();
        // Instead of an id, a marker that has one.
        if prune_id.contains(char::is_whitespace)
            && let Ok(PastedCuts { prune_id: Some(id), ranges: pasted }) = prune_id.parse()
        {
            prune_id = id;
            ranges = if ranges.is_empty() { pasted } else { ranges };
        }
        let (services, caller) = (context.services, context.caller);
        let recovered =
            services.recover(prune_id.clone(), ranges, input.include_line_numbers, caller).await?;
        recovered.map_err(|error| failure(&prune_id, error))
    }
}

fn failure(prune_id: &str, error: RecoverError) -> Failure {
    let mut data = Map::from_iter([("prune_id".to_owned(), Value::from(prune_id))]);
    let detail = error.to_string();
    let hint = error.hint();
    let (rpc_code, code) = match error {
        RecoverError::NotFound { .. } | RecoverError::Ambiguous { .. } => (-32004, "prune_id_not_found"),
        RecoverError::InvalidRange { range, lines, .. } => {
            data.insert("range".into(), json!({"start_line": range.0, "end_line": range.1}));
            if let Some(lines) = lines {
                data.insert("original_lines".into(), lines.into());
            }
            (-32005, "invalid_range")
        }
        RecoverError::TooLarge { .. } => (-32005, "invalid_range"),
        RecoverError::Unavailable { .. } => (-32603, "recovery_unavailable"),
    };
    data.insert("detail".into(), detail.into());
    if let Some(hint) = hint {
        data.insert("hint".into(), hint.into());
    }
    Failure::Domain { rpc_code, code, data }
}
