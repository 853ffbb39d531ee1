//! What a parser of tool calls reports.

use super::call::ParsedCall;

/// What a [`ToolCallParser`](super::ToolCallParser) reports, in the order of the text.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolCallEvent {
    /// Text that belongs to no call.
    Regular(String),
    /// A call begins.
    Start {
        /// The number of the call.
        index: u64,
        /// The tag as it was written.
        tag: String,
    },
    /// Text of a call.
    Content {
        /// The number of the call.
        index: u64,
        /// What was added.
        text: String,
    },
    /// The name of the tool is known; its call has not ended.
    Name {
        /// The number of the call.
        index: u64,
        /// The name.
        name: String,
    },
    /// A call ends; it may run exactly when it has arguments.
    End(Box<ParsedCall>),
}
