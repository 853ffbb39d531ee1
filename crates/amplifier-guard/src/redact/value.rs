//! Values after secret names: where they end, and which of them are not secret.

use super::look::{LOOK_BYTES, ahead, stretch, trimmed};
use super::name::{self, Name};
use super::random::{is_random, variety};
use super::word_lists::{List, is_word, words};
use amplifier_core::steps;

/// The place of a value.
#[derive(Clone, Copy)]
pub(super) struct Value {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_quoted: bool,
    /// Whether the text ends where more of the value may follow.
    pub(super) is_open: bool,
}

impl Value {
    /// A value between marks of its own.
    pub(super) fn quoted(start: usize, end: usize) -> Self {
        Self {
            start,
            end,
            is_quoted: true,
            is_open: false,
        }
    }

    /// A value without marks around it.
    pub(super) fn word(start: usize, end: usize, is_open: bool) -> Self {
        Self {
            start,
            end,
            is_quoted: false,
            is_open,
        }
    }
}

/// The value that begins after blanks at `start`: quoted, or one word, which may still be
/// incomplete.
pub(super) fn parse(text: &[u8], start: usize) -> Option<Value> {
    let start = start + stretch(&text[start..], is_blank);
    if let Some(value) = quoted(text, start) {
        return Some(value);
    }
    let rest = &text[start..];
    let (length, may_end_sooner) = word(rest);
    let word = &rest[..length];
    let has_bracket = word.iter().any(|byte| matches!(byte, b'(' | b'[' | b'{'));
    // A bracket that closes one inside the value belongs to the value.
    let closers: &[u8] = if has_bracket { b",;\\.:" } else { b",;\\.:)]}" };
    let end = start + trimmed(word, |byte| closers.contains(&byte)).len();
    let behind = &text[start + length..];
    let next = stretch(ahead(behind, 0, LOOK_BYTES), is_blank);
    // Words such as `or` behind code are read as far as they have come.
    let is_cut = behind.len() < next + MAX_JOINT_BYTES
        && is_path(&text[start..end])
        && !behind[next..].iter().any(u8::is_ascii_whitespace);
    let is_open = may_end_sooner
        || is_cut
        || behind.len() < LOOK_BYTES && next == behind.len()
        || rest.starts_with(b"<")
            && rest.len() < LOOK_BYTES
            && !rest.iter().any(|byte| matches!(byte, b'>' | b'\n'));
    (end > start || is_open).then_some(Value::word(start, end, is_open))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// What shows that the word before it is code: `key: Key | None = None`, `key or self.key`.
const JOINTS: [&[u8]; 6] = [b"|", b"= ", b"or ", b"if ", b"and ", b"else "];
const MAX_JOINT_BYTES: usize = 5;

/// Whether a value may be a name in code: letters, with `_` and `.` between them.
pub(super) fn is_path(value: &[u8]) -> bool {
    value
        .first()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && value
            .iter()
            .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.'))
}

/// The length of an unquoted value, and whether more text could make it shorter.
fn word(text: &[u8]) -> (usize, bool) {
    if text.starts_with(b"<") {
        // A placeholder such as `<your key>`.
        let close = stretch(ahead(text, 0, LOOK_BYTES), |byte| {
            !matches!(byte, b'>' | b'\n')
        });
        if text.get(close) == Some(&b'>') {
            return (close + 1, false);
        }
    }
    let mut may_end_sooner = false;
    for (place, byte) in text.iter().enumerate() {
        let is_end = match byte {
            b'&' | b'"' | b'\'' | b'`' => true,
            b'<' => place > 0,
            byte if byte.is_ascii_whitespace() => true,
            b';' | b',' if place > 0 => match name_behind(&text[place..]) {
                Behind::Whole => true,
                Behind::CutOff => {
                    may_end_sooner = true;
                    false
                }
                Behind::None => false,
            },
            b'}' | b']' | b')' => {
                place > 0 && matches!(text.get(place + 1), Some(b'}' | b']' | b')' | b','))
            }
            _ => false,
        };
        if is_end {
            steps::count(place);
            return (place, may_end_sooner);
        }
    }
    steps::count(text.len());
    (text.len(), may_end_sooner)
}

/// The name of another value behind a separator.
enum Behind {
    Whole,
    /// The text ends in it.
    CutOff,
    None,
}

/// What follows the `;` or `,` at the beginning of the text: `;Database=…`, `,user: …`.
fn name_behind(text: &[u8]) -> Behind {
    const LONGEST: usize = 47;
    let window = ahead(text, 1, LONGEST);
    let name = stretch(window, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' ')
    });
    match window.get(name) {
        Some(b'=' | b':') if name > 0 => Behind::Whole,
        None if window.len() < LONGEST => Behind::CutOff,
        _ => Behind::None,
    }
}

