//! Bytes in, frames out: server-sent events and NDJSON, within limits.
//!
//! A chunk may end anywhere, also inside a code point or between CR and LF. Each byte is looked at a
//! fixed number of times, and no more than one line and one event are held.

use std::borrow::Cow;

use crate::call_limit::MAX_CALLS;
use crate::steps;

mod line;
mod ndjson;
mod sse;

pub use ndjson::{LineError, NdjsonDecoder, NdjsonLine};
pub use sse::{SseDecoder, SseEvent};

/// How the body of a response ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BodyEnd {
    /// The transport does not know whether all of the body came.
    #[default]
    Unknown,
    /// All of the body came: its last chunk, or as many bytes as its `content-length` says.
    Complete,
}

/// How much one line, one event, a whole stream and its answer may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one line without its end.
    pub max_line_bytes: usize,
    /// Bytes of the joined `data` lines of one server-sent event.
    pub max_event_bytes: usize,
    /// Bytes of the whole stream.
    pub max_total_bytes: usize,
    /// Calls of the answer that may run; further ones are refused.
    pub max_calls: usize,
}

impl Limits {
    /// Room for the largest complete server-tool result that a provider sends in one event, and for
    /// more of them than an answer has.
    pub const DEFAULT: Self = Self {
        max_line_bytes: 32 * 1024 * 1024,
        max_event_bytes: 32 * 1024 * 1024,
        max_total_bytes: 1024 * 1024 * 1024,
        max_calls: MAX_CALLS,
    };

    /// The part of a chunk that the stream has room for, and whether that is all of it.
    pub(crate) fn admit<'chunk>(
        &self,
        total: &mut usize,
        chunk: &'chunk [u8],
    ) -> (&'chunk [u8], Result<(), LimitError>) {
        let limit = self.max_total_bytes;
        let room = limit - *total;
        if chunk.len() <= room {
            *total += chunk.len();
            (chunk, Ok(()))
        } else {
            *total = limit;
            (&chunk[..room], Err(LimitError::Total(limit)))
        }
    }

    fn check_line(&self, line: &[u8]) -> Result<(), LimitError> {
        let limit = self.max_line_bytes;
        if line.len() > limit {
            Err(LimitError::Line(limit))
        } else {
            Ok(())
        }
    }

    pub(crate) fn check_event(&self, length: usize) -> Result<(), LimitError> {
        let limit = self.max_event_bytes;
        if length > limit {
            Err(LimitError::Event(limit))
        } else {
            Ok(())
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A line, an event or a stream grew over its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// A line is too long.
    #[error("a line of the stream is longer than `max_line_bytes` ({0} bytes)")]
    Line(usize),
    /// The data of an event is too long.
    #[error("an event of the stream is longer than `max_event_bytes` ({0} bytes)")]
    Event(usize),
    /// The stream is too long.
    #[error("the stream is longer than `max_total_bytes` ({0} bytes)")]
    Total(usize),
}

/// Decodes UTF-8; the usual case is checked at once, which is several times as fast as piecewise.
fn decode(bytes: &[u8]) -> Cow<'_, str> {
    steps::count(bytes.len());
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}
