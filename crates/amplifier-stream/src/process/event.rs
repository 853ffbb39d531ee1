//! What an agent hears of an answer.

use super::chunk::ChunkType;
use crate::ParsedCall;

/// Something that happens in an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// Thinking begins.
    ThinkingStart,
    /// Thinking goes on by this text.
    ThinkingContent(String),
    /// Thinking ends.
    ThinkingEnd,
    /// A call begins.
    ToolCallStart {
        /// The number of the call.
        index: u64,
        /// The provider's id, of a native call.
        id: Option<String>,
        /// The name of the tool, where it is known already.
        name: Option<String>,
    },
    /// A call goes on by this text.
    ToolCallContent {
        /// The number of the call.
        index: u64,
        /// What was added; nothing where only the name has become known.
        content: String,
        /// The name of the tool, once, when it has become known.
        name: Option<String>,
    },
    /// A call ends; it may run exactly when it has arguments.
    ToolCallEnd(Box<ParsedCall>),
    /// The thinking or the message starts again: what was told of it so far does not count, what
    /// counts of it follows.
    Restart(ChunkType),
    /// The message begins; it ends with the answer.
    MessageStart,
    /// The message goes on by this text.
    MessageContent(String),
    /// The message ends.
    MessageEnd,
    /// Something went wrong; nothing follows.
    Error(String),
    /// Something of the agent's or the provider's own.
    Custom {
        /// What it is called.
        name: String,
        /// What it says.
        data: amplifier_core::Json,
    },
}
