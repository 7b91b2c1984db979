//! Writing for people and pipes: stdout is only for what can be piped on, everything else goes to stderr.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
pub(crate) use tamis_text::grouped;

use crate::error::CliError;
use crate::{escape, pager, style};

/// Writes to stdout exactly these bytes.
pub(crate) fn bytes(bytes: &[u8]) -> Result<(), CliError> {
    if pager::write(bytes)? {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(())
}

/// Writes a text to stdout, with control characters escaped: names of files, branches and sessions can contain them.
pub(crate) fn text(text: &str) -> Result<(), CliError> {
    bytes(escape::controls(text).as_bytes())
}

/// Writes a line to stdout, with control characters escaped.
pub(crate) fn line(text: impl std::fmt::Display) -> Result<(), CliError> {
    self::text(&format!("{text}\n"))
}

/// Writes the path of a file before its text, if there are several.
pub(crate) fn file_head(path: &Path, index: usize, files: usize) -> Result<(), CliError> {
    if files == 1 {
        return Ok(());
    }
    let gap = if index == 0 { "" } else { "\n" };
    line(format_args!("{gap}==> {} <==", path.display()))
}

/// Writes a value to stdout as indented JSON. Text of logs and of other programs in it must be redacted.
pub(crate) fn json(value: &impl Serialize) -> Result<(), CliError> {
    line(escape::json(&serde_json::to_string_pretty(value).map_err(CliError::internal)?))
}

/// Writes a line to stderr, with control characters escaped. Errors are ignored: there is nowhere to report them.
pub(crate) fn note(text: impl std::fmt::Display) {
    let line = style::note(escape::controls(&text.to_string())) + "\n";
    if !pager::write_note(&line) {
        let _ = io::stderr().lock().write_all(line.as_bytes());
    }
}

/// Writes rows to stdout, the columns aligned; the last one is left as long as it is.
pub(crate) fn columns<const WIDTH: usize>(rows: &[[String; WIDTH]]) -> Result<(), CliError> {
    let mut widths = [0; WIDTH];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut padded = String::new();
        for (cell, width) in row.iter().zip(widths) {
            padded.push_str(&format!("{cell:width$}  "));
        }
        text.push_str(padded.trim_end());
        text.push('\n');
    }
    self::text(&text)
}

/// `1 log`, `1,234 logs`.
pub(crate) fn count(number: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Bytes with a unit.
pub(crate) fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["bytes", "KiB", "MiB", "GiB"] {
        if value < 1024.0 || unit == "GiB" {
            return if unit == "bytes" { format!("{bytes} bytes") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    unreachable!("the last unit always returns")
}

/// `error: …` with its causes, a blank line, `hint: …`.
pub(crate) fn error(error: &CliError) {
    let mut text = format!("error: {}", error.error);
    for cause in error.error.chain().skip(1) {
        text.push_str(&format!("\n  because: {cause}"));
    }
    if let Some(hint) = &error.hint {
        text.push_str(&format!("\n\nhint: {hint}"));
    }
    note(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_easily() {
        assert_eq!(
            [0, 1023, 1024, 5 << 30, 5 << 40].map(size),
            ["0 bytes", "1023 bytes", "1.0 KiB", "5.0 GiB", "5120.0 GiB"]
        );
    }
}
