//! Looks at the text around a place, no further than is asked for.

use memchr::memrchr;

use amplifier_core::steps;

/// How much of a run is examined to judge it.
pub(super) const LOOK_BYTES: usize = 256;

/// At most so many bytes from a place on.
pub(super) fn ahead(text: &[u8], place: usize, most: usize) -> &[u8] {
    &text[place..text.len().min(place + most)]
}

/// At most so many bytes before a place.
pub(super) fn behind(text: &[u8], place: usize, most: usize) -> &[u8] {
    &text[place.saturating_sub(most)..place]
}

/// The part of its line before a place, of at most so many bytes.
pub(super) fn line_before(text: &[u8], place: usize, most: usize) -> &[u8] {
    let before = behind(text, place, most);
    &before[memrchr(b'\n', before).map_or(0, |end| end + 1)..]
}

/// How many blanks a line begins with.
pub(super) fn indent(line: &[u8]) -> usize {
    line.len() - line.trim_ascii_start().len()
}

/// How many bytes at the beginning of a text satisfy a condition.
pub(super) fn stretch(text: &[u8], mut holds: impl FnMut(u8) -> bool) -> usize {
    let end = text.iter().position(|byte| !holds(*byte));
    let length = end.unwrap_or(text.len());
    steps::count(length);
    length
}

/// The bytes at the end of a text that satisfy a condition.
pub(super) fn tail(text: &[u8], holds: impl Fn(u8) -> bool) -> &[u8] {
    let start = text.iter().rposition(|byte| !holds(*byte));
    &text[start.map_or(0, |last| last + 1)..]
}

/// The text without the bytes at its end that satisfy a condition.
pub(super) fn trimmed(text: &[u8], holds: impl Fn(u8) -> bool) -> &[u8] {
    &text[..text.len() - tail(text, holds).len()]
}
