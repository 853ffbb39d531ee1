//! The text of an answer, by the blocks it came in, so that a block that is dropped can be taken out.

use std::collections::HashMap;

/// Text in the order in which it came.
#[derive(Debug, Default)]
pub(super) struct AnswerText {
    pieces: Vec<(Option<u64>, String)>,
    /// The places of the pieces of each block.
    places: HashMap<Option<u64>, Vec<usize>>,
    bytes: usize,
    last_block: u64,
    is_stale: bool,
}

/// How much of the text a dropped block was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dropped {
    Nothing,
    Some,
    All,
}

impl AnswerText {
    pub(super) fn add(&mut self, block: Option<u64>, text: &str) {
        if text.is_empty() {
            return;
        }
        self.bytes += text.len();
        if let Some(block) = block {
            // Blocks may take turns; the answer has them one after the other.
            self.is_stale |= block < self.last_block;
            self.last_block = self.last_block.max(block);
        }
        match self.pieces.last_mut() {
            // The place of a piece is forgotten once its block is dropped.
            Some((last, piece)) if *last == block && self.places.contains_key(&block) => {
                piece.push_str(text);
            }
            _ => {
                self.places
                    .entry(block)
                    .or_default()
                    .push(self.pieces.len());
                self.pieces.push((block, text.to_owned()));
            }
        }
    }

    /// Takes out the text of a block.
    ///
    /// The rest is not reported again before the answer ends: reported at once, it would cost all
    /// of the text for each dropped block.
    pub(super) fn drop_block(&mut self, block: Option<u64>) -> Dropped {
        let before = self.bytes;
        for place in self.places.remove(&block).unwrap_or_default() {
            let (_, piece) = &mut self.pieces[place];
            self.bytes -= piece.len();
            *piece = String::new();
        }
        if self.bytes == before {
            return Dropped::Nothing;
        }
        if self.bytes > 0 {
            self.is_stale = true;
            return Dropped::Some;
        }
        *self = Self::default();
        Dropped::All
    }

    /// Whether the reported text is out of date.
    pub(super) fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// The text that counts, block by block.
    pub(super) fn text(&self) -> String {
        let mut block = 0;
        let mut pieces: Vec<(u64, &str)> = Vec::with_capacity(self.pieces.len());
        for (number, piece) in &self.pieces {
            block = number.unwrap_or(block);
            pieces.push((block, piece));
        }
        if self.is_stale {
            pieces.sort_by_key(|(block, _)| *block);
        }
        pieces.into_iter().map(|(_, piece)| piece).collect()
    }
}
