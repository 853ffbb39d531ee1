//! The first results by an order, within a number and a sum of bytes.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// What a result takes besides its texts, about as much as the punctuation of its JSON.
pub(crate) const ITEM_BYTES: usize = 24;

/// The order of results; among equals by the bytes of their paths, then by line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Order {
    /// By path.
    #[default]
    Path,
    /// The largest files first, or those with the most matches.
    Largest,
    /// The files that were modified last first.
    Latest,
}

/// Where a result is in the order: its rank, its path and its line.
pub(crate) type Key = (Reverse<u128>, OsString, u64);

/// The results that come first; which ones these are does not depend on when they were found.
pub(crate) struct Kept<T> {
    items: BTreeMap<Key, (usize, T)>,
    /// From here on nothing is kept, as it would leave a gap.
    end: Option<Key>,
    limit: usize,
    room: usize,
}

impl<T> Kept<T> {
    pub(crate) fn new(limit: usize, most_bytes: usize) -> Self {
        Self {
            items: BTreeMap::new(),
            end: None,
            limit,
            room: most_bytes,
        }
    }

    /// Takes a result with `text` bytes beside its path, and drops the last ones that do not fit.
    pub(crate) fn offer(&mut self, key: Key, text: usize, item: T) {
        if self.end.as_ref().is_some_and(|end| key >= *end) {
            return;
        }
        let bytes = ITEM_BYTES + key.1.len() + text;
        self.items.insert(key, (bytes, item));
        let mut over = bytes.saturating_sub(self.room);
        self.room = self.room.saturating_sub(bytes);
        while (over > 0 || self.items.len() > self.limit)
            && let Some((key, (bytes, _))) = self.items.pop_last()
        {
            self.room += bytes.saturating_sub(over);
            over = over.saturating_sub(bytes);
            self.end = Some(key);
        }
    }

    /// How many results from `key` on may be among them.
    pub(crate) fn room_for(&self, key: &Key) -> usize {
        let is_full = self.items.len() >= self.limit;
        let last = self.items.last_key_value().filter(|_| is_full);
        let is_late = self.end.as_ref().is_some_and(|end| key >= end)
            || last.is_some_and(|(last, _)| key > last);
        if is_late { 0 } else { self.limit }
    }

    /// Takes those that were kept of other results within the same number and bytes.
    pub(crate) fn merge(&mut self, other: Self) {
        let end = [self.end.take(), other.end].into_iter().flatten().min();
        if let Some(end) = end {
            for (_, (bytes, _)) in self.items.split_off(&end) {
                self.room += bytes;
            }
            self.end = Some(end);
        }
        for (key, (bytes, item)) in other.items {
            let text = bytes - ITEM_BYTES - key.1.len();
            self.offer(key, text, item);
        }
    }

    pub(crate) fn into_items<R>(self, made: impl Fn(OsString, u64, T) -> R) -> Vec<R> {
        let items = self.items.into_iter();
        items
            .map(|((_, path, line), (_, item))| made(path, line, item))
            .collect()
    }
}
