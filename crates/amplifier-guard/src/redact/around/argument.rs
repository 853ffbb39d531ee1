//! Secrets among the arguments of calls: `setPassword("…")`, `BasicAuth("user", "…")`.

use super::super::finds::{Finds, Found};
use super::super::look::{LOOK_BYTES, ahead, stretch, tail};
use super::super::name::{self, Name, Named};
use super::super::random::is_unspoken;
use super::super::value::{self, Value};
use super::super::word_lists::{List, words};

/// Takes the last of the quoted arguments behind a name, or behind `auth=`.
pub(in crate::redact) fn find(text: &[u8], named: Named, finds: &mut Finds) {
    let after = ahead(text, named.end, 4);
    let equals = stretch(after, |byte| matches!(byte, b' ' | b'='));
    if after.get(equals) != Some(&b'(') {
        return;
    }
    let called = tail(&text[named.start..named.end], |byte| byte != b'.');
    let is_pair = match named.name {
        // `auth("user", "password")`
        Name::Weak(_) | Name::Strong("credentials") | Name::Plural("credential") => true,
        Name::Strong("password" | "secret" | "token" | "key") => {
            if !is_setter(called) {
                return;
            }
            false
        }
        _ => return,
    };
    let is_assigned = after[..equals].contains(&b'=');
    if equals > 0 && !is_assigned {
        return;
    }
    let Some((count, last)) = last(text, named.end + equals + 1) else {
        return;
    };
    let look = &text[last.start..last.end];
    let is_tuple = is_assigned || called.ends_with(b"BasicAuth");
    let is_secret = is_unspoken(look) || (is_tuple || !is_pair) && look.len() >= 8;
    let is_other =
        !is_secret || is_pair && count < 2 || look.contains(&b' ') || name::is_name(look);
    finds.add(Some(Found::of(text, last, "password").unless(is_other)));
}

/// Takes the last argument of a call that begins a session: `login("user", "…")`.
pub(in crate::redact) fn call(text: &[u8], place: usize, finds: &mut Finds) {
    let name = stretch(ahead(text, place, 8), |byte| byte != b'(');
    let Some((count, last)) = last(text, place + name + 1) else {
        return;
    };
    let look = &text[last.start..last.end];
    let is_word = look.len() >= 8 && !look.iter().any(|byte| b" ./:".contains(byte));
    let is_secret = is_unspoken(look) || text[..place].ends_with(b".l") && is_word;
    let is_other = count < 2 || !is_secret || name::is_name(look);
    finds.add(Some(Found::of(text, last, "password").unless(is_other)));
}

/// Whether what is called takes the secret instead of giving it.
fn is_setter(called: &[u8]) -> bool {
    let starts = |verb: &&str| {
        called
            .get(..verb.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(verb.as_bytes()))
    };
    words(List::Setter).iter().any(starts)
}

/// How many arguments there are in the brackets that open before `place`, and the last one, if it
/// is quoted.
fn last(text: &[u8], mut place: usize) -> Option<(usize, Value)> {
    let end = text.len().min(place + LOOK_BYTES);
    let mut count = 0;
    loop {
        place += stretch(&text[place..end], |byte| byte.is_ascii_whitespace());
        let value = value::parse(&text[..end], place).filter(|value| value.end > value.start)?;
        let behind = if value.is_quoted {
            value.end + 1
        } else {
            // A name in code ends at its comma.
            value.start + stretch(&text[value.start..end], |byte| byte != b',' && byte != b')')
        };
        let gap = behind + stretch(text.get(behind..end)?, |byte| byte.is_ascii_whitespace());
        count += 1;
        match text[..end].get(gap) {
            Some(b',') => place = gap + 1,
            Some(b')') if value.is_quoted => return Some((count, value)),
            _ => return None,
        }
    }
}
