//! Known secrets behind escapes, up to three layers of them.
//!
//! Most escapes in a text cannot be part of a secret: a quotation mark or the end of a line in a
//! JSON text, a blank in an address. They are skipped; only the text around the others is decoded.

use amplifier_core::base64::sextet;
use amplifier_core::steps;
use memchr::memchr3_iter;

use super::super::escape::{ALL, EACH, Escape, Layer, TOGETHER, invisibles};
use super::super::look::{ahead, behind, tail, trimmed};
use super::found::{Found, is_break};
use super::{Known, MAX_SIDE_CHARACTERS};

/// How far an escape reaches, three layers deep, with a part after it.
pub(super) const REACH_BYTES: usize = 96;

impl Known {
    pub(super) fn find_escaped(&self, text: &[u8], found: &mut Found) {
        for (start, end) in self.regions(text) {
            let text = &text[start..end];
            for (ways, one) in Layer::each(text) {
                self.find_in(&one, |span| one.encoded(span), start, found);
                for (ways_below, two) in Layer::each(&one.bytes) {
                    let encoded = |span| one.encoded(two.encoded(span));
                    self.find_in(&two, encoded, start, found);
                    // Two layers of one kind may be followed by a third of the same kind.
                    for way in [TOGETHER].into_iter().chain(EACH) {
                        if ways & ways_below & way == 0 {
                            continue;
                        }
                        let kinds = if way == TOGETHER { ALL } else { way };
                        if let Some(three) = Layer::of(&two.bytes, kinds) {
                            let encoded = |span| encoded(three.encoded(span));
                            self.find_in(&three, encoded, start, found);
                        }
                    }
                }
            }
        }
    }

    /// Finds parts in a decoded text and maps each to its span in the encoded text.
    fn find_in(
        &self,
        layer: &Layer,
        encoded: impl Fn((usize, usize)) -> (usize, usize),
        start: usize,
        found: &mut Found,
    ) {
        let mut below = Found::default();
        let mut plain = Found::default();
        self.scan(&layer.bytes, &mut plain, &mut below);
        for span in plain.places.into_iter().chain(below.places) {
            let span = encoded(span);
            found.add(start + span.0, start + span.1);
        }
    }

    /// The regions around the escapes that may be part of a secret.
    fn regions(&self, text: &[u8]) -> Vec<(usize, usize)> {
        steps::count(text.len());
        // What is invisible may be anywhere in a secret.
        let hidden = invisibles(text).into_iter();
        let mut live: Vec<(usize, usize)> = hidden.map(|place| (place, place + 1)).collect();
        let mut done = 0;
        for place in memchr3_iter(b'%', b'\\', b'&', text) {
            if place >= done {
                let (is_live, end) = self.judge(text, place);
                done = end;
                if is_live {
                    live.push((place, end));
                }
            }
        }
        live.sort_unstable();
        let mut regions: Vec<(usize, usize)> = Vec::new();
        for (place, end) in live {
            let end = (end + REACH_BYTES).min(text.len());
            match regions.last_mut() {
                Some(region) if place.saturating_sub(REACH_BYTES) <= region.1 => {
                    region.1 = region.1.max(end);
                }
                _ => {
                    let before = &text[..place.saturating_sub(REACH_BYTES)];
                    regions.push((trimmed(before, |byte| byte == b'\\').len(), end));
                }
            }
        }
        regions
    }

    /// Whether the escapes that begin at `place` may be part of a secret, and where they end.
    fn judge(&self, text: &[u8], place: usize) -> (bool, usize) {
        let live = &self.live;
        let rest = &text[place..];
        if live.all || rest[0] != b'\\' {
            let length = Escape::of(rest).map_or(1, |escape| escape.length);
            return (live.is_in(rest), place + length);
        }
        // Any number of backslashes in any number of layers decodes to another backslash, which is
        // in no secret, or to the character that the last one escapes.
        let last = place + rest.iter().take_while(|byte| **byte == b'\\').count() - 1;
        steps::count(last - place);
        match text.get(last + 1) {
            Some(b'n' | b'r') if !live.breaks => self.judge_break(text, place),
            Some(mark) if b"uUx01234567nrtbf\"'/".contains(mark) => {
                (live.is_in(&text[last..]), last + 2)
            }
            _ => (false, last + 1),
        }
    }

    /// Whether the base64 form of a part may continue after the line ends at `place`, and where
    /// they end.
    fn judge_break(&self, text: &[u8], place: usize) -> (bool, usize) {
        let mut end = place;
        loop {
            let rest = &text[end..];
            let slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
            if slashes > 0 && matches!(rest.get(slashes), Some(b'n' | b'r')) {
                end += slashes + 1;
            } else if slashes == 0 && rest.first().is_some_and(|byte| is_break(*byte)) {
                end += 1;
            } else {
                break;
            }
        }
        steps::count(end - place);
        let is_sextet = |byte: u8| sextet(byte).is_some();
        let place = trimmed(&text[..place], is_break).len();
        let before = tail(behind(text, place, MAX_SIDE_CHARACTERS), is_sextet).len();
        let after = ahead(text, end, MAX_SIDE_CHARACTERS).iter();
        let after = after.take_while(|byte| is_sextet(**byte)).count();
        if before == 0 || after == 0 {
            return (false, end);
        }
        let is_end = |byte: Option<&u8>| byte.is_some_and(|byte| is_break(*byte) || *byte == b'\\');
        let start = place - before;
        let is_between = is_end(text[..start].last()) || is_end(text.get(end + after));
        let is_live = is_between || self.may_straddle(text, (start, place), (end, end + after));
        (is_live, end)
    }
}
