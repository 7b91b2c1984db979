//! The first prompts of agents, with facts from the tables and the repository.

use crate::error::Result;
use crate::instances::records::{Instance, Review};
use crate::instances::user_config::{self, MAX_ITERATIONS};
use crate::review::prompts::{
    PastReview, PlanningPrompt, RepositoryFacts, ReviewPrompt, Task, TaskIssue, WorkPrompt, planning_prompt,
    review_prompt, work_prompt,
};
use crate::{AgentType, Coordinator, InstanceId, RequestReview, db};
use tamis_git::{ChangeSummary, Repository};
use tamis_github::IssueText;

impl Coordinator {
    /// The prompt of an agent that a person starts: the contract's `generateWorkPrompt`, or the planning agent's.
    pub(crate) fn starting_prompt(&self, repository: &Repository, instance: &Instance) -> Result<String> {
        let (id, task, facts) = (&instance.id, &self.task_of(instance)?, &facts(repository, instance));
        if instance.agent_type == AgentType::Planning {
            return Ok(planning_prompt(&PlanningPrompt { id, task, repository: facts }));
        }
        let (history, max_reviews) = (&self.history(id)?[..], self.most_reviews()?);
        Ok(work_prompt(&WorkPrompt { id, task, repository: facts, history, max_reviews }))
    }

    /// The contract's `generateReviewPrompt`.
    pub(crate) fn reviewing_prompt(
        &self,
        repository: &Repository,
        coding: &Instance,
        review: &Review,
        input: &RequestReview,
    ) -> Result<String> {
        let notes: Vec<String> = self.notes_for(&coding.id)?.into_iter().map(|note| note.path).collect();
        let ChangeSummary { files, insertions, deletions, commits, .. } =
            repository.summary(&coding.base_commit, &review.reviewed_commit, &notes)?;
        let mut facts = facts(repository, coding);
        facts.summary = format!(
            "The work so far, since the branch began: {commits} commits, {files} files, {insertions} lines added, \
             {deletions} removed."
        );
        Ok(review_prompt(&ReviewPrompt {
            id: &review.child_instance,
            coding: &coding.id,
            task: &self.task_of(coding)?,
            repository: &facts,
            commit: &review.reviewed_commit,
            iteration: review.review_iteration,
            max_reviews: self.most_reviews()?,
            history: &self.history(&coding.id)?,
            completion_message: input.completion_message.as_deref(),
            reviewer_prompt: input.reviewer_prompt.as_deref(),
        }))
    }

    /// The reviews that have ended, with their feedback.
    fn history(&self, coding: &InstanceId) -> Result<Vec<PastReview>> {
        let reviews = self.archive.database.read(|connection| db::reviews_of(connection, coding))?;
        let given = self.archive.feedback(Some(coding))?;
        let ended = reviews.iter().filter(|review| review.outcome.is_some());
        let past = ended.map(|review| {
            let feedback = given.iter().find(|feedback| feedback.review_instance == review.child_instance);
            PastReview {
                iteration: review.review_iteration,
                feedback_type: feedback.map(|feedback| feedback.feedback_type),
                feedback: feedback.map(|feedback| feedback.feedback.clone()).unwrap_or_default(),
            }
        });
        Ok(past.collect())
    }

    /// What a coding or planning agent is to do, as it was when it was started.
    fn task_of(&self, instance: &Instance) -> Result<Task> {
        let text = self.archive.database.read(|connection| db::issue_text(connection, &instance.id))?;
        let text = instance.issue_title.clone().zip(text).map(|(title, text)| IssueText { title, text });
        let number = instance.issue.and_then(|issue| u64::try_from(issue).ok());
        Ok(Task { issue: number.map(|number| TaskIssue { number, text }), text: instance.task.clone() })
    }

    fn most_reviews(&self) -> Result<u32> {
        let most =
            self.archive.database.write_or(|connection| user_config::number(connection, MAX_ITERATIONS))?;
        Ok(u32::try_from(most).unwrap_or(u32::MAX))
    }
}

fn facts(repository: &Repository, worker: &Instance) -> RepositoryFacts {
    let name = repository.folder().file_name().unwrap_or_default();
    RepositoryFacts {
        name: name.to_string_lossy().into_owned(),
        base_branch: worker.base_branch.as_deref().unwrap_or(&worker.base_commit).to_owned(),
        branch: worker.branch.to_string(),
        summary: String::new(),
    }
}
