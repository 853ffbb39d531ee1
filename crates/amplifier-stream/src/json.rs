//! A strict JSON scanner over one event or one call: it checks everything, copies nothing unasked.
//!
//! It exists beside jiter for what a wire needs and a parser does not give: halves of surrogate pairs
//! that end in the next event, values kept as the text they were, and refusals that name the cause.

use std::borrow::Cow;

use amplifier_core::{Json, MAX_DEPTH, MAX_DIGITS, Object};
use memchr::memchr2;

/// How deep lists and objects may be nested in the arguments of a tool call.
pub const MAX_ARGUMENT_DEPTH: usize = 128;

/// Why a text is not the JSON that was wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at byte {at}")]
pub struct JsonError {
    /// What was found.
    pub problem: String,
    /// The place, in bytes of UTF-8.
    pub at: usize,
}

/// Parses what a model wrote as the arguments of a tool call; nothing at all is no arguments.
///
/// Refused are duplicate keys, numbers without a finite value, anything but an object, and nesting
/// beyond [`MAX_ARGUMENT_DEPTH`]. Also says how many unpaired surrogate halves became U+FFFD.
pub fn parse_arguments(text: &str) -> Result<(Object, usize), JsonError> {
    let mut scanner = Scanner::new(text);
    scanner.refuses_ambiguity = true;
    scanner.max_depth = MAX_ARGUMENT_DEPTH;
    scanner.skip_whitespace();
    if scanner.peek().is_none() {
        return Ok((Object::new(), 0));
    }
    let value = scanner.document()?;
    match value {
        Json::Object(arguments) => Ok((arguments, scanner.unpaired)),
        other => Err(JsonError {
            problem: format!("expected an object, found {}", other.kind()),
            at: 0,
        }),
    }
}

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

