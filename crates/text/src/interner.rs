//! A string interner: gives each distinct word a small number, so that hot paths compare integers.

/// Numbers words in the order in which they are first seen.
///
/// A hash table with open addressing over one arena of text. The same words give the same numbers on every machine.
pub struct Interner {
    /// A word's number, and part of its hash to avoid most string comparisons.
    slots: Vec<(u32, u32)>,
    arena: String,
    ends: Vec<u32>,
}

const EMPTY: (u32, u32) = (u32::MAX, 0);

impl Default for Interner {
    fn default() -> Self {
        Interner { slots: vec![EMPTY; 1024], arena: String::new(), ends: Vec::new() }
    }
}

impl Interner {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The word of that number.
    pub fn word(&self, id: u32) -> &str {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] as usize };
        &self.arena[start..self.ends[id] as usize]
    }

    /// The number of `word`, if it has been seen.
    pub fn find(&self, word: &str) -> Option<u32> {
        let found = self.slots[self.slot(word, hash(word.as_bytes()))];
        (found != EMPTY).then_some(found.0)
    }

    /// The number of `word`, new or old.
    pub fn intern(&mut self, word: &str) -> u32 {
        let hash = hash(word.as_bytes());
        let slot = self.slot(word, hash);
        if self.slots[slot] != EMPTY {
            return self.slots[slot].0;
        }
        let id = self.ends.len() as u32;
        self.slots[slot] = (id, tag(hash));
        self.arena.push_str(word);
        self.ends.push(self.arena.len() as u32);
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        id
    }

    fn slot(&self, word: &str, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let (id, known) = self.slots[slot];
            if self.slots[slot] == EMPTY || (known == tag(hash) && self.word(id) == word) {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        self.slots = vec![EMPTY; self.slots.len() * 2];
        for id in 0..self.ends.len() as u32 {
            let hash = hash(self.word(id).as_bytes());
            let slot = self.slot(self.word(id), hash);
            self.slots[slot] = (id, tag(hash));
        }
    }
}

fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// A fast hash (multiply and fold, eight bytes at a time). The same on every machine, so it may be stored.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut state = 0x9E37_79B9_7F4A_7C15u64 ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let product = u128::from(state ^ u64::from_le_bytes(word)) * 0xE703_7ED1_A0B4_28DB;
        state = (product as u64) ^ ((product >> 64) as u64);
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_numbered_in_order_of_first_sight() {
        let mut vocabulary = Interner::default();
        let ids: Vec<u32> =
            ["a", "b", "a", "", "é", "b"].into_iter().map(|word| vocabulary.intern(word)).collect();
        assert_eq!(ids, [0, 1, 0, 2, 3, 1]);
        for number in 0..5000u32 {
            assert_eq!(vocabulary.intern(&format!("w{number}")), number + 4);
        }
        assert_eq!(vocabulary.find("w4999"), Some(5003));
        assert_eq!(vocabulary.find("w5000"), None);
        assert_eq!(vocabulary.word(3), "é");
        assert_eq!(vocabulary.len(), 5004);
    }
}
