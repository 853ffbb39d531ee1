//! How many calls an answer may have, and what is held of further ones.

use std::collections::BTreeSet;

/// Calls of an answer that may run.
pub const MAX_CALLS: usize = 128;

/// How many times as many further calls are held, without their arguments: the model is told of each
/// that it does not run. Of an answer that never ends, the rest costs nothing.
const REFUSED_SHARE: usize = 8;

/// Decides by the index of each call, in the order of their beginnings.
#[derive(Debug)]
pub(crate) struct CallLimit {
    most: usize,
    allowed: BTreeSet<u64>,
    refused: BTreeSet<u64>,
    has_dropped: bool,
}

impl CallLimit {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            allowed: BTreeSet::new(),
            refused: BTreeSet::new(),
            has_dropped: false,
        }
    }

    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Whether a further call is left out, which is noted.
    pub(crate) fn drops(&mut self) -> bool {
        let is_full = self.refused.len() >= self.most.saturating_mul(REFUSED_SHARE)
            && self.allowed.len() >= self.most;
        self.has_dropped |= is_full;
        is_full
    }

    /// Whether a call was left out.
    pub(crate) fn has_dropped(&self) -> bool {
        self.has_dropped
    }

    /// Takes the call at this index, and says whether it is the first that is refused; one that
    /// begins again keeps its place.
    pub(crate) fn admit(&mut self, index: u64) -> bool {
        if self.allowed.contains(&index) || self.refused.contains(&index) {
            return false;
        }
        if self.allowed.len() < self.most {
            self.allowed.insert(index);
            return false;
        }
        self.refused.insert(index);
        self.refused.len() == 1
    }

    /// Gives the place of a call that was withdrawn to a further one.
    pub(crate) fn release(&mut self, index: u64) {
        self.allowed.remove(&index);
        self.refused.remove(&index);
    }

    /// Whether the call at this index must not run.
    pub(crate) fn refuses(&self, index: u64) -> bool {
        !self.refused.is_empty() && self.refused.contains(&index)
    }

    /// Why a call past the limit must not run.
    pub(crate) fn refusal(&self) -> String {
        let calls = if self.most == 1 { "call" } else { "calls" };
        format!("an answer can have at most {} tool {calls}", self.most)
    }

    /// Forgets all calls, because the answer starts again.
    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.most);
    }
}

impl Default for CallLimit {
    fn default() -> Self {
        Self::new(MAX_CALLS)
    }
}
