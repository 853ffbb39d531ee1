//! The blocks of the dialect: one tagged enum from which nothing is lost.

use amplifier_core::{Json, Object, blocks, record};

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

blocks! {
    /// A block of content, tagged by its `type`.
    pub enum ContentBlock {
        Text(TextBlock) = "text",
        ToolUse(ToolUseBlock) = "tool_use",
        ToolResult(ToolResultBlock) = "tool_result",
        Thinking(ThinkingBlock) = "thinking",
        Image(ImageBlock) = "image",
        Code(CodeBlock) = "code",
        Table(TableBlock) = "table",
        Chart(ChartBlock) = "chart",
        _ => Unknown(UnknownBlock),
    }

    /// A block type that is not one of the known ones.
    pub struct OtherType;
}

impl ContentBlock {
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
}
