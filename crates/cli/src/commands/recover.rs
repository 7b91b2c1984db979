use clap::Args;
use serde_json::json;
use tamis_config::{Config, ConfigEnvironment};
use tamis_sieve::{LineRanges, PastedCuts, PastedError, RecentPrune, RecoverError};
use tamis_store::DataDir;

use crate::error::{CliError, CliResult};
use crate::operation::{Operations, Stdout};
use crate::table::{self, Align, Table};
use crate::{escape, input, print, startup, times};

/// How every prune id begins.
const ID: &str = "prn_";

/// Restore lines that were cut
///
/// Takes a prune id, or enough of its beginning, and lines, such as 120-154 or 105-106,110; without lines, restores the whole text.
/// Also takes pasted markers, whole or in part, in quotes: `tamis recover '[tamis 48-78]'`. A marker without an id is looked for in
/// recent prunes. `-` reads from stdin.
#[derive(Args)]
pub(crate) struct Recover {
    /// Prune id (prn_…) and lines, or markers
    #[arg(value_name = "ID [LINES]|MARKER", required_unless_present = "list")]
    pasted: Vec<String>,
    /// List recent prunes that can be recovered, latest first
    #[arg(long, conflicts_with_all = ["pasted", "numbers"])]
    list: bool,
    /// Maximum number of prunes to list
    #[arg(long, value_name = "N", default_value_t = 20, requires = "list")]
    limit: usize,
    /// Prefix each line with its number in the original
    #[arg(long, short)]
    numbers: bool,
    /// Print the JSON output of `recover_text`
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: Recover) -> CliResult {
    let operations = Operations::new("recover")?;
    if arguments.list {
        return list(&operations, arguments.limit, arguments.json);
    }
    let pasted = match &arguments.pasted[..] {
        [stdin] if stdin == "-" => String::from_utf8_lossy(&input::stdin()?).into_owned(),
        [stdin, lines @ ..] if stdin == "-" => {
            format!("{} {}", String::from_utf8_lossy(&input::stdin()?).trim(), lines.join(" "))
        }
        // After an id, each argument is a range or has a marker.
        [id, lines @ ..] if id.starts_with(ID) && !id.contains(char::is_whitespace) => {
            let is_marker = |lines: &String| lines.contains("tamis") && lines.parse::<PastedCuts>().is_ok();
            let check = |lines: &String| match is_marker(lines) {
                true => Ok(()),
                false => lines.parse::<LineRanges>().map(drop),
            };
            lines.iter().try_for_each(check).map_err(|error| explain_pasted(error, id))?;
            arguments.pasted.join(" ")
        }
        pasted => pasted.join(" "),
    };
    let (prune_id, mut ranges) = parse(&operations, &pasted)?;
    let is_whole = ranges.is_empty();
    if is_whole {
        ranges.push((1, i64::MAX));
    }
    let recovered = operations.run(async |context| {
        context.services.recover(prune_id.clone(), ranges, arguments.numbers, context.caller).await
    })?;
    if is_whole
        && !arguments.json
        && !arguments.numbers
        && let Err(RecoverError::TooLarge { .. }) = recovered
    {
        return operations.services.sieve.write_original(&prune_id, &mut Stdout).map_err(explain);
    }
    let mut recovered = recovered.map_err(explain)?;
    // The empty line after the last newline is no line to a person.
    let last = recovered.metadata.ranges.last().map_or(0, |range| range.end_line);
    if is_whole && let Some(text) = recovered.raw_text.strip_suffix(&format!("{last}│ ")) {
        recovered.raw_text.truncate(text.len());
    }
    if arguments.json {
        print::json(&recovered)?;
    } else if is_whole {
        // Byte for byte; single lines end with a newline.
        print::bytes(recovered.raw_text.as_bytes())?;
    } else {
        print::line(recovered.raw_text)?;
    }
    startup::finish(&operations.services);
    Ok(())
}

/// The error in the words of this command.
fn explain(error: RecoverError) -> CliError {
    match error {
        RecoverError::InvalidRange { range: (first, _), lines: Some(lines), ends_in_newline } => {
            let lines = (lines - usize::from(ends_in_newline)) as u64;
            let error = anyhow::anyhow!("the text has no line {first}");
            CliError::failed(error).hint(format!("it has {}", print::count(lines, "line")))
        }
        RecoverError::NotFound { .. } => unopened_data_folder().unwrap_or_else(|| hinted(error)),
        error => hinted(error),
    }
}

fn hinted(error: RecoverError) -> CliError {
    CliError { hint: error.hint().map(str::to_owned), ..CliError::failed(error) }
}

