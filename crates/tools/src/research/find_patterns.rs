//! `find_patterns`: how it is done elsewhere.

use tamis_redact::Redacted;
use tamis_research::{ResearchReport, Role};

use super::call::answer;
use super::input::RoleInput;
use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct FindPatterns;

impl Operation for FindPatterns {
    const NAME: &'static str = "find_patterns";
    const TOOLSET: Toolset = Toolset::Research;
    const DESCRIPTION: &'static str = "Show two to six examples of how something is done in the local codebase, \
        with path:line and snippet.";
    const READ_ONLY: bool = true;
    type Input = RoleInput;
    type Output = Redacted<ResearchReport>;

    async fn run(input: RoleInput, context: Context) -> Result<Redacted<ResearchReport>, Failure> {
        answer(input.request(Role::Patterns), context).await
    }
}
