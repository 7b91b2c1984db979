//! Colours: where a terminal is, unless the user wants none. Nothing is said by colour alone.

use std::borrow::Cow;
use std::io::{self, IsTerminal};
use std::sync::OnceLock;

use clap::ValueEnum;
use tamis_sieve::is_marker;

/// When output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    Always,
    Never,
}

/// What a piece of text is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Style {
    Error,
    Warning,
    Hint,
    Marker,
    Path,
    LineNumber,
    Match,
}

static WHEN: OnceLock<ColorWhen> = OnceLock::new();

/// Decides for the whole process, before anything is printed.
pub(crate) fn set(when: ColorWhen) {
    // Set once, by `lib.rs`.
    let _ = WHEN.set(when);
}

pub(crate) fn is_on_stdout() -> bool {
    is_on(io::stdout().is_terminal())
}

fn is_on_stderr() -> bool {
    is_on(io::stderr().is_terminal())
}

fn is_on(is_terminal: bool) -> bool {
    match WHEN.get().copied().unwrap_or_default() {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto => is_terminal && !has_no_color(|name| std::env::var_os(name)),
    }
}

/// Whether the environment asks for no colours: https://no-color.org, and terminals that have none.
fn has_no_color(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> bool {
    variable("NO_COLOR").is_some_and(|value| !value.is_empty())
        || variable("TERM").is_some_and(|value| value == "dumb")
}

/// What begins and ends a style, whether or not the output is coloured.
pub(crate) fn codes(style: Style) -> (&'static str, &'static str) {
    let begin = match style {
        Style::Error | Style::Match => "\x1b[1;31m",
        Style::Warning => "\x1b[33m",
        Style::Hint => "\x1b[36m",
        Style::Marker => "\x1b[2m",
        Style::Path => "\x1b[35m",
        Style::LineNumber => "\x1b[32m",
    };
    (begin, "\x1b[0m")
}

fn paint(text: &str, style: Style) -> String {
    let (begin, end) = codes(style);
    format!("{begin}{text}{end}")
}

/// A path for stdout.
pub(crate) fn path(text: &str) -> Cow<'_, str> {
    if is_on_stdout() { Cow::Owned(paint(text, Style::Path)) } else { Cow::Borrowed(text) }
}

/// A pruned text for stdout: markers are dimmed.
pub(crate) fn pruned(text: &str) -> Cow<'_, str> {
    if is_on_stdout() { dim_markers(text) } else { Cow::Borrowed(text) }
}

fn dim_markers(text: &str) -> Cow<'_, str> {
    if !text.lines().any(is_marker) {
        return Cow::Borrowed(text);
    }
    let line = |line: &str| match line.strip_suffix('\n') {
        Some(marker) if is_marker(marker) => paint(marker, Style::Marker) + "\n",
        None if is_marker(line) => paint(line, Style::Marker),
        _ => line.to_owned(),
    };
    Cow::Owned(text.split_inclusive('\n').map(line).collect())
}

/// A note for stderr: the word in front of an error, a warning or a hint is coloured.
pub(crate) fn note(text: String) -> String {
    if is_on_stderr() { color_heads(&text) } else { text }
}

fn color_heads(text: &str) -> String {
    const HEADS: [(&str, Style); 3] =
        [("error:", Style::Error), ("warning:", Style::Warning), ("hint:", Style::Hint)];
    let line = |line: &str| {
        let head = HEADS.iter().find_map(|(head, style)| Some((*head, *style, line.strip_prefix(head)?)));
        head.map_or_else(|| line.to_owned(), |(head, style, rest)| paint(head, style) + rest)
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_markers_are_coloured_and_nothing_else() {
        assert_eq!(
            color_heads("error: no `hint:`\n  because: x\n\nhint: y"),
            "\u{1b}[1;31merror:\u{1b}[0m no `hint:`\n  because: x\n\n\u{1b}[36mhint:\u{1b}[0m y"
        );
        let marker = "⟦PRUNÉ: prune_id=prn_aaaaaaaaaaaaaaaabbbbbb lignes 1-2 (2) raison=x⟧";
        assert_eq!(dim_markers(&format!("a\n{marker}\nb")), format!("a\n\u{1b}[2m{marker}\u{1b}[0m\nb"));
        assert_eq!(dim_markers("[tamis 3-9]\nb"), "\u{1b}[2m[tamis 3-9]\u{1b}[0m\nb");
        assert!(matches!(dim_markers("a\n⟦PRUNÉ: no marker\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn the_environment_turns_colours_off() {
        let is_off = |set: &[(&str, &str)]| {
            has_no_color(|name| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| std::ffi::OsString::from(value))
            })
        };
        assert!(is_off(&[("NO_COLOR", "1")]) && is_off(&[("TERM", "dumb")]));
        assert!(!is_off(&[]) && !is_off(&[("NO_COLOR", "")]) && !is_off(&[("TERM", "xterm")]));
    }
}
