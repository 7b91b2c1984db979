use std::ops::ControlFlow;

use clap::Args;
use tamis_config::{Config, ConfigEnvironment};
use tamis_redact::Redacted;
use tamis_savings::{ReplayedResult, SavingsOptions, SavingsPart, SavingsReport, SavingsSums};
use tamis_sieve::{Sieve, SieveSettings};

use super::indexing;
use super::options::{self, Source, Which};
use super::render;
use crate::error::{CliError, CliResult};
use crate::progress::ProgressLine;
use crate::table::{self, Align, Table};
use crate::{escape, print};

/// Estimate what pruning would have saved in past sessions, and what it would have cost
///
/// Prunes every result of a read, search or command, with the messages just before it as the goal, and cuts runs of lines that
/// the agent was already shown. Cut lines that the agent later edited, quoted or read again are the cost. Writes nothing.
#[derive(Args)]
pub(crate) struct SavingsCommand {
    /// Only this session and its subagents
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Maximum number of sessions, latest first
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = options::limit)]
    limit: usize,
    /// Cut lines that score below this, 0 to 1 [default: that of the tools]
    #[arg(long, value_name = "0..1", value_parser = threshold)]
    threshold: Option<f32>,
    /// Cut lines that were shown within this many tokens of results; 0 for none [default: by client]
    #[arg(long, value_name = "TOKENS")]
    shown_window: Option<usize>,
    /// Number of example results to show
    #[arg(long, value_name = "N", default_value_t = 5)]
    examples: usize,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    which: Which,
}

fn threshold(text: &str) -> Result<f32, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "a number from 0 to 1".to_owned())
}

pub(crate) fn run(arguments: &SavingsCommand) -> CliResult {
    let trace = arguments.source.open()?;
    if arguments.which.limits_tokens() {
        return Err(CliError::usage("--min-tokens and --max-tokens cannot be used with `savings`")
            .hint("`tamis trace sessions --min-tokens N` finds a session, and --session ID replays it"));
    }
    let mut options = SavingsOptions {
        filter: arguments.which.filter(&trace)?,
        session: arguments.session.as_ref().map(|prefix| trace.session(prefix)).transpose()?,
        limit: arguments.limit,
        examples: arguments.examples,
        shown_window: arguments.shown_window,
        ..SavingsOptions::default()
    };
    options.threshold = arguments.threshold.unwrap_or(options.threshold);
    let config = Config::load(&ConfigEnvironment::of_process())?;
    let sieve = Sieve::new(SieveSettings::without_store(config.sieve.max_input_chars.value));
    let mut waiting = ProgressLine::new();
    let savings = tamis_savings::estimate(&trace, &sieve, &options, &mut |progress| {
        waiting.show(|| {
            format!(
                "replaying {}  {} of {}, {}",
                indexing::gauge(progress.sessions, progress.of_sessions),
                print::grouped(progress.sessions),
                print::count(progress.of_sessions, "session"),
                print::count(progress.results, "result"),
            )
        });
        ControlFlow::Continue(())
    })?;
    drop(waiting);
    if arguments.source.json {
        return print::json(&Redacted::new(serde_json::to_value(&savings).map_err(CliError::internal)?));
    }
    if savings.sessions == 0 && savings.sessions_unread == 0 {
        return render::nothing(&trace, "no sessions match");
    }
    print::text(&to_text(&savings))
}

fn percent(part: u64, of: u64) -> String {
    format!("{:.1} %", part as f64 * 100.0 / of.max(1) as f64)
}

