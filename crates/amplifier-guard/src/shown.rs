//! Foreign text in messages: short, in one line, and without secrets if it may hold some.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::redact::Redactor;
use crate::terminal::TerminalText;

/// The most characters of a text of unknown size in a message.
const MAX_CHARACTERS: usize = 80;

/// The most characters of a word of a command or a part of an address.
const MAX_WORD_CHARACTERS: usize = 100;

/// The most characters that are examined.
const MAX_READ_CHARACTERS: usize = 1024;

/// It has no known secrets and detects secrets only by their form.
static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| {
    Redactor::new(std::iter::empty::<&str>()).expect("of no secrets, none is too short")
});

/// Where something in a text looks like a secret, as bytes from and to.
pub(crate) fn secrets(text: &str) -> Vec<(usize, usize)> {
    REDACTOR.places(text)
}

/// The whole text without what looks like a secret, or a mark if its name says that it is one.
pub(crate) fn without_secrets<'text>(name: &str, text: &'text str) -> Cow<'text, str> {
    let mark = REDACTOR.redact_field(name, text);
    mark.map_or_else(|| REDACTOR.redact(text), Cow::Owned)
}

/// The beginning of `text` as [`line()`], as long as most messages show it.
pub(crate) fn shown(text: &str) -> String {
    line(text, MAX_CHARACTERS)
}

/// `text` as one line of at most `most` characters: what looks like a secret is taken out, what
/// cannot be seen is escaped.
pub(crate) fn line(text: &str, most: usize) -> String {
    let text = match text.char_indices().nth(MAX_READ_CHARACTERS) {
        Some((end, _)) => &text[..end],
        None => text,
    };
    TerminalText::line(&*REDACTOR.redact(text), most)
}

/// The value of a key as [`shown`], or only its mark where the key says that it is secret.
pub(crate) fn shown_under(key: &str, text: &str) -> String {
    let mark = REDACTOR.redact_field(key, text);
    mark.unwrap_or_else(|| shown(text))
}

/// The beginning of a name as [`shown`], in ASCII: letters of other scripts can be mistaken for it.
pub(crate) fn shown_in_ascii(name: &str) -> String {
    let mut text = String::new();
    // Enough to recognise a secret.
    for character in name.chars().take(200) {
        if character.is_ascii() {
            text.push(character);
        } else {
            text.extend(character.escape_unicode());
        }
    }
    shown(&text)
}

/// The beginning of `text`, which need not be UTF-8, with every character shown or escaped; `…`
/// follows the first `most` of them if there are more.
pub(crate) fn escaped(text: &[u8], most: usize) -> String {
    // No character has more than four bytes.
    let mut shown = one_line(&text[..text.len().min(4 * (most + 1))]);
    if let Some((end, _)) = shown.char_indices().nth(most) {
        shown.truncate(end);
        shown.push('…');
    }
    shown
}

/// The beginning of `text` in the same way, as a word or an address is shown.
pub(crate) fn beginning(text: &str) -> String {
    escaped(text.as_bytes(), MAX_WORD_CHARACTERS)
}

/// The whole text in one line without control or invisible characters.
pub(crate) fn one_line(text: &[u8]) -> String {
    TerminalText::show(text)
        .replace('\n', "\\n")
        .replace('\t', "\\t")
}
