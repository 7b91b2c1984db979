//! `analyze_component`: how something works.

use tamis_redact::Redacted;
use tamis_research::{ResearchReport, Role};

use super::call::answer;
use super::input::RoleInput;
use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct AnalyzeComponent;

impl Operation for AnalyzeComponent {
    const NAME: &'static str = "analyze_component";
    const TOOLSET: Toolset = Toolset::Research;
    const DESCRIPTION: &'static str = "Explain a function, type or component of the local codebase, by its name in \
        the code: definition, callers, calls, with path:line.";
    const READ_ONLY: bool = true;
    type Input = RoleInput;
    type Output = Redacted<ResearchReport>;

    async fn run(input: RoleInput, context: Context) -> Result<Redacted<ResearchReport>, Failure> {
        answer(input.request(Role::Analyzer), context).await
    }
}
