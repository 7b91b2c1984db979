//! A message's tokens.

use serde_json::Value;

use crate::usage::Tokens;

pub(super) fn tokens(reported: &Value) -> Tokens {
    let number = |name: &str| {
        let value = reported.get(name);
        // Some write whole numbers as floats.
        value
            .and_then(|value| value.as_u64().or_else(|| value.as_f64().map(|value| value as u64)))
            .unwrap_or(0)
    };
    let (input, cached, tool) = (number("input"), number("cached"), number("tool"));
    let (output, thoughts, total) = (number("output"), number("thoughts"), number("total"));
    let without_thoughts = input.saturating_add(output).saturating_add(tool);
    let included = total != 0 && total == without_thoughts && thoughts <= output;
    Tokens {
        input: input.saturating_sub(cached).saturating_add(tool),
        cache_read: cached,
        cache_creation: 0,
        output: if included { output } else { output.saturating_add(thoughts) },
        reasoning: thoughts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_prompt_has_the_cached_in_it_and_the_output_not_the_thoughts() {
        let reported =
            json!({"input": 1000, "cached": 400, "output": 20, "thoughts": 8, "tool": 3, "total": 1031});
        let expected = Tokens { input: 603, cache_read: 400, cache_creation: 0, output: 28, reasoning: 8 };
        assert_eq!(tokens(&reported), expected);
    }

    #[test]
    fn a_total_that_shows_thoughts_in_the_output_is_believed() {
        let reported = json!({"input": 1000, "cached": 0, "output": 28, "thoughts": 8, "total": 1028});
        assert_eq!(tokens(&reported), Tokens { input: 1000, output: 28, reasoning: 8, ..Tokens::default() });
    }

    #[test]
    fn nonsense_is_nothing() {
        for reported in [json!(null), json!("many"), json!({"input": "1", "output": -4}), json!([1, 2])] {
            assert!(tokens(&reported).is_zero(), "{reported}");
        }
    }
}
