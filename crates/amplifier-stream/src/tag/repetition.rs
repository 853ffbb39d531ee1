//! Whether a call was copied from a text of others, such as the result of a tool.

use std::sync::Arc;

use super::entity::{Repairs, unescape};
use super::search;

/// The texts that calls may be copied from, in a form in which copies are equal.
///
/// In this form a text has no blanks and no escapes of JSON or XML: a model that copies a call from a
/// page writes it as it reads it, and the page may have arrived as a string of JSON.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownTexts {
    texts: Arc<[String]>,
}

impl KnownTexts {
    pub(super) fn new<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        let texts = texts.into_iter().map(|text| reduce(text.as_ref()));
        Self {
            texts: texts.collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Whether one of them has this call, with its tags.
    pub(super) fn contain(&self, call: &str) -> bool {
        let call = reduce(call);
        self.texts.iter().any(|text| {
            search::count(text.len());
            memchr::memmem::find(text.as_bytes(), call.as_bytes()).is_some()
        })
    }
}

/// The text without blanks and escapes.
fn reduce(text: &str) -> String {
    search::count(text.len());
    let text = unescape(text, &mut Repairs::default());
    let mut reduced = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            reduced.extend(Some(character).filter(|character| !character.is_whitespace()));
            continue;
        }
        // A string within a string has several backslashes in the place of one.
        let behind = rest.as_str().trim_start_matches('\\');
        rest = behind.chars();
        match behind.as_bytes().first() {
            Some(b'n' | b'r' | b't') => {
                rest.next();
            }
            Some(b'u') => {
                if let Some((character, after)) = code_point(behind) {
                    rest = after.chars();
                    let is_kept = !character.is_whitespace() && character != '\\';
                    reduced.extend(Some(character).filter(|_| is_kept));
                }
            }
            _ => {}
        }
    }
    reduced
}

/// The character whose code `u003c` begins the text, and what follows it.
fn code_point(text: &str) -> Option<(char, &str)> {
    let digits = text.get(1..5)?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    Some((char::from_u32(code)?, &text[5..]))
}
