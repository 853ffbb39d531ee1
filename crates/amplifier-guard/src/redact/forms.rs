//! Ways to write a secret down other than with `:` or `=` behind its name and on one line.

mod assignment;
mod attribute;
mod below;
mod blank;
mod element;
mod list;
mod next_lines;
mod pair;

pub(super) use assignment::Assignment;
pub(super) use below::find_below;
pub(super) use blank::find_declared;
pub(super) use list::find_list;

use super::finds::Finds;
use super::look::tail;
use super::name::Named;

/// Takes what follows a name without a separator.
pub(super) fn find(text: &[u8], named: Named, finds: &mut Finds) {
    element::find_element(text, named, finds);
    match text[named.end..] {
        [b'\t', ..] if text[named.start] == b'-' => {}
        [b' ' | b'\t' | b'[', ..] => finds.take(blank::find_value(text, named)),
        [b'\'' | b'"', b',', ..] => finds.take(pair::find_value(text, named)),
        _ => {}
    }
    attribute::find_attribute(text, named, finds);
}

/// The letters and digits at the end of a text.
fn last_word(text: &[u8]) -> &[u8] {
    tail(text, |byte| byte.is_ascii_alphanumeric())
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}
