//! Known secret values, in any encoding and in parts.
//!
//! Every eight consecutive bytes of a secret are searched for, so that no part of eight characters
//! remains, whatever surrounds it or cuts it short: plain, in base64 at each alignment and broken
//! into lines, in hexadecimal digits with and without separators, in UTF-16, and each of these
//! escaped or with invisible characters inside. A fast search by a few bytes finds
//! the candidates; the text is decoded only there.

mod escaped;
mod found;
mod gram;
mod live;
mod part;
mod rolling;

use amplifier_core::base64::sextet;
use amplifier_core::steps;
use memchr::{memchr2_iter, memchr3, memrchr2};

use escaped::REACH_BYTES;
use found::{Found, is_break};
use gram::{Grams, is_of_pairs};
use live::Live;
use part::{Parts, number};
use rolling::Rolling;

use super::escape::{INVISIBLE, Layer, invisibles};
use super::look::{ahead, behind, trimmed};

/// The part of a secret that is looked for, in bytes and in characters.
const PART_BYTES: usize = 8;
/// The fewest bytes of a secret.
pub(super) const MIN_SECRET_BYTES: usize = 4;
/// How far a part in base64 or in digits extends beyond a gram in it: eight bytes are sixteen
/// digits, and three times as many characters with separators.
const AROUND_BYTES: usize = 16;
/// The most characters of base64 that a part takes on one side of the end of a line.
const MAX_SIDE_CHARACTERS: usize = 12;

/// The parts of all secrets.
pub(super) struct Known {
    is_ascii: bool,
    /// Each byte of a secret with the bytes after it, as sorted numbers.
    tails: Vec<u64>,
    /// The parts of each length.
    parts: Vec<Parts>,
    grams: Grams,
    live: Live,
    /// The fewest bytes of a part, and the fewest characters, where one has several bytes.
    shortest: usize,
    characters: usize,
}

impl Known {
    /// Takes secrets of at least four bytes; parts of `exempt`, the marks, are not searched for.
    pub(super) fn new(given: &[&str], exempt: &str) -> Self {
        let mut secrets: Vec<Vec<u8>> = Vec::new();
        let mut wide: Vec<Vec<u8>> = Vec::new();
        let mut characters = PART_BYTES;
        for secret in given {
            characters = characters.min(secret.chars().count());
            secrets.push(secret.as_bytes().to_vec());
            if secret.contains(' ') {
                secrets.push(secret.replace(' ', "+").into_bytes());
            }
            // The other byte order of UTF-16 has the same parts.
            wide.push(secret.encode_utf16().flat_map(u16::to_le_bytes).collect());
            let latin = secret.chars().map(|one| u8::try_from(one).ok());
            let latin: Option<Vec<u8>> = latin.collect();
            let is_other = |latin: &Vec<u8>| latin.len() >= MIN_SECRET_BYTES && !secret.is_ascii();
            secrets.extend(latin.filter(is_other));
        }
        let mut parts: Vec<Parts> = Vec::new();
        for secret in secrets.iter().chain(&wide) {
            let length = secret.len().min(PART_BYTES);
            if !parts.iter().any(|parts| parts.length == length) {
                parts.push(Parts::new(length));
            }
            for parts in parts.iter_mut().filter(|parts| parts.length == length) {
                parts.add(secret, exempt.as_bytes());
            }
        }
        let tails = secrets.iter().flat_map(|secret| {
            (0..secret.len()).map(|start| {
                let tail = &secret[start..secret.len().min(start + PART_BYTES)];
                // Shifted left, so that numbers sort like the bytes, and equal beginnings are
                // adjacent.
                number(tail) << (64 - 8 * tail.len())
            })
        });
        let mut tails: Vec<u64> = tails.collect();
        tails.sort_unstable();
        tails.dedup();
        let lengths = parts.iter().map(|parts| parts.length);
        let shortest = lengths.min().unwrap_or(PART_BYTES);
        Self {
            grams: Grams::new(&secrets, &wide, shortest),
            live: Live::new(&secrets),
            is_ascii: secrets.iter().all(|secret| secret.is_ascii()),
            tails,
            parts,
            shortest,
            characters,
        }
    }

