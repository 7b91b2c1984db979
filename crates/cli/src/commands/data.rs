use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use serde_json::json;
use tamis_config::{Config, ConfigEnvironment};
use tamis_sieve::{LedgerTotals, PurgeRequest, StorageReport};
use tamis_store::DataDir;
use tamis_trace::{ToolCallCounts, erase_indexes, index_files};

use crate::error::{CliError, CliResult};
use crate::table::{self, Align, Table};
use crate::{print, startup};

/// Show or erase stored data
#[derive(Args)]
pub(crate) struct Data {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Subcommand)]
enum DataCommand {
    Show(Show),
    #[command(name = "purge")]
    Purge(Erase),
}

/// Show what is stored and where, and what pruning has saved
#[derive(Args)]
struct Show {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Erase originals, the ledger and the indexes, or only some of them
///
/// Keeps memos, handoffs, and agents with their worktrees, logs and database rows. `tamis agents gc` removes worktrees that are no
/// longer needed.
#[derive(Args)]
struct Erase {
    /// Erase only the originals, which recovery needs
    #[arg(long)]
    recovery: bool,
    /// Erase only the ledger and the counts of calls
    #[arg(long)]
    ledger: bool,
    /// Erase only the index of past sessions, which is rebuilt from the agents' logs
    #[arg(long)]
    trace: bool,
    /// Erase only the indexes of codebases, which are rebuilt when needed
    #[arg(long)]
    research: bool,
    /// Erase only originals and ledger rows older than this, such as 12h or 7d
    #[arg(long, value_name = "AGE", value_parser = age, conflicts_with_all = ["trace", "research"])]
    older_than: Option<Duration>,
    /// Actually erase; without this flag, only show what would be erased
    #[arg(long)]
    yes: bool,
}

/// Parses an age, such as `12h`.
pub(crate) fn age(text: &str) -> Result<Duration, String> {
    const DAY: u64 = 24 * 60 * 60;
    const UNITS: [(char, u64); 5] = [('s', 1), ('m', 60), ('h', 60 * 60), ('d', DAY), ('w', 7 * DAY)];
    UNITS
        .into_iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?.parse::<u64>().ok()?, seconds)))
        .and_then(|(number, seconds)| number.checked_mul(seconds))
        .map(Duration::from_secs)
        .ok_or_else(|| "expected an age such as 2w, 90s, 30m, 12h or 7d".to_owned())
}

pub(crate) fn run(arguments: Data) -> CliResult {
    let config = startup::load(&ConfigEnvironment::of_process())?;
    match arguments.command {
        DataCommand::Show(show) => self::show(&config, &show),
        DataCommand::Purge(erase) => self::erase(&config, &erase),
    }
}

