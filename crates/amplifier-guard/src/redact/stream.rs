//! Removal of secrets from text that comes in chunks.

use memchr::{memchr, memrchr};

use super::escape::invisible;
use super::span::{Span, joined};
use super::{Redactor, Scan, runs};

/// Most bytes held back; anything longer is judged by its beginning.
const MAX_HELD_BYTES: usize = 8192;
/// Bytes of released text that are kept, for names and schemes before a value.
const CONTEXT_BYTES: usize = 512;
/// Bytes of a long secret that are kept: it is known by its beginning, and ends by its end.
const BEGIN_BYTES: usize = 1536;
const END_BYTES: usize = 768;

/// Removes secrets from a stream as [`Redactor::redact`] does from the whole text.
///
/// It holds back what may be the beginning of a secret: a word, a value or a block that has not ended
/// yet, at most 8 KiB.
#[doc = include_str!("../../docs/redact-stream.md")]
pub struct RedactorStream<R> {
    redactor: R,
    /// The text released last, unredacted, followed by the text held back.
    text: Vec<u8>,
    /// Where the text held back begins in `text`.
    held: usize,
    /// Until `text` has this length, more of the same word changes nothing.
    patience: usize,
    /// Whether the text held back begins in or right behind a secret whose mark was released.
    is_marked: bool,
}

impl<R: AsRef<Redactor>> RedactorStream<R> {
    /// Starts at the beginning of a stream.
    pub fn new(redactor: R) -> Self {
        Self {
            redactor,
            text: Vec::new(),
            held: 0,
            patience: 0,
            is_marked: false,
        }
    }

