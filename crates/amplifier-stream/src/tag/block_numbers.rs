//! The numbers of blocks after text was split.

use std::collections::{BTreeMap, BTreeSet};

/// Numbers in the order of the decoder's blocks, also if these begin in another order or again.
#[derive(Debug, Clone, Default)]
pub(super) struct BlockNumbers {
    /// The numbers of the parts of each block of the decoder.
    of: BTreeMap<u64, Vec<u64>>,
    taken: BTreeSet<u64>,
}

impl BlockNumbers {
    /// A number for the next part of a block.
    pub(super) fn next(&mut self, block: u64) -> u64 {
        let before = self.of.range(..=block).next_back();
        let wanted = match before.and_then(|(before, numbers)| Some((before, numbers.last()?))) {
            Some((before, last)) => last.saturating_add((block - before).max(1)),
            None => block,
        };
        let number = match self.taken.last() {
            // A block that is split after the next one began has no room for its parts.
            Some(last) if self.taken.contains(&wanted) => last.saturating_add(1),
            _ => wanted,
        };
        self.of.entry(block).or_default().push(number);
        self.taken.insert(number);
        number
    }

    /// Frees the numbers of a block that was dropped.
    pub(super) fn free(&mut self, block: u64) {
        for number in self.of.remove(&block).unwrap_or_default() {
            self.taken.remove(&number);
        }
    }
}
