//! Secrets on a line of their own, announced by the line before: `Enter password:`, `# API token`.

use memchr::{memchr, memchr_iter};

use super::super::finds::{Finds, Found};
use super::super::look::{LOOK_BYTES, ahead, line_before, stretch, trimmed};
use super::super::name::{Name, Named};
use super::super::random::is_unspoken;
use super::super::value::Value;

/// The longest rest of a line that announces what is on the next one.
const MAX_LINE_BYTES: usize = 96;
/// The most blanks and ends of lines before the next line.
const MAX_GAP_BYTES: usize = 48;

/// Takes the word that is alone on the line below a name.
pub(in crate::redact) fn find(text: &[u8], named: Named, finds: &mut Finds) {
    let (Name::Strong(kind) | Name::Plural(kind)) = named.name else {
        return;
    };
    let window = ahead(text, named.end, MAX_LINE_BYTES);
    let Some(length) = memchr(b'\n', window) else {
        return;
    };
    let (before, rest) = (
        line_before(text, named.start, LOOK_BYTES),
        window[..length].trim_ascii(),
    );
    let Some(line) = Line::of(before, rest) else {
        return;
    };
    let gap = named.end + length;
    let start = gap
        + stretch(ahead(text, gap, MAX_GAP_BYTES), |byte| {
            byte.is_ascii_whitespace()
        });
    let lines = memchr_iter(b'\n', &text[gap..start]).count();
    if lines > 2 {
        return;
    }
    let is_answer =
        line == Line::Prompt && kind == "password" && !is_deeper(before, &text[gap..start]);
    let length = stretch(ahead(text, start, LOOK_BYTES), |byte| byte != b'\n');
    let is_cut = start + length == text.len();
    let line_of_value = text[start..start + length].trim_ascii_end();
    let is_mark = |byte: u8| matches!(byte, b'"' | b'\'' | b'`' | b'*');
    let marks = stretch(line_of_value, is_mark);
    let word = trimmed(&line_of_value[marks..], is_mark);
    let start = start + marks;
    let is_secret = is_unspoken(word) || is_answer && (is_long(word) || is_phrase(word));
    let mut value = Value::quoted(start, start + word.len());
    value.is_open = is_cut;
    finds.add(Some(Found::of(text, value, kind).unless(!is_secret)));
}

/// How a line announces what is on the next one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    /// The name with nothing but a colon behind it, or a command that shows what it names.
    Prompt,
    /// A sentence up to a colon, a heading, a comment.
    Other,
}

impl Line {
    /// What a line is that is `before` and `rest` around a name.
    fn of(before: &[u8], rest: &[u8]) -> Option<Self> {
        let is_said = |text: &[u8]| {
            text.iter()
                .all(|byte| byte.is_ascii_alphabetic() || b" ,'()-\"_".contains(byte))
        };
        let start = before.trim_ascii_start();
        // git answers with hashes.
        let is_command =
            start.starts_with(b"$ ") && !start.starts_with(b"$ git ") || start.starts_with(b">>>");
        let is_title =
            start.starts_with(b"#") || start.starts_with(b"//") || start.starts_with(b"==>");
        match rest {
            b":" if is_said(before) => Some(Self::Prompt),
            [others @ .., b':'] if is_said(before) && is_said(others) => Some(Self::Other),
            _ if is_command => Some(Self::Prompt),
            _ if is_title && !rest.iter().any(|byte| b";{=".contains(byte)) => Some(Self::Other),
            _ => None,
        }
    }
}

/// Whether a line behind these blanks is indented deeper than that of `before`, or belongs to a
/// statement.
fn is_deeper(before: &[u8], blanks: &[u8]) -> bool {
    let indent = before.len() - before.trim_ascii_start().len();
    let line = blanks.rsplit(|byte| *byte == b'\n').next();
    line.is_some_and(|line| line.len() > indent)
}

/// Whether a word may be a password of letters: small ones alone, and many.
fn is_long(word: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_lowercase() || *byte == b'-';
    word.len() >= 8 && word.iter().all(is_letter)
}

/// Whether a line is a phrase to pass with: four or more words of small letters.
fn is_phrase(line: &[u8]) -> bool {
    let is_word = |word: &[u8]| word.len() > 2 && word.iter().all(u8::is_ascii_lowercase);
    line.split(|byte| *byte == b' ').all(is_word) && line.split(|byte| *byte == b' ').count() >= 4
}
