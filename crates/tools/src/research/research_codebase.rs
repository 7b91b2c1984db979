//! `research_codebase`: a question about a codebase, answered by all roles that it calls for.

use tamis_redact::Redacted;
use tamis_research::ResearchReport;

use super::call::answer;
use super::input::ResearchInput;
use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct ResearchCodebase;

impl Operation for ResearchCodebase {
    const NAME: &'static str = "research_codebase";
    const TOOLSET: Toolset = Toolset::Research;
    const DESCRIPTION: &'static str = "Answer a question about the local codebase (where, how, examples) with \
        path:line references instead of file contents, in at most 2,000 tokens. Prefer it to reading file after \
        file.";
    const READ_ONLY: bool = true;
    type Input = ResearchInput;
    type Output = Redacted<ResearchReport>;

    async fn run(input: ResearchInput, context: Context) -> Result<Redacted<ResearchReport>, Failure> {
        answer(input.request(), context).await
    }
}
