//! What a message may be.

use amplifier_core::words;

use crate::limits::Limits;

words! {
    /// What may be empty.
    pub enum CanBeEmpty {
        /// The text of a block.
        Text = "text",
        /// The id of a tool call.
        Id = "id",
        /// The name of a tool.
        Name = "name",
        /// A tool result.
        ToolResult = "tool_result",
        /// A thinking block.
        Thinking = "thinking",
        /// A message, without a block.
        Message = "message",
    }
}

/// What messages are held to.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) limits: Limits,
    pub(super) can_be_empty: Vec<CanBeEmpty>,
}

impl Rules {
    pub(super) fn can_be_empty(&self, what: CanBeEmpty) -> bool {
        self.can_be_empty.contains(&what)
    }

    pub(super) fn longest_name(&self) -> usize {
        usize::try_from(self.limits.name_max_chars).unwrap_or(usize::MAX)
    }
}
