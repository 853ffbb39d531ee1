//! Messages of a conversation.

use crate::content::ContentBlock;
use crate::json::Object;
use crate::message::{Message, MessageContent, Role};

impl Message {
    /// A message of this role.
    ///
    /// # Examples
    ///
    /// ```
    /// use amplifier_core::{ContentBlock, Message, Role};
    ///
    /// let question = Message::user("How much is 2 + 3?").with_name("ada");
    /// assert_eq!(question, Message::new(Role::User, "How much is 2 + 3?").with_name("ada"));
    ///
    /// let call = ContentBlock::tool_call("call_1", "add", [("a", 2), ("b", 3)]);
    /// let conversation = [
    ///     question,
    ///     Message::assistant(vec![ContentBlock::text("Let me see."), call]),
    ///     Message::tool("call_1", "5"),
    ///     Message::assistant("It is 5."),
    /// ];
    /// assert_eq!(conversation[1].plain_text(), "Let me see.");
    /// ```
    #[must_use]
    pub fn new(role: Role, content: impl Into<MessageContent>) -> Self {
        Self {
            role,
            content: content.into(),
            name: None,
            tool_call_id: None,
            metadata: None,
            extra: Object::new(),
        }
    }

    /// An instruction of the application.
    #[must_use]
    pub fn system(content: impl Into<MessageContent>) -> Self {
        Self::new(Role::System, content)
    }

    /// An instruction of the developer, for models that tell it from the system's.
    #[must_use]
    pub fn developer(content: impl Into<MessageContent>) -> Self {
        Self::new(Role::Developer, content)
    }

    /// A message of the user.
    #[must_use]
    pub fn user(content: impl Into<MessageContent>) -> Self {
        Self::new(Role::User, content)
    }

    /// A message of the model.
    #[must_use]
    pub fn assistant(content: impl Into<MessageContent>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// The result of the tool call `tool_call_id`.
    #[must_use]
    pub fn tool(tool_call_id: impl Into<String>, content: impl Into<MessageContent>) -> Self {
        Self {
            tool_call_id: Some(tool_call_id.into()),
            ..Self::new(Role::Tool, content)
        }
    }

    /// Names the speaker or the tool.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the entries of the application.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Object) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// The text of the content, without reasoning; see [`ContentBlock::plain_text`].
    #[must_use]
    pub fn plain_text(&self) -> String {
        match &self.content {
            MessageContent::Text(text) => text.clone(),
            MessageContent::Blocks(blocks) => ContentBlock::plain_text(blocks),
        }
    }
}

impl From<&str> for MessageContent {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for MessageContent {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<ContentBlock>> for MessageContent {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::Blocks(blocks)
    }
}
