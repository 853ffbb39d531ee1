//! How often each type of error occurred recently.

use std::time::Duration;

use indexmap::IndexMap;

/// The most characters of a name that is kept.
const MAX_NAME_CHARACTERS: usize = 100;

/// Counts errors by type; a type that does not occur for a while is forgotten.
///
/// Times are those of the caller's clock, since any moment; a time before the latest one counts as the latest.
#[derive(Clone, Debug)]
pub struct ErrorFrequency {
    most_types: usize,
    forget_after: Duration,
    /// In the order in which they were last seen.
    seen: IndexMap<String, Seen>,
    latest: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    count: u64,
    last: Duration,
}

impl ErrorFrequency {
    /// Counts of at most `most_types` types, each forgotten when it was not seen for the time
    /// `forget_after`.
    #[must_use]
    pub fn new(most_types: usize, forget_after: Duration) -> Self {
        Self {
            most_types,
            forget_after,
            seen: IndexMap::new(),
            latest: Duration::ZERO,
        }
    }

    /// Count an error; if there is no room, the type that occurred longest ago is dropped.
    pub fn record(&mut self, name: &str, now: Duration) {
        self.forget(now);
        let name: String = name.chars().take(MAX_NAME_CHARACTERS).collect();
        let count = self.seen.shift_remove(&name).map_or(0, |seen| seen.count);
        if self.seen.len() >= self.most_types {
            self.seen.shift_remove_index(0);
        }
        if self.most_types > 0 {
            let seen = Seen {
                count: count.saturating_add(1),
                last: self.latest,
            };
            self.seen.insert(name, seen);
        }
    }

    /// The types and their counts, the latest type last.
    pub fn counts(&mut self, now: Duration) -> impl Iterator<Item = (&str, u64)> {
        self.forget(now);
        self.seen
            .iter()
            .map(|(name, seen)| (name.as_str(), seen.count))
    }

    fn forget(&mut self, now: Duration) {
        self.latest = self.latest.max(now);
        let is_old = |seen: &Seen| self.latest.saturating_sub(seen.last) >= self.forget_after;
        let old = self.seen.values().take_while(|seen| is_old(seen)).count();
        self.seen.drain(..old);
    }
}
