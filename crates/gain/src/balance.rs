//! The arithmetic: each effect times the requests that carried it, at the price of each of these requests.

use std::collections::HashSet;

use jiff::Timestamp;
use tamis_logs::event::Millis;
use tamis_logs::usage::Tokens;

use crate::facts::{ContextFacts, Effect, EffectSize, RequestFacts};
use crate::losses::{self, LossGroups};
use crate::prices::{ModelPrices, PriceKind};
use crate::report::{GainPart, GainReport, GainSums};
use crate::{GainOptions, WEEK_MS};

/// How to read the report; part of it.
const RULES: &[&str] = &[
    "Tokens are sizes times requests: a cut, a marker or a recovery counts once for each request that carried it, until the \
     context was compacted or the session ended, as the client's log has them. Sizes are estimates, bytes divided by four.",
    "In its first request a text costs the price of input, or of a cache write where the request reports one; in later ones that \
     of cached input, if the request read more from the cache than the prompt held before the text, else again that of input.",
    "A recovery, and a call that reads again what was cut, costs its call and its result. If its request made no other call, \
     that request would not have been made: all that it read and wrote is a cost, and nothing is saved in it. A call counts as reading \
     again if it is for the same file, or the same command, with no edit in between, and returns a line that was cut, or the same \
     cut text once more; what is cut of its own result saves nothing.",
    "What a client would have cut by itself is not counted. A text that an agent sent to `prune_text` was in its context before, so \
     it saves nothing and its answer is a cost.",
    "This counts too much: what a user rewound, and results that a client cleared from the context, count as carried until the \
     context was compacted, cuts as well as costs.",
    "Rows of the ledger that are in no log are counted apart, once each: how many requests carried them is not known.",
];

/// By what the sums are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GainGrouping {
    #[default]
    Agent,
    Project,
    Tool,
    Day,
    Model,
}

impl GainGrouping {
    pub const ALL: &'static [GainGrouping] = &[
        GainGrouping::Agent,
        GainGrouping::Project,
        GainGrouping::Tool,
        GainGrouping::Day,
        GainGrouping::Model,
    ];

    /// Its name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            GainGrouping::Agent => "agent",
            GainGrouping::Project => "project",
            GainGrouping::Tool => "tool",
            GainGrouping::Day => "day",
            GainGrouping::Model => "model",
        }
    }

    /// The group of an effect, as far as it is that of one request. Empty where the log does not say.
    fn group(self, context: &ContextFacts, effect: &Effect, request: Option<&RequestFacts>) -> String {
        match self {
            GainGrouping::Agent => context.client.name().to_owned(),
            GainGrouping::Project => context.project.clone().unwrap_or_default(),
            GainGrouping::Tool => effect.tool.clone(),
            GainGrouping::Day => day(request.and_then(|request| request.at).unwrap_or(effect.at)),
            GainGrouping::Model => request.map(|request| request.model.clone()).unwrap_or_default(),
        }
    }
}

/// What these contexts saved and cost.
pub fn balance(contexts: &[ContextFacts], prices: &ModelPrices, options: &GainOptions) -> GainReport {
    let mut report = GainReport {
        since: options.since,
        by: options.grouping.name(),
        rules: RULES,
        ..GainReport::default()
    };
    let mut groups = LossGroups::default();
    for context in contexts {
        let extra = extra_requests(context);
        for effect in &context.effects {
            let first = context.requests.get(effect.first_carrier);
            let is_lately = effect.at >= options.now - WEEK_MS;
            let is_reported = effect.at >= options.since;
            if is_reported && !effect.is_copy {
                let group = options.grouping.group(context, effect, first);
                report.total.count(effect.size);
                report.rows.entry(group).or_default().count(effect.size);
            }
            if is_lately && !effect.is_copy {
                groups.add(context.client, effect, &options.skipped_tools, |sums| sums.count(effect.size));
            }
            for charge in charges(context, effect, &extra) {
                let request = &context.requests[charge.request];
                if is_reported {
                    let group = options.grouping.group(context, effect, Some(request));
                    let net = report.total.add(prices, request, &charge);
                    report.rows.entry(group).or_default().add(prices, request, &charge);
                    let day = day(request.at.unwrap_or(effect.at));
                    *report.net_tokens_by_day.entry(day).or_default() += net;
                }
                if is_lately {
                    groups.add(context.client, effect, &options.skipped_tools, |sums| {
                        sums.add(prices, request, &charge);
                    });
                }
            }
        }
    }
    report.losses = losses::losses(&groups, &options.skipped_tools);
    report
}

/// The part of the sums that a charge belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Cut,
    Markers,
    Recovered,
    Reread,
}

