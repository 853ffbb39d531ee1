//! Values whose name is a value itself: `name: DB_PASSWORD` and `value: …` on the next line,
//! `key="password" value="…"`, `<key>Password</key> <string>…`.

use memchr::memmem;

use super::element::MAX_ELEMENT_BYTES;
use super::last_word;
use crate::redact::finds::{Finds, Found};
use crate::redact::look::{ahead, behind, stretch, trimmed};
use crate::redact::name::{Name, Named};
use crate::redact::value::{self, Value};
use crate::redact::word_lists::{List, is_word};

/// How far the label is before the name, and the value behind it.
const MAX_BETWEEN: usize = 64;

/// Takes the value of a name that is labelled as one.
pub(super) fn find_attribute(text: &[u8], named: Named, finds: &mut Finds) {
    let Name::Strong(kind) = named.name else {
        return;
    };
    let before = behind(text, named.start, MAX_BETWEEN);
    let window = ahead(text, named.end, MAX_BETWEEN);
    let start = if before.ends_with(b"<key>") {
        memmem::find(window, b"<string>").map(|place| place + b"<string>".len())
    } else if !is_labelled(before) {
        return;
    } else if window.starts_with(b"\">") {
        Some(2)
    } else {
        return find_content(text, named, kind, finds);
    };
    match start {
        Some(start) => finds.take(Some(element(text, named.end + start, kind))),
        None if window.len() < MAX_BETWEEN => finds.wait(named.end),
        None => {}
    }
}

/// Whether a name is the value of a label: `name: `, `key="`.
fn is_labelled(before: &[u8]) -> bool {
    match trimmed(before, is_between) {
        [label @ .., b':' | b'='] => is_word(List::Label, last_word(trimmed(label, is_between))),
        _ => false,
    }
}

/// Takes what has a label such as `value` behind the name.
fn find_content(text: &[u8], named: Named, kind: &'static str, finds: &mut Finds) {
    let window = ahead(text, named.end, MAX_BETWEEN);
    let start = stretch(window, is_between);
    let end = start + stretch(&window[start..], |byte| byte.is_ascii_alphanumeric());
    let separator = end + stretch(&window[end..], is_between);
    if is_word(List::Content, &window[start..end])
        && matches!(window.get(separator), Some(b':' | b'='))
        && let Some(value) = value::parse(text, named.end + separator + 1)
    {
        finds.take(Some(Found::of(text, value, kind)));
    } else if window.len() < MAX_BETWEEN && separator == window.len() {
        finds.wait(named.end);
    }
}

/// The text of the element that begins at `start`, up to its closing tag.
fn element(text: &[u8], start: usize, kind: &'static str) -> Found {
    let content = ahead(text, start, MAX_ELEMENT_BYTES);
    let length = stretch(content, |byte| !matches!(byte, b'<' | b'\n'));
    let mut value = Value::quoted(start, start + length);
    value.is_open = length == content.len() && content.len() < MAX_ELEMENT_BYTES;
    Found::of(text, value, kind).unless(length == content.len())
}

fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'`,\\".contains(&byte)
}
