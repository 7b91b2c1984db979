//! Puts logs where the clients would have them.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};

use super::author::Author;
use super::claude::ClaudeLog;
use super::claude_request;
use super::codex::{self, CodexLog, Origin};
use super::gemini::{GeminiLog, Layout};
use super::log::{Log, timestamp};
use super::needles::{self, Needle};
use super::plan::{CLIENTS, Client, Family, LogPlan, Project, Role};
use super::random::Random;
use super::vocabulary::Vocabulary;

pub(crate) struct Maker<'v> {
    pub(crate) home: &'v Path,
    pub(crate) vocabulary: &'v Vocabulary,
    pub(crate) needles: &'v [Needle],
    pub(crate) instructions: &'v str,
}

/// What came of a family.
#[derive(Debug, Default)]
pub(crate) struct Made {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    /// Lines of the list of needles.
    pub(crate) places: Vec<String>,
}

impl<'v> Maker<'v> {
    pub(crate) fn family(&self, family: &Family, project: &'v Project) -> io::Result<Made> {
        let mut made = Made::default();
        match family.client {
            Client::ClaudeCode => self.claude(family, project, &mut made)?,
            Client::Codex => self.codex(family, project, &mut made)?,
            Client::Gemini => self.gemini(family, project, &mut made)?,
        }
        Ok(made)
    }

    fn log(&self, family: &Family, project: &'v Project, at: usize, plan: &LogPlan) -> Log<'v> {
        let mut random = Random::new(family.seed.wrapping_add(at as u64));
        let started = family.started + 1_800_000 * at as i64;
        let session = match family.client {
            Client::Codex => random.uuid_of_time(started),
            Client::ClaudeCode | Client::Gemini => random.uuid(),
        };
        let author = Author::new(random, self.vocabulary, project.topic);
        Log::new(author, project, plan, self.needles, started, session)
    }

    fn claude(&self, family: &Family, project: &'v Project, made: &mut Made) -> io::Result<()> {
        let folder: String = project
            .root
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
            .collect();
        let folder = format!(".claude/projects/{folder}");
        let mut main = ClaudeLog::new(self.log(family, project, 0, &family.logs[0]));
        main.write();
        let session = main.log.session.clone();
        for (at, plan) in family.logs.iter().enumerate().skip(1) {
            let mut log = self.log(family, project, at, plan);
            let path = if plan.role == Role::Subagent {
                let agent = log.random().token("a", 16).to_lowercase();
                let path = format!("{folder}/{session}/subagents/agent-{agent}");
                log.session.clone_from(&session);
                log.agent = Some(agent);
                let meta = "{\"agentType\":\"general-purpose\",\"spawnDepth\":1}";
                self.save(&format!("{path}.meta.json"), meta, log.clock)?;
                path + ".jsonl"
            } else {
                let fork = log.session.clone();
                log.inherit(&main.log, |line, out| claude_request::inherited(line, &session, &fork, out));
                format!("{folder}/{fork}.jsonl")
            };
            let mut claude = ClaudeLog::new(log);
            claude.write();
            self.finish(family, &path, &claude.log, made)?;
        }
        self.finish(family, &format!("{folder}/{session}.jsonl"), &main.log, made)
    }

    fn codex(&self, family: &Family, project: &'v Project, made: &mut Made) -> io::Result<()> {
        let mut main = CodexLog::new(self.log(family, project, 0, &family.logs[0]));
        let path = rollout(&main.log);
        main.session_meta(&Origin::User, self.instructions);
        main.write();
        for (at, plan) in family.logs.iter().enumerate().skip(1) {
            let mut log = self.log(family, project, at, plan);
            // A fork begins when its parent has got somewhere.
            log.clock = main.log.turns.last().map_or(log.clock, |turn| turn.clock.max(log.clock));
            let path = rollout(&log);
            let mut codex = CodexLog::new(log);
            if plan.role == Role::Subagent {
                codex.session_meta(&Origin::Subagent(&main.log.session), self.instructions);
            } else {
                codex.session_meta(&Origin::Fork(&main.log.session), self.instructions);
                let now = codex.log.clock;
                let written = timestamp(now);
                let taken = codex.log.inherit(&main.log, |line, out| codex::inherited(line, &written, out));
                codex.log.clock = now;
                codex.total = taken.unwrap_or_default();
            }
            codex.write();
            self.finish(family, &path, &codex.log, made)?;
        }
        self.finish(family, &path, &main.log, made)
    }

    fn gemini(&self, family: &Family, project: &'v Project, made: &mut Made) -> io::Result<()> {
        let hash: String = Sha256::digest(&project.root).iter().map(|byte| format!("{byte:02x}")).collect();
        let log = self.log(family, project, 0, &family.logs[0]);
        let stem = format!("session-{}-{}", file_time(log.clock, 16), &log.session[..8]);
        let mut gemini = GeminiLog::new(log, hash.clone());
        gemini.write();
        let ending = match gemini.layout {
            Layout::Document => "json",
            Layout::Lines => "jsonl",
        };
        self.finish(family, &format!(".gemini/tmp/{hash}/chats/{stem}.{ending}"), &gemini.log, made)
    }

    fn finish(&self, family: &Family, path: &str, log: &Log<'_>, made: &mut Made) -> io::Result<()> {
        self.save(path, &log.out, log.clock)?;
        made.files += 1;
        made.bytes += log.out.len() as u64;
        let provider =
            CLIENTS.iter().find(|(client, ..)| *client == family.client).map_or("", |(_, name, _)| name);
        made.places.extend(
            log.planted.iter().map(|at| needles::line_of(&self.needles[at.needle], at, log, provider, path)),
        );
        Ok(())
    }

    /// Last changed when its last record was written.
    fn save(&self, path: &str, text: &str, millis: i64) -> io::Result<()> {
        let path = self.home.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = File::create(path)?;
        file.write_all(text.as_bytes())?;
        file.set_modified(UNIX_EPOCH + Duration::from_millis(millis.unsigned_abs()))
    }
}

fn rollout(log: &Log<'_>) -> String {
    let time = file_time(log.clock, 19);
    let day = time[..10].replace('-', "/");
    format!(".codex/sessions/{day}/rollout-{time}-{}.jsonl", log.session)
}

/// The beginning of a time, as file names have it.
fn file_time(millis: i64, letters: usize) -> String {
    timestamp(millis)[..letters].replace(':', "-")
}
