//! Names of secrets.

use super::class::is_letter;
use super::look::{behind, tail, trimmed};
use super::random::is_mixed;
use super::span::MARK;
use super::word_lists::{self, List, ends, is_word};

/// The longest name that is recognised, in bytes.
pub(super) const MAX_NAME_BYTES: usize = 64;
/// The most quotation marks, brackets and similar characters after a name.
pub(super) const MAX_QUOTES: usize = 8;

/// What a name implies about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Name {
    /// A secret, of this kind.
    Strong(&'static str),
    /// Several secrets of this kind, in a list.
    Plural(&'static str),
    /// A secret if the value looks like one.
    Weak(&'static str),
    /// The header with a scheme and credentials.
    Authorization,
    /// The headers with pairs.
    Cookie,
}

/// A name in a text.
#[derive(Clone, Copy)]
pub(super) struct Named {
    pub(super) name: Name,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Named {
    /// The name between these places, if it marks a secret.
    pub(super) fn of(text: &[u8], mut start: usize, end: usize) -> Option<Self> {
        let before = behind(text, start, 32);
        // An escape before a name ends in a letter: `\napi_key=…`.
        if start < end
            && before.ends_with(b"\\")
            && matches!(text.get(start), Some(b'n' | b't' | b'r'))
        {
            start += 1;
        }
        let name = &text[start..end];
        let is_query = matches!(before.last(), Some(b'?' | b'&'));
        let name = classify(name).or_else(|| match name {
            b"sig" | b"key" | b"code" | b"signature" if is_query => Some(Name::Weak("key")),
            _ => short(text, start, end).or_else(|| phrase(text, &mut start, end)),
        })?;
        // The kind in a mark is not a name.
        let open = before.iter().rposition(|byte| *byte == b'[');
        if open.is_some_and(|open| before[open..].starts_with(MARK.as_bytes())) {
            return None;
        }
        Some(Self { name, start, end })
    }

    /// Whether it is `PWD`, which often names a folder instead.
    pub(super) fn is_working_directory(&self, text: &[u8]) -> bool {
        let name = &text[self.start..self.end];
        name.eq_ignore_ascii_case(b"pwd") || name.eq_ignore_ascii_case(b"oldpwd")
    }
}

/// What `pass` implies where it is a key, the head of a column or behind an option (`-passin pass:…`),
/// and no word or verb.
fn short(text: &[u8], start: usize, end: usize) -> Option<Name> {
    let is_edge = |byte: Option<&u8>| byte.is_none_or(|byte| b"\"',;|\t\n".contains(byte));
    let is_alone = is_edge(text[..start].last()) && is_edge(text.get(end));
    let option = text[..start].strip_suffix(b" ").unwrap_or_default();
    let option = tail(behind(option, option.len(), 16), |byte| byte != b' ');
    let is_option = option.starts_with(b"-pass");
    ((is_alone || is_option) && text[start..end].eq_ignore_ascii_case(b"pass"))
        .then_some(Name::Weak("password"))
}

/// What a name of two words implies, `API key`, `secret key`, and where the first word begins.
fn phrase(text: &[u8], start: &mut usize, end: usize) -> Option<Name> {
    if !text[*start..end].eq_ignore_ascii_case(b"key") {
        return None;
    }
    let before = text[..*start].strip_suffix(b" ")?;
    let word = tail(behind(before, before.len(), MAX_NAME_BYTES), is_letter);
    let first = before.len() - word.len();
    let name = classify(&text[first..end]).filter(|name| matches!(name, Name::Strong(_)))?;
    *start = first;
    Some(name)
}

/// Whether a value is itself the name of a secret.
pub(super) fn is_name(value: &[u8]) -> bool {
    classify(value).is_some() && !is_mixed(value)
}

/// What a whole name implies about its value.
pub(super) fn classify(name: &[u8]) -> Option<Name> {
    if !may_end(name) {
        return None;
    }
    let name = &name[name.len().saturating_sub(MAX_NAME_BYTES)..];
    let mut buffer = [0; MAX_NAME_BYTES];
    let mut length = 0;
    // One bit for each letter that begins a word.
    let mut words = 0_u64;
    let mut previous = b'_';
    for byte in name {
        if byte.is_ascii_alphanumeric() {
            let is_start = !previous.is_ascii_alphanumeric()
                || previous.is_ascii_lowercase() && byte.is_ascii_uppercase();
            words |= u64::from(is_start) << length;
            buffer[length] = byte.to_ascii_lowercase();
            length += 1;
        }
        previous = *byte;
    }
    if buffer[..length].ends_with(b"authorization") {
        return Some(Name::Authorization);
    }
    if matches!(&buffer[..length], b"cookie" | b"setcookie" | b"cookies") {
        return Some(Name::Cookie);
    }
    let whole = length;
    loop {
        let squeezed = &buffer[..length];
        let bare = trimmed(squeezed, |byte| byte.is_ascii_digit());
        // The words that begin before this place.
        let last = (words & u64::MAX.checked_shr(64 - u32::try_from(bare.len()).ok()?)?)
            .checked_ilog2()?;
        let (before, word) = bare.split_at(last as usize);
        if let Some(name) = of_words(bare, before, word) {
            // What stands behind a name that says little says more.
            return (bare.len() == whole || !matches!(name, Name::Weak(_))).then_some(name);
        }
        if before.is_empty() || !is_word(List::Suffix, word) {
            return None;
        }
        length = before.len();
    }
}

/// What a name without separators implies that ends in a word.
fn of_words(whole: &[u8], before: &[u8], word: &[u8]) -> Option<Name> {
    if let Some((ending, kind)) = word_lists::secret(whole) {
        let before = &whole[..whole.len() - ending.len()];
        let is_mark = ending == "token" && ends(List::Mark, before);
        return (!is_mark).then_some(Name::Strong(kind));
    }
    if let Some((_, kind)) = whole.strip_suffix(b"s").and_then(word_lists::secret) {
        return Some(Name::Plural(kind));
    }
    match word {
        b"pass" if !before.is_empty() => {
            (!ends(List::Round, before)).then_some(Name::Strong("password"))
        }
        b"pw" => Some(Name::Strong("password")),
        b"key" if ends(List::Owner, before) => Some(Name::Weak("key")),
        _ if is_word(List::Weak, word) => Some(Name::Weak("token")),
        _ => None,
    }
}

/// Whether a text may end in the name of a secret: its last three letters are the end of one, or its
/// last word is one that says little.
pub(super) fn may_end(text: &[u8]) -> bool {
    let text = behind(text, text.len(), MAX_NAME_BYTES);
    if !text.last().is_some_and(u8::is_ascii_alphanumeric) {
        return false;
    }
    let letters = text.iter().rev().filter(|byte| is_letter(**byte));
    let mut letters = letters.skip_while(|byte| byte.is_ascii_digit());
    let mut end = [(); 3].map(|()| letters.next().copied().unwrap_or_default());
    end.reverse();
    if word_lists::may_end(&end, false) || end[1..].eq_ignore_ascii_case(b"pw") {
        return true;
    }
    let word = trimmed(text, |byte| !byte.is_ascii_alphabetic());
    let may_be_weak = word_lists::may_end(word, true);
    let word = tail(word, is_letter);
    may_be_weak
        && word_lists::words(List::Weak).iter().any(|weak| {
            let (before, last) = word.split_at(word.len().saturating_sub(weak.len()));
            last.eq_ignore_ascii_case(weak.as_bytes())
                && match before {
                    // The letter of an escape is no part of the name: `\\nsid`.
                    [] | [b'n' | b't' | b'r'] => true,
                    [.., one] => one.is_ascii_lowercase() && last[0].is_ascii_uppercase(),
                }
        })
}

/// Whether a byte may occur between a name and the separator after it.
pub(super) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b']' | b'*')
}
