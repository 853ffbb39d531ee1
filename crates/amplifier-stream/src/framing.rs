//! Server-sent events: bytes in, framed events out, by the rules of the WHATWG.
//!
//! Lines end with CR, LF or CRLF, also where a chunk ends between the two. UTF-8 is decoded when a
//! whole line is there, so a code point may be cut anywhere. An event whose blank line never came is
//! dropped, as the rules say. Each byte is looked at a fixed number of times, and no more than one
//! line and one event are held.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// How much one line and one event may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one line without its end.
    pub max_line_bytes: usize,
    /// Bytes of the joined `data` lines of one event.
    pub max_event_bytes: usize,
}

impl Limits {
    /// Room for the largest complete server-tool result that a provider sends in one event.
    pub const DEFAULT: Self = Self {
        max_line_bytes: 32 * 1024 * 1024,
        max_event_bytes: 32 * 1024 * 1024,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A line or an event grew over its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// A line is too long.
    #[error("a line of the stream is longer than `max_line_bytes` ({0} bytes)")]
    Line(usize),
    /// The data of an event is too long.
    #[error("an event of the stream is longer than `max_event_bytes` ({0} bytes)")]
    Event(usize),
}

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
    /// Whether bytes that are no UTF-8 became U+FFFD.
    pub is_lossy: bool,
}

/// Cuts a byte stream into server-sent events.
#[derive(Debug, Default)]
pub struct SseDecoder {
    limits: Limits,
    /// The line that the last chunk left unfinished.
    line: Vec<u8>,
    is_past_first_line: bool,
    skips_line_feed: bool,
    event: Vec<u8>,
    /// The `data` lines of an event that does not lie in one chunk, or has several.
    data: Vec<u8>,
    has_data: bool,
    id: Option<String>,
    retry: Option<u64>,
    failure: Option<LimitError>,
}

impl SseDecoder {
    /// A decoder at the start of a stream.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
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
        self.scan(chunk, &mut sink).inspect_err(|&failure| {
            *self = Self {
                failure: Some(failure),
                ..Self::new(self.limits)
            };
        })
    }

    /// Ends the stream: what has no blank line after it is dropped.
    pub fn finish(self) -> Result<(), LimitError> {
        self.failure.map_or(Ok(()), Err)
    }

    fn scan(
        &mut self,
        chunk: &[u8],
        sink: &mut impl FnMut(SseEvent<'_>),
    ) -> Result<(), LimitError> {
        let mut rest = chunk;
        // The first `data` line of the event, as long as it can stay where it is.
        let mut data: Option<&[u8]> = None;
        if self.skips_line_feed && !rest.is_empty() {
            self.skips_line_feed = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = memchr2(b'\n', b'\r', rest) {
            let line = &rest[..end];
            let is_carriage_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if is_carriage_return {
                match rest.first() {
                    Some(b'\n') => rest = &rest[1..],
                    Some(_) => {}
                    None => self.skips_line_feed = true,
                }
            }
            if !self.line.is_empty() || !self.is_past_first_line {
                self.extend_line(line)?;
                let held = std::mem::take(&mut self.line);
                self.take_held_line(&held, sink)?;
                self.line = held;
                self.line.clear();
            } else if line.is_empty() {
                self.dispatch(data.take(), sink);
            } else {
                self.check_line(line)?;
                if let Some(value) = self.take_field(line) {
                    if self.has_data || data.is_some() {
                        self.hold(data.take())?;
                        self.hold(Some(value))?;
                    } else {
                        self.check_event(value.len())?;
                        data = Some(value);
                    }
                }
            }
        }
        self.hold(data)?;
        self.extend_line(rest)
    }

    /// Takes a line that was not whole in its chunk.
    fn take_held_line(
        &mut self,
        line: &[u8],
        sink: &mut impl FnMut(SseEvent<'_>),
    ) -> Result<(), LimitError> {
        let line = if self.is_past_first_line {
            line
        } else {
            line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
        };
        self.is_past_first_line = true;
        if line.is_empty() {
            self.dispatch(None, sink);
            return Ok(());
        }
        self.check_line(line)?;
        let value = self.take_field(line);
        self.hold(value)
    }

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
                self.event.clear();
                self.event.extend_from_slice(value);
            }
            b"data" => return Some(value),
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
    fn hold(&mut self, value: Option<&[u8]>) -> Result<(), LimitError> {
        let Some(value) = value else { return Ok(()) };
        let separator = usize::from(self.has_data);
        let length = self.data.len() + separator + value.len();
        self.check_event(length)?;
        reserve(
            &mut self.data,
            separator + value.len(),
            self.limits.max_event_bytes,
        );
        if self.has_data {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        self.has_data = true;
        Ok(())
    }

    fn extend_line(&mut self, piece: &[u8]) -> Result<(), LimitError> {
        let length = self.line.len() + piece.len();
        if length > self.limits.max_line_bytes {
            // The mark of the first line is no part of it, but it may not be whole yet.
            let mark = if self.is_past_first_line {
                0
            } else {
                let start = self.line.iter().chain(piece).zip(BYTE_ORDER_MARK);
                let same = start.take_while(|(byte, mark)| byte == mark).count();
                if same == length.min(BYTE_ORDER_MARK.len()) {
                    same
                } else {
                    0
                }
            };
            if length - mark > self.limits.max_line_bytes {
                return Err(LimitError::Line(self.limits.max_line_bytes));
            }
        }
        reserve(&mut self.line, piece.len(), self.limits.max_line_bytes);
        self.line.extend_from_slice(piece);
        Ok(())
    }

    fn check_line(&self, line: &[u8]) -> Result<(), LimitError> {
        let limit = self.limits.max_line_bytes;
        if line.len() > limit {
            Err(LimitError::Line(limit))
        } else {
            Ok(())
        }
    }

    fn check_event(&self, length: usize) -> Result<(), LimitError> {
        let limit = self.limits.max_event_bytes;
        if length > limit {
            Err(LimitError::Event(limit))
        } else {
            Ok(())
        }
    }

    fn dispatch(&mut self, data: Option<&[u8]>, sink: &mut impl FnMut(SseEvent<'_>)) {
        if self.has_data || data.is_some() {
            let data = decode(data.unwrap_or(&self.data));
            let event = match self.event.as_slice() {
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
        self.event.clear();
    }
}

/// Decodes UTF-8; the usual case is checked at once, which is several times as fast as piecewise.
fn decode(bytes: &[u8]) -> Cow<'_, str> {
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Makes room by doubling, but never beyond the limit, so that a limit bounds the memory too.
fn reserve(buffer: &mut Vec<u8>, additional: usize, limit: usize) {
    let needed = buffer.len() + additional;
    if needed > buffer.capacity() {
        let target = needed.max(buffer.capacity().saturating_mul(2).min(limit));
        buffer.reserve_exact(target - buffer.len());
    }
}
