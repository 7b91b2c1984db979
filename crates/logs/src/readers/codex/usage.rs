//! Which reports of tokens count.
//!
//! - `token_usage_record` (since 2026) reports one request's tokens and names the request. It counts, by that name.
//! - `token_count` reports a running total and the last request's tokens, and is written again whenever the rate limits
//!   change. It does not count when its total is the one before it, or the one before it and the requests that were
//!   recorded since. Else the last request's tokens count, and not the difference of the totals: where one is not the
//!   other, either two programs write to one log, or the totals began again (when a session was resumed by an old version
//!   and when the context window overflowed), and the difference is of two different sums. Only where the last
//!   request's tokens are missing or zero, the difference is taken.
//! - In the copied beginning of a fork nothing counts; its totals are the ones that the fork's own are compared with. A
//!   fork that refers to its parent's log instead has no such totals. There the first total is the parent's when the
//!   model has not answered yet: it is the one that is written for the rate limits before the answer.
//! - A running total that counts is named by its thread, its time and itself, so that a rollout and its copies (archived,
//!   backed up, compressed) count once.
//! - `turn.completed` of `codex exec --json` reports the running total of the thread.

use std::borrow::Cow;

use super::CodexReader;
use super::fields::{Fields, Key};
use super::state::hash_of;
use super::{EventBody, Out};
use crate::event::Millis;
use crate::usage::{Claim, ExclusionReason, Tokens, UsageReport};

/// Tokens as Codex and its forerunners write them. `None` where nothing is reported.
fn tokens(fields: &Fields<'_>) -> Option<Tokens> {
    let keys = [Key::InputTokens, Key::OutputTokens, Key::PromptTokens, Key::CompletionTokens];
    let old = [Key::Prompt, Key::Completion];
    fields.first(&keys).or(fields.first(&old))?;
    let number = |keys: &[Key]| keys.iter().find_map(|key| fields.number(*key)).unwrap_or(0);
    let read = number(&[Key::InputTokens, Key::PromptTokens, Key::Prompt]);
    // Both are parts of the input, and neither is larger than it.
    let cache_read = number(&[Key::CachedInputTokens]).min(read);
    let cache_creation = number(&[Key::CacheWriteInputTokens]).min(read - cache_read);
    let output = number(&[Key::OutputTokens, Key::CompletionTokens, Key::Completion]);
    let reasoning = number(&[Key::ReasoningOutputTokens]).min(output);
    Some(Tokens { input: read - cache_read - cache_creation, cache_read, cache_creation, output, reasoning })
}

impl CodexReader {
    /// `token_count`.
    pub(super) fn token_count<'a>(&mut self, payload: &Fields<'a>, out: &mut Out<'a, '_>) {
        let info = payload.object(Key::Info).unwrap_or_else(|| payload.clone());
        let part = |key| info.object(key).as_ref().and_then(tokens);
        let (total, last) = (part(Key::TotalTokenUsage), part(Key::LastTokenUsage));
        let (tokens, claim) = match total {
            Some(total) => {
                let (tokens, claim) = self.running_total(total, last);
                (tokens, self.named(claim, total, out.at))
            }
            None => once(last.or_else(|| tokens(&info)).unwrap_or_default()),
        };
        self.report(tokens, self.unless_inherited(claim), info.word(Key::Model), out);
    }

    fn running_total(&mut self, total: Tokens, last: Option<Tokens>) -> (Tokens, Claim) {
        let before = self.state.total.replace(total);
        let recorded = self.state.recorded.take();
        let reported = last.filter(|last| !last.is_zero());
        let repeats = before == Some(total)
            || recorded.is_some_and(|recorded| {
                last == Some(recorded) || total == before.unwrap_or_default().plus(recorded)
            });
        if repeats {
            return (last.unwrap_or_default(), Claim::Excluded(ExclusionReason::Repeated));
        }
        if before.is_none() && self.state.foreign_total && reported != Some(total) {
            return match reported {
                Some(last) if self.state.answered => once(last),
                _ => (last.unwrap_or_default(), Claim::Excluded(ExclusionReason::Inherited)),
            };
        }
        once(reported.unwrap_or_else(|| since(before, total)))
    }

    /// `token_usage_record`.
    pub(super) fn usage_record<'a>(&mut self, payload: &Fields<'a>, out: &mut Out<'a, '_>) {
        let used = payload.object(Key::Usage).as_ref().and_then(tokens).unwrap_or_default();
        let thread = payload.word(Key::ThreadId).unwrap_or_default();
        let claim = match payload.word(Key::ResponseId) {
            _ if used.is_zero() => Claim::Excluded(ExclusionReason::Empty),
            // A model of the user's own may number its responses from 1 in every session.
            Some(response) => Claim::Request(hash_of(&format!("{thread} {response}"))),
            None => Claim::Once,
        };
        if !thread.is_empty() && self.state.id.as_deref().is_some_and(|id| *id != *thread) {
            return self.report(used, Claim::Excluded(ExclusionReason::Inherited), None, out);
        }
        let claim = self.unless_inherited(claim);
        if claim != Claim::Excluded(ExclusionReason::Inherited) {
            self.state.recorded = Some(self.state.recorded.unwrap_or_default().plus(used));
        }
        self.report(used, claim, None, out);
    }

    /// `turn.completed` of a stream. An older one has no usage.
    pub(super) fn turn_usage<'a>(&mut self, payload: &Fields<'a>, out: &mut Out<'a, '_>) {
        let Some(total) = payload.object(Key::Usage).as_ref().and_then(tokens) else { return };
        let before = self.state.total.replace(total);
        let (tokens, claim) = match before {
            Some(before) if before == total && !total.is_zero() => {
                (total, Claim::Excluded(ExclusionReason::Repeated))
            }
            before => once(since(before, total)),
        };
        self.report(tokens, self.unless_inherited(claim), None, out);
    }

    /// A claim by which the report is known again in a copy of its log.
    fn named(&self, claim: Claim, total: Tokens, at: Option<Millis>) -> Claim {
        match (claim, &self.state.id, at) {
            (Claim::Once, Some(thread), Some(at)) => {
                let Tokens { input, cache_read, cache_creation, output, reasoning } = total;
                let total = format!("{input} {cache_read} {cache_creation} {output} {reasoning}");
                Claim::Request(hash_of(&format!("{thread} {at} {total}")))
            }
            (claim, _, _) => claim,
        }
    }

    fn unless_inherited(&self, claim: Claim) -> Claim {
        if self.state.prefix.is_some() { Claim::Excluded(ExclusionReason::Inherited) } else { claim }
    }

    fn report<'a>(&self, tokens: Tokens, claim: Claim, model: Option<Cow<'a, str>>, out: &mut Out<'a, '_>) {
        let model = model.or_else(|| self.state.model.clone().map(Cow::Owned));
        out.give(EventBody::TokenUsage(UsageReport { tokens, model, claim, prompt: None }));
    }
}

fn once(tokens: Tokens) -> (Tokens, Claim) {
    (tokens, if tokens.is_zero() { Claim::Excluded(ExclusionReason::Empty) } else { Claim::Once })
}

/// What was added to a total; all of it, when it began again.
fn since(before: Option<Tokens>, total: Tokens) -> Tokens {
    match before {
        Some(before) if before.max(total) == total => total.minus(before),
        _ => total,
    }
}
