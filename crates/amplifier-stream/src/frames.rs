//! How a dialect cuts its bytes into frames.

use crate::framing::{BodyEnd, LimitError, Limits, NdjsonDecoder, SseDecoder, SseEvent};

/// Cuts the body of a success.
#[derive(Debug)]
pub(crate) enum Frames {
    Events(SseDecoder, Limits),
    Lines(NdjsonDecoder),
    /// A body that is one document, although a stream of events was asked for.
    Whole(Vec<u8>, Limits),
}

impl Frames {
    /// Takes a chunk and hands each frame that it completes to `sink`.
    pub(crate) fn feed(
        &mut self,
        chunk: &[u8],
        mut sink: impl FnMut(SseEvent<'_>),
    ) -> Result<(), LimitError> {
        match self {
            Self::Events(frames, limits) if frames.is_blank() && begins_document(chunk) => {
                *self = Self::Whole(Vec::new(), *limits);
                self.feed(chunk, sink)
            }
            Self::Events(frames, _) => frames.feed(chunk, sink),
            Self::Lines(frames) => frames.feed(chunk, |line| sink(line.into())),
            Self::Whole(body, limits) => {
                let (chunk, over) = limits.admit(&mut body.len(), chunk);
                let fits = limits.check_event(body.len() + chunk.len()).and(over);
                match fits {
                    Ok(()) => body.extend_from_slice(chunk),
                    Err(_) => *body = Vec::new(),
                }
                fits
            }
        }
    }

    /// Ends the stream: a last line of JSON needs no line end, nor does a last event of a whole body.
    /// Returns a body that was not a stream.
    pub(crate) fn finish(
        self,
        end: BodyEnd,
        mut sink: impl FnMut(SseEvent<'_>),
    ) -> Result<Option<Vec<u8>>, LimitError> {
        match self {
            Self::Events(frames, _) => frames.finish_body(end, sink).map(|()| None),
            Self::Lines(frames) => frames.finish(|line| sink(line.into())).map(|()| None),
            Self::Whole(body, _) => Ok(Some(body)),
        }
    }
}

/// Whether the first byte that is not blank begins JSON or markup, as no line of events does.
fn begins_document(chunk: &[u8]) -> bool {
    matches!(chunk.trim_ascii_start().first(), Some(b'{' | b'[' | b'<'))
}