fn show(config: &Config, arguments: &Show) -> CliResult {
    let services = startup::services(config)?;
    let holdings = services.sieve.storage_report();
    // An unreadable ledger is already among the problems.
    let savings = services.sieve.ledger_totals().unwrap_or_default();
    let folder = config.data_dir();
    let index = index_files(&DataDir::at(&folder)).unwrap_or_default();
    let index_bytes: u64 = index.iter().map(|(_, size)| size).sum();
    let codebases = held_in(&DataDir::at(&folder).research());
    let memos = held_in(&startup::artifacts(config));
    let agents = AgentsFolder::of(config);
    let mut problems = holdings.problems.clone();
    let uses = services.sessions().map_or(Ok(Vec::new()), |sessions| sessions.trace.call_counts());
    let uses = uses.unwrap_or_else(|error| {
        problems.push(format!("{:#}", anyhow::Error::new(error)));
        Vec::new()
    });
    if arguments.json {
        let next =
            holdings.recovery_next_expiry.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        return print::json(&json!({
            "folder": folder,
            "recovery": {
                "originals": holdings.recovery_files,
                "bytes": holdings.recovery_bytes,
                "next_expiry_unix_s": next.map(|time| time.as_secs()),
            },
            "ledger": {"rows": holdings.ledger_rows, "bytes": holdings.database_bytes},
            "trace": {
                "files": index.iter().map(|(path, _)| path).collect::<Vec<_>>(),
                "bytes": index_bytes,
            },
            "research": {"index_bytes": codebases.1, "memos": memos.0, "memo_bytes": memos.1},
            "agents": {"folder": agents.folder, "worktrees": agents.worktrees, "log_bytes": agents.log_bytes},
            "savings": {
                "calls": savings.calls,
                "fallbacks": savings.fallbacks,
                "tokens_before": savings.tokens_before,
                "tokens_after": savings.tokens_after,
                "recoveries": savings.recoveries,
                "recovered_tokens": savings.recovered_tokens,
            },
            "trace_tools": uses
                .iter()
                .map(|uses| {
                    json!({
                        "tool": uses.tool,
                        "calls": uses.calls,
                        "failures": uses.failures,
                        "answer_bytes": uses.bytes,
                        "largest_answer_bytes": uses.largest,
                        "request_bytes": uses.request_bytes,
                        "largest_request_bytes": uses.largest_request,
                    })
                })
                .collect::<Vec<_>>(),
            "problems": problems,
        }));
    }
    let ledger_rows = print::count(holdings.ledger_rows, "row");
    let (memos, artifacts) = (print::count(memos.0, "memo"), startup::artifacts(config));
    let rows = [
        ("folder", folder.display().to_string()),
        ("originals", originals(&holdings)),
        ("ledger", format!("{ledger_rows}, {}", print::size(holdings.database_bytes))),
        ("sessions", indexed(&index, index_bytes)),
        ("research", format!("indexes of {}, {memos} in {}", print::size(codebases.1), artifacts.display())),
        ("agents", agents.render()),
        ("saved", saved(&savings)),
    ];
    print::columns(&rows.map(|(name, value)| [name.to_owned(), value]))?;
    if !uses.is_empty() {
        print::text(&format!("\n{}", uses_table(&uses).render(table::screen())))?;
    }
    for problem in &problems {
        print::note(format_args!("warning: {problem}"));
    }
    Ok(())
}

/// Contents of the folder of agents. The size of worktrees is not computed: they can be as large as repositories.
struct AgentsFolder {
    folder: PathBuf,
    worktrees: u64,
    log_bytes: u64,
}

impl AgentsFolder {
    fn of(config: &Config) -> AgentsFolder {
        let folder = DataDir::at(config.data_dir()).agents();
        let worktrees =
            std::fs::read_dir(folder.join("worktrees")).map_or(0, |entries| entries.flatten().count());
        let (_, log_bytes) = held_in(&folder.join("logs"));
        AgentsFolder { folder, worktrees: worktrees as u64, log_bytes }
    }

    fn render(&self) -> String {
        let worktrees = print::count(self.worktrees, "worktree");
        format!("{worktrees} and logs of {} in {}", print::size(self.log_bytes), self.folder.display())
    }
}

/// Number of files in a folder and below it, and their bytes. Unreadable ones are not counted.
pub(crate) fn held_in(folder: &Path) -> (u64, u64) {
    let mut held = (0, 0);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (files, bytes) = match entry.metadata() {
            Ok(about) if about.is_dir() => held_in(&entry.path()),
            Ok(about) if about.is_file() => (1, about.len()),
            _ => (0, 0),
        };
        held = (held.0 + files, held.1 + bytes);
    }
    held
}

/// Calls of the tools for past sessions.
fn uses_table(uses: &[ToolCallCounts]) -> Table {
    let mut table = Table::new(&[
        ("CALLS", Align::Right),
        ("FAILED", Align::Right),
        ("REQUESTED", Align::Right),
        ("ANSWERED", Align::Right),
        ("LARGEST", Align::Right),
        ("TOOL", Align::Left),
    ]);
    for uses in uses {
        table.row([
            print::grouped(uses.calls),
            print::grouped(uses.failures),
            print::size(uses.request_bytes),
            print::size(uses.bytes),
            print::size(uses.largest),
            uses.tool.clone(),
        ]);
    }
    table
}

fn originals(holdings: &StorageReport) -> String {
    let mut text = format!(
        "{}, {}",
        print::count(holdings.recovery_files, "file"),
        print::size(holdings.recovery_bytes)
    );
    if let Some(expiry) = holdings.recovery_next_expiry {
        let left = expiry.duration_since(SystemTime::now()).unwrap_or_default();
        text.push_str(&format!(", next expires in {} h", left.as_secs() / 3600));
    }
    text
}

