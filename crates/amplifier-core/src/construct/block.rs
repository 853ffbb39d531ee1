//! Blocks of content.

use crate::content::{
    ContentBlock, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock, Visibility,
};
use crate::json::{Json, Object};
use crate::message::ToolCall;

impl ContentBlock {
    /// A text block.
    ///
    /// # Examples
    ///
    /// ```
    /// use amplifier_core::ContentBlock;
    ///
    /// assert_eq!(ContentBlock::text("Hello.").as_text(), Some("Hello."));
    /// assert_eq!(ContentBlock::tool_call("call_1", "add", [("a", 2)]).block_type(), "tool_call");
    /// ```
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextBlock {
            text: text.into(),
            visibility: None,
            extra: Object::new(),
        })
    }

    /// A block of the model's reasoning, without a signature.
    #[must_use]
    pub fn thinking(thinking: impl Into<String>) -> Self {
        Self::Thinking(ThinkingBlock {
            thinking: thinking.into(),
            signature: None,
            visibility: None,
            content: None,
            extra: Object::new(),
        })
    }

    /// A block that calls a tool.
    #[must_use]
    pub fn tool_call<K: Into<String>, V: Into<Json>>(
        id: impl Into<String>,
        name: impl Into<String>,
        input: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        ToolCall::new(id, name, input).into()
    }

    /// A block with the result of the tool call `tool_call_id`.
    #[must_use]
    pub fn tool_result(tool_call_id: impl Into<String>, output: impl Into<Json>) -> Self {
        Self::ToolResult(ToolResultBlock {
            tool_call_id: tool_call_id.into(),
            output: output.into(),
            visibility: None,
            extra: Object::new(),
        })
    }

    /// The text, if it is a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(block) = self {
            Some(&block.text)
        } else {
            None
        }
    }

    /// The text of these blocks, without reasoning.
    ///
    /// Text blocks that follow each other are one paragraph: citations split a text into several
    /// blocks. Other blocks begin a new one.
    ///
    /// # Examples
    ///
    /// ```
    /// use amplifier_core::ContentBlock;
    ///
    /// let blocks = [
    ///     ContentBlock::text("It "),
    ///     ContentBlock::text("is 5."),
    ///     ContentBlock::thinking("Nobody reads this."),
    ///     ContentBlock::text("Anything else?"),
    /// ];
    /// assert_eq!(ContentBlock::plain_text(&blocks), "It is 5.\n\nAnything else?");
    /// ```
    #[must_use]
    pub fn plain_text(blocks: &[Self]) -> String {
        let paragraphs =
            blocks.chunk_by(|one, next| matches!((one, next), (Self::Text(_), Self::Text(_))));
        let texts = paragraphs.map(|blocks| blocks.iter().filter_map(Self::as_text).collect());
        let texts: Vec<String> = texts.filter(|text: &String| !text.is_empty()).collect();
        texts.join("\n\n")
    }

    /// Says who may see the block; a block of an unknown type keeps what it has.
    #[must_use]
    pub fn with_visibility(mut self, visibility: Visibility) -> Self {
        let own = match &mut self {
            Self::Text(block) => &mut block.visibility,
            Self::Thinking(block) => &mut block.visibility,
            Self::RedactedThinking(block) => &mut block.visibility,
            Self::ToolCall(block) => &mut block.visibility,
            Self::ToolResult(block) => &mut block.visibility,
            Self::Image(block) => &mut block.visibility,
            Self::Reasoning(block) => &mut block.visibility,
            Self::Unknown(_) => return self,
        };
        *own = Some(visibility);
        self
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<ToolCall> for ContentBlock {
    fn from(call: ToolCall) -> Self {
        Self::ToolCall(ToolCallBlock {
            id: call.id,
            name: call.name,
            input: call.arguments,
            visibility: None,
            extra: call.extra,
        })
    }
}
