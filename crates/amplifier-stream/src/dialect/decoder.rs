//! What every dialect does with the frames of a response.

use std::fmt;

use crate::answer::Answer;
use crate::framing::SseEvent;
use crate::stream_result::StreamResult;

/// Folds the frames of one response, in one dialect, into an answer.
pub(crate) trait DialectDecoder: fmt::Debug + Send {
    /// Takes one frame; a line of NDJSON is an event without a name.
    fn accept(&mut self, frame: &SseEvent<'_>, answer: &mut Answer);

    /// Takes a whole answer that came as one document, and says whether it is one.
    fn accept_whole(&mut self, _data: &str, _answer: &mut Answer) -> bool {
        false
    }

    /// Ends the stream.
    fn finish(self: Box<Self>, answer: Answer) -> StreamResult;
}
