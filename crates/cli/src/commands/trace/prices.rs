//! What requests cost at list prices. A figure always has its date, and a model without a price has no cost: nothing is guessed.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tamis_logs::event::Millis;
use tamis_logs::usage::Tokens;

use crate::escape;

/// The prices that are known without any configuration.
const LISTED: &str = include_str!("prices.txt");

/// Prices by model, the earliest first.
pub(super) struct Prices(BTreeMap<String, Vec<Price>>);

/// What a model costs from a date on.
#[derive(Clone, Debug, PartialEq)]
struct Price {
    from: Date,
    rates: Rates,
    /// The rates of a request whose prompt has more tokens than this.
    long: Option<(u64, Rates)>,
}

/// USD per million tokens; none where there is no such price.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rates {
    input: Option<f64>,
    cached_input: Option<f64>,
    cache_write: Option<f64>,
    output: Option<f64>,
}

/// What some requests cost, as far as that is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Cost {
    usd: f64,
    priced: bool,
    /// The dates of the prices.
    dates: BTreeSet<Date>,
    /// Tokens of the models that have no price.
    unpriced: BTreeMap<String, u64>,
}

impl Prices {
    /// The known prices, and those of the user, which count instead for their models.
    pub(super) fn with(own: &[String]) -> Result<Prices, String> {
        let mut prices = Prices(BTreeMap::new());
        for line in LISTED.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            prices.add(line)?;
        }
        for line in own {
            let model = line.split_whitespace().next().unwrap_or_default();
            prices.0.remove(&normalized(model));
        }
        own.iter().try_for_each(|line| prices.add(line))?;
        for known in prices.0.values_mut() {
            known.sort_by_key(|price| price.from);
        }
        Ok(prices)
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        let (model, price) = parse(line).ok_or_else(|| format!("invalid price `{line}`"))?;
        self.0.entry(normalized(model)).or_default().push(price);
        Ok(())
    }

    fn of(&self, model: &str, at: Option<Millis>) -> Option<&Price> {
        let known = self.0.get(&normalized(model))?;
        let time = at.and_then(|at| Timestamp::from_millisecond(at).ok());
        let day = time.map_or(Date::MAX, |time| time.to_zoned(TimeZone::UTC).date());
        known.iter().rev().find(|price| price.from <= day).or(known.first())
    }

    /// Adds a request to a cost.
    pub(super) fn charge(&self, cost: &mut Cost, model: &str, at: Option<Millis>, tokens: Tokens) {
        let charged = self.of(model, at).and_then(|price| Some((price.from, price.charge(tokens)?)));
        match charged {
            Some((date, usd)) => {
                cost.usd += usd;
                cost.priced = true;
                cost.dates.insert(date);
            }
            None => *cost.unpriced.entry(model.to_owned()).or_default() += tokens.total(),
        }
    }
}

impl Price {
    fn charge(&self, tokens: Tokens) -> Option<f64> {
        let rates = match self.long {
            Some((limit, rates)) if tokens.read() > limit => rates,
            _ => self.rates,
        };
        let parts = [
            (tokens.input, rates.input),
            (tokens.cache_read, rates.cached_input),
            (tokens.cache_creation, rates.cache_write),
            (tokens.output, rates.output),
        ];
        // What was not used needs no price.
        let used = parts.into_iter().filter(|(tokens, _)| *tokens > 0);
        used.map(|(tokens, rate)| rate.map(|rate| tokens as f64 * rate / 1e6)).sum()
    }
}

fn parse(line: &str) -> Option<(&str, Price)> {
    let mut words = line.split_whitespace();
    let model = words.next()?;
    let from = words.next()?.parse().ok()?;
    let rates = rates(&mut words)?;
    let long = match words.next() {
        None => None,
        Some(limit) => Some((limit.parse().ok()?, self::rates(&mut words)?)),
    };
    words.next().is_none().then_some((model, Price { from, rates, long }))
}

fn rates<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Rates> {
    let mut rate = || match words.next()? {
        "-" => Some(None),
        number => number.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate >= 0.0).map(Some),
    };
    Some(Rates { input: rate()?, cached_input: rate()?, cache_write: rate()?, output: rate()? })
}

/// A model's name without what does not change its price: the provider in front, the date and the size of the context at the end,
/// dots for dashes.
fn normalized(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.split(['[', '@']).next().unwrap_or(name).to_lowercase().replace('.', "-");
    let is_date = |part: &str| part.len() == 8 && part.bytes().all(|byte| byte.is_ascii_digit());
    match name.rsplit_once('-') {
        Some((base, date)) if is_date(date) => base.to_owned(),
        // 2025-09-29
        _ => match name.len().checked_sub(11).and_then(|at| name.split_at_checked(at)) {
            Some((base, date)) if date.starts_with('-') && date[1..].parse::<Date>().is_ok() => {
                base.to_owned()
            }
            _ => name,
        },
    }
}

impl Cost {
    /// For a cell of a table: `≥` if a part has no price, `-` if all of it.
    pub(super) fn cell(&self) -> String {
        // A cent is much for a small request.
        let digits = if self.usd < 1.0 && self.usd > 0.0 { 4 } else { 2 };
        match (self.priced, self.unpriced.is_empty()) {
            (false, false) => "-".to_owned(),
            (_, true) => format!("{:.digits$}", self.usd),
            (true, false) => format!("≥{:.digits$}", self.usd),
        }
    }

    /// The dates of the prices, and the models without one.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let (Some(first), Some(last)) = (self.dates.first(), self.dates.last()) {
            let dates = if first == last { first.to_string() } else { format!("{first} to {last}") };
            notes.push(format!("USD at list prices of {dates}; set trace.prices to use your own"));
        }
        for (model, tokens) in &self.unpriced {
            let model =
                if model.is_empty() { "requests without a model".to_owned() } else { escape::line(model) };
            notes.push(format!("no price for {model}: {} tokens", crate::print::grouped(*tokens)));
        }
        notes
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "usd": self.priced.then_some((self.usd * 1e6).round() / 1e6),
            "prices_as_of": self.dates.iter().map(Date::to_string).collect::<Vec<_>>(),
            "unpriced_tokens": self.unpriced.iter().map(|(model, tokens)| (escape::line(model), *tokens)).collect::<BTreeMap<_, _>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(input: u64, cache_read: u64, cache_creation: u64, output: u64) -> Tokens {
        Tokens { input, cache_read, cache_creation, output, reasoning: 0 }
    }

    fn at(day: &str) -> Option<Millis> {
        Some(format!("{day}T12:00:00Z").parse::<Timestamp>().unwrap().as_millisecond())
    }

    fn cost(own: &[&str], model: &str, day: &str, tokens: Tokens) -> Cost {
        let own: Vec<String> = own.iter().map(|line| (*line).to_owned()).collect();
        let mut cost = Cost::default();
        Prices::with(&own).unwrap().charge(&mut cost, model, at(day), tokens);
        cost
    }

    #[test]
    fn every_listed_price_is_valid_and_dated() {
        let prices = Prices::with(&[]).unwrap();
        assert!(prices.0.len() > 30);
        for known in prices.0.values() {
            assert!(known.windows(2).all(|pair| pair[0].from < pair[1].from), "{known:?}");
            assert!(known.iter().all(|price| price.rates.input.is_some() && price.rates.output.is_some()));
        }
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
        Prices::with(&[]).unwrap().charge(&mut both, "gpt-9", at("2026-11-01"), tokens(1, 0, 0, 0));
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
            assert!(Prices::with(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }
}
