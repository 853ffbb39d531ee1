//! Suspicious parts of a text, with their places. A text is data: it is never changed.

mod hidden;
mod kind;
mod sign;

pub use kind::{Finding, FindingKind, OnFinding};

pub(crate) use kind::Stretch;

/// The suspicious parts of a text, in order; those of one kind do not overlap.
pub(crate) fn find(text: &str) -> Vec<Stretch> {
    let mut parts = hidden::find(text);
    sign::find(text, &mut parts);
    parts.sort_unstable();
    parts
}
