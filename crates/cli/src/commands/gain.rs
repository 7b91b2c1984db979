use clap::Args;
use clap::builder::PossibleValuesParser;
use jiff::Timestamp;
use tamis_config::{Config, ConfigEnvironment};
use tamis_gain::{GainGrouping, GainOptions, GainPart, GainReport, GainSums, ModelPrices, UnlinkedRows};
use tamis_logs::event::Millis;
use tamis_trace::Trace;

use super::trace::options::{self, Source};
use super::trace::prices::price_notes;
use super::trace::under_home;
use crate::error::{CliError, CliResult};
use crate::table::{self, Align, Table};
use crate::{escape, print, startup};

/// How far back the figures go, unless an option says otherwise.
const DEFAULT_DAYS: i64 = 30;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// The longest bar of the chart, in characters.
const BAR: usize = 40;

/// Show what pruning saved and cost, in tokens and money
///
/// A cut saves its size in each request that would have carried it, until the client compacted the context or the session ended;
/// the clients' logs have these requests. Markers, recoveries and calls that read again what was cut are subtracted. The net may be
/// negative; if it is for a client or a tool over a week, the output says how to switch it off. USD is at list prices, for cached
/// and uncached tokens.
#[derive(Args)]
pub(crate) struct GainCommand {
    /// Only what was cut since this time: 2026-01-31, yesterday, 2w, 7d, 12h [default: 30d]
    #[arg(long, value_name = "TIME", value_parser = options::since)]
    since: Option<Millis>,
    /// Grouping; days are in UTC
    #[arg(long, default_value = "agent", value_parser = groupings())]
    by: String,
    #[command(flatten)]
    source: Source,
}

fn groupings() -> PossibleValuesParser {
    GainGrouping::ALL.iter().map(|grouping| grouping.name()).into()
}

pub(crate) fn run(arguments: &GainCommand) -> CliResult {
    let config = startup::load(&ConfigEnvironment::of_process())?;
    let trace = arguments.source.open()?;
    let chosen = GainGrouping::ALL.iter().find(|grouping| grouping.name() == arguments.by);
    let report = measure(&config, &trace, arguments.since, chosen.copied().unwrap_or_default())?;
    if arguments.source.json {
        return print::json(&report);
    }
    print::text(&to_text(&report))
}

/// What pruning saved and cost since then.
pub(crate) fn measure(
    config: &Config,
    trace: &Trace,
    since: Option<Millis>,
    grouping: GainGrouping,
) -> Result<GainReport, CliError> {
    let prices = prices(config)?;
    let now = Timestamp::now().as_millisecond();
    let since = since.unwrap_or(now - DEFAULT_DAYS * DAY_MS);
    let skipped_tools = config.hook.skip_tools.value.clone();
    let options = GainOptions { since, now, grouping, skipped_tools };
    tamis_gain::measure(trace, &startup::sieve(config), &prices, &options).map_err(CliError::failed)
}

/// The listed prices, and those of the user.
pub(crate) fn prices(config: &Config) -> Result<ModelPrices, CliError> {
    let own = &config.trace.prices;
    ModelPrices::with(&own.value).map_err(|error| {
        CliError::usage(format_args!("trace.prices from {}: {error}", own.source))
            .hint("a price looks like \"my-model 2026-01-31 1.25 0.125 - 10\": model, date, input, cached input, cache write, output")
    })
}

fn to_text(report: &GainReport) -> String {
    let day = Timestamp::from_millisecond(report.since).map(|time| time.strftime("%Y-%m-%d").to_string());
    let since = day.unwrap_or_default();
    let mut text = String::new();
    if report.rows.is_empty() {
        text.push_str(&format!(
            "nothing was cut since {since} in a session whose log was found\n\
             hint: `tamis doctor` checks that your agents are connected; `tamis reach` estimates what pruning would save\n"
        ));
    } else {
        text.push_str(&format!("since {since}, in tokens times the requests that carried them\n\n"));
        text.push_str(&table(report));
        text.push_str(&format!("\nnet tokens by day\n{}", chart(report)));
    }
    text.push_str(&unlinked(&report.unlinked));
    for loss in &report.losses {
        let (message, switch_off) = (escape::line(&loss.message()), escape::line(&loss.switch_off));
        text.push_str(&match loss.has_too_few_results() {
            true => format!("\nnote: {message}\n"),
            false => format!("\nwarning: {message}\nhint: `{switch_off}` switches it off\n"),
        });
    }
    let total = &report.total;
    let notes =
        price_notes(total.prices_as_of.first().zip(total.prices_as_of.last()), &total.unpriced_tokens);
    if !notes.is_empty() {
        text.push('\n');
    }
    notes.iter().for_each(|note| text.push_str(&format!("{note}\n")));
    text
}

