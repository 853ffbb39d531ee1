//! Secrets in sentences: `the password is …`, `changed from … to …`, `using token …`.

use super::super::finds::{Finds, Found};
use super::super::look::{ahead, line_before, stretch, tail, trimmed};
use super::super::name::{Name, Named};
use super::super::random::is_unspoken;
use super::super::value::Value;
use super::super::word_lists::{List, is_word};

/// How far behind the name a secret is looked for.
const MAX_SENTENCE_BYTES: usize = 160;
/// The most words between a name and its secret.
const MAX_WORDS: usize = 6;

/// Takes the words behind a name that nobody says.
pub(in crate::redact) fn find(text: &[u8], named: Named, finds: &mut Finds) {
    let Name::Strong(kind) = named.name else {
        return;
    };
    let window = ahead(text, named.end, MAX_SENTENCE_BYTES);
    let is_cut = named.end + window.len() == text.len();
    let sentence = &window[..stretch(window, |byte| byte != b'\n')];
    if !sentence.starts_with(b" ") {
        return;
    }
    let is_used = || {
        let before = line_before(text, named.start, 16).trim_ascii_end();
        is_word(
            List::Copula,
            tail(before, |byte| byte.is_ascii_alphabetic()),
        )
    };
    let mut place = 0;
    let mut previous: &[u8] = b"";
    for count in 0..MAX_WORDS {
        place += stretch(&sentence[place..], |byte| byte == b' ');
        let length = stretch(&sentence[place..], |byte| byte != b' ');
        let written = &sentence[place..place + length];
        let marks = stretch(written, |byte| b"\"'`(".contains(&byte));
        let word = trimmed(&written[marks..], |byte| b"\"'`).,;:!?".contains(&byte));
        if word.is_empty() {
            return;
        }
        // A long word is one on its own; another one needs a word that leads to it.
        let is_last =
            place + length == sentence.len() && !(is_cut && sentence.len() == MAX_SENTENCE_BYTES);
        let is_led = is_word(List::Copula, previous)
            || count == 0 && (is_last || kind == "password" && is_used())
            || previous.len() == 1 && is_last;
        let is_secret = is_unspoken(word) && (is_led || count == 0 && word.len() >= 16);
        if is_secret {
            let start = named.end + place + marks;
            let mut value = Value::quoted(start, start + word.len());
            value.is_open = is_cut && place + length == window.len();
            finds.add(Some(Found::of(text, value, kind)));
        } else if word.len() > 1 && !word.iter().all(u8::is_ascii_alphabetic) {
            return;
        }
        // The sentence ends here.
        if !is_secret && word.len() + marks < written.len() {
            return;
        }
        previous = word;
        place += length;
    }
}
