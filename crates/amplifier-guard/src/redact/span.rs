//! Secrets in a text, and the marks that replace them.

use std::borrow::Cow;

/// The beginning of each mark that replaces a secret.
pub(super) const MARK: &str = "[REDACTED:";

/// A secret in a text.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
}

impl Span {
    pub(super) fn new(start: usize, end: usize, kind: &'static str) -> Self {
        Self { start, end, kind }
    }

    pub(super) fn write_mark(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(MARK.as_bytes());
        text.extend_from_slice(self.kind.as_bytes());
        text.push(b']');
    }
}

/// The text with a mark in the place of each span.
pub(super) fn without<'text>(text: &'text [u8], spans: &[Span]) -> Cow<'text, [u8]> {
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut redacted = Vec::with_capacity(text.len());
    let mut place = 0;
    for span in spans {
        redacted.extend_from_slice(&text[place..span.start]);
        span.write_mark(&mut redacted);
        place = span.end;
    }
    redacted.extend_from_slice(&text[place..]);
    Cow::Owned(redacted)
}

/// The spans in order, those that touch joined, at the boundaries of characters.
///
/// A joined span is of the kind of its longest part.
pub(super) fn joined(text: &[u8], mut spans: Vec<Span>) -> Vec<Span> {
    let is_inside = |place: usize| text.get(place).is_some_and(|byte| byte & 0xc0 == 0x80);
    for span in &mut spans {
        while span.start > 0 && is_inside(span.start) {
            span.start -= 1;
        }
        while is_inside(span.end) {
            span.end += 1;
        }
    }
    spans.retain(|span| span.end > span.start);
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut joined: Vec<(Span, usize)> = Vec::with_capacity(spans.len());
    for span in spans {
        let length = span.end - span.start;
        match joined.last_mut() {
            Some((last, longest)) if span.start <= last.end => {
                if length > *longest {
                    (last.kind, *longest) = (span.kind, length);
                }
                if span.end > last.end {
                    last.end = span.end;
                }
            }
            _ => joined.push((span, length)),
        }
    }
    joined.into_iter().map(|(span, _)| span).collect()
}
