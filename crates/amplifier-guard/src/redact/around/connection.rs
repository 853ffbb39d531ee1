//! Values of connection strings, which go on up to the next `;`: `Server=a;Password=b c;Port=1`.

use super::super::look::{ahead, line_before, stretch};
use super::super::value::Value;

const MAX_LINE_BYTES: usize = 256;
const MAX_VALUE_BYTES: usize = 64;

/// The whole of a value behind the `=` at `separator`, of which the first word is known.
pub(in crate::redact) fn whole(text: &[u8], separator: usize, value: Value) -> Value {
    let rest = ahead(text, value.end, MAX_VALUE_BYTES);
    if value.is_quoted || text[separator] != b'=' || !rest.starts_with(b" ") {
        return value;
    }
    let length = stretch(rest, |byte| !b";=\n\"'`".contains(&byte));
    let before = line_before(text, separator, MAX_LINE_BYTES);
    let is_pair = |pair: &[u8]| pair.contains(&b'=');
    let is_connection = before.contains(&b';')
        && before
            .split(|byte| *byte == b';')
            .next()
            .is_some_and(is_pair);
    let is_cut = length == rest.len() && rest.len() < MAX_VALUE_BYTES;
    if !is_connection || !is_cut && rest.get(length) != Some(&b';') {
        return value;
    }
    if is_cut {
        return Value {
            is_open: true,
            ..value
        };
    }
    Value {
        end: value.end + rest[..length].trim_ascii_end().len(),
        ..value
    }
}
