//! What a search shows of an event that it found.

use serde_json::{Value, json};
use tamis_logs::event::EventKind;
use tamis_trace::SearchMatch;

use super::show::{beginning, cut, outlined, redacted, redacted_value};

/// Characters of a text's preview.
const TEXT: usize = 300;
/// Characters of a call's arguments.
const ARGUMENTS: usize = 100;
/// Characters of what stands around a match that the preview would not show.
const AROUND: usize = 200;
/// Characters by which a place is found again in a text that has lost its secrets.
const ANCHOR: usize = 12;
/// Characters before a match; a search gives as many.
const BEFORE: usize = 75;
/// Bytes before and after a match that are looked at for secrets.
const CONTEXT: usize = 16 << 10;

/// The preview that the contract has for each type of event.
pub(crate) fn of(found: &SearchMatch) -> Value {
    let payload = &found.payload;
    let text = |name: &str| payload[name].as_str().unwrap_or_default();
    match found.kind {
        EventKind::ToolCall => {
            let whole = redacted_value(payload["arguments"].clone());
            let arguments = outlined(whole.clone(), ARGUMENTS);
            let hidden = arguments != whole;
            let mut preview = json!({"tool": beginning(text("name"), 200), "arguments": arguments});
            if let (true, Some(around)) = (hidden, around_in(&whole, &found.excerpt)) {
                preview["match"] = around.into();
            }
            preview
        }
        EventKind::ToolResult => {
            let mut preview = json!({"preview": around(text("content"), &found.excerpt, TEXT)});
            if payload["is_error"] == true {
                preview["is_error"] = true.into();
            }
            preview
        }
        EventKind::TokenUsage => json!({"input": payload["input"], "output": payload["output"]}),
        _ => json!({"text": around(text("text"), &found.excerpt, TEXT)}),
    }
}

/// The beginning of a text, or what stands around the match when that is further on. The excerpt is only looked for, never
/// shown: it was cut while secrets were still in it.
fn around(text: &str, excerpt: &str, most: usize) -> String {
    let excerpt = bare(excerpt);
    let Some(at) = text.find(excerpt) else { return beginning(text, most) };
    if excerpt.is_empty() || text[..at].chars().count() + excerpt.chars().count() <= most {
        return beginning(text, most);
    }
    let first = text.floor_char_boundary(at.saturating_sub(CONTEXT));
    let to = text.ceil_char_boundary((at + excerpt.len()).saturating_add(CONTEXT).min(text.len()));
    let (raw, seen) = (&text[first..to], redacted(&text[first..to]));
    let Some(place) = found_again(raw, at - first, excerpt, &seen) else { return beginning(text, most) };
    let mut shown = from(&seen, place, most);
    if !shown.starts_with('…') {
        shown = cut(&format!("…{shown}"), most);
    }
    if to < text.len() && !shown.ends_with('…') && shown.chars().count() < most {
        shown.push('…');
    }
    shown
}

/// What stands around the match in JSON that has no secrets any more.
fn around_in(value: &Value, excerpt: &str) -> Option<String> {
    let mut texts = Vec::new();
    leaves(value, &mut texts);
    anchors(bare(excerpt)).find_map(|(_, anchor)| {
        let (text, place) = texts.iter().find_map(|text| Some((*text, text.find(anchor)?)))?;
        Some(from(text, place, AROUND))
    })
}

fn leaves<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, texts)),
        Value::Object(members) => members.values().for_each(|member| leaves(member, texts)),
        _ => {}
    }
}

/// An excerpt without the signs that there is more.
fn bare(excerpt: &str) -> &str {
    let excerpt = excerpt.strip_prefix('…').unwrap_or(excerpt);
    excerpt.strip_suffix('…').unwrap_or(excerpt)
}

/// A text from a little before a place on.
fn from(text: &str, place: usize, most: usize) -> String {
    let start = text[..place].char_indices().rev().take(BEFORE).last().map_or(place, |(start, _)| start);
    let before = if start > 0 { "…" } else { "" };
    format!("{before}{}", cut(&text[start..], most - 1))
}

/// Pieces of an excerpt, with where they begin in it: from the match on, and then those before it.
fn anchors(excerpt: &str) -> impl Iterator<Item = (usize, &str)> {
    let starts: Vec<usize> = excerpt.char_indices().map(|(start, _)| start).collect();
    let near = BEFORE.min(starts.len().saturating_sub(1));
    let ordered: Vec<usize> = starts[near..].iter().chain(&starts[..near]).step_by(ANCHOR).copied().collect();
    ordered.into_iter().map(|start| {
        let end = excerpt[start..].char_indices().nth(ANCHOR).map_or(excerpt.len(), |(end, _)| start + end);
        (start, &excerpt[start..end])
    })
}

/// Where in the text without secrets the match is, or something near it that stands in both.
fn found_again(raw: &str, at: usize, excerpt: &str, seen: &str) -> Option<usize> {
    anchors(excerpt).find_map(|(start, anchor)| {
        let earlier = raw[..at + start].matches(anchor).count();
        seen.match_indices(anchor).map(|(place, _)| place).take(earlier + 1).last()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_far_on_is_shown_without_the_secret_beside_it() {
        let secret = format!("{}_{}", "ghp", "a8Kd0sQ2mX7vB4nZ1cL6pR9tY3wE5uJ0hG2f");
        // A search begins its excerpt 75 characters before the match: in the middle of the secret, for some gaps.
        for gap in 20..80 {
            let text = format!(
                "{} token {secret}{} needle {}",
                "x ".repeat(400),
                " y".repeat(gap / 2),
                "y ".repeat(400)
            );
            let at = text.find("needle").unwrap();
            let excerpt = format!("…{}…", &text[at - 75..at + 225]);
            let shown = around(&text, &excerpt, 300);
            assert!(shown.contains("needle"), "{gap}: {shown}");
            for length in 6..secret.len() {
                assert!(!shown.contains(&secret[secret.len() - length..]), "{gap}: {shown}");
            }
            assert!(shown.chars().count() <= 300);
        }
        assert_eq!(around("short needle", "short needle", 300), "short needle");
    }
}