    /// The places that hold parts, in order and apart from each other.
    pub(super) fn find(&self, text: &[u8]) -> Vec<(usize, usize)> {
        if self.parts.is_empty() {
            return Vec::new();
        }
        let mut plain = Found::default();
        let mut found = Found::default();
        self.scan(text, &mut plain, &mut found);
        plain.drop_shorter(text, self.characters);
        self.find_escaped(text, &mut found);
        found.places.extend(plain.places);
        found.joined()
    }

    /// Whether a non-ASCII character ends any part that has begun.
    pub(super) fn is_ascii(&self) -> bool {
        self.is_ascii
    }

    /// How many bytes at the end of the text may begin a part.
    pub(super) fn open_tail(&self, text: &[u8]) -> usize {
        if self.parts.is_empty() {
            return 0;
        }
        let tail = behind(text, text.len(), REACH_BYTES);
        if self.live.has_break() && memchr3(b'%', b'\\', b'&', tail).is_some() {
            return tail.len();
        }
        let is_hidden = !invisibles(tail).is_empty();
        let bare = is_hidden.then(|| Layer::of(tail, INVISIBLE)).flatten();
        let bare = bare.as_ref().map_or(tail, |layer| &layer.bytes);
        let plain = match self.plain_tail(bare) {
            0 => 0,
            plain if bare.len() == tail.len() => plain,
            _ => tail.len(),
        };
        plain
            .max(self.spaced_tail(tail))
            .max(self.broken_tail(tail))
    }

    fn plain_tail(&self, text: &[u8]) -> usize {
        // Parts of eight characters are found, each of up to four bytes.
        let longest = PART_BYTES * if self.is_ascii { 1 } else { 4 } - 1;
        // If the whole is contained in a secret, so is its end.
        (1..=longest.min(text.len()))
            .take_while(|length| {
                let tail = &text[text.len() - length..];
                self.holds(&tail[..tail.len().min(PART_BYTES)])
            })
            .count()
    }

    /// The same for pairs of digits, each with a separator behind it.
    fn spaced_tail(&self, text: &[u8]) -> usize {
        let start = trimmed(text, is_of_pairs).len();
        let mut bytes = Vec::new();
        let mut starts = Vec::new();
        let mut place = start;
        for word in text[start..].split(|byte| !byte.is_ascii_hexdigit() && *byte != b'x') {
            let digits = word.strip_prefix(b"0x").unwrap_or(word);
            let number = std::str::from_utf8(digits).ok();
            let number = number.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            match number.filter(|_| digits.len() == 2) {
                Some(byte) => {
                    bytes.push(byte);
                    starts.push(place);
                }
                None if digits.len() > 2 => bytes.clear(),
                None => {}
            }
            place += word.len() + 1;
        }
        starts.drain(..starts.len() - bytes.len());
        let first = bytes.len().saturating_sub(PART_BYTES - 1);
        (first..bytes.len())
            .find(|first| self.holds(&bytes[*first..]))
            .map_or(0, |first| text.len() - starts[first])
    }

    /// The same for base64 that has the end of a line in its last characters.
    fn broken_tail(&self, text: &[u8]) -> usize {
        let (length, _) = side(text.iter().rev());
        let start = text.len() - length;
        let Some(place) = memrchr2(b'\n', b'\r', &text[start..]) else {
            return 0;
        };
        let line = trimmed(&text[..start + place], is_break);
        let width = self.grams.width();
        let last = line.len().saturating_sub(width);
        let is_live = line.len() < width
            || line[last..].iter().any(|byte| sextet(*byte).is_none())
            || self.grams.is_base64_at(line, last);
        if is_live { length } else { 0 }
    }

    /// Whether a secret holds these at most eight bytes.
    fn holds(&self, bytes: &[u8]) -> bool {
        let shift = 64 - 8 * bytes.len();
        let value = number(bytes);
        // A shifted tail consists of its first bytes, so tails that begin with these are adjacent.
        let first = self.tails.partition_point(|tail| tail >> shift < value);
        self.tails
            .get(first)
            .is_some_and(|tail| tail >> shift == value)
    }

