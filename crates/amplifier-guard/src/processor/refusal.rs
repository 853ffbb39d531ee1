//! Why a message or a tool call was refused.

use amplifier_core::{JsonError, ModelError};

use super::rule::CanBeEmpty;
use crate::finding::Finding;
use crate::identifier::NameError;
use crate::shown::shown;
use crate::tool_input::ToolInputError;

/// A message that was refused: the place, what was found and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "its message says what each field is")]
pub enum MessageError {
    /// The text is not JSON.
    #[error("message is {0}")]
    Json(JsonError),
    /// The JSON is not a message.
    #[error("message is not of the Claude dialect: {0}")]
    Form(String),
    /// The role is unknown.
    #[error("message has the role `{role}`, not `user`, `assistant` or `system`")]
    Role { role: String },
    /// It is too long.
    #[error(
        "message has {characters} characters, at most {most} are allowed (`MESSAGE_MAX_CHARS`)"
    )]
    TooLong {
        /// Those up to the end of the text that is too much.
        characters: u64,
        most: u64,
    },
    /// It has too many blocks.
    #[error("message has {blocks} blocks, at most {most} are allowed (`MAX_CONTENT_BLOCKS`)")]
    TooManyBlocks { blocks: u64, most: u64 },
    /// Something is empty.
    #[error("message has an empty {} at `{pointer}`", what.as_str())]
    Empty { what: CanBeEmpty, pointer: String },
    /// It has no block.
    #[error("message has no content block")]
    NoBlock,
    /// The name or id of a call cannot be used.
    #[error("message at `{pointer}`: {error}")]
    Name { pointer: String, error: NameError },
    /// Two calls have the same id.
    #[error("message has a second call with the id `{id}` at `{pointer}`")]
    CallTwice { pointer: String, id: String },
    /// A result belongs to no call.
    #[error("message has a result at `{pointer}` for `{id}`, which is not an open call")]
    UnknownCall { pointer: String, id: String },
    /// It looks suspicious.
    #[error("message looks suspicious: {}", told(.findings))]
    Suspicious { findings: Vec<Finding> },
}

impl MessageError {
    /// The refusal of JSON that is not a message.
    #[must_use]
    pub fn of_model(error: ModelError) -> Self {
        match error {
            ModelError::Json(error) => Self::Json(error),
            error => Self::Form(shown(&error.to_string())),
        }
    }

    pub(super) fn role(role: &str) -> Self {
        Self::Role { role: shown(role) }
    }

    /// Where it is wrong, as a JSON pointer; empty where it is the whole message.
    #[must_use]
    pub fn pointer(&self) -> &str {
        match self {
            Self::Empty { pointer, .. }
            | Self::Name { pointer, .. }
            | Self::CallTwice { pointer, .. }
            | Self::UnknownCall { pointer, .. } => pointer,
            Self::Suspicious { findings } => {
                findings.first().map_or("", |finding| &finding.pointer)
            }
            Self::Role { .. } => "/role",
            _ => "",
        }
    }
}

fn told(findings: &[Finding]) -> String {
    let Some(first) = findings.first() else {
        return "nothing".to_owned();
    };
    let more = match findings.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{} at `{}`, characters {} to {}{more}",
        first.kind.as_str(),
        shown(&first.pointer),
        first.start,
        first.end
    )
}

/// A tool call that was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolUseError {
    /// Its name or id cannot be used.
    #[error(transparent)]
    Name(NameError),
    /// Its arguments are invalid.
    #[error(transparent)]
    Input(ToolInputError),
}
