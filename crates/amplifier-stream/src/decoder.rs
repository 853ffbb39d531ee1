//! The decoder of one response: bytes in, block events out, and one record at the end.

use std::time::SystemTime;

use crate::dialect::{Dialect, anthropic};
use crate::error::{ProviderError, decode_error};
use crate::framing::{LimitError, Limits, SseDecoder};
use crate::headers::Headers;
use crate::stream_event::StreamEvent;
use crate::stream_result::StreamResult;

/// How much of the body of a failed response is kept.
const MAX_ERROR_BYTES: usize = 1024 * 1024;

/// Decodes the body of one response, in chunks of any size.
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
    Stream(Box<(SseDecoder, anthropic::Decoder)>),
    /// The body of a response that is not a success.
    Error(Vec<u8>),
}

impl StreamDecoder {
    /// A decoder for a response with this status and these headers.
    #[must_use]
    pub fn new(dialect: Dialect, status: u16, headers: Headers, limits: Limits) -> Self {
        let body = if (200..300).contains(&status) {
            let decoder = match dialect {
                Dialect::Anthropic => anthropic::Decoder::new(status),
            };
            Body::Stream(Box::new((SseDecoder::new(limits), decoder)))
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
        match &mut self.body {
            Body::Stream(stream) => {
                let (frames, decoder) = stream.as_mut();
                frames
                    .feed(chunk, |frame| decoder.accept(&frame, events))
                    .inspect_err(|&failure| self.failure = Some(failure))
            }
            Body::Error(body) => {
                let room = MAX_ERROR_BYTES - body.len();
                body.extend_from_slice(&chunk[..chunk.len().min(room)]);
                Ok(())
            }
        }
    }

    /// Ends the stream; `now` is what a date in `retry-after` is counted from.
    #[must_use]
    pub fn finish(self, now: SystemTime) -> StreamResult {
        let mut result = match self.body {
            Body::Stream(stream) => {
                let (_, mut decoder) = *stream;
                if let Some(failure) = self.failure {
                    decoder.fail(ProviderError {
                        kind: "stream_limit".to_owned(),
                        status: self.status,
                        message: failure.to_string(),
                        ..ProviderError::default()
                    });
                }
                decoder.finish()
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
        if let Some(request_id) = self.headers.get(self.dialect.request_id_header()) {
            result.request_id = Some(request_id.to_owned());
        }
        result
    }
}
