#![doc = include_str!("../README.md")]
//! # How the parts fit
//!
//! A [`StreamDecoder`] frames the bytes of one response ([`SseDecoder`], [`NdjsonDecoder`]), reads the
//! frames in the provider's [`Dialect`] and reports what happens to content blocks as
//! [`StreamEvent`]s; at the end it returns one [`StreamResult`]. What is not understood is kept as a
//! [`Finding`].
//!
//! [`ThinkingParser`] and [`ToolCallParser`] find what a model writes as tags into its text, and a
//! [`StreamProcessor`] turns the chunks of an answer into events for an agent.

mod answer;
mod arguments;
mod block;
mod call_limit;
mod decoder;
mod dialect;
mod error;
mod frames;
mod framing;
mod headers;
mod json;
mod open_block;
mod process;
mod stream_event;
mod stream_result;
mod tag;
mod text;
mod usage;

#[cfg(not(feature = "steps"))]
use amplifier_core::steps;
#[cfg(feature = "steps")]
pub use amplifier_core::steps;

pub use arguments::{MAX_ARGUMENT_DEPTH, parse_arguments};
pub use block::{Block, BlockType, ToolCall};
pub use call_limit::MAX_CALLS;
pub use decoder::StreamDecoder;
pub use dialect::{Dialect, UnknownDialect};
pub use error::{ResponseError, decode_error};
pub use framing::{
    BodyEnd, LimitError, Limits, LineError, NdjsonDecoder, NdjsonLine, SseDecoder, SseEvent,
};
pub use headers::Headers;
pub use json::{InvalidJson, PartialArguments};
#[cfg(feature = "futures")]
pub use process::process_stream_async;
pub use process::{
    AgentEvent, ChunkCall, ChunkType, ProcessedStream, StreamChunk, StreamProcessor, chunk_of,
    last_chunk, process_stream,
};
pub use stream_event::{Change, StreamEvent};
pub use stream_result::{Finding, StreamResult};
pub use tag::{
    CallError, CoercionError, MAX_CALL_BYTES, ParsedCall, ParsedContent, TagNameError, TagNames,
    ThinkingEvent, ThinkingFilter, ThinkingParser, ToolCallEvent, ToolCallParser, XmlError,
    coerce_arguments,
};
pub use usage::Usage;