/// Why no id can be known: the data folder cannot be used.
fn unopened_data_folder() -> Option<CliError> {
    let config = Config::load(&ConfigEnvironment::of_process()).ok()?;
    let folder = DataDir::at(config.data_dir());
    if let Err(error) = folder.secure() {
        return Some(error.into());
    }
    let error = folder.create().and_then(|()| std::fs::read_dir(config.data_dir()).map(drop)).err()?;
    let message = format!("cannot open the data folder `{}`", config.data_dir().display());
    Some(
        CliError::failed(anyhow::Error::new(error).context(message))
            .hint("TAMIS_DATA_DIR names the data folder"),
    )
}

/// The prune id and lines that a pasted text names. Markers without an id are those of the recent prune that cut their lines,
/// which is named on stderr.
fn parse(operations: &Operations, pasted: &str) -> Result<(String, Vec<(i64, i64)>), CliError> {
    let PastedCuts { prune_id, ranges } =
        pasted.parse().map_err(|error: PastedError| explain_pasted(error, pasted))?;
    if let Some(prune_id) = prune_id {
        return Ok((prune_id, ranges));
    }
    let shown = |(first, last): &(i64, i64)| match *last {
        i64::MAX => format!("{first}-"),
        last if last == *first => first.to_string(),
        last => format!("{first}-{last}"),
    };
    let lines = ranges.iter().map(shown).collect::<Vec<_>>().join(",");
    match &operations.services.sieve.recent_prunes_of(&ranges)?[..] {
        [] => {
            Err(CliError::failed(anyhow::anyhow!("no recent prune has a marker for {lines}")).hint(format!(
                "the first marker of the text has the prune id; `tamis recover ID {lines}` restores the lines"
            )))
        }
        [prune] => {
            let goal = prune.goal.as_deref().map(|goal| format!(", for: {}", escape::line(goal)));
            print::note(format_args!(
                "the marker has no prune id; these lines were cut in {}{}",
                prune.prune_id,
                goal.unwrap_or_default()
            ));
            Ok((prune.prune_id.clone(), ranges))
        }
        prunes => {
            let error = anyhow::anyhow!("a marker for {lines} may be of {} texts", prunes.len());
            let commands =
                prunes.iter().take(2).map(|prune| format!("`tamis recover {} {lines}`", prune.prune_id));
            let commands = commands.collect::<Vec<_>>().join(" or ");
            let hint = format!("{commands}; `tamis recover --list` shows their goals");
            Err(CliError::failed(error).hint(hint))
        }
    }
}

fn explain_pasted(error: PastedError, pasted: &str) -> CliError {
    match error {
        PastedError::Nothing if pasted.trim().is_empty() => {
            CliError::usage("nothing was pasted: no prune id and no marker")
                .hint("pipe a pruned text or a marker to `tamis recover -`")
        }
        PastedError::Nothing => CliError::usage(format!("`{}` has no prune id", escape::line(pasted.trim())))
            .hint("a prune id begins with `prn_`; `tamis recover --list` shows those of recent prunes"),
        PastedError::SeveralIds => CliError::usage(error).hint("recover them one after the other"),
        error => CliError::usage(error).hint("write lines as 120-154, 120 or 105-106,110"),
    }
}

fn list(operations: &Operations, limit: usize, as_json: bool) -> CliResult {
    let prunes = operations.services.sieve.recent_prunes(limit)?;
    if as_json {
        return print::json(&prunes.iter().map(prune_json).collect::<Vec<_>>());
    }
    if prunes.is_empty() {
        print::note("no prune can be recovered; originals are kept for a while only");
        return Ok(());
    }
    let mut table = Table::new(&[
        ("TIME", Align::Left),
        ("TOOL", Align::Left),
        ("LINES CUT", Align::Right),
        ("PRUNE ID", Align::Left),
        ("GOAL", Align::Left),
    ])
    .dispensable(&["TOOL"]);
    for prune in prunes {
        table.row([
            times::minute(Some(prune.at_ms)),
            escape::line(&prune.tool),
            print::grouped(prune.lines_before.saturating_sub(prune.lines_after)),
            prune.prune_id,
            escape::line(&prune.goal.unwrap_or_default()),
        ]);
    }
    print::text(&table.render(table::screen()))
}

fn prune_json(prune: &RecentPrune) -> serde_json::Value {
    json!({
        "prune_id": prune.prune_id,
        "timestamp": times::utc(Some(prune.at_ms)),
        "tool": prune.tool,
        "client": prune.client,
        "project": prune.project,
        "lines_before": prune.lines_before,
        "lines_after": prune.lines_after,
        "goal": prune.goal.as_deref().map(escape::text),
    })
}
