//! Lists of sessions that a reader can jump around in: the order of all of them, and any part of it.

use tamis_clients::Client;

use crate::db;
use crate::error::TraceError;
use crate::session::{ListedSession, Session, SessionFilter, sum_tokens};
use crate::trace::Trace;

/// What a list is ordered by: the latest or the most first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SessionSort {
    #[default]
    Started,
    Ended,
    /// With those of its subagents.
    Tokens,
    Turns,
    Failed,
}

/// Which sessions a list has, and in which order. Sessions in which nothing happened are in none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionListQuery {
    pub filter: SessionFilter,
    /// Each of these occurs in the title, the first prompt, the folder or the id.
    pub words: String,
    /// Only sessions with a failed tool call.
    pub only_failed: bool,
    pub sort: SessionSort,
}

/// The sessions of a list in their order, as they were when it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionOrder {
    logs: Vec<i64>,
}

impl SessionOrder {
    pub fn len(&self) -> usize {
        self.logs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.logs.is_empty()
    }
}

impl Trace {
    /// The order of a list. It holds a number for each session, so that any part of a long list is read at once.
    pub fn session_order(&self, query: &SessionListQuery) -> Result<SessionOrder, TraceError> {
        let logs = self.database()?.read(|connection| db::ordered_logs(connection, query))?;
        Ok(SessionOrder { logs })
    }

    /// A part of a list. Sessions that went away since are missing.
    pub fn sessions_in_order(
        &self,
        order: &SessionOrder,
        offset: usize,
        most: usize,
    ) -> Result<Vec<(ListedSession, Vec<Session>)>, TraceError> {
        let logs = order.logs.iter().skip(offset).take(most);
        let mut listed = Vec::new();
        for log in logs {
            let session = self.database()?.read(|connection| db::session_of_log(connection, *log))?;
            let Some(session) = session else { continue };
            let subagents = self.subagents(&session)?;
            let total_tokens = sum_tokens(&session, &subagents);
            listed.push((ListedSession { session, subagents: subagents.len(), total_tokens }, subagents));
        }
        Ok(listed)
    }

    /// How many sessions each client has, the most first. Subagents' sessions and empty ones are not counted.
    pub fn sessions_by_client(&self) -> Result<Vec<(Client, u64)>, TraceError> {
        Ok(self.database()?.read(db::sessions_by_client)?)
    }

    /// The session that this one comes from, if its log is there.
    pub fn parent_of(&self, session: &Session) -> Result<Option<Session>, TraceError> {
        let Some(parent) = &session.parent else { return Ok(None) };
        Ok(self.database()?.read(|connection| db::session_with_native_id(connection, parent))?)
    }
}
