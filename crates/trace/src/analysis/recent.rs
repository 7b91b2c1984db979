//! A memory that forgets what it has not seen for longest, so that a session without end fits.

use std::collections::HashMap;

/// Keys that are remembered at most.
const MOST: usize = 50_000;

#[derive(Debug)]
pub(crate) struct Recent<V> {
    entries: HashMap<u64, (u64, V)>,
    clock: u64,
}

impl<V> Default for Recent<V> {
    fn default() -> Recent<V> {
        Recent { entries: HashMap::new(), clock: 0 }
    }
}

impl<V: Default> Recent<V> {
    pub(crate) fn at(&mut self, key: u64) -> &mut V {
        if self.entries.len() >= MOST && !self.entries.contains_key(&key) {
            self.forget_half();
        }
        self.clock += 1;
        let entry = self.entries.entry(key).or_default();
        entry.0 = self.clock;
        &mut entry.1
    }

    pub(crate) fn known(&mut self, key: u64) -> Option<&mut V> {
        self.entries.get_mut(&key).map(|(_, value)| value)
    }

    /// All that is remembered, the longest unseen first.
    pub(crate) fn into_values(self) -> impl Iterator<Item = V> {
        let mut entries: Vec<(u64, V)> = self.entries.into_values().collect();
        entries.sort_by_key(|(seen, _)| *seen);
        entries.into_iter().map(|(_, value)| value)
    }

    fn forget_half(&mut self) {
        let mut seen: Vec<u64> = self.entries.values().map(|(seen, _)| *seen).collect();
        let middle = seen.len() / 2;
        let (_, cutoff, _) = seen.select_nth_unstable(middle);
        let cutoff = *cutoff;
        self.entries.retain(|_, (seen, _)| *seen > cutoff);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unseen_are_forgotten_first() {
        let mut recent = Recent::<u64>::default();
        for key in 0..MOST as u64 * 3 {
            *recent.at(key) += key;
            recent.at(7);
        }
        assert!(recent.entries.len() <= MOST);
        assert_eq!(recent.known(7), Some(&mut 7));
        assert_eq!(recent.known(MOST as u64 * 3 - 1), Some(&mut (MOST as u64 * 3 - 1)));
        assert_eq!(recent.known(8), None);
    }
}
