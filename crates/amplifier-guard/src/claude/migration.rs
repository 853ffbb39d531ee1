//! Messages and tool responses of the time when both were plain strings.

use amplifier_core::Object;

use super::block::{ContentBlock, ToolResultBlock};
use super::memo::is_known;
use super::message::ClaudeMessage;

/// What stood before what a tool gave back.
const RESPONSE: &str = "Tool result:";

/// The message that a text was; a role that is not `user`, `assistant` or `system` is `user`.
#[must_use]
pub fn migrate_text(role: &str, text: impl Into<String>) -> ClaudeMessage {
    let role = if is_known(role) { role } else { "user" };
    ClaudeMessage::new(role, vec![ContentBlock::text(text)])
}

/// The result that a tool response such as `Tool result: file contents` was.
///
/// Without these words before it, the whole text is the content.
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

/// The id of a tool call that has none, of random bits: `toolu_` and eight hexadecimal digits.
#[must_use]
pub fn new_tool_use_id(random: u32) -> String {
    format!("toolu_{random:08x}")
}
