//! From text to [`Json`], by the parser that pydantic-core uses.

use jiter::{Jiter, JiterError, JiterErrorType, NumberFloat, Peek};

use super::value::{Json, MAX_DEPTH, MAX_DIGITS, Object};

/// The most characters of a key that an error shows.
const MAX_KEY_CHARACTERS: usize = 40;

/// Invalid JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid JSON: {message} at line {line} column {column}")]
pub struct JsonError {
    /// What is wrong.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The byte in the line, from 1.
    pub column: usize,
}

impl Json {
    /// Read one JSON text. A duplicate key keeps its first position and takes the last value.
    ///
    /// NaN, infinity, lone surrogates and nesting beyond [`MAX_DEPTH`] are refused.
    pub fn parse(text: &[u8]) -> Result<Self, JsonError> {
        parse(text, MAX_DEPTH, Ambiguity::Settle)
    }

    /// Read one JSON text that every reader understands in the same way.
    ///
    /// Beyond what [`parse`](Self::parse) refuses, no object may have a key twice, every number must
    /// have a finite value, and no value may lie in more than `max_depth` arrays and objects.
    pub fn parse_strict(text: &[u8], max_depth: usize) -> Result<Self, JsonError> {
        parse(text, max_depth.min(MAX_DEPTH), Ambiguity::Refuse)
    }
}

/// How to treat a duplicate key, and a number beyond the range of floats.
#[derive(Clone, Copy, PartialEq)]
enum Ambiguity {
    Settle,
    Refuse,
}

fn parse(text: &[u8], max_depth: usize, ambiguity: Ambiguity) -> Result<Json, JsonError> {
    let mut reader = Reader {
        jiter: Jiter::new(text),
        max_depth,
        ambiguity,
    };
    let value = match reader.jiter.peek() {
        Ok(peek) => reader.value(peek, 0)?,
        Err(error) => return Err(reader.located(&error)),
    };
    match reader.jiter.finish() {
        Ok(()) => Ok(value),
        Err(error) => Err(reader.located(&error)),
    }
}

struct Reader<'text> {
    jiter: Jiter<'text>,
    max_depth: usize,
    ambiguity: Ambiguity,
}

impl Reader<'_> {
    fn value(&mut self, peek: Peek, depth: usize) -> Result<Json, JsonError> {
        match peek {
            Peek::Null => self.jiter.known_null().map(|()| Json::Null),
            Peek::True | Peek::False => self.jiter.known_bool(peek).map(Json::Bool),
            Peek::String => self
                .jiter
                .known_str()
                .map(|text| Json::Str(text.to_owned())),
            Peek::Array => return self.array(depth),
            Peek::Object => return self.object(depth),
            _ => return self.number(peek),
        }
        .map_err(|error| self.located(&error))
    }

    fn array(&mut self, depth: usize) -> Result<Json, JsonError> {
        let mut items = Vec::new();
        let mut next = self.jiter.known_array();
        loop {
            match next {
                Ok(Some(peek)) => {
                    self.check_depth(depth)?;
                    items.push(self.value(peek, depth + 1)?);
                }
                Ok(None) => return Ok(Json::Array(items)),
                Err(error) => return Err(self.located(&error)),
            }
            next = self.jiter.array_step();
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, JsonError> {
        let mut entries = Object::new();
        let mut next = self.jiter.known_object().map(|key| key.map(str::to_owned));
        loop {
            let key = match next {
                Ok(Some(key)) => key,
                Ok(None) => return Ok(Json::Object(entries)),
                Err(error) => return Err(self.located(&error)),
            };
            self.check_depth(depth)?;
            if self.ambiguity == Ambiguity::Refuse && entries.contains_key(&key) {
                let shown: String = key.chars().take(MAX_KEY_CHARACTERS).collect();
                return Err(self.here(format!("duplicate key `{}`", shown.escape_debug())));
            }
            let value = match self.jiter.peek() {
                Ok(peek) => self.value(peek, depth + 1)?,
                Err(error) => return Err(self.located(&error)),
            };
            entries.insert(key, value);
            next = self.jiter.next_key().map(|key| key.map(str::to_owned));
        }
    }

    fn number(&mut self, peek: Peek) -> Result<Json, JsonError> {
        let digits = match self.jiter.known_number_bytes(peek) {
            // Copied, as the bytes are borrowed from the parser, which knows the place for an
            // error.
            Ok(bytes) => bytes.to_vec(),
            Err(error) => return Err(self.located(&error)),
        };
        if digits.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
            return match NumberFloat::from_bytes(&digits, false) {
                Ok(number) if self.ambiguity == Ambiguity::Refuse && !number.0.is_finite() => {
                    Err(self.here("number out of range".to_owned()))
                }
                Ok(number) => Ok(Json::Float(number.0)),
                Err(_) => Err(self.here("invalid number".to_owned())),
            };
        }
        let digits = String::from_utf8_lossy(&digits);
        if digits.trim_start_matches('-').len() > MAX_DIGITS {
            return Err(self.here("number out of range".to_owned()));
        }
        match Json::integer(&digits) {
            Some(number) => Ok(number),
            None => Err(self.here("invalid number".to_owned())),
        }
    }

    fn check_depth(&self, depth: usize) -> Result<(), JsonError> {
        if depth < self.max_depth {
            return Ok(());
        }
        Err(self.here(format!("nested deeper than {} levels", self.max_depth)))
    }

    fn here(&self, message: String) -> JsonError {
        let position = self.jiter.current_position();
        JsonError {
            message,
            line: position.line,
            column: position.column,
        }
    }

    fn located(&self, error: &JiterError) -> JsonError {
        let position = self.jiter.error_position(error.index);
        let message = match &error.error_type {
            JiterErrorType::JsonError(kind) => kind.to_string(),
            JiterErrorType::WrongType { expected, actual } => {
                format!("expected {expected}, found {actual}")
            }
        };
        JsonError {
            message,
            line: position.line,
            column: position.column,
        }
    }
}
