//! References to characters in XML, and what had to be repaired or left out while reading it.

use std::borrow::Cow;

use super::search;

/// The longest reference that is worth a look, in bytes between `&` and `;`.
const MAX_REFERENCE_BYTES: usize = 32;

/// How often something was not as XML wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Repairs {
    /// `&` that begin no reference, read as themselves.
    pub(super) ampersands: usize,
    /// References to what is not known, kept as they were.
    pub(super) references: usize,
    /// Tags whose attributes were left out.
    pub(super) attributes: usize,
}

/// Resolves the references of a text that is not CDATA.
pub(super) fn unescape<'t>(text: &'t str, repairs: &mut Repairs) -> Cow<'t, str> {
    let Some(first) = search::find(b'&', text.as_bytes()) else {
        return Cow::Borrowed(text);
    };
    search::count(text.len());
    let mut whole = String::with_capacity(text.len());
    whole.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(behind) = rest.strip_prefix('&') {
        let name = reference(behind);
        let (character, taken) = match name.and_then(resolve) {
            Some(character) => (character, name.map_or(1, |name| name.len() + 2)),
            None => ('&', 1),
        };
        if taken == 1 {
            repairs.ampersands += usize::from(name.is_none());
            repairs.references += usize::from(name.is_some());
        }
        whole.push(character);
        rest = &rest[taken..];
        let next = search::find(b'&', rest.as_bytes()).unwrap_or(rest.len());
        whole.push_str(&rest[..next]);
        rest = &rest[next..];
    }
    Cow::Owned(whole)
}

/// The name of the reference that begins the text, if one does.
fn reference(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let window = &bytes[..bytes.len().min(MAX_REFERENCE_BYTES)];
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'#';
    let length = window.iter().take_while(|byte| is_part(byte)).count();
    search::count(1 + length);
    (length > 0 && bytes.get(length) == Some(&b';')).then(|| &text[..length])
}

fn resolve(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?).filter(|&character| character != '\0')
        }
    }
}
