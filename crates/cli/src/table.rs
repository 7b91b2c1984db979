//! Tables that are read without colour: columns aligned by what they take on the screen, the last one cut where the
//! screen ends.

use std::io::IsTerminal;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// On which side a column is flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Between two columns.
const GAP: &str = "  ";
/// Of the last column at least so much is shown, on however narrow a screen.
const LEAST: usize = 16;

/// Rows under a head.
pub(crate) struct Table {
    columns: Vec<(&'static str, Align)>,
    /// Those that a narrow screen goes without, the first of them first.
    dispensable: &'static [&'static str],
    /// What the last column should have before others are kept.
    wanted: usize,
    /// Whether its end says more than its beginning.
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

    /// Names the columns that a narrow screen goes without.
    pub(crate) fn dispensable(mut self, columns: &'static [&'static str]) -> Table {
        self.dispensable = columns;
        self
    }

    /// Says what the last column should have before those are kept.
    pub(crate) fn wanting(mut self, width: usize) -> Table {
        self.wanted = width;
        self
    }

    /// Has the last column lose its beginning, not its end.
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

    /// What the last column may take, for whoever wants to choose what of it is shown.
    pub(crate) fn room(&self, screen: Option<usize>) -> usize {
        let before = self.before_last(&self.shown(screen));
        screen.map_or(usize::MAX, |screen| screen.saturating_sub(before).max(LEAST))
    }

    /// Which columns are shown, by their place.
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

/// How wide the screen is: as `COLUMNS` says, else as the terminal does. `None` when stdout goes elsewhere, where nothing
/// is cut.
pub(crate) fn screen() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    said.filter(|columns| *columns > 0).or_else(|| {
        let stdout = std::io::stdout();
        stdout
            .is_terminal()
            .then(|| terminal_size::terminal_size_of(&stdout))?
            .map(|(width, _)| width.0.into())
    })
}

/// The beginning of a text that takes no more than `width` on the screen, with a sign when there is more.
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

/// The end of a text, likewise: of a path, that is what tells it from others.
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

/// What of a text is shown so that the part at `start` can be seen.
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
    fn columns_are_aligned_by_what_the_screen_shows() {
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
    fn a_narrow_screen_goes_without_what_can_be_spared() {
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
    fn cuts_take_no_more_than_their_width() {
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
