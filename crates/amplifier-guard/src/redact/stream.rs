//! Removal of secrets from text that comes in chunks.

use super::span::{Span, Until};
use super::{Redactor, Scan, runs};

/// Most bytes held back; anything longer is judged by its beginning.
const MAX_HELD_BYTES: usize = 8192;
/// Bytes of released text that are kept, for names and schemes before a value.
const CONTEXT_BYTES: usize = 512;

/// Removes secrets from a stream as [`Redactor::redact`] does from the whole text.
///
/// It holds back what may be the beginning of a secret: a word, a value or a block that has not ended
/// yet, at most 8 KiB.
pub struct RedactorStream<R> {
    redactor: R,
    /// The text released last, unredacted, followed by the text held back.
    text: Vec<u8>,
    /// Where the text held back begins in `text`.
    held: usize,
    /// Until `text` has this length, more of the same word changes nothing.
    patience: usize,
    /// How the secret ends whose beginning was released as a mark.
    swallowing: Option<Until>,
}

impl<R: AsRef<Redactor>> RedactorStream<R> {
    /// Starts at the beginning of a stream.
    pub fn new(redactor: R) -> Self {
        Self {
            redactor,
            text: Vec::new(),
            held: 0,
            patience: 0,
            swallowing: None,
        }
    }

    /// Takes a chunk and returns what can be released, which ends between characters.
    pub fn feed(&mut self, mut chunk: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        // A large chunk is processed in small ones, so that the limit on held text applies.
        while !chunk.is_empty() {
            if let Some(until) = self.swallowing {
                let end = chunk.iter().position(|byte| until.is_end(*byte));
                let swallowed = end.unwrap_or(chunk.len());
                self.text.extend_from_slice(&chunk[..swallowed]);
                self.held = self.text.len();
                self.forget();
                chunk = &chunk[swallowed..];
                if end.is_some() {
                    self.swallowing = None;
                }
                continue;
            }
            let (now, later) = chunk.split_at(chunk.len().min(MAX_HELD_BYTES));
            chunk = later;
            self.text.extend_from_slice(now);
            if self.text.len() < self.patience && !now.iter().any(|byte| is_break(*byte)) {
                continue;
            }
            self.release(&mut out);
        }
        out
    }

    /// Ends the stream and returns the rest; the next chunk begins another stream.
    pub fn flush(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        let scan = self.redactor.as_ref().scan(&self.text);
        self.write(&scan, self.text.len(), &mut out);
        self.text.clear();
        self.held = 0;
        self.patience = 0;
        self.swallowing = None;
        out
    }

    fn release(&mut self, out: &mut Vec<u8>) {
        let scan = self.redactor.as_ref().scan(&self.text);
        let length = self.text.len();
        let mut safe = self.word();
        safe = safe.min(scan.open.unwrap_or(length));
        let tail = self.redactor.as_ref().known.open_tail(&self.text);
        safe = before_secret(&scan, safe.min(length - tail)).max(self.held);
        if length - safe > MAX_HELD_BYTES {
            // Characters that were left out at its end may continue it, too: dots, or a closing
            // bracket.
            let goes_on = |last: &&Span| {
                let rest = &self.text[last.end..];
                let is_part = rest.len() <= CONTEXT_BYTES && runs::stretch(rest) == rest.len();
                (is_part || scan.open.is_some_and(|open| open <= last.start))
                    && !rest.iter().any(|byte| last.until.is_end(*byte))
            };
            let last = scan.spans.last().filter(goes_on);
            self.swallowing = last.map(|last| last.until);
            safe = match last {
                Some(_) => length,
                None => before_secret(&scan, length - CONTEXT_BYTES).max(self.held),
            };
        }
        self.write(&scan, safe, out);
        self.held = safe;
        self.forget();
        // Held text is searched again only when it has doubled, so that the time stays linear even
        // if a long word comes in small chunks.
        self.patience =
            (self.text.len() + (self.text.len() - self.held)).min(MAX_HELD_BYTES + CONTEXT_BYTES);
    }

    /// Where the last word begins.
    fn word(&self) -> usize {
        let held = &self.text[self.held..];
        let breaks_at_others = self.redactor.as_ref().known.is_ascii();
        let is_end = |place: &usize| {
            let byte = held[*place];
            byte.is_ascii_whitespace()
                || breaks_at_others && !byte.is_ascii()
                || byte == b',' && *place > 0 && matches!(held[place - 1], b'"' | b'}' | b']')
        };
        let mut start = (0..held.len())
            .rev()
            .find(is_end)
            .map_or(self.held, |last| self.held + last + 1);
        // The bytes of the last character may not all have come.
        // `10` are the highest bits of each byte of a character but its first one.
        let last = self.text[..start]
            .iter()
            .rposition(|byte| byte & 0xc0 != 0x80);
        if start == self.text.len()
            && let Some(last) = last
            && !is_whole(&self.text[last..])
        {
            start = last;
        }
        start
    }

    /// Writes what is held back up to `end`, without its secrets.
    fn write(&self, scan: &Scan, end: usize, out: &mut Vec<u8>) {
        let mut place = self.held;
        for span in &scan.spans {
            if span.end <= place {
                continue;
            }
            if place >= end || span.start >= end {
                break;
            }
            if span.start > place {
                out.extend_from_slice(&self.text[place..span.start]);
            }
            span.write_mark(out);
            place = span.end;
        }
        if place < end {
            out.extend_from_slice(&self.text[place..end]);
        }
    }

    /// Drops released text that is too old to matter.
    fn forget(&mut self) {
        if self.held > 2 * CONTEXT_BYTES {
            let start = self.held - CONTEXT_BYTES;
            // A word that lost its beginning could be taken for another one.
            let window = &self.text[start..self.held - CONTEXT_BYTES / 2];
            let blank = window.iter().position(u8::is_ascii_whitespace);
            let start = start + blank.unwrap_or(0);
            self.text.drain(..start);
            self.held -= start;
        }
    }
}

/// The place itself, or the beginning of the secret that contains it.
fn before_secret(scan: &Scan, place: usize) -> usize {
    let mut place = place;
    for span in scan.spans.iter().rev() {
        if span.end < place {
            break;
        }
        place = place.min(span.start);
    }
    place
}

fn is_break(byte: u8) -> bool {
    byte.is_ascii_whitespace() || !byte.is_ascii() || matches!(byte, b'"' | b'\'' | b',' | b'`')
}

/// Whether the bytes of one character are all there.
fn is_whole(character: &[u8]) -> bool {
    let length = match character[0] {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    };
    character.len() >= length
}
