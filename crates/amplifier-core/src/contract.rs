//! The table of shared types: every type that has a JSON form in the contract.

use crate::content::{
    ContentBlock, ContentBlockType, ImageBlock, ReasoningBlock, RedactedThinkingBlock, TextBlock,
    ThinkingBlock, ToolCallBlock, ToolResultBlock, UnknownBlock, Visibility,
};
use crate::from_json::{FromJson, ModelError};
use crate::json::Json;
use crate::message::{
    ChatRequest, ChatResponse, Degradation, Message, ResponseFormat, ResponseFormatJson,
    ResponseFormatJsonSchema, ResponseFormatText, Role, ToolCall, ToolSpec, Usage,
};
use crate::model::{
    ApprovalDefault, ApprovalRequest, ApprovalResponse, ConfigField, ConfigFieldType,
    ContextInjection, ContextInjectionRole, HookAction, HookResult, ModelInfo, ModuleInfo,
    ModuleType, Pricing, ProviderInfo, SessionState, SessionStatus, UserMessageLevel,
};
use crate::schema::{Form, Schema};
use crate::tool_result::ToolResult;

/// A type of the JSON contract.
#[derive(Clone, Copy, Debug)]
pub struct SharedType {
    /// Its name on both sides.
    pub name: &'static str,
    /// What it is made of.
    pub shape: Shape,
    rewrite: fn(&[u8]) -> Result<String, ModelError>,
    schema: fn(Form) -> Json,
}

/// What a shared type is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Keys, in the order in which they are written.
    Record(&'static [&'static str]),
    /// The allowed words.
    Words(&'static [&'static str]),
    /// The values of `type` that identify its variants.
    Union(&'static [&'static str]),
}

impl SharedType {
    /// The type `T` under this name.
    #[must_use]
    pub const fn of<T: FromJson + Schema + serde::Serialize>(
        name: &'static str,
        shape: Shape,
    ) -> Self {
        Self {
            name,
            shape,
            rewrite: rewrite::<T>,
            schema: T::schema,
        }
    }

    /// Read a JSON text as this type and write it again.
    pub fn rewrite(&self, text: &[u8]) -> Result<String, ModelError> {
        (self.rewrite)(text)
    }

    /// The JSON schema of what the type reads or writes.
    #[must_use]
    pub fn schema(&self, form: Form) -> Json {
        (self.schema)(form)
    }
}

fn rewrite<T: FromJson + serde::Serialize>(text: &[u8]) -> Result<String, ModelError> {
    let value = T::parse(text)?;
    // No shared type holds a map with other keys than strings: writing it to memory cannot fail.
    Ok(serde_json::to_string(&value).unwrap_or_default())
}

macro_rules! shared {
    ($($name:ident: $shape:ident($parts:ident),)*) => {
        /// All shared types.
        pub const SHARED_TYPES: &[SharedType] = &[
            $(SharedType::of::<$name>(stringify!($name), Shape::$shape($name::$parts))),*
        ];
    };
}

shared! {
    HookResult: Record(KEYS),
    HookAction: Words(WORDS),
    ContextInjection: Record(KEYS),
    ContextInjectionRole: Words(WORDS),
    ApprovalDefault: Words(WORDS),
    UserMessageLevel: Words(WORDS),
    ToolResult: Record(KEYS),
    ModelInfo: Record(KEYS),
    Pricing: Record(KEYS),
    ConfigField: Record(KEYS),
    ConfigFieldType: Words(WORDS),
    ProviderInfo: Record(KEYS),
    ModuleInfo: Record(KEYS),
    ModuleType: Words(WORDS),
    SessionStatus: Record(KEYS),
    SessionState: Words(WORDS),
    ApprovalRequest: Record(KEYS),
    ApprovalResponse: Record(KEYS),
    Message: Record(KEYS),
    Role: Words(WORDS),
    Visibility: Words(WORDS),
    ContentBlock: Union(TYPES),
    ContentBlockType: Words(WORDS),
    TextBlock: Record(KEYS),
    ThinkingBlock: Record(KEYS),
    RedactedThinkingBlock: Record(KEYS),
    ToolCallBlock: Record(KEYS),
    ToolResultBlock: Record(KEYS),
    ImageBlock: Record(KEYS),
    ReasoningBlock: Record(KEYS),
    UnknownBlock: Record(KEYS),
    ToolSpec: Record(KEYS),
    ChatRequest: Record(KEYS),
    ResponseFormat: Union(TYPES),
    ResponseFormatText: Record(KEYS),
    ResponseFormatJson: Record(KEYS),
    ResponseFormatJsonSchema: Record(KEYS),
    ToolCall: Record(KEYS),
    Usage: Record(KEYS),
    Degradation: Record(KEYS),
    ChatResponse: Record(KEYS),
}
