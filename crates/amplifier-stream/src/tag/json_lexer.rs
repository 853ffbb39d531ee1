//! As much of JSON as shows where its strings are, from bytes in pieces.

use super::search;

/// The keys under which a call may name its tool.
pub(super) const NAME_KEYS: [&str; 3] = ["tool_name", "name", "tool"];

/// How much of a string is kept while it may be the name of the tool.
const MAX_NAME_BYTES: usize = 256;

/// What a look at some bytes came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum JsonStep {
    /// All of them belong to the value.
    More,
    /// A `<` outside of strings is at this place.
    Angle(usize),
    /// The name of the tool is known at this place.
    Name(usize, String),
    /// The value ends before this place.
    Done(usize),
    /// The byte at this place cannot be part of JSON.
    Broken(usize),
}

/// Follows one object or list.
///
/// It checks only what separates a string from the text after it, so that an extra quote does not
/// turn the rest of an answer into a string.
#[derive(Debug, Clone)]
pub(super) struct JsonLexer {
    state: State,
    depth: usize,
    looks_for_name: bool,
    /// The last string of the outermost object.
    string: Vec<u8>,
    /// Whether that string is kept, as long as it may be a key or the name.
    is_kept: bool,
    is_value_of_name: bool,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Value,
    String,
    Escape,
    AfterString,
}

impl JsonLexer {
    /// A lexer in front of an opening bracket.
    pub(super) fn new(looks_for_name: bool) -> Self {
        Self {
            state: State::Value,
            depth: 0,
            looks_for_name,
            string: Vec::new(),
            is_kept: false,
            is_value_of_name: false,
        }
    }

    /// Follows the value until something is to be said.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> JsonStep {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            search::count(1);
            match self.state {
                State::Value => match byte {
                    b'<' => return JsonStep::Angle(at),
                    b'"' => {
                        self.state = State::String;
                        self.string.clear();
                        self.is_kept = self.looks_for_name && self.depth == 1;
                    }
                    b'{' | b'[' => self.depth += 1,
                    // Which bracket closes which is for the parser to check; here only the depth
                    // counts.
                    b'}' | b']' if self.depth <= 1 => return JsonStep::Done(at + 1),
                    b'}' | b']' => self.depth -= 1,
                    b',' => self.is_value_of_name = false,
                    _ => {}
                },
                State::String => {
                    at += self.string_run(&bytes[at..]);
                    match bytes.get(at) {
                        None => return JsonStep::More,
                        // No string of JSON has a line feed, and most that lack a quote get one.
                        Some(b'\n') => return JsonStep::Broken(at),
                        Some(b'\\') => self.state = State::Escape,
                        Some(_) => {
                            self.state = State::AfterString;
                            if let Some(name) = self.take_name() {
                                return JsonStep::Name(at + 1, name);
                            }
                        }
                    }
                }
                State::Escape if byte == b'\n' => return JsonStep::Broken(at),
                // Of `\uXXXX` the digits are like any text: none of them can end the string.
                State::Escape => self.state = State::String,
                State::AfterString => match byte {
                    b' ' | b'\t' | b'\n' | b'\r' => {}
                    b'<' => return JsonStep::Angle(at),
                    b':' => {
                        let is_name = |name: &&str| name.as_bytes() == self.string;
                        let is_key = std::mem::take(&mut self.is_kept);
                        self.is_value_of_name = is_key && NAME_KEYS.iter().any(is_name);
                        self.state = State::Value;
                    }
                    b',' | b'}' | b']' => {
                        // The same byte again, as the end of a value.
                        self.state = State::Value;
                        continue;
                    }
                    _ => return JsonStep::Broken(at),
                },
            }
            at += 1;
        }
        JsonStep::More
    }

    /// The length of what belongs to a string for sure: up to its end, a line feed, or an escape
    /// whose second byte has not arrived.
    fn string_run(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some(place) = search::find3(*b"\"\\\n", &bytes[at..]) {
            self.keep(&bytes[at..at + place]);
            at += place;
            if bytes[at] != b'\\' {
                return at;
            }
            // A name with an escape in it is known when the call is read.
            self.is_kept = false;
            if matches!(bytes.get(at + 1), None | Some(b'\n')) {
                return at;
            }
            at += 2;
        }
        self.keep(&bytes[at..]);
        bytes.len()
    }

    fn keep(&mut self, run: &[u8]) {
        self.is_kept &= self.string.len() + run.len() <= MAX_NAME_BYTES;
        if self.is_kept {
            self.string.extend_from_slice(run);
        }
    }

    fn take_name(&mut self) -> Option<String> {
        let is_name = std::mem::take(&mut self.is_value_of_name);
        if !is_name || !std::mem::take(&mut self.is_kept) {
            return None;
        }
        let name = str::from_utf8(&self.string).ok()?;
        self.looks_for_name = name.is_empty();
        (!name.is_empty()).then(|| name.to_owned())
    }
}
