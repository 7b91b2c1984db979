//! Sessions and projects: listing them, finding one by the beginning of its id, and its subagents and forks.

use std::collections::HashSet;

use tamis_clients::Client;
use tamis_logs::event::Millis;
use tamis_logs::readers::Relation;
use tamis_logs::readers::hex_sha256;
use tamis_logs::usage::Tokens;
use tamis_redact::Redacted;

use crate::db;
use crate::error::TraceError;
use crate::summary::SessionSummary;
use crate::trace::Trace;

/// Letters of the shortest id in lists.
const SHORT_ID: usize = 8;
/// Sessions that are read from the index at once.
const LISTED_AT_ONCE: usize = 200;
/// How many sessions an ambiguous prefix names.
const MOST_NAMED: usize = 20;
/// How deep subagents of subagents are followed.
const DEEPEST_FAMILY: usize = 6;

/// A session, as the index has it.
#[derive(Clone, Debug)]
pub struct Session {
    pub(crate) log: i64,
    /// Unique; the client's own id, but for copies.
    pub id: String,
    pub(crate) native_id: String,
    pub provider: Client,
    /// SHA-256 of the root's path; of the empty path when the log does not say.
    pub project: String,
    pub(crate) root: Option<String>,
    pub(crate) parent: Option<String>,
    pub relation: Option<Relation>,
    /// What its own log counts, less what it inherited.
    pub own_tokens: u64,
    /// What an earlier log counts already.
    pub inherited: Tokens,
    pub summary: SessionSummary,
}

/// A session in a list.
#[derive(Clone, Debug)]
pub struct ListedSession {
    pub session: Session,
    pub subagents: usize,
    /// What it used, its subagents included: they are billed.
    pub total_tokens: u64,
}

/// A project, with what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    pub hash: String,
    pub root: Option<Redacted>,
    /// Without those of subagents.
    pub sessions: u64,
    /// Of these, the ones in which something happened.
    pub used_sessions: u64,
    pub last_activity: Option<Millis>,
}

impl Project {
    /// The hash that identifies the project in this folder.
    pub fn hash_of(root: &str) -> String {
        hex_sha256(root)
    }
}

/// Which sessions a query selects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFilter {
    pub provider: Option<Client>,
    /// The beginning of a project's hash.
    pub project: Option<String>,
    /// Only sessions that were active at this time or later. One whose log has no times is not among them.
    pub since: Option<Millis>,
    /// Only sessions that began at this time or earlier. One whose log has no times is not among them.
    pub until: Option<Millis>,
    pub least_tokens: Option<u64>,
    pub most_tokens: Option<u64>,
    /// Subagents' sessions are listed with their parents unless requested.
    pub with_subagents: bool,
}

impl Trace {
    /// Sessions, the latest first, after the one that a page ended with.
    pub fn sessions(
        &self,
        filter: &SessionFilter,
        after: Option<(Millis, &str)>,
        most: usize,
    ) -> Result<Vec<Session>, TraceError> {
        Ok(self.database()?.read(|connection| db::sessions(connection, filter, after, most))?)
    }

    /// Sessions that were active at this time or later, the last active first.
    pub fn active_sessions(
        &self,
        since: Millis,
        with_subagents: bool,
        most: usize,
    ) -> Result<Vec<Session>, TraceError> {
        Ok(self
            .database()?
            .read(|connection| db::active_sessions(connection, since, with_subagents, most))?)
    }

    /// The session that this one is a subagent of, at whatever depth; itself if it is none.
    pub fn root_session(&self, session: Session) -> Result<Session, TraceError> {
        let mut root = session;
        for _ in 0..DEEPEST_FAMILY {
            let parent = root.parent.clone().filter(|_| root.relation == Some(Relation::Subagent));
            let Some(parent) = parent else { break };
            match self.database()?.read(|connection| db::session_of_native(connection, &parent))? {
                Some(parent) if parent.log != root.log => root = parent,
                _ => break,
            }
        }
        Ok(root)
    }

    /// Whether there is any session at all.
    pub fn has_sessions(&self) -> Result<bool, TraceError> {
        let any = SessionFilter { with_subagents: true, ..SessionFilter::default() };
        Ok(!self.sessions(&any, None, 1)?.is_empty())
    }

    /// Sessions, the latest first, with what they used: the first `most` that `matches` accepts. Cancelled as soon as `broken_off`
    /// returns true.
    pub fn list_sessions(
        &self,
        filter: &SessionFilter,
        after: Option<(Millis, String)>,
        most: usize,
        matches: &dyn Fn(&ListedSession) -> bool,
        broken_off: &dyn Fn() -> bool,
    ) -> Result<Vec<ListedSession>, TraceError> {
        let (mut listed, mut after, mut at_once) = (Vec::new(), after, most.min(LISTED_AT_ONCE));
        loop {
            let place = after.as_ref().map(|(started, id)| (*started, id.as_str()));
            let page = self.sessions(filter, place, at_once)?;
            let is_last = page.len() < at_once;
            after = page.last().map(|last| (last.place().0, last.id.clone()));
            for session in page {
                if broken_off() {
                    return Err(TraceError::Cancelled);
                }
                let subagents = self.subagents(&session)?;
                let total_tokens = sum_tokens(&session, &subagents);
                let session = ListedSession { session, subagents: subagents.len(), total_tokens };
                if matches(&session) {
                    listed.push(session);
                }
                if listed.len() == most {
                    return Ok(listed);
                }
            }
            if is_last {
                return Ok(listed);
            }
            at_once = LISTED_AT_ONCE;
        }
    }

