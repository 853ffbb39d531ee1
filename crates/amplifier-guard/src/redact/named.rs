//! Values after names of secrets: `password=…`, `"api_key": "…"`, headers, flags, addresses.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use super::forms;
use super::name::{self, MAX_QUOTES, Name, Named};
use super::places::{Place, Places};
use super::program;
use super::random::{LOOK_BYTES, is_random, stretch};
use super::span::Span;
use super::table;
use super::value::{self, Value};

/// The most blanks between a name and a separator.
const MAX_BLANKS: usize = 80;

/// Finds named values, and the start of one that is still incomplete.
pub(super) fn find(text: &[u8], places: &Places, spans: &mut Vec<Span>) -> Finds {
    let mut finds = Finds::default();
    let mut address = Address::default();
    let mut folder = 0;
    for place in &places.values {
        match *place {
            Place::Address(place) if place >= finds.done => {
                finds.take(address.password(text, place + 3));
            }
            Place::Program(place) if place >= finds.done => program::find(text, place, &mut finds),
            Place::Name(start, end) if end >= finds.done && !is_count(text, end) => {
                if let Some(named) = Named::of(text, start, end) {
                    after(text, named, &mut folder, &mut finds);
                }
            }
            _ => {}
        }
    }
    spans.append(&mut finds.spans);
    finds
}

/// What was found behind names.
#[derive(Default)]
pub(super) struct Finds {
    pub(super) spans: Vec<Span>,
    /// The place from which more text could change the result.
    pub(super) open: Option<usize>,
    /// The end of the last value.
    pub(super) done: usize,
    /// Where the last table begins and ends.
    pub(super) table: Option<(usize, usize)>,
    /// The rows of the last table, none of which is the first line of another.
    pub(super) rows: Range<usize>,
}

impl Finds {
    pub(super) fn take(&mut self, found: Option<Found>) {
        let Some(found) = found else { return };
        if found.is_open {
            self.wait(found.span.start);
        }
        if !found.is_benign {
            self.done = self.done.max(found.span.end);
            self.spans.push(found.span);
        }
    }

    /// More text could change what is found from this place on.
    pub(super) fn wait(&mut self, place: usize) {
        self.open = Some(self.open.map_or(place, |open| open.min(place)));
    }
}

/// Whether a name is a plural with no list behind it: `tokens=12`.
fn is_count(text: &[u8], end: usize) -> bool {
    let is_plural = matches!(text[..end], [.., b'n' | b'y' | b'd' | b't', b's']);
    let after = &text[end..text.len().min(end + 8)];
    is_plural && !after.iter().any(|byte| matches!(byte, b'[' | b'(' | b'\n')) && after.len() == 8
}

/// Takes what follows a name, in the first form that fits.
fn after(text: &[u8], named: Named, folder: &mut usize, finds: &mut Finds) {
    if let Some(place) = separator(text, named.end) {
        // What is too far away from the separator is no part of the name.
        let start = named.start.max(place.saturating_sub(MAX_BLANKS));
        let Some(named) = Named::of(text, start, named.end.max(start)) else {
            return;
        };
        if !text[place..].starts_with(b"://") {
            value_after(text, named, place, folder, finds);
        }
    } else if !matches!(named.name, Name::Weak(_))
        || text[named.start] == b'-'
        || matches!(text[..named.start].last(), Some(b'<' | b'/'))
    {
        forms::find(text, named, finds);
        table::find(text, named, finds);
    }
}

/// The `:` or `=` after a name that ends at `end`, skipping the characters allowed in between.
fn separator(text: &[u8], end: usize) -> Option<usize> {
    let after = &text[end..text.len().min(end + MAX_BLANKS + MAX_QUOTES)];
    let quotes = stretch(&after[..after.len().min(MAX_QUOTES)], name::is_quote);
    let rest = &after[quotes..];
    let rest = rest.strip_prefix(b"&quot;").unwrap_or(rest);
    let blanks = stretch(rest, |byte| byte.is_ascii_whitespace() && byte != b'\n');
    let place = end + (after.len() - rest.len()) + blanks;
    matches!(text.get(place), Some(b':' | b'=')).then_some(place)
}

/// A value that was examined.
pub(super) struct Found {
    pub(super) span: Span,
    /// Whether more text could make the value longer or change its kind.
    pub(super) is_open: bool,
    /// Whether it is left unchanged.
    pub(super) is_benign: bool,
}

impl Found {
    pub(super) fn new(value: &Value, kind: &'static str, is_benign: bool) -> Self {
        Self {
            span: Span {
                start: value.start,
                end: value.end,
                kind,
            },
            is_open: value.is_open,
            is_benign,
        }
    }
}

/// Takes the value after the `:` or `=` at `place`.
///
/// `folder` is the end of the last path after a `PWD`; the path is left unchanged, whatever it
/// contains.
fn value_after(text: &[u8], named: Named, place: usize, folder: &mut usize, finds: &mut Finds) {
    let mut start = place + 1;
    let is_arrow = text[place] == b'=' && text.get(start) == Some(&b'>');
    let is_walrus = text[place] == b':' && text.get(start) == Some(&b'=');
    if is_arrow || is_walrus {
        start += 1;
    } else if text.get(start) == Some(&text[place]) {
        // A comparison, or a path of Rust or C++.
        return;
    }
    let is_assignment = text[place] == b'=' && text.get(start) != Some(&b' ');
    let found = match named.name {
        Name::Plural(kind) => return forms::list(text, named, start, kind, finds),
        Name::Authorization => authorization(text, start),
        Name::Cookie => cookie(text, start),
        Name::Strong(kind) => {
            let is_folder = |place: usize| {
                named.is_working_directory(text)
                    && matches!(text.get(place), Some(b'/' | b'~' | b'$'))
            };
            if start < *folder && is_folder(start)
                || forms::below(text, named, place, start, kind, finds)
            {
                return;
            }
            value::parse(text, start).map(|value| {
                if is_folder(value.start) {
                    *folder = value.end;
                    return Found::new(&value, kind, true);
                }
                let is_benign = value::is_benign(text, &value, kind, is_assignment);
                Found::new(&value, kind, is_benign)
            })
        }
        Name::Weak(kind) => weak(text, start, kind, is_assignment),
    };
    finds.take(found);
}

/// The value after a name that says secret only if the value looks like one.
fn weak(text: &[u8], start: usize, kind: &'static str, is_assignment: bool) -> Option<Found> {
    // Text that is skipped here must be short.
    let window = &text[..text.len().min(start + 2 * LOOK_BYTES)];
    let value = value::parse(window, start)?;
    let look = &text[value.start..value.end.min(value.start + LOOK_BYTES)];
    let is_secret = look.len() >= 16
        && is_random(look)
        && !value::is_benign(text, &value, kind, is_assignment)
        && !look.contains(&b' ')
        && (value.is_quoted || !value::is_path(look));
    if is_secret {
        return Some(Found::new(&value::parse(text, start)?, kind, false));
    }
    let mut found = Found::new(&value, kind, true);
    found.is_open &= window.len() == text.len();
    Some(found)
}

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
        let value = Value::quoted(start + from, start + at);
        let secret = &word[from..at];
        let mark = memrchr(b'[', &word[..at]);
        let is_benign = secret.is_empty()
            || value::is_placeholder(secret)
            || mark.is_some_and(|mark| value::is_placeholder(&word[mark..at]));
        Some(Found::new(&value, "password", is_benign))
    }
}
