//! What a decoder reports, as chunks.

use std::sync::Arc;

use super::chunk::{ChunkCall, ChunkType, StreamChunk};
use crate::{Block, BlockType, Change, StreamEvent, StreamResult, ToolCall};

/// The chunk for an event of a decoder; `None` if the event adds nothing to the answer.
///
/// # Examples
///
/// ```
/// use std::time::SystemTime;
///
/// use amplifier_stream::{
///     Dialect, Headers, Limits, StreamDecoder, StreamProcessor, chunk_of, last_chunk,
/// };
///
/// let body = br#"{"message":{"role":"assistant","content":"Hello."},"done":true,"done_reason":"stop"}"#;
/// let mut decoder = StreamDecoder::new(Dialect::Ollama, 200, Headers::default(), Limits::DEFAULT);
/// let mut processor = StreamProcessor::new(None);
/// let mut events = Vec::new();
/// decoder.feed(body, &mut events)?;
/// let result = decoder.finish(SystemTime::now());
/// for chunk in events.iter().chain(&result.events).filter_map(chunk_of) {
///     processor.feed(&chunk);
/// }
/// processor.feed(&last_chunk(&result));
/// assert_eq!(processor.into_result().assistant_content, "Hello.");
/// # Ok::<(), amplifier_stream::LimitError>(())
/// ```
#[must_use]
pub fn chunk_of(event: &StreamEvent) -> Option<StreamChunk> {
    let kind = match event.block_type {
        BlockType::Text => ChunkType::Message,
        BlockType::Thinking => ChunkType::Thinking,
        BlockType::ToolCall => ChunkType::ToolCall,
        BlockType::RedactedThinking | BlockType::Other(_) => return None,
    };
    let call = |id, name, block| ChunkCall {
        index: event.block_index,
        id,
        name,
        block,
    };
    let (content, call) = match (&event.change, kind) {
        (Change::Delta(text), ChunkType::Message | ChunkType::Thinking) => (text.clone(), None),
        (Change::Drop(_), ChunkType::Message | ChunkType::Thinking) => (String::new(), None),
        (Change::Drop(_), ChunkType::ToolCall) => (String::new(), Some(call(None, None, None))),
        (Change::Start(about), ChunkType::ToolCall) => {
            let text = |key| {
                about
                    .get(key)
                    .and_then(|value| value.as_str())
                    .map(str::to_owned)
            };
            (String::new(), Some(call(text("id"), text("name"), None)))
        }
        (Change::PartialJson(text) | Change::Delta(text), ChunkType::ToolCall) => {
            (text.clone(), Some(call(None, None, None)))
        }
        (Change::End(block), ChunkType::ToolCall) => {
            let Block::ToolCall(whole) = &**block else {
                return None;
            };
            let ToolCall { id, name, .. } = whole;
            let whole = Some(Arc::new(whole.clone()));
            (
                String::new(),
                Some(call(id.clone(), Some(name.clone()), whole)),
            )
        }
        _ => return None,
    };
    Some(StreamChunk {
        content,
        kind,
        block_index: call.is_none().then_some(event.block_index),
        call,
        dropped: matches!(event.change, Change::Drop(_)),
        ..StreamChunk::default()
    })
}

/// The last chunk: it finishes a complete answer, and has its error and usage.
#[must_use]
pub fn last_chunk(result: &StreamResult) -> StreamChunk {
    let calls = result.blocks.iter().filter_map(|block| match block {
        Block::ToolCall(call) => Some(Arc::new(call.clone())),
        Block::Content(_) => None,
    });
    StreamChunk {
        judged_calls: calls.collect(),
        finished: !result.truncated && result.error.is_none(),
        error: result.error.as_ref().map(|error| error.message.clone()),
        usage: result.raw_usage.clone(),
        ..StreamChunk::default()
    }
}
