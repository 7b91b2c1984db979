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
const ANCHOR: usize = 24;
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
    let seen = redacted(&text[from..to]);
    let letters: Vec<char> = excerpt.chars().collect();
    let mut anchors = letters.chunks(ANCHOR).map(|anchor| anchor.iter().collect::<String>());
    let Some(place) = anchors.find_map(|anchor| seen.find(&anchor)) else { return beginning(text, most) };
    let mut shown = "…".to_owned();
    shown.push_str(&cut(&seen[place..], most - 1));
    if to < text.len() && !shown.ends_with('…') && shown.chars().count() < most {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_far_on_is_shown_without_the_secret_beside_it() {
        let secret = format!("{}_{}", "ghp", "a8Kd0sQ2mX7vB4nZ1cL6pR9tY3wE5uJ0hG2f");
        let text = format!("{} token {secret} needle {}", "x ".repeat(400), "y ".repeat(400));
        let at = text.find("needle").unwrap();
        // As a search cuts it: in the middle of the secret.
        for before in 5..60 {
            let excerpt = format!("…{}…", &text[at - before..at + 100]);
            let shown = around(&text, &excerpt, 300);
            assert!(shown.contains("needle"), "{before}: {shown}");
            for length in 6..secret.len() {
                assert!(!shown.contains(&secret[secret.len() - length..]), "{before}: {shown}");
            }
            assert!(shown.chars().count() <= 300);
        }
        assert_eq!(around("short needle", "short needle", 300), "short needle");
    }
}
