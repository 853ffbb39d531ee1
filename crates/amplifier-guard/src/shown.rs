//! Text of someone else in an error message, and where something in it looks like a secret.

use std::sync::LazyLock;

use crate::redact::Redactor;
use crate::terminal::TerminalText;

/// The most characters that are shown.
const MOST: usize = 80;

/// The most characters that are looked at.
const WINDOW: usize = 1024;

static REDACTOR: LazyLock<Option<Redactor>> =
    LazyLock::new(|| Redactor::new(std::iter::empty::<&str>()).ok());

/// Where something in a text looks like a secret, as bytes from and to.
pub(crate) fn secrets(text: &str) -> Vec<(usize, usize)> {
    REDACTOR
        .as_ref()
        .map(|redactor| redactor.places(text))
        .unwrap_or_default()
}

/// `text` as one short line: what looks like a secret is taken out, what cannot be seen is escaped.
pub(crate) fn shown(text: &str) -> String {
    let text = match text.char_indices().nth(WINDOW) {
        Some((end, _)) => &text[..end],
        None => text,
    };
    match REDACTOR.as_ref() {
        Some(redactor) => TerminalText::line(&*redactor.redact(text), MOST),
        None => String::new(),
    }
}

/// The value of a key as [`shown`], or only its mark where the key says that it is secret.
pub(crate) fn shown_under(key: &str, text: &str) -> String {
    let mark = REDACTOR
        .as_ref()
        .and_then(|redactor| redactor.redact_field(key, text));
    mark.unwrap_or_else(|| shown(text))
}
