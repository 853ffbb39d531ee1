//! The decoder of one response: bytes in, block events out, and one record at the end.

use std::mem;
use std::time::SystemTime;

use amplifier_core::Object;

use crate::answer::Answer;
use crate::dialect::{Dialect, DialectDecoder};
use crate::error::{ResponseError, decode_error};
use crate::frames::Frames;
use crate::framing::{BodyEnd, LimitError, Limits, NdjsonDecoder, SseDecoder, SseEvent};
use crate::headers::Headers;
use crate::json::Scanner;
use crate::stream_event::StreamEvent;
use crate::stream_result::StreamResult;

/// How much of the body of a failed response is kept.
const MAX_ERROR_BYTES: usize = 1024 * 1024;

/// Decodes the body of one response, in chunks of any size.
///
/// # Examples
///
/// ```
/// use std::time::SystemTime;
///
/// use amplifier_stream::{Change, Dialect, Headers, Limits, StreamDecoder};
///
/// let body = br#"data: {"id":"1","choices":[{"index":0,"delta":{"content":"Hel"}}]}
///
/// data: {"id":"1","choices":[{"index":0,"delta":{"content":"lo."},"finish_reason":"stop"}]}
///
/// data: [DONE]
///
/// "#;
/// let mut decoder = StreamDecoder::new(Dialect::Chat, 200, Headers::default(), Limits::DEFAULT);
/// let mut events = Vec::new();
/// for chunk in body.chunks(7) {
///     decoder.feed(chunk, &mut events)?;
/// }
/// let result = decoder.finish(SystemTime::now());
/// events.extend(result.events.iter().cloned());
///
/// let texts = events.iter().filter_map(|event| match &event.change {
///     Change::Delta(text) => Some(text.as_str()),
///     _ => None,
/// });
/// assert_eq!(texts.collect::<String>(), "Hello.");
/// assert_eq!(result.stop_reason, Some("end_turn"));
/// assert!(!result.truncated);
/// # Ok::<(), amplifier_stream::LimitError>(())
/// ```
#[derive(Debug)]
pub struct StreamDecoder {
    dialect: Dialect,
    status: u16,
    headers: Headers,
    failure: Option<LimitError>,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Stream(Box<Stream>),
    /// The body of a response that is not a success.
    Error(Vec<u8>),
}

#[derive(Debug)]
struct Stream {
    frames: Frames,
    decoder: Box<dyn DialectDecoder>,
    answer: Answer,
}

impl StreamDecoder {
    /// A decoder for a response with this status and these headers.
    #[must_use]
    pub fn new(dialect: Dialect, status: u16, headers: Headers, limits: Limits) -> Self {
        let body = if (200..300).contains(&status) {
            let frames = match dialect {
                Dialect::Anthropic | Dialect::Responses | Dialect::Chat => {
                    Frames::Events(SseDecoder::with_error_lines(limits), limits)
                }
                Dialect::Ollama => Frames::Lines(NdjsonDecoder::new(limits)),
            };
            Body::Stream(Box::new(Stream {
                frames,
                decoder: dialect.decoder(),
                answer: Answer::new(status, limits.max_calls),
            }))
        } else {
            Body::Error(Vec::new())
        };
        Self {
            dialect,
            status,
            headers,
            failure: None,
            body,
        }
    }

