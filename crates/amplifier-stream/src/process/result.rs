//! The result of a processed answer.

use amplifier_core::Object;

use crate::ParsedCall;

/// The result of an answer, complete or not.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProcessedStream {
    /// The text without thinking and calls.
    pub assistant_content: String,
    /// The thinking.
    pub thinking_content: String,
    /// The calls that may run, each as a JSON object or as it stood in its tags, on lines of their own.
    pub tool_call_content: String,
    /// Who speaks.
    pub role: String,
    /// The calls in the order of their beginnings, those that must not run too, without those that
    /// the provider withdrew.
    pub calls: Vec<ParsedCall>,
    /// What the answer cost, from the last chunk that says so.
    pub usage: Option<Object>,
    /// Whether the answer ended before its last chunk; then no call of it may run.
    pub truncated: bool,
    /// Whether the answer was cancelled.
    pub cancelled: bool,
    /// What went wrong.
    pub error: Option<String>,
}
