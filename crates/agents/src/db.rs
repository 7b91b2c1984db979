//! All SQL of the tables for agents.

mod events;
mod feedback;
mod instances;
mod operations;
mod reviews;
mod user_config;

use std::error::Error;
use std::str::FromStr;

use tamis_store::Component;
use tamis_store::rusqlite::types::Type;
use tamis_store::rusqlite::{self, Row};

pub(crate) use events::*;
pub(crate) use feedback::*;
pub(crate) use instances::*;
pub(crate) use operations::*;
pub(crate) use reviews::*;
pub(crate) use user_config::*;

/// Migrations are only ever added.
pub(crate) const COMPONENTS: &[Component] = &[Component {
    name: "agents",
    migrations: &["
        CREATE TABLE instances (
            id TEXT PRIMARY KEY,
            type TEXT NOT NULL CHECK (type IN ('coding', 'review', 'planning')),
            status TEXT NOT NULL CHECK (status IN ('STARTED', 'WAITING_REVIEW', 'PR_CREATED', 'PR_MERGED', 'PR_CLOSED',
                                                   'ABANDONED', 'TERMINATED')),
            phase TEXT NOT NULL CHECK (phase IN ('preparing', 'ready', 'ending', 'kept', 'gone')),
            reason TEXT,
            task TEXT NOT NULL,
            issue INTEGER,
            agent TEXT NOT NULL,
            args TEXT NOT NULL CHECK (json_valid(args)),
            repository TEXT NOT NULL,
            worktree TEXT NOT NULL UNIQUE,
            branch TEXT NOT NULL,
            base_branch TEXT,
            base_commit TEXT NOT NULL,
            session TEXT NOT NULL UNIQUE,
            identity_hash TEXT NOT NULL UNIQUE,
            exit_code INTEGER,
            pr_number INTEGER,
            pr_url TEXT,
            rejected_requests INTEGER NOT NULL DEFAULT 0 CHECK (rejected_requests >= 0),
            created_at INTEGER NOT NULL,    -- milliseconds since 1970, here and below
            updated_at INTEGER NOT NULL,
            ended_at INTEGER,
            -- A review agent never waits.
            CHECK (type <> 'review' OR status IN ('STARTED', 'TERMINATED', 'ABANDONED')),
            CHECK (status NOT IN ('PR_CREATED', 'PR_MERGED', 'PR_CLOSED') OR pr_number IS NOT NULL)
        ) STRICT;
        CREATE TABLE instance_relationships (
            id INTEGER PRIMARY KEY,
            parent_instance TEXT NOT NULL REFERENCES instances (id),
            child_instance TEXT NOT NULL UNIQUE REFERENCES instances (id),
            relationship_type TEXT NOT NULL CHECK (relationship_type IN ('spawned_review')),
            review_iteration INTEGER NOT NULL CHECK (review_iteration > 0),
            reviewed_commit TEXT NOT NULL,
            work_identity TEXT NOT NULL,
            outcome TEXT CHECK (outcome IN ('feedback', 'approved', 'ended', 'timed_out')),
            created_at INTEGER NOT NULL,
            ended_at INTEGER,
            UNIQUE (parent_instance, relationship_type, review_iteration)
        ) STRICT;
        CREATE TABLE feedback (
            id TEXT PRIMARY KEY,
            review_instance TEXT NOT NULL REFERENCES instances (id),
            coding_instance TEXT NOT NULL REFERENCES instances (id),
            review_iteration INTEGER NOT NULL,
            feedback TEXT NOT NULL,
            feedback_type TEXT NOT NULL CHECK (feedback_type IN ('needs_work', 'suggestions', 'clarification')),
            priority TEXT,
            actionable_items TEXT NOT NULL CHECK (json_valid(actionable_items)),
            digest TEXT NOT NULL,
            path TEXT NOT NULL,
            blob TEXT,
            git_commit_hash TEXT,
            created_at INTEGER NOT NULL,
            delivered_at INTEGER,
            told_at INTEGER,
            CHECK ((git_commit_hash IS NULL) = (delivered_at IS NULL)),
            UNIQUE (coding_instance, digest)
        ) STRICT;
        CREATE TABLE mcp_events (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            kind TEXT NOT NULL,
            instance_id TEXT REFERENCES instances (id),
            tool_name TEXT,
            success INTEGER CHECK (success IN (0, 1)),
            status_before TEXT,
            status_after TEXT,
            git_commit TEXT,
            error_code TEXT,
            detail TEXT NOT NULL CHECK (json_valid(detail))
        ) STRICT;
        CREATE INDEX mcp_events_of_instance ON mcp_events (instance_id, seq);
        CREATE TABLE operations (
            id INTEGER PRIMARY KEY,
            call_key TEXT UNIQUE,
            tool TEXT NOT NULL,
            instance_id TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('begun', 'done', 'undone')),
            plan TEXT NOT NULL CHECK (json_valid(plan)),
            result TEXT CHECK (json_valid(result)),
            begun_at INTEGER NOT NULL,
            ended_at INTEGER,
            CHECK ((state = 'begun') = (ended_at IS NULL))
        ) STRICT;
        -- An instance does one thing at a time.
        CREATE UNIQUE INDEX operations_under_way ON operations (instance_id) WHERE state = 'begun';
        CREATE TABLE user_config (
            key TEXT PRIMARY KEY,
            value TEXT NOT NULL,
            encrypted INTEGER NOT NULL DEFAULT FALSE
        ) STRICT;
        INSERT INTO user_config (key, value, encrypted) VALUES
            ('review.max_iterations', '3', FALSE),
            ('review.auto_abandon_after', '5', FALSE),
            ('review.timeout_hours', '24', FALSE);
    ", "
        -- The text of the issue when the instance was started.
        ALTER TABLE instances ADD COLUMN issue_title TEXT;
        ALTER TABLE instances ADD COLUMN issue_text TEXT;
    "],
}];

/// A column with the text of a value. Another program's, or a later version's, is an error and no panic.
fn parsed<T: FromStr<Err: Error + Send + Sync + 'static>>(
    row: &Row<'_>,
    column: &str,
) -> rusqlite::Result<T> {
    row.get::<_, String>(column)?.parse().map_err(unfit)
}

/// A column with JSON. An empty one is null.
fn json_in<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: Option<String> = row.get(column)?;
    serde_json::from_str(text.as_deref().unwrap_or("null")).map_err(unfit)
}

fn unfit(error: impl Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error))
}

fn json<T: serde::Serialize>(value: &T) -> String {
    // Lists of strings cannot fail to be written.
    serde_json::to_string(value).unwrap_or_else(|_| "[]".to_owned())
}

/// Paths are text here: agents' configurations, which must have them too, know nothing else.
fn path_text(path: &std::path::Path) -> String {
    path.to_string_lossy().into_owned()
}
