//! The blocks of the dialect: one tagged enum from which nothing is lost.

use amplifier_core::schema::{any_of, of_type};
use amplifier_core::{
    Form, FromJson, Json, ModelError, Object, Schema, deserialize_through_json, record,
};
use serde::{Serialize, Serializer};

record! {
    /// Text.
    pub struct TextBlock("type" = "text") {
        /// The text.
        pub text: String,
        ..extra
    }
}

record! {
    /// A tool call of the model.
    pub struct ToolUseBlock("type" = "tool_use") {
        /// The call's id, which its result names.
        pub id: String,
        /// The tool.
        pub name: String,
        /// Its arguments, an object in all calls that can run.
        pub input: Json,
        ..extra
    }
}

record! {
    /// The result of a tool call.
    pub struct ToolResultBlock("type" = "tool_result") {
        /// The call.
        pub tool_use_id: String,
        /// The result.
        pub content: String,
        /// Whether the tool failed, if it is known.
        pub is_error: Option<bool> = None,
        ..extra
    }
}

record! {
    /// The model's reasoning.
    pub struct ThinkingBlock("type" = "thinking") {
        /// The reasoning; also read from the wire's key `thinking`.
        pub content as "content" or "thinking": String,
        /// With which the provider recognises its own reasoning; left out if there is none.
        pub signature as "signature" if some: Option<String> = None,
        ..extra
    }
}

record! {
    /// An image.
    pub struct ImageBlock("type" = "image") {
        /// The image, in the form of the wire.
        pub source: Object,
        ..extra
    }
}

record! {
    /// Source code.
    pub struct CodeBlock("type" = "code") {
        /// The programming language, if it is known.
        pub language: Option<String> = None,
        /// The source code.
        pub text: String,
        ..extra
    }
}

record! {
    /// Data in rows.
    pub struct TableBlock("type" = "table") {
        /// The names of the columns.
        pub columns: Vec<String>,
        /// The cells of each row.
        pub rows: Vec<Vec<Json>>,
        ..extra
    }
}

record! {
    /// Data of a chart.
    pub struct ChartBlock("type" = "chart") {
        /// The type of chart, such as `bar`.
        pub kind: String,
        /// The data.
        pub data: Json,
        ..extra
    }
}

record! {
    /// A block of a type that is not known here, kept whole.
    pub struct UnknownBlock {
        /// Its type, not one of the known ones.
        pub block_type as "type": OtherType,
        ..extra
    }
}

/// A block type that is not one of the known ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OtherType(String);

impl OtherType {
    /// The type, or `None` where it is a known one.
    #[must_use]
    pub fn new(block_type: &str) -> Option<Self> {
        let is_known = ContentBlock::TYPES.contains(&block_type);
        (!is_known).then(|| Self(block_type.to_owned()))
    }

    /// The type in JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromJson for OtherType {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        let block_type = json.as_str().and_then(Self::new);
        block_type.ok_or_else(|| ModelError::unexpected("a type that has no variant", &json))
    }
}

impl Schema for OtherType {
    fn schema(_form: Form) -> Json {
        of_type("string")
    }
}

impl Serialize for OtherType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

deserialize_through_json!(OtherType);

/// A block of content, tagged by its `type`.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentBlock {
    /// `text`.
    Text(TextBlock),
    /// `tool_use`.
    ToolUse(ToolUseBlock),
    /// `tool_result`.
    ToolResult(ToolResultBlock),
    /// `thinking`.
    Thinking(ThinkingBlock),
    /// `image`.
    Image(ImageBlock),
    /// `code`.
    Code(CodeBlock),
    /// `table`.
    Table(TableBlock),
    /// `chart`.
    Chart(ChartBlock),
    /// Any other type.
    Unknown(UnknownBlock),
}

impl ContentBlock {
    /// The types that have a variant of their own.
    pub const TYPES: &'static [&'static str] = &[
        "text",
        "tool_use",
        "tool_result",
        "thinking",
        "image",
        "code",
        "table",
        "chart",
    ];

    /// A text block.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextBlock {
            text: text.into(),
            extra: Object::new(),
        })
    }

    /// A thinking block without a signature.
    #[must_use]
    pub fn thinking(content: impl Into<String>) -> Self {
        Self::Thinking(ThinkingBlock {
            content: content.into(),
            signature: None,
            extra: Object::new(),
        })
    }

    /// Its `type` in JSON.
    #[must_use]
    pub fn block_type(&self) -> &str {
        match self {
            Self::Text(_) => "text",
            Self::ToolUse(_) => "tool_use",
            Self::ToolResult(_) => "tool_result",
            Self::Thinking(_) => "thinking",
            Self::Image(_) => "image",
            Self::Code(_) => "code",
            Self::Table(_) => "table",
            Self::Chart(_) => "chart",
            Self::Unknown(block) => block.block_type.as_str(),
        }
    }
}

impl FromJson for ContentBlock {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        match json.get("type").and_then(Json::as_str) {
            Some("text") => TextBlock::from_json(json).map(Self::Text),
            Some("tool_use") => ToolUseBlock::from_json(json).map(Self::ToolUse),
            Some("tool_result") => ToolResultBlock::from_json(json).map(Self::ToolResult),
            Some("thinking") => ThinkingBlock::from_json(json).map(Self::Thinking),
            Some("image") => ImageBlock::from_json(json).map(Self::Image),
            Some("code") => CodeBlock::from_json(json).map(Self::Code),
            Some("table") => TableBlock::from_json(json).map(Self::Table),
            Some("chart") => ChartBlock::from_json(json).map(Self::Chart),
            _ => UnknownBlock::from_json(json).map(Self::Unknown),
        }
    }
}

impl Schema for ContentBlock {
    fn schema(form: Form) -> Json {
        any_of(vec![
            TextBlock::schema(form),
            ToolUseBlock::schema(form),
            ToolResultBlock::schema(form),
            ThinkingBlock::schema(form),
            ImageBlock::schema(form),
            CodeBlock::schema(form),
            TableBlock::schema(form),
            ChartBlock::schema(form),
            UnknownBlock::schema(form),
        ])
    }
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(block) => block.serialize(serializer),
            Self::ToolUse(block) => block.serialize(serializer),
            Self::ToolResult(block) => block.serialize(serializer),
            Self::Thinking(block) => block.serialize(serializer),
            Self::Image(block) => block.serialize(serializer),
            Self::Code(block) => block.serialize(serializer),
            Self::Table(block) => block.serialize(serializer),
            Self::Chart(block) => block.serialize(serializer),
            Self::Unknown(block) => block.serialize(serializer),
        }
    }
}

deserialize_through_json!(ContentBlock);
