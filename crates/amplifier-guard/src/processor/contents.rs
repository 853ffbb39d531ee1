//! What a message holds: its statistics, and what looks suspicious in it.

use std::convert::Infallible;

use indexmap::IndexMap;

use super::walk::{Part, Visit};
use crate::finding::Finding;
use crate::finding::{self, Stretch};
use crate::text::pointer::Place;

/// The most findings that are kept of a message.
const MAX_FINDINGS: usize = 1_000;

/// What a message holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentStatistics {
    /// How many blocks of each type there are.
    pub blocks: IndexMap<String, u64>,
    /// The characters of its texts, in Unicode code points.
    pub characters: u64,
    /// The same in bytes of UTF-8.
    pub bytes: u64,
}

impl<'a> Visit<'a> for ContentStatistics {
    type Stop = Infallible;

    fn block(&mut self, block_type: &'a str) {
        if let Some(count) = self.blocks.get_mut(block_type) {
            *count += 1;
        } else {
            self.blocks.insert(block_type.to_owned(), 1);
        }
    }

    fn text(&mut self, text: &'a str, _part: Part, _place: Place<'_>) -> Result<(), Infallible> {
        self.bytes += text.len() as u64;
        self.characters += text.chars().count() as u64;
        Ok(())
    }
}

/// What looks suspicious in a message.
#[derive(Default)]
pub(super) struct Findings(pub(super) Vec<Finding>);

/// There are as many findings as are kept.
pub(super) struct Enough;

impl<'a> Visit<'a> for Findings {
    type Stop = Enough;

    fn text(&mut self, text: &'a str, part: Part, place: Place<'_>) -> Result<(), Enough> {
        if part == Part::Name {
            return Ok(());
        }
        // Findings begin one after the other, so that no character is counted twice.
        let mut at = (0, 0);
        let mut characters = |byte: usize| {
            at = (byte, at.1 + text[at.0..byte].chars().count());
            at.1
        };
        for Stretch { start, end, kind } in finding::find(text) {
            if self.0.len() == MAX_FINDINGS {
                return Err(Enough);
            }
            let first = characters(start);
            self.0.push(Finding {
                kind,
                pointer: place.to_string(),
                start: first,
                end: first + text[start..end].chars().count(),
            });
        }
        Ok(())
    }
}
