//! What the subcommands have in common: which logs, which sessions, and JSON.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use tamis_clients::Client;
use tamis_config::ConfigEnvironment;
use tamis_logs::event::Millis;
use tamis_trace::{Project, SessionFilter, TimeSpan, Trace};

use super::indexing;
use crate::commands::data;
use crate::error::CliError;
use crate::startup;

/// Which logs to read, and the form of the output.
#[derive(Args)]
pub(crate) struct Source {
    /// Read logs from this file or folder instead of the agents' own folders; repeatable
    #[arg(long, value_name = "PATH")]
    logs: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Source {
    /// Past sessions, with an index that is up to date.
    pub(crate) fn open(&self) -> Result<Trace, CliError> {
        let trace = self.unread()?;
        indexing::refresh(&trace)?;
        Ok(trace)
    }

    /// Past sessions, with the index as it is.
    pub(crate) fn unread(&self) -> Result<Trace, CliError> {
        let config = startup::load(&ConfigEnvironment::of_process())?;
        startup::trace(&config, &self.logs)
    }
}

/// Which sessions to look at.
#[derive(Args)]
#[command(next_help_heading = "Which sessions")]
pub(crate) struct WhichSessions {
    /// Only sessions of this agent
    #[arg(long, value_parser = providers())]
    provider: Option<Client>,
    /// Only sessions in this folder, or of the project with this hash prefix
    #[arg(long, value_name = "PATH|HASH")]
    project: Option<String>,
    /// Only sessions active since this time: 2026-01-31, 2026-01-31T14:00, yesterday, 2w, 7d, 12h
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<Millis>,
    /// Only sessions active before this time; a date includes the whole day
    #[arg(long, value_name = "TIME", value_parser = until)]
    until: Option<Millis>,
}

/// Which sessions to look at, also by what they used.
#[derive(Args)]
#[command(next_help_heading = "Which sessions")]
pub(crate) struct Which {
    #[command(flatten)]
    sessions: WhichSessions,
    /// Minimum number of tokens that a session used, subagents included
    #[arg(long, value_name = "N")]
    min_tokens: Option<u64>,
    /// Maximum number of tokens that a session used, subagents included
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
}

impl WhichSessions {
    pub(crate) fn filter(&self, trace: &Trace) -> Result<SessionFilter, CliError> {
        let project = self.project.as_ref().map(|project| project_hash(trace, project)).transpose()?;
        if let (Some(since), Some(until)) = (self.since, self.until)
            && since > until
        {
            return Err(CliError::usage("--until is before --since, so no session can match")
                .hint("a date is the whole day: `--since 2026-01-31 --until 2026-01-31` selects one day"));
        }
        Ok(SessionFilter {
            provider: self.provider,
            project,
            since: self.since,
            until: self.until,
            ..SessionFilter::default()
        })
    }
}

impl Which {
    /// The filter, but for the tokens, which [`Which::allows`] checks: those of subagents count too.
    pub(crate) fn filter(&self, trace: &Trace) -> Result<SessionFilter, CliError> {
        if let (Some(least), Some(most)) = (self.min_tokens, self.max_tokens)
            && least > most
        {
            return Err(CliError::usage("--max-tokens is less than --min-tokens, so no session can match"));
        }
        self.sessions.filter(trace)
    }

    pub(crate) fn limits_tokens(&self) -> bool {
        self.min_tokens.is_some() || self.max_tokens.is_some()
    }

    /// Whether a session that used this many tokens is selected.
    pub(crate) fn allows(&self, tokens: u64) -> bool {
        self.min_tokens.is_none_or(|least| tokens >= least)
            && self.max_tokens.is_none_or(|most| tokens <= most)
    }
}

fn providers() -> impl TypedValueParser<Value = Client> {
    let value = |client: &Client| PossibleValue::new(client.id()).aliases(client.aliases());
    PossibleValuesParser::new(Client::ALL.iter().map(value))
        .map(|name| Client::named(&name).expect("a possible value is an id or an alias"))
}

/// The project in a folder, or the one whose hash has this prefix.
fn project_hash(trace: &Trace, named: &str) -> Result<String, CliError> {
    let projects = trace.projects()?;
    let absolute = std::path::absolute(named).map_err(CliError::failed)?;
    let resolved = absolute.canonicalize().unwrap_or_else(|_| absolute.clone());
    let folders = [&absolute, &resolved].map(|path| path.to_string_lossy().into_owned());
    let known = |project: &&Project| {
        let root = project.root.as_deref();
        folders.iter().any(|folder| root == Some(folder) || project.hash == Project::hash_of(folder))
    };
    if let Some(project) = projects.iter().find(known) {
        return Ok(project.hash.clone());
    }
    let is_hash = named.len() >= 4 && named.bytes().all(|byte| byte.is_ascii_hexdigit());
    let begun: Vec<&Project> = projects.iter().filter(|project| project.hash.starts_with(named)).collect();
    match begun.as_slice() {
        [project] if is_hash => Ok(project.hash.clone()),
        [_, _, ..] if is_hash => Err(CliError::failed(anyhow::anyhow!(
            "ambiguous project hash `{named}`: {} projects have this prefix",
            begun.len()
        ))
        .hint("give a longer prefix; `tamis trace projects --json` shows whole hashes")),
        // A folder without sessions is no error: the list is empty.
        _ if resolved.is_dir() => Ok(Project::hash_of(&folders[1])),
        _ => Err(CliError::failed(anyhow::anyhow!("no session was started in `{named}`"))
            .hint("`tamis trace projects` lists the projects")),
    }
}

/// The most items that are printed, at least one.
pub(crate) fn limit(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|limit| *limit > 0).ok_or_else(|| "expected a number, 1 or more".to_owned())
}

pub(crate) fn since(text: &str) -> Result<Millis, String> {
    moment(text, false)
}

fn until(text: &str) -> Result<Millis, String> {
    moment(text, true)
}

/// A time: an age, a day, a local time, or a time with its offset.
fn moment(text: &str, at_its_end: bool) -> Result<Millis, String> {
    let age = data::age(text).ok().and_then(|age| Timestamp::now().checked_sub(age).ok());
    let today = || Zoned::now().date();
    let day = match text {
        "today" => Some(today()),
        "yesterday" => today().yesterday().ok(),
        _ => None,
    };
    let span =
        TimeSpan::parse(&day.map_or_else(|| text.to_owned(), |day| day.to_string()), &TimeZone::system());
    let time = span.map(|span| if at_its_end { span.last } else { span.first });
    age.map(Timestamp::as_millisecond).or(time).ok_or_else(|| {
        "expected a time such as 2026-01-31, 2026-01-31T14:00, 2026-01-31T14:00:00Z, yesterday, 2w, 7d or 12h".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        assert_eq!(moment("2026-01-31T14:00:00Z", false), Ok(1_769_868_000_000));
        assert_eq!(moment("2026-01-31T15:00:00.5+01:00", true), Ok(1_769_868_000_500));
        let day = |text| moment(text, false).unwrap();
        assert_eq!(moment("2026-01-31", true), Ok(day("2026-02-01") - 1));
        assert_eq!(day("2026-01-31T06:30"), day("2026-01-31") + (6 * 60 + 30) * 60_000);
        assert!(day("7d") < day("12h") && day("2w") < day("13d"));
        assert_eq!(moment("yesterday", true), Ok(day("today") - 1));
        assert!(day("yesterday") < day("today") && day("today") <= day("0s"));
        for wrong in ["", "soon", "2026-13-01", "2026-01-31T", "7y"] {
            assert!(moment(wrong, false).is_err(), "{wrong}");
        }
    }
}
