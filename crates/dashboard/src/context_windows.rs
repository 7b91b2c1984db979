//! How many tokens models can read in one request, and how full that makes a context. Nothing is guessed: a model that is not listed
//! has no known window, and a request that is larger than every listed window shows only that the window is larger.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Serialize;
use tamis_gain::model_base_name;

const LISTED: &str = include_str!("context_windows.txt");

/// Windows by model, the smallest first.
static WINDOWS: LazyLock<HashMap<String, Vec<u64>>> =
    LazyLock::new(|| LISTED.lines().filter_map(parse).collect());

/// What the latest request of a session's main conversation read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NowContext {
    pub tokens: u64,
    /// The model's window, where it is known.
    pub window: Option<u64>,
    /// The largest known window, if the request was larger: the model's window is larger too.
    pub above: Option<u64>,
}

impl NowContext {
    pub(crate) fn new(model: &str, tokens: u64) -> NowContext {
        let known = WINDOWS.get(&model_base_name(model)).map_or(&[][..], Vec::as_slice);
        // Claude Code names the larger window in the model's name.
        let least = if model.contains("[1m]") { 1_000_000 } else { 0 };
        let window = known.iter().copied().find(|window| *window >= tokens.max(least));
        let above = known.last().copied().filter(|_| window.is_none());
        NowContext { tokens, window, above }
    }
}

fn parse(line: &str) -> Option<(String, Vec<u64>)> {
    let mut words = line.split_whitespace();
    let model = words.next().filter(|word| !word.starts_with('#'))?;
    let _date = words.next()?;
    Some((model_base_name(model), words.map_while(|word| word.parse().ok()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_valid_dated_and_ascending() {
        let lines: Vec<&str> =
            LISTED.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        assert_eq!(WINDOWS.len(), lines.len(), "each model once");
        for line in lines {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert!(words[1].parse::<jiff::civil::Date>().is_ok(), "{line}");
            let windows: Vec<u64> = words[2..].iter().map(|word| word.parse().expect(line)).collect();
            assert!(!windows.is_empty() && windows.is_sorted(), "{line}");
        }
    }

    #[test]
    fn a_context_is_never_fuller_than_its_window() {
        for (model, tokens, window, above) in [
            ("claude-sonnet-4-5-20250929", 100_000, Some(200_000), None),
            ("claude-sonnet-4-5-20250929", 200_001, Some(1_000_000), None),
            ("claude-sonnet-4-5[1m]", 100, Some(1_000_000), None),
            ("claude-haiku-4-5", 200_001, None, Some(200_000)),
            ("anthropic/claude-opus-5.5", 10, Some(1_000_000), None),
            ("gpt-5.6-sol", 10, Some(272_000), None),
            ("unknown", 10, None, None),
        ] {
            assert_eq!(
                NowContext::new(model, tokens),
                NowContext { tokens, window, above },
                "{model} {tokens}"
            );
        }
    }
}
