//! What a client sends to the model of a tool result: no more than its own limit, so that nothing is counted as saved that
//! would not have been sent.

use std::borrow::Cow;

use tamis_clients::Client;
use tamis_logs::tool_kinds::ToolKind;

/// The part of a result that the client sends: the beginning and the end, in whole lines, where it is too long.
pub(super) fn sent_part<'t>(client: Client, tool_kind: ToolKind, text: Cow<'t, str>) -> Cow<'t, str> {
    let limit = client.output_chars();
    // Claude Code limits the files that it reads by their lines and tokens, before they come into the log.
    let is_unlimited = client == Client::ClaudeCode && tool_kind == ToolKind::Read;
    if is_unlimited || text.len() <= limit || text.chars().count() <= limit {
        return text;
    }
    let at = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let from = |chars: usize| text.char_indices().rev().nth(chars.saturating_sub(1)).map_or(0, |(at, _)| at);
    let head = &text[..at(limit / 2)];
    let tail = &text[from(limit - limit / 2)..];
    let head = head.rsplit_once('\n').map_or(head, |(whole, _)| whole);
    let tail = tail.split_once('\n').map_or(tail, |(_, whole)| whole);
    Cow::Owned(format!("{head}\n{tail}"))
}

/// How Claude Code begins and ends a note to the model. It puts them after a tool's output, and after its hooks.
const NOTE: (&str, &str) = ("<system-reminder>", "</system-reminder>");

/// A result without the notes that the client adds at its end: no tool printed them, and no hook is given them.
pub(super) fn without_notes(client: Client, text: Cow<'_, str>) -> Cow<'_, str> {
    if client != Client::ClaudeCode {
        return text;
    }
    let mut length = text.len();
    while let Some(note) = text[..length].trim_end().strip_suffix(NOTE.1)
        && let Some(start) = note.rfind(NOTE.0)
        && (start == 0 || note[..start].ends_with('\n'))
    {
        length = note[..start].trim_end_matches('\n').len();
    }
    if length == text.len() { text } else { Cow::Owned(text[..length].to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_of_the_client_are_no_part_of_a_result() {
        let note = "<system-reminder>\nThe file may be long.\n</system-reminder>";
        let of = |text: &str| without_notes(Client::ClaudeCode, Cow::Borrowed(text)).into_owned();
        for (text, expected) in [
            (format!("a\nb\n\n{note}\n"), "a\nb"),
            (format!("a\n\n{note}\n\n{note}\n"), "a"),
            (note.to_owned(), ""),
            ("a\nb\n".to_owned(), "a\nb\n"),
            ("x = \"</system-reminder>".to_owned(), "x = \"</system-reminder>"),
            (
                "say <system-reminder> and </system-reminder>".to_owned(),
                "say <system-reminder> and </system-reminder>",
            ),
        ] {
            assert_eq!(of(&text), expected, "{text}");
        }
        let text = format!("a\n\n{note}");
        assert_eq!(without_notes(Client::Codex, Cow::Borrowed(&text)), text);
        let inside = format!("a\n{note}\nb\n");
        assert_eq!(of(&inside), inside);
    }

    #[test]
    fn no_more_than_the_clients_limit_counts() {
        let text: String = (0..20_000).map(|number| format!("line {number} é\n")).collect();
        for client in Client::ALL {
            let sent = sent_part(*client, ToolKind::Run, Cow::Borrowed(&text));
            let limit = client.output_chars();
            assert!(sent.chars().count() <= limit && sent.chars().count() > limit - 100, "{client:?}");
            assert!(
                sent.starts_with("line 0 é\nline 1 é\n") && sent.ends_with("line 19999 é\n"),
                "{client:?}"
            );
            assert!(sent.lines().all(|line| line.starts_with("line ") && line.ends_with(" é")), "{client:?}");
            let short = "x".repeat(limit);
            assert_eq!(sent_part(*client, ToolKind::Run, Cow::Borrowed(&short)), short, "{client:?}");
        }
        let one_line = "é".repeat(40_001);
        assert_eq!(
            sent_part(Client::Gemini, ToolKind::Run, Cow::Borrowed(&one_line)).chars().count(),
            40_001
        );
        assert_eq!(sent_part(Client::ClaudeCode, ToolKind::Read, Cow::Borrowed(&text)).len(), text.len());
    }
}
