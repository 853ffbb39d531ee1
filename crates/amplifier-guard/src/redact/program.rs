//! Passwords in the options of programs: `curl -u name:password`, `mysql -ppassword`.

use memchr::{memchr, memrchr};

use super::class::is_part;
use super::finds::{Finds, Found};
use super::look::{ahead, stretch};
use super::value::{self, Value};
use super::word_lists::{List, words};

/// How far behind its program an option is looked for.
const MAX_LINE_BYTES: usize = 256;

/// Takes the passwords among the options of the program at `place`.
pub(super) fn find(text: &[u8], place: usize, finds: &mut Finds) {
    let window = ahead(text, place, MAX_LINE_BYTES);
    let line = &window[..stretch(window, |byte| !matches!(byte, b'\n' | b'|' | b';'))];
    for row in words(List::Option) {
        let (program, row) = row.split_once('=').unwrap_or_default();
        let (option, way) = row.split_once('=').unwrap_or_default();
        if !line.starts_with(program.as_bytes()) {
            continue;
        }
        let mut from = 0;
        while let Some(word) = next_word(line, from) {
            from = word.1;
            let written = &line[word.0..word.1];
            let Some(rest) = written.strip_prefix(option.as_bytes()) else {
                continue;
            };
            let start = place + word.0 + option.len();
            let value = match way {
                "attached" if !rest.is_empty() => value::parse(text, start),
                "next" if rest.is_empty() => value::parse(text, start),
                "quoted" if rest.is_empty() => {
                    value::parse(text, start).filter(|value| value.is_quoted)
                }
                "slash" => before_at(text, start, place + word.1),
                "pair" if rest.is_empty() || !option.starts_with("--") => {
                    value::parse(text, start).and_then(|value| behind_colon(text, value))
                }
                _ => None,
            };
            finds.take(value.map(|value| {
                let is_option = text[value.start..value.end].starts_with(b"-");
                Found::of(text, value, "password").unless(is_option)
            }));
        }
    }
}

/// The next word of a line, from and to.
fn next_word(line: &[u8], from: usize) -> Option<(usize, usize)> {
    let start = from + stretch(&line[from..], |byte| byte.is_ascii_whitespace());
    let length = stretch(&line[start..], |byte| !byte.is_ascii_whitespace());
    (length > 0).then_some((start, start + length))
}

/// The password of `name/password@…` between these places.
fn before_at(text: &[u8], start: usize, end: usize) -> Option<Value> {
    let word = &text[start..end];
    let slash = memchr(b'/', word)?;
    let at = memrchr(b'@', word).filter(|at| *at > slash + 1)?;
    let is_name = word[..slash].iter().all(|byte| is_part(*byte)) && slash > 0;
    is_name.then(|| Value::quoted(start + slash + 1, start + at))
}

/// The part of a value behind its first colon.
fn behind_colon(text: &[u8], value: Value) -> Option<Value> {
    let colon = stretch(&text[value.start..value.end], |byte| byte != b':');
    let start = value.start + colon + 1;
    (start <= value.end).then_some(Value { start, ..value })
}
