//! Values in a mapping or a section that is named as secret: `credentials: {db: {value: …}}`.

use memchr::{memchr2, memmem};

use super::super::class::is_part;
use super::super::finds::{Finds, Found};
use super::super::look::{ahead, behind, line_before, stretch, tail, trimmed};
use super::super::name::{self, MAX_QUOTES, Name, Named};
use super::super::random::is_unspoken;
use super::super::value::{self, Value};
use super::super::word_lists::{List, is_word};

/// The most of a mapping that is looked at.
const MAX_MAPPING_BYTES: usize = 2048;
/// What the name `data` in a Secret of Kubernetes implies.
const ALL: Name = Name::Plural("secret data");
/// The most blanks and lines before a mapping.
const MAX_GAP_BYTES: usize = 80;

/// Takes the secrets of the mapping that follows a name, once for all names within it.
pub(in crate::redact) fn find(text: &[u8], named: Named, finds: &mut Finds) {
    if named.start < finds.mapping.end {
        return;
    }
    let (outer, found) = match data(text, named) {
        Some(data) => (ALL, mapping(text, data)),
        None => (named.name, mapping(text, named)),
    };
    let Some((start, end)) = found else {
        return;
    };
    finds.mapping = named.start..end.max(named.end);
    let mut place = start;
    while let Some(separator) = memchr2(b':', b'=', &text[place..end]) {
        let separator = place + separator;
        let gap = stretch(ahead(text, separator, 3), |byte| b":=>".contains(&byte));
        place = separator + gap;
        let before = behind(text, separator, name::MAX_NAME_BYTES + MAX_QUOTES);
        let key = tail(
            trimmed(before, |byte| name::is_quote(byte) || byte == b' '),
            is_part,
        );
        let Some(value) = value::parse(text, place).filter(|_| !key.is_empty()) else {
            continue;
        };
        if matches!(text.get(value.start), Some(b'{' | b'[' | b'\n')) {
            continue;
        }
        finds.add(leaf(text, outer, key, value));
        place = value.end.clamp(place, end);
    }
}

/// The value of a key in the mapping, if it is one that may be secret.
fn leaf(text: &[u8], outer: Name, key: &[u8], value: Value) -> Option<Found> {
    let look = &text[value.start..value.end];
    let (Name::Strong(kind) | Name::Plural(kind) | Name::Weak(kind)) = outer else {
        return None;
    };
    let kind = if outer == ALL { "secret" } else { kind };
    let rest = &text[(value.end + usize::from(value.is_quoted)).min(text.len())..];
    let ends = rest.trim_ascii_start().first();
    let is_whole = value.is_quoted
        || rest.is_empty()
        || matches!(rest[0], b'\n' | b'\r' | b',' | b'}' | b']')
        || matches!(ends, Some(b'#' | b',' | b'}'));
    let is_secret = is_secret(outer, key, look) && is_whole && name::classify(key).is_none();
    Some(Found::of(text, value, kind).unless(!is_secret))
}

/// Whether a key names what belongs to a secret and is none: its user, its type, its place.
fn is_described(key: &[u8]) -> bool {
    let last = tail(key, |byte| byte.is_ascii_alphabetic());
    let word = last
        .iter()
        .rposition(u8::is_ascii_uppercase)
        .map_or(last, |start| &last[start..]);
    is_word(List::Beside, last) || is_word(List::Beside, word)
}

/// Whether a value in a mapping of this name is a secret.
pub(in crate::redact) fn is_secret(outer: Name, key: &[u8], value: &[u8]) -> bool {
    if outer == ALL {
        return !is_described(key);
    }
    let is_path = value.contains(&b'/') && !is_unspoken(value);
    if is_described(key) || value.contains(&b' ') || is_path || name::is_name(value) {
        return false;
    }
    match outer {
        // Whatever they are called, the texts of a mapping of passwords are passwords.
        Name::Plural("password") => true,
        // What belongs to a session or an authorization is more often an id.
        Name::Weak(_) => is_word(List::Inner, key) && is_unspoken(value),
        Name::Strong("token") | Name::Plural("token") => {
            (value.len() >= 16 || is_word(List::Inner, key)) && is_unspoken(value)
        }
        _ => is_unspoken(value) || is_word(List::Inner, key) && value.len() >= 6,
    }
}

