//! A strict JSON scanner over one event or one call: it checks everything, copies nothing unasked.
//!
//! It exists in addition to jiter for what streams need and a parser does not offer: halves of
//! surrogate pairs that end in the next event, values kept as the text they were, and refusals that
//! name the cause.

use amplifier_core::{Json, MAX_DEPTH, Object};

use crate::steps;

mod number;
mod partial;
mod string;

pub use partial::PartialArguments;
pub(crate) use string::{Piece, join};

/// Why a text is not the JSON that was wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at byte {at}")]
pub struct InvalidJson {
    /// What was found.
    pub problem: String,
    /// The place, in bytes of UTF-8.
    pub at: usize,
}

/// Reads one JSON document from front to back.
#[derive(Debug, Clone)]
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    max_depth: usize,
    refuses_ambiguity: bool,
    /// How many entries the object before had, as those of a list are often alike.
    usual_length: usize,
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
            usual_length: 0,
            unpaired: 0,
        }
    }

    /// A scanner that refuses duplicate keys and numbers without a finite value.
    pub(crate) fn strict(text: &'a str, max_depth: usize) -> Self {
        Self {
            max_depth,
            refuses_ambiguity: true,
            ..Self::new(text)
        }
    }

    /// The only value of the text.
    pub(crate) fn document(&mut self) -> Result<Json, InvalidJson> {
        let value = self.value()?;
        self.end()?;
        Ok(value)
    }

    /// Accepts white space and nothing else up to the end.
    pub(crate) fn end(&mut self) -> Result<(), InvalidJson> {
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
        mut field: impl FnMut(&str, &mut Self) -> Result<(), InvalidJson>,
    ) -> Result<(), InvalidJson> {
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
        mut item: impl FnMut(&mut Self) -> Result<(), InvalidJson>,
    ) -> Result<(), InvalidJson> {
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

    /// Checks a value and returns its text.
    pub(crate) fn raw(&mut self) -> Result<&'a str, InvalidJson> {
        let (skipped, raw) = self.spanned(Self::skip);
        skipped.map(|()| raw)
    }

    /// Reads something and returns its text, too.
    pub(crate) fn spanned<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> (T, &'a str) {
        self.skip_whitespace();
        let start = self.at;
        let value = read(self);
        (value, &self.text[start..self.at])
    }

    /// Reads a value; halves of surrogate pairs in it become U+FFFD and are counted.
    pub(crate) fn value(&mut self) -> Result<Json, InvalidJson> {
        self.skip_whitespace();
        Ok(match self.peek() {
            Some(b'"') => Json::Str(self.string()?.into_owned()),
            Some(b'{') => {
                // Objects of a list are often alike: with room for as many entries as the one
                // before had, a map does not grow step by step. No more than 16, as one long object
                // must not make a thousand empty ones long.
                let mut map = Object::with_capacity(self.usual_length.min(16));
                self.object(|key, scanner| {
                    let at = scanner.at;
                    let value = scanner.value()?;
                    if map.insert(key.to_owned(), value).is_some() && scanner.refuses_ambiguity {
                        let problem = format!("duplicate key `{key}`");
                        return Err(InvalidJson { problem, at });
                    }
                    Ok(())
                })?;
                self.usual_length = map.len();
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

    fn skip(&mut self) -> Result<(), InvalidJson> {
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

    fn literal<T>(&mut self, word: &str, value: T) -> Result<T, InvalidJson> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.unexpected("a value"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn enter(&mut self, bracket: u8, wanted: &str) -> Result<(), InvalidJson> {
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

    // Bytes are enough: all that JSON is marked by is ASCII, and no byte of a longer character is.
    // So `at` is never inside of one, and the text can be cut there.
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_whitespace(&mut self) {
        steps::count(1);
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
            steps::count(1);
        }
    }

    fn unexpected(&self, wanted: &str) -> InvalidJson {
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

    fn error(&self, problem: &str) -> InvalidJson {
        InvalidJson {
            problem: problem.to_owned(),
            at: self.at,
        }
    }
}

fn shorten(text: &str) -> &str {
    match text.char_indices().nth(32) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
