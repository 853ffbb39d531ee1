//! Values behind names, as they are found.

use std::ops::Range;

use super::span::Span;
use super::value::{self, Value};

/// What was found behind names.
#[derive(Default)]
pub(super) struct Finds {
    pub(super) spans: Vec<Span>,
    /// The place from which more text could change the result.
    pub(super) open: Option<usize>,
    /// The end of the last value.
    pub(super) done: usize,
    /// Where the last table begins and ends.
    pub(super) table: Option<(usize, usize)>,
    /// The rows of the last table, none of which is the first line of another.
    pub(super) rows: Range<usize>,
    /// The last mapping that is named as secret.
    pub(super) mapping: Range<usize>,
}

impl Finds {
    pub(super) fn take(&mut self, found: Option<Found>) {
        let Some(found) = found else { return };
        if found.is_open {
            self.wait(found.span.start);
        }
        if !found.is_benign {
            self.done = self.done.max(found.span.end);
            self.spans.push(found.span);
        }
    }

    /// Takes a value that is further away: names before it are still looked at.
    pub(super) fn add(&mut self, found: Option<Found>) {
        let done = self.done;
        self.take(found);
        self.done = done;
    }

    /// More text could change what is found from this place on.
    pub(super) fn wait(&mut self, place: usize) {
        self.open = Some(self.open.map_or(place, |open| open.min(place)));
    }
}

/// A value that was examined.
pub(super) struct Found {
    pub(super) span: Span,
    /// Whether more text could make the value longer or change its kind.
    pub(super) is_open: bool,
    /// Whether it is left unchanged.
    pub(super) is_benign: bool,
}

impl Found {
    pub(super) fn new(value: Value, kind: &'static str, is_benign: bool) -> Self {
        let Value { start, end, .. } = value;
        Self {
            span: Span { start, end, kind },
            is_open: value.is_open,
            is_benign,
        }
    }

    /// A value that stays if it is no secret by itself.
    pub(super) fn of(text: &[u8], value: Value, kind: &'static str) -> Self {
        Self::new(value, kind, value::is_benign(text, &value, kind, true))
    }

    /// The same that stays in a further case, too.
    pub(super) fn unless(mut self, is_benign: bool) -> Self {
        self.is_benign |= is_benign;
        self
    }
}
