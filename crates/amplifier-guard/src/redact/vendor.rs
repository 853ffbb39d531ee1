//! Keys and tokens that are known by their shape: the prefixes of their vendors.

use std::sync::LazyLock;

use super::class::is_letter;
use super::hash;
use super::look::{LOOK_BYTES, ahead, behind, stretch, tail, trimmed};
use super::random::{is_mixed, is_random};
use super::runs::{MIN_KEY_BYTES, Runs};
use super::span::Span;

/// The keys of one vendor: a line of the table.
struct Vendor {
    prefix: &'static [u8],
    kind: &'static str,
    /// The characters after the prefix, one bit each.
    alphabet: u128,
    /// The fewest characters after the prefix, or their exact number.
    least: usize,
    is_exact: bool,
}

impl Vendor {
    fn of(line: &'static str) -> Option<Self> {
        let mut cells = line.split('\t');
        let (prefix, kind) = (cells.next()?.as_bytes(), cells.next()?);
        let mut alphabet = 0;
        let mut rest = cells.next()?.as_bytes();
        while let [first, others @ ..] = rest {
            let (last, others) = match others {
                [b'-', last, others @ ..] => (last, others),
                others => (first, others),
            };
            alphabet |= (*first..=*last).fold(0, |bits, byte| bits | 1 << byte);
            rest = others;
        }
        let length = cells.next()?;
        let number = length.trim_start_matches('=');
        Some(Self {
            prefix,
            kind,
            alphabet,
            least: number.parse().ok()?,
            is_exact: number.len() < length.len(),
        })
    }

    fn has(&self, byte: u8) -> bool {
        byte.is_ascii() && self.alphabet >> byte & 1 == 1
    }

    /// The end of the key of this vendor that begins at `place`.
    fn end(&self, text: &[u8], place: usize) -> Option<usize> {
        let after = text[place..].strip_prefix(self.prefix)?;
        // A letter beyond the alphabet does not end a key: it shows that this is none.
        let holds = |byte: u8| byte.is_ascii_alphanumeric() || self.has(byte);
        // Text that is not a key is searched again from its next part on, so each search is
        // bounded.
        let window = ahead(after, 0, LOOK_BYTES);
        let mut length = stretch(window, holds);
        let is_long = length == self.least || length > self.least && !self.is_exact;
        let is_dashed = self.has(b'-') && !self.has(b'+');
        // Behind a name, small hexadecimal digits are a hash.
        let is_hash = !self.has(b'g')
            && !self.has(b'A')
            && matches!(text[..place].last(), Some(b'-' | b'_' | b'.' | b'/'));
        let window = &window[..length];
        let fits = is_long
            && !is_hash
            && window.iter().all(|byte| self.has(*byte))
            && match (self.has(b'a'), is_dashed) {
                // Ids need not look random, and words with dashes between them may.
                (false, false) => true,
                (true, true) => window
                    .split(|byte| !byte.is_ascii_alphanumeric())
                    .any(|part| part.len() >= 12 && is_random(part)),
                _ => is_random(window),
            };
        if !fits {
            return None;
        }
        length += stretch(&after[length..], holds);
        let key = trimmed(&after[..length], |byte| byte == b'.');
        Some(place + self.prefix.len() + key.len())
    }
}

/// All vendors, those whose prefixes begin alike beside each other.
struct Vendors {
    rows: Vec<Vendor>,
    /// Where the rows begin whose first three bytes have this number; others may share it.
    starts: [u8; 4097],
}

/// Prefix, kind, alphabet, and the fewest characters, or with `=` their number; tabs between them.
static VENDORS: LazyLock<Vendors> = LazyLock::new(|| {
    let mut rows: Vec<Vendor> = include_str!("vendor.tsv")
        .lines()
        .filter_map(Vendor::of)
        .collect();
    // In the table, the longer one of two prefixes comes first, and the sort is stable.
    rows.sort_by_key(|row| start_of(row.prefix));
    let mut starts = [0; 4097];
    for (number, start) in starts.iter_mut().enumerate() {
        let first = rows.partition_point(|row| start_of(row.prefix) < Some(number));
        *start = u8::try_from(first).expect("fewer than 256 vendors");
    }
    Vendors { rows, starts }
});

