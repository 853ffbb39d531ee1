//! Server-sent events: bytes in, framed events out, by the rules of the WHATWG.
//!
//! Lines end with CR, LF or CRLF. UTF-8 is decoded when a whole line is there. An event whose blank
//! line never came is dropped, as the rules say.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::line::{HeldLine, reserve};
use super::{BodyEnd, LimitError, Limits, decode};
use crate::steps;

/// One framed event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The `event:` field; `message` where there was none.
    pub event: Cow<'a, str>,
    /// The `data:` lines, joined with a line feed.
    pub data: Cow<'a, str>,
    /// The last `id:` of the stream so far.
    pub id: Option<&'a str>,
    /// The last `retry:` since the event before, in milliseconds.
    pub retry: Option<u64>,
    /// Whether bytes that are not UTF-8 became U+FFFD.
    pub is_lossy: bool,
}

/// Cuts a byte stream into server-sent events.
///
/// # Examples
///
/// ```
/// use amplifier_stream::{Limits, SseDecoder};
///
/// let mut decoder = SseDecoder::new(Limits::DEFAULT);
/// let mut seen = Vec::new();
/// for chunk in [&b"event: pi"[..], b"ng\ndata: 1\nda", b"ta: 2\n\n"] {
///     decoder.feed(chunk, |event| seen.push(format!("{}={}", event.event, event.data)))?;
/// }
/// assert_eq!(seen, ["ping=1\n2"]);
/// # Ok::<(), amplifier_stream::LimitError>(())
/// ```
#[derive(Debug)]
pub struct SseDecoder {
    limits: Limits,
    line: HeldLine,
    skips_line_feed: bool,
    is_blank: bool,
    event: OpenEvent,
    total: usize,
    failure: Option<LimitError>,
}

/// The fields of an event whose blank line has not come yet.
#[derive(Debug, Default)]
struct OpenEvent {
    name: Vec<u8>,
    /// The `data` lines of an event that does not lie in one chunk, or has several.
    data: Vec<u8>,
    has_data: bool,
    id: Option<String>,
    retry: Option<u64>,
    takes_error_lines: bool,
}

