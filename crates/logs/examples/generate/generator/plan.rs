//! Which sessions there are: whose, of which project, when, how large, and which needles each of them gets.

use super::needles::Needle;
use super::random::Random;
use super::vocabulary::Vocabulary;

/// 2025-06-01, from which the sessions spread over a year.
const FIRST_DAY: i64 = 1_748_736_000_000;
const YEAR: usize = 365 * 24 * 3600 * 1000;
const PROJECTS: usize = 40;
/// Under these a log is mostly its beginning.
const LEAST: u64 = 20_000;
const SMALLEST: f64 = 100_000.0;
const LARGEST: f64 = 30_000_000.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    ClaudeCode,
    Codex,
    Gemini,
}

/// Each client, its provider's name, and its share of the bytes in percent.
pub(crate) const CLIENTS: &[(Client, &str, u64)] =
    &[(Client::ClaudeCode, "claude_code", 70), (Client::Codex, "codex", 27), (Client::Gemini, "gemini", 3)];

#[derive(Clone, Debug)]
pub(crate) struct Project {
    pub(crate) root: String,
    pub(crate) branch: String,
    pub(crate) topic: usize,
}

/// A session with what it brought about; made by one thread.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) client: Client,
    pub(crate) project: usize,
    pub(crate) seed: u64,
    pub(crate) started: i64,
    /// The session itself, then its subagents, then a fork.
    pub(crate) logs: Vec<LogPlan>,
}

#[derive(Clone, Debug)]
pub(crate) struct LogPlan {
    pub(crate) role: Role,
    pub(crate) bytes: u64,
    /// Needles, and at how many bytes of the log; the last first.
    pub(crate) due: Vec<(u64, usize)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Session,
    Subagent,
    Fork,
}

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) projects: Vec<Project>,
    pub(crate) families: Vec<Family>,
}

impl Plan {
    pub(crate) fn new(random: &mut Random, vocabulary: &Vocabulary, bytes: u64, needles: &[Needle]) -> Plan {
        let projects = (0..PROJECTS).map(|_| project(random, vocabulary)).collect();
        let mut families = Vec::new();
        for (client, _, percent) in CLIENTS {
            let share = bytes * percent / 100;
            let mut left = share;
            while left == share || left > LEAST {
                let family = family(random, *client, share, left);
                left = left.saturating_sub(family.logs.iter().map(|log| log.bytes).sum());
                families.push(family);
            }
        }
        families.sort_by_key(|family| family.started);
        hand_out(random, &mut families, needles);
        Plan { projects, families }
    }
}

fn project(random: &mut Random, vocabulary: &Vocabulary) -> Project {
    let home =
        random.pick(&["/home/dana", "/Users/dana", "/Users/dana/work", "/srv/build", "/home/dana/src"]);
    let name = format!("{}-{}", vocabulary.word(random.rank(13)), vocabulary.word(random.rank(13)));
    let branch = match random.below(3) {
        0 => format!("feature/{}", vocabulary.word(random.rank(12))),
        _ => "main".to_owned(),
    };
    Project { root: format!("{home}/{name}"), branch, topic: random.below(1 << 20) }
}

fn family(random: &mut Random, client: Client, share: u64, left: u64) -> Family {
    let size = random.log_normal(900_000.0, 1.2).clamp(SMALLEST, LARGEST) as u64;
    let size = size.min((share / 4).max(LEAST)).min(left.max(LEAST));
    let plan = |role, bytes: u64| LogPlan { role, bytes: bytes.max(LEAST), due: Vec::new() };
    let mut logs = vec![plan(Role::Session, size)];
    if client == Client::ClaudeCode && size > 200_000 && random.percent(35) {
        for _ in 0..random.between(1, 5) {
            logs.push(plan(Role::Subagent, random.size(90_000, 0.8, size as usize / 4) as u64));
        }
        logs[0].bytes = size - logs[1..].iter().map(|log| log.bytes).sum::<u64>().min(size / 2);
    }
    if client == Client::Codex && size > 200_000 && random.percent(12) {
        logs.push(plan(Role::Subagent, size / 5));
    }
    if client != Client::Gemini && random.percent(6) {
        logs.push(plan(Role::Fork, size * 7 / 10));
    }
    let started = FIRST_DAY + random.below(YEAR) as i64;
    // A few projects get most of the work.
    let project = (random.rank(6) - 1).min(PROJECTS - 1);
    Family { client, project, seed: random.next(), started, logs }
}

/// Every needle to as many places as it wants, at random among all bytes.
fn hand_out(random: &mut Random, families: &mut [Family], needles: &[Needle]) {
    let mut logs: Vec<&mut LogPlan> = families.iter_mut().flat_map(|family| &mut family.logs).collect();
    let total: u64 = logs.iter().map(|log| log.bytes).sum();
    let mut places: Vec<(u64, usize)> = Vec::new();
    for (at, needle) in needles.iter().enumerate() {
        places.extend((0..needle.places).map(|_| (random.below(total as usize) as u64, at)));
    }
    places.sort_unstable();
    let (mut log, mut begin) = (0, 0);
    for (place, needle) in places {
        while place >= begin + logs[log].bytes {
            begin += logs[log].bytes;
            log += 1;
        }
        logs[log].due.push((place - begin, needle));
    }
    logs.iter_mut().for_each(|log| log.due.reverse());
}
