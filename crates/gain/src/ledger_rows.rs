//! The rows of the ledger, and which of them were found in a log.

use std::collections::{HashMap, HashSet};

use tamis_clients::Client;
use tamis_logs::event::Millis;
use tamis_sieve::{LedgerPrune, LedgerRecovery};

use crate::SAME_CALL_MS;
use crate::report::UnlinkedRows;

/// The tool by which an agent prunes a text that it has already.
const PRUNE_TOOL: &str = "prune_text";

/// Tools of ours in whose place the client's own would have cut the result. Files have other limits.
const LIMITED_TOOLS: &[&str] = &["bash", "grep"];

/// The call of a result.
#[derive(Clone, Copy)]
pub(crate) struct ResultCall<'a> {
    pub(crate) id: &'a str,
    /// Whether it shows what an earlier call began, whose id the hook was given.
    pub(crate) continues_other: bool,
}

pub(crate) struct LedgerRows {
    prunes: Vec<LedgerPrune>,
    recoveries: Vec<LedgerRecovery>,
    /// The prunes of each id, in order of time.
    by_id: HashMap<String, Vec<usize>>,
    by_call: HashMap<String, usize>,
    /// The call in whose result each row was found.
    linked: HashMap<usize, String>,
    not_shown: HashSet<usize>,
    linked_recoveries: HashSet<usize>,
}

