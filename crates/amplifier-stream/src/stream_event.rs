//! What a stream decoder reports while bytes arrive.

use std::sync::Arc;

use amplifier_core::Object;

use crate::block::{Block, BlockType};

/// A content block begins, grows, is complete or is taken back.
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
    /// It is taken back, ended or not: the answer does not have it, or has something else there.
    Drop(Arc<Block>),
}
