//! The pieces of an answer while it arrives.

use std::sync::Arc;

use amplifier_core::Object;

use crate::ToolCall;

/// What the content of a chunk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ChunkType {
    /// Text of the answer, which may hold calls in tags.
    #[default]
    Message,
    /// Thinking.
    Thinking,
    /// A fragment of the arguments of a native call.
    ToolCall,
}

impl ChunkType {
    /// The name of the type.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Thinking => "thinking",
            Self::ToolCall => "tool_call",
        }
    }
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StreamChunk {
    /// The text.
    pub content: String,
    /// The speaker; the assistant if no chunk names one.
    pub role: Option<String>,
    /// What the content is.
    pub kind: ChunkType,
    /// Whether it is the last chunk of a whole answer.
    pub finished: bool,
    /// The error.
    pub error: Option<String>,
    /// The usage so far.
    pub usage: Option<Object>,
    /// The native call that the content belongs to.
    pub call: Option<ChunkCall>,
    /// The number of the block that text or thinking belongs to; such numbers are not those of calls.
    pub block_index: Option<u64>,
    /// Whether the block or call is no longer valid, so that its earlier events must be discarded.
    pub dropped: bool,
    /// With the last chunk: all native calls in order, as their decoder judged them at the end.
    pub judged_calls: Vec<Arc<ToolCall>>,
}

impl StreamChunk {
    /// Whether the chunk has an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.error.is_some()
    }

    /// Whether the content is thinking.
    #[must_use]
    pub fn is_thinking(&self) -> bool {
        self.kind == ChunkType::Thinking
    }

    /// Whether it is the last chunk of a whole answer.
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.finished
    }
}

/// The native call that a chunk belongs to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChunkCall {
    /// Identifies the call among the calls of the answer.
    pub index: u64,
    /// The provider's id.
    pub id: Option<String>,
    /// The name of the tool.
    pub name: Option<String>,
    /// The complete call from a decoder; it ends the call.
    pub block: Option<Arc<ToolCall>>,
}
