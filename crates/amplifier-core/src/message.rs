//! Messages between the kernel and the providers: requests, responses, usage.

use serde::{Serialize, Serializer};

use crate::content::ContentBlock;
use crate::cost::Cost;
use crate::from_json::{FromJson, ModelError};
use crate::json::{Json, Object};
use crate::record::{deserialize_through_json, json_words, record};
use crate::schema::{Form, Schema, any_of};

json_words! {
    /// The role of a message.
    pub enum Role {
        System = "system",
        Developer = "developer",
        User = "user",
        Assistant = "assistant",
        Function = "function",
        Tool = "tool",
    }
}

/// The content of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageContent {
    /// Plain text.
    Text(String),
    /// Blocks.
    Blocks(Vec<ContentBlock>),
}

impl FromJson for MessageContent {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        match json {
            Json::Str(text) => Ok(Self::Text(text)),
            Json::Array(_) => Vec::from_json(json).map(Self::Blocks),
            other => Err(ModelError::unexpected("a string or an array", &other)),
        }
    }
}

impl Schema for MessageContent {
    fn schema(form: Form) -> Json {
        any_of(vec![
            String::schema(form),
            Vec::<ContentBlock>::schema(form),
        ])
    }
}

impl Serialize for MessageContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Blocks(blocks) => blocks.serialize(serializer),
        }
    }
}

deserialize_through_json!(MessageContent);

record! {
    /// One message of a conversation.
    pub struct Message {
        /// The role.
        pub role: Role,
        /// The content.
        pub content: MessageContent,
        /// The speaker's or the tool's name.
        pub name: Option<String> = None,
        /// The call that a tool message answers.
        pub tool_call_id: Option<String> = None,
        /// Entries of the application.
        pub metadata: Option<Object> = None,
        ..extra
    }
}

record! {
    /// A tool as it is described to the model.
    pub struct ToolSpec {
        /// Its name.
        pub name: String,
        /// The JSON schema of its arguments.
        pub parameters: Object,
        /// What it does.
        pub description: Option<String> = None,
        ..extra
    }
}

record! {
    /// The answer is free text.
    pub struct ResponseFormatText("type" = "text") {}
}

record! {
    /// The answer is any JSON.
    pub struct ResponseFormatJson("type" = "json") {}
}

record! {
    /// The answer is JSON of a schema.
    pub struct ResponseFormatJsonSchema("type" = "json_schema") {
        /// The schema.
        pub json_schema: Object,
        /// Whether it must be followed to the letter.
        pub strict: Option<bool> = None,
    }
}

/// The form that an answer must have, distinguished by its `type`.
#[derive(Clone, Debug, PartialEq)]
pub enum ResponseFormat {
    /// `text`.
    Text(ResponseFormatText),
    /// `json`.
    Json(ResponseFormatJson),
    /// `json_schema`.
    JsonSchema(ResponseFormatJsonSchema),
}

impl ResponseFormat {
    /// The known types.
    pub const TYPES: &'static [&'static str] = &["text", "json", "json_schema"];
}

impl FromJson for ResponseFormat {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        match json.get("type").and_then(Json::as_str) {
            Some("text") => ResponseFormatText::from_json(json).map(Self::Text),
            Some("json") => ResponseFormatJson::from_json(json).map(Self::Json),
            Some("json_schema") => ResponseFormatJsonSchema::from_json(json).map(Self::JsonSchema),
            _ => {
                let types = Self::TYPES.join("`, `");
                let expected = format!("an object whose `type` is one of `{types}`");
                Err(ModelError::unexpected(
                    expected,
                    json.get("type").unwrap_or(&json),
                ))
            }
        }
    }
}

impl Schema for ResponseFormat {
    fn schema(form: Form) -> Json {
        any_of(vec![
            ResponseFormatText::schema(form),
            ResponseFormatJson::schema(form),
            ResponseFormatJsonSchema::schema(form),
        ])
    }
}

