//! Requests to a provider.

use crate::json::Object;
use crate::message::{
    ChatRequest, Message, ResponseFormat, ResponseFormatJson, ResponseFormatJsonSchema, ToolChoice,
    ToolSpec,
};

impl ChatRequest {
    /// A request to continue this conversation.
    ///
    /// # Examples
    ///
    /// ```
    /// use amplifier_core::{ChatRequest, FromJson as _, Message, Object, ToolSpec};
    ///
    /// let schema = Object::parse(br#"{"type": "object", "properties": {"city": {"type": "string"}}}"#)?;
    /// let request = ChatRequest::new([Message::user("Is it warm in Rome?")])
    ///     .with_tools([ToolSpec::new("weather", schema).with_description("The weather of a city.")])
    ///     .with_model("small")
    ///     .with_max_output_tokens(500);
    ///
    /// assert_eq!(request.messages.len(), 1);
    /// assert_eq!(request.temperature, None);
    /// # Ok::<(), amplifier_core::ModelError>(())
    /// ```
    #[must_use]
    pub fn new(messages: impl Into<Vec<Message>>) -> Self {
        Self {
            messages: messages.into(),
            tools: None,
            response_format: None,
            temperature: None,
            top_p: None,
            max_output_tokens: None,
            conversation_id: None,
            stream: Some(false),
            metadata: None,
            model: None,
            tool_choice: None,
            stop: None,
            reasoning_effort: None,
            timeout: None,
            extra: Object::new(),
        }
    }

    /// Sets the tools that the model may call; none at all leaves them out.
    #[must_use]
    pub fn with_tools(mut self, tools: impl Into<Vec<ToolSpec>>) -> Self {
        self.tools = Some(tools.into()).filter(|tools| !tools.is_empty());
        self
    }

    /// Sets which tool to choose.
    #[must_use]
    pub fn with_tool_choice(mut self, choice: impl Into<ToolChoice>) -> Self {
        self.tool_choice = Some(choice.into());
        self
    }

    /// Sets the model.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the form of the answer.
    #[must_use]
    pub fn with_response_format(mut self, format: ResponseFormat) -> Self {
        self.response_format = Some(format);
        self
    }

    /// Sets the sampling temperature.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the most tokens of the answer.
    #[must_use]
    pub fn with_max_output_tokens(mut self, tokens: i64) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Sets the sequences that end the answer.
    #[must_use]
    pub fn with_stop<S: Into<String>>(mut self, stop: impl IntoIterator<Item = S>) -> Self {
        self.stop = Some(stop.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the effort of reasoning, such as `low` or `high`.
    #[must_use]
    pub fn with_reasoning_effort(mut self, effort: impl Into<String>) -> Self {
        self.reasoning_effort = Some(effort.into());
        self
    }

    /// Sets the entries of the application.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Object) -> Self {
        self.metadata = Some(metadata);
        self
    }
}

impl ToolSpec {
    /// A tool with the JSON schema of its arguments.
    #[must_use]
    pub fn new(name: impl Into<String>, parameters: Object) -> Self {
        Self {
            name: name.into(),
            parameters,
            description: None,
            extra: Object::new(),
        }
    }

    /// Says what the tool does.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

impl ResponseFormat {
    /// Any JSON.
    #[must_use]
    pub fn json() -> Self {
        Self::Json(ResponseFormatJson {})
    }

    /// JSON of this schema.
    #[must_use]
    pub fn json_schema(schema: Object) -> Self {
        Self::JsonSchema(ResponseFormatJsonSchema {
            json_schema: schema,
            strict: None,
        })
    }
}

impl From<&str> for ToolChoice {
    /// A word of the provider such as `auto` or `none`, or a tool's name.
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}
