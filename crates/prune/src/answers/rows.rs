//! Rows of tables of any form, and lines with numbers, for questions that compare.
//!
//! Which row has the highest number, or lacks something, is decided by values, and no word of the goal is in it. So the rows stay.
//! They also stay if the goal asks for a row and no row has a word of it: then it is unknown which one is meant.

use super::{DOUBT_SHARE, Question};
use crate::comparison::Comparison;
use crate::index::Hit;
use crate::{DEFAULT_THRESHOLD, EngineError};
use tamis_text::TextKind;

/// Fewer lines of one form are no table.
const FEWEST_ROWS: usize = 4;
/// A text is a table if at least this share of its lines is in tables.
const TABLE_SHARE: f32 = 0.7;
/// A word that more than this share of the rows has selects none of them.
const MOST_NAMED: f32 = 0.5;
/// Only this much of a line is read.
const LINE_BYTES: usize = 4 * 1024;

/// Raises the rows, and in logs the lines with numbers, that may be what the goal asks for. Nothing is lowered.
pub(crate) fn raise(
    inputs: &Question<'_>,
    scores: &mut [f32],
    interrupted: &dyn Fn() -> bool,
) -> Result<(), EngineError> {
    // An agent's task compares things that need not be in this text.
    if inputs.want.is_long || inputs.goal.is_overheard || inputs.goal.terms.is_empty() {
        return Ok(());
    }
    let comparison = inputs.want.comparison;
    let tables = tables(inputs.lines);
    let named: usize = tables.iter().filter(|table| table.is_named()).map(Table::count).sum();
    let filled = inputs.lines.iter().filter(|line| !line.trim().is_empty()).count();
    let is_table = named as f32 >= TABLE_SHARE * filled as f32;
    let mut keep = |line: usize| {
        scores[line] = scores[line].max(DEFAULT_THRESHOLD + DOUBT_SHARE * scores[line]);
    };
    for (number, table) in tables.iter().enumerate() {
        if number % 256 == 0 && interrupted() {
            return Err(EngineError::Interrupted);
        }
        let stays = match comparison {
            Some(Comparison::Numbers) => inputs.kind == TextKind::Logs || table.has_rule || is_table,
            Some(Comparison::Records) => is_table,
            // Rows have times in forms of their own.
            None if inputs.want.period.is_some() => is_table,
            None => is_table && !selects(inputs, table),
        };
        if stays {
            (table.first..=table.last).for_each(&mut keep);
        }
    }
    if comparison == Some(Comparison::Numbers) && inputs.kind == TextKind::Logs {
        (0..inputs.lines.len()).filter(|&line| has_amount(clip(inputs.lines[line]))).for_each(keep);
    }
    Ok(())
}

/// Whether a word of the goal is in some rows of a table.
fn selects(inputs: &Question<'_>, table: &Table) -> bool {
    let mut rows = vec![0usize; inputs.goal.terms.len()];
    let mut last = vec![usize::MAX; rows.len()];
    for hit in hits_below_names(&inputs.index.hits, table) {
        let (term, line) = (hit.term as usize, hit.line as usize);
        if term < rows.len() && last[term] != line {
            rows[term] += 1;
            last[term] = line;
        }
    }
    rows.iter().any(|&rows| rows > 0 && rows as f32 <= MOST_NAMED * table.count() as f32)
}

/// The hits in the rows of a table but its first. Hits are in the order of their lines, so a text of many tables is not read
/// again for each of them.
fn hits_below_names<'a>(hits: &'a [Hit], table: &Table) -> &'a [Hit] {
    let from = hits.partition_point(|hit| hit.line as usize <= table.first);
    let rest = &hits[from..];
    &rest[..rest.partition_point(|hit| hit.line as usize <= table.last)]
}

/// Neighbouring lines with the same separator between columns.
struct Table {
    first: usize,
    last: usize,
    /// A line of dashes is between the rows, or below the names of the columns.
    has_rule: bool,
    /// The first line has names without digits, and the others have digits.
    has_header: bool,
}