    /// Takes a chunk and returns what can be released, which ends between characters.
    pub fn feed(&mut self, mut chunk: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        // A large chunk is processed in small ones, so that the limit on held text applies.
        while !chunk.is_empty() {
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
        self.write(&joined(&self.text, scan.spans), self.text.len(), &mut out);
        self.text.clear();
        self.held = 0;
        self.patience = 0;
        self.is_marked = false;
        out
    }

    fn release(&mut self, out: &mut Vec<u8>) {
        let scan = self.redactor.as_ref().scan(&self.text);
        let length = self.text.len();
        let mut safe = self.word();
        safe = safe.min(scan.open.unwrap_or(length));
        let tail = self.redactor.as_ref().known.open_tail(&self.text);
        let spans = joined(&self.text, scan.spans.clone());
        safe = before_secret(&spans, safe.min(length - tail)).max(self.held);
        // Characters that were left out at its end may continue a secret, too: dots, or a closing
        // bracket.
        let goes_on = |last: &&Span| {
            let rest = &self.text[last.end.min(length)..];
            let is_part = rest.len() <= CONTEXT_BYTES && runs::stretch(rest) == rest.len();
            let is_long = length - safe > MAX_HELD_BYTES
                || self.is_marked && last.start < self.held && last.end > self.held;
            is_long && (is_part || scan.open.is_some_and(|open| open <= last.start))
        };
        // Of secrets that touch each other, the one that more text may belong to.
        let last = scan.spans.iter().max_by_key(|span| (span.end, span.start));
        if let Some(last) = last.filter(goes_on) {
            // The beginning of a line that may still end a block.
            safe = last.end.min(length - CONTEXT_BYTES / 4).max(self.held);
        } else if length - safe > MAX_HELD_BYTES {
            safe = before_secret(&spans, length - CONTEXT_BYTES).max(self.held);
        }
        // The bytes of one character are released together.
        let is_inside = |place: usize| self.text.get(place).is_some_and(|byte| byte & 0xc0 == 0x80);
        while safe > self.held && is_inside(safe) {
            safe -= 1;
        }
        self.write(&spans, safe, out);
        let is_around = |span: &&Span| span.start < safe && safe <= span.end;
        let is_within = spans.iter().any(|span| is_around(&span));
        self.is_marked = is_within && (self.is_marked || safe > self.held);
        self.held = safe;
        // One secret may have begun within another and go on behind it, so all of them count.
        let starts = scan.spans.iter().filter(is_around).map(|span| span.start);
        if let Some(last) = starts.clone().max().filter(|_| self.is_marked) {
            self.shorten(last);
        }
        self.forget(starts.min().unwrap_or(safe), &scan);
        // Held text is searched again only when it has doubled, so that the time stays linear even
        // if a long word comes in small chunks.
        let marked = usize::from(self.is_marked) * MAX_HELD_BYTES / 2;
        let more = marked.max(self.text.len() - self.held);
        self.patience = (self.text.len() + more).min(MAX_HELD_BYTES + CONTEXT_BYTES);
    }

    /// Where the last word begins.
    fn word(&self) -> usize {
        let held = &self.text[self.held..];
        let breaks_at_others = self.redactor.as_ref().known.is_ascii();
        let is_end = |place: &usize| {
            let byte = held[*place];
            byte.is_ascii_whitespace()
                || breaks_at_others && !byte.is_ascii() && !is_invisible(held, *place)
                || byte == b',' && *place > 0 && matches!(held[place - 1], b'"' | b'}' | b']')
        };
        let last = (0..held.len()).rev().find(is_end);
        let start = last.map_or(self.held, |last| self.held + last + 1);
        if start < self.text.len() {
            return start;
        }
        // The bytes of the last character may not all have come.
        // `10` are the highest bits of each byte of a character but its first one.
        let last = self.text.iter().rposition(|byte| byte & 0xc0 != 0x80);
        let is_cut = |last: &usize| !is_whole(&self.text[*last..]);
        last.filter(is_cut).unwrap_or(start)
    }

    /// Writes what is held back up to `end`, without its secrets.
    fn write(&self, spans: &[Span], end: usize, out: &mut Vec<u8>) {
        let mut place = self.held;
        for span in spans {
            if span.end <= place {
                continue;
            }
            if place >= end || span.start >= end {
                break;
            }
            if span.start > place {
                out.extend_from_slice(&self.text[place..span.start]);
            }
            if span.start >= self.held || !self.is_marked {
                span.write_mark(out);
            }
            place = span.end;
        }
        if place < end {
            out.extend_from_slice(&self.text[place..end]);
        }
    }

    /// Drops the middle of a long secret that begins at `start`, from line to line where it has lines, so that what is left
    /// is found as the whole would be.
    fn shorten(&mut self, start: usize) {
        let end = self.held.saturating_sub(END_BYTES);
        let begin = start + BEGIN_BYTES;
        if end <= begin {
            return;
        }
        // Between letters, or from one end of a line to another: neither ends a secret.
        let middle = &self.text[begin..end];
        let mut pairs = middle.windows(2).enumerate();
        let is_inside = |(_, pair): &(usize, &[u8])| pair.iter().all(u8::is_ascii_alphanumeric);
        let lines = memchr(b'\n', middle).zip(memrchr(b'\n', middle));
        let is_near = |(first, last): &(usize, usize)| *first < 512 && middle.len() - last < 512;
        let ends = lines.filter(is_near).or_else(|| {
            let first = pairs.find(is_inside)?.0 + 1;
            Some((first, pairs.rfind(is_inside)?.0 + 1))
        });
        let Some((first, last)) = ends else {
            return;
        };
        let (first, last) = (begin + first, begin + last);
        self.text.drain(first..last);
        self.held -= last - first;
    }

    /// Drops released text that is too old to matter; `start` is the secret around what is held, or
    /// this itself. The first line of a table stays as long as its rows come.
    /// The beginning of a mapping that is named as secret stays until its end.
    fn forget(&mut self, start: usize, scan: &Scan) {
        let is_inside = !scan.mapping.is_empty() && self.held <= scan.mapping.end;
        let start = start.min(self.held);
        let start = if is_inside {
            start.min(scan.mapping.start)
        } else {
            start
        };
        if start <= CONTEXT_BYTES + CONTEXT_BYTES / 4 {
            return;
        }
        let start = start - CONTEXT_BYTES;
        let is_near = |(head, end): &(usize, usize)| *head < start && self.held <= *end;
        if let Some((head, _)) = scan.table.filter(is_near) {
            let is_line = |place: &usize| self.text[*place] == b'\n';
            // Without a line there, the first line itself reaches beyond `start`, and stays.
            let rows = (head..start).find(is_line).unwrap_or(start);
            let last = (head..start).rfind(is_line).unwrap_or(start);
            self.text.drain(rows..last);
            self.text.drain(..head);
            self.held -= last - rows + head;
            return;
        }
        // A line or a word that lost its beginning could be taken for another one.
        let window = &self.text[start..start + CONTEXT_BYTES / 2];
        let line = window.iter().position(|byte| *byte == b'\n');
        let word = window.iter().position(u8::is_ascii_whitespace);
        let cut = start + line.unwrap_or_else(|| word.unwrap_or(1)) - usize::from(line.is_none());
        self.text.drain(..cut);
        self.held -= cut;
        if line.is_none() {
            self.text[0] = b'x';
        }
    }
}

/// The place itself, or the beginning of the secret that contains it.
fn before_secret(spans: &[Span], place: usize) -> usize {
    let mut place = place;
    for span in spans.iter().rev() {
        if span.end < place {
            break;
        }
        place = place.min(span.start);
    }
    place
}

/// Whether the byte at `place` belongs to a character that is not seen, or may do so.
fn is_invisible(text: &[u8], place: usize) -> bool {
    let before = text[..=place].iter().rev().take(4);
    let start = place.saturating_sub(before.take_while(|byte| *byte & 0xc0 == 0x80).count());
    !is_whole(&text[start..]) || invisible(&text[start..]).is_some()
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
