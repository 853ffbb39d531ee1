//! Values after names of secrets: `password=…`, `"api_key": "…"`, headers, flags, addresses.

use memchr::{memchr, memrchr};

use super::around;
use super::class::is_letter;
use super::finds::{Finds, Found};
use super::forms::{self, Assignment, find_below};
use super::header::{authorization, cookie};
use super::look::{LOOK_BYTES, ahead, stretch};
use super::name::{self, MAX_QUOTES, Name, Named};
use super::passfile;
use super::places::{Place, Places};
use super::program;
use super::random::{is_random, is_unspoken};
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
            Place::Program(place) if place >= finds.done && is_port(text, place) => {
                finds.take(passfile::password(text, place));
            }
            Place::Program(place) if place >= finds.done && is_call(text, place) => {
                around::call(text, place, &mut finds);
            }
            Place::Program(place) if place >= finds.done => program::find(text, place, &mut finds),
            Place::Name(start, end) if end >= finds.done && !is_count(text, end) => {
                let separator = separator(text, end);
                // Without a separator, few characters lead to a value.
                let may_lead = |next: &u8| match next {
                    b'[' => forms::find_declared(text, end).is_some(),
                    next => b" \t\n\r\"'`><,;|\\()]}.".contains(next),
                };
                if (separator.is_some() || text.get(end).is_some_and(may_lead))
                    && let Some(named) = Named::of(text, start, end)
                {
                    after(text, named, separator, &mut folder, &mut finds);
                }
            }
            _ => {}
        }
    }
    spans.append(&mut finds.spans);
    finds
}

/// Whether a port of a password file is at `place`, behind its colon.
fn is_port(text: &[u8], place: usize) -> bool {
    matches!(text[place..], [b':', b'*' | b'5', ..])
}

/// Whether what begins at `place` is a call and no program with options.
fn is_call(text: &[u8], place: usize) -> bool {
    let name = stretch(ahead(text, place, 8), is_letter);
    text.get(place + name) == Some(&b'(')
}

/// Whether a name is a plural with no list behind it: `tokens=12`.
fn is_count(text: &[u8], end: usize) -> bool {
    let is_plural = matches!(text[..end], [.., b'n' | b'y' | b'd' | b't', b's']);
    let after = ahead(text, end, 8);
    let is_mark = |byte: &&u8| matches!(byte, b'[' | b'(' | b'{' | b'\n' | b'0'..=b'9');
    let mark = after.iter().find(is_mark);
    is_plural && after.len() == 8 && mark.is_none_or(u8::is_ascii_digit)
}

/// Takes what follows a name, or what else its place says of the text around it.
fn after(
    text: &[u8],
    named: Named,
    separator: Option<usize>,
    folder: &mut usize,
    finds: &mut Finds,
) {
    let known = finds.spans.len();
    behind(text, named, separator, folder, finds);
    // Behind an option, its value is all that counts.
    if finds.spans.len() == known && text[named.start] != b'-' {
        around::find(text, named, finds);
    }
}

/// Takes what is right behind a name, in the first form that fits.
fn behind(
    text: &[u8],
    named: Named,
    separator: Option<usize>,
    folder: &mut usize,
    finds: &mut Finds,
) {
    if let Some(place) = separator {
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
    } else if named.name == Name::Weak("password") {
        table::find(text, named, finds);
    }
}

/// The `:` or `=` after a name that ends at `end`, skipping the characters allowed in between.
fn separator(text: &[u8], end: usize) -> Option<usize> {
    let after = ahead(text, end, MAX_BLANKS + MAX_QUOTES);
    let quotes = stretch(ahead(after, 0, MAX_QUOTES), name::is_quote);
    let rest = &after[quotes..];
    let rest = rest.strip_prefix(b"&quot;").unwrap_or(rest);
    let blanks = stretch(rest, |byte| byte.is_ascii_whitespace() && byte != b'\n');
    let place = end + (after.len() - rest.len()) + blanks;
    matches!(text.get(place), Some(b':' | b'=')).then_some(place)
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
        Name::Plural(kind) => return forms::find_list(text, named, start, kind, finds),
        Name::Authorization => authorization(text, start),
        Name::Cookie => cookie(text, start),
        Name::Strong(kind) => {
            let is_folder = |place: usize| {
                named.is_working_directory(text)
                    && matches!(text.get(place), Some(b'/' | b'~' | b'$'))
            };
            let assignment = Assignment {
                named,
                kind,
                separator: place,
                start,
            };
            if start < *folder && is_folder(start) || find_below(text, assignment, finds) {
                return;
            }
            value::parse(text, start).map(|value| {
                let value = around::whole(text, place, value);
                if is_folder(value.start) {
                    *folder = value.end;
                    return Found::new(value, kind, true);
                }
                let is_benign = value::is_benign(text, &value, kind, is_assignment);
                Found::new(value, kind, is_benign)
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
    let is_long = look.len() >= 16 && is_random(look);
    let is_secret = (is_long || kind == "password" && is_unspoken(look))
        && !value::is_benign(text, &value, kind, is_assignment)
        && !look.contains(&b' ')
        && (value.is_quoted || !value::is_path(look));
    if is_secret {
        return Some(Found::new(value::parse(text, start)?, kind, false));
    }
    let mut found = Found::new(value, kind, true);
    found.is_open &= window.len() == text.len();
    Some(found)
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
        let is_end = |byte: u8| byte <= b' ' || matches!(byte, b'"' | b'\'' | b'`' | 0x7f);
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
        Some(Found::new(value, "password", is_benign))
    }
}