/// The index of past sessions, and those of logs given by `--logs`.
fn indexed(files: &[(PathBuf, u64)], bytes: u64) -> String {
    let databases: Vec<_> = files
        .iter()
        .filter(|(path, _)| path.extension().is_some_and(|extension| extension == "db"))
        .collect();
    match databases.as_slice() {
        [] => "not indexed".to_owned(),
        [(path, _)] => format!("an index of {}, {}", print::size(bytes), path.display()),
        several => format!("{} indexes of {}", several.len(), print::size(bytes)),
    }
}

fn listed(what: &[String]) -> String {
    match what {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        what => what.concat(),
    }
}

/// Saved tokens, and how many were recovered later: a cut that is recovered saves nothing.
fn saved(savings: &LedgerTotals) -> String {
    let cut = savings.tokens_before.saturating_sub(savings.tokens_after);
    format!(
        "about {} of {} in {}; {} recovered later",
        print::grouped(cut),
        print::count(savings.tokens_before, "token"),
        print::count(savings.calls, "call"),
        print::count(savings.recovered_tokens, "token"),
    )
}

fn erase(config: &Config, arguments: &Erase) -> CliResult {
    let services = startup::services(config)?;
    let data_dir = DataDir::at(config.data_dir());
    let all = !(arguments.recovery || arguments.ledger || arguments.trace || arguments.research);
    let purge = PurgeRequest {
        recovery: all || arguments.recovery,
        ledger: all || arguments.ledger,
        older_than: arguments.older_than,
    };
    let trace = arguments.trace || all && arguments.older_than.is_none();
    let research = arguments.research || all && arguments.older_than.is_none();
    if !arguments.yes {
        let holdings = services.sieve.storage_report();
        let mut what = Vec::new();
        if purge.recovery {
            what.push(format!("the originals ({})", originals(&holdings)));
        }
        if purge.ledger {
            what.push(format!("the ledger ({})", print::count(holdings.ledger_rows, "row")));
        }
        if trace {
            what.push("the index of past sessions".to_owned());
        }
        if research {
            what.push("the indexes of codebases".to_owned());
        }
        let older = if purge.older_than.is_some() { ", where older" } else { "" };
        let hint = match (purge.recovery, trace || research) {
            (true, _) => "add `--yes` to erase; cuts without originals cannot be recovered",
            (false, true) if !purge.ledger => "add `--yes` to erase; indexes are rebuilt when needed",
            (false, _) => "add `--yes` to erase",
        };
        return Err(CliError::usage(format_args!("this would erase {}{older}", listed(&what))).hint(hint));
    }
    let mut problems = Vec::new();
    if purge.recovery || purge.ledger {
        let report = services.sieve.purge(purge);
        print::note(format_args!(
            "erased {} ({}) and {}",
            print::count(report.originals, "original"),
            print::size(report.bytes),
            print::count(report.ledger_rows, "ledger row"),
        ));
        problems = report.problems;
    }
    // Counts have no age, so `--older-than` keeps them.
    if purge.ledger
        && purge.older_than.is_none()
        && let Some(sessions) = services.sessions()
        && let Err(error) = sessions.trace.clear_call_counts()
    {
        problems.push(format!("{:#}", anyhow::Error::new(error)));
    }
    if trace {
        match erase_indexes(&data_dir) {
            Ok(bytes) => {
                print::note(format_args!("erased the index of past sessions ({})", print::size(bytes)));
            }
            Err(error) => problems.push(format!("{:#}", anyhow::Error::new(error))),
        }
    }
    if research {
        let folder = data_dir.research();
        let (_, bytes) = held_in(&folder);
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                problems.push(format!("{}: {error}", folder.display()));
            }
            _ => print::note(format_args!("erased the indexes of codebases ({})", print::size(bytes))),
        }
    }
    let worktrees = AgentsFolder::of(config).worktrees;
    if all && worktrees > 0 {
        let worktrees = print::count(worktrees, "worktree");
        print::note(format_args!(
            "{worktrees} of agents and their database rows are kept; `tamis agents gc` removes those no longer needed"
        ));
    }
    for problem in &problems {
        print::note(format_args!("warning: {problem}"));
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(CliError::failed(anyhow::anyhow!("cannot erase everything")))
    }
}
