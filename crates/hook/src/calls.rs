//! The record of hook calls: one line of JSON each, in a file that is started anew when it is full.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tamis_store::{DataDir, Lock, private_file};

use crate::{HookOutcome, HookResult};

/// Then the file becomes the old one, and the old one before it goes.
const MAX_BYTES: u64 = 1 << 20;
/// Calls of hooks that run side by side are among the last bytes.
const RECENT_BYTES: u64 = 64 << 10;

/// A call of a hook, as it is recorded. It has no text of the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookCall {
    /// Milliseconds since 1970.
    pub at_ms: u64,
    pub client: String,
    pub session: Option<String>,
    pub tool: Option<String>,
    /// The client's id of the tool call.
    pub call_id: Option<String>,
    pub outcome: HookOutcome,
    pub elapsed_ms: u64,
}

/// The calls of hooks that a data folder has on record.
pub struct HookCalls {
    data: DataDir,
    path: PathBuf,
}

impl HookCalls {
    pub fn new(data: DataDir) -> HookCalls {
        HookCalls { path: data.root().join("hook-calls.jsonl"), data }
    }

    /// Adds a call.
    pub fn add(&self, client: &str, result: &HookResult, elapsed: Duration) -> io::Result<()> {
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let call = HookCall {
            at_ms: u64::try_from(at.as_millis()).unwrap_or(u64::MAX),
            client: client.to_owned(),
            session: result.session.clone(),
            tool: result.tool.clone(),
            call_id: result.call_id.clone(),
            outcome: result.outcome,
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        };
        self.append(&serde_json::to_string(&call).map_err(io::Error::other)?)
    }

    /// Whether this is the first call for an output, which the key identifies. The same hook may be installed twice, and a client
    /// then runs both at the same time: the first line in the file counts.
    pub(crate) fn claim(&self, key: &str) -> io::Result<bool> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let start = format!("{{\"claim\":{},", serde_json::Value::from(key));
        let line = format!("{start}\"by\":\"{}-{now}\"}}", process::id());
        self.append(&line)?;
        let mut recent = last_bytes(&self.path)?;
        if recent.len() < RECENT_BYTES as usize {
            // The file may just have been started anew.
            recent = last_bytes(&self.old()).unwrap_or_default() + &recent;
        }
        // Without any, the file has grown by much meanwhile, and no other call is known.
        Ok(recent.lines().find(|line| line.starts_with(&start)).is_none_or(|first| first == line))
    }

    /// Adds a line. Lines of this size are written at once, so calls at the same time do not mix.
    fn append(&self, line: &str) -> io::Result<()> {
        let is_full = || fs::metadata(&self.path).is_ok_and(|metadata| metadata.len() > MAX_BYTES);
        // Only one of several calls starts a new file.
        if is_full()
            && let Some(_lock) = Lock::try_acquire(&self.path.with_extension("lock"))?
            && is_full()
        {
            fs::rename(&self.path, self.old())?;
        }
        let open = || private_file().append(true).create(true).open(&self.path);
        let mut file = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.data.create()?;
                open()?
            }
            opened => opened?,
        };
        file.write_all(format!("{line}\n").as_bytes())
    }

    /// The calls on record, the oldest first. Other lines are left out.
    pub fn list(&self) -> Vec<HookCall> {
        let lines_of = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        let text = lines_of(&self.old()) + &lines_of(&self.path);
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn old(&self) -> PathBuf {
        self.path.with_extension("jsonl.old")
    }
}

fn last_bytes(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(RECENT_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
