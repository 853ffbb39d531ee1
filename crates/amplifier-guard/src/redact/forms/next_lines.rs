//! Values on the lines behind a name: blocks of YAML, values in parentheses or behind a backslash.

use memchr::memrchr;

use super::assignment::Assignment;
use crate::redact::finds::{Finds, Found};
use crate::redact::look::{LOOK_BYTES, indent, line_before, stretch};
use crate::redact::random::is_random;
use crate::redact::value::{self, Value};

/// Takes a value that begins behind `line`, the rest of the line of its name, which the end of the
/// text may have cut; whether there is nothing else to look for.
pub(super) fn find_on_next_lines(
    text: &[u8],
    name: Assignment,
    line: &[u8],
    is_cut: bool,
    finds: &mut Finds,
) -> bool {
    let head = line.trim_ascii();
    let is_block = begins_block(head);
    let is_joined = matches!(head, b"(" | b"\\");
    if !is_block && !is_joined && !head.is_empty() || text[name.separator] == b'=' && !is_joined {
        return false;
    }
    if is_cut {
        finds.wait(name.start + indent(line));
        return false;
    }
    let first = name.start + line.len();
    let begin = first + stretch(&text[first..], |byte| byte.is_ascii_whitespace());
    let Some(begin_line) = memrchr(b'\n', &text[first..begin]).map(|end| first + end + 1) else {
        return false;
    };
    if begin == text.len() {
        finds.wait(name.start + indent(line));
        return true;
    }
    let before = line_before(text, name.named.start, LOOK_BYTES);
    let depth = indent(before);
    let is_key = matches!(before.trim_ascii(), b"" | b"-" | b"\"" | b"'" | b"- \"");
    if !is_joined && (begin - begin_line <= depth || !is_key) {
        return false;
    }
    let found = if is_block {
        Some(block(text, begin, depth, name.kind))
    } else {
        value_at(text, name, begin, head).map(|value| Found::of(text, value, name.kind))
    };
    let is_found = found.is_some();
    finds.take(found);
    is_found
}

/// Whether what is behind a separator announces a block of YAML: `|`, `>-`, `!!binary |`.
fn begins_block(head: &[u8]) -> bool {
    match head.strip_prefix(b"!!binary ").unwrap_or(head) {
        [b'|' | b'>', others @ ..] => others.iter().all(|byte| b"+-0123456789".contains(byte)),
        _ => false,
    }
}

/// The block that begins at `begin`, whose key is indented by `depth` blanks.
fn block(text: &[u8], begin: usize, depth: usize, kind: &'static str) -> Found {
    let (end, is_open) = block_end(text, begin, depth);
    let line = &text[begin..end.min(begin + LOOK_BYTES)];
    let line = &line[..stretch(line, |byte| byte != b'\n')];
    // A description, not a secret.
    let is_prose = line.contains(&b' ') && !is_random(line);
    let mut value = Value::quoted(begin, end);
    value.is_open = is_open;
    Found::of(text, value, kind).unless(is_prose)
}

/// The value that begins a line at `begin`, if it is quoted, or all of its line.
fn value_at(text: &[u8], name: Assignment, begin: usize, head: &[u8]) -> Option<Value> {
    let value = value::parse(text, begin)?;
    let after = &text[value.end..];
    let rest = stretch(after, |byte| matches!(byte, b' ' | b'\t' | b'\r'));
    let is_whole = matches!(after.get(rest), None | Some(b'\n'));
    let between = &text[name.named.end..name.separator];
    let is_quoted_name = between.iter().any(|byte| b"\"'".contains(byte));
    let is_quoted = matches!(text[begin], b'"' | b'\'');
    (is_quoted || is_whole && !is_quoted_name && head != b"(").then_some(value)
}

/// The end of the lines from `begin` on that are indented deeper, and whether the text ends first.
fn block_end(text: &[u8], begin: usize, depth: usize) -> (usize, bool) {
    let (mut place, mut end) = (begin, begin);
    while place <= text.len() {
        let rest = &text[place..];
        let length = stretch(rest, |byte| byte != b'\n');
        let line = rest[..length].trim_ascii_end();
        if !line.is_empty() {
            if place > begin && indent(line) <= depth {
                return (end, false);
            }
            end = place + line.len();
        }
        place += length + 1;
    }
    (end, true)
}
