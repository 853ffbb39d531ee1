//! Content blocks: one tagged enum, without loss.

use serde::{Serialize, Serializer};

use crate::from_json::{FromJson, ModelError};
use crate::json::{Json, Object};
use crate::record::{deserialize_through_json, record, words};
use crate::schema::{Form, Schema, any_of, of_type};

words! {
    /// Who may see a block.
    pub enum Visibility {
        Internal = "internal",
        Developer = "developer",
        User = "user",
    }
}

words! {
    /// The kinds of block that a display knows.
    pub enum ContentBlockType {
        Text = "text",
        Thinking = "thinking",
        ToolCall = "tool_call",
        ToolResult = "tool_result",
    }
}

record! {
    /// Text.
    pub struct TextBlock("type" = "text") {
        /// The text.
        pub text: String,
        /// Who may see it.
        pub visibility: Option<Visibility> = None,
        ..extra
    }
}

record! {
    /// The model's reasoning, with the signature that lets it be sent back.
    pub struct ThinkingBlock("type" = "thinking") {
        /// The reasoning.
        pub thinking: String,
        /// The provider's signature.
        pub signature: Option<String> = None,
        /// Who may see it.
        pub visibility: Option<Visibility> = None,
        /// The provider's own items.
        pub content: Option<Vec<Json>> = None,
        ..extra
    }
}

record! {
    /// Reasoning that the provider encrypted.
    pub struct RedactedThinkingBlock("type" = "redacted_thinking") {
        /// Opaque.
        pub data: String,
        /// Who may see it.
        pub visibility: Option<Visibility> = None,
        ..extra
    }
}

record! {
    /// A tool that the model asks for.
    pub struct ToolCallBlock("type" = "tool_call") {
        /// The call's id, which its result names.
        pub id: String,
        /// The tool.
        pub name: String,
        /// Its arguments.
        pub input: Object,
        /// Who may see it.
        pub visibility: Option<Visibility> = None,
        ..extra
    }
}

record! {
    /// The result of a tool.
    pub struct ToolResultBlock("type" = "tool_result") {
        /// The call.
        pub tool_call_id: String,
        /// The output.
        pub output: Json,
        /// Who may see it.
        pub visibility: Option<Visibility> = None,
        ..extra
    }
}

record! {
    /// An image.
    pub struct ImageBlock("type" = "image") {
        /// The source, in the provider's form.
        pub source: Object,
        /// Who may see it.
        pub visibility: Option<Visibility> = None,
        ..extra
    }
}

record! {
    /// Reasoning in the form of content and summary items.
    pub struct ReasoningBlock("type" = "reasoning") {
        /// The content items.
        pub content: Vec<Json>,
        /// The summary items.
        pub summary: Vec<Json>,
        /// Who may see it.
        pub visibility: Option<Visibility> = None,
        ..extra
    }
}

record! {
    /// A block of an unknown type, kept whole.
    pub struct UnknownBlock {
        /// Its type, which is not one of the known types.
        pub block_type as "type": UnknownType,
        ..extra
    }
}

/// The type of an unknown block.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnknownType(String);

impl UnknownType {
    /// The type; `None` if it is a known one.
    #[must_use]
    pub fn new(block_type: &str) -> Option<Self> {
        let is_known = ContentBlock::TYPES.contains(&block_type);
        (!is_known).then(|| Self(block_type.to_owned()))
    }

    /// The type as JSON writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromJson for UnknownType {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        let block_type = json.as_str().and_then(Self::new);
        block_type.ok_or_else(|| ModelError::unexpected("a type that has no variant", &json))
    }
}

impl Schema for UnknownType {
    fn schema(_form: Form) -> Json {
        of_type("string")
    }
}

impl Serialize for UnknownType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

deserialize_through_json!(UnknownType);

/// A block of content, distinguished by its `type`.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentBlock {
    /// `text`.
    Text(TextBlock),
    /// `thinking`.
    Thinking(ThinkingBlock),
    /// `redacted_thinking`.
    RedactedThinking(RedactedThinkingBlock),
    /// `tool_call`.
    ToolCall(ToolCallBlock),
    /// `tool_result`.
    ToolResult(ToolResultBlock),
    /// `image`.
    Image(ImageBlock),
    /// `reasoning`.
    Reasoning(ReasoningBlock),
    /// Any other type.
    Unknown(UnknownBlock),
}

impl ContentBlock {
    /// The types with a variant of their own.
    pub const TYPES: &'static [&'static str] = &[
        "text",
        "thinking",
        "redacted_thinking",
        "tool_call",
        "tool_result",
        "image",
        "reasoning",
    ];

    /// A text block.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextBlock {
            text: text.into(),
            visibility: None,
            extra: Object::new(),
        })
    }

    /// Its `type` as JSON writes it.
    #[must_use]
    pub fn block_type(&self) -> &str {
        match self {
            Self::Text(_) => "text",
            Self::Thinking(_) => "thinking",
            Self::RedactedThinking(_) => "redacted_thinking",
            Self::ToolCall(_) => "tool_call",
            Self::ToolResult(_) => "tool_result",
            Self::Image(_) => "image",
            Self::Reasoning(_) => "reasoning",
            Self::Unknown(block) => block.block_type.as_str(),
        }
    }
}

impl FromJson for ContentBlock {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        let block_type = json.get("type").and_then(Json::as_str);
        match block_type {
            Some("text") => TextBlock::from_json(json).map(Self::Text),
            Some("thinking") => ThinkingBlock::from_json(json).map(Self::Thinking),
            Some("redacted_thinking") => {
                RedactedThinkingBlock::from_json(json).map(Self::RedactedThinking)
            }
            Some("tool_call") => ToolCallBlock::from_json(json).map(Self::ToolCall),
            Some("tool_result") => ToolResultBlock::from_json(json).map(Self::ToolResult),
            Some("image") => ImageBlock::from_json(json).map(Self::Image),
            Some("reasoning") => ReasoningBlock::from_json(json).map(Self::Reasoning),
            _ => UnknownBlock::from_json(json).map(Self::Unknown),
        }
    }
}

impl Schema for ContentBlock {
    fn schema(form: Form) -> Json {
        any_of(vec![
            TextBlock::schema(form),
            ThinkingBlock::schema(form),
            RedactedThinkingBlock::schema(form),
            ToolCallBlock::schema(form),
            ToolResultBlock::schema(form),
            ImageBlock::schema(form),
            ReasoningBlock::schema(form),
            UnknownBlock::schema(form),
        ])
    }
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(block) => block.serialize(serializer),
            Self::Thinking(block) => block.serialize(serializer),
            Self::RedactedThinking(block) => block.serialize(serializer),
            Self::ToolCall(block) => block.serialize(serializer),
            Self::ToolResult(block) => block.serialize(serializer),
            Self::Image(block) => block.serialize(serializer),
            Self::Reasoning(block) => block.serialize(serializer),
            Self::Unknown(block) => block.serialize(serializer),
        }
    }
}

deserialize_through_json!(ContentBlock);
