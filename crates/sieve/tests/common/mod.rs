//! A sieve over a temporary folder, with a scripted engine that does what the goal says.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tamis_prune::{Cut, CutCause, CutPlace, CutReason, EngineError, EngineRequest, EngineVerdict};
use tamis_sieve::{Caller, PruneOptions, PruneRequest, PruneWarning, Sieve, SieveSettings};
use tamis_store::DataDir;
use tamis_text::TextKind;

pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Obeys the goal: a line `2-4 name` cuts those lines, in the definition `name`; other words are faults.
pub(crate) fn scripted(
    request: &EngineRequest<'_>,
    interrupted: &dyn Fn() -> bool,
) -> Result<EngineVerdict, EngineError> {
    let mut cuts = Vec::new();
    for line in request.goal.split('\n') {
        match line {
            "panic" => panic!("as the test wants"),
            "wait" => {
                while !interrupted() {
                    std::hint::spin_loop();
                }
                return Err(EngineError::Interrupted);
            }
            "late" => while !interrupted() {},
            "impossible" => return Err(EngineError::ConstraintsUnmet),
            _ => cuts.extend(cut(line)),
        }
    }
    Ok(EngineVerdict { scores: vec![0.5; tamis_text::line_count(request.text)], cuts })
}

fn cut(line: &str) -> Option<Cut> {
    let (lines, words) = line.split_once(' ')?;
    let (first, last) = lines.split_once('-')?;
    let (cause, place) = match words {
        "hors focus" => (CutCause::LessRelevant, CutPlace::Omitted),
        "sans lien" => (CutCause::Unrelated, CutPlace::Omitted),
        name => (CutCause::LessRelevant, CutPlace::Definition(name.to_owned())),
    };
    let reason = CutReason { cause, place };
    Some(Cut { first_line: first.parse().ok()?, last_line: last.parse().ok()?, reason })
}

pub(crate) fn settings(data_dir: impl Into<PathBuf>) -> SieveSettings {
    SieveSettings {
        data_dir: Some(DataDir::at(data_dir)),
        max_input_chars: 2_000_000,
        recovery_ttl: Duration::from_secs(7 * 24 * 60 * 60),
        recovery_max_bytes: 1 << 30,
        ledger_keep: Duration::from_secs(90 * 24 * 60 * 60),
    }
}

pub(crate) fn sieve(data_dir: impl Into<PathBuf>) -> Sieve {
    Sieve::with_engine(settings(data_dir), scripted)
}

pub(crate) fn caller() -> Caller {
    Caller {
        tool: "prune_text".into(),
        door: "stdio".into(),
        client: Some("test".into()),
        ..Caller::default()
    }
}

pub(crate) fn request<'a>(text: &'a str, goal: &'a str) -> PruneRequest<'a> {
    PruneRequest {
        text,
        goal,
        kind: TextKind::Code,
        options: PruneOptions { timeout: LONG, ..PruneOptions::default() },
        shown: &[],
    }
}

pub(crate) fn prune(sieve: &Sieve, text: &str, goal: &str) -> tamis_sieve::Pruned {
    sieve.prune(&request(text, goal), &caller(), &|| false)
}

/// Recovers the whole original.
pub(crate) fn recover_all(sieve: &Sieve, prune_id: &str) -> Result<String, tamis_sieve::RecoverError> {
    sieve.recover(prune_id, &[(1, i64::MAX)], false, &caller()).map(|recovered| recovered.raw_text)
}

pub(crate) fn assert_whole(pruned: &tamis_sieve::Pruned, text: &str, warnings: &[PruneWarning]) {
    assert_eq!(pruned.pruned_text, text);
    assert_eq!(pruned.annotations, []);
    assert_eq!(pruned.warnings, warnings);
    assert!(pruned.scores.is_empty());
    let stats = pruned.stats;
    assert!(stats.used_fallback);
    assert_eq!((stats.pruned_lines, stats.kept_lines, stats.pruned_ratio), (0, stats.original_lines, 0.0));
    assert_eq!(stats.tokens_est_before, stats.tokens_est_after);
}

/// The file of an original.
pub(crate) fn original(data_dir: &std::path::Path, prune_id: &str) -> PathBuf {
    data_dir.join("recovery").join(format!("{}.zst", &prune_id[4..20]))
}

pub(crate) fn set_time(path: &std::path::Path, time: SystemTime) {
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Sets the modification time of a file into the past. For an original, that is its expiry.
pub(crate) fn age(path: &std::path::Path, age: Duration) {
    set_time(path, SystemTime::now() - age);
}

/// Sets the expiry of an original.
pub(crate) fn expire_in(path: &std::path::Path, time: Duration) {
    set_time(path, SystemTime::now() + time);
}

pub(crate) fn files(folder: &std::path::Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Text that does not compress.
pub(crate) fn noise(bytes: usize, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b' ' + (state % 94) as u8)
    };
    (0..bytes).map(|_| next()).collect()
}
