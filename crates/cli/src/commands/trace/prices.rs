//! What requests cost, as it is shown.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tamis_gain::RequestCost;

use crate::escape;

/// A cost, for people and for programs.
pub(super) trait ShownCost {
    /// For a cell of a table: `≥` if a part has no price, `-` if all of it.
    fn cell(&self) -> String;

    /// The dates of the prices, and the models without one.
    fn notes(&self) -> Vec<String>;

    fn json(&self) -> Value;
}

impl ShownCost for RequestCost {
    fn cell(&self) -> String {
        // A cent is much for a small request.
        let digits = if self.usd < 1.0 && self.usd > 0.0 { 4 } else { 2 };
        match (self.is_priced, self.unpriced.is_empty()) {
            (false, false) => "-".to_owned(),
            (_, true) => format!("{:.digits$}", self.usd),
            (true, false) => format!("≥{:.digits$}", self.usd),
        }
    }

    fn notes(&self) -> Vec<String> {
        price_notes(self.dates.first().zip(self.dates.last()), &self.unpriced)
    }

    fn json(&self) -> Value {
        json!({
            "usd": self.is_priced.then_some((self.usd * 1e6).round() / 1e6),
            "prices_as_of": self.dates,
            "unpriced_tokens": self.unpriced.iter().map(|(model, tokens)| (escape::line(model), *tokens)).collect::<BTreeMap<_, _>>(),
        })
    }
}

/// The first and the last date of prices, and the tokens of models without one, in words.
pub(in crate::commands) fn price_notes(
    dates: Option<(&String, &String)>,
    unpriced: &BTreeMap<String, u64>,
) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some((first, last)) = dates {
        let dates = if first == last { first.clone() } else { format!("{first} to {last}") };
        notes.push(format!("USD at list prices of {dates}; set trace.prices to use your own"));
    }
    for (model, tokens) in unpriced {
        let model =
            if model.is_empty() { "requests without a model".to_owned() } else { escape::line(model) };
        notes.push(format!("no price for {model}: {} tokens", crate::print::grouped(*tokens)));
    }
    notes
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use tamis_gain::ModelPrices;
    use tamis_logs::event::Millis;
    use tamis_logs::usage::Tokens;

    use super::*;

    fn tokens(input: u64, cache_read: u64, cache_creation: u64, output: u64) -> Tokens {
        Tokens { input, cache_read, cache_creation, output, reasoning: 0 }
    }

    fn at(day: &str) -> Option<Millis> {
        Some(format!("{day}T12:00:00Z").parse::<Timestamp>().unwrap().as_millisecond())
    }

    fn cost(own: &[&str], model: &str, day: &str, tokens: Tokens) -> RequestCost {
        let own: Vec<String> = own.iter().map(|line| (*line).to_owned()).collect();
        let mut cost = RequestCost::default();
        ModelPrices::with(&own).unwrap().charge(&mut cost, model, at(day), tokens);
        cost
    }

    #[test]
    fn a_request_is_charged_at_the_price_of_its_day() {
        let million = tokens(1_000_000, 0, 0, 1_000_000);
        let short = tokens(100_000, 0, 0, 0);
        assert_eq!(cost(&[], "claude-opus-4-5-20251101", "2026-11-01", million).cell(), "30.00");
        assert_eq!(cost(&[], "anthropic/claude-opus-4.5", "2026-11-01", million).cell(), "30.00");
        assert_eq!(cost(&[], "claude-opus-4-5[1m]", "2026-11-01", million).cell(), "30.00");
        assert_eq!(cost(&[], "gpt-5.6-luna", "2026-07-20", short).cell(), "0.1000");
        assert_eq!(cost(&[], "gpt-5.6-luna", "2026-08-01", short).cell(), "0.0200");
        assert_eq!(
            cost(&[], "gpt-5.6-luna", "2026-01-01", short).cell(),
            "0.1000",
            "the earliest that is known"
        );
        // A long prompt costs more, as a whole.
        assert_eq!(cost(&[], "gpt-5.6-luna", "2026-08-01", million).cell(), "2.20");
        let cached = tokens(0, 1_000_000, 1_000_000, 0);
        assert_eq!(cost(&[], "claude-sonnet-4-5", "2026-11-01", cached).cell(), "4.05");
        let note = &cost(&[], "gpt-5.6-luna", "2026-08-01", short).notes()[0];
        assert!(note.starts_with("USD at list prices of 2026-07-30"), "{note}");
    }

    #[test]
    fn what_has_no_price_is_stated_and_never_guessed() {
        for (model, used) in [
            ("gpt-9", tokens(5, 0, 0, 0)),
            ("claude-opus-4-5-turbo", tokens(5, 0, 0, 0)),
            ("", tokens(5, 0, 0, 0)),
            // It has no price for writing to the cache.
            ("gpt-5", tokens(3, 0, 2, 0)),
        ] {
            let cost = cost(&[], model, "2026-11-01", used);
            assert_eq!((cost.cell().as_str(), cost.json()["usd"].clone()), ("-", Value::Null), "{model}");
            assert_eq!(cost.unpriced[model], 5);
            assert!(cost.notes()[0].starts_with("no price for "), "{:?}", cost.notes());
        }
        let mut both = cost(&[], "gpt-5", "2026-11-01", tokens(1_000_000, 0, 0, 0));
        ModelPrices::with(&[]).unwrap().charge(&mut both, "gpt-9", at("2026-11-01"), tokens(1, 0, 0, 0));
        assert_eq!(both.cell(), "≥1.25");
    }

    #[test]
    fn the_users_prices_count_instead() {
        let own = ["gpt-5 2026-11-02 2 - - 4", "local-model 2026-11-02 0 0 0 0"];
        assert_eq!(cost(&own, "gpt-5", "2026-01-01", tokens(1_000_000, 0, 0, 0)).cell(), "2.00");
        assert_eq!(cost(&own, "local-model", "2026-01-01", tokens(1, 1, 1, 1)).cell(), "0.00");
        for wrong in [
            "",
            "gpt-5",
            "gpt-5 yesterday 1 1 1 1",
            "gpt-5 2026-11-02 1 1 1",
            "gpt-5 2026-11-02 1 1 1 -1",
            "m 2026-11-02 1 1 1 1 5",
        ] {
            assert!(ModelPrices::with(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }
}
