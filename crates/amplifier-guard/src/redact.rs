//! Secrets taken out of text: known values in any encoding, and what has the shape of a secret.
//!
//! A secret becomes `[REDACTED:<kind>]`, which says nothing of it. Everything is found in one way
//! forward with bounded looks back and ahead, so that the time is linear in the text.

mod block;
mod data;
mod escape;
mod known;
mod log;
mod name;
mod named;
mod places;
mod random;
#[cfg(test)]
mod reference;
mod runs;
mod scheme;
mod stem;
mod stream;
mod value;
mod vendor;
#[cfg(test)]
mod writing;

use std::borrow::Cow;

pub use log::{hide_homes, shorten};
pub use stream::RedactorStream;

use known::Known;
use places::Places;

/// What stands in the place of each secret begins with this.
const MARK: &str = "[REDACTED:";

/// A secret that cannot be looked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "secret {place} has {bytes} bytes, too few to be told from other text (at least 4 are needed)"
)]
pub struct SecretTooShort {
    /// Which of the secrets, counted from 0.
    pub place: usize,
    /// Its length without blanks around it.
    pub bytes: usize,
}

/// Takes secrets out of text.
pub struct Redactor {
    known: Known,
}

impl Redactor {
    /// Takes the known secrets; blanks around them do not count, and blank ones are passed over.
    ///
    /// No part of eight characters of a known secret is left in a text, plain or in base64,
    /// percent-encoding, hexadecimal digits or with escapes of JSON or HTML; a shorter one is found
    /// as a whole.
    pub fn new<S: AsRef<str>>(
        secrets: impl IntoIterator<Item = S>,
    ) -> Result<Self, SecretTooShort> {
        let secrets: Vec<S> = secrets.into_iter().collect();
        let mut trimmed = Vec::with_capacity(secrets.len());
        for (place, secret) in secrets.iter().enumerate() {
            let secret = secret.as_ref().trim();
            match secret.len() {
                0 => {}
                bytes if bytes < known::LEAST => return Err(SecretTooShort { place, bytes }),
                _ => trimmed.push(secret),
            }
        }
        Ok(Self {
            known: Known::new(&trimmed, &marks()),
        })
    }

    /// The text without its secrets; the text itself if there are none.
    #[must_use]
    pub fn redact<'text>(&self, text: &'text str) -> Cow<'text, str> {
        match self.redact_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            }),
        }
    }

    /// The same for bytes, which need not be UTF-8.
    #[must_use]
    pub fn redact_bytes<'text>(&self, text: &'text [u8]) -> Cow<'text, [u8]> {
        without(text, &self.scan(text).spans)
    }

    /// The bytes without known secrets; what only looks like a secret stays, for those who must see
    /// what will run.
    #[must_use]
    pub fn redact_known<'text>(&self, text: &'text [u8]) -> Cow<'text, [u8]> {
        without(text, &joined(text, self.known_spans(text).collect()))
    }

    /// Where the secrets of a text are, in order, as bytes from and to.
    pub(crate) fn places(&self, text: &str) -> Vec<(usize, usize)> {
        let spans = self.scan(text.as_bytes()).spans;
        spans.iter().map(|span| (span.start, span.end)).collect()
    }

    /// What a value under a key in data becomes, if the key says that it is secret.
    #[must_use]
    pub fn redact_field(&self, key: &str, value: &str) -> Option<String> {
        data::mark(key, value)
    }

    /// Whether the name of a key says that its value is secret, whatever it is.
    #[must_use]
    pub fn is_secret_key(key: &str) -> bool {
        data::is_secret_key(key)
    }

    /// Whether a pair that begins with this name is a header of HTTP, so that the name says what its
    /// value is.
    #[must_use]
    pub fn is_header_name(name: &str) -> bool {
        data::is_header_name(name)
    }

    /// The text that replaces a value of this kind.
    #[must_use]
    pub fn mark(kind: &str) -> String {
        [MARK, kind, "]"].concat()
    }

    fn scan(&self, text: &[u8]) -> Scan {
        let mut spans = Vec::new();
        let open_block = block::find(text, &mut spans);
        let places = Places::of(text);
        let open_value = named::find(text, &places, &mut spans);
        spans.extend(places.tokens);
        vendor::find(text, &mut spans);
        spans.extend(self.known_spans(text));
        Scan {
            spans: joined(text, spans),
            open: open_block.into_iter().chain(open_value).min(),
        }
    }

    fn known_spans(&self, text: &[u8]) -> impl Iterator<Item = Span> {
        let places = self.known.find(text).into_iter();
        places.map(|(start, end)| Span {
            start,
            end,
            kind: "secret",
            until: Until::Word,
        })
    }
}

/// The text with a mark in the place of each span.
fn without<'text>(text: &'text [u8], spans: &[Span]) -> Cow<'text, [u8]> {
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

/// What a text holds.
struct Scan {
    /// The secrets, in order and apart from each other.
    spans: Vec<Span>,
    /// From where on more text could change what was found.
    open: Option<usize>,
}

/// A secret in a text.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    kind: &'static str,
    until: Until,
}

impl Span {
    fn write_mark(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(MARK.as_bytes());
        text.extend_from_slice(self.kind.as_bytes());
        text.push(b']');
    }
}

/// Where a secret ends that goes on beyond what could be held back.
#[derive(Clone, Copy)]
enum Until {
    /// A blank or a quotation mark.
    Word,
    /// This quotation mark, or the end of the line.
    Quote(u8),
    /// The end of the line.
    Line,
    /// What cannot stand in a PEM block.
    Block,
}

impl Until {
    fn is_end(self, byte: u8) -> bool {
        match self {
            Self::Word => byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`'),
            Self::Quote(quote) => byte == quote || byte == b'\n',
            Self::Line => byte == b'\n',
            Self::Block => {
                !byte.is_ascii_alphanumeric()
                    && !byte.is_ascii_whitespace()
                    && !matches!(byte, b'+' | b'/' | b'=' | b'\\' | b'%' | b'-')
            }
        }
    }
}

/// The spans in order, those that touch joined, at the boundaries of characters.
///
/// A joined span is of the kind of its longest part.
fn joined(text: &[u8], mut spans: Vec<Span>) -> Vec<Span> {
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
                    (last.end, last.until) = (span.end, span.until);
                }
            }
            _ => joined.push((span, length)),
        }
    }
    joined.into_iter().map(|(span, _)| span).collect()
}

/// Everything that stands in the place of a secret, one to a line.
fn marks() -> String {
    let named = [
        "secret",
        "password",
        "token",
        "key",
        "credentials",
        "cookie",
        "signature",
        "bearer token",
        "basic credentials",
        "json web token",
        "aws secret",
        "private key",
    ];
    let mut marks = String::new();
    for kind in named.into_iter().chain(vendor::kinds()) {
        marks.extend([MARK, kind, "]\n"]);
    }
    marks
}