impl Serialize for ResponseFormat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(format) => format.serialize(serializer),
            Self::Json(format) => format.serialize(serializer),
            Self::JsonSchema(format) => format.serialize(serializer),
        }
    }
}

deserialize_through_json!(ResponseFormat);

/// Which tool the model should choose.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolChoice {
    /// A word of the provider, or a tool's name.
    Word(String),
    /// A form of the provider.
    Detail(Object),
}

impl FromJson for ToolChoice {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        match json {
            Json::Str(word) => Ok(Self::Word(word)),
            Json::Object(detail) => Ok(Self::Detail(detail)),
            other => Err(ModelError::unexpected("a string or an object", &other)),
        }
    }
}

impl Schema for ToolChoice {
    fn schema(form: Form) -> Json {
        any_of(vec![String::schema(form), Object::schema(form)])
    }
}

impl Serialize for ToolChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Word(word) => serializer.serialize_str(word),
            Self::Detail(detail) => detail.serialize(serializer),
        }
    }
}

deserialize_through_json!(ToolChoice);

record! {
    /// What a provider is asked to complete.
    pub struct ChatRequest {
        /// The conversation.
        pub messages: Vec<Message>,
        /// The tools that the model may ask for.
        pub tools: Option<Vec<ToolSpec>> = None,
        /// The form of the answer.
        pub response_format: Option<ResponseFormat> = None,
        /// The sampling temperature.
        pub temperature: Option<f64> = None,
        /// The probability mass to sample from.
        pub top_p: Option<f64> = None,
        /// The most tokens of the answer.
        pub max_output_tokens: Option<i64> = None,
        /// The conversation's id.
        pub conversation_id: Option<String> = None,
        /// Whether to stream.
        pub stream: Option<bool> = Some(false),
        /// Entries of the application.
        pub metadata: Option<Object> = None,
        /// The model.
        pub model: Option<String> = None,
        /// Which tool to choose.
        pub tool_choice: Option<ToolChoice> = None,
        /// The sequences that end the answer.
        pub stop: Option<Vec<String>> = None,
        /// The effort of reasoning.
        pub reasoning_effort: Option<String> = None,
        /// How long to wait, in seconds.
        pub timeout: Option<f64> = None,
        ..extra
    }
}

record! {
    /// A tool call of a response, ready to be run.
    pub struct ToolCall {
        /// The call's id, which its result names.
        pub id: String,
        /// The tool.
        pub name: String,
        /// Its arguments.
        pub arguments: Object,
        ..extra
    }
}

record! {
    /// Tokens and cost of a response.
    pub struct Usage {
        /// All input.
        pub input_tokens: i64,
        /// All output.
        pub output_tokens: i64,
        /// Both.
        pub total_tokens: i64,
        /// Output spent on reasoning.
        pub reasoning_tokens: Option<i64> = None,
        /// Input read from a cache.
        pub cache_read_tokens: Option<i64> = None,
        /// Input written to a cache.
        pub cache_write_tokens: Option<i64> = None,
        /// What it cost, if known.
        pub cost_usd: Option<Cost> = None,
        ..extra
    }
}

record! {
    /// Something that was requested and could not be expressed in full.
    pub struct Degradation {
        /// What was asked for.
        pub requested: String,
        /// What was used instead.
        pub actual: String,
        /// Why.
        pub reason: String,
        ..extra
    }
}

record! {
    /// The response of a provider.
    pub struct ChatResponse {
        /// The answer.
        pub content: Vec<ContentBlock>,
        /// The tool calls in it.
        pub tool_calls: Option<Vec<ToolCall>> = None,
        /// Tokens and cost.
        pub usage: Option<Usage> = None,
        /// What could not be expressed.
        pub degradation: Option<Degradation> = None,
        /// The reason for its end.
        pub finish_reason: Option<String> = None,
        /// Entries of the provider.
        pub metadata: Option<Object> = None,
        ..extra
    }
}
