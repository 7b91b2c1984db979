//! Usage accounting for one log: its reports of tokens, each request counted once.
//!
//! Requests that several logs report are settled in `request_owners`.

use std::collections::HashMap;

use tamis_logs::event::Millis;
use tamis_logs::event::bounded;
use tamis_logs::usage::{Claim, ExclusionReason, Tokens, UsageReport};

/// A request and what it used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedRequest {
    /// A hash that identifies the request in every log that reports it; `None` if only this log does.
    pub key: Option<u64>,
    pub at: Option<Millis>,
    /// The turn that first reports it; `None` before the first turn.
    pub turn: Option<u64>,
    /// Index into the account's models.
    pub model: u16,
    pub tokens: Tokens,
}

/// The requests of one log and what they used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageAccount {
    /// Names of models; the first is for requests that name none.
    models: Vec<String>,
    requests: Vec<CountedRequest>,
    by_key: HashMap<u64, usize>,
    /// The turn of the reports that it takes.
    turn: Option<u64>,
}

/// What a report did to the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountEntry {
    /// What it added.
    pub added: Tokens,
    /// What it took back, where an earlier report of the request had more of something.
    pub taken: Tokens,
    pub verdict: ReportVerdict,
}

/// Why a report added what it added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportVerdict {
    /// The first report of its request.
    First,
    /// A later report of a request, which counts in the place of the earlier.
    Replaced,
    /// A later report that is not larger.
    Same,
    /// An earlier session's log counts the request.
    CountedElsewhere,
    Excluded(ExclusionReason),
}

/// More models than this in one log are counted as the last of them.
const MOST_MODELS: usize = 1000;

impl UsageAccount {
    /// The reports that follow are in this turn.
    pub(crate) fn set_turn(&mut self, turn: Option<u64>) {
        self.turn = turn;
    }

    /// What was reported before a turn.
    pub(crate) fn before_turn(mut self, turn: u64) -> UsageAccount {
        let earlier =
            std::mem::take(&mut self.requests).into_iter().filter(|request| request.turn < Some(turn));
        let mut account = UsageAccount { models: self.models, ..UsageAccount::default() };
        earlier.for_each(|request| account.put(request));
        account
    }

    /// Takes a report.
    pub fn take(&mut self, report: &UsageReport<'_>, at: Option<Millis>) -> AccountEntry {
        let entry = |added, taken, verdict| AccountEntry { added, taken, verdict };
        let nothing = Tokens::default();
        let key = match report.claim {
            Claim::Excluded(discount) => return entry(nothing, nothing, ReportVerdict::Excluded(discount)),
            Claim::Once => None,
            Claim::Request(key) => Some(key),
        };
        let known = key.and_then(|key| self.by_key.get(&key)).and_then(|index| self.requests.get_mut(*index));
        if let Some(request) = known {
            let before = request.tokens;
            // A request is reported while it runs, so the report with the most output is the last. Each report is taken as a
            // whole: the parts of two that another model answered make no sense together.
            if report.tokens.output < before.output || report.tokens == before {
                return entry(nothing, nothing, ReportVerdict::Same);
            }
            request.tokens = report.tokens;
            return entry(report.tokens.minus(before), before.minus(report.tokens), ReportVerdict::Replaced);
        }
        let model = self.model(report.model.as_deref().unwrap_or_default());
        self.put(CountedRequest { key, at, turn: self.turn, model, tokens: report.tokens });
        entry(report.tokens, nothing, ReportVerdict::First)
    }

    fn put(&mut self, request: CountedRequest) {
        if let Some(key) = request.key {
            self.by_key.insert(key, self.requests.len());
        }
        self.requests.push(request);
    }

    fn model(&mut self, name: &str) -> u16 {
        let name = bounded(name);
        let known = self.models.iter().position(|model| model == name);
        let index = known.unwrap_or_else(|| {
            if self.models.len() < MOST_MODELS {
                self.models.push(name.to_owned());
            }
            self.models.len() - 1
        });
        index as u16
    }

    pub fn total(&self) -> Tokens {
        self.requests.iter().fold(Tokens::default(), |sum, request| sum.plus(request.tokens))
    }

    pub fn requests(&self) -> &[CountedRequest] {
        &self.requests
    }

    /// The name of a request's model; empty when the log does not say.
    pub fn model_of(&self, request: &CountedRequest) -> &str {
        self.models.get(usize::from(request.model)).map_or("", String::as_str)
    }

