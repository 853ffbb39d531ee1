//! Decodes text as its readers would: percent-encoding, escapes of JSON and Python, HTML entities,
//! and without invisible characters.

use memchr::{memchr, memchr3};

use super::class::is_letter;
use super::look::ahead;
use super::word_lists::{List, words};
use crate::text::character::Class;
use amplifier_core::steps;

/// Kinds of escapes, one bit each.
pub(super) type Kinds = u8;
pub(super) const PERCENT: Kinds = 1;
pub(super) const BACKSLASH: Kinds = 2;
pub(super) const ENTITY: Kinds = 4;
pub(super) const INVISIBLE: Kinds = 8;
pub(super) const EACH: [Kinds; 4] = [PERCENT, BACKSLASH, ENTITY, INVISIBLE];
pub(super) const ALL: Kinds = PERCENT | BACKSLASH | ENTITY | INVISIBLE;

/// The longest escape: a surrogate pair, `\ud83d\ude00`.
const MAX_ESCAPE_BYTES: usize = 12;

/// An escape at the beginning of a text.
pub(super) struct Escape {
    /// How many bytes it takes.
    pub(super) length: usize,
    kind: Kinds,
    meaning: Meaning,
}

/// What an escape decodes to.
enum Meaning {
    Byte(u8),
    Character(char),
    Nothing,
}

impl Escape {
    /// The escape that the text begins with.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let text = &text[..text.len().min(MAX_ESCAPE_BYTES)];
        let (kind, (length, meaning)) = match text.first()? {
            b'%' => (PERCENT, (3, Meaning::byte(hex(text, 1, 2)?))),
            b'\\' => (BACKSLASH, backslash(text)?),
            b'&' => (ENTITY, entity(text)?),
            0x80.. => (INVISIBLE, (invisible(text)?, Meaning::Nothing)),
            _ => return None,
        };
        Some(Self {
            length,
            kind,
            meaning,
        })
    }

    /// The decoded bytes.
    pub(super) fn bytes<'buffer>(&self, buffer: &'buffer mut [u8; 4]) -> &'buffer [u8] {
        match self.meaning {
            Meaning::Byte(byte) => {
                buffer[0] = byte;
                &buffer[..1]
            }
            Meaning::Character(character) => character.encode_utf8(buffer).as_bytes(),
            Meaning::Nothing => &[],
        }
    }
}

impl Meaning {
    fn byte(value: u32) -> Self {
        Self::Byte(u8::try_from(value).unwrap_or_default())
    }

    fn scalar(value: u32) -> Option<Self> {
        char::from_u32(value).map(Self::Character)
    }
}