/// The mapping behind a name, from and to: in brackets, in lines indented deeper, or to the next
/// section.
fn mapping(text: &[u8], named: Named) -> Option<(usize, usize)> {
    let line = line_before(text, named.start, MAX_GAP_BYTES);
    let after = ahead(text, named.end, MAX_GAP_BYTES);
    let head = line.trim_ascii_start();
    let is_name = |byte: &u8| is_part(*byte) || *byte == b'[';
    if head.starts_with(b"[") && head.iter().all(is_name) {
        let rest = stretch(after, |byte| is_part(byte) || byte == b']' || byte == b'"');
        let is_section = after[..rest].contains(&b']') && after.get(rest) == Some(&b'\n');
        return is_section.then(|| section(text, named.end + rest + 1));
    }
    let quotes = stretch(ahead(after, 0, MAX_QUOTES), name::is_quote);
    let blanks = quotes + stretch(&after[quotes..], |byte| byte == b' ');
    let signs = stretch(&after[blanks..], |byte| b":=>".contains(&byte));
    if !matches!(&after[blanks..blanks + signs], b":" | b"=" | b"=>") {
        return None;
    }
    let from = blanks + signs;
    let gap = stretch(&after[from..], |byte| {
        byte.is_ascii_whitespace() || byte == b'['
    });
    let start = named.end + from + gap;
    if after.get(from + gap) == Some(&b'{') {
        return Some((start + 1, bracket(text, start)));
    }
    let begin = stretch(&after[from..], |byte| matches!(byte, b' ' | b'\r'));
    let is_block = after[blanks] == b':' && after.get(from + begin) == Some(&b'\n');
    let indent = stretch(line, |byte| byte == b' ' || byte == b'-');
    let is_key = matches!(line[indent..], [] | [b'"' | b'\'']);
    (is_block && is_key).then(|| {
        let start = named.end + from + begin;
        (start, indented(text, start, indent))
    })
}

/// The key `data` or `stringData` below a `kind: Secret`.
fn data(text: &[u8], named: Named) -> Option<Named> {
    let line = line_before(text, named.start, MAX_GAP_BYTES);
    let label = trimmed(line, |byte| byte == b' ' || name::is_quote(byte)).strip_suffix(b":")?;
    if !trimmed(label, name::is_quote).ends_with(b"kind")
        || &text[named.start..named.end] != b"Secret"
    {
        return None;
    }
    let window = ahead(text, named.end, MAX_MAPPING_BYTES);
    let is_key = |place: &usize| {
        let (before, rest) = (&window[..*place], &window[place + 3..]);
        let is_end = rest.starts_with(b":") || rest.starts_with(b"\":");
        is_end && matches!(tail(before, is_part), b"d" | b"stringD")
    };
    let place = named.end + memmem::find_iter(window, b"ata").find(is_key)?;
    let start = trimmed(&text[..place], is_part).len();
    Some(Named {
        name: ALL,
        start,
        end: place + 3,
    })
}

/// The end of the bracket that opens at `start`.
fn bracket(text: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let length = stretch(ahead(text, start, MAX_MAPPING_BYTES), |byte| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        depth > 0
    });
    start + length
}

/// The end of the lines from `start` on that are indented deeper.
fn indented(text: &[u8], start: usize, indent: usize) -> usize {
    let window = ahead(text, start, MAX_MAPPING_BYTES);
    let mut place = 0;
    while place < window.len() {
        let line = &window[place..];
        let blanks = stretch(line, |byte| matches!(byte, b' ' | b'-'));
        if blanks <= indent && !matches!(line.get(blanks), None | Some(b'\n' | b'\r')) {
            break;
        }
        place += stretch(line, |byte| byte != b'\n') + 1;
    }
    start + place.min(window.len())
}

/// The lines from `start` on up to the head of another section.
fn section(text: &[u8], start: usize) -> (usize, usize) {
    let mut is_line = true;
    let length = stretch(ahead(text, start, MAX_MAPPING_BYTES), |byte| {
        let is_head = is_line && byte == b'[';
        is_line = byte == b'\n';
        !is_head
    });
    (start, start + length)
}
