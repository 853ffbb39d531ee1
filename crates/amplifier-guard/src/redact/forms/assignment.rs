//! A name of a secret with a `:` or `=` behind it.

use crate::redact::name::Named;

/// A name with a separator behind it.
#[derive(Clone, Copy)]
pub(in crate::redact) struct Assignment {
    pub(in crate::redact) named: Named,
    pub(in crate::redact) kind: &'static str,
    /// The place of its `:` or `=`.
    pub(in crate::redact) separator: usize,
    /// The place behind the separator.
    pub(in crate::redact) start: usize,
}
