//! Incoming messages: checked once, counted, and searched for suspicious parts.

mod contents;
mod entry;
mod processed;
mod refusal;
mod rule;
mod thinking;
mod walk;

use std::collections::HashSet;

use amplifier_core::{FromJson, Json, Message};

pub use contents::ContentStatistics;
pub use processed::ProcessedMessage;
pub use refusal::{MessageError, ToolUseError};
pub use rule::CanBeEmpty;

use crate::claude::{ClaudeMessage, ToolUseBlock, migrate_text};
use crate::finding::OnFinding;
use crate::identifier::{check_call_id, check_tool_name};
use crate::limits::Limits;
use crate::tool_input::ToolInputPolicy;
use entry::Entry;
use rule::Rules;
use walk::Parts;

/// Checks messages, in the Claude dialect and in the kernel's.
///
/// A message must have one of the dialect's roles, at least one block and not more than the limits
/// allow; tool calls must have names and ids of visible characters, and unique ids. Texts are never
/// changed: suspicious parts are reported as [`Finding`](crate::Finding)s. If thinking mode is off,
/// thinking blocks are left out, each reported in a [`Degradation`](amplifier_core::Degradation).
///
/// Characters are Unicode code points, counted over all texts of a message: text, code, thinking and
/// tool results, and the strings and keys in the data of tool calls, tables, charts and blocks of
/// unknown types. Images and signatures do not count.
///
/// # Examples
///
/// ```
/// use amplifier_guard::{Limits, MessageProcessor, OnFinding};
///
/// let limits = Limits { message_max_chars: 9, ..Limits::default() };
/// let processor = MessageProcessor::new(limits, OnFinding::Report);
/// let processed = processor.process_user_message("h\u{e9}llo").unwrap();
///
/// assert_eq!(processed.statistics().characters, 5);
/// assert_eq!(
///     processor.process_user_message("hello there").unwrap_err().to_string(),
///     "message has 11 characters, at most 9 are allowed (`MESSAGE_MAX_CHARS`)"
/// );
/// ```
#[derive(Clone, Debug)]
pub struct MessageProcessor {
    rules: Rules,
    on_finding: OnFinding,
}

impl Default for MessageProcessor {
    fn default() -> Self {
        Self::new(Limits::default(), OnFinding::default())
    }
}

impl MessageProcessor {
    /// A processor that allows empty thinking blocks and tool results, which models write, and
    /// nothing else to be empty.
    #[must_use]
    pub fn new(limits: Limits, on_finding: OnFinding) -> Self {
        Self {
            rules: Rules {
                limits,
                can_be_empty: vec![CanBeEmpty::Thinking, CanBeEmpty::ToolResult],
            },
            on_finding,
        }
    }

    /// The same processor with another list of what may be empty.
    #[must_use]
    pub fn allow_empty(mut self, can_be_empty: impl IntoIterator<Item = CanBeEmpty>) -> Self {
        self.rules.can_be_empty = can_be_empty.into_iter().collect();
        self
    }

    /// Turns a text into a message of the user.
    pub fn process_user_message(
        &self,
        text: impl Into<String>,
    ) -> Result<ProcessedMessage<ClaudeMessage>, MessageError> {
        self.process(migrate_text("user", text), None)
    }

    /// Reads a message of the Claude dialect; a string as content becomes a block.
    pub fn process_json(
        &self,
        text: &[u8],
        calls: Option<&HashSet<String>>,
    ) -> Result<ProcessedMessage<ClaudeMessage>, MessageError> {
        let json = Json::parse(text).map_err(MessageError::Json)?;
        let message = ClaudeMessage::from_json(json).map_err(MessageError::of_model)?;
        self.process(message, calls)
    }

    /// Checks a message of the Claude dialect.
    ///
    /// With `calls`, each tool result must belong to one of these ids or to an earlier call in the
    /// message, and each call has at most one result.
    pub fn process(
        &self,
        message: ClaudeMessage,
        calls: Option<&HashSet<String>>,
    ) -> Result<ProcessedMessage<ClaudeMessage>, MessageError> {
        if !matches!(message.role.as_str(), "user" | "assistant" | "system") {
            return Err(MessageError::role(&message.role));
        }
        self.process_any(message, calls)
    }

    /// Checks a message of the kernel.
    pub fn process_kernel(
        &self,
        message: Message,
        calls: Option<&HashSet<String>>,
    ) -> Result<ProcessedMessage<Message>, MessageError> {
        self.process_any(message, calls)
    }

    /// Checks a tool call: its name, its id, and its arguments against the schema of the tool.
    pub fn validate_tool_use(
        &self,
        call: &ToolUseBlock,
        tools: &ToolInputPolicy,
    ) -> Result<(), ToolUseError> {
        if !(call.id.is_empty() && self.rules.can_be_empty(CanBeEmpty::Id)) {
            check_call_id(&call.id).map_err(ToolUseError::Name)?;
        }
        check_tool_name(&call.name, self.rules.longest_name()).map_err(ToolUseError::Name)?;
        tools
            .check_value(&call.name, &call.input)
            .map_err(ToolUseError::Input)
    }

    fn process_any<M: Parts>(
        &self,
        mut message: M,
        calls: Option<&HashSet<String>>,
    ) -> Result<ProcessedMessage<M>, MessageError> {
        let mut degradations = Vec::new();
        if !self.rules.limits.thinking_mode_enabled {
            message.leave_out_thoughts(&mut degradations);
        }
        self.check_length(message.blocks())?;
        Entry::check(&self.rules, calls, |entry| message.walk(entry))?;
        let mut processed = ProcessedMessage::new(message, degradations);
        if self.on_finding != OnFinding::Report && !processed.findings().is_empty() {
            if self.on_finding == OnFinding::Reject {
                let findings = processed.findings().to_vec();
                return Err(MessageError::Suspicious { findings });
            }
            processed.needs_approval = true;
        }
        Ok(processed)
    }

    fn check_length(&self, blocks: usize) -> Result<(), MessageError> {
        let blocks = blocks as u64;
        let most = self.rules.limits.max_content_blocks;
        if blocks > most {
            return Err(MessageError::TooManyBlocks { blocks, most });
        }
        if blocks == 0 && !self.rules.can_be_empty(CanBeEmpty::Message) {
            return Err(MessageError::NoBlock);
        }
        Ok(())
    }
}
