//! The events of an answer for an agent.

use super::chunk::ChunkType;
use crate::ParsedCall;

/// An event of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// Thinking begins.
    ThinkingStart,
    /// Thinking continues with this text.
    ThinkingContent(String),
    /// Thinking ends.
    ThinkingEnd,
    /// A call begins.
    ToolCallStart {
        /// The number of the call.
        index: u64,
        /// The provider's id, of a native call.
        id: Option<String>,
        /// The name of the tool, if it is already known.
        name: Option<String>,
    },
    /// A call continues with this text.
    ToolCallContent {
        /// The number of the call.
        index: u64,
        /// What was added; empty if only the name became known.
        content: String,
        /// The name of the tool, in the one event in which it becomes known.
        name: Option<String>,
    },
    /// A call ends; it may run only if it has arguments.
    ToolCallEnd(Box<ParsedCall>),
    /// The thinking or the message starts again: its text so far is no longer valid, what counts of
    /// it follows.
    Restart(ChunkType),
    /// The message begins; it ends with the answer.
    MessageStart,
    /// The message continues with this text.
    MessageContent(String),
    /// The message ends.
    MessageEnd,
    /// The answer failed; no event follows.
    Error(String),
    /// An event of the agent or the provider that has no variant of its own.
    Custom {
        /// What it is called.
        name: String,
        /// What it says.
        data: amplifier_core::Json,
    },
}