    /// Models by name, without the unnamed.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        self.models.iter().map(String::as_str).filter(|model| !model.is_empty())
    }

    /// As bytes for [`UsageAccount::decode`].
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.requests.len() * 24);
        put_number(&mut bytes, self.models.len() as u64);
        for model in &self.models {
            put_number(&mut bytes, model.len() as u64);
            bytes.extend_from_slice(model.as_bytes());
        }
        let mut before = 0;
        for request in &self.requests {
            let has = u64::from(request.key.is_some()) | u64::from(request.at.is_some()) << 1;
            put_number(&mut bytes, has);
            if let Some(key) = request.key {
                bytes.extend_from_slice(&key.to_le_bytes());
            }
            if let Some(at) = request.at {
                put_number(&mut bytes, zigzag(at.wrapping_sub(before)));
                before = at;
            }
            put_number(&mut bytes, request.turn.map_or(0, |turn| turn.saturating_add(1)));
            let Tokens { input, cache_read, cache_creation, output, reasoning } = request.tokens;
            for number in [u64::from(request.model), input, cache_read, cache_creation, output, reasoning] {
                put_number(&mut bytes, number);
            }
        }
        bytes
    }

    /// `None` when the bytes are malformed.
    pub fn decode(bytes: &[u8]) -> Option<UsageAccount> {
        let mut rest = bytes;
        let mut account = UsageAccount::default();
        if rest.is_empty() {
            return Some(account);
        }
        for _ in 0..take_number(&mut rest)? {
            let length = usize::try_from(take_number(&mut rest)?).ok()?;
            let (name, after) = rest.split_at_checked(length)?;
            account.models.push(std::str::from_utf8(name).ok()?.to_owned());
            rest = after;
        }
        let mut before: Millis = 0;
        while !rest.is_empty() {
            let has = take_number(&mut rest)?;
            let mut key = None;
            if has & 1 != 0 {
                let (bytes, after) = rest.split_first_chunk()?;
                key = Some(u64::from_le_bytes(*bytes));
                rest = after;
            }
            let mut at = None;
            if has & 2 != 0 {
                before = before.wrapping_add(unzigzag(take_number(&mut rest)?));
                at = Some(before);
            }
            let mut next = || take_number(&mut rest);
            let turn = next()?.checked_sub(1);
            let model = u16::try_from(next()?).ok()?;
            let tokens = Tokens {
                input: next()?,
                cache_read: next()?,
                cache_creation: next()?,
                output: next()?,
                reasoning: next()?,
            };
            account.put(CountedRequest { key, at, turn, model, tokens });
        }
        Some(account)
    }
}

/// Seven bits a byte, the lowest first.
fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn report(claim: Claim, input: u64, output: u64) -> UsageReport<'static> {
        UsageReport {
            tokens: Tokens { input, output, ..Tokens::default() },
            model: Some("opus".into()),
            claim,
            prompt: None,
        }
    }

    #[test]
    fn a_repeated_request_counts_once_and_at_its_largest() {
        let mut account = UsageAccount::default();
        let reports = [
            report(Claim::Request(7), 10, 1),
            report(Claim::Request(7), 10, 1),
            report(Claim::Request(7), 10, 300),
            report(Claim::Request(7), 10, 2),
            report(Claim::Once, 5, 5),
            report(Claim::Once, 5, 5),
            report(Claim::Excluded(ExclusionReason::Repeated), 99, 99),
        ];
        let verdicts: Vec<_> = reports
            .iter()
            .map(|report| account.take(report, None))
            .map(|entry| (entry.verdict, entry.added.total()))
            .collect();
        assert_eq!(
            verdicts,
            [
                (ReportVerdict::First, 11),
                (ReportVerdict::Same, 0),
                (ReportVerdict::Replaced, 299),
                (ReportVerdict::Same, 0),
                (ReportVerdict::First, 10),
                (ReportVerdict::First, 10),
                (ReportVerdict::Excluded(ExclusionReason::Repeated), 0),
            ]
        );
        assert_eq!(account.total(), Tokens { input: 20, output: 310, ..Tokens::default() });
    }

    proptest! {
        #[test]
        fn an_account_survives_encoding(reports in prop::collection::vec((any::<Option<u64>>(), any::<Option<i64>>(), any::<u64>(), any::<u64>(), "[a-z]{0,3}"), 0..40)) {
            let mut account = UsageAccount::default();
            for (turn, (key, at, input, output, model)) in reports.into_iter().enumerate() {
                account.set_turn((turn as u64).checked_sub(3));
                let claim = key.map_or(Claim::Once, Claim::Request);
                let mut report = report(claim, input, output);
                report.model = Some(model.into());
                account.take(&report, at);
            }
            account.set_turn(None);
            prop_assert_eq!(UsageAccount::decode(&account.encode()), Some(account));
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes: Vec<u8>) {
            let _ = UsageAccount::decode(&bytes);
        }
    }
}
