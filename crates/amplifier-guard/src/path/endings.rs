//! How many files have each ending, within a sum of bytes.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::kept::ITEM_BYTES;

/// The counts of the endings that come first by name; which ones these are does not depend on when they
/// were found.
pub(super) struct Endings {
    pub(super) counts: BTreeMap<OsString, u64>,
    /// Files with another ending.
    pub(super) others: u64,
    /// From here on endings are others.
    end: Option<OsString>,
    bytes: usize,
    most_bytes: usize,
}

impl Endings {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self {
            counts: BTreeMap::new(),
            others: 0,
            end: None,
            bytes: 0,
            most_bytes,
        }
    }

    pub(super) fn add(&mut self, ending: OsString, count: u64) {
        if self.end.as_ref().is_some_and(|end| ending >= *end) {
            self.others += count;
        } else if let Some(counted) = self.counts.get_mut(&ending) {
            *counted += count;
        } else {
            self.bytes += ITEM_BYTES + ending.len();
            self.counts.insert(ending, count);
            while self.bytes > self.most_bytes && self.drop_last() {}
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.others += other.others;
        if let Some(end) = other.end {
            while self
                .counts
                .last_key_value()
                .is_some_and(|(last, _)| *last >= end)
            {
                self.drop_last();
            }
            self.end = Some(self.end.take().map_or(end.clone(), |own| own.min(end)));
        }
        for (ending, count) in other.counts {
            self.add(ending, count);
        }
    }

    fn drop_last(&mut self) -> bool {
        let Some((ending, count)) = self.counts.pop_last() else {
            return false;
        };
        self.bytes -= ITEM_BYTES + ending.len();
        self.others += count;
        self.end = Some(ending);
        true
    }
}
