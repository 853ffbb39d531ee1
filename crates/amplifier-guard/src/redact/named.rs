//! Values after names of secrets: `password=…`, `"api_key": "…"`, headers, flags, addresses.

use memchr::{memchr, memrchr};

use super::name::{self, Name};
use super::places::Places;
use super::random::{LOOK_BYTES, is_random, stretch};
use super::span::{Span, Until};
use super::value::{self, Value};

/// Finds named values, and the start of one that is still incomplete.
pub(super) fn find(text: &[u8], places: &Places, spans: &mut Vec<Span>) -> Option<usize> {
    let mut open = None;
    let mut done = 0;
    let mut take = |found: Option<Found>, done: &mut usize| {
        let Some(found) = found else { return };
        if found.is_open {
            let start = found.span.start;
            open = Some(open.map_or(start, |open: usize| open.min(start)));
        }
        if !found.is_benign {
            *done = found.span.end;
            spans.push(found.span);
        }
    };
    let mut address = Address::default();
    let mut folder = 0;
    for &place in &places.separators {
        if place >= done {
            let found = if text[place..].starts_with(b"://") {
                address.password(text, place + 3)
            } else {
                value_after(text, place, &mut folder)
            };
            take(found, &mut done);
        }
    }
    done = 0;
    for &place in &places.flags {
        if place >= done {
            take(value_of_flag(text, place + 2), &mut done);
        }
    }
    done = 0;
    for &place in &places.closings {
        if place >= done {
            take(value_of_element(text, place), &mut done);
        }
    }
    done = 0;
    for &place in &places.pairs {
        take(value_of_pair(text, place), &mut done);
    }
    let unended = places.contents.iter().copied().find(|start| {
        let content = &text[*start..];
        content.len() < MAX_ELEMENT_BYTES && stretch(content, is_content) == content.len()
    });
    open.into_iter().chain(unended).min()
}

/// The most bytes of an element's text.
const MAX_ELEMENT_BYTES: usize = 1024;

/// Whether a byte may occur between `<password>` and `</password>`, which are on one line.
fn is_content(byte: u8) -> bool {
    !matches!(byte, b'>' | b'\n')
}

/// A value that was examined.
struct Found {
    span: Span,
    /// Whether more text could make the value longer or change its kind.
    is_open: bool,
    /// Whether it is left unchanged.
    is_benign: bool,
}

impl Found {
    fn new(value: &Value, kind: &'static str, is_benign: bool) -> Self {
        Self {
            span: Span {
                start: value.start,
                end: value.end,
                kind,
                until: value.until,
            },
            is_open: value.is_open,
            is_benign,
        }
    }
}

/// The value after the `:` or `=` at `place`, if the name before it marks a secret.
///
/// `folder` is the end of the last path after a `PWD`; the path is left unchanged, whatever it
/// contains.
fn value_after(text: &[u8], place: usize, folder: &mut usize) -> Option<Found> {
    let named = name::before(text, place)?;
    let mut start = place + 1;
    let is_arrow = text[place] == b'=' && text.get(start) == Some(&b'>');
    let is_walrus = text[place] == b':' && text.get(start) == Some(&b'=');
    if is_arrow || is_walrus {
        start += 1;
    } else if text.get(start) == Some(&text[place]) {
        // A comparison, or a path of Rust or C++.
        return None;
    }
    let is_assignment = text[place] == b'=' && text.get(start) != Some(&b' ');
    match named.name {
        Name::Authorization => authorization(text, start),
        Name::Cookie => cookie(text, start),
        Name::Strong(kind) => {
            let is_folder = |place: usize| {
                named.is_working_directory && matches!(text.get(place), Some(b'/' | b'~' | b'$'))
            };
            if start < *folder && is_folder(start) {
                return None;
            }
            let value = value::parse(text, start)?;
            if is_folder(value.start) {
                *folder = value.end;
                return Some(Found::new(&value, kind, true));
            }
            let is_benign = value::is_benign(text, &value, kind, is_assignment);
            Some(Found::new(&value, kind, is_benign))
        }
        Name::Weak(kind) => {
            // Text that is skipped here must be short.
            let window = &text[..text.len().min(start + 2 * LOOK_BYTES)];
            let value = value::parse(window, start)?;
            let look = &text[value.start..value.end.min(value.start + LOOK_BYTES)];
            let is_secret = look.len() >= 16
                && is_random(look)
                && !value::is_benign(text, &value, kind, is_assignment)
                && !look.contains(&b' ');
            if is_secret {
                Some(Found::new(&value::parse(text, start)?, kind, false))
            } else {
                let mut found = Found::new(&value, kind, true);
                found.is_open &= window.len() == text.len();
                Some(found)
            }
        }
    }
}

