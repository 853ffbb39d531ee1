//! The Claude dialect: messages of typed blocks, as views of the kernel's.
//!
//! From the dialect to the kernel and back nothing is lost, unknown block types and unknown keys
//! included. Whatever the dialect cannot express of the kernel's messages is reported in a
//! [`Degradation`](amplifier_core::Degradation): `requested` has the place and what was found there,
//! `actual` what became of it, `reason` why.
//!
//! # Examples
//!
//! ```
//! use amplifier_guard::claude::{ClaudeMessage, migrate_text};
//!
//! let message = migrate_text("user", "Hello, Claude!");
//! let (back, degradations) = ClaudeMessage::from_kernel(message.clone().into_kernel());
//! assert_eq!((back, degradations), (message, vec![]));
//! ```

mod block;
mod degradation;
mod from_kernel;
mod into_kernel;
mod memo;
mod message;
mod migration;

use amplifier_core::{Shape, SharedType};

pub use block::{
    ChartBlock, CodeBlock, ContentBlock, ImageBlock, OtherType, TableBlock, TextBlock,
    ThinkingBlock, ToolResultBlock, ToolUseBlock, UnknownBlock,
};
pub use message::ClaudeMessage;
pub use migration::{migrate_text, migrate_tool_response, new_tool_use_id};

macro_rules! shared {
    ($($name:ident: $shape:ident($parts:ident),)*) => {
        /// The types of the dialect, each with a Pydantic model of its name in
        /// `amplifier_guard.claude`.
        pub const SHARED_TYPES: &[SharedType] = &[$(SharedType::of::<$name>(
            concat!("claude::", stringify!($name)),
            Shape::$shape($name::$parts),
        )),*];
    };
}

shared! {
    ClaudeMessage: Record(KEYS),
    ContentBlock: Union(TYPES),
    TextBlock: Record(KEYS),
    ToolUseBlock: Record(KEYS),
    ToolResultBlock: Record(KEYS),
    ThinkingBlock: Record(KEYS),
    ImageBlock: Record(KEYS),
    CodeBlock: Record(KEYS),
    TableBlock: Record(KEYS),
    ChartBlock: Record(KEYS),
    UnknownBlock: Record(KEYS),
}
