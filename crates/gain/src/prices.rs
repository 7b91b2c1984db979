//! What models cost at list prices. A figure always has its date, and a model without a price has no cost: nothing is guessed.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use tamis_logs::event::Millis;
use tamis_logs::usage::Tokens;

/// The prices that are known without any configuration.
const LISTED: &str = include_str!("prices.txt");

/// Prices by model, the earliest first.
pub struct ModelPrices(BTreeMap<String, Vec<Price>>);

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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestCost {
    pub usd: f64,
    /// Whether any of them has a price.
    pub is_priced: bool,
    /// The dates of the prices.
    pub dates: BTreeSet<String>,
    /// Tokens of the models that have no price.
    pub unpriced: BTreeMap<String, u64>,
}

/// What tokens are paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceKind {
    Input,
    CachedInput,
    CacheWrite,
    Output,
}

impl ModelPrices {
    /// The known prices, and those of the user, which count instead for their models.
    pub fn with(own: &[String]) -> Result<ModelPrices, String> {
        let mut prices = ModelPrices(BTreeMap::new());
        for line in LISTED.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            prices.add(line)?;
        }
        for line in own {
            let model = line.split_whitespace().next().unwrap_or_default();
            prices.0.remove(&model_base_name(model));
        }
        own.iter().try_for_each(|line| prices.add(line))?;
        for known in prices.0.values_mut() {
            known.sort_by_key(|price| price.from);
        }
        Ok(prices)
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        let (model, price) = parse(line).ok_or_else(|| format!("invalid price `{line}`"))?;
        self.0.entry(model_base_name(model)).or_default().push(price);
        Ok(())
    }

    fn of(&self, model: &str, at: Option<Millis>) -> Option<&Price> {
        let known = self.0.get(&model_base_name(model))?;
        let time = at.and_then(|at| Timestamp::from_millisecond(at).ok());
        let day = time.map_or(Date::MAX, |time| time.to_zoned(TimeZone::UTC).date());
        known.iter().rev().find(|price| price.from <= day).or(known.first())
    }

    /// Adds a request to a cost.
    pub fn charge(&self, cost: &mut RequestCost, model: &str, at: Option<Millis>, tokens: Tokens) {
        let charged = self.of(model, at).and_then(|price| Some((price.from, price.charge(tokens)?)));
        match charged {
            Some((date, usd)) => {
                cost.usd += usd;
                cost.is_priced = true;
                cost.dates.insert(date.to_string());
            }
            None => *cost.unpriced.entry(model.to_owned()).or_default() += tokens.total(),
        }
    }

    /// USD per million tokens of this kind in a request with a prompt of this size, and the date of the price. A cache write
    /// without a price of its own is input.
    pub fn rate(
        &self,
        model: &str,
        at: Option<Millis>,
        prompt: u64,
        kind: PriceKind,
    ) -> Option<(String, f64)> {
        let price = self.of(model, at)?;
        let rates = price.rates_of(prompt);
        let rate = match kind {
            PriceKind::Input => rates.input,
            PriceKind::CachedInput => rates.cached_input,
            PriceKind::CacheWrite => rates.cache_write.or(rates.input),
            PriceKind::Output => rates.output,
        };
        Some((price.from.to_string(), rate?))
    }
}

impl Price {
    fn rates_of(&self, prompt: u64) -> Rates {
        match self.long {
            Some((limit, rates)) if prompt > limit => rates,
            _ => self.rates,
        }
    }

    fn charge(&self, tokens: Tokens) -> Option<f64> {
        let rates = self.rates_of(tokens.read());
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
pub fn model_base_name(model: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_price_is_valid_and_dated() {
        let prices = ModelPrices::with(&[]).unwrap();
        assert!(prices.0.len() > 30);
        for known in prices.0.values() {
            assert!(known.windows(2).all(|pair| pair[0].from < pair[1].from), "{known:?}");
            assert!(known.iter().all(|price| price.rates.input.is_some() && price.rates.output.is_some()));
        }
    }

    #[test]
    fn a_rate_is_that_of_its_day_its_prompt_and_its_kind() {
        let prices = ModelPrices::with(&["mine 2026-11-02 2 0.2 - 8 1000 4 0.4 - 16".to_owned()]).unwrap();
        let day = |day: &str| Some(format!("{day}T12:00:00Z").parse::<Timestamp>().unwrap().as_millisecond());
        for (model, at, prompt, kind, expected) in [
            ("claude-sonnet-4-5-20250929", "2026-11-10", 0, PriceKind::Input, Some(("2026-10-09", 3.0))),
            ("claude-sonnet-4-5", "2026-11-10", 0, PriceKind::CachedInput, Some(("2026-10-09", 0.3))),
            ("claude-sonnet-4-5", "2026-11-10", 0, PriceKind::CacheWrite, Some(("2026-10-09", 3.75))),
            ("claude-sonnet-4-5", "2026-11-10", 0, PriceKind::Output, Some(("2026-10-09", 15.0))),
            ("gpt-5.6-luna", "2026-07-20", 0, PriceKind::Input, Some(("2026-07-09", 1.0))),
            ("gpt-5.6-luna", "2026-08-20", 300_000, PriceKind::Input, Some(("2026-07-30", 0.4))),
            ("mine", "2026-11-10", 1_001, PriceKind::CachedInput, Some(("2026-11-02", 0.4))),
            // A write without a price of its own is input.
            ("mine", "2026-11-10", 1_000, PriceKind::CacheWrite, Some(("2026-11-02", 2.0))),
            ("unknown", "2026-11-10", 0, PriceKind::Input, None),
        ] {
            let expected = expected.map(|(date, rate)| (date.to_owned(), rate));
            assert_eq!(prices.rate(model, day(at), prompt, kind), expected, "{model} {at} {kind:?}");
        }
    }
}
