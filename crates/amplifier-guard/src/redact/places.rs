//! The places where a value may follow the name of a secret, or a token a scheme.

use memchr::memmem;

use super::name::{self, MAX_QUOTES};
use super::random::stretch;
use super::scheme;
use super::span::Span;
use super::stem::{self, Stem};
use amplifier_core::steps;

/// The most blanks between a name and a separator.
const MAX_BLANKS: usize = 80;

/// Places to look at, each kind in order.
#[derive(Default)]
pub(super) struct Places {
    /// `:` and `=` after a name that may mark a secret, and `://`.
    pub(super) separators: Vec<usize>,
    /// `--` before such a name.
    pub(super) flags: Vec<usize>,
    /// The place after `<password>`.
    pub(super) contents: Vec<usize>,
    /// `</` before one.
    pub(super) closings: Vec<usize>,
    /// The quotation mark at the end of such a name, followed by a comma and a blank.
    pub(super) pairs: Vec<usize>,
    /// Tokens after authorisation schemes.
    pub(super) tokens: Vec<Span>,
}

impl Places {
    pub(super) fn of(text: &[u8]) -> Self {
        let mut places = Self::default();
        let mut done = 0;
        stem::find(text, |place, stem| {
            if stem == Stem::Address {
                places.separators.push(place);
                return;
            }
            if stem == Stem::Scheme {
                places.tokens.extend(scheme::at(text, place));
            }
            if place >= done {
                let within = place + usize::from(!name::is_part(text[place]));
                done = within + stretch(&text[within..], name::is_part);
                places.take(text, within, done);
            }
        });
        places
    }

    /// Adds the places around the name that contains `within` and ends at `end`.
    fn take(&mut self, text: &[u8], within: usize, end: usize) {
        let Some(next) = text.get(end) else { return };
        if !name::may_end(&text[..end]) {
            return;
        }
        // An address after such a name has its own stem.
        let separator = separator(text, end).filter(|place| !text[*place..].starts_with(b"://"));
        self.separators.extend(separator);
        let longest = name::MAX_NAME_BYTES.min(within);
        let before = text[within - longest..within]
            .iter()
            .rposition(|byte| !name::is_part(*byte));
        let start = within - longest + before.map_or(0, |last| last + 1);
        if text[..start].ends_with(b"</") {
            self.closings.push(start - 2);
        }
        if *next == b'>' && text[..start].ends_with(b"<") {
            self.contents.push(end + 1);
        }
        if *next == b' ' {
            self.take_flags(text, start, end);
        }
        if matches!(next, b'\'' | b'"') && text[end + 1..].starts_with(b", ") {
            self.pairs.push(end);
        }
    }

    /// Adds each `--` in a name that begins at `start` or earlier, if the name is not too long.
    fn take_flags(&mut self, text: &[u8], start: usize, end: usize) {
        let mut start = start.max(end.saturating_sub(name::MAX_NAME_BYTES + 2));
        // Dashes are counted off in pairs from the first one on.
        let dashes = text[..start].iter().rev();
        start -= dashes.take_while(|byte| **byte == b'-').count();
        let name = &text[start..end];
        steps::count(name.len());
        let flags = memmem::find_iter(name, "--").map(|place| start + place);
        self.flags
            .extend(flags.filter(|place| end - place <= name::MAX_NAME_BYTES + 2));
    }
}

/// The `:` or `=` after a name that ends at `end`, skipping the characters allowed in between.
fn separator(text: &[u8], end: usize) -> Option<usize> {
    let after = &text[end..text.len().min(end + MAX_BLANKS + MAX_QUOTES)];
    let quotes = stretch(&after[..after.len().min(MAX_QUOTES)], name::is_quote);
    let rest = &after[quotes..];
    let rest = rest.strip_prefix(b"&quot;").unwrap_or(rest);
    let blanks = stretch(rest, |byte| byte.is_ascii_whitespace() && byte != b'\n');
    let place = end + (after.len() - rest.len()) + blanks;
    matches!(text.get(place), Some(b':' | b'=')).then_some(place)
}
