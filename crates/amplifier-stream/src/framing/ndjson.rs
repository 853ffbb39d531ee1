//! NDJSON: bytes in, one JSON text per line out.

use std::borrow::Cow;

use amplifier_core::Json;
use memchr::memchr;

use super::line::HeldLine;
use super::{LimitError, Limits, SseEvent, decode};
use crate::json::Scanner;
use crate::steps;

/// A line that is not blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NdjsonLine<'a> {
    /// Its number in the stream, from one; blank lines count.
    pub number: u64,
    /// The line without its end.
    pub text: Cow<'a, str>,
    /// Whether bytes that are not UTF-8 became U+FFFD.
    pub is_lossy: bool,
}

/// A line that is not one JSON value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {number} of the stream is not JSON: {problem}")]
pub struct LineError {
    /// The number of the line, from one.
    pub number: u64,
    /// What was found.
    pub problem: String,
}

impl<'a> From<NdjsonLine<'a>> for SseEvent<'a> {
    /// A line is an event without a name.
    fn from(line: NdjsonLine<'a>) -> Self {
        Self {
            event: Cow::Borrowed(""),
            data: line.text,
            id: None,
            retry: None,
            is_lossy: line.is_lossy,
        }
    }
}

impl NdjsonLine<'_> {
    /// The value of the line; of a key that comes twice, the last value counts.
    ///
    /// Bytes that are no UTF-8 and halves of surrogate pairs are refused, never replaced.
    pub fn value(&self) -> Result<Json, LineError> {
        let refused = |problem| LineError {
            number: self.number,
            problem,
        };
        if self.is_lossy {
            return Err(refused("bytes that are not UTF-8".to_owned()));
        }
        let mut scanner = Scanner::new(&self.text);
        let value = scanner.document();
        let value = value.map_err(|error| refused(error.to_string()))?;
        if scanner.unpaired > 0 {
            return Err(refused("an unpaired surrogate half".to_owned()));
        }
        Ok(value)
    }
}

/// Cuts a byte stream into lines of JSON.
///
/// Lines end with LF or CRLF, the last one also with the stream; blank lines are skipped.
///
/// # Examples
///
/// ```
/// use amplifier_stream::{Limits, NdjsonDecoder};
///
/// let mut decoder = NdjsonDecoder::new(Limits::DEFAULT);
/// let mut values = Vec::new();
/// decoder.feed(b"{\"a\":1}\n{\"a\"", |line| values.push(line.value().unwrap().to_string()))?;
/// decoder.feed(b":2}", |_| unreachable!("the line has no end yet"))?;
/// decoder.finish(|line| values.push(line.value().unwrap().to_string()))?;
/// assert_eq!(values, [r#"{"a":1}"#, r#"{"a":2}"#]);
/// # Ok::<(), amplifier_stream::LimitError>(())
/// ```
#[derive(Debug)]
pub struct NdjsonDecoder {
    limits: Limits,
    line: HeldLine,
    lines: u64,
    total: usize,
    failure: Option<LimitError>,
}

impl NdjsonDecoder {
    /// A decoder at the start of a stream.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            line: HeldLine::new(limits.max_line_bytes),
            lines: 0,
            total: 0,
            failure: None,
        }
    }

    /// Takes a chunk and hands each line that it completes to `sink`.
    ///
    /// The lines before a broken limit are handed out first; after it every call fails.
    pub fn feed(
        &mut self,
        chunk: &[u8],
        mut sink: impl FnMut(NdjsonLine<'_>),
    ) -> Result<(), LimitError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let (chunk, over) = self.limits.admit(&mut self.total, chunk);
        self.scan(chunk, &mut sink)
            .and(over)
            .inspect_err(|&failure| {
                *self = Self::new(self.limits);
                self.failure = Some(failure);
            })
    }

    /// Ends the stream: the last line needs no line end.
    pub fn finish(mut self, mut sink: impl FnMut(NdjsonLine<'_>)) -> Result<(), LimitError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let line = self.line.complete();
        self.lines += 1;
        hand_out(self.lines, line, &mut sink);
        Ok(())
    }

    fn scan(
        &mut self,
        chunk: &[u8],
        sink: &mut impl FnMut(NdjsonLine<'_>),
    ) -> Result<(), LimitError> {
        let mut rest = chunk;
        while let Some(end) = memchr(b'\n', rest) {
            steps::count(end + 1);
            let line = &rest[..end];
            rest = &rest[end + 1..];
            self.lines += 1;
            // Only a line that an earlier chunk began is copied; all others are read where they
            // are.
            if self.line.is_needed() {
                self.line.extend(line)?;
                hand_out(self.lines, self.line.complete(), sink);
                self.line.clear();
            } else {
                self.limits
                    .check_line(line.strip_suffix(b"\r").unwrap_or(line))?;
                hand_out(self.lines, line, sink);
            }
        }
        steps::count(rest.len());
        self.line.extend(rest)
    }
}

fn hand_out(number: u64, line: &[u8], sink: &mut impl FnMut(NdjsonLine<'_>)) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
        return;
    }
    let text = decode(line);
    // `decode` copies only what it has to change.
    let is_lossy = matches!(text, Cow::Owned(_));
    sink(NdjsonLine {
        number,
        text,
        is_lossy,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_line_is_held_in_no_more_than_its_limit() {
        let limits = Limits {
            max_line_bytes: 1_000_000,
            ..Limits::DEFAULT
        };
        let mut decoder = NdjsonDecoder::new(limits);
        let mut largest = 0;
        let failure = loop {
            let fed = decoder.feed(&[b'x'; 4096], |_| ());
            largest = largest.max(decoder.line.capacity());
            if let Err(failure) = fed {
                break failure;
            }
        };
        assert_eq!(failure, LimitError::Line(1_000_000));
        assert!((500_000..=1_000_000).contains(&largest));
        assert_eq!(decoder.line.capacity(), 0);
    }
}
