//! Headers that are known by their names: `Authorization`, `Cookie`.

use memchr::memchr_iter;

use super::finds::Found;
use super::look::{LOOK_BYTES, stretch};
use super::random::{is_random, is_unspoken};
use super::span::MARK;
use super::value::{self, Value};
use super::word_lists::{List, is_word};

/// `Authorization: <scheme> <credentials>`; the scheme stays.
pub(super) fn authorization(text: &[u8], start: usize) -> Option<Found> {
    let whole = value::parse_line(text, start, LOOK_BYTES)?;
    let line = &text[whole.start..whole.end.min(whole.start + 64)];
    let scheme = stretch(line, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let (scheme, rest) = line.split_at(scheme);
    let gap = rest.len() - rest.trim_ascii_start().len();
    let from = whole.start + scheme.len() + gap;
    let found = |value: Value, kind| {
        let is_benign = value::is_benign(text, &value, kind, false);
        Found::new(value, kind, is_benign)
    };
    if gap == 0 {
        return Some(found(value::parse(text, start)?, "credentials"));
    }
    if is_word(List::Digest, scheme) || line.starts_with(b"AWS4-") {
        if !text[from..whole.end].contains(&b'=') {
            return Some(Found::new(whole, "credentials", true));
        }
        // Its own quotation marks are double.
        let rest = &text[from..];
        let length = stretch(rest, |byte| !matches!(byte, b'\n' | b'\r' | b'\''));
        let value = Value::word(from, from + length, length == rest.len());
        return Some(Found::new(value, "credentials", false));
    }
    let kind = match () {
        () if scheme.eq_ignore_ascii_case(b"bearer") => "bearer token",
        () if scheme.eq_ignore_ascii_case(b"basic") => "basic credentials",
        () if is_word(List::Scheme, scheme) => "credentials",
        () if value::parse(text, from).is_some_and(|value| {
            !value.is_quoted && is_unspoken(&text[value.start..value.end])
        }) =>
        {
            "credentials"
        }
        () => {
            let mut value = value::parse(text, start)?;
            // A word behind it may show that it is a scheme.
            value.is_open |= whole.is_open && !rest.trim_ascii_start().contains(&b' ');
            let is_scheme = text[from..whole.end.max(from)].starts_with(MARK.as_bytes());
            let is_plain = is_scheme || !is_random(&text[value.start..value.end]);
            return Some(found(value, "credentials").unless(is_plain));
        }
    };
    let mut value = value::parse(text, from)?;
    if whole.is_quoted {
        value.end = value.end.min(whole.end.max(value.start));
    }
    Some(found(value, kind))
}

/// `Cookie: name=value; name=value`, to the end of the line.
pub(super) fn cookie(text: &[u8], start: usize) -> Option<Found> {
    let value = value::parse_line(text, start, LOOK_BYTES)?;
    let look = &text[value.start..value.end];
    let is_blank = |place: usize| look.get(place).is_some_and(u8::is_ascii_whitespace);
    let mut pairs = memchr_iter(b'=', look)
        .filter(|equals| !is_blank(equals.wrapping_sub(1)) && !is_blank(equals + 1));
    if pairs.next().is_none() || value::is_placeholder(look) {
        return Some(Found::new(value, "cookie", true));
    }
    let value = value::parse_line(text, start, usize::MAX)?;
    Some(Found::new(value, "cookie", false))
}
