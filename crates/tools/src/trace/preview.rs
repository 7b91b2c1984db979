//! What a search shows of an event that it found.

use serde_json::{Value, json};
use tamis_trace::Match;
use tamis_trace::event::EventKind;

use super::show::{beginning, cut, outlined, redacted};

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
pub(crate) fn of(found: &Match) -> Value {
    let payload = &found.payload;
    let text = |name: &str| payload[name].as_str().unwrap_or_default();
    match found.kind {
        EventKind::ToolCall => {
            let arguments = outlined(payload["arguments"].clone(), ARGUMENTS);
            let mut preview = json!({"tool": beginning(text("name"), 200), "arguments": arguments});
            let whole = match &payload["arguments"] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            if whole.chars().count() > ARGUMENTS {
                preview["match"] = around(&whole, &found.excerpt, AROUND).into();
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
    let excerpt = excerpt.strip_prefix('…').unwrap_or(excerpt);
    let excerpt = excerpt.strip_suffix('…').unwrap_or(excerpt);
    let at = text.find(excerpt).unwrap_or(0);
    if excerpt.is_empty() || text[..at].chars().count() + excerpt.chars().count() <= most {
        return beginning(text, most);
    }
    let from = text.floor_char_boundary(at.saturating_sub(CONTEXT));
    let to = text.ceil_char_boundary((at + excerpt.len()).saturating_add(CONTEXT).min(text.len()));
    let (raw, seen) = (&text[from..to], redacted(&text[from..to]));
    let Some(place) = found_again(raw, at - from, excerpt, &seen) else { return beginning(text, most) };
    let start = seen[..place].char_indices().rev().take(BEFORE).last().map_or(place, |(start, _)| start);
    let mut shown = "…".to_owned();
    shown.push_str(&cut(&seen[start..], most - 1));
    if to < text.len() && !shown.ends_with('…') && shown.chars().count() < most {
        shown.push('…');
    }
    shown
}

/// Where in the text without secrets the match is, or something near it that stands in both.
fn found_again(raw: &str, at: usize, excerpt: &str, seen: &str) -> Option<usize> {
    let starts: Vec<usize> = excerpt.char_indices().map(|(start, _)| start).collect();
    let near = BEFORE.min(starts.len() - 1);
    // From the match on, and else before it.
    starts[near..].iter().chain(&starts[..near]).step_by(ANCHOR).find_map(|start| {
        let end = excerpt[*start..].char_indices().nth(ANCHOR).map_or(excerpt.len(), |(end, _)| start + end);
        let anchor = &excerpt[*start..end];
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
