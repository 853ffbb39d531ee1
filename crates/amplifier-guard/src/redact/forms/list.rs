//! Lists of secrets: `["…", "…"]`, or `- …` on lines of their own.

use crate::redact::finds::{Finds, Found};
use crate::redact::look::stretch;
use crate::redact::name::{self, Name, Named};
use crate::redact::random::is_random;
use crate::redact::value;

/// The most bytes of a list of secrets.
const MAX_LIST_BYTES: usize = 4096;

/// Takes the texts of the list that begins at `start`.
pub(in crate::redact) fn find_list(
    text: &[u8],
    named: Named,
    start: usize,
    kind: &'static str,
    finds: &mut Finds,
) {
    let window = &text[..text.len().min(start + MAX_LIST_BYTES)];
    let is_blank = |byte: u8| byte.is_ascii_whitespace() || byte == b',';
    let mut place = start + stretch(&window[start..], |byte| byte.is_ascii_whitespace());
    let open = window.get(place).copied();
    let is_lines = open == Some(b'-');
    match open {
        Some(b'[' | b'(') => place += 1,
        Some(b'-') if window[start..place].contains(&b'\n') => {}
        None if window.len() == text.len() => return finds.wait(named.end),
        _ => return,
    }
    loop {
        place += stretch(&window[place..], is_blank);
        if is_lines {
            match window[place..] {
                [b'-', b' ', ..] => place += 2,
                [] | [b'-'] => {}
                _ => return,
            }
        }
        if place + 1 >= window.len() {
            break;
        }
        let Some(value) = value::parse(window, place) else {
            break;
        };
        if !is_lines && !value.is_quoted {
            // The end of the list, or no list of texts.
            return;
        }
        if value.is_open {
            break;
        }
        let look = &text[value.start..value.end];
        let is_other = name::is_name(look)
            || named.name == Name::Plural("token") && (look.len() < 8 || !is_random(look));
        finds.take(Some(Found::of(window, value, kind).unless(is_other)));
        place = value.end + usize::from(value.is_quoted);
    }
    if window.len() == text.len() {
        finds.wait(start);
    }
}
