//! Removal of secrets from text: known values in any encoding, and whatever looks like a secret.
//!
//! A secret becomes `[REDACTED:<kind>]`. Everything is found in one pass with bounded looks back and
//! ahead, so that the time is linear in the text.

mod around;
mod block;
mod class;
mod data;
mod escape;
mod finds;
mod forms;
mod hash;
mod header;
mod known;
mod log;
mod look;
mod name;
mod named;
mod passfile;
mod places;
mod program;
mod random;
mod runs;
mod scheme;
mod span;
mod stem;
mod stream;
mod table;
mod value;
mod vendor;
mod word_lists;

use std::borrow::Cow;

pub use data::SecretMapping;
pub use log::{hide_homes, shorten};
pub use stream::RedactorStream;

use known::Known;
use places::Places;
use span::{MARK, Span, joined, without};

/// A secret that cannot be searched for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("secret {place} has {bytes} bytes, too few to be found (at least 4 are needed)")]
pub struct SecretTooShort {
    /// Which of the secrets, counted from 0.
    pub place: usize,
    /// Its length without blanks around it.
    pub bytes: usize,
}

/// Removes secrets from text.
#[doc = include_str!("../docs/redact.md")]
pub struct Redactor {
    known: Known,
}

impl Redactor {
    /// Takes the known secrets; blanks around them do not count, and blank ones are ignored.
    ///
    /// No eight characters in a row of a known secret are left in a text, whether plain, in base64,
    /// percent-encoded, in hexadecimal digits or with escapes of JSON or HTML; a shorter secret is
    /// found as a whole.
    pub fn new<S: AsRef<str>>(
        secrets: impl IntoIterator<Item = S>,
    ) -> Result<Self, SecretTooShort> {
        let secrets: Vec<S> = secrets.into_iter().collect();
        let mut trimmed = Vec::with_capacity(secrets.len());
        for (place, secret) in secrets.iter().enumerate() {
            let secret = secret.as_ref().trim();
            match secret.len() {
                0 => {}
                bytes if bytes < known::MIN_SECRET_BYTES => {
                    return Err(SecretTooShort { place, bytes });
                }
                _ => trimmed.push(secret),
            }
        }
        Ok(Self {
            known: Known::new(&trimmed, &marks()),
        })
    }

    /// The text without its secrets; the same text if there are none.
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
        without(text, &joined(text, self.scan(text).spans))
    }

    /// The bytes without known secrets; what only looks like a secret stays, so that a person sees
    /// exactly what will run.
    #[must_use]
    pub fn redact_known<'text>(&self, text: &'text [u8]) -> Cow<'text, [u8]> {
        without(text, &joined(text, self.known_spans(text).collect()))
    }

    /// Where known secrets are in a text, in order, as bytes from and to.
    #[must_use]
    pub fn known_places(&self, text: &[u8]) -> Vec<(usize, usize)> {
        let spans = joined(text, self.known_spans(text).collect());
        spans.iter().map(|span| (span.start, span.end)).collect()
    }

    /// Where the secrets of a text are, in order, as bytes from and to.
    pub(crate) fn places(&self, text: &str) -> Vec<(usize, usize)> {
        let spans = joined(text.as_bytes(), self.scan(text.as_bytes()).spans);
        spans.iter().map(|span| (span.start, span.end)).collect()
    }

    /// The replacement for a value under a key in data, if the key marks a secret.
    #[must_use]
    pub fn redact_field(&self, key: &str, value: &str) -> Option<String> {
        data::mark(key, value)
    }

    /// The replacement for a value under a key that marks no secret, in a mapping that is named as
    /// secret, as in `credentials: {db: {value: …}}`.
    #[must_use]
    pub fn redact_within(&self, mapping: SecretMapping, key: &str, value: &str) -> Option<String> {
        mapping.mark(key, value)
    }

    /// Whether the name of a key marks any value as secret.
    #[must_use]
    pub fn is_secret_key(key: &str) -> bool {
        data::is_secret_key(key)
    }

    /// Whether a pair that begins with this name is an HTTP header, so that the name determines the
    /// kind of its value.
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
        let places = Places::of(text);
        let open_block = block::find(text, &places.blocks, &mut spans);
        let named = named::find(text, &places, &mut spans);
        spans.extend(places.tokens);
        vendor::find(text, &mut spans);
        spans.extend(self.known_spans(text));
        Scan {
            spans,
            open: open_block.into_iter().chain(named.open).min(),
            table: named.table,
            mapping: named.mapping,
        }
    }

    fn known_spans(&self, text: &[u8]) -> impl Iterator<Item = Span> {
        let places = self.known.find(text).into_iter();
        places.map(|(start, end)| Span::new(start, end, "secret"))
    }
}

/// What a text holds.
struct Scan {
    /// The secrets, in any order, and one perhaps within another.
    spans: Vec<Span>,
    /// The place from which more text could change the result.
    open: Option<usize>,
    /// Where the last table begins and ends.
    table: Option<(usize, usize)>,
    /// The last mapping that is named as secret.
    mapping: std::ops::Range<usize>,
}

/// All replacements of secrets, one per line.
fn marks() -> String {
    let mut marks = String::new();
    for kind in word_lists::kinds().chain(vendor::kinds()) {
        marks.extend([MARK, kind, "]\n"]);
    }
    for kind in word_lists::words(word_lists::List::Kind) {
        marks.extend([MARK, &kind.replace('_', " "), "]\n"]);
    }
    marks
}
