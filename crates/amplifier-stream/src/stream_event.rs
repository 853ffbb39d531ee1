//! The events of a decoder while bytes arrive.

use std::sync::Arc;

use amplifier_core::Object;

use crate::block::{Block, BlockType};

/// A content block begins, grows, is complete or is dropped.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamEvent {
    /// The type of the block.
    pub block_type: BlockType,
    /// The place of the block in the answer.
    pub block_index: u64,
    /// What happened to it.
    pub change: Change,
}

/// What happened to a block.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// It begins; what the provider said about it, without its content.
    Start(Object),
    /// Text was added.
    Delta(String),
    /// A fragment of JSON was added to the input of a call.
    PartialJson(String),
    /// It is complete.
    End(Arc<Block>),
    /// It is dropped, whether it ended or not: it is not part of the answer, or starts again.
    Drop(Arc<Block>),
}
