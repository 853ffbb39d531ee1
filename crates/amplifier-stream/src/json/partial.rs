//! The arguments of a call while they arrive, for a display.

use amplifier_core::{Json, Object};

use super::Scanner;
use crate::arguments::MAX_ARGUMENT_DEPTH;
use crate::steps;

mod token;

/// Reads arguments that arrive in pieces, and has at any time what they are so far.
///
/// It continues where it stopped, so that all calls together read each byte once. Shown are closed
/// values, open lists and objects with what is in them, and open strings up to an escape that is
/// not whole yet. A number, `true`, `false` and `null` appear with the byte after them, which alone
/// shows that they are whole; a key appears with its value. At a mistake, which is whatever
/// [`parse_arguments`](crate::parse_arguments) refuses, the value stays what it was before it.
///
/// The value of complete arguments is the one that `parse_arguments` returns. The value of their
/// beginning is a prefix of it: every entry but the last is the same, in the same order, and the
/// last one is the same, the beginning of the same string, or a prefix of the same list or object.
///
/// # Examples
///
/// ```
/// use amplifier_core::Json;
/// use amplifier_stream::PartialArguments;
///
/// let mut arguments = PartialArguments::default();
/// let shown = |value: &amplifier_core::Object| Json::from(value.clone()).to_string();
/// assert_eq!(shown(arguments.read(r#"{"path": "no"#)), r#"{"path":"no"}"#);
/// // `read` takes the whole text so far, and looks at what is new.
/// assert_eq!(shown(arguments.read(r#"{"path": "notes", "li"#)), r#"{"path":"notes"}"#);
/// assert!(!arguments.is_whole());
/// ```
#[derive(Debug, Default)]
pub struct PartialArguments {
    value: Object,
    reader: Reader,
}

/// Where reading continues.
#[derive(Debug, Default)]
struct Reader {
    state: State,
    /// The next byte.
    at: usize,
    /// How many lists and objects are open.
    depth: usize,
    /// The key whose value comes next.
    key: String,
    /// How many bytes of an unfinished number or word follow.
    pending: usize,
}

/// What comes next.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Start,
    FirstKey,
    Key,
    InKey,
    Colon,
    FirstItem,
    Value,
    InText,
    InWord,
    AfterValue,
    End,
    /// Nothing: there was a mistake.
    Nowhere,
}

/// What a token does to the list or object that it is in.
enum Step {
    Inside,
    Opens,
    Closes,
    /// The rest has not come yet, or is a mistake.
    Stops,
}

/// An open list or object.
enum Open<'value> {
    Object(&'value mut Object),
    List(&'value mut Vec<Json>),
}

impl PartialArguments {
    /// Reads on and returns the value so far; `text` is everything received, including the part
    /// already read.
    pub fn read(&mut self, text: &str) -> &Object {
        // Whether the text begins with what was read cannot be checked for less than reading it again.
        // A place within a character, or beyond the end, shows for certain that it does not.
        if !text.is_char_boundary(self.reader.at + self.reader.pending) {
            *self = Self::default();
        }
        self.reader.read(&mut self.value, text);
        &self.value
    }

    /// Reads on in the text of a custom call, which is its `input` verbatim.
    pub(crate) fn read_custom(&mut self, text: &str) -> &Object {
        let input = self.value.entry("input".to_owned());
        if let Json::Str(input) = input.or_insert_with(|| Json::Str(String::new())) {
            input.push_str(text.get(input.len()..).unwrap_or_default());
        }
        &self.value
    }

    /// The value when it was last read.
    #[must_use]
    pub fn value(&self) -> &Object {
        &self.value
    }

    /// Whether what was read is one whole object.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.reader.state == State::End
    }
}

impl<'value> Open<'value> {
    fn of(json: &'value mut Json) -> Option<Self> {
        match json {
            Json::Object(entries) => Some(Self::Object(entries)),
            Json::Array(items) => Some(Self::List(items)),
            Json::Null
            | Json::Bool(_)
            | Json::Int(_)
            | Json::BigInt(_)
            | Json::Float(_)
            | Json::Str(_) => None,
        }
    }

