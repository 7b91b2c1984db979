use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::{Value, json};
use tamis_logs::event::{EventKind, strings_of};
use tamis_redact::{Redacted, excerpt_around};
use tamis_trace::{CompiledQuery, SearchMatch, SearchRequest, SessionFilter, Trace, TraceSearchMode};

use super::options::{self, Source, Which};
use super::render;
use crate::error::{CliError, CliResult};
use crate::table::{self, Align, Table};
use crate::{escape, print};

/// Search messages, tool calls and results, latest sessions first
///
/// Ignores case. Finds QUERY as a substring of a text or of the arguments of a call unless --words or --regex is given.
/// `tamis trace event SESSION:EVENT` shows a match. Exits with 1 if nothing was found, like grep.
#[derive(Args)]
pub(crate) struct SearchCommand {
    /// Text to search for
    #[arg(required = true)]
    query: Vec<String>,
    /// Find the words of QUERY, in any order
    #[arg(long, conflicts_with = "regex")]
    words: bool,
    /// Treat QUERY as a regular expression
    #[arg(long)]
    regex: bool,
    /// Only events of this type; repeatable
    #[arg(long = "type", value_name = "TYPE", value_parser = types(), ignore_case = true)]
    types: Vec<String>,
    /// Only in this session and its subagents
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only results of failed tools
    #[arg(long)]
    failed: bool,
    /// Maximum number of matches
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = options::limit)]
    limit: usize,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    which: Which,
}

const LONGEST: Duration = Duration::from_secs(30);
/// Letters of the text before a match that may be shown, and of the match and what follows.
const BEFORE: usize = 75;
const AFTER: usize = 225;

const TYPES: [&str; 7] =
    ["User", "Message", "Reasoning", "ToolCall", "ToolResult", "TokenUsage", "Notification"];

fn types() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(TYPES)
}

pub(crate) fn run(arguments: &SearchCommand) -> CliResult {
    let trace = arguments.source.open()?;
    let is_of_type =
        |kind: &&EventKind| arguments.types.iter().any(|name| name.eq_ignore_ascii_case(kind.wire_name()));
    let search = SearchRequest {
        query: arguments.query.join(" "),
        mode: match (arguments.words, arguments.regex) {
            (true, _) => TraceSearchMode::Words,
            (_, true) => TraceSearchMode::Regex,
            _ => TraceSearchMode::Substring,
        },
        kinds: EventKind::ALL.iter().filter(is_of_type).copied().collect(),
        session: arguments.session.clone(),
        sessions: SessionFilter { with_subagents: true, ..arguments.which.filter(&trace)? },
        only_failed: arguments.failed,
        after: None,
        most: arguments.limit,
    };
    let finder = CompiledQuery::of(&search)?;
    let is_phrase = search.mode == TraceSearchMode::Substring && search.query.trim().contains(' ');
    let (matches, more) = find(&trace, arguments, search)?;
    // As grep does: 1 if there are none.
    let code = i32::from(matches.is_empty());
    if arguments.source.json {
        let matches: Vec<_> = matches
            .into_iter()
            .map(|found| {
                let (text, at) = excerpt(&finder, found.kind, &found.payload());
                json!({
                    "session_id": found.place.session,
                    "event_index": found.place.event,
                    "timestamp": render::utc(found.at),
                    "event_type": found.kind.wire_name(),
                    "stream": found.stream.name(),
                    "excerpt": table::cut_around(&text, at, BEFORE + AFTER),
                })
            })
            .collect();
        print::json(&json!({"matches": matches, "has_more": more}))?;
        return CliError::passed(Some(code), None);
    }
    if matches.is_empty() {
        let message = match is_phrase {
            true => "no matches; --words finds the words in any order",
            false => "no matches",
        };
        render::nothing(&trace, message)?;
        return CliError::passed(Some(code), None);
    }
    let mut rows = Vec::new();
    for found in matches {
        let short = escape::line(&trace.short_id(&found.place.session)?);
        let (text, at) = excerpt(&finder, found.kind, &found.payload());
        let head = [
            format!("{short}:{}", found.place.event),
            render::minute(found.at),
            found.kind.wire_name().to_owned(),
        ];
        rows.push((head, text, at));
    }
    let table = |room: usize| {
        let mut table = Table::new(&[
            ("SESSION:EVENT", Align::Left),
            ("TIME", Align::Left),
            ("TYPE", Align::Left),
            ("TEXT", Align::Left),
        ])
        .dispensable(&["TIME"])
        .wanting(48);
        for (head, text, at) in &rows {
            table.row(head.iter().cloned().chain([table::cut_around(text, *at, room)]));
        }
        table
    };
    let room = table(1).room(table::screen());
    print::text(&table(room).render(table::screen()))?;
    if more {
        print::note(format_args!("there are more; --limit {} shows them", arguments.limit.saturating_mul(5)));
    }
    Ok(())
}

/// What was found in sessions that used as many tokens as requested, and whether there is more.
fn find(
    trace: &Trace,
    arguments: &SearchCommand,
    mut search: SearchRequest,
) -> Result<(Vec<SearchMatch>, bool), CliError> {
    let mut matches: Vec<SearchMatch> = Vec::new();
    loop {
        let found = trace.search(&search, LONGEST, &|| false)?;
        if found.out_of_time {
            print::note(
                "warning: the search was stopped after 30 s; narrow it with --session, --project or --since",
            );
        }
        search.after = found.matches.last().map(|last| last.place.clone());
        for one in found.matches {
            if arguments.which.limits_tokens() {
                let session = trace.session(&one.place.session)?;
                if !arguments.which.allows(trace.tokens_with_subagents(&session)?) {
                    continue;
                }
            }
            if matches.len() == arguments.limit {
                return Ok((matches, true));
            }
            matches.push(one);
        }
        let enough = matches.len() >= arguments.limit || !arguments.which.limits_tokens();
        if !found.more || found.out_of_time || search.after.is_none() || enough {
            return Ok((matches, found.more));
        }
    }
}

/// The text around what was found, on one line, and where in it that begins.
fn excerpt(finder: &CompiledQuery, kind: EventKind, payload: &Value) -> (String, usize) {
    let words = Redacted::from(render::words(kind, payload));
    let (text, start) = match finder.find(&words) {
        Some(start) => (words, start),
        None => {
            let mut others = Vec::new();
            strings_of(payload, &mut others);
            let mut others = others.into_iter().map(Redacted::from);
            let found = others.find_map(|text| finder.find(&text).map(|start| (text, start)));
            found.unwrap_or((words, 0))
        }
    };
    let (text, at) = excerpt_around(&text, start, BEFORE, BEFORE + AFTER);
    let (before, after) = text.split_at(at);
    let gap = if before.trim_end() != before { " " } else { "" };
    let before = format!("{}{gap}", escape::line(before));
    (format!("{before}{}", escape::line(after)), before.len())
}
