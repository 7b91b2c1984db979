//! The structure of a Markdown or reStructuredText document: headings and fenced code.

/// A heading of a document. Lines count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) line: usize,
    pub(crate) level: usize,
}

/// A document's headings and code fences. Fences are spans of lines, both ends included.
#[derive(Default)]
pub(crate) struct DocumentStructure {
    pub(crate) headings: Vec<Heading>,
    pub(crate) fences: Vec<(usize, usize)>,
}

impl DocumentStructure {
    pub(crate) fn read(lines: &[&str]) -> DocumentStructure {
        let mut document = DocumentStructure::default();
        let mut fence: Option<(usize, &str)> = None;
        for (number, line) in lines.iter().enumerate() {
            let trimmed = line.trim();
            if let Some((start, mark)) = fence {
                if trimmed.starts_with(mark) && trimmed.trim_start_matches(&mark[..1]).is_empty() {
                    document.fences.push((start, number));
                    fence = None;
                }
                continue;
            }
            if let Some(mark) = opening_mark(trimmed) {
                fence = Some((number, mark));
                continue;
            }
            let level = trimmed.bytes().take_while(|&byte| byte == b'#').count();
            if (1..=6).contains(&level) && trimmed[level..].starts_with([' ', '\t']) {
                document.headings.push(Heading { line: number, level });
            } else if number > 0 && is_underline(trimmed) && is_title(lines[number - 1]) {
                let level = if trimmed.starts_with('=') { 1 } else { 2 };
                document.headings.push(Heading { line: number - 1, level });
            }
        }
        // An unclosed fence runs to the end.
        if let Some((start, _)) = fence {
            document.fences.push((start, lines.len() - 1));
        }
        document
    }
}

/// The characters that open a fence. If more backticks follow, it is inline code: "```a``` and more" opens nothing.
fn opening_mark(trimmed: &str) -> Option<&str> {
    let sign = ['`', '~'].into_iter().find(|&sign| trimmed.starts_with(sign))?;
    let behind = trimmed.trim_start_matches(sign);
    let mark = &trimmed[..trimmed.len() - behind.len()];
    (mark.len() >= 3 && !(sign == '`' && behind.contains(sign))).then_some(mark)
}

fn is_underline(trimmed: &str) -> bool {
    trimmed.len() >= 3 && (trimmed.bytes().all(|b| b == b'=') || trimmed.bytes().all(|b| b == b'-'))
}

fn is_title(line: &str) -> bool {
    let trimmed = line.trim();
    trimmed.len() > 1 && trimmed.len() < 120 && !trimmed.starts_with(['|', '-', '*', '>', '#', '=', '`'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_fences_are_found() {
        let text = "# One\nwords\n```sh\n# not a heading\n```\nTwo\n---\n~~~\nopen\n# never\n";
        let document = DocumentStructure::read(&tamis_text::split_lines(text));
        assert_eq!(document.headings, [Heading { line: 0, level: 1 }, Heading { line: 5, level: 2 }]);
        assert_eq!(document.fences, [(2, 4), (7, 10)]);
        let inline = DocumentStructure::read(&["```a``` and more", "# One", "~~~ `b`", "# no", "~~~"]);
        assert_eq!(inline.headings, [Heading { line: 1, level: 1 }]);
        assert_eq!(inline.fences, [(2, 4)]);
    }
}