    fn newest(&mut self) -> Option<&mut Json> {
        match self {
            Self::Object(entries) => entries.last_mut().map(|(_, value)| value),
            Self::List(items) => items.last_mut(),
        }
    }
}

impl Reader {
    fn read(&mut self, value: &mut Object, text: &str) {
        if self.state == State::Start && self.skip_whitespace(text) == Some(b'{') {
            self.at += 1;
            self.depth = 1;
            self.state = State::FirstKey;
        }
        if self.depth > 0 && self.fill(&mut Open::Object(value), 1, text) {
            self.state = State::End;
        }
        if matches!(self.state, State::Start | State::End) && self.skip_whitespace(text).is_some() {
            self.state = State::Nowhere;
        }
    }

    /// Reads on in an open container, which is the `level`th, and says whether it is closed.
    fn fill(&mut self, open: &mut Open<'_>, level: usize, text: &str) -> bool {
        steps::count(1);
        // No reference into the value can be kept between two reads, so each read walks down the newest
        // values again: that costs the depth, not the size.
        let mut goes_inside = level < self.depth;
        loop {
            if goes_inside {
                let inner = open.newest().and_then(Open::of);
                if !inner.is_some_and(|mut inner| self.fill(&mut inner, level + 1, text)) {
                    return false;
                }
            }
            goes_inside = match self.step(open, text) {
                Step::Inside => false,
                Step::Opens => true,
                Step::Closes => {
                    self.depth -= 1;
                    self.state = State::AfterValue;
                    return true;
                }
                Step::Stops => return false,
            };
        }
    }

    fn step(&mut self, open: &mut Open<'_>, text: &str) -> Step {
        match self.state {
            State::InKey => return self.read_key(text),
            State::InText => return self.read_text(open, text),
            State::InWord => return self.read_word(open, text),
            _ => {}
        }
        let Some(byte) = self.skip_whitespace(text) else {
            return Step::Stops;
        };
        match (self.state, byte, &open) {
            (State::FirstKey | State::Key, b'"', _) => self.state = State::InKey,
            (State::Colon, b':', _) | (State::AfterValue, b',', Open::List(_)) => {
                self.state = State::Value;
            }
            (State::AfterValue, b',', Open::Object(_)) => self.state = State::Key,
            (State::FirstKey, b'}', _)
            | (State::AfterValue, b'}', Open::Object(_))
            | (State::FirstItem, b']', _)
            | (State::AfterValue, b']', Open::List(_)) => {
                self.at += 1;
                return Step::Closes;
            }
            (State::FirstItem | State::Value, _, _) => return self.begin_value(byte, open),
            _ => return self.stop(),
        }
        self.at += 1;
        Step::Inside
    }

    fn begin_value(&mut self, byte: u8, open: &mut Open<'_>) -> Step {
        let (value, state) = match byte {
            b'"' => (Json::Str(String::new()), State::InText),
            b'{' => (Json::Object(Object::new()), State::FirstKey),
            b'[' => (Json::Array(Vec::new()), State::FirstItem),
            _ => {
                self.state = State::InWord;
                return Step::Inside;
            }
        };
        let opens = state != State::InText;
        // The parser refuses such arguments, and the walk down recurses once for each level.
        if opens && self.depth == MAX_ARGUMENT_DEPTH {
            return self.stop();
        }
        self.at += 1;
        self.depth += usize::from(opens);
        self.add(
            value,
            state,
            open,
            if opens { Step::Opens } else { Step::Inside },
        )
    }

    /// Adds a value, under the key that came before it, unless the object has that key.
    fn add(&mut self, value: Json, next: State, open: &mut Open<'_>, step: Step) -> Step {
        match open {
            Open::List(items) => items.push(value),
            Open::Object(entries) => {
                // The parser refuses a duplicate key; to replace its value would take back what was shown.
                if entries.contains_key(&self.key) {
                    return self.stop();
                }
                entries.insert(std::mem::take(&mut self.key), value);
            }
        }
        self.state = next;
        step
    }

    fn stop(&mut self) -> Step {
        self.state = State::Nowhere;
        Step::Stops
    }
}
