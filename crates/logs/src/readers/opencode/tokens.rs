//! A step's tokens, or a message's.

use serde_json::Value;

use crate::usage::Tokens;

pub(super) fn tokens(reported: &Value) -> Tokens {
    let number = |pointer: &str| {
        let value = reported.pointer(pointer);
        value.and_then(|value| value.as_u64().or_else(|| value.as_f64().map(|value| value as u64)))
    };
    let of = |pointer: &str| number(pointer).unwrap_or(0);
    let (input, output, reasoning) = (of("/input"), of("/output"), of("/reasoning"));
    let (read, write) = (of("/cache/read"), of("/cache/write"));
    let without = [input, output, read, write].into_iter().fold(0, u64::saturating_add);
    let included = match number("/total") {
        Some(total) if total > 0 => total == without && reasoning <= output,
        _ => reasoning <= output,
    };
    Tokens {
        input,
        cache_read: read,
        cache_creation: write,
        output: if included { output } else { output.saturating_add(reasoning) },
        reasoning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_total_shows_whether_the_output_has_the_reasoning_in_it() {
        let reported = |output: u64, total: Option<u64>| json!({"input": 600, "output": output, "reasoning": 12, "total": total, "cache": {"read": 400, "write": 1}});
        let expected = Tokens { input: 600, cache_read: 400, cache_creation: 1, output: 30, reasoning: 12 };
        assert_eq!(tokens(&reported(18, Some(1031))), expected);
        assert_eq!(tokens(&reported(30, Some(1031))), expected);
        assert_eq!(tokens(&reported(30, None)), expected);
        assert_eq!(tokens(&json!({"output": 3, "reasoning": 12})).output, 15);
    }
}