impl Vendors {
    /// The vendors of the keys that may begin at `place`.
    fn at(&self, text: &[u8], place: usize) -> &[Vendor] {
        let Some(start) = start_of(&text[place..]) else {
            return &[];
        };
        &self.rows[usize::from(self.starts[start])..usize::from(self.starts[start + 1])]
    }
}

/// A number below 4,096 for the first three bytes.
fn start_of(text: &[u8]) -> Option<usize> {
    let [first, second, third] = *text.first_chunk()?;
    let three = u32::from_le_bytes([first, second, third, 0]);
    Some((three.wrapping_mul(0x9e37_79b1) >> 20) as usize)
}

/// The kinds of all vendors' keys.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    VENDORS.rows.iter().map(|row| row.kind)
}

/// Finds keys by their prefixes.
pub(super) fn find(text: &[u8], spans: &mut Vec<Span>) {
    let vendors = &*VENDORS;
    for (start, end) in Runs::new(text) {
        spans.extend(aws_secret(text, start, end));
        spans.extend(azure_secret(text, start, end));
        spans.extend(web_key(text, start, end));
        spans.extend(hash::at(text, start, end));
        let is_escaped = matches!(text[..start].last(), Some(b'\\' | b'%' | b'[' | b';'));
        let escape = start + if is_escaped { ESCAPE } else { 0 };
        let mut keys = Keys::default();
        let mut place = start;
        while place < end {
            let rows = vendors.at(text, place);
            if (!rows.is_empty() || matches!(text[place], b'A' | b'M'..=b'O' | b'e'))
                && let Some((key_end, kind)) = keys.at(rows, text, place)
            {
                spans.push(Span::new(place, key_end, kind));
                place = key_end;
            } else if place < escape {
                place += 1;
            } else {
                // A key cannot begin inside a word.
                place += stretch(&text[place..end], is_letter) + 1;
            }
        }
    }
}

/// How far into a run an escape before it may reach: the end of a terminal's colour.
const ESCAPE: usize = 16;

