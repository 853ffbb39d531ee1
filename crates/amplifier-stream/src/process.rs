//! The chunks of an answer as events for an agent, and what they amount to.
//!
//! [`StreamProcessor`] decides and never waits: chunk in, events out. [`process_stream`] drives it over
//! an iterator and, with the feature `futures`, [`process_stream_async`] over a `Stream`.

mod adapter;
mod answer_text;
mod calls;
mod chunk;
mod drive;
mod event;
mod judgement;
mod native;
mod processor;
mod result;

pub use adapter::{chunk_of, last_chunk};
pub use chunk::{ChunkCall, ChunkType, StreamChunk};
pub use drive::process_stream;
#[cfg(feature = "futures")]
pub use drive::process_stream_async;
pub use event::AgentEvent;
pub use processor::StreamProcessor;
pub use result::ProcessedStream;
