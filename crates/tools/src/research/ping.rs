//! `ping`: checks that the server answers.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct Ping;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PingInput {}

impl Operation for Ping {
    const NAME: &'static str = "ping";
    const TOOLSET: Toolset = Toolset::Research;
    const DESCRIPTION: &'static str = "Check that the server responds.";
    const READ_ONLY: bool = true;
    type Input = PingInput;
    type Output = &'static str;

    async fn run(_: PingInput, _: Context) -> Result<&'static str, Failure> {
        Ok("pong")
    }

    fn render(output: &'static str) -> Result<String, Failure> {
        Ok(output.to_owned())
    }
}
