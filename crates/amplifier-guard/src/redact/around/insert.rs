//! Secrets in rows whose columns are named before them in brackets: `INSERT INTO … VALUES`, arrays.

use memchr::{memchr, memchr_iter, memrchr};

use super::super::finds::{Finds, Found};
use super::super::look::{ahead, behind, stretch};
use super::super::name::{Name, Named};
use super::super::value::{self, Value};

/// The longest list of columns on either side of a name, and what may be between it and the rows.
const MAX_SIDE_BYTES: usize = 256;
const MAX_GAP_BYTES: usize = 48;
/// The most of the rows that is looked at.
const MAX_ROWS_BYTES: usize = 4096;

/// Takes what is in the rows in the column of a name.
pub(in crate::redact) fn find(text: &[u8], named: Named, finds: &mut Finds) {
    let Name::Strong(kind) = named.name else {
        return;
    };
    if named.start < finds.mapping.end {
        return;
    }
    let Some((column, count, mut place)) = columns(text, named) else {
        return;
    };
    let end = text.len().min(place + MAX_ROWS_BYTES);
    while place < end {
        let gap = |byte: u8| byte.is_ascii_whitespace() || b",[(".contains(&byte);
        place += stretch(&text[place..end], gap);
        let Some((values, next)) = row(&text[..end], place) else {
            if end == text.len() {
                finds.wait(place);
            }
            return;
        };
        if values.len() != count {
            return;
        }
        let value = values[column];
        finds.add(Some(Found::of(text, value, kind).unless(!value.is_quoted)));
        place = next;
        finds.mapping = named.start..finds.mapping.end.max(place);
    }
}

/// Which of how many columns a name is, and where the rows begin.
fn columns(text: &[u8], named: Named) -> Option<(usize, usize, usize)> {
    let before = behind(text, named.start, MAX_SIDE_BYTES);
    let after = ahead(text, named.end, MAX_SIDE_BYTES);
    let is_list = |list: &[u8]| {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_, `\"'".contains(byte);
        list.iter().all(is_part)
    };
    let open = memrchr(b'(', before).max(memrchr(b'[', before))?;
    let close = if before[open] == b'(' { b')' } else { b']' };
    let close = memchr(close, after)?;
    let (before, is_array) = (&before[open + 1..], before[open] == b'[');
    if !is_list(before) || !is_list(&after[..close]) {
        return None;
    }
    let commas = |list: &[u8]| memchr_iter(b',', list).count();
    let (column, later) = (commas(before), commas(&after[..close]));
    let gap = ahead(text, named.end + close + 1, MAX_GAP_BYTES);
    let length = stretch(gap, |byte| byte != if is_array { b'[' } else { b'(' });
    let between = gap[..length].trim_ascii();
    let is_led = if is_array {
        let quoted = between.strip_prefix(b",").unwrap_or(between).trim_ascii();
        quoted.is_empty() || matches!(quoted, b"\"rows\":" | b"\"data\":" | b"\"values\":")
    } else {
        between.eq_ignore_ascii_case(b"values")
    };
    (is_led && column + later > 0).then_some((
        column,
        column + later + 1,
        named.end + close + 1 + length,
    ))
}

/// The values up to the bracket that closes a row, and what is behind it.
fn row(text: &[u8], mut place: usize) -> Option<(Vec<Value>, usize)> {
    let mut values = Vec::new();
    loop {
        place += stretch(&text[place..], |byte| byte.is_ascii_whitespace());
        let mut value = value::parse(text, place)?;
        if !value.is_quoted {
            let length = stretch(&text[value.start..], |byte| !b",)]\n".contains(&byte));
            value.end = value.start + length;
        }
        values.push(value);
        place = value.end + usize::from(value.is_quoted);
        place += stretch(text.get(place..)?, |byte| byte.is_ascii_whitespace());
        match text.get(place)? {
            b',' => place += 1,
            b')' | b']' => return Some((values, place + 1)),
            _ => return None,
        }
    }
}