/// Tokens of one kind in one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Charge {
    part: Part,
    tokens: u64,
    request: usize,
    kind: PriceKind,
}

/// Requests that would not have been made: all they did was to recover, or to read again, what was cut.
fn extra_requests(context: &ContextFacts) -> HashSet<usize> {
    let of_effect = |effect: &Effect| match effect.size {
        EffectSize::Recovery { is_only_call: true, .. } | EffectSize::Reread { is_only_call: true, .. } => {
            effect.caller
        }
        _ => None,
    };
    context.effects.iter().filter_map(of_effect).collect()
}

/// What an effect added to, or took from, each request. An extra request is a cost as a whole, whatever it carried.
fn charges(context: &ContextFacts, effect: &Effect, extra: &HashSet<usize>) -> Vec<Charge> {
    let carriers = (effect.first_carrier..context.requests.len()).filter(|request| !extra.contains(request));
    let carriers = carriers.map(|request| (request, kind_in(context, effect, request)));
    let mut charges = Vec::new();
    let (part, size) = match effect.size {
        EffectSize::Cut { before, after, markers } => {
            // What was kept is in both; more markers than cuts make a text grow.
            let kept = after.saturating_sub(markers);
            for (request, kind) in carriers {
                charges.push(Charge { part: Part::Cut, tokens: before.saturating_sub(kept), request, kind });
                let tokens = markers + kept.saturating_sub(before);
                charges.push(Charge { part: Part::Markers, tokens, request, kind });
            }
            return charges;
        }
        EffectSize::Recovery { size, .. } => (Part::Recovered, size),
        EffectSize::Reread { size, .. } => (Part::Reread, size),
    };
    charges.extend(carriers.map(|(request, kind)| Charge { part, tokens: size, request, kind }));
    if let Some(request) = effect.caller.filter(|caller| extra.contains(caller)) {
        let Tokens { input, cache_read, cache_creation, output, .. } = context.requests[request].tokens;
        for (tokens, kind) in [
            (input, PriceKind::Input),
            (cache_read, PriceKind::CachedInput),
            (cache_creation, PriceKind::CacheWrite),
            (output, PriceKind::Output),
        ] {
            charges.push(Charge { part, tokens, request, kind });
        }
    }
    charges
}

/// At which price a request carried a text.
fn kind_in(context: &ContextFacts, effect: &Effect, request: usize) -> PriceKind {
    let tokens = context.requests[request].tokens;
    let before =
        effect.first_carrier.checked_sub(1).map_or(0, |before| context.requests[before].tokens.read());
    if request > effect.first_carrier && tokens.cache_read > before {
        PriceKind::CachedInput
    } else if tokens.cache_creation > 0 {
        PriceKind::CacheWrite
    } else {
        PriceKind::Input
    }
}

impl GainSums {
    fn count(&mut self, size: EffectSize) {
        match size {
            EffectSize::Cut { before, after, markers } => {
                self.results_cut += 1;
                self.size_cut += before.saturating_sub(after.saturating_sub(markers));
            }
            EffectSize::Recovery { .. } => self.recoveries += 1,
            EffectSize::Reread { .. } => self.rereads += 1,
        }
    }

    /// Adds a charge, and returns what it adds to the net tokens.
    fn add(&mut self, prices: &ModelPrices, request: &RequestFacts, charge: &Charge) -> i64 {
        let (part, sign): (&mut GainPart, i64) = match charge.part {
            Part::Cut => (&mut self.cut, 1),
            Part::Markers => (&mut self.markers, -1),
            Part::Recovered => (&mut self.recovered, -1),
            Part::Reread => (&mut self.reread, -1),
        };
        let net = sign * i64::try_from(charge.tokens).unwrap_or(i64::MAX);
        part.tokens += charge.tokens;
        part.cached_tokens += if charge.kind == PriceKind::CachedInput { charge.tokens } else { 0 };
        self.net_tokens += net;
        if charge.tokens == 0 {
            return 0;
        }
        match prices.rate(&request.model, request.at, request.tokens.read(), charge.kind) {
            Some((date, rate)) => {
                let usd = charge.tokens as f64 * rate / 1e6;
                part.usd += usd;
                *self.net_usd.get_or_insert(0.0) += sign as f64 * usd;
                self.prices_as_of.insert(date);
            }
            None => *self.unpriced_tokens.entry(request.model.clone()).or_default() += charge.tokens,
        }
        net
    }
}

/// The day of a time, in UTC.
fn day(at: Millis) -> String {
    Timestamp::from_millisecond(at).map(|time| time.strftime("%Y-%m-%d").to_string()).unwrap_or_default()
}
