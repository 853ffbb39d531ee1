//! Characters that cannot be seen or that turn the direction of a text.

use super::{FindingKind, Stretch};

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

/// Controls, zero-width characters, marks and overrides of direction, and tags. Joiners and
/// variation selectors are none: scripts and pictographs need them.
pub(super) fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}'
            | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}
