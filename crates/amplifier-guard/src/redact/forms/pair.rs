//! Pairs of texts: `('x-api-key', 'value')`, a header, and `define('PASSWORD', 'value')`, a call.

use super::last_word;
use crate::redact::finds::Found;
use crate::redact::header::{authorization, cookie};
use crate::redact::look::behind;
use crate::redact::name::{self, Name, Named};
use crate::redact::random::is_random;
use crate::redact::value;
use crate::redact::word_lists::{List, ends};

/// The second text of the pair whose first one is the name.
pub(super) fn find_value(text: &[u8], named: Named) -> Option<Found> {
    let before = text[..named.start].strip_suffix(&[text[named.end]])?;
    let before = before.strip_suffix(b"b").unwrap_or(before);
    let before = before.strip_suffix(b" ").unwrap_or(before);
    let [before @ .., b'(' | b'['] = before else {
        return None;
    };
    let start = named.end + 2;
    match named.name {
        Name::Authorization => authorization(text, start),
        Name::Cookie => cookie(text, start),
        Name::Strong(kind) => {
            let callee = behind(before, before.len(), 32);
            let is_call = ends(List::Call, &last_word(callee).to_ascii_lowercase());
            let value = value::parse(text, start)?;
            let look = &text[value.start..value.end];
            let is_header = text[named.start..named.end].contains(&b'-');
            let is_pair = is_call
                || text.get(start) == Some(&b' ')
                    && (is_header || is_random(look) && look.iter().any(u8::is_ascii_digit));
            let is_other = !value.is_quoted || !is_pair || name::is_name(look);
            Some(Found::of(text, value, kind).unless(is_other))
        }
        Name::Plural(_) | Name::Weak(_) => None,
    }
}
