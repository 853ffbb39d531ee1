//! Headers that are known by their names: `Authorization`, `Cookie`.

use memchr::memchr_iter;

use super::finds::Found;
use super::random::{LOOK_BYTES, is_random, stretch};
use super::value::{self, Value};

/// `Authorization: <scheme> <credentials>`; the scheme stays.
pub(super) fn authorization(text: &[u8], start: usize) -> Option<Found> {
    let whole = value::parse_line(text, start, LOOK_BYTES)?;
    let line = &text[whole.start..whole.end.min(whole.start + 64)];
    let scheme = line
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-')
        .unwrap_or(line.len());
    let rest = &line[scheme..];
    let gap = rest.len() - rest.trim_ascii_start().len();
    if scheme == line.len() || gap == 0 {
        let value = value::parse(text, start)?;
        let is_benign = value::is_benign(text, &value, "credentials", false);
        return Some(Found::new(&value, "credentials", is_benign));
    }
    let is = |names: &[&str]| {
        names
            .iter()
            .any(|name| line[..scheme].eq_ignore_ascii_case(name.as_bytes()))
    };
    let kind = match () {
        () if is(&["bearer"]) => "bearer token",
        () if is(&["basic"]) => "basic credentials",
        () if is(&[
            "token",
            "apikey",
            "bot",
            "sharedkey",
            "negotiate",
            "ntlm",
            "key",
        ]) =>
        {
            "credentials"
        }
        () if is(&["digest", "hawk", "oauth"]) || line.starts_with(b"AWS4-") => {
            let from = whole.start + scheme + gap;
            if !text[from..whole.end].contains(&b'=') {
                return Some(Found::new(&whole, "credentials", true));
            }
            // Its own quotation marks are double.
            let rest = &text[from..];
            let length = stretch(rest, |byte| !matches!(byte, b'\n' | b'\r' | b'\''));
            let value = Value {
                start: from,
                end: from + length,
                is_quoted: false,
                is_open: length == rest.len(),
            };
            return Some(Found::new(&value, "credentials", false));
        }
        () => {
            let value = value::parse(text, start)?;
            let is_benign = value::is_benign(text, &value, "credentials", false)
                || !is_random(&text[value.start..value.end]);
            return Some(Found::new(&value, "credentials", is_benign));
        }
    };
    let mut value = value::parse(text, whole.start + scheme + gap)?;
    if whole.is_quoted {
        value.end = value.end.min(whole.end.max(value.start));
    }
    let is_benign = value::is_benign(text, &value, kind, false);
    Some(Found::new(&value, kind, is_benign))
}

/// `Cookie: name=value; name=value`, to the end of the line.
pub(super) fn cookie(text: &[u8], start: usize) -> Option<Found> {
    let value = value::parse_line(text, start, LOOK_BYTES)?;
    let look = &text[value.start..value.end];
    let is_blank = |place: usize| look.get(place).is_some_and(u8::is_ascii_whitespace);
    let mut pairs = memchr_iter(b'=', look)
        .filter(|equals| !is_blank(equals.wrapping_sub(1)) && !is_blank(equals + 1));
    if pairs.next().is_none() || value::is_placeholder(look) {
        return Some(Found::new(&value, "cookie", true));
    }
    let value = value::parse_line(text, start, usize::MAX)?;
    Some(Found::new(&value, "cookie", false))
}