/// Reads one JSON document from front to back.
#[derive(Debug, Clone)]
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    max_depth: usize,
    refuses_ambiguity: bool,
    /// Surrogate halves that became U+FFFD in the values read so far.
    pub(crate) unpaired: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
            max_depth: MAX_DEPTH,
            refuses_ambiguity: false,
            unpaired: 0,
        }
    }

    /// The only value of the text.
    pub(crate) fn document(&mut self) -> Result<Json, JsonError> {
        let value = self.value()?;
        self.end()?;
        Ok(value)
    }

    /// Accepts white space and nothing else up to the end.
    pub(crate) fn end(&mut self) -> Result<(), JsonError> {
        self.skip_whitespace();
        if self.at == self.text.len() {
            Ok(())
        } else {
            Err(self.error("trailing characters"))
        }
    }

    /// Walks an object; `field` must read the value of the key that it is given.
    pub(crate) fn object(
        &mut self,
        mut field: impl FnMut(&str, &mut Self) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        self.enter(b'{', "an object")?;
        if self.takes(b'}') {
            self.depth -= 1;
            return Ok(());
        }
        loop {
            self.skip_whitespace();
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a key in double quotes"));
            }
            let key = self.string()?;
            if !self.takes(b':') {
                return Err(self.unexpected("`:`"));
            }
            field(&key, self)?;
            if self.takes(b',') {
                continue;
            }
            if self.takes(b'}') {
                self.depth -= 1;
                return Ok(());
            }
            return Err(self.unexpected("`,` or `}`"));
        }
    }

    /// Walks an array; `item` must read each item.
    pub(crate) fn array(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        self.enter(b'[', "an array")?;
        if self.takes(b']') {
            self.depth -= 1;
            return Ok(());
        }
        loop {
            item(self)?;
            if self.takes(b',') {
                continue;
            }
            if self.takes(b']') {
                self.depth -= 1;
                return Ok(());
            }
            return Err(self.unexpected("`,` or `]`"));
        }
    }

    /// Checks a value and gives the text that it is.
    pub(crate) fn raw(&mut self) -> Result<&'a str, JsonError> {
        self.skip_whitespace();
        let start = self.at;
        self.skip()?;
        Ok(&self.text[start..self.at])
    }

    /// Reads a value; halves of surrogate pairs in it become U+FFFD and are counted.
    pub(crate) fn value(&mut self) -> Result<Json, JsonError> {
        self.skip_whitespace();
        Ok(match self.peek() {
            Some(b'"') => Json::Str(self.string()?.into_owned()),
            Some(b'{') => {
                let mut map = Object::new();
                self.object(|key, scanner| {
                    let at = scanner.at;
                    let value = scanner.value()?;
                    if map.insert(key.to_owned(), value).is_some() && scanner.refuses_ambiguity {
                        let problem = format!("duplicate key `{key}`");
                        return Err(JsonError { problem, at });
                    }
                    Ok(())
                })?;
                Json::Object(map)
            }
            Some(b'[') => {
                let mut items = Vec::new();
                self.array(|scanner| {
                    items.push(scanner.value()?);
                    Ok(())
                })?;
                Json::Array(items)
            }
            Some(b't') => self.literal("true", Json::Bool(true))?,
            Some(b'f') => self.literal("false", Json::Bool(false))?,
            Some(b'n') => self.literal("null", Json::Null)?,
            _ => self.number()?,
        })
    }

    /// Reads a string; halves of surrogate pairs become U+FFFD and are counted.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        let Piece {
            low,
            text,
            high,
            unpaired,
        } = self.piece()?;
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
    pub(crate) fn piece(&mut self) -> Result<Piece<'a>, JsonError> {
        self.skip_whitespace();
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a string"));
        }
        self.at += 1;
        let start = self.at;
        let end = self.skip_plain()?;
        let first = &self.text[start..end];
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(Piece {
                text: Cow::Borrowed(first),
                ..Piece::default()
            });
        }
        let mut low = None;
        let mut high = None;
        let mut unpaired = 0;
        let mut text = String::with_capacity(first.len() + 16);
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

    /// Moves to the next quote or backslash and says where it is.
    fn skip_plain(&mut self) -> Result<usize, JsonError> {
        let rest = &self.text.as_bytes()[self.at..];
        let Some(length) = memchr2(b'"', b'\\', rest) else {
            self.at = self.text.len();
            return Err(self.error("unterminated string"));
        };
        // A fold looks at every byte and so compiles to vector code, which a search does not.
        if rest[..length].iter().copied().fold(u8::MAX, u8::min) < 0x20 {
            let place = rest.iter().position(|byte| *byte < 0x20).unwrap_or(0);
            self.at += place;
            return Err(self.error("control character in a string"));
        }
        self.at += length;
        Ok(self.at)
    }

    fn escape(&mut self) -> Result<Escape, JsonError> {
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

    fn unicode_escape(&mut self) -> Result<Escape, JsonError> {
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

    fn skip(&mut self) -> Result<(), JsonError> {
        self.skip_whitespace();
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                self.skip_plain()?;
                while self.peek() == Some(b'\\') {
                    self.escape()?;
                    self.skip_plain()?;
                }
                self.at += 1;
                Ok(())
            }
            Some(b'{') => self.object(|_, scanner| scanner.skip()),
            Some(b'[') => self.array(Self::skip),
            Some(b't') => self.literal("true", ()),
            Some(b'f') => self.literal("false", ()),
            Some(b'n') => self.literal("null", ()),
            _ => self.digits().map(|_| ()),
        }
    }

    fn number(&mut self) -> Result<Json, JsonError> {
        let at = self.at;
        let (digits, is_integer) = self.digits()?;
        let invalid = || JsonError {
            problem: "invalid number".to_owned(),
            at,
        };
        if is_integer {
            return Json::integer(digits).ok_or_else(invalid);
        }
        let number: f64 = digits.parse().map_err(|_| invalid())?;
        if self.refuses_ambiguity && !number.is_finite() {
            let problem = format!("number `{}` overflows", shorten(digits));
            return Err(JsonError { problem, at });
        }
        Ok(Json::Float(number))
    }

    /// Takes a number and says whether it is an integer.
    fn digits(&mut self) -> Result<(&'a str, bool), JsonError> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let run = |from: usize| {
            bytes[from..]
                .iter()
                .position(|byte| !byte.is_ascii_digit())
                .unwrap_or(bytes.len() - from)
        };
        let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
        let whole = run(at);
        if whole == 0 {
            return Err(self.unexpected("a value"));
        }
        if whole > 1 && bytes[at] == b'0' {
            return Err(self.error("number with a leading zero"));
        }
        at += whole;
        let mut is_integer = true;
        if bytes.get(at) == Some(&b'.') {
            is_integer = false;
            let fraction = run(at + 1);
            if fraction == 0 {
                return Err(self.error("number that ends in its point"));
            }
            at += 1 + fraction;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            is_integer = false;
            at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = run(at);
            if exponent == 0 {
                return Err(self.error("number without its exponent"));
            }
            at += exponent;
        }
        if is_integer && whole > MAX_DIGITS {
            return Err(self.error(&format!("integer of more than {MAX_DIGITS} digits")));
        }
        self.at = at;
        Ok((&self.text[start..at], is_integer))
    }

    fn literal<T>(&mut self, word: &str, value: T) -> Result<T, JsonError> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.unexpected("a value"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn enter(&mut self, bracket: u8, wanted: &str) -> Result<(), JsonError> {
        self.skip_whitespace();
        if self.peek() != Some(bracket) {
            return Err(self.unexpected(wanted));
        }
        if self.depth == self.max_depth {
            return Err(self.error(&format!("nesting deeper than {} levels", self.max_depth)));
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    /// Takes white space and then this byte, if it is there.
    fn takes(&mut self, byte: u8) -> bool {
        self.skip_whitespace();
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    /// Whether the next value begins with this byte.
    pub(crate) fn is_at(&mut self, byte: u8) -> bool {
        self.skip_whitespace();
        self.peek() == Some(byte)
    }

    /// Whether the next value is a string.
    pub(crate) fn is_at_string(&mut self) -> bool {
        self.is_at(b'"')
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn unexpected(&self, wanted: &str) -> JsonError {
        let rest = &self.text[self.at..];
        let word = rest
            .split(|c: char| !c.is_alphanumeric() && c != '-')
            .next()
            .unwrap_or_default();
        match rest.chars().next() {
            None => self.error(&format!("expected {wanted}, found the end")),
            Some(character) if word.is_empty() => {
                self.error(&format!("expected {wanted}, found {character:?}"))
            }
            Some(_) => self.error(&format!("expected {wanted}, found `{}`", shorten(word))),
        }
    }

    fn error(&self, problem: &str) -> JsonError {
        JsonError {
            problem: problem.to_owned(),
            at: self.at,
        }
    }
}

enum Escape {
    Char(char),
    High(u16),
    Low(u16),
}

/// The character of a surrogate pair.
pub(crate) fn join(high: u16, low: u16) -> char {
    char::decode_utf16([high, low])
        .next()
        .and_then(Result::ok)
        .unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn shorten(text: &str) -> &str {
    match text.char_indices().nth(32) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
