//! The names of tools and the ids of their calls, in characters that cannot be mistaken for others.

use crate::shown::shown_in_ascii;

/// The most characters of a tool's name, unless another limit is given.
pub const LONGEST_NAME: usize = 100;

/// The most characters of the id of a call.
const MAX_ID_CHARACTERS: usize = 256;

/// A name or id that is empty, too long, or could be mistaken for another one; of the name the
/// beginning is shown, other characters than ASCII escaped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "its message says what each field is")]
pub enum NameError {
    /// It has no characters.
    #[error("the {what} is empty")]
    Empty { what: &'static str },
    /// It is longer than any sensible one.
    #[error("{what} `{name}` has {length} characters, at most {most} are allowed")]
    TooLong {
        what: &'static str,
        name: String,
        length: usize,
        most: usize,
    },
    /// It contains a character that is not allowed.
    #[error("{what} `{name}` contains U+{code:04X} at character {place}: {allowed}")]
    Character {
        what: &'static str,
        name: String,
        code: u32,
        /// Its place, counted from 0.
        place: usize,
        allowed: &'static str,
    },
}

/// Checks the name of a tool.
///
/// It must begin with an ASCII letter, a digit or `_`; after that, `-`, `.`, `/` and `:` are allowed,
/// too. The Model Context Protocol recommends these characters for tools, and `:` separates a
/// server's name from a tool's. A letter of another script that looks like an ASCII one could make one
/// tool look like another.
///
/// # Examples
///
/// ```
/// use amplifier_guard::{LONGEST_NAME, check_tool_name};
///
/// assert!(check_tool_name("mcp__server-1__get.item", LONGEST_NAME).is_ok());
/// assert_eq!(
///     check_tool_name("r\u{435}ad_file", LONGEST_NAME).unwrap_err().to_string(),
///     "tool name `r\\u{435}ad_file` contains U+0435 at character 1: \
///      only ASCII letters, digits and `_-./:` are allowed"
/// );
/// ```
pub fn check_tool_name(name: &str, most: usize) -> Result<(), NameError> {
    check("tool name", name, most, |place, character| {
        let is_word = character.is_ascii_alphanumeric() || character == '_';
        match place {
            0 if !is_word => Some("it must begin with an ASCII letter, a digit or `_`"),
            1.. if !is_word && !"-./:".contains(character) => {
                Some("only ASCII letters, digits and `_-./:` are allowed")
            }
            _ => None,
        }
    })
}

/// Checks the id of a tool call: visible ASCII characters, at most 256 of them.
pub fn check_call_id(id: &str) -> Result<(), NameError> {
    check("id", id, MAX_ID_CHARACTERS, |_, character| {
        let is_allowed = character.is_ascii_graphic();
        (!is_allowed).then_some("only visible ASCII characters are allowed")
    })
}

/// Refuses a name by its first character about which `flaw` says what is allowed instead.
fn check(
    what: &'static str,
    name: &str,
    most: usize,
    flaw: impl Fn(usize, char) -> Option<&'static str>,
) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty { what });
    }
    for (place, character) in name.chars().enumerate().take(most) {
        if let Some(allowed) = flaw(place, character) {
            return Err(NameError::Character {
                what,
                name: shown_in_ascii(name),
                code: character.into(),
                place,
                allowed,
            });
        }
    }
    let length = name.chars().count();
    if length > most {
        return Err(NameError::TooLong {
            what,
            name: shown_in_ascii(name),
            length,
            most,
        });
    }
    Ok(())
}
