//! Text on a wire that names no blocks: a block ends where text of another kind begins.

use amplifier_core::Json;

use crate::answer::Answer;
use crate::block::BlockType;
use crate::json::Piece;
use crate::open_block::{OpenBlock, Part};

/// The block that grows now.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    current: Option<(Kind, u64)>,
}

/// What a block of text holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Thinking,
    Refusal,
}

impl Kind {
    fn begin(self) -> OpenBlock {
        let (block_type, fields): (_, &[_]) = match self {
            Self::Text => (BlockType::Text, &[("type", "text")]),
            Self::Thinking => (BlockType::Thinking, &[("type", "thinking")]),
            Self::Refusal => {
                let fields = &[("type", "text"), ("text", ""), ("refusal", "")];
                (BlockType::Text, fields)
            }
        };
        let fields = fields.iter();
        let fields = fields.map(|&(key, value)| (key.to_owned(), Json::from(value)));
        OpenBlock::new(block_type, fields.collect())
    }

    fn part(self) -> Part {
        match self {
            Self::Text | Self::Refusal => Part::Text,
            Self::Thinking => Part::Thinking,
        }
    }
}

impl Flow {
    /// Adds a piece, if it is not empty.
    pub(crate) fn grow(&mut self, kind: Kind, piece: Piece<'_>, answer: &mut Answer) {
        if !piece.is_empty() {
            let index = self.block(kind, answer);
            // The block is open: nothing else ends it.
            let _ = answer.push(index, kind.part(), piece);
        }
    }

    /// The index of the block of this kind that grows now.
    pub(crate) fn block(&mut self, kind: Kind, answer: &mut Answer) -> u64 {
        match self.current {
            Some((current, index)) if current == kind => index,
            _ => {
                self.end(answer);
                let index = answer.next_index();
                answer.begin(index, kind.begin());
                self.current = Some((kind, index));
                index
            }
        }
    }

    /// Ends the block that grows now.
    pub(crate) fn end(&mut self, answer: &mut Answer) {
        if let Some((_, index)) = self.current.take() {
            answer.end(index);
        }
    }
}
