//! Responses of a provider.

use crate::content::ContentBlock;
use crate::cost::Cost;
use crate::json::{Json, Object};
use crate::message::{ChatResponse, Degradation, ToolCall, Usage};

impl ChatResponse {
    /// A response with this content, whose calls are its blocks that call tools.
    ///
    /// # Examples
    ///
    /// ```
    /// use amplifier_core::{ChatResponse, ToolCall, Usage};
    ///
    /// let add = ToolCall::new("call_1", "add", [("a", 2), ("b", 3)]);
    /// let response = ChatResponse::text("Let me see.")
    ///     .with_tool_calls([add.clone()])
    ///     .with_usage(Usage::new(120, 25));
    ///
    /// assert_eq!(response.content.len(), 2);
    /// assert_eq!(response.tool_calls, Some(vec![add]));
    /// assert_eq!(response.plain_text(), "Let me see.");
    /// ```
    #[must_use]
    pub fn new(content: impl Into<Vec<ContentBlock>>) -> Self {
        let content = content.into();
        let calls = content.iter().filter_map(|block| match block {
            ContentBlock::ToolCall(block) => Some(ToolCall {
                id: block.id.clone(),
                name: block.name.clone(),
                arguments: block.input.clone(),
                extra: Object::new(),
            }),
            _ => None,
        });
        let calls: Vec<_> = calls.collect();
        Self {
            tool_calls: (!calls.is_empty()).then_some(calls),
            content,
            usage: None,
            degradation: None,
            finish_reason: None,
            metadata: None,
            extra: Object::new(),
        }
    }

    /// A response with this text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new([ContentBlock::text(text)])
    }

    /// A response that calls these tools and says nothing.
    #[must_use]
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self::new([]).with_tool_calls(calls)
    }

    /// Adds tool calls, each with its block.
    #[must_use]
    pub fn with_tool_calls(mut self, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        for call in calls {
            self.content.push(call.clone().into());
            self.tool_calls.get_or_insert_default().push(call);
        }
        self
    }

    /// Sets the tokens and the cost.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the reason for its end, in the provider's words.
    #[must_use]
    pub fn with_finish_reason(mut self, reason: impl Into<String>) -> Self {
        self.finish_reason = Some(reason.into());
        self
    }

    /// Sets the entries of the provider.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Object) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// The answer: the text, without reasoning; see [`ContentBlock::plain_text`].
    #[must_use]
    pub fn plain_text(&self) -> String {
        ContentBlock::plain_text(&self.content)
    }
}

impl ToolCall {
    /// A call of the tool `name`.
    ///
    /// # Examples
    ///
    /// ```
    /// use amplifier_core::{Json, Object, ToolCall};
    ///
    /// let add = ToolCall::new("call_1", "add", [("a", 2), ("b", 3)]);
    /// assert_eq!(add.arguments["b"].as_i64(), Some(3));
    ///
    /// // Values of several types, and no arguments at all:
    /// let read = [("path", Json::from("notes.md")), ("lines", Json::from(40))];
    /// let read = ToolCall::new("call_2", "read_file", read);
    /// let list = ToolCall::new("call_3", "list_files", Object::new());
    /// # assert!(list.arguments.is_empty() && read.arguments.len() == 2);
    /// ```
    #[must_use]
    pub fn new<K: Into<String>, V: Into<Json>>(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let arguments = arguments.into_iter();
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
            extra: Object::new(),
        }
    }
}

impl Usage {
    /// The tokens of the whole input and the whole output.
    #[must_use]
    pub fn new(input_tokens: i64, output_tokens: i64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            total_tokens: input_tokens.saturating_add(output_tokens),
            reasoning_tokens: None,
            cache_read_tokens: None,
            cache_write_tokens: None,
            cost_usd: None,
            extra: Object::new(),
        }
    }

    /// Sets the part of the output that was spent on reasoning.
    #[must_use]
    pub fn with_reasoning_tokens(mut self, tokens: i64) -> Self {
        self.reasoning_tokens = Some(tokens);
        self
    }

    /// Sets the parts of the input that were read from a cache and written to it.
    #[must_use]
    pub fn with_cache_tokens(mut self, read: i64, written: i64) -> Self {
        self.cache_read_tokens = Some(read);
        self.cache_write_tokens = Some(written);
        self
    }

    /// Sets the cost in US dollars.
    #[must_use]
    pub fn with_cost(mut self, cost: Cost) -> Self {
        self.cost_usd = Some(cost);
        self
    }
}

impl Degradation {
    /// What was asked for, what was used instead, and why.
    #[must_use]
    pub fn new(
        requested: impl Into<String>,
        actual: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            requested: requested.into(),
            actual: actual.into(),
            reason: reason.into(),
            extra: Object::new(),
        }
    }
}
