//! Personal data in text: numbers of cards and accounts, addresses, and patterns of the user's own.
//!
//! Each becomes `[PII:<type>]`. Where several overlap, all of them are removed, under the type of the
//! longest.

mod iban;
mod kind;
mod pattern;
mod stream;

use std::borrow::Cow;

use regex_automata::Input;
use regex_automata::meta::Regex;

pub use kind::TYPES as PERSONAL_DATA_TYPES;
pub use pattern::PersonalDataError;
pub use stream::PersonalDataStream;

use kind::{End, KINDS};
use pattern::Pattern;
use stream::Openings;

/// Bytes of the longest match that is surely found, so that each search looks at a bounded part.
const REACH_BYTES: usize = 4096;

/// Finds personal data of some types.
pub struct PersonalData {
    searches: Vec<Search>,
    openings: Openings,
}

/// The search for one type.
struct Search {
    name: Box<str>,
    regex: Regex,
    end: End,
    needs_digit: bool,
}

/// Personal data in a text: the bytes from and to, and the search that found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found {
    start: usize,
    end: usize,
    search: usize,
}

impl PersonalData {
    /// Takes the names of built-in types, and patterns with the names of their types.
    ///
    /// A pattern is an expression of the `regex` crate; the time is linear in the text.
    pub fn new<S: AsRef<str>>(
        types: impl IntoIterator<Item = S>,
        patterns: impl IntoIterator<Item = (S, S)>,
    ) -> Result<Self, PersonalDataError> {
        let mut compiled = Vec::new();
        for name in types {
            let name = name.as_ref();
            let kind = KINDS.iter().find(|kind| kind.name == name);
            let kind = kind.ok_or_else(|| PersonalDataError::Type { name: name.into() })?;
            let pattern = Pattern::of_kind(kind)?;
            compiled.push((pattern, kind.end, kind.needs_digit));
        }
        for (name, expression) in patterns {
            let pattern = Pattern::of_user(name.as_ref(), expression.as_ref())?;
            compiled.push((pattern, kind::whole as End, false));
        }
        let mut searches = Vec::with_capacity(compiled.len());
        for (pattern, end, needs_digit) in &compiled {
            searches.push(Search {
                name: pattern.name.as_str().into(),
                regex: pattern.regex()?,
                end: *end,
                needs_digit: *needs_digit,
            });
        }
        Ok(Self {
            searches,
            openings: Openings::new(compiled.iter().map(|(pattern, ..)| pattern))?,
        })
    }

    /// The text without personal data; the same text if it has none.
    #[must_use]
    pub fn redact<'text>(&self, text: &'text [u8]) -> Cow<'text, [u8]> {
        let found = self.find(text, 0);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut redacted = Vec::with_capacity(text.len());
        let mut place = 0;
        for found in found {
            redacted.extend_from_slice(&text[place..found.start]);
            self.write_mark(found, &mut redacted);
            place = found.end;
        }
        redacted.extend_from_slice(&text[place..]);
        Cow::Owned(redacted)
    }

    /// The types of the personal data in a text, each once, in the order of their first places.
    #[must_use]
    pub fn types(&self, text: &[u8]) -> Vec<&str> {
        let mut types = Vec::new();
        for found in self.find(text, 0) {
            let name = self.name(found);
            if !types.contains(&name) {
                types.push(name);
            }
        }
        types
    }

    /// The personal data behind a place that is in none, in order and apart.
    fn find(&self, text: &[u8], from: usize) -> Vec<Found> {
        let mut all = Vec::new();
        let has_digit = text[from..].iter().any(u8::is_ascii_digit);
        for (index, search) in self.searches.iter().enumerate() {
            if has_digit || !search.needs_digit {
                search.find(text, from, index, &mut all);
            }
        }
        joined(all)
    }

    fn name(&self, found: Found) -> &str {
        &self.searches[found.search].name
    }

    fn write_mark(&self, found: Found, text: &mut Vec<u8>) {
        text.extend_from_slice(b"[PII:");
        text.extend_from_slice(self.name(found).as_bytes());
        text.push(b']');
    }
}

impl Search {
    fn find(&self, text: &[u8], from: usize, index: usize, all: &mut Vec<Found>) {
        let mut place = from;
        while place < text.len() {
            // A pattern may look far ahead for each of its matches: all of them together would look
            // at the whole text as often.
            let end = text.len().min(place + 2 * REACH_BYTES);
            let is_last = end == text.len();
            let found = self.regex.find(Input::new(text).range(place..end));
            match found.filter(|found| is_last || found.start() < place + REACH_BYTES) {
                Some(found) => {
                    let start = found.start();
                    place = match (self.end)(text, start, found.end()) {
                        Some(end) => {
                            all.push(Found {
                                start,
                                end,
                                search: index,
                            });
                            end
                        }
                        None => start + 1,
                    };
                }
                None if is_last => break,
                None => place += REACH_BYTES,
            }
        }
    }
}

/// The finds in order, those that overlap as one, of the type of the longest.
fn joined(mut all: Vec<Found>) -> Vec<Found> {
    if all.len() < 2 {
        return all;
    }
    all.sort_by_key(|found| (found.start, std::cmp::Reverse(found.end)));
    let mut apart: Vec<(Found, usize)> = Vec::with_capacity(all.len());
    for found in all {
        let length = found.end - found.start;
        match apart.last_mut() {
            Some((last, longest)) if found.start < last.end => {
                if length > *longest {
                    (last.search, *longest) = (found.search, length);
                }
                last.end = last.end.max(found.end);
            }
            _ => apart.push((found, length)),
        }
    }
    apart.into_iter().map(|(found, _)| found).collect()
}