/// Whether a key may begin here: not inside a word, but after an escape that ends in a letter.
fn is_boundary(text: &[u8], place: usize) -> bool {
    let before = &text[..place];
    let Some(last) = before.last() else {
        return true;
    };
    if !last.is_ascii_alphanumeric() {
        return true;
    }
    let hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match before {
        [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f'] => true,
        [.., b'%', one, two] | [.., b'\\', b'x', one, two] => hex(&[*one, *two]),
        [.., b'\\', b'u', one, two, three, four] => hex(&[*one, *two, *three, *four]),
        // The end of a terminal's colour.
        [.., b'0'..=b'9' | b'[', b'm'] => {
            let colour = behind(before, before.len() - 1, 15);
            let is_digit = |byte: u8| byte.is_ascii_digit() || byte == b';';
            trimmed(colour, is_digit).ends_with(b"\x1b[")
        }
        _ => false,
    }
}

/// Looks for keys at places of a run, in order.
#[derive(Default)]
struct Keys {
    /// Up to where the characters of a web token's parts are known to go on.
    dashed: usize,
}

impl Keys {
    /// The end and the kind of the key that begins here: of no vendor, or of one of these.
    fn at(&mut self, rows: &[Vendor], text: &[u8], place: usize) -> Option<(usize, &'static str)> {
        if !is_boundary(text, place) {
            return None;
        }
        let (end, kind) = match text[place] {
            b'e' => (self.web_token(text, place), "json web token"),
            b'A' => (telegram(text, place), "telegram token"),
            b'M'..=b'O' => (discord(text, place), "discord token"),
            _ => (None, ""),
        };
        let mut ends = rows.iter().map(|row| (row.end(text, place), row.kind));
        let vendor = || ends.find_map(|(end, kind)| Some((end?, kind)));
        end.map(|end| (end, kind)).or_else(vendor)
    }

    /// The end of a JSON web token: a header, and at least the beginning of a payload.
    fn web_token(&mut self, text: &[u8], start: usize) -> Option<usize> {
        const HEADER: usize = 1024;
        if !text[start..].starts_with(b"eyJ") {
            return None;
        }
        let part = |start: usize| start + stretch(&text[start..], is_dashed);
        if self.dashed <= start {
            self.dashed = part(start);
        }
        let header = self.dashed;
        if !(10..=HEADER).contains(&(header - start)) || text.get(header) != Some(&b'.') {
            return None;
        }
        let mut end = part(header + 1);
        if end - header - 1 < 8 {
            return None;
        }
        while text.get(end) == Some(&b'.') {
            let more = part(end + 1);
            if more == end + 1 {
                break;
            }
            end = more;
        }
        Some(end)
    }
}

/// The end of a bot's token after its id: `123456789:AA…`.
fn telegram(text: &[u8], place: usize) -> Option<usize> {
    let id = text[..place].strip_suffix(b":")?;
    let digits = tail(behind(id, id.len(), 10), |byte| byte.is_ascii_digit());
    let window = ahead(text, place, 36);
    let length = stretch(window, is_dashed);
    (length == 35 && digits.len() >= 8 && is_random(window)).then_some(place + length)
}

/// The end of a bot's token: its id in base64, the time, and a signature, with dots between them.
fn discord(text: &[u8], place: usize) -> Option<usize> {
    let mut end = place;
    if !text.get(place + 23..place + 29)?.contains(&b'.') {
        return None;
    }
    for lengths in [23..=28, 6..=7, 27..=40] {
        if end > place {
            end += text[end..].starts_with(b".").then_some(1)?;
        }
        let length = stretch(ahead(text, end, 41), is_dashed);
        end += lengths.contains(&length).then_some(length)?;
    }
    is_random(&text[place..end]).then_some(end)
}

/// A client's secret of Azure: three characters, a digit, `Q~`, and 31 characters or more.
///
/// As `~` is no character of a key, the run may begin after any of them.
fn azure_secret(text: &[u8], start: usize, end: usize) -> Option<Span> {
    const BEFORE: usize = 4;
    let holds = |byte: u8| is_dashed(byte) || matches!(byte, b'.' | b'~');
    if !text[..start].ends_with(b"~") {
        return None;
    }
    let before = behind(text, start, 16);
    let mark = start - before.len() + before.windows(2).position(|two| two == b"Q~")?;
    let from = mark.checked_sub(BEFORE)?;
    let rest = ahead(text, mark + 2, 38);
    let length = stretch(rest, holds);
    let fits = end - start >= MIN_KEY_BYTES
        && text[mark - 1].is_ascii_digit()
        && text[from..mark].iter().all(|byte| holds(*byte))
        && (31..=34).contains(&length)
        && is_random(&rest[..length]);
    fits.then(|| Span::new(from, mark + 2 + length, "azure secret"))
}

/// A secret number of a JSON web key: `"d": "…"`.
fn web_key(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let run = &text[start..end];
    if text[..start].last() != Some(&b'"') || run.len() < 22 {
        return None;
    }
    let is_mark = |byte| matches!(byte, b' ' | b'"' | b'\\');
    let before = trimmed(behind(text, start, 16), is_mark).strip_suffix(b":")?;
    let is_number = matches!(
        trimmed(before, is_mark),
        [.., b'"', b'd' | b'p' | b'q' | b'k']
            | [.., b'"', b'd', b'p' | b'q']
            | [.., b'"', b'q', b'i']
    );
    let look = ahead(run, 0, LOOK_BYTES);
    let fits = is_number && is_mixed(look) && run.iter().all(|byte| is_dashed(*byte));
    fits.then(|| Span::new(start, end, "key"))
}

fn is_dashed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// The secret of an AWS key: forty characters of base64 shortly after the key's id.
fn aws_secret(text: &[u8], start: usize, end: usize) -> Option<Span> {
    const SECRET: usize = 40;
    let run = &text[start..end];
    let run = &run[stretch(run, |byte| byte == b'=')..];
    if run.len() != SECRET {
        return None;
    }
    let is_id = |id: &[u8]| {
        matches!(id, [b'A', b'K' | b'S', b'I', b'A', ..])
            && id[..20].iter().all(u8::is_ascii_alphanumeric)
    };
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let fits = behind(text, start, 96).windows(21).any(is_id)
        && run.iter().all(is_base64)
        && is_random(run);
    fits.then(|| Span::new(end - SECRET, end, "aws secret"))
}