    /// The session whose id has this prefix.
    pub fn session(&self, prefix: &str) -> Result<Session, TraceError> {
        let missing = || TraceError::NoSuchSession { id: prefix.to_owned() };
        if prefix.is_empty() {
            return Err(missing());
        }
        let mut rows = self
            .database()?
            .read(|connection| db::sessions_with_prefix(connection, prefix, MOST_NAMED + 1))?;
        if let Some(index) = rows.iter().position(|row| row.id == prefix) {
            return Ok(rows.swap_remove(index));
        }
        // A copy's id begins with its original's, so a prefix that only the original and its copies share means the original.
        let copies = |id: &str| rows.iter().filter(|row| is_copy(&row.id, id)).count();
        if let Some(index) =
            rows.iter().position(|row| copies(&row.id) + 1 == rows.len() && rows.len() <= MOST_NAMED)
        {
            return Ok(rows.swap_remove(index));
        }
        match rows.len() {
            0 => Err(missing()),
            1 => Ok(rows.remove(0)),
            _ => {
                let count = self.database()?.read(|connection| db::count_with_prefix(connection, prefix))?;
                rows.truncate(MOST_NAMED);
                let matches: Result<Vec<String>, TraceError> =
                    rows.iter().map(|row| self.short_id(&row.id)).collect();
                Err(TraceError::Ambiguous { prefix: prefix.to_owned(), matches: matches?, count })
            }
        }
    }

    /// The shortest unique prefix of an id, of eight characters or more.
    pub fn short_id(&self, id: &str) -> Result<String, TraceError> {
        let neighbours = self.database()?.read(|connection| db::neighbours(connection, id))?;
        let shared =
            |other: &String| id.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
        let needed = neighbours.iter().flatten().map(|other| shared(other) + 1).max().unwrap_or(0);
        Ok(id.chars().take(needed.max(SHORT_ID)).collect())
    }

    /// The subagents and forks of a session, with theirs.
    pub fn family(&self, session: &Session) -> Result<Vec<Session>, TraceError> {
        let mut family: Vec<Session> = Vec::new();
        // Logs may name each other for their parents.
        let mut known = HashSet::from([session.log]);
        let mut parents = vec![session.native_id.clone()];
        for _ in 0..DEEPEST_FAMILY {
            let mut next = Vec::new();
            for parent in parents {
                for child in self.database()?.read(|connection| db::children(connection, &parent))? {
                    if known.insert(child.log) {
                        next.push(child.native_id.clone());
                        family.push(child);
                    }
                }
            }
            parents = next;
        }
        Ok(family)
    }

    /// What a session used, its subagents included: they are billed.
    pub fn tokens_with_subagents(&self, session: &Session) -> Result<u64, TraceError> {
        Ok(sum_tokens(session, &self.subagents(session)?))
    }

    /// The subagents of a session, with theirs.
    pub fn subagents(&self, session: &Session) -> Result<Vec<Session>, TraceError> {
        let mut family = self.family(session)?;
        family.retain(|child| child.relation == Some(Relation::Subagent));
        Ok(family)
    }

    pub fn projects(&self) -> Result<Vec<Project>, TraceError> {
        Ok(self.database()?.read(db::projects)?)
    }
}

pub(crate) fn sum_tokens(session: &Session, subagents: &[Session]) -> u64 {
    subagents.iter().fold(session.own_tokens, |sum, child| sum.saturating_add(child.own_tokens))
}

/// Whether this is the id of a second log of that session.
fn is_copy(id: &str, of: &str) -> bool {
    id.strip_prefix(of).is_some_and(|rest| rest.starts_with('~'))
}

impl Session {
    /// The folder that it was started in.
    pub fn root(&self) -> Option<Redacted> {
        self.root.as_deref().map(Redacted::from)
    }

    /// The client's own id of the session that it comes from.
    pub fn parent(&self) -> Option<Redacted> {
        self.parent.as_deref().map(Redacted::from)
    }

    /// Whether its log says to which project it belongs.
    pub fn has_project(&self) -> bool {
        self.project != Project::hash_of("")
    }

    /// Whether nothing happened in it: no turn, and no token of its own.
    pub fn is_empty(&self) -> bool {
        self.summary.turns == 0 && self.own_tokens == 0
    }

    pub fn is_child_of(&self, other: &Session) -> bool {
        self.parent.as_ref() == Some(&other.native_id)
    }

    /// The place of this session in lists.
    pub fn place(&self) -> (Millis, &str) {
        (self.summary.started.unwrap_or(0), &self.id)
    }
}