impl LedgerRows {
    pub(crate) fn new(prunes: Vec<LedgerPrune>, recoveries: Vec<LedgerRecovery>) -> LedgerRows {
        let mut by_id: HashMap<String, Vec<usize>> = HashMap::new();
        let mut by_call = HashMap::new();
        for (index, prune) in prunes.iter().enumerate() {
            by_id.entry(prune.prune_id.clone()).or_default().push(index);
            by_call.extend(prune.call_id.clone().map(|id| (id, index)));
        }
        LedgerRows {
            prunes,
            recoveries,
            by_id,
            by_call,
            linked: HashMap::new(),
            not_shown: HashSet::new(),
            linked_recoveries: HashSet::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.prunes.is_empty() && self.recoveries.is_empty()
    }

    /// Whether a row is from this time.
    pub(crate) fn any_within(&self, first: Millis, last: Millis) -> bool {
        let mut times =
            self.prunes.iter().map(|row| row.at_ms).chain(self.recoveries.iter().map(|row| row.at_ms));
        times.any(|at| (first..=last).contains(&at))
    }

    /// The prune whose marker is in a result of this time: the row of its call, or the one that is next to it. A row is that of one
    /// call only; whether another log has this call is returned too.
    pub(crate) fn link(
        &mut self,
        prune_id: &str,
        call: ResultCall<'_>,
        at: Option<Millis>,
    ) -> Option<(LedgerPrune, bool)> {
        let is_of_call = |index: &&usize| {
            let of_row = self.prunes[**index].call_id.as_deref();
            let is_free = self.linked.get(*index).is_none_or(|linked| linked == call.id);
            is_free && (call.continues_other || of_row.is_none_or(|id| id == call.id))
        };
        let rows = self.by_id.get(prune_id)?;
        let distance = |index: &usize| at.map_or(0, |at| (self.prunes[*index].at_ms - at).abs());
        let row = *rows.iter().filter(is_of_call).min_by_key(|index| distance(index))?;
        if distance(&row) > SAME_CALL_MS {
            return None;
        }
        let is_copy = self.linked.insert(row, call.id.to_owned()).is_some();
        Some((self.prunes[row].clone(), is_copy))
    }

    /// Takes note that the result of a call shows nothing of the prune that was made for it.
    pub(crate) fn note_unpruned(&mut self, call_id: &str) {
        self.not_shown.extend(self.by_call.get(call_id));
    }

    /// The prune of an id, or of the only id that begins so.
    pub(crate) fn prune(&self, prune_id: &str) -> Option<&LedgerPrune> {
        if let Some(rows) = self.by_id.get(prune_id) {
            return self.prunes.get(*rows.last()?);
        }
        let mut begun = self.by_id.iter().filter(|(id, _)| !prune_id.is_empty() && id.starts_with(prune_id));
        let (_, rows) = begun.next()?;
        if begun.next().is_some() {
            return None;
        }
        self.prunes.get(*rows.last()?)
    }

    /// Takes note that a recovery of this prune was found in a log, and returns its time in the ledger.
    pub(crate) fn link_recovery(&mut self, prune_id: &str, at: Option<Millis>) -> Option<Millis> {
        // It may be any recovery.
        if prune_id.is_empty() {
            return None;
        }
        let is_near = |row: &LedgerRecovery| at.is_none_or(|at| (row.at_ms - at).abs() <= SAME_CALL_MS);
        let rows = self.recoveries.iter().enumerate();
        let mut found = rows.filter(|(index, row)| {
            row.prune_id.starts_with(prune_id) && is_near(row) && !self.linked_recoveries.contains(index)
        });
        let (index, row) = found.next()?;
        self.linked_recoveries.insert(index);
        Some(row.at_ms)
    }

    /// The rows since then that are in no log.
    pub(crate) fn unlinked(&self, since: Millis) -> UnlinkedRows {
        let mut unlinked = UnlinkedRows::default();
        for (index, row) in self.prunes.iter().enumerate() {
            if row.at_ms >= since && !self.linked.contains_key(&index) {
                unlinked.prunes += 1;
                unlinked.not_shown += u64::from(self.not_shown.contains(&index));
                unlinked.size_saved += row.tokens_before.saturating_sub(row.tokens_after);
            }
        }
        for (index, row) in self.recoveries.iter().enumerate() {
            if row.at_ms >= since && !self.linked_recoveries.contains(&index) {
                unlinked.recoveries += 1;
                unlinked.size_recovered += row.tokens;
            }
        }
        unlinked
    }
}

/// The tokens that a client would have sent without tamis, that it sent, and of these the markers.
pub(crate) fn sizes(row: &LedgerPrune, client: Client) -> (u64, u64, u64) {
    let before = match (row.door.as_str(), row.tool.as_str()) {
        (_, PRUNE_TOOL) => 0,
        // A hook is given what the client has cut already, and a gateway what the client would have been given.
        ("hook" | "gateway", _) => row.tokens_before,
        (_, tool) if LIMITED_TOOLS.contains(&tool) => row.tokens_before.min(client.output_chars() as u64 / 4),
        _ => row.tokens_before,
    };
    (before, row.tokens_after, row.marker_tokens.min(row.tokens_after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_an_id_names_a_prune_only_if_no_other_begins_so() {
        let prune = |prune_id: &str, at_ms| LedgerPrune {
            prune_id: prune_id.to_owned(),
            at_ms,
            ..LedgerPrune::default()
        };
        let prunes = vec![prune("prn_ab1", 1), prune("prn_ab2", 2), prune("prn_cd1", 3), prune("prn_cd1", 4)];
        let rows = LedgerRows::new(prunes, Vec::new());
        for (id, expected) in [
            ("prn_ab1", Some(prune("prn_ab1", 1))),
            ("prn_ab2", Some(prune("prn_ab2", 2))),
            ("prn_ab", None),
            ("prn_", None),
            ("", None),
            ("prn_x", None),
            // Two prunes of one text have the same id.
            ("prn_cd1", Some(prune("prn_cd1", 4))),
            ("prn_cd", Some(prune("prn_cd1", 4))),
        ] {
            assert_eq!(rows.prune(id), expected.as_ref(), "{id}");
        }
    }

    #[test]
    fn a_recovery_without_an_id_is_none_of_the_ledgers() {
        let recovery = |prune_id: &str, tokens| LedgerRecovery {
            prune_id: prune_id.to_owned(),
            at_ms: 1_000,
            tokens,
            ..LedgerRecovery::default()
        };
        let unlinked = |recoveries, size_recovered| UnlinkedRows {
            recoveries,
            size_recovered,
            ..UnlinkedRows::default()
        };
        for (id, at, expected) in [
            ("prn_ab1", Some(1_000), (Some(1_000), unlinked(1, 7))),
            ("prn_a", None, (Some(1_000), unlinked(1, 7))),
            ("", Some(1_000), (None, unlinked(2, 12))),
            ("", None, (None, unlinked(2, 12))),
        ] {
            let mut rows = LedgerRows::new(Vec::new(), vec![recovery("prn_ab1", 5), recovery("prn_cd1", 7)]);
            assert_eq!((rows.link_recovery(id, at), rows.unlinked(0)), expected, "{id} {at:?}");
        }
    }

    #[test]
    fn only_what_the_clients_own_shell_or_search_would_have_cut_is_not_counted() {
        // Claude Code sends 7,500 tokens. Tool, door, sizes before, after and of the markers; expected sizes.
        for (tool, door, (before, after, markers), expected) in [
            ("bash", "stdio", (20_000, 2_000, 50), (7_500, 2_000, 50)),
            // A client that would have sent 7,500 sent 9,000: a loss.
            ("bash", "stdio", (20_000, 9_000, 50), (7_500, 9_000, 50)),
            ("bash", "mcp-http", (20_000, 9_000, 50), (7_500, 9_000, 50)),
            ("grep", "stdio", (20_000, 9_000, 50), (7_500, 9_000, 50)),
            ("bash", "stdio", (5_000, 1_000, 50), (5_000, 1_000, 50)),
            ("read", "stdio", (20_000, 9_000, 50), (20_000, 9_000, 50)),
            ("bash", "gateway", (20_000, 9_000, 50), (20_000, 9_000, 50)),
            ("search", "gateway", (20_000, 9_000, 50), (20_000, 9_000, 50)),
            ("bash", "hook", (20_000, 9_000, 50), (20_000, 9_000, 50)),
            ("prune_text", "stdio", (20_000, 9_000, 50), (0, 9_000, 50)),
        ] {
            let row = LedgerPrune {
                tool: tool.to_owned(),
                door: door.to_owned(),
                tokens_before: before,
                tokens_after: after,
                marker_tokens: markers,
                ..LedgerPrune::default()
            };
            assert_eq!(sizes(&row, Client::ClaudeCode), expected, "{tool} {door} {before} {after}");
        }
    }
}