    /// Finds parts in a text without escapes: as they are, and in base64 or digits.
    fn scan(&self, text: &[u8], plain: &mut Found, encoded: &mut Found) {
        let mut checked = 0;
        let grams = &self.grams;
        grams.find(text, |place, gram| {
            if grams.is_plain(gram) {
                self.check(text, place, &mut checked, plain);
            }
            let around = if grams.is_spaced(gram, text, place) {
                3 * AROUND_BYTES
            } else if grams.is_dense(gram, text, place) {
                AROUND_BYTES
            } else {
                return;
            };
            let end = text.len().min(place + grams.width() + around);
            self.decode(text, place.saturating_sub(around), end, encoded);
        });
        self.find_broken(text, encoded);
    }

    /// Finds encoded parts between two places.
    fn decode(&self, text: &[u8], start: usize, end: usize, found: &mut Found) {
        let mut rolling = Rolling::new(&self.parts);
        for (byte, place) in text[start..end].iter().zip(start..) {
            rolling.push(*byte, place, found);
        }
    }

    /// Checks the parts that hold the gram at `place`, from the end `checked` on.
    fn check(&self, text: &[u8], place: usize, checked: &mut usize, found: &mut Found) {
        // Each end is checked once, however many grams of a part were found.
        let first = (place + self.grams.width()).max(*checked + 1);
        let last = text.len().min(place + PART_BYTES);
        for end in first..=last {
            let value = number(&text[end.saturating_sub(PART_BYTES)..end]);
            for parts in &self.parts {
                if let Some(start) = end.checked_sub(parts.length)
                    && parts.has(value)
                {
                    found.add(start, end);
                }
            }
        }
        steps::count(PART_BYTES);
        *checked = last.max(*checked);
    }

    /// Finds base64 that is broken into lines within a part.
    fn find_broken(&self, text: &[u8], found: &mut Found) {
        steps::count(text.len());
        let mut done = 0;
        for place in memchr2_iter(b'\n', b'\r', text) {
            if place < done {
                continue;
            }
            let breaks = text[place..].iter().take_while(|byte| is_break(**byte));
            done = place + breaks.count();
            let is_sextet = |byte: Option<&u8>| byte.is_some_and(|byte| sextet(*byte).is_some());
            if !is_sextet(text[..place].last()) || !is_sextet(text.get(done)) {
                continue;
            }
            let has_break = |side: &[u8]| side.iter().any(|byte| is_break(*byte));
            if !self.may_touch(text, place, done)
                && !has_break(behind(text, place, MAX_SIDE_CHARACTERS))
                && !has_break(ahead(text, done, MAX_SIDE_CHARACTERS))
            {
                continue;
            }
            let (start, before) = side(text[..place].iter().rev());
            let (end, after) = side(text[done..].iter());
            let (start, end) = (place - start, done + end);
            let is_short = before + after < (8 * self.shortest).div_ceil(6);
            // Without another end of a line, one side holds half of the part in one piece.
            let is_one = before == place - start && after == end - done;
            if is_short || is_one && !self.may_straddle(text, (start, place), (done, end)) {
                continue;
            }
            self.decode(text, start, end, found);
        }
    }

    /// Whether base64 of a part may go from the end of one piece on to the beginning of another.
    fn may_straddle(&self, text: &[u8], one: (usize, usize), other: (usize, usize)) -> bool {
        one.1 - one.0 + other.1 - other.0 >= (8 * self.shortest).div_ceil(6)
            && self.may_touch(text, one.1, other.0)
    }

    /// The same by the grams on both sides alone.
    fn may_touch(&self, text: &[u8], end: usize, start: usize) -> bool {
        let last = end.saturating_sub(self.grams.width());
        // Shorter parts may extend across the line end with less than a gram on both sides.
        self.shortest < PART_BYTES
            || self.grams.is_base64_at(text, last)
            || self.grams.is_base64_at(text, start)
    }
}

/// How many bytes the base64 form may take on one side of a line end, and the characters among
/// them.
fn side<'text>(bytes: impl Iterator<Item = &'text u8>) -> (usize, usize) {
    let mut length = 0;
    let mut characters = 0;
    for (place, byte) in bytes.enumerate() {
        if sextet(*byte).is_some() {
            characters += 1;
            length = place + 1;
        } else if !is_break(*byte) {
            break;
        }
        if characters == MAX_SIDE_CHARACTERS {
            break;
        }
    }
    steps::count(length);
    (length, characters)
}