/// The length of the invisible character that the text begins with.
pub(super) fn invisible(text: &[u8]) -> Option<usize> {
    let length = match text.first()? {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let character = std::str::from_utf8(text.get(..length)?).ok()?;
    let character = character.chars().next()?;
    (Class::of(character) != Class::Visible).then_some(length)
}

/// The place of each invisible character.
pub(super) fn invisibles(text: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    for start in (0..text.len()).step_by(BLOCK_BYTES) {
        // The last bytes are looked at one by one.
        let block = text[start..].first_chunk();
        if block.is_none_or(|block| !block[..BLOCK_BYTES].is_ascii() && may_hide(block)) {
            let places = start..text.len().min(start + BLOCK_BYTES);
            found.extend(places.filter(|place| invisible(&text[*place..]).is_some()));
        }
    }
    found
}

/// Bytes that are looked at together.
const BLOCK_BYTES: usize = 32;

/// Whether an invisible character may begin in a block, which has two bytes more: fast, and no for
/// ASCII, for most letters, and for dashes and quotation marks.
#[expect(clippy::needless_bitwise_bool, reason = "no branches")]
fn may_hide(block: &[u8; BLOCK_BYTES + 2]) -> bool {
    (0..BLOCK_BYTES).fold(false, |may_hide, place| {
        let [one, two, three] = [block[place], block[place + 1], block[place + 2]];
        let is_punctuation = (one == 0xe2) & (two == 0x80) & (three.wrapping_sub(0x90) < 0x18);
        let is_lead = matches!(one, 0xc2 | 0xcd | 0xd8) | (one.wrapping_sub(0xe1) < 3);
        may_hide | (is_lead | (one >= 0xef)) & !is_punctuation
    })
}

fn hex(text: &[u8], place: usize, digits: usize) -> Option<u32> {
    let mut digits = text.get(place..place + digits)?.iter();
    digits.try_fold(0, |value, digit| {
        Some(value * 16 + char::from(*digit).to_digit(16)?)
    })
}

fn backslash(text: &[u8]) -> Option<(usize, Meaning)> {
    Some(match text.get(1)? {
        b'u' | b'x' if text.get(2) == Some(&b'{') => {
            let digits = text[3..].iter();
            let digits = digits.take_while(|byte| byte.is_ascii_hexdigit()).count();
            if digits == 0 || text.get(3 + digits) != Some(&b'}') {
                return None;
            }
            (4 + digits, Meaning::scalar(hex(text, 3, digits)?)?)
        }
        b'u' => {
            let high = hex(text, 2, 4)?;
            if (0xd800..0xdc00).contains(&high)
                && text.get(6..8) == Some(b"\\u")
                && let Some(low @ 0xdc00..0xe000) = hex(text, 8, 4)
            {
                let scalar = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return Some((12, Meaning::scalar(scalar)?));
            }
            (6, Meaning::scalar(high)?)
        }
        b'U' => (10, Meaning::scalar(hex(text, 2, 8)?)?),
        b'0'..=b'7' => {
            let digits = ahead(text, 1, 3).iter();
            let digits = digits.take_while(|byte| matches!(byte, b'0'..=b'7'));
            let length = digits.clone().count();
            let value = digits.fold(0, |value, digit| value * 8 + u32::from(digit - b'0'));
            (1 + length, Meaning::Byte(u8::try_from(value).ok()?))
        }
        b'x' => (4, Meaning::byte(hex(text, 2, 2)?)),
        mark => {
            let place = memchr(*mark, b"nrtbf\\/\"'")?;
            (2, Meaning::Byte(b"\n\r\t\x08\x0c\\/\"'"[place]))
        }
    })
}

fn entity(text: &[u8]) -> Option<(usize, Meaning)> {
    if !matches!(text.get(1)?, b'#' | b'A'..=b'Z' | b'a'..=b'z') {
        return None;
    }
    let end = 2 + text[2..].iter().position(|byte| !is_letter(*byte))?;
    if text[end] != b';' {
        return None;
    }
    let meaning = match &text[1..end] {
        [b'#', number @ ..] => {
            let (digits, radix) = match number {
                [b'x' | b'X', digits @ ..] => (digits, 16),
                digits => (digits, 10),
            };
            let digits = std::str::from_utf8(digits).ok()?;
            Meaning::scalar(u32::from_str_radix(digits, radix).ok()?)?
        }
        name => {
            let entities = words(List::Entity).iter();
            let mut rest = entities.filter_map(|one| one.as_bytes().strip_prefix(name));
            let character = rest.find_map(|rest| rest.strip_prefix(b"="))?;
            Meaning::Byte(*character.first()?)
        }
    };
    Some((end + 1, meaning))
}

/// A text with one layer of escapes decoded.
pub(super) struct Layer {
    pub(super) bytes: Vec<u8>,
    /// The kinds of escapes that it had.
    kinds: Kinds,
    decoded: Vec<Decoded>,
}

/// The place of an escape and its decoded form.
struct Decoded {
    /// Where its bytes begin, and how many they are.
    place: usize,
    length: usize,
    /// Its place in the encoded text.
    start: usize,
    end: usize,
}

impl Layer {
    /// Decodes the escapes of these kinds, if there are any; all other text is unchanged.
    pub(super) fn of(text: &[u8], kinds: Kinds) -> Option<Self> {
        steps::count(text.len());
        let mut layer: Option<Self> = None;
        let mut done = 0;
        let mut from = 0;
        let is_ascii = text.is_ascii();
        let is_start = |byte: &u8| matches!(byte, b'%' | b'\\' | b'&' | 0xc2..);
        let next = |rest: &[u8]| {
            let bare = || memchr3(b'%', b'\\', b'&', rest);
            if is_ascii {
                bare()
            } else {
                rest.iter().position(is_start)
            }
        };
        while let Some(length) = next(&text[from..]) {
            let place = from + length;
            from = place + 1;
            let Some(escape) = Escape::of(&text[place..]) else {
                continue;
            };
            if escape.kind & kinds == 0 {
                continue;
            }
            let layer = layer.get_or_insert_with(|| Self {
                bytes: Vec::with_capacity(text.len()),
                kinds: 0,
                decoded: Vec::new(),
            });
            layer.bytes.extend_from_slice(&text[done..place]);
            let mut buffer = [0; 4];
            let bytes = escape.bytes(&mut buffer);
            layer.decoded.push(Decoded {
                place: layer.bytes.len(),
                length: bytes.len(),
                start: place,
                end: place + escape.length,
            });
            layer.bytes.extend_from_slice(bytes);
            layer.kinds |= escape.kind;
            done = place + escape.length;
            from = done;
        }
        let mut layer = layer?;
        layer.bytes.extend_from_slice(&text[done..]);
        Some(layer)
    }

    /// The text decoded in each way that changes it: all kinds at once, and each kind alone.
    ///
    /// Each comes with the set of ways that lead to it; all kinds at once is `TOGETHER`.
    pub(super) fn each(text: &[u8]) -> Vec<(Kinds, Self)> {
        let Some(all) = Self::of(text, ALL) else {
            return Vec::new();
        };
        let kinds = all.kinds;
        if kinds.is_power_of_two() {
            return vec![(TOGETHER | kinds, all)];
        }
        let alone = EACH.into_iter().filter(|kind| kinds & kind != 0);
        let alone = alone.filter_map(|kind| Some((kind, Self::of(text, kind)?)));
        [(TOGETHER, all)].into_iter().chain(alone).collect()
    }

    /// The span of the encoded text for a span of this one.
    pub(super) fn encoded(&self, (start, end): (usize, usize)) -> (usize, usize) {
        let unit = |place: usize| {
            let is_before = |decoded: &Decoded| decoded.place <= place;
            let last = self.decoded.partition_point(is_before);
            match last.checked_sub(1).map(|last| &self.decoded[last]) {
                None => (place, place + 1),
                Some(decoded) if place < decoded.place + decoded.length => {
                    (decoded.start, decoded.end)
                }
                Some(decoded) => {
                    let start = decoded.end + (place - decoded.place - decoded.length);
                    (start, start + 1)
                }
            }
        };
        (unit(start).0, unit(end - 1).1)
    }
}

/// All kinds decoded at once, as one way among others.
pub(super) const TOGETHER: Kinds = 16;
