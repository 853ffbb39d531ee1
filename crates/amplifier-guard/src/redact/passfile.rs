//! Passwords in files of `PostgreSQL`: `host:port:database:user:password`, with `*` for anything.

use super::finds::Found;
use super::look::{ahead, behind, stretch, tail};
use super::value::Value;

/// The longest part of a line on either side of its port, without the password.
const MAX_SIDE_BYTES: usize = 256;

/// The password of the line whose port is behind the colon at `place`.
pub(super) fn password(text: &[u8], place: usize) -> Option<Found> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.*$/@\\".contains(&byte);
    let side = behind(text, place, MAX_SIDE_BYTES);
    let host = tail(side, |byte| is_part(byte) || byte == b':');
    let before = side[..side.len() - host.len()].last();
    // A colon within a part has a backslash before it.
    let mut ends = host.split(|byte| *byte == b':').rev().skip(1);
    if host.is_empty() || !ends.all(|end| end.ends_with(b"\\")) {
        return None;
    }
    let after = ahead(text, place + 1, MAX_SIDE_BYTES);
    let mut start = match after {
        [b'*', b':', ..] => 2,
        [b'5', b'4', b'3', b'0'..=b'9', b':', ..] => 5,
        _ => return None,
    };
    for _ in 0..2 {
        let mut is_escaped = false;
        let length = stretch(&after[start..], |byte| {
            let holds = is_part(byte) || is_escaped && byte == b':';
            is_escaped = byte == b'\\' && !is_escaped;
            holds
        });
        if length == 0 || after.get(start + length) != Some(&b':') {
            return None;
        }
        start += length + 1;
    }
    let start = place + 1 + start;
    // In a file, the password ends with its line; in a command, with its word.
    let ends: &[u8] = match before {
        None | Some(b'\n') => b"\r\n",
        Some(b' ' | b'\t' | b'"' | b'\'' | b'`') => b"\r\n \t\"'`",
        Some(_) => return None,
    };
    let length = stretch(&text[start..], |byte| !ends.contains(&byte));
    let mut value = Value::quoted(start, start + length);
    value.is_open = value.end == text.len();
    Some(Found::of(text, value, "password"))
}
