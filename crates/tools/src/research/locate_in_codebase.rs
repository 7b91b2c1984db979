//! `locate_in_codebase`: where things are.

use tamis_redact::Redacted;
use tamis_research::{ResearchReport, Role};

use super::call::answer;
use super::input::RoleInput;
use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct LocateInCodebase;

impl Operation for LocateInCodebase {
    const NAME: &'static str = "locate_in_codebase";
    const TOOLSET: Toolset = Toolset::Research;
    const DESCRIPTION: &'static str = "Find where something is in the local codebase: path:line, best first.";
    const READ_ONLY: bool = true;
    type Input = RoleInput;
    type Output = Redacted<ResearchReport>;

    async fn run(input: RoleInput, context: Context) -> Result<Redacted<ResearchReport>, Failure> {
        answer(input.request(Role::Locator), context).await
    }
}
