//! The generator itself, which never prints: [`generate`] writes a home folder.
//!
//! It is a folder of its own so that a test can have it too, as
//! `#[path = "../examples/generate/generator/mod.rs"] mod generator;`.

mod author;
mod claude;
mod claude_request;
mod claude_tools;
mod codex;
mod dialects;
mod gemini;
mod home;
mod json;
mod log;
mod needles;
mod plan;
mod random;
mod vocabulary;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, io};

use home::Maker;
use plan::{CLIENTS, Client, Plan};
use random::Random;
use vocabulary::Vocabulary;

/// What to generate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// The approximate size in bytes.
    pub(crate) bytes: u64,
    pub(crate) seed: u64,
    /// How many different needles; the most frequent one has a place for every megabyte.
    pub(crate) needles: usize,
}

/// What was generated for one client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

/// What was generated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// By the provider's name.
    pub(crate) shares: Vec<(&'static str, Share)>,
    /// Places of needles, those copied into forks included.
    pub(crate) places: usize,
}

/// Writes a home folder with the logs of all clients, and `needles.jsonl` beside them. The same options give the same bytes.
pub(crate) fn generate(home: &Path, options: &Options) -> io::Result<Summary> {
    let mut random = Random::new(options.seed);
    let vocabulary = Vocabulary::new(&mut random);
    let most = (options.bytes / 1_000_000).max(4) as usize;
    let needles = needles::forge(&mut random, &vocabulary, options.needles, most);
    let plan = Plan::new(&mut random, &vocabulary, options.bytes, &needles);
    // The same in all sessions of a client, as it is in real ones.
    let instructions = author::Author::new(random, &vocabulary, 0).prose(9_000);

    let maker = Maker { home, vocabulary: &vocabulary, needles: &needles, instructions: &instructions };
    let next = AtomicUsize::new(0);
    let made = Mutex::new(Vec::new());
    let work = || -> io::Result<()> {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(family) = plan.families.get(at) else { return Ok(()) };
            let result = maker.family(family, &plan.projects[family.project])?;
            made.lock().map_err(|_| io::Error::other("another thread failed"))?.push((
                at,
                family.client,
                result,
            ));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| Err(io::Error::other("a thread of the generator panicked")))
        })
    })?;

    let mut made = made.into_inner().map_err(|_| io::Error::other("a thread failed"))?;
    made.sort_by_key(|(at, ..)| *at);
    let list: Vec<&str> = made.iter().flat_map(|(.., made)| &made.places).map(String::as_str).collect();
    fs::write(home.join("needles.jsonl"), list.concat())?;
    Ok(Summary { shares: shares(&made), places: list.len() })
}

fn shares(made: &[(usize, Client, home::Made)]) -> Vec<(&'static str, Share)> {
    let of = |wanted: Client| {
        made.iter().filter(|(_, client, _)| *client == wanted).fold(Share::default(), |sum, (.., made)| {
            Share { files: sum.files + made.files, bytes: sum.bytes + made.bytes }
        })
    };
    CLIENTS.iter().map(|(client, name, _)| (*name, of(*client))).collect()
}
