//! Instances as text.

use tamis_agents::{AgentChoice, Instance, Moment, Phase};

use crate::{escape, table, times};

/// What of a command is shown in a column of a screen.
const COMMAND_WIDTH: usize = 16;

/// The agent's name; of a command, its own.
pub(super) fn agent(instance: &Instance) -> String {
    let AgentChoice { agent, args } = &instance.choice;
    match args.first() {
        Some(program) if agent == AgentChoice::COMMAND => {
            let name = program.rsplit('/').next().unwrap_or(program);
            table::screen().map_or(name.to_owned(), |_| table::cut(name, COMMAND_WIDTH))
        }
        _ => agent.clone(),
    }
}

/// The whole of what runs.
pub(super) fn agent_with_arguments(instance: &Instance) -> String {
    let AgentChoice { agent, args } = &instance.choice;
    let name = (agent != AgentChoice::COMMAND).then_some(agent);
    let words: Vec<&str> = name.into_iter().chain(args).map(String::as_str).collect();
    escape::line(&words.join(" "))
}

/// The age in its largest unit: `8s`, `12m`, `3h`, `2d`.
pub(super) fn age(since: Moment, now: Moment) -> String {
    let seconds = u64::try_from(now.0.saturating_sub(since.0)).unwrap_or(0) / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Why it ended or what is wrong, else its task.
pub(super) fn about(instance: &Instance) -> String {
    match (&instance.reason, instance.issue) {
        (Some(reason), _) => escape::line(reason),
        (None, Some(issue)) if instance.task.trim().is_empty() => match &instance.issue_title {
            Some(title) => escape::line(&format!("issue #{issue}: {title}")),
            None => format!("issue #{issue}"),
        },
        (None, _) => escape::line(&instance.task),
    }
}

/// What is left of an ended instance.
pub(super) fn left_of(instance: &Instance) -> String {
    let branch = escape::line(&instance.branch);
    match instance.phase {
        Phase::Gone => format!("; its worktree was removed, and its own commits stay on {branch}"),
        _ => {
            format!("; its work stays in {} and {branch}", escape::line(&instance.worktree.to_string_lossy()))
        }
    }
}

/// A time here, to the second.
pub(super) fn second(at: Moment) -> String {
    times::second(Some(at.0))
}

#[cfg(test)]
pub(super) mod tests {
    use tamis_agents::{AgentType, Status};

    use super::*;

    pub(in super::super) fn instance() -> Instance {
        Instance {
            id: "work-12-a1".parse().unwrap(),
            agent_type: AgentType::Coding,
            status: Status::Started,
            phase: Phase::Ready,
            reason: None,
            task: "mend \u{1b}[31mthe\nparser".to_owned(),
            issue: Some(12),
            issue_title: None,
            choice: AgentChoice { agent: "claude".to_owned(), args: vec!["--model".into(), "opus".into()] },
            repository: "/home/someone/shop".into(),
            worktree: "/data/agents/worktrees/work-12-a1".into(),
            branch: "tamis/work-12-a1".parse().unwrap(),
            base_branch: Some("main".parse().unwrap()),
            base_commit: "0123456789012345678901234567890123456789".parse().unwrap(),
            session: "work-12-a1".to_owned(),
            exit_code: None,
            pr_number: None,
            pr_url: None,
            rejected_requests: 0,
            created_at: Moment(1_790_000_000_000),
            updated_at: Moment(1_790_000_000_000),
            ended_at: None,
        }
    }

    #[test]
    fn agents_and_ages_are_short() {
        let mut instance = instance();
        assert_eq!(
            (agent(&instance), agent_with_arguments(&instance)),
            ("claude".into(), "claude --model opus".into())
        );
        instance.choice = AgentChoice {
            agent: AgentChoice::COMMAND.to_owned(),
            args: vec!["/usr/bin/sleep".into(), "600".into()],
        };
        assert_eq!(
            (agent(&instance), agent_with_arguments(&instance)),
            ("sleep".into(), "/usr/bin/sleep 600".into())
        );
        let ages = [0, 59, 60, 3599, 3600, 86_399, 86_400, 900_000].map(|s| age(Moment(0), Moment(s * 1000)));
        assert_eq!(ages, ["0s", "59s", "1m", "59m", "1h", "23h", "1d", "10d"]);
        assert_eq!(age(Moment(5000), Moment(0)), "0s", "clocks are set back");
    }
}