impl SseDecoder {
    /// A decoder at the start of a stream.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            line: HeldLine::new(limits.max_line_bytes),
            skips_line_feed: false,
            is_blank: true,
            event: OpenEvent::default(),
            total: 0,
            failure: None,
        }
    }

    /// A decoder that takes an `error:` line, which the rules do not know, for an event `error` with
    /// that data: some model servers report their failures so.
    pub(crate) fn with_error_lines(limits: Limits) -> Self {
        let mut decoder = Self::new(limits);
        decoder.event.takes_error_lines = true;
        decoder
    }

    /// Takes a chunk and hands each event that it completes to `sink`.
    ///
    /// The events before a broken limit are handed out first; after it every call fails.
    pub fn feed(
        &mut self,
        chunk: &[u8],
        mut sink: impl FnMut(SseEvent<'_>),
    ) -> Result<(), LimitError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let (chunk, over) = self.limits.admit(&mut self.total, chunk);
        self.is_blank = self.is_blank && chunk.trim_ascii_start().is_empty();
        self.scan(chunk, &mut sink)
            .and(over)
            .inspect_err(|&failure| {
                *self = Self::new(self.limits);
                self.failure = Some(failure);
            })
    }

    /// Whether nothing but line ends came so far.
    pub(crate) fn is_blank(&self) -> bool {
        self.is_blank
    }

    /// Ends the stream: what has no blank line after it is dropped.
    pub fn finish(self) -> Result<(), LimitError> {
        self.failure.map_or(Ok(()), Err)
    }

    /// Ends the stream, and hands out an event that has no blank line after it: the report of an
    /// error, and whatever else a whole body ends with.
    ///
    /// A last line of a whole body that is no field is the data of an event, or a part of it.
    pub(crate) fn finish_body(
        mut self,
        end: BodyEnd,
        mut sink: impl FnMut(SseEvent<'_>),
    ) -> Result<(), LimitError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let is_complete = end == BodyEnd::Complete;
        let line = self.line.complete();
        if is_complete && !line.is_empty() && !line.starts_with(b":") {
            let value = self.event.take_field(line).unwrap_or(line);
            self.event.hold(Some(value), &self.limits)?;
        }
        if is_complete || self.event.name == b"error" {
            self.event.dispatch(None, &mut sink);
        }
        Ok(())
    }

    fn scan(
        &mut self,
        chunk: &[u8],
        sink: &mut impl FnMut(SseEvent<'_>),
    ) -> Result<(), LimitError> {
        let mut rest = chunk;
        // Most events lie in one chunk with one `data` line, and are handed on without a copy.
        // The first `data` line of the event, as long as it can stay where it is.
        let mut data: Option<&[u8]> = None;
        if self.skips_line_feed && !rest.is_empty() {
            self.skips_line_feed = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = memchr2(b'\n', b'\r', rest) {
            steps::count(end + 1);
            let line = &rest[..end];
            let is_carriage_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if is_carriage_return {
                match rest.first() {
                    Some(b'\n') => rest = &rest[1..],
                    Some(_) => {}
                    // The CR ends the line at once: to wait for a line feed would hold an event
                    // back until the next chunk.
                    None => self.skips_line_feed = true,
                }
            }
            let event = &mut self.event;
            if self.line.is_needed() {
                self.line.extend(line)?;
                match self.line.complete() {
                    [] => event.dispatch(None, sink),
                    line => {
                        let value = event.take_field(line);
                        event.hold(value, &self.limits)?;
                    }
                }
                self.line.clear();
            } else if line.is_empty() {
                event.dispatch(data.take(), sink);
            } else {
                self.limits.check_line(line)?;
                if let Some(value) = event.take_field(line) {
                    if event.has_data || data.is_some() {
                        event.hold(data.take(), &self.limits)?;
                        event.hold(Some(value), &self.limits)?;
                    } else {
                        self.limits.check_event(value.len())?;
                        data = Some(value);
                    }
                }
            }
        }
        steps::count(rest.len());
        self.event.hold(data, &self.limits)?;
        self.line.extend(rest)
    }
}

impl OpenEvent {
    /// Notes what a line says; the value of a `data` line is handed back.
    fn take_field<'line>(&mut self, line: &'line [u8]) -> Option<&'line [u8]> {
        if let Some(value) = line.strip_prefix(b"data:") {
            return Some(value.strip_prefix(b" ").unwrap_or(value));
        }
        let (name, value) = match memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            b"data" => return Some(value),
            b"error" if self.takes_error_lines => {
                self.name = name.to_vec();
                return Some(value);
            }
            b"id" if memchr(0, value).is_none() => {
                self.id = Some(String::from_utf8_lossy(value).into_owned());
            }
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.retry = str::from_utf8(value)
                    .ok()
                    .and_then(|digits| digits.parse().ok());
            }
            _ => {}
        }
        None
    }

    /// Keeps a `data` line until its event is whole.
    fn hold(&mut self, value: Option<&[u8]>, limits: &Limits) -> Result<(), LimitError> {
        let Some(value) = value else { return Ok(()) };
        let separator = usize::from(self.has_data);
        let length = self.data.len() + separator + value.len();
        limits.check_event(length)?;
        reserve(
            &mut self.data,
            separator + value.len(),
            limits.max_event_bytes,
        );
        if self.has_data {
            self.data.push(b'\n');
        }
        steps::count(value.len());
        self.data.extend_from_slice(value);
        self.has_data = true;
        Ok(())
    }

    fn dispatch(&mut self, data: Option<&[u8]>, sink: &mut impl FnMut(SseEvent<'_>)) {
        if self.has_data || data.is_some() {
            let data = decode(data.unwrap_or(&self.data));
            let event = match self.name.as_slice() {
                [] => Cow::Borrowed("message"),
                name => decode(name),
            };
            let is_lossy = matches!(data, Cow::Owned(_)) || matches!(event, Cow::Owned(_));
            let retry = self.retry.take();
            sink(SseEvent {
                event,
                data,
                id: self.id.as_deref(),
                retry,
                is_lossy,
            });
        }
        self.data.clear();
        self.has_data = false;
        self.name.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        max_line_bytes: 1_000_000,
        max_event_bytes: 1_000_000,
        ..Limits::DEFAULT
    };

    /// Repeats a chunk until a limit is exceeded; returns the limit and the most bytes held.
    fn exhaust(chunk: &[u8]) -> (LimitError, usize) {
        let mut decoder = SseDecoder::new(LIMITS);
        let mut held = 0;
        loop {
            let fed = decoder.feed(chunk, |_| ());
            let now = decoder.line.capacity() + decoder.event.data.capacity();
            if let Err(failure) = fed {
                assert_eq!(now, 0);
                return (failure, held);
            }
            held = held.max(now);
        }
    }

    #[test]
    fn an_endless_line_is_held_in_no_more_than_its_limit() {
        let (failure, held) = exhaust(&[b'x'; 4096]);
        assert_eq!(failure, LimitError::Line(1_000_000));
        assert!((500_000..=1_000_000).contains(&held));
    }

    #[test]
    fn an_endless_event_is_held_in_no_more_than_its_limit() {
        let line = b"data: one line of many\n";
        let (failure, held) = exhaust(line);
        assert_eq!(failure, LimitError::Event(1_000_000));
        assert!((500_000..=1_000_000 + line.len()).contains(&held));
    }
}
