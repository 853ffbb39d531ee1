//! How far a response is, and which of its items grow.

use std::collections::BTreeMap;

use super::item::Item;
use super::offered_tools::OfferedTools;
use super::sequence::Sequence;

/// Folds the events of one response.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    pub(super) phase: Phase,
    /// Items that grow, by the index of their block.
    pub(super) items: BTreeMap<u64, Item>,
    /// Where items went whose index on the wire was taken.
    pub(super) moved: BTreeMap<u64, u64>,
    /// Whether `response.created` came, and no item has begun since.
    pub(super) is_at_start: bool,
    pub(super) sequence: Sequence,
    pub(super) offered: OfferedTools,
}

/// Where the response is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Phase {
    #[default]
    Expected,
    Open,
    Ended,
}