/// The value in quotes at `start`, which may be escaped, and have a letter before them.
fn quoted(text: &[u8], start: usize) -> Option<Value> {
    const DEEPEST: usize = 7;
    let mut open = start;
    if matches!(
        text.get(open)?.to_ascii_lowercase(),
        b'b' | b'r' | b'u' | b'f'
    ) && matches!(text.get(open + 1), Some(b'"' | b'\'' | b'\\'))
    {
        open += 1;
    }
    let rest = &text[open..];
    if let Some(inner) = rest.strip_prefix(b"&quot;") {
        let length = stretch(inner, |byte| byte != b'&' && byte != b'\n');
        let mut value = Value::quoted(open + 6, open + 6 + length);
        value.is_open = length == inner.len();
        return Some(value);
    }
    let escapes = stretch(ahead(rest, 0, DEEPEST), |byte| byte == b'\\');
    let quote = *rest.get(escapes)?;
    if !matches!(quote, b'"' | b'\'' | b'`') {
        return None;
    }
    let start = open + escapes + 1;
    let mut backslashes = 0;
    for (place, byte) in text[start..].iter().enumerate() {
        let is_close = *byte == quote
            && if escapes == 0 {
                backslashes % 2 == 0
            } else {
                backslashes <= escapes
            };
        if is_close || *byte == b'\n' {
            let escapes = if is_close {
                escapes.min(backslashes)
            } else {
                0
            };
            steps::count(place);
            return Some(Value::quoted(start, start + place - escapes));
        }
        backslashes = if *byte == b'\\' { backslashes + 1 } else { 0 };
    }
    steps::count(text.len() - start);
    let mut value = Value::quoted(start, text.len());
    value.is_open = true;
    Some(value)
}

/// The value that begins after blanks at `start`: quoted, or to the end of the line or string;
/// at most `longest` bytes are looked at.
pub(super) fn parse_line(text: &[u8], start: usize, longest: usize) -> Option<Value> {
    let start = start + stretch(&text[start..], is_blank);
    let window = &text[..text.len().min(start.saturating_add(longest))];
    let to_end_of_line = || {
        let rest = &window[start..];
        let length = stretch(rest, |byte| {
            !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\')
        });
        Value::word(start, start + length, length == rest.len())
    };
    let mut value = quoted(window, start).unwrap_or_else(to_end_of_line);
    value.is_open &= window.len() == text.len();
    (value.end > value.start || value.is_quoted).then_some(value)
}

/// Whether a value is not a secret: empty, a placeholder, a word of prose, a type, code.
pub(super) fn is_benign(text: &[u8], value: &Value, kind: &str, is_assignment: bool) -> bool {
    let whole = &text[value.start..value.end];
    if whole.len() > LOOK_BYTES {
        return false;
    }
    if whole.is_empty() || is_word(List::Benign, whole) || is_placeholder(whole) {
        return true;
    }
    if whole.iter().all(u8::is_ascii_digit) {
        return kind != "password" && whole.len() < 8;
    }
    if value.is_quoted {
        return false;
    }
    // A call, a subscript, an attribute, a container.
    let named = stretch(whole, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
    });
    let is_code = matches!(whole[0], b'{' | b'[' | b'(')
        || words(List::Code)
            .iter()
            .any(|start| whole.starts_with(start.as_bytes()))
        || matches!(whole.get(named), Some(b'(')) && !whole[0].is_ascii_digit();
    let next = text[value.end..].trim_ascii_start();
    let is_named = || match name::classify(whole) {
        Some(Name::Strong(named)) => {
            // A type, or a name of the same.
            let is_type = kind != "password"
                && !is_assignment
                && whole[0].is_ascii_uppercase()
                && whole.iter().any(u8::is_ascii_lowercase);
            named == kind && (is_type || whole.iter().any(|byte| b"_.".contains(byte)))
        }
        _ => false,
    };
    let is_joined =
        || text.get(value.end) == Some(&b' ') && JOINTS.iter().any(|joint| next.starts_with(joint));
    if is_code || is_path(whole) && (is_named() || !is_assignment && is_joined()) {
        return true;
    }
    // After a colon, a word with more words behind it is prose.
    let is_word = whole
        .iter()
        .all(|byte| byte.is_ascii_alphabetic() || *byte == b'-');
    let next = text[value.end..]
        .iter()
        .find(|byte| !matches!(byte, b' ' | b'\t'));
    !is_assignment
        && is_word
        && !is_random(whole)
        && text.get(value.end) == Some(&b' ')
        && next.is_some_and(u8::is_ascii_alphanumeric)
}

/// Whether a value is a placeholder: `<YOUR_KEY>`, `${API_KEY}`, `xxxx`, `sk-...`, our own mark.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let is_variable = value.strip_prefix(b"$").is_some_and(|name| {
        name.iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
    });
    let is_sign = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'*';
    let bare: Vec<u8> = value.iter().filter(is_sign).copied().collect();
    let is_filler = matches!(bare.first(), Some(b'x' | b'X' | b'*')) && variety(&bare) == 1;
    let begins = |start: &&str| {
        let found = value.get(..start.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(start.as_bytes()))
    };
    let is_around = |ends: &&str| {
        let (start, end) = ends.split_once('…').unwrap_or_default();
        value.starts_with(start.as_bytes()) && value.ends_with(end.as_bytes())
    };
    is_variable
        || is_filler
        || bare.is_empty()
        || words(List::Placeholder).iter().any(begins)
        || words(List::Around).iter().any(is_around)
        || value == b"[REDACTED]"
        || (value.ends_with(b"...") || value.ends_with("…".as_bytes())) && value.len() < 20
}
