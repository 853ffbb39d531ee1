//! Content blocks: one tagged enum, without loss.

use crate::blocks::blocks;
use crate::json::{Json, Object};
use crate::record::{json_words, record};

json_words! {
    /// Who may see a block.
    pub enum Visibility {
        Internal = "internal",
        Developer = "developer",
        User = "user",
    }
}

json_words! {
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

blocks! {
    /// A block of content, distinguished by its `type`.
    pub enum ContentBlock {
        Text(TextBlock) = "text",
        Thinking(ThinkingBlock) = "thinking",
        RedactedThinking(RedactedThinkingBlock) = "redacted_thinking",
        ToolCall(ToolCallBlock) = "tool_call",
        ToolResult(ToolResultBlock) = "tool_result",
        Image(ImageBlock) = "image",
        Reasoning(ReasoningBlock) = "reasoning",
        _ => Unknown(UnknownBlock),
    }

    /// The type of an unknown block.
    pub struct UnknownType;
}
