//! Blocks that are not what was said of them: each is dropped and, if it still counts, begun again.

use std::sync::Arc;

use super::{Answer, Slot};
use crate::block::Block;
use crate::json::Piece;
use crate::open_block::{OpenBlock, Part};
use crate::stream_event::Change;

impl Answer {
    /// Drops every block and what was said about the answer, because it starts again.
    ///
    /// Findings and a failure stay: they are about the stream.
    pub(crate) fn restart(&mut self) {
        self.drop_blocks();
        let result = &mut self.result;
        result.model = None;
        result.metadata.clear();
        result.raw_stop_reason = None;
        result.stop_sequence = None;
        result.raw_usage = None;
    }

    /// Drops every block.
    pub(crate) fn drop_blocks(&mut self) {
        for index in self.indices() {
            self.drop_block(index);
        }
        self.calls.clear();
    }

    /// Drops a block from the answer and returns it.
    pub(crate) fn drop_block(&mut self, index: u64) -> Option<Arc<Block>> {
        self.partial_arguments.remove(&index);
        let (block_type, block) = match self.blocks.remove(&index)? {
            Slot::Ended(block) => (block.block_type(), block),
            Slot::Open(open) => (open.block_type().clone(), Arc::new(open.seal().block)),
        };
        let dropped = match block.as_ref() {
            Block::Content(_) => Arc::clone(&block),
            Block::ToolCall(call) => {
                let mut call = call.clone();
                call.refuse("the provider withdrew the call");
                Arc::new(Block::ToolCall(call))
            }
        };
        self.report(index, &block_type, Change::Drop(dropped));
        Some(block)
    }

    /// Drops a block and begins it again as `open`, with `text` as its only delta.
    pub(crate) fn begin_again(
        &mut self,
        index: u64,
        open: OpenBlock,
        text: Option<&(Part, String)>,
    ) {
        self.drop_block(index);
        self.begin(index, open);
        if let Some((part, text)) = text
            && !text.is_empty()
        {
            // The block began one line above, so it is open.
            let _ = self.push(index, *part, Piece::from(text.as_str()));
        }
    }

    /// Ends every text of an open block, and says how many halves of surrogate pairs stayed alone.
    pub(crate) fn end_texts(&mut self, index: u64) -> usize {
        let Ok(open) = self.open(index) else {
            return 0;
        };
        let block_type = open.block_type().clone();
        let changes = open.settle();
        let halves = changes.len();
        for change in changes {
            self.report(index, &block_type, change);
        }
        halves
    }

    /// The block at this index, if it has ended.
    pub(crate) fn ended(&self, index: u64) -> Option<&Block> {
        match self.blocks.get(&index)? {
            Slot::Ended(block) => Some(block),
            Slot::Open(_) => None,
        }
    }
}
