//! The result of a tool call for the model, or why there is none.

use std::time::Duration;

use crate::content::{ContentBlock, ImageBlock};
use crate::error::{AmplifierError, ToolError};
use crate::json::{Json, Object};
use crate::message::{Message, MessageContent};
use crate::runtime::hook::payload;
use crate::schema::to_json;
use crate::tool_result::{ToolContent, ToolResult};

/// What the model gets as the result of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    content: MessageContent,
    is_error: bool,
}

impl Answer {
    pub(super) fn not_started() -> Self {
        Self::error("Cancelled: the turn was ended before this tool was started.")
    }

    pub(super) fn interrupted() -> Self {
        Self::error("Cancelled: the turn was ended while this tool ran; its effects are unknown.")
    }

    pub(super) fn error(text: impl Into<String>) -> Self {
        Self {
            content: MessageContent::Text(text.into()),
            is_error: true,
        }
    }

    /// The result of a tool: its content, else its output as text.
    pub(super) fn of(result: &ToolResult) -> Self {
        let content = if result.content.is_empty() {
            result.to_text().into()
        } else {
            let blocks = result.content.iter().map(|content| match content {
                ToolContent::Text(text) => ContentBlock::text(text),
                ToolContent::Image(image) => ContentBlock::Image(ImageBlock {
                    source: to_json(image).as_object().cloned().unwrap_or_default(),
                    visibility: None,
                    extra: Object::new(),
                }),
            });
            MessageContent::Blocks(blocks.collect())
        };
        Self {
            content,
            is_error: !result.success,
        }
    }

    /// The same success or failure with what a hook put in place of the result.
    pub(super) fn replaced(&self, by: &Json) -> Self {
        Self {
            content: ToolResult::of(by.clone()).to_text().into(),
            is_error: self.is_error,
        }
    }

    pub(super) fn message(self, call_id: &str, name: &str) -> Message {
        let mut message = Message::tool(call_id, self.content).with_name(name);
        if self.is_error {
            message.extra.insert("is_error".to_owned(), true.into());
        }
        message
    }
}

/// The result of a tool for hooks: images are named, not included.
pub(super) fn presented(result: &ToolResult) -> Json {
    let omitted = "[Image omitted from tool event; original retained for model request if \
                   unmodified.]";
    let mut shown = result.clone();
    for content in &mut shown.content {
        if matches!(content, ToolContent::Image(_)) {
            *content = ToolContent::Text(omitted.to_owned());
        }
    }
    to_json(&shown)
}

/// Why a tool call has no result.
#[derive(Debug)]
pub(super) enum CallError {
    Denied(String),
    /// No such tool; those that are mounted.
    Unknown(Vec<String>),
    TimedOut(Duration),
    /// A hook replaced the arguments by something that is no object.
    Replaced(&'static str),
    Failed(ToolError),
    /// What a hook asked for could not be done.
    Hook(AmplifierError),
}

impl CallError {
    /// The text for the model about a call of the tool `name`.
    pub(super) fn for_model(&self, name: &str) -> String {
        match self {
            Self::Denied(reason) => format!("Denied by hook: {reason}"),
            Self::Failed(_) | Self::Hook(_) | Self::Replaced(_) => {
                let (kind, message) = (self.kind(), self.message(name));
                format!("Error: tool `{name}` failed: {kind}: {message}")
            }
            Self::Unknown(_) | Self::TimedOut(_) => format!("Error: {}", self.message(name)),
        }
    }

    /// Type and message, as `tool:error` has them.
    pub(super) fn described(&self, name: &str) -> Json {
        let message = self.message(name);
        payload([("type", self.kind().into()), ("msg", message.into())]).into()
    }

    /// The name that Python's loops have for it.
    fn kind(&self) -> &str {
        match self {
            Self::Denied(_) => "DeniedByHookError",
            Self::Unknown(_) => "UnknownToolError",
            Self::TimedOut(_) => "ToolTimeoutError",
            Self::Replaced(_) => "TypeError",
            Self::Failed(_) => "ToolError",
            Self::Hook(error) => error.contract_name().unwrap_or("Exception"),
        }
    }

    fn message(&self, name: &str) -> String {
        match self {
            Self::Denied(reason) => reason.clone(),
            Self::Unknown(known) => {
                let mut known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
                known.sort();
                let known = if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                };
                format!("unknown tool `{name}` (mounted: {known})")
            }
            Self::TimedOut(limit) => format!(
                "tool `{name}` was ended after {} s, the time limit of tools; its effects are \
                 unknown",
                limit.as_secs_f64(),
            ),
            Self::Replaced(found) => {
                format!("a hook replaced the arguments by {found} (must be an object)")
            }
            Self::Failed(error) => error.to_string(),
            Self::Hook(error) => error.to_string(),
        }
    }
}
