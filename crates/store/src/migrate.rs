//! Component versions, forward migrations, and the backup before one.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior};

use crate::data_dir::private_file;
use crate::error::StoreError;

/// One crate's tables. Their version is the number of migrations that have run, so the list must only grow.
#[derive(Clone, Copy, Debug)]
pub struct Component {
    pub name: &'static str,
    pub migrations: &'static [&'static str],
}

impl Component {
    fn known(&self) -> u32 {
        u32::try_from(self.migrations.len()).unwrap_or(u32::MAX)
    }
}

/// Brings every component to the version this program knows, all in one transaction, or changes nothing.
pub(crate) fn migrate(
    connection: &mut Connection,
    path: &Path,
    components: &[Component],
) -> Result<(), StoreError> {
    let sql = |error| StoreError::of(path, error);
    // The usual case needs no write lock.
    if outdated(connection, path, components)?.is_empty() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql)?;
    // Checked again: another process may have migrated while this one waited for the lock.
    let outdated = outdated(&transaction, path, components)?;
    if let Some((component, _)) = outdated.iter().find(|(_, found)| *found > 0) {
        back_up(path, component)?;
    }
    for (component, found) in &outdated {
        run(&transaction, component, *found).map_err(sql)?;
    }
    transaction.commit().map_err(sql)
}

/// The components whose tables are older than this program's, with the version found. Newer ones are refused.
pub(crate) fn outdated<'a>(
    connection: &Connection,
    path: &Path,
    components: &'a [Component],
) -> Result<Vec<(&'a Component, u32)>, StoreError> {
    let versions = versions(connection).map_err(|error| StoreError::of(path, error))?;
    let mut outdated = Vec::new();
    for component in components {
        let found = versions.get(component.name).copied().unwrap_or(0);
        let known = component.known();
        if found > known {
            return Err(StoreError::NewerSchema {
                path: path.to_owned(),
                component: component.name,
                found,
                known,
            });
        }
        if found < known {
            outdated.push((component, found));
        }
    }
    Ok(outdated)
}

fn versions(connection: &Connection) -> rusqlite::Result<HashMap<String, u32>> {
    let table: Option<i64> = connection
        .query_row(
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_versions'",
            [],
            |row| row.get(0),
        )
        .optional()?;
    if table.is_none() {
        return Ok(HashMap::new());
    }
    let mut statement = connection.prepare("SELECT component, version FROM schema_versions")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn run(transaction: &Transaction<'_>, component: &Component, found: u32) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS schema_versions (component TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT",
    )?;
    for migration in component.migrations.iter().skip(found as usize) {
        transaction.execute_batch(migration)?;
    }
    transaction.execute(
        "INSERT INTO schema_versions (component, version) VALUES (?1, ?2)
         ON CONFLICT (component) DO UPDATE SET version = excluded.version",
        (component.name, component.known()),
    )?;
    Ok(())
}

/// Copies the database to `<file>.before-<component>-<version>` through a second connection. The first one holds the write
/// lock, so the copy is exactly what the migration starts from.
fn back_up(path: &Path, component: &Component) -> Result<(), StoreError> {
    let target = beside(path, &format!(".before-{}-{}", component.name, component.known()));
    let partial = beside(path, &format!(".before-{}-{}.partial", component.name, component.known()));
    let io = |source| StoreError::Io { path: partial.clone(), source };
    // Created first, so that it has mode 0600. The write lock keeps other processes away from it.
    private_file().write(true).create(true).truncate(true).open(&partial).map_err(io)?;
    let reader = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .map_err(|error| StoreError::of(path, error))?;
    reader
        .backup(rusqlite::MAIN_DB, &partial, None::<fn(rusqlite::backup::Progress)>)
        .map_err(|error| StoreError::of(path, error))?;
    fs::rename(&partial, &target).map_err(io)?;
    tracing::info!(copy = %target.display(), "copied the database before migrating it");
    Ok(())
}

/// `path` with `suffix` added to its file name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
