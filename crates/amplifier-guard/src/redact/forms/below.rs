//! Values that are not right behind their separator: behind a type, in a call, on the next lines.

use memchr::memchr;

use super::assignment::Assignment;
use super::list::find_list;
use super::next_lines::find_on_next_lines;
use super::{is_quote, last_word};
use crate::redact::finds::{Finds, Found};
use crate::redact::look::{LOOK_BYTES, ahead, indent, line_before, stretch};
use crate::redact::name::Named;
use crate::redact::value::{self, Value};
use crate::redact::word_lists::{List, is_word};

/// The most bytes of a type or a call before a value.
const MAX_TYPE_BYTES: usize = 80;

/// Takes such a value; whether there is nothing else to look for.
pub(in crate::redact) fn find_below(text: &[u8], name: Assignment, finds: &mut Finds) -> bool {
    let window = ahead(text, name.start, MAX_TYPE_BYTES);
    let line = &window[..stretch(window, |byte| byte != b'\n')];
    if matches!(line.trim_ascii(), [b'[', b'"' | b'\'', ..]) {
        find_list(text, name.named, name.start, name.kind, finds);
        return true;
    }
    if ends_question(text, name.named, line) {
        return true;
    }
    if let Some(value) = value_in_call(text, name.start, line) {
        finds.take(Some(Found::of(text, value, name.kind)));
        return true;
    }
    if let Some(place) = place_behind_type(text, name, line) {
        let value = match text.get(place) {
            Some(quote) if is_quote(*quote) => value::parse(text, place),
            Some(_) => None,
            None => {
                finds.wait(name.start + indent(line));
                None
            }
        };
        finds.take(value.map(|value| Found::of(text, value, name.kind)));
        return value.is_some();
    }
    let is_cut = line.len() == window.len() && name.start + window.len() == text.len();
    find_on_next_lines(text, name, line, is_cut, finds)
}

/// Whether a name is the end of a question such as `"Password: "`.
fn ends_question(text: &[u8], named: Named, line: &[u8]) -> bool {
    let [quote @ (b'"' | b'\''), b')' | b',' | b';' | b']' | b'}', ..] = line.trim_ascii() else {
        return false;
    };
    memchr(*quote, line_before(text, named.start, LOOK_BYTES)).is_some()
}

/// The quoted value in a call that returns it: `password = str("…")`.
fn value_in_call(text: &[u8], start: usize, line: &[u8]) -> Option<Value> {
    let quote = line.iter().position(|byte| is_quote(*byte))?;
    let callee = line[..quote].trim_ascii().strip_suffix(b"(")?;
    if !is_word(List::Wrap, last_word(callee)) {
        return None;
    }
    value::parse(text, start + quote)
}

/// The place behind a type and its `=`: `password: Option<String> = "…"`.
fn place_behind_type(text: &[u8], name: Assignment, line: &[u8]) -> Option<usize> {
    let is_type = |byte: &u8| byte.is_ascii_alphanumeric() || b"_&'<>[]()., |*?;".contains(byte);
    if text[name.separator] != b':' {
        return None;
    }
    let rest = &line[indent(line)..];
    let (written, after) = rest.split_at(memchr(b'=', rest)?);
    let first = written.first()?;
    let is_written = (first.is_ascii_alphabetic() || b"&*[".contains(first))
        && written.iter().all(is_type)
        && (written.ends_with(b" ") || after.get(1).is_some_and(|byte| is_quote(*byte)))
        && (!written.trim_ascii_end().contains(&b' ')
            || written.iter().any(|byte| b"|[<&".contains(byte)));
    let equals = name.start + indent(line) + written.len();
    is_written.then(|| equals + 1 + stretch(&text[equals + 1..], |byte| byte == b' '))
}
