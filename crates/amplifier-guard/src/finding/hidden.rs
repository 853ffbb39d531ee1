//! Characters that cannot be seen or that turn the direction of a text.

use super::kind::{FindingKind, Stretch};
use crate::text::character::Class;

/// Runs of characters that cannot be seen.
pub(super) fn find(text: &str) -> Vec<Stretch> {
    let is_plain = |byte: &u8| (0x20..0x7f).contains(byte) || matches!(byte, b'\n' | b'\t' | b'\r');
    // Without a branch for each byte, which is many times faster where nothing is hidden.
    if text
        .as_bytes()
        .iter()
        .fold(true, |plain, byte| plain & is_plain(byte))
    {
        return Vec::new();
    }
    let mut parts: Vec<Stretch> = Vec::new();
    for (start, character) in text.char_indices() {
        if !is_hidden(character) {
            continue;
        }
        let end = start + character.len_utf8();
        match parts.last_mut() {
            Some(part) if part.end == start => part.end = end,
            _ => parts.push(Stretch {
                start,
                end,
                kind: FindingKind::HiddenCharacter,
            }),
        }
    }
    parts
}

/// Whether a character is invisible. Line ends and tabs are layout; joiners, variation selectors
/// and braille blanks are allowed because scripts and pictographs need them.
fn is_hidden(character: char) -> bool {
    !matches!(character, '\n' | '\t' | '\r') && Class::of(character).is_hidden()
}