fn to_text(savings: &SavingsReport) -> String {
    let totals = &savings.totals;
    let mut text = format!(
        "estimate from replaying {} of {}\n\n",
        print::count(totals.results, "result"),
        print::count(savings.sessions, "session"),
    );
    let needed = totals.lines_needed();
    let net = u64::try_from(totals.net_tokens)
        .map_or_else(|_| format!("-{}", print::grouped(totals.net_tokens.unsigned_abs())), print::grouped);
    let net_share = totals.net_tokens as f64 * 100.0 / totals.tokens_before.max(1) as f64;
    let mut rows = vec![
        (
            "would have cut",
            format!(
                "{} of {} tokens ({}), in {}",
                print::grouped(totals.tokens_cut),
                print::grouped(totals.tokens_before),
                percent(totals.tokens_cut, totals.tokens_before),
                print::count(totals.results_cut, "result"),
            ),
        ),
        (
            "needed later",
            format!(
                "{} of {} ({})",
                print::grouped(needed),
                print::count(totals.lines_cut, "cut line"),
                percent(needed, totals.lines_cut),
            ),
        ),
        (
            "",
            format!(
                "in {} of {} ({})",
                print::grouped(totals.results_with_needed_line),
                print::count(totals.results, "result"),
                percent(totals.results_with_needed_line, totals.results),
            ),
        ),
        (
            "",
            format!(
                "{} edited, {} quoted, {} read again",
                print::grouped(totals.lines_edited),
                print::grouped(totals.lines_quoted),
                print::grouped(totals.lines_read_again),
            ),
        ),
        (
            "read once more",
            format!(
                "{} that were already shown before they were cut",
                print::count(totals.shown_lines_read_again, "line"),
            ),
        ),
        ("recovery of those", format!("{} tokens", print::grouped(totals.recovery_tokens))),
        ("net saving", format!("{net} tokens ({net_share:.1} %)")),
        (
            "not sent again",
            format!(
                "{} tokens in later requests, mostly cached ones",
                print::grouped(totals.tokens_not_resent)
            ),
        ),
    ];
    let skipped = &savings.skipped;
    let mut left_out: Vec<String> = [
        (skipped.too_small, "too small"),
        (skipped.too_large, "too large"),
        (skipped.already_pruned, "pruned already"),
        (skipped.copies, "copies"),
        (skipped.without_goal, "without a goal"),
        (skipped.other, "of other tools, or failed"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, why)| format!("{} {why}", print::grouped(count)))
    .collect();
    if savings.sessions_unread > 0 {
        left_out.push(format!("{} that could not be read", print::count(savings.sessions_unread, "session")));
    }
    if savings.more_sessions {
        left_out.push("older sessions; a higher --limit includes more".to_owned());
    }
    // One to a line, since together they would be wider than a screen.
    rows.extend(
        left_out
            .into_iter()
            .enumerate()
            .map(|(number, why)| (if number == 0 { "left out" } else { "" }, why)),
    );
    for (name, value) in rows {
        text.push_str(&format!("{name:<19}{value}\n"));
    }
    let mut table = Table::new(&[
        ("RESULTS", Align::Right),
        ("CUT", Align::Right),
        ("TOKENS BEFORE", Align::Right),
        ("TOKENS CUT", Align::Right),
        ("LINES CUT", Align::Right),
        ("NEEDED", Align::Right),
        ("OF", Align::Left),
    ]);
    let mut row = |name: &str, sums: &SavingsSums| {
        let needed = sums.lines_needed();
        let numbers =
            [sums.results, sums.results_cut, sums.tokens_before, sums.tokens_cut, sums.lines_cut, needed];
        table.row(numbers.map(print::grouped).into_iter().chain([escape::line(name)]));
    };
    savings.by_provider.iter().for_each(|(name, sums)| row(name, sums));
    savings.by_tool.iter().for_each(|(name, sums)| row(name, sums));
    for (name, part) in &savings.parts {
        let SavingsPart { results, results_cut, tokens_before, tokens_cut, lines_cut, lines_needed } = *part;
        let numbers = [results, results_cut, tokens_before, tokens_cut, lines_cut, lines_needed];
        table.row(numbers.map(print::grouped).into_iter().chain([name.replace('_', " ")]));
    }
    if !table.is_empty() {
        text.push_str(&format!("\n{}", table.render(table::screen())));
    }
    examples(&mut text, "cut although needed", &savings.worst);
    examples(&mut text, "most cut", &savings.largest);
    text
}

fn examples(text: &mut String, name: &str, results: &[ReplayedResult]) {
    if results.is_empty() {
        return;
    }
    text.push_str(&format!("\n{name}\n"));
    for result in results {
        let path = result.path.as_ref().map(|path| format!(" {path}")).unwrap_or_default();
        text.push_str(&format!(
            "  {}  {}: {} of {} tokens, {} of {} cut\n",
            escape::line(&format!("{}:{}", result.session_id, result.event_index)),
            escape::line(&format!("{}{path}", result.tool)),
            print::grouped(result.tokens_before.saturating_sub(result.tokens_after)),
            print::grouped(result.tokens_before),
            print::grouped(result.cut_lines),
            print::count(result.lines, "line"),
        ));
        for line in &result.needed {
            let shown = escape::line(&line.text);
            text.push_str(&format!(
                "      line {} {} by event {}: {shown}\n",
                line.line,
                line.how.replace('_', " "),
                line.by_event
            ));
        }
    }
}