    /// Takes a chunk and appends every event that it completes.
    ///
    /// The events before a broken limit are appended too; after it every call fails.
    pub fn feed(&mut self, chunk: &[u8], events: &mut Vec<StreamEvent>) -> Result<(), LimitError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        match &mut self.body {
            Body::Stream(stream) => {
                let Stream {
                    frames,
                    decoder,
                    answer,
                } = stream.as_mut();
                mem::swap(&mut answer.events, events);
                let fed = frames.feed(chunk, |frame| {
                    accept(decoder.as_mut(), &frame, answer);
                });
                mem::swap(&mut answer.events, events);
                fed.inspect_err(|&failure| self.failure = Some(failure))
            }
            Body::Error(body) => {
                let room = MAX_ERROR_BYTES - body.len();
                body.extend_from_slice(&chunk[..chunk.len().min(room)]);
                Ok(())
            }
        }
    }

    /// Whether a block began and has not ended.
    #[must_use]
    pub fn is_open(&self, block_index: u64) -> bool {
        match &self.body {
            Body::Stream(stream) => stream.answer.is_open(block_index),
            Body::Error(_) => false,
        }
    }

    /// What the arguments of a call are so far, see [`PartialArguments`](crate::PartialArguments).
    ///
    /// Also the input of another block that gets one, such as a server's tool; `None` where no such
    /// block is. All calls together look at each byte of an open block once.
    pub fn partial_arguments(&mut self, block_index: u64) -> Option<&Object> {
        match &mut self.body {
            Body::Stream(stream) => stream.answer.partial_arguments(block_index),
            Body::Error(_) => None,
        }
    }

    /// Ends a stream of whose body nobody knows whether all of it came; `now` is what a date in
    /// `retry-after` is counted from.
    #[must_use]
    pub fn finish(self, now: SystemTime) -> StreamResult {
        self.finish_body(BodyEnd::Unknown, now)
    }

    /// Ends the stream like [`finish`](Self::finish), by what the transport knows of the body.
    ///
    /// An answer of [`Dialect::Chat`] that gave its finish reason is whole without `[DONE]` if its
    /// body is [`BodyEnd::Complete`].
    #[must_use]
    pub fn finish_body(self, end: BodyEnd, now: SystemTime) -> StreamResult {
        let mut result = match self.body {
            Body::Stream(stream) => {
                let Stream {
                    frames,
                    mut decoder,
                    mut answer,
                } = *stream;
                answer.body_end = end;
                let ended = frames.finish(end, |frame| {
                    if is_whole(&frame) {
                        accept(decoder.as_mut(), &frame, &mut answer);
                    } else {
                        answer.body_end = BodyEnd::Unknown;
                        let message = "the stream ended within a line";
                        answer.find("cut_line", None, message, Some(&frame.data));
                    }
                });
                // A limit that a last line breaks was broken when it was fed.
                if let Ok(Some(body)) = ended
                    && self.failure.is_none()
                {
                    take_whole(decoder.as_mut(), &body, &mut answer);
                    if let Some(error) = &mut answer.result.error {
                        error.retry_after = error.retry_after.or(self.headers.retry_after(now));
                    }
                }
                if let Some(failure) = self.failure {
                    answer.fail(ResponseError {
                        kind: "stream_limit".to_owned(),
                        status: self.status,
                        message: failure.to_string(),
                        ..ResponseError::default()
                    });
                }
                decoder.finish(answer)
            }
            Body::Error(body) => {
                let error = decode_error(self.dialect, self.status, &self.headers, &body, now);
                let request_id = error.request_id.clone();
                StreamResult {
                    error: Some(error),
                    request_id,
                    ..StreamResult::default()
                }
            }
        };
        let request_id = self.dialect.request_id(&self.headers);
        result.request_id = request_id.or(result.request_id);
        result
    }
}

/// Whether nothing is missing of a last frame that nothing ends.
fn is_whole(frame: &SseEvent<'_>) -> bool {
    frame.event == "error" || frame.data == "[DONE]" || Scanner::new(&frame.data).document().is_ok()
}

/// Takes a body that is one document instead of a stream: an answer, or why there is none.
fn take_whole(decoder: &mut dyn DialectDecoder, body: &[u8], answer: &mut Answer) {
    let body = String::from_utf8_lossy(body);
    match Scanner::new(&body).document() {
        // Not as the message of an error: what there is of an answer is none.
        Err(problem) if !body.trim_start().starts_with('<') => {
            answer.fail_stream(&format!("the response is not JSON: {problem}"));
        }
        Ok(_) if decoder.accept_whole(&body, answer) => {
            let message = "the response is one document instead of a stream";
            answer.find("not_streamed", None, message, None);
        }
        _ => answer.fail_reported(&body),
    }
}

fn accept(decoder: &mut dyn DialectDecoder, frame: &SseEvent<'_>, answer: &mut Answer) {
    if answer.is_invalid() {
        return; // what follows would be shown with a hole before it
    }
    if frame.is_lossy {
        let message = "bytes that are not UTF-8 became U+FFFD";
        answer.find("invalid_utf8", None, message, None);
    }
    decoder.accept(frame, answer);
}
