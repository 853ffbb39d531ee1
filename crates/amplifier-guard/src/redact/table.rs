//! Columns of tables whose heads are names of secrets: CSV, Markdown.

use memchr::memchr;

use super::finds::{Finds, Found};
use super::look::{ahead, line_before, stretch, trimmed};
use super::name::{Name, Named};
use super::value::Value;

/// The longest line of heads.
const MAX_HEAD_BYTES: usize = 512;

/// Takes the cells below a name that is the head of a column.
pub(super) fn find(text: &[u8], named: Named, finds: &mut Finds) {
    let Name::Strong(kind) = named.name else {
        return;
    };
    let after = ahead(text, named.end, MAX_HEAD_BYTES);
    let before = line_before(text, named.start, MAX_HEAD_BYTES);
    let beside = [
        before.trim_ascii_end().last(),
        after.trim_ascii_start().first(),
    ];
    let is_tabbed = before.last() == Some(&b'\t') || after.first() == Some(&b'\t');
    let mut beside = beside.into_iter().flatten().copied();
    let delimiter = beside.find(|byte| matches!(byte, b',' | b';' | b'|'));
    if let Some(delimiter) = delimiter.or(is_tabbed.then_some(b'\t')) {
        rows(text, named, kind, delimiter, finds);
    }
}

fn rows(text: &[u8], named: Named, kind: &'static str, delimiter: u8, finds: &mut Finds) {
    let before = line_before(text, named.start, MAX_HEAD_BYTES);
    let start = named.start - before.len();
    let rest = ahead(text, start, 2 * MAX_HEAD_BYTES);
    let Some(length) = memchr(b'\n', rest) else {
        return;
    };
    let head = &rest[..length];
    let is_head = |cell: &[u8]| {
        let cell = cell.trim_ascii();
        cell.len() <= 32
            && (delimiter == b'|' || !cell.is_empty())
            && cell
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-. \"*`".contains(byte))
    };
    let heads = head.split(|byte| *byte == delimiter);
    let count = heads.clone().count();
    // Words of a sentence have blanks behind their commas.
    let is_spaced = delimiter != b'|'
        && head
            .windows(2)
            .any(|pair| pair[0] == delimiter && pair[1] == b' ');
    if count < 2 || is_spaced || !heads.clone().all(is_head) {
        return;
    }
    let column = before.split(|byte| *byte == delimiter).count() - 1;
    let first = start + length + 1;
    if finds.rows.contains(&named.start) {
        return;
    }
    let mut place = first;
    finds.rows = first..first;
    finds.table = Some((start, first));
    while place < text.len() {
        let rest = &text[place..];
        let length = stretch(rest, |byte| byte != b'\n');
        let line = &rest[..length];
        let cells = cells(line, delimiter);
        if length == rest.len() {
            // The row may not have come as a whole.
            finds.wait(place);
            finds.table = Some((start, text.len()));
        } else if cells.len() != count {
            return;
        }
        if cells.len() != count {
            return;
        }
        let (from, to) = cells[column];
        let is_rule = line[from..to].iter().all(|byte| b"-: ".contains(byte));
        let value = Value::quoted(place + from, place + to);
        finds.take(Some(Found::of(text, value, kind).unless(is_rule)));
        place += length + 1;
        finds.rows.end = place;
        finds.table = Some((start, place));
    }
}

/// Where the cells of a line are, without quotation marks and blanks around them.
fn cells(line: &[u8], delimiter: u8) -> Vec<(usize, usize)> {
    let is_edge = |byte| matches!(byte, b' ' | b'"' | b'\r' | b'`');
    let mut cells = Vec::new();
    let mut from = 0;
    while let Some(rest) = line.get(from..) {
        let mut is_quoted = false;
        let length = stretch(rest, |byte| {
            is_quoted ^= byte == b'"';
            is_quoted || byte != delimiter
        });
        let start = stretch(&rest[..length], is_edge);
        let cell = trimmed(&rest[start..length], is_edge);
        cells.push((from + start, from + start + cell.len()));
        from += length + 1;
    }
    cells
}
