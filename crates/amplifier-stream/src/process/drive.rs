//! The drivers in Rust.

use super::chunk::StreamChunk;
use super::event::AgentEvent;
use super::processor::StreamProcessor;
use super::result::ProcessedStream;
use crate::ToolCallParser;

/// Processes the chunks of one answer, up to the last one.
///
/// `on_complete` is called once, however the answer ends, with the assistant's text, the thinking, the
/// calls that may run and the role. `parser` finds the calls in the message.
///
/// # Examples
///
/// ```
/// use amplifier_stream::{AgentEvent, ChunkType, StreamChunk, process_stream};
///
/// let thinking = StreamChunk {
///     content: "Hm.".to_owned(),
///     kind: ChunkType::Thinking,
///     ..StreamChunk::default()
/// };
/// let message = StreamChunk {
///     content: "Yes.".to_owned(),
///     finished: true,
///     ..StreamChunk::default()
/// };
/// let mut events = Vec::new();
/// let answer = process_stream(
///     [thinking, message],
///     None,
///     |event| events.push(event),
///     |message, thinking, _calls, role| assert_eq!((message, thinking, role), ("Yes.", "Hm.", "assistant")),
/// );
///
/// assert_eq!(answer.assistant_content, "Yes.");
/// assert_eq!(events[0], AgentEvent::ThinkingStart);
/// assert_eq!(events.last(), Some(&AgentEvent::MessageEnd));
/// ```
pub fn process_stream(
    stream: impl IntoIterator<Item = StreamChunk>,
    parser: impl Into<Option<ToolCallParser>>,
    emit_event: impl FnMut(AgentEvent),
    on_complete: impl FnOnce(&str, &str, &str, &str),
) -> ProcessedStream {
    let mut run = Run::new(parser, emit_event, on_complete);
    for chunk in stream {
        if run.feed(&chunk) {
            break;
        }
    }
    run.finish()
}

/// Processes the chunks of one answer as they arrive, up to the last one.
///
/// Works as [`process_stream`]. Dropping the future before its end cancels the answer; `emit_event` and
/// `on_complete` are still called for what arrived.
#[cfg(feature = "futures")]
pub async fn process_stream_async(
    stream: impl futures_core::Stream<Item = StreamChunk>,
    parser: impl Into<Option<ToolCallParser>>,
    emit_event: impl FnMut(AgentEvent),
    on_complete: impl FnOnce(&str, &str, &str, &str),
) -> ProcessedStream {
    let mut run = Run::new(parser, emit_event, on_complete);
    {
        let mut stream = std::pin::pin!(stream);
        while let Some(chunk) =
            std::future::poll_fn(|context| stream.as_mut().poll_next(context)).await
        {
            if run.feed(&chunk) {
                break;
            }
        }
    }
    run.finish()
}

/// One answer on its way; when it is dropped before its end, it was cancelled.
struct Run<E: FnMut(AgentEvent), C: FnOnce(&str, &str, &str, &str)> {
    processor: Option<StreamProcessor>,
    emit_event: E,
    on_complete: Option<C>,
}

impl<E: FnMut(AgentEvent), C: FnOnce(&str, &str, &str, &str)> Run<E, C> {
    fn new(parser: impl Into<Option<ToolCallParser>>, emit_event: E, on_complete: C) -> Self {
        Self {
            processor: Some(StreamProcessor::new(parser)),
            emit_event,
            on_complete: Some(on_complete),
        }
    }

    /// Takes a chunk; says whether it was the last.
    fn feed(&mut self, chunk: &StreamChunk) -> bool {
        let Some(processor) = &mut self.processor else {
            return true;
        };
        processor
            .feed(chunk)
            .into_iter()
            .for_each(&mut self.emit_event);
        processor.is_over()
    }

    fn finish(mut self) -> ProcessedStream {
        self.end(StreamProcessor::finish)
    }

    fn end(
        &mut self,
        last: impl FnOnce(&mut StreamProcessor) -> Vec<AgentEvent>,
    ) -> ProcessedStream {
        let Some(mut processor) = self.processor.take() else {
            return ProcessedStream::default();
        };
        last(&mut processor)
            .into_iter()
            .for_each(&mut self.emit_event);
        let answer = processor.into_result();
        if let Some(on_complete) = self.on_complete.take() {
            on_complete(
                &answer.assistant_content,
                &answer.thinking_content,
                &answer.tool_call_content,
                &answer.role,
            );
        }
        answer
    }
}

impl<E: FnMut(AgentEvent), C: FnOnce(&str, &str, &str, &str)> Drop for Run<E, C> {
    fn drop(&mut self) {
        // A callback that panicked is not called again.
        if !std::thread::panicking() {
            self.end(StreamProcessor::cancel);
        }
    }
}
