//! Formats findings: short, on one line where possible, redacted.

use tamis_redact::Redacted;

use crate::Reference;

/// Maximum characters of a finding.
pub(super) const MAX_FINDING_LENGTH: usize = 220;

/// On one line, without secrets, no longer than that. Secrets go before the cut, which might leave half of one.
pub(super) fn brief(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    shorten(Redacted::from(line).as_str(), most)
}

/// The beginning of a text, with an ellipsis where it is cut.
pub(super) fn shorten(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let (keep, _) = text.char_indices().nth(most.saturating_sub(1)).unwrap_or((end, ' '));
    let kept = &text[..keep];
    // Cut at a word, unless it is one long word.
    let word = kept.rfind(' ').filter(|space| space * 3 > keep * 2).unwrap_or(keep);
    format!("{}…", kept[..word].trim_end())
}

/// Lines of code without the white space that all of them begin with, each no longer than `most`.
pub(super) fn dedented(lines: &[&str], most: usize) -> String {
    let redacted = Redacted::from(lines.join("\n")).replace('\t', "    ");
    let margin = redacted
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0);
    let cut = redacted.lines().map(|line| shorten(line.get(margin..).unwrap_or("").trim_end(), most));
    cut.collect::<Vec<_>>().join("\n")
}

/// References in the order in which they were first given, none twice.
#[derive(Default)]
pub(super) struct References {
    list: Vec<Reference>,
}

impl References {
    pub(super) fn add(&mut self, path: &str, line: Option<usize>) {
        let reference = Reference::new(path, line);
        if !self.list.contains(&reference) {
            self.list.push(reference);
        }
    }

    pub(super) fn into_list(mut self, most: usize) -> Vec<Reference> {
        self.list.truncate(most);
        self.list
    }
}

/// One of the things that a sentence lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) what: String,
    pub(super) path: String,
    /// From 1.
    pub(super) line: usize,
}

/// `verb a (x.rs:1), b (:7), c (y.rs:3) and 4 more`: as many as fit, at least one. `more` are those known of beside the items.
/// Returns the items that were listed.
pub(super) fn list_items<'a>(
    verb: &str,
    items: &'a [Item],
    more: usize,
    most: usize,
) -> (String, &'a [Item]) {
    let mut text = verb.to_owned();
    let mut taken = 0;
    let mut file = "";
    for item in items {
        let place = if item.path == file { String::new() } else { item.path.clone() };
        let next = format!("{} {} ({place}:{})", if taken == 0 { "" } else { "," }, item.what, item.line);
        if taken > 0 && text.chars().count() + next.chars().count() + 12 > most {
            break;
        }
        text.push_str(&next);
        file = &item.path;
        taken += 1;
    }
    match items.len() - taken + more {
        0 => {}
        left => text.push_str(&format!(" and {left} more")),
    }
    (Redacted::from(text).into_inner(), &items[..taken])
}

/// The places that a list of these items gives with their path: where a file comes again, only the line is given.
pub(super) fn spelled_places(items: &[Item]) -> Vec<Reference> {
    let mut file = "";
    let mut places = Vec::new();
    for item in items {
        if item.path != file {
            places.push(Reference::new(&item.path, Some(item.line)));
        }
        file = &item.path;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_end_where_the_line_does() {
        let item = |what: &str, path: &str, line| Item { what: what.into(), path: path.into(), line };
        let items = [item("a", "x.rs", 1), item("b", "x.rs", 7), item("c", "y.rs", 3)];
        assert_eq!(list_items("→ calls", &items, 0, 90).0, "→ calls a (x.rs:1), b (:7), c (y.rs:3)");
        assert_eq!(list_items("→ calls", &items, 4, 39).0, "→ calls a (x.rs:1), b (:7) and 5 more");
        assert_eq!(list_items("→ calls", &items[..1], 0, 5).0, "→ calls a (x.rs:1)");
    }

    #[test]
    fn texts_are_cut_at_words_and_lose_their_margin() {
        assert_eq!(brief("one  two\n three four", 16), "one two three…");
        assert_eq!(brief("é".repeat(30).as_str(), 10), format!("{}…", "é".repeat(9)));
        assert_eq!(dedented(&["\tif x:", "\t    y()", ""], 80), "if x:\n    y()\n".trim_end());
        assert!(!brief("key ghp_0123456789abcdefghijABCDEFGHIJ012345 end", 24).contains("ghp_0123"));
    }
}
