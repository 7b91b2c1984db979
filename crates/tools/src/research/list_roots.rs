//! `list_roots`: the folders that may be looked into, and no others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::researcher;
use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct ListRoots;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListRootsInput {}

#[derive(Serialize)]
pub(crate) struct ListRootsOutput {
    roots: Vec<String>,
}

impl Operation for ListRoots {
    const NAME: &'static str = "list_roots";
    const TOOLSET: Toolset = Toolset::Research;
    const DESCRIPTION: &'static str = "List the folders that research may read.";
    const READ_ONLY: bool = true;
    type Input = ListRootsInput;
    type Output = ListRootsOutput;

    async fn run(_: ListRootsInput, context: Context) -> Result<ListRootsOutput, Failure> {
        Ok(ListRootsOutput { roots: researcher(&context)?.roots() })
    }
}
