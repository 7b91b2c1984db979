//! `health`: is the pruner there, and what can it do?

use jiff::Zoned;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct Health;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HealthInput {}

/// Name and version are the contract's, not the program's: clients of the pruner service look for them.
#[derive(Serialize)]
pub(crate) struct HealthOutput {
    status: &'static str,
    server: &'static str,
    version: &'static str,
    capabilities: [&'static str; 4],
    timestamp: String,
}

impl Operation for Health {
    const NAME: &'static str = "health";
    const TOOLSET: Toolset = Toolset::Prune;
    const DESCRIPTION: &'static str = "Report the pruner's status, version and capabilities.";
    const READ_ONLY: bool = true;
    type Input = HealthInput;
    type Output = HealthOutput;

    async fn run(_: HealthInput, _: Context) -> Result<HealthOutput, Failure> {
        Ok(HealthOutput {
            status: "healthy",
            server: "mcp-pruner",
            version: "0.1.0",
            capabilities: ["prune_text", "recover_text", "annotations", "markers"],
            timestamp: Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        })
    }
}
