//! Which program an instance runs, with what around it.

use std::path::PathBuf;

use tamis_clients::{find_program, is_program};

use crate::error::Result;
use crate::git::Repository;
use crate::launch::{Launch, agent_environment};
use crate::records::{AgentChoice, Instance, Review};
use crate::{AgentsError, Code, Coordinator, RequestReview};

impl Coordinator {
    /// Refuses an agent that is not installed, before anything is made for it.
    pub(crate) fn check_program(&self, choice: &AgentChoice) -> Result<()> {
        program_of(choice).map(drop)
    }

    /// What runs in an instance's session.
    pub(crate) fn launch_of(&self, repository: &Repository, instance: &Instance) -> Result<Launch> {
        let id = &instance.id;
        let mut env = agent_environment(std::env::vars_os());
        env.insert("TAMIS_INSTANCE".into(), id.as_str().into());
        env.insert("TAMIS_DATA_DIR".into(), self.settings.data_dir.root().into());
        env.insert("TAMIS_IDENTITY".into(), self.places.identity(id).into());
        env.insert("TAMIS_PROMPT_FILE".into(), self.places.prompt(id).into());
        if !repository.has_identity()? {
            for role in ["AUTHOR", "COMMITTER"] {
                env.insert(format!("GIT_{role}_NAME").into(), id.as_str().into());
                env.insert(format!("GIT_{role}_EMAIL").into(), format!("{id}@tamis.invalid").into());
            }
        }
        Ok(Launch {
            program: program_of(&instance.choice)?,
            args: instance.choice.args.iter().skip(1).map(Into::into).collect(),
            cwd: instance.worktree.clone(),
            env,
        })
    }

    pub(crate) fn work_prompt(&self, instance: &Instance) -> Result<String> {
        Ok(instance.task.clone())
    }

    pub(crate) fn review_prompt(&self, reviewer: &Instance, coding: &Instance, review: &Review, input: &RequestReview) -> Result<String> {
        let _ = (coding, review, input);
        Ok(reviewer.task.clone())
    }
}

/// The program of an agent, where it is.
fn program_of(choice: &AgentChoice) -> Result<PathBuf> {
    let is_command = choice.agent == AgentChoice::COMMAND;
    let name = if is_command { choice.args.first() } else { Some(&choice.agent) };
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Err(AgentsError::new(Code::ValidationError, "there is no command after `--`")
            .suggest("name the program and its arguments: `tamis agents start --task \"…\" -- my-agent --flag`"));
    };
    let path = std::env::var_os("PATH");
    let found = if name.contains('/') {
        Some(PathBuf::from(name)).filter(|path| is_program(path)).and_then(|path| path.canonicalize().ok())
    } else {
        find_program(name, path.as_deref())
    };
    found.ok_or_else(|| {
        let error = AgentsError::new(Code::AgentNotFound, format!("there is no program {name:?}"));
        if is_command {
            return error.suggest("name one that is on PATH, or by its whole path");
        }
        error
            .suggest(format!("install {name}, and see that `{name} --version` answers"))
            .suggest("or choose another agent: `--agent codex`, or a command after `--`")
    })
}
