//! Columns of tables whose heads are names of secrets: CSV, Markdown.

use memchr::{memchr, memchr_iter};

use super::finds::{Finds, Found};
use super::look::{ahead, line_before, stretch, trimmed};
use super::name::{Name, Named};
use super::random::is_unspoken;
use super::value::Value;

/// The longest line of heads.
const MAX_HEAD_BYTES: usize = 512;

/// Takes the cells below a name that is the head of a column.
pub(super) fn find(text: &[u8], named: Named, finds: &mut Finds) {
    let (Name::Strong(kind) | Name::Weak(kind)) = named.name else {
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
    let is_boxed =
        before.trim_ascii_end().ends_with(BAR) || after.trim_ascii_start().starts_with(BAR);
    let delimiter = match delimiter {
        Some(delimiter) => delimiter,
        None if is_tabbed => b'\t',
        None if is_boxed => BAR[2],
        None if is_apart(before, after) => WIDE,
        None if is_title(before) && is_title(after) => b' ',
        None => return,
    };
    if delimiter == b'|' && before.trim_ascii().is_empty() && record(text, named, kind, finds) {
        return;
    }
    rows(text, named, kind, delimiter, finds);
}

/// The line between the cells of a drawn table.
const BAR: &[u8] = "│".as_bytes();
/// What stands for two or more blanks between cells.
const WIDE: u8 = 0;

/// Whether a name is apart from what is beside it on its line.
fn is_apart(before: &[u8], after: &[u8]) -> bool {
    let is_first = before.is_empty();
    let is_last = after.trim_ascii_start().is_empty() || matches!(after, [b'\n' | b'\r', ..]);
    (is_first || before.ends_with(b"  "))
        && (is_last || after.starts_with(b"  "))
        && !(before.trim_ascii().is_empty() && is_last)
}

/// Whether each word of a line begins with a capital letter.
fn is_title(words: &[u8]) -> bool {
    let line = &words[..stretch(words, |byte| byte != b'\n')];
    line.split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty())
        .all(|word| word[0].is_ascii_uppercase())
}

/// Takes the other cell of a line of two, below one of two: `password | value`.
fn record(text: &[u8], named: Named, kind: &'static str, finds: &mut Finds) -> bool {
    let start = named.start - line_before(text, named.start, MAX_HEAD_BYTES).len();
    let Some(previous) = text[..start].strip_suffix(b"\n") else {
        return false;
    };
    let is_row = |line: &[u8]| memchr_iter(b'|', line).count() == 1;
    let line = ahead(text, start, MAX_HEAD_BYTES);
    let line = &line[..stretch(line, |byte| byte != b'\n')];
    if !is_row(line) || !is_row(line_before(previous, previous.len(), MAX_HEAD_BYTES)) {
        return false;
    }
    let (from, to) = cells(line, b'|')[1];
    let mut value = Value::quoted(start + from, start + to);
    let look = &line[from..to];
    let is_secret = is_unspoken(look) || kind == "password" && is_word(look);
    value.is_open = start + line.len() == text.len();
    finds.take(Some(Found::of(text, value, kind).unless(!is_secret)));
    is_secret
}

/// Whether a cell is one long word.
fn is_word(cell: &[u8]) -> bool {
    cell.len() >= 6 && !cell.iter().any(u8::is_ascii_whitespace)
}

fn rows(text: &[u8], named: Named, kind: &'static str, delimiter: u8, finds: &mut Finds) {
    let before = line_before(text, named.start, MAX_HEAD_BYTES);
    let start = named.start - before.len();
    let rest = ahead(text, start, 2 * MAX_HEAD_BYTES);
    let Some(length) = memchr(b'\n', rest) else {
        return;
    };
    let head = &rest[..length];
    let is_barred = delimiter == b'|' || delimiter == BAR[2];
    let is_head = |(from, to): &(usize, usize)| {
        let cell = &head[*from..*to];
        cell.len() <= 32
            && (is_barred || !cell.is_empty())
            && cell
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-. \"*`".contains(byte))
    };
    let heads = cells(head, delimiter);
    let count = heads.len();
    // Words of a sentence have blanks behind their commas.
    let is_spaced = delimiter == b' '
        || !is_barred
            && head
                .windows(2)
                .any(|pair| pair[0] == delimiter && pair[1] == b' ');
    let is_spaced = is_spaced || matches!(named.name, Name::Weak(_));
    let is_here = |(from, to): &(usize, usize)| (*from..=*to).contains(&before.len());
    let column = heads.iter().position(is_here);
    let Some(column) = column.filter(|_| count > 1 && heads.iter().all(is_head)) else {
        return;
    };
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
        if is_rule(line) && length < rest.len() {
            place += length + 1;
            finds.rows.end = place;
            finds.table = Some((start, place));
            continue;
        }
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
        let look = &text[value.start..value.end];
        let is_strict = delimiter == b' ' || matches!(named.name, Name::Weak(_));
        let is_password = !is_strict && kind == "password" && is_word(look);
        let is_loose = is_spaced || delimiter == WIDE;
        let is_other = is_rule || is_loose && !is_password && !is_unspoken(look);
        finds.take(Some(Found::of(text, value, kind).unless(is_other)));
        place += length + 1;
        finds.rows.end = place;
        finds.table = Some((start, place));
    }
}

/// Whether a line only separates others: `|---|---|`, `----+----`.
fn is_rule(line: &[u8]) -> bool {
    let is_drawn = |byte: &u8| !byte.is_ascii() || b"-=+|: \r".contains(byte);
    !line.is_empty() && line.iter().all(is_drawn)
}

/// Where the cells of a line are, without quotation marks and blanks around them.
fn cells(line: &[u8], delimiter: u8) -> Vec<(usize, usize)> {
    let is_drawn = delimiter == BAR[2];
    let is_edge =
        |byte| matches!(byte, b' ' | b'"' | b'\r' | b'`') || is_drawn && BAR.contains(&byte);
    let mut cells = Vec::new();
    let mut from = 0;
    while let Some(rest) = line.get(from..) {
        // Blanks that are delimiters begin no cell.
        let blanks = match delimiter {
            WIDE | b' ' => stretch(rest, |byte| byte == b' '),
            _ => 0,
        };
        if blanks > 0 && blanks == rest.len() {
            break;
        }
        let rest = &rest[blanks..];
        let mut is_quoted = false;
        let mut previous = 0;
        let length = stretch(rest, |byte| {
            is_quoted ^= byte == b'"';
            let is_blank = byte == b' ' && previous == b' ';
            previous = byte;
            is_quoted || byte != delimiter && !(delimiter == WIDE && is_blank)
        });
        let start = stretch(&rest[..length], is_edge);
        let cell = trimmed(&rest[start..length], is_edge);
        cells.push((from + blanks + start, from + blanks + start + cell.len()));
        from += blanks + length + 1;
    }
    cells
}
