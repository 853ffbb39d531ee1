//! Private keys in PEM blocks: of several lines, with their ends escaped or missing.

use memchr::memmem;

use super::look::{ahead, stretch};
use super::span::Span;

const BEGIN: &[u8] = b"-----BEGIN";
/// The longest label of a block, such as ` ENCRYPTED PRIVATE KEY`.
const MAX_LABEL_BYTES: usize = 64;
/// Lines shorter than this are words, unless a line ends after them.
const MIN_LINE_BYTES: usize = 32;

/// Finds private keys at these places, and the start of one whose label or end is still missing.
pub(super) fn find(text: &[u8], places: &[usize], spans: &mut Vec<Span>) -> Option<usize> {
    let mut open = None;
    let mut done = 0;
    for place in places {
        // `--begin`, and the dashes before it.
        let start = place.saturating_sub(3);
        if start < done {
            continue;
        }
        let label = label(text, start).or_else(|| count_of_lines(text, *place));
        let Some((from, begin)) = label else {
            continue;
        };
        if begin > text.len() {
            open = Some(start);
            continue;
        }
        let (end, is_open) = body(text, begin);
        if is_open {
            open = Some(start);
        }
        spans.push(Span::new(from, end, "private key"));
        done = end;
    }
    open
}

/// Where a block of PEM and its lines begin: beyond the text if it ends in the label.
fn label(text: &[u8], start: usize) -> Option<(usize, usize)> {
    let rest = text[start..].strip_prefix(BEGIN)?;
    let window = ahead(rest, 0, MAX_LABEL_BYTES);
    let Some(dashes) = memmem::find(window, b"-----") else {
        return (window.len() < MAX_LABEL_BYTES).then_some((start, usize::MAX));
    };
    let name = &window[..dashes];
    let is_private =
        memmem::find(name, b"PRIVATE").is_some() && memmem::find(name, b"KEY").is_some();
    is_private.then_some((start, start + BEGIN.len() + dashes + 5))
}

/// The same for the lines of a key of `PuTTY`, behind `Private-Lines: 8`.
fn count_of_lines(text: &[u8], place: usize) -> Option<(usize, usize)> {
    let rest = text[place..].strip_prefix(b"te-Lines: ")?;
    let digits = stretch(ahead(rest, 0, 8), |byte| byte.is_ascii_digit());
    let begin = text.len() - rest.len() + digits;
    let lines = begin + stretch(&text[begin..], |byte| matches!(byte, b'\r' | b'\n'));
    let end = if lines == text.len() {
        usize::MAX
    } else {
        lines
    };
    (lines > begin || end > lines).then_some((lines, end))
}

/// The end of the lines of a block that begin at `place`, and whether the text ends first.
fn body(text: &[u8], mut place: usize) -> (usize, bool) {
    let mut end = place;
    let mut has_lines = false;
    loop {
        place += stretch(&text[place..], |byte| {
            matches!(byte, b'\n' | b'\r' | b' ' | b'\t')
        });
        let rest = &text[place..];
        if rest.is_empty() {
            return (end, true);
        }
        if rest.starts_with(b"-----END") {
            let window = ahead(rest, 8, MAX_LABEL_BYTES);
            return match memmem::find(window, b"-----") {
                Some(dashes) => (place + 8 + dashes + 5, false),
                None => (
                    place + 8 + stretch(window, is_label),
                    window.len() < MAX_LABEL_BYTES,
                ),
            };
        }
        let is_part = |byte: &u8| is_body(*byte) || matches!(byte, b'-' | b':');
        if rest.len() < MIN_LINE_BYTES + 2 && rest.iter().all(is_part) {
            // The beginning of a line, of a header or of the end.
            return (text.len(), true);
        }
        let header = header(rest).filter(|_| !has_lines);
        let line = header.unwrap_or_else(|| stretch(rest, is_body));
        let after = &rest[line..];
        // A short word with more behind it is prose after a block without an end.
        let is_line = header.is_some()
            || line >= MIN_LINE_BYTES
            || matches!(after.first(), None | Some(b'\n' | b'\r' | b'"' | b'\''))
            || after.starts_with(b"-----END");
        if line == 0 || !is_line {
            return (end, false);
        }
        has_lines |= header.is_none();
        place += line;
        end = place;
    }
}

/// The length of a header such as `Proc-Type: 4,ENCRYPTED`, and of the escaped end of a line before it.
fn header(line: &[u8]) -> Option<usize> {
    let line = ahead(line, 0, 4 * MAX_LABEL_BYTES);
    let name = stretch(ahead(line, 0, MIN_LINE_BYTES), |byte| {
        is_body(byte) || byte == b'-'
    });
    let rest = &line[name..];
    (name > 0 && rest.starts_with(b": "))
        .then(|| name + stretch(rest, |byte| !matches!(byte, b'\n' | b'\\' | b'"')))
}

/// Base64, and the escaped ends of its lines.
fn is_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\\' | b'%')
}

fn is_label(byte: u8) -> bool {
    byte.is_ascii_uppercase() || matches!(byte, b' ' | b'-' | b'+' | b'%')
}
