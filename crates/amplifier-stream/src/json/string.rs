//! Strings of JSON, whole or as pieces of a longer text.

use std::borrow::Cow;

use super::{InvalidJson, Scanner};
use crate::steps;

/// A string of the wire that may begin or end inside a surrogate pair.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    /// A low half before the text, which belongs to a high half of an earlier piece.
    pub(crate) low: Option<u16>,
    /// Everything between.
    pub(crate) text: Cow<'a, str>,
    /// A high half after the text, which belongs to a low half of a later piece.
    pub(crate) high: Option<u16>,
    /// Halves inside the text that no other piece can complete; they became U+FFFD.
    pub(crate) unpaired: usize,
}

impl Piece<'_> {
    /// Whether it adds nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.low.is_none() && self.high.is_none()
    }
}

impl<'a> From<&'a str> for Piece<'a> {
    fn from(text: &'a str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            ..Self::default()
        }
    }
}

pub(super) enum Escape {
    Char(char),
    High(u16),
    Low(u16),
}

impl<'a> Scanner<'a> {
    /// Reads a string; halves of surrogate pairs become U+FFFD and are counted.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, InvalidJson> {
        let Piece {
            low,
            text,
            high,
            unpaired,
        } = match self.plain_string()? {
            Ok(plain) => return Ok(Cow::Borrowed(plain)),
            Err(first) => self.escaped_piece(first)?,
        };
        if low.is_none() && high.is_none() {
            self.unpaired += unpaired;
            return Ok(text);
        }
        let halves = usize::from(low.is_some()) + usize::from(high.is_some());
        self.unpaired += unpaired + halves;
        let mut whole = String::with_capacity(text.len() + 6);
        whole.extend(low.map(|_| char::REPLACEMENT_CHARACTER));
        whole.push_str(&text);
        whole.extend(high.map(|_| char::REPLACEMENT_CHARACTER));
        Ok(Cow::Owned(whole))
    }

    /// Reads a string whose neighbours are other pieces of the same text.
    pub(crate) fn piece(&mut self) -> Result<Piece<'a>, InvalidJson> {
        match self.plain_string()? {
            Ok(plain) => Ok(Piece::from(plain)),
            Err(first) => self.escaped_piece(first),
        }
    }

    /// Reads on from the first escape of a string, after its first text.
    fn escaped_piece(&mut self, first: &str) -> Result<Piece<'a>, InvalidJson> {
        let mut low = None;
        let mut high = None;
        let mut unpaired = 0;
        // Escapes only get shorter: up to the next quote is the least that is still to come.
        let rest = &self.text.as_bytes()[self.at..];
        let rest = memchr::memchr(b'"', rest).unwrap_or(rest.len());
        steps::count(rest);
        let mut text = String::with_capacity(first.len() + rest.max(32));
        text.push_str(first);
        while self.peek() == Some(b'\\') {
            match self.escape()? {
                Escape::Char(character) => text.push(character),
                Escape::High(unit) if self.peek() == Some(b'"') => high = Some(unit),
                Escape::Low(unit) if text.is_empty() && low.is_none() => low = Some(unit),
                Escape::High(_) | Escape::Low(_) => {
                    unpaired += 1;
                    text.push(char::REPLACEMENT_CHARACTER);
                }
            }
            let start = self.at;
            let end = self.skip_plain()?;
            text.push_str(&self.text[start..end]);
        }
        self.at += 1;
        Ok(Piece {
            low,
            text: Cow::Owned(text),
            high,
            unpaired,
        })
    }

    /// Reads a string without escapes, or what comes before the first one.
    #[inline]
    fn plain_string(&mut self) -> Result<Result<&'a str, &'a str>, InvalidJson> {
        self.skip_whitespace();
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a string"));
        }
        let start = self.at + 1;
        self.at = start;
        let end = self.skip_plain()?;
        let plain = &self.text[start..end];
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(Ok(plain));
        }
        Ok(Err(plain))
    }

    /// Moves to the next quote or backslash and says where it is.
    pub(super) fn skip_plain(&mut self) -> Result<usize, InvalidJson> {
        let rest = &self.text.as_bytes()[self.at..];
        let length = plain_length(rest);
        steps::count(length + 1);
        self.at += length;
        match rest.get(length) {
            Some(b'"' | b'\\') => Ok(self.at),
            Some(_) => Err(self.error("control character in a string")),
            None => Err(self.error("unterminated string")),
        }
    }

    pub(super) fn escape(&mut self) -> Result<Escape, InvalidJson> {
        let letter = self.text.as_bytes().get(self.at + 1).copied();
        let character = match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.error("unknown escape in a string")),
        };
        self.at += 2;
        Ok(Escape::Char(character))
    }

    fn unicode_escape(&mut self) -> Result<Escape, InvalidJson> {
        let unit = self
            .code_unit(self.at)
            .ok_or_else(|| self.error("`\\u` without four digits"))?;
        self.at += 6;
        match unit {
            0xD800..0xDC00 => {
                if let Some(low @ 0xDC00..0xE000) = self.code_unit(self.at) {
                    self.at += 6;
                    return Ok(Escape::Char(join(unit, low)));
                }
                Ok(Escape::High(unit))
            }
            0xDC00..0xE000 => Ok(Escape::Low(unit)),
            unit => Ok(Escape::Char(
                char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER),
            )),
        }
    }

    /// The unit that a `\uXXXX` at this place means.
    fn code_unit(&self, at: usize) -> Option<u16> {
        let digits = self.text.as_bytes().get(at..at + 6)?.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0u16, |unit, &digit| {
            let digit = char::from(digit).to_digit(16)?;
            Some(unit << 4 | u16::try_from(digit).ok()?)
        })
    }
}

/// How many bytes come before a quote, a backslash or a character that must be escaped.
///
/// Most strings of a wire are too short for a call into a search to pay: blocks that the compiler
/// compares as vectors, then words of eight bytes.
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    let (blocks, _) = bytes.as_chunks::<32>();
    // 32 bytes at once, in a loop without branches that the compiler turns into vector instructions;
    // then words of 8 to find the place, then the last bytes one by one.
    let plain = 32 * blocks.iter().take_while(|block| is_plain(block)).count();
    let (words, tail) = bytes[plain..].as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            // The word was read as little-endian, so its lowest bits are its first byte.
            return plain + number * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    let ends = tail.iter().position(is_special);
    bytes.len() - tail.len() + ends.unwrap_or(tail.len())
}

fn is_plain(block: &[u8; 32]) -> bool {
    let mut special = 0;
    for &byte in block {
        special |= u8::from(byte < 0x20) | u8::from(byte == b'"') | u8::from(byte == b'\\');
    }
    special == 0
}

/// Sets the highest bit of each byte that ends plain text; only the first one is certain.
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // Subtracting `limit` from each byte borrows, and so sets its highest bit, where the byte is
    // below it; `& !word` leaves out bytes of 0x80 and more, whose bit was set before. A borrow goes
    // on into the next byte, which may then be marked by mistake: bytes after the first do not count.
    let below = |limit: u8, word: u64| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    // A byte that is equal becomes 0, the only value below 1.
    let equal = |byte: u8| below(1, word ^ (ONES * u64::from(byte)));
    (below(0x20, word) | equal(b'"') | equal(b'\\')) & (ONES << 7)
}

/// The character of a surrogate pair.
pub(crate) fn join(high: u16, low: u16) -> char {
    char::decode_utf16([high, low])
        .next()
        .and_then(Result::ok)
        .unwrap_or(char::REPLACEMENT_CHARACTER)
}
