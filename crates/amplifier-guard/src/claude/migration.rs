//! Legacy messages and tool responses, which were plain strings.

use amplifier_core::Object;

use super::block::{ContentBlock, ToolResultBlock};
use super::memo::is_known;
use super::message::ClaudeMessage;

/// What stood before what a tool gave back.
const RESPONSE: &str = "Tool result:";

/// Converts a legacy text to a message; a role other than `user`, `assistant` and `system` becomes
/// `user`.
#[must_use]
pub fn migrate_text(role: &str, text: impl Into<String>) -> ClaudeMessage {
    let role = if is_known(role) { role } else { "user" };
    ClaudeMessage::new(role, vec![ContentBlock::text(text)])
}

/// Converts a legacy tool response such as `Tool result: file contents` to a tool result.
///
/// Without this prefix, the whole text is the content.
#[must_use]
pub fn migrate_tool_response(tool_use_id: impl Into<String>, text: &str) -> ToolResultBlock {
    let content = match text.strip_prefix(RESPONSE) {
        Some(content) => content.strip_prefix(' ').unwrap_or(content),
        None => text,
    };
    ToolResultBlock {
        tool_use_id: tool_use_id.into(),
        content: content.to_owned(),
        is_error: None,
        extra: Object::new(),
    }
}

/// An id for a tool call from random bits: `toolu_` and eight hexadecimal digits.
#[must_use]
pub fn new_tool_use_id(random: u32) -> String {
    format!("toolu_{random:08x}")
}
