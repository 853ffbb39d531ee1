//! What a message may be.

use crate::limits::Limits;

/// What may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CanBeEmpty {
    /// The text of a block.
    Text,
    /// The id of a tool call.
    Id,
    /// The name of a tool.
    Name,
    /// A tool result.
    ToolResult,
    /// A thinking block.
    Thinking,
    /// A message, without a block.
    Message,
}

impl CanBeEmpty {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Text,
        Self::Id,
        Self::Name,
        Self::ToolResult,
        Self::Thinking,
        Self::Message,
    ];

    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Id => "id",
            Self::Name => "name",
            Self::ToolResult => "tool_result",
            Self::Thinking => "thinking",
            Self::Message => "message",
        }
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