fn table(report: &GainReport) -> String {
    let head = match report.by {
        "agent" => "AGENT",
        "project" => "PROJECT",
        "tool" => "TOOL",
        "day" => "DAY (UTC)",
        _ => "MODEL",
    };
    let mut table = Table::new(&[
        ("RESULTS", Align::Right),
        ("CUT", Align::Right),
        ("MARKERS", Align::Right),
        ("RECOVERED", Align::Right),
        ("READ AGAIN", Align::Right),
        ("NET", Align::Right),
        ("NET USD", Align::Right),
        (head, Align::Left),
    ])
    .dispensable(&["RESULTS"])
    .cut_in_front();
    let mut row = |sums: &GainSums, name: String| {
        let GainSums { results_cut, cut, markers, recovered, reread, .. } = sums;
        let less = |part: &GainPart| signed(-i64::try_from(part.tokens).unwrap_or(i64::MAX));
        table.row([
            print::grouped(*results_cut),
            print::grouped(cut.tokens),
            less(markers),
            less(recovered),
            less(reread),
            signed(sums.net_tokens),
            usd(sums),
            name,
        ]);
    };
    for (name, sums) in &report.rows {
        let name = match (report.by, name.as_str()) {
            (_, "") => "(not in the logs)".to_owned(),
            ("project", root) => under_home(root),
            (_, name) => name.to_owned(),
        };
        row(sums, escape::line(&name));
    }
    if report.rows.len() != 1 {
        row(&report.total, "all".to_owned());
    }
    table.render(table::screen())
}

pub(crate) fn signed(number: i64) -> String {
    let digits = print::grouped(number.unsigned_abs());
    if number < 0 { format!("-{digits}") } else { digits }
}

/// `~` before a sum of which a part has no price, `-` if none has.
fn usd(sums: &GainSums) -> String {
    let Some(usd) = sums.net_usd else { return "-".to_owned() };
    let digits = if usd.abs() < 1.0 { 4 } else { 2 };
    let about = if sums.is_partly_priced() { "~" } else { "" };
    format!("{about}{usd:.digits$}")
}

/// A bar for each day; light ones are losses.
fn chart(report: &GainReport) -> String {
    let days = &report.net_tokens_by_day;
    let most = days.values().map(|net| net.unsigned_abs()).max().unwrap_or(0).max(1);
    let line = |(day, net): (&String, &i64)| {
        let length = (net.unsigned_abs() as f64 * BAR as f64 / most as f64).ceil() as usize;
        let bar = if *net < 0 { "░" } else { "█" };
        format!("{day}  {} {}\n", bar.repeat(length), signed(*net))
    };
    days.iter().map(line).collect()
}

fn unlinked(rows: &UnlinkedRows) -> String {
    let mut text = String::new();
    if rows.prunes > 0 {
        let not_shown = match rows.not_shown {
            0 => String::new(),
            count => format!("; {} of them the client did not show", print::grouped(count)),
        };
        text.push_str(&format!(
            "\nnot counted: {} of {} tokens that are in no log, so the requests that carried them are not known{not_shown}\n",
            print::count(rows.prunes, "cut"),
            print::grouped(rows.size_saved),
        ));
    }
    if rows.recoveries > 0 {
        text.push_str(&format!(
            "\nnot counted: {} of {} tokens that are in no log\n",
            print::count(rows.recoveries, "recovered text"),
            print::grouped(rows.size_recovered),
        ));
    }
    text
}
