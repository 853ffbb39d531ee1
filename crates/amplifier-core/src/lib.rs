//! The agent kernel: types and decisions, with no Python and no I/O.

pub mod cancellation;
pub mod capability;
mod content;
mod contract;
pub mod coordinator;
mod cost;
pub mod error;
pub mod event;
mod from_json;
pub mod hook;
mod json;
mod message;
mod model;
mod record;
pub mod session;
mod tool_result;

pub use content::{
    ContentBlock, ContentBlockType, ImageBlock, ReasoningBlock, RedactedThinkingBlock, TextBlock,
    ThinkingBlock, ToolCallBlock, ToolResultBlock, UnknownBlock, UnknownType, Visibility,
};
pub use contract::{SHARED_TYPES, Shape, SharedType};
pub use cost::Cost;
pub use from_json::{FromJson, ModelError};
pub use json::{BigInt, Json, JsonError, MAX_DEPTH, MAX_DIGITS, Object};
pub use message::{
    ChatRequest, ChatResponse, Degradation, Message, MessageContent, ResponseFormat,
    ResponseFormatJson, ResponseFormatJsonSchema, ResponseFormatText, Role, ToolCall, ToolChoice,
    ToolSpec, Usage,
};
pub use model::{
    ApprovalDefault, ApprovalRequest, ApprovalResponse, ConfigField, ConfigFieldType,
    ContextInjection, ContextInjectionRole, HookAction, HookResult, ModelInfo, ModuleInfo,
    ModuleType, Pricing, ProviderInfo, SessionState, SessionStatus, UserMessageLevel,
};
pub use tool_result::{InlineImage, ToolContent, ToolResult};
