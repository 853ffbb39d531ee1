#![cfg_attr(feature = "tokio", doc = include_str!("../README.md"))]
//! # The modules
//!
//! The types are those of the contract: whatever JSON they read, Pydantic's models of the same name
//! read too, and both write it alike. The decisions ([`hook`], [`coordinator`], [`cancellation`],
//! [`session`]) say what to do next and never wait for anything; a driver does, be it Python's or,
//! with the feature `tokio`, the module `runtime`. The traits of modules are in [`traits`].

mod approval_decision;
#[doc(hidden)]
pub mod base64;
mod blocks;
pub mod cancellation;
pub mod capability;
mod construct;
mod content;
mod contract;
pub mod coordinator;
mod cost;
pub mod error;
pub mod event;
mod from_json;
pub mod hook;
mod http_status;
mod json;
mod message;
mod model;
mod provider_error;
pub mod record;
#[cfg(feature = "tokio")]
pub mod runtime;
pub mod schema;
pub mod session;
mod session_config;
mod slot;
pub mod steps;
mod timestamp;
mod tool_result;
pub mod traits;

// For the macros of `record`.
#[doc(hidden)]
pub use serde;

pub use content::{
    ContentBlock, ContentBlockType, ImageBlock, ReasoningBlock, RedactedThinkingBlock, TextBlock,
    ThinkingBlock, ToolCallBlock, ToolResultBlock, UnknownBlock, UnknownType, Visibility,
};
pub use contract::{SHARED_TYPES, Shape, SharedType};
pub use cost::Cost;
pub use from_json::{FromJson, ModelError};
pub use http_status::StatusKind;
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
pub use provider_error::{ProviderError, ProviderFailure};
pub use schema::{Form, Schema};
pub use session_config::{ModuleSpec, SessionConfig};
pub use timestamp::{Timestamp, event_timestamp};
pub use tool_result::{InlineImage, ToolContent, ToolResult};