impl Table {
    fn is_named(&self) -> bool {
        self.has_rule || self.has_header
    }

    fn count(&self) -> usize {
        self.last - self.first + 1
    }
}

/// How a line is divided into columns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    Bars(usize),
    Tabs(usize),
    Commas(usize),
    Semicolons(usize),
    /// Two spaces or more. Columns may touch, so their number says nothing.
    Gaps,
}

fn tables(lines: &[&str]) -> Vec<Table> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let first = at;
        let mut columns: Option<Columns> = None;
        let (mut rows, mut digits, mut has_rule) = (0usize, 0usize, false);
        let mut header = "";
        while let Some(line) = lines.get(at).map(|line| clip(line).trim()) {
            if is_rule(line) {
                has_rule = true;
            } else {
                let here = columns_of(line);
                let is_same = |columns: Columns| match here {
                    // Numbers at the start of rows may have been stripped as line numbers, so the first line may have a column more.
                    Some(here) if rows == 1 => {
                        std::mem::discriminant(&columns) == std::mem::discriminant(&here)
                    }
                    _ => Some(columns) == here,
                };
                if here.is_none() || columns.is_some_and(|columns| !is_same(columns)) {
                    break;
                }
                if rows == 0 {
                    header = line;
                } else {
                    digits += usize::from(has_digit(line));
                }
                columns = here;
                rows += 1;
            }
            at += 1;
        }
        if rows >= FEWEST_ROWS {
            let has_header = !has_digit(header) && 2 * digits > rows;
            found.push(Table { first, last: at - 1, has_rule, has_header });
        }
        at = at.max(first + 1);
    }
    found
}

fn has_digit(line: &str) -> bool {
    line.bytes().any(|byte| byte.is_ascii_digit())
}

/// `-----+------`, `| --- | --- |`, `+----+----+`, `├────┼────┤`, `---- ----`
fn is_rule(line: &str) -> bool {
    let is_line = |letter: char| matches!(letter, '-' | '=' | '─' | '━' | '═');
    let is_joint = |letter: char| {
        matches!(letter, '+' | '|' | ':' | ' ' | '\t') || ('\u{2500}'..='\u{257f}').contains(&letter)
    };
    line.chars().all(|letter| is_line(letter) || is_joint(letter))
        && line.chars().filter(|&letter| is_line(letter)).nth(2).is_some()
}

fn columns_of(line: &str) -> Option<Columns> {
    let bars = line.chars().filter(|letter| matches!(letter, '|' | '│' | '┃' | '║')).count();
    let tabs = line.bytes().filter(|&byte| byte == b'\t').count();
    let (mut commas, mut semicolons, mut is_quoted) = (0, 0, false);
    let bytes = line.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            // In a sentence, a space follows.
            b',' if !is_quoted && bytes.get(at + 1) != Some(&b' ') => commas += 1,
            b';' if !is_quoted && bytes.get(at + 1) != Some(&b' ') => semicolons += 1,
            _ => {}
        }
    }
    // A statement ends with a semicolon.
    let is_statement = line.ends_with([';', '{', '}']);
    match () {
        () if bars > 0 => Some(Columns::Bars(bars)),
        () if tabs > 0 => Some(Columns::Tabs(tabs)),
        () if semicolons > commas && !is_statement => Some(Columns::Semicolons(semicolons)),
        () if commas > 0 && !is_statement => Some(Columns::Commas(commas)),
        () if line.contains("  ") => Some(Columns::Gaps),
        () => None,
    }
}

/// Whether a line has a number other than a date, a time or a part of a name.
fn has_amount(line: &str) -> bool {
    let ends = |letter: char| letter.is_whitespace() || "\"'{}[]()<>|,;=`".contains(letter);
    line.split(ends).filter(|part| !is_time(part)).any(|part| part.split([':', '/']).any(is_amount))
}

