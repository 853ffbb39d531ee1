//! What makes a history valid: each tool call has its result.

use crate::content::ContentBlock;
use crate::json::Json;
use crate::message::{Message, MessageContent, Role};

/// A tool call of a message: its id, and its tool's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredCall {
    pub(super) id: String,
    pub(super) name: String,
    /// Its place among the calls of its message.
    pub(super) place: usize,
}

/// The tool calls of the last message that has any, and that no tool message behind it answers.
pub(super) fn open_calls(messages: &[Message]) -> Vec<StoredCall> {
    let calls = messages.iter().enumerate().rev();
    let Some((place, calls)) = calls
        .map(|(place, message)| (place, stored_calls(message)))
        .find(|(_, calls)| !calls.is_empty())
    else {
        return Vec::new();
    };
    let results = messages[place + 1..].iter();
    let mut answered: Vec<_> = results
        .filter(|message| message.role == Role::Tool)
        .filter_map(|message| message.tool_call_id.as_deref())
        .collect();
    // A model may use an id twice: each result answers one call.
    let mut is_open = |id: &str| {
        let result = answered.iter().position(|answer| *answer == id);
        result.map(|place| answered.swap_remove(place)).is_none()
    };
    calls.into_iter().filter(|call| is_open(&call.id)).collect()
}

/// The tool calls of a message, in `tool_calls` or else in its blocks.
fn stored_calls(message: &Message) -> Vec<StoredCall> {
    if message.role != Role::Assistant {
        return Vec::new();
    }
    let text = |json: &Json, key| json.get(key).and_then(Json::as_str).map(str::to_owned);
    let listed = message.extra.get("tool_calls").and_then(Json::as_array);
    let calls: Vec<(String, String)> = match (listed, &message.content) {
        (Some(listed), _) if !listed.is_empty() => listed
            .iter()
            .filter_map(|call| {
                let name = text(call, "tool").or_else(|| text(call, "name"));
                Some((text(call, "id")?, name.unwrap_or_default()))
            })
            .collect(),
        (_, MessageContent::Blocks(blocks)) => blocks
            .iter()
            .filter_map(|block| match block {
                ContentBlock::ToolCall(block) => Some((block.id.clone(), block.name.clone())),
                _ => None,
            })
            .collect(),
        (_, MessageContent::Text(_)) => Vec::new(),
    };
    let calls = calls.into_iter().enumerate();
    calls
        .map(|(place, (id, name))| StoredCall { id, name, place })
        .collect()
}
