//! The first prompts of agents, with facts from the tables and the repository.

use crate::error::Result;
use crate::instances::records::{Instance, Review};
use crate::instances::user_config::{self, MAX_ITERATIONS};
use crate::review::prompts::{
    PastReview, PromptSubject, RepositoryFacts, ReviewedWork, Task, TaskIssue, planning_prompt,
    review_prompt, work_prompt,
};
use crate::{AgentType, Coordinator, InstanceId, RequestReview, db};
use tamis_git::{ChangeSummary, Repository};
use tamis_github::IssueText;

impl Coordinator {
    /// The prompt of an agent that a person starts: the contract's `generateWorkPrompt`, or the planning agent's.
    pub(crate) fn starting_prompt(&self, repository: &Repository, instance: &Instance) -> Result<String> {
        let (id, task, facts) = (&instance.id, &self.task_of(instance)?, &facts(repository, instance));
        let (history, max_reviews) = (&self.history(id)?[..], self.most_reviews()?);
        let subject = PromptSubject { id, task, repository: facts, history, max_reviews };
        let is_planning = instance.agent_type == AgentType::Planning;
        Ok(if is_planning { planning_prompt(&subject) } else { work_prompt(&subject) })
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
        let subject = PromptSubject {
            id: &review.child_instance,
            task: &self.task_of(coding)?,
            repository: &facts,
            history: &self.history(&coding.id)?,
            max_reviews: self.most_reviews()?,
        };
        let work = ReviewedWork {
            coding: &coding.id,
            commit: &review.reviewed_commit,
            iteration: review.review_iteration,
            completion_message: input.completion_message.as_deref(),
            reviewer_prompt: input.reviewer_prompt.as_deref(),
        };
        Ok(review_prompt(&subject, &work))
    }

    /// The reviews that have ended, with their feedback.
    fn history(&self, coding: &InstanceId) -> Result<Vec<PastReview>> {
        let reviews = self.read(|connection| db::reviews_of(connection, coding))?;
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
        let text = self.read(|connection| db::issue_text(connection, &instance.id))?;
        let text = instance.issue_title.clone().zip(text).map(|(title, text)| IssueText { title, text });
        let number = instance.issue.and_then(|issue| u64::try_from(issue).ok());
        Ok(Task { issue: number.map(|number| TaskIssue { number, text }), text: instance.task.clone() })
    }

    fn most_reviews(&self) -> Result<u32> {
        let most = self.write(|connection| user_config::number(connection, MAX_ITERATIONS))?;
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