/// `12:30:59`, `2026-01-31`, `2026-01-31T12:30:59.123Z`
fn is_time(part: &str) -> bool {
    let is_sign = |byte: u8| matches!(byte, b':' | b'-' | b'/' | b'.' | b'+' | b'T' | b'Z');
    let bytes = part.as_bytes();
    let joints = bytes.iter().filter(|byte| matches!(byte, b':' | b'-' | b'/')).count();
    joints > 1
        && bytes.first().is_some_and(u8::is_ascii_digit)
        && bytes.iter().all(|&byte| byte.is_ascii_digit() || is_sign(byte))
}

/// `17`, `-5120`, `3.5`, `17ms`, `99%`, `$20`, `812G`
fn is_amount(part: &str) -> bool {
    let part = part.trim_start_matches(['-', '+', '$', '€', '£', '~', '#']);
    let part = part.trim_end_matches(['.', '!', '?']);
    let digits = part
        .find(|letter: char| !(letter.is_ascii_digit() || matches!(letter, '.' | '_' | '\u{a0}')))
        .unwrap_or(part.len());
    let unit = &part[digits..];
    part.starts_with(|letter: char| letter.is_ascii_digit())
        && (unit.chars().nth(UNIT_CHARS).is_none() || is_duration(unit))
}

const UNIT_CHARS: usize = 8;

/// The rest of `1h2m3.5s`.
fn is_duration(unit: &str) -> bool {
    unit.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'h' | b'm' | b's' | b'd' | b'.'))
}

fn clip(line: &str) -> &str {
    crate::goal::clip(line, LINE_BYTES)
}

#[cfg(test)]
mod tests {
    use crate::goal::Goal;
    use crate::index::Index;
    use crate::want::Want;

    use super::*;

    #[test]
    fn each_hit_is_read_for_one_table_only() {
        const TABLES: usize = 20_000;
        let text: String = (0..TABLES)
            .map(|table| format!("name,balance\nann,{table}\nbob balance,2\neve,3\nbalance {table}\n"))
            .collect();
        let lines: Vec<&str> = text.lines().collect();
        let goal = Goal::read("which balance has bob");
        let index = Index::read(&text, &lines, &goal, &|| false).expect("it is not interrupted");
        let tables = tables(&lines);
        assert_eq!(tables.len(), TABLES);
        let read: usize = tables.iter().map(|table| hits_below_names(&index.hits, table).len()).sum();
        // Those in the names and between the tables are not read.
        assert_eq!((read, index.hits.len()), (2 * TABLES, 4 * TABLES));
        let hits = hits_below_names(&index.hits, &tables[7]);
        assert!(hits.iter().all(|hit| hit.line == 7 * 5 + 2), "{hits:?}");
    }

    #[test]
    fn tables_are_left_when_interrupted() {
        let text = "name,balance\nann,1\nbob,2\neve,3\n".repeat(10);
        let lines: Vec<&str> = text.lines().collect();
        let goal = Goal::read("which balance has bob");
        let index = Index::read(&text, &lines, &goal, &|| false).expect("it is not interrupted");
        let want = Want::read("which balance has bob");
        let inputs =
            Question { kind: TextKind::Logs, lines: &lines, goal: &goal, index: &index, want: &want };
        let mut scores = vec![0.0; lines.len()];
        assert!(matches!(raise(&inputs, &mut scores, &|| true), Err(EngineError::Interrupted)));
        assert!(raise(&inputs, &mut scores, &|| false).is_ok());
    }

    #[test]
    fn amounts_are_told_from_times_and_names() {
        for line in [
            "2026-01-02T00:00:01Z query 00beef took 2 ms",
            "12:00:01 done in 1h2m3.5s",
            "{\"ts\":\"12:02:00\",\"n\":5}",
            "ts=12:00:01 duration=35ms",
            "balance -5120",
            "812G\t./data",
            "cpu 99%",
        ] {
            assert!(has_amount(line), "{line}");
        }
        for line in [
            "2026-01-02T00:00:01Z connected",
            "[12:00:01] worker-a started",
            "2026-01-02 12:00:01.123 INFO user_17 left",
            "no digits at all",
        ] {
            assert!(!has_amount(line), "{line}");
        }
    }
}
