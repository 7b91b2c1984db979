//! Which program an instance runs, and what is around it: its environment, our server wired in, and its identity.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tamis_clients::{
    ClientTool, InteractiveAgent, InteractiveOptions, McpServer, RunOptions, interactive_agent,
};
use tamis_store::create_private_dir;

use crate::error::Result;
use crate::instances::records::{AgentChoice, Instance};
use crate::launch::session_file::{Environment, Launch, agent_environment, agent_program};
use crate::{AgentsError, Code, Coordinator};
use tamis_git::Repository;

/// The name by which agents know our server.
const SERVER: &str = "tamis";

/// What our server offers them.
const TOOLSETS: &str = "agents,prune,workbench,research";

/// What they may use of it without asking, since there may be no user to ask. Not `bash`: commands are for the agent's
/// own rules.
const UNASKED: &[&str] = &[
    "request_review",
    "send_feedback",
    "create_pull_request",
    "create_pr",
    "create_issues",
    "read",
    "grep",
    "prune_text",
    "recover_text",
    "ping",
    "list_roots",
    "research_codebase",
    "locate_in_codebase",
    "find_patterns",
    "analyze_component",
];

/// Names the coordinator's database, before the variable of the contract and whatever the configuration says.
const DATABASE_VARIABLE: &str = "TAMIS_AGENTS_DATABASE";

/// What our server needs of the environment, for agents that pass nothing on. They may show it to others: no keys.
const SERVER_ENVIRONMENT: &[&str] = &[
    "HOME",
    "LANG",
    "MCP_LOG_LEVEL",
    "MCP_SERVER_PORT",
    "MCP_TOOL_TIMEOUT",
    "PATH",
    DATABASE_VARIABLE,
    "TAMIS_DATA_DIR",
    "TAMIS_INSTANCE",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

impl Coordinator {
    /// Refuses an agent that is not installed, before anything is made for it; and any without tmux, since then nothing that was
    /// made could be taken back.
    pub(crate) fn check_program(&self, choice: &AgentChoice) -> Result<()> {
        let env = agent_environment(std::env::vars_os());
        if choice.agent == AgentChoice::COMMAND {
            Launch::of_command(&choice.args, self.places.worktrees().as_path(), env)?;
        } else {
            agent_program(known_agent(choice)?, &env)?;
        }
        self.tmux.is_running().map(drop)
    }

    /// What runs in an instance's session.
    pub(crate) fn launch_of(
        &self,
        repository: &Repository,
        instance: &Instance,
        prompt: &str,
    ) -> Result<Launch> {
        let (id, choice) = (&instance.id, &instance.choice);
        let mut env = agent_environment(std::env::vars_os());
        env.insert("TAMIS_INSTANCE".into(), id.as_str().into());
        env.insert("TAMIS_DATA_DIR".into(), self.settings.data_dir.root().into());
        env.insert(DATABASE_VARIABLE.into(), self.settings.database.clone().into());
        if !repository.has_identity()? {
            for role in ["AUTHOR", "COMMITTER"] {
                env.insert(format!("GIT_{role}_NAME").into(), id.as_str().into());
                env.insert(format!("GIT_{role}_EMAIL").into(), format!("{id}@tamis.invalid").into());
            }
        }
        if let Some(agent) = interactive_agent(&choice.agent) {
            let options = self.wiring(repository, instance, prompt, &env)?;
            return Launch::of_agent(agent, &options, env);
        }
        env.insert("TAMIS_IDENTITY".into(), self.places.identity(id).into());
        env.insert("TAMIS_PROMPT_FILE".into(), self.places.prompt(id).into());
        Launch::of_command(&choice.args, &instance.worktree, env)
    }

    /// How a known agent gets our server wired in. The files that it reads are in a folder of the session.
    fn wiring(
        &self,
        repository: &Repository,
        instance: &Instance,
        prompt: &str,
        env: &Environment,
    ) -> Result<InteractiveOptions> {
        let state = self.places.state(&instance.id);
        // Nothing may be there yet: a link would lead the write elsewhere.
        if fs::symlink_metadata(&state).is_ok_and(|about| !about.is_dir()) {
            fs::remove_file(&state).map_err(|error| AgentsError::file("replace", &state, &error))?;
        }
        create_private_dir(&state).map_err(|error| AgentsError::file("make", &state, &error))?;
        let known = SERVER_ENVIRONMENT.iter().filter_map(|name| {
            Some(((*name).to_owned(), env.get(std::ffi::OsStr::new(name))?.to_str()?.to_owned()))
        });
        let mut server_env: BTreeMap<String, String> = known.collect();
        server_env.insert("TAMIS_IDENTITY".to_owned(), text_of(&self.places.identity(&instance.id))?);
        let server = McpServer {
            command: text_of(&self.settings.program)?,
            args: ["mcp", "--tools", TOOLSETS].map(str::to_owned).to_vec(),
            env: server_env,
        };
        let approved = UNASKED
            .iter()
            .map(|tool| ClientTool { server: Some(SERVER.to_owned()), name: (*tool).to_owned() });
        Ok(InteractiveOptions {
            run: RunOptions {
                mcp_servers: [(SERVER.to_owned(), server)].into(),
                approved: approved.collect(),
                model: None,
                agent_args: instance.choice.args.clone(),
            },
            prompt: prompt.to_owned(),
            worktree: instance.worktree.clone(),
            git_folder: Some(repository.common_dir().to_owned()),
            home: env.get(std::ffi::OsStr::new("HOME")).map(PathBuf::from).unwrap_or_default(),
            state,
        })
    }
}

/// Configurations of agents are text.
fn text_of(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let message =
            format!("`{}` is not UTF-8, which the configuration of agents requires", path.display());
        AgentsError::new(Code::FileError, message)
            .suggest("set TAMIS_DATA_DIR to a folder whose path is UTF-8")
    })
}

fn known_agent(choice: &AgentChoice) -> Result<&'static InteractiveAgent> {
    interactive_agent(&choice.agent).ok_or_else(|| {
        AgentsError::new(Code::ValidationError, format!("there is no agent {:?}", choice.agent))
    })
}
