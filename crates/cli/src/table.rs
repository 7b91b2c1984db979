//! Plain text tables: columns aligned by display width, the last one cut at the width of the terminal.

use std::io::IsTerminal;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Space between two columns.
const GAP: &str = "  ";
/// Minimum width of the last column, however narrow the terminal.
const LEAST: usize = 16;

/// Rows under a header.
pub(crate) struct Table {
    columns: Vec<(&'static str, Align)>,
    /// Columns that a narrow terminal drops, in this order.
    dispensable: &'static [&'static str],
    /// Width of the last column below which others are dropped.
    wanted: usize,
    /// Whether the last column is cut at its beginning.
    cut_in_front: bool,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: &[(&'static str, Align)]) -> Table {
        Table {
            columns: columns.to_vec(),
            dispensable: &[],
            wanted: LEAST,
            cut_in_front: false,
            rows: Vec::new(),
        }
    }

    /// Sets the columns that a narrow terminal drops.
    pub(crate) fn dispensable(mut self, columns: &'static [&'static str]) -> Table {
        self.dispensable = columns;
        self
    }

    /// Sets the width of the last column below which those are dropped.
    pub(crate) fn wanting(mut self, width: usize) -> Table {
        self.wanted = width;
        self
    }

    /// Cuts the last column at its beginning instead of its end.
    pub(crate) fn cut_in_front(mut self) -> Table {
        self.cut_in_front = true;
        self
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Width available to the last column, for callers that choose which part of a text to show.
    pub(crate) fn room(&self, screen: Option<usize>) -> usize {
        let before = self.before_last(&self.shown(screen));
        screen.map_or(usize::MAX, |screen| screen.saturating_sub(before).max(LEAST))
    }

    /// Indexes of the columns that are shown.
    fn shown(&self, screen: Option<usize>) -> Vec<usize> {
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        for name in self.dispensable {
            if screen.is_none_or(|screen| self.before_last(&shown) + self.wanted <= screen) {
                break;
            }
            shown.retain(|column| self.columns[*column].0 != *name);
        }
        shown
    }

    fn before_last(&self, shown: &[usize]) -> usize {
        let widths = self.widths();
        shown.iter().rev().skip(1).map(|column| widths[*column] + GAP.len()).sum()
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(|(name, _)| name.width()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        widths
    }

    pub(crate) fn render(&self, screen: Option<usize>) -> String {
        let (widths, room, shown) = (self.widths(), self.room(screen), self.shown(screen));
        let head: Vec<String> = self.columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let mut text = String::new();
        for row in std::iter::once(&head).chain(&self.rows) {
            let mut line = String::new();
            for column in &shown {
                let Some(cell) = row.get(*column) else { continue };
                let last = shown.last() == Some(column);
                let cell = match (last, self.cut_in_front) {
                    (false, _) => cell.clone(),
                    (true, false) => cut(cell, room),
                    (true, true) => cut_front(cell, room),
                };
                let padding = " ".repeat(widths[*column].saturating_sub(cell.width()));
                match self.columns[*column].1 {
                    Align::Left => line.extend([&cell, padding.as_str(), GAP]),
                    Align::Right => line.extend([padding.as_str(), &cell, GAP]),
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Width of the screen, from `COLUMNS` or the terminal. `None` when stdout is not a terminal: then nothing is cut.
pub(crate) fn screen() -> Option<usize> {
    let configured = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    configured.filter(|columns| *columns > 0).or_else(|| {
        let stdout = std::io::stdout();
        stdout
            .is_terminal()
            .then(|| terminal_size::terminal_size_of(&stdout))?
            .map(|(width, _)| width.0.into())
    })
}

/// Cuts a text to a display width, with `…` at the end.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut taken = 0;
    for letter in text.chars() {
        taken += letter.width().unwrap_or(0);
        if taken + 1 > width {
            break;
        }
        shown.push(letter);
    }
    format!("{}…", shown.trim_end())
}

/// Cuts a text to a display width, with `…` at the beginning: paths differ at their ends.
pub(crate) fn cut_front(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut taken = 1;
    let mut from = text.len();
    for (index, letter) in text.char_indices().rev() {
        taken += letter.width().unwrap_or(0);
        if taken > width {
            break;
        }
        from = index;
    }
    format!("…{}", &text[from..])
}

/// Cuts a text to a display width so that the part at `start` is visible.
pub(crate) fn cut_around(text: &str, start: usize, width: usize) -> String {
    if text.width() <= width || text[..start].width() < width / 2 {
        return cut(text, width);
    }
    let mut before = 0;
    let from = text[..start]
        .char_indices()
        .rev()
        .take_while(|(_, letter)| {
            before += letter.width().unwrap_or(0);
            before <= width / 4
        })
        .last()
        .map_or(start, |(index, _)| index);
    format!("…{}", cut(&text[from..], width.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_display_width() {
        let mut table = Table::new(&[("ID", Align::Left), ("TURNS", Align::Right), ("SAID", Align::Left)]);
        table.row(["a1".into(), "7".into(), "過去コミット2個くらいで".into()]);
        table.row(["日本".into(), "1,234".into(), "mend the parser".into()]);
        assert_eq!(
            table.render(None),
            "ID    TURNS  SAID\na1        7  過去コミット2個くらいで\n日本  1,234  mend the parser\n"
        );
        assert_eq!(
            table.render(Some(29)),
            "ID    TURNS  SAID\na1        7  過去コミット2個…\n日本  1,234  mend the parser\n"
        );
    }

    #[test]
    fn a_narrow_screen_drops_dispensable_columns() {
        let columns =
            [("ID", Align::Left), ("STEPS", Align::Right), ("CALLS", Align::Right), ("SAID", Align::Left)];
        let mut table = Table::new(&columns).dispensable(&["CALLS", "STEPS"]);
        table.row(["a1", "3", "4", "mend the parser of the shop"].map(str::to_owned));
        let lines = |screen| table.render(screen).lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(None)[1], "a1      3      4  mend the parser of the shop");
        assert_eq!(lines(Some(34)), ["ID  STEPS  CALLS  SAID", "a1      3      4  mend the parser…"]);
        assert_eq!(lines(Some(30)), ["ID  STEPS  SAID", "a1      3  mend the parser of…"]);
        assert_eq!(lines(Some(20)), ["ID  SAID", "a1  mend the parser…"]);
    }

    #[test]
    fn cut_texts_fit_their_width() {
        for width in 2..12 {
            for text in
                ["plain words here", "過去コミット", "a過b去c", "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}"]
            {
                assert!(cut(text, width).width() <= width, "{text} {width}");
                assert!(cut_front(text, width).width() <= width, "{text} {width}");
                for (start, _) in text.char_indices() {
                    assert!(cut_around(text, start, width).width() <= width, "{text} {start} {width}");
                }
            }
        }
        assert_eq!(cut_front("/home/someone/work/shop", 10), "…work/shop");
        assert_eq!(cut_around("a long beginning and then the needle stands", 30, 16), "…the needle sta…");
    }
}