/// `Authorization: <scheme> <credentials>`; the scheme stays.
fn authorization(text: &[u8], start: usize) -> Option<Found> {
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
                until: Until::Line,
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
fn cookie(text: &[u8], start: usize) -> Option<Found> {
    let value = value::parse_line(text, start, LOOK_BYTES)?;
    let look = &text[value.start..value.end];
    if !look.contains(&b'=') || value::is_placeholder(look) {
        return Some(Found::new(&value, "cookie", true));
    }
    let value = value::parse_line(text, start, usize::MAX)?;
    Some(Found::new(&value, "cookie", false))
}

/// Looks at addresses, in order.
#[derive(Default)]
struct Address {
    /// Up to where no blank or quotation mark ends the word of the last one.
    word: usize,
}

impl Address {
    /// `user:password@` or `token@` in the address whose authority begins at `start`.
    fn password(&mut self, text: &[u8], start: usize) -> Option<Found> {
        const LONGEST: usize = 1024;
        let is_end = |byte: u8| {
            byte.is_ascii_whitespace()
                || byte.is_ascii_control()
                || matches!(byte, b'"' | b'\'' | b'`')
        };
        let most = text.len().min(start + LONGEST);
        let known = self.word.clamp(start, most);
        self.word = known + stretch(&text[known..most], |byte| !is_end(byte));
        let word = &text[start..self.word];
        let is_over = |byte| matches!(byte, b'/' | b'?' | b'#' | b'<' | b'>' | b'\\' | b',');
        let authority = stretch(word, |byte| !is_over(byte));
        let colon = memchr(b':', &word[..authority]);
        let mut at = memrchr(b'@', &word[..authority]);
        if at.is_none() {
            // A password may hold what ends an authority; a port, or none, does not look like one.
            let colon = colon?;
            if word[colon + 1..authority].iter().all(u8::is_ascii_digit) {
                return None;
            }
            at = memrchr(b'@', word);
        }
        let at = at?;
        let from = match colon {
            Some(colon) if colon < at => colon + 1,
            _ if at >= 16 && is_random(&word[..at]) => 0,
            _ => return None,
        };
        let value = Value {
            start: start + from,
            end: start + at,
            is_quoted: true,
            is_open: false,
            until: Until::Word,
        };
        let secret = &word[from..at];
        let mark = memrchr(b'[', &word[..at]);
        let is_benign = secret.is_empty()
            || value::is_placeholder(secret)
            || mark.is_some_and(|mark| value::is_placeholder(&word[mark..at]));
        Some(Found::new(&value, "password", is_benign))
    }
}

/// `--password value`; with `=` it is an assignment.
fn value_of_flag(text: &[u8], start: usize) -> Option<Found> {
    let length = text[start..]
        .iter()
        .take(name::MAX_NAME_BYTES)
        .position(|byte| !name::is_part(*byte))?;
    let end = start + length;
    if text[end] != b' ' {
        return None;
    }
    let (Name::Strong(kind) | Name::Weak(kind)) = name::classify(&text[start..end])? else {
        return None;
    };
    let value = value::parse(text, end)?;
    let look = &text[value.start..value.end.min(value.start + LOOK_BYTES)];
    let is_benign = look.starts_with(b"-")
        || look.iter().all(u8::is_ascii_alphabetic) && !is_random(look) && !value.is_quoted
        || value::is_benign(text, &value, kind, true);
    Some(Found::new(&value, kind, is_benign))
}

/// `<password>value</password>`, from its closing tag on.
fn value_of_element(text: &[u8], close: usize) -> Option<Found> {
    let rest = &text[close + 2..];
    let length = rest
        .iter()
        .take(name::MAX_NAME_BYTES)
        .position(|byte| !name::is_part(*byte))?;
    let (Name::Strong(kind) | Name::Weak(kind)) = name::classify(&rest[..length])? else {
        return None;
    };
    let before = &text[close.saturating_sub(MAX_ELEMENT_BYTES)..close];
    let start = memrchr(b'>', before)? + 1;
    let value = Value {
        start: close - (before.len() - start),
        end: close,
        is_quoted: true,
        is_open: false,
        until: Until::Word,
    };
    let is_benign = value.start == value.end || value::is_benign(text, &value, kind, true);
    Some(Found::new(&value, kind, is_benign))
}

/// `('x-api-key', 'value')`: a header as a pair, the comma after its name at `quote + 1`.
fn value_of_pair(text: &[u8], quote: usize) -> Option<Found> {
    let before = &text[quote.saturating_sub(name::MAX_NAME_BYTES)..quote];
    let open = before.iter().rposition(|byte| *byte == text[quote])?;
    let lead = before[..open].strip_suffix(b"b").unwrap_or(&before[..open]);
    if !matches!(lead.last(), Some(b'(' | b'[')) {
        return None;
    }
    let named = &before[open + 1..];
    match name::classify(named)? {
        Name::Authorization => authorization(text, quote + 2),
        Name::Cookie => cookie(text, quote + 2),
        Name::Strong(kind) if named.contains(&b'-') => {
            let value = value::parse(text, quote + 2)?;
            let is_benign = !value.is_quoted || value::is_benign(text, &value, kind, true);
            Some(Found::new(&value, kind, is_benign))
        }
        Name::Strong(_) | Name::Weak(_) => None,
    }
}
