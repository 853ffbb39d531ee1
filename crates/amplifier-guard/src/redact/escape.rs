//! Text as its readers will decode it: percent-encoding, escapes of JSON and Python, HTML entities.

use std::collections::VecDeque;

/// A byte of decoded text and the place that it came from.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    pub(super) byte: u8,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Which escapes are decoded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Escapes {
    pub(super) percent: bool,
    pub(super) backslash: bool,
    pub(super) entity: bool,
}

impl Escapes {
    /// All kinds at once, and each kind alone.
    pub(super) const EACH: [Self; 4] = [
        Self::of(true, true, true),
        Self::of(true, false, false),
        Self::of(false, true, false),
        Self::of(false, false, true),
    ];

    const fn of(percent: bool, backslash: bool, entity: bool) -> Self {
        Self {
            percent,
            backslash,
            entity,
        }
    }
}

/// The longest escape: a surrogate pair, `\ud83d\ude00`.
const LONGEST: usize = 12;

/// Decodes one layer of escapes; what is no escape passes as it is.
pub(super) struct Unescaped<I> {
    units: I,
    escapes: Escapes,
    ahead: VecDeque<Unit>,
    decoded: VecDeque<Unit>,
    /// Whether there was a character that may begin another escape.
    again: bool,
}

impl<I: Iterator<Item = Unit>> Unescaped<I> {
    pub(super) fn new(units: I, escapes: Escapes) -> Self {
        Self {
            units,
            escapes,
            ahead: VecDeque::with_capacity(LONGEST),
            decoded: VecDeque::with_capacity(4),
            again: false,
        }
    }

    /// Whether another layer may lie below this one, once all is read.
    pub(super) fn is_layered(&self) -> bool {
        self.again
    }

    fn at(&self, place: usize) -> Option<u8> {
        self.ahead.get(place).map(|unit| unit.byte)
    }

    fn hex(&self, place: usize, digits: usize) -> Option<u32> {
        (place..place + digits).try_fold(0, |value, place| {
            let digit = char::from(self.at(place)?).to_digit(16)?;
            Some(value * 16 + digit)
        })
    }

    /// The escape at the front: how many units it takes, and what it stands for.
    fn escape(&self) -> Option<(usize, Meaning)> {
        match self.at(0)? {
            b'%' if self.escapes.percent => Some((3, Meaning::byte(self.hex(1, 2)?))),
            b'\\' if self.escapes.backslash => match self.at(1)? {
                b'u' => {
                    let high = self.hex(2, 4)?;
                    if (0xd800..0xdc00).contains(&high)
                        && self.at(6) == Some(b'\\')
                        && self.at(7) == Some(b'u')
                        && let Some(low @ 0xdc00..0xe000) = self.hex(8, 4)
                    {
                        let scalar = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                        return Some((12, Meaning::scalar(scalar)?));
                    }
                    Some((6, Meaning::scalar(high)?))
                }
                b'x' => Some((4, Meaning::byte(self.hex(2, 2)?))),
                b'n' => Some((2, Meaning::Byte(b'\n'))),
                b'r' => Some((2, Meaning::Byte(b'\r'))),
                b't' => Some((2, Meaning::Byte(b'\t'))),
                b'b' => Some((2, Meaning::Byte(8))),
                b'f' => Some((2, Meaning::Byte(12))),
                mark @ (b'\\' | b'/' | b'"' | b'\'') => Some((2, Meaning::Byte(mark))),
                _ => None,
            },
            b'&' if self.escapes.entity => self.entity(),
            _ => None,
        }
    }

    fn entity(&self) -> Option<(usize, Meaning)> {
        let end = (2..self.ahead.len()).find(|place| self.at(*place) == Some(b';'))?;
        let name: Vec<u8> = (1..end).filter_map(|place| self.at(place)).collect();
        let meaning = match name.as_slice() {
            b"amp" => Meaning::Byte(b'&'),
            b"lt" => Meaning::Byte(b'<'),
            b"gt" => Meaning::Byte(b'>'),
            b"quot" => Meaning::Byte(b'"'),
            b"apos" => Meaning::Byte(b'\''),
            [b'#', number @ ..] => {
                let (digits, radix) = match number {
                    [b'x' | b'X', digits @ ..] => (digits, 16),
                    digits => (digits, 10),
                };
                let digits = std::str::from_utf8(digits).ok()?;
                Meaning::scalar(u32::from_str_radix(digits, radix).ok()?)?
            }
            _ => return None,
        };
        Some((end + 1, meaning))
    }
}

impl<I: Iterator<Item = Unit>> Iterator for Unescaped<I> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        if let Some(unit) = self.decoded.pop_front() {
            return Some(unit);
        }
        while self.ahead.len() < LONGEST
            && let Some(unit) = self.units.next()
        {
            self.ahead.push_back(unit);
        }
        let Some((taken, meaning)) = self.escape() else {
            let unit = self.ahead.pop_front()?;
            // What follows it may make it an escape once that is decoded itself.
            self.again |= matches!(unit.byte, b'%' | b'\\' | b'&');
            return Some(unit);
        };
        let (start, end) = (self.ahead[0].start, self.ahead[taken - 1].end);
        self.ahead.drain(..taken);
        let mut buffer = [0; 4];
        let bytes = match meaning {
            Meaning::Byte(byte) => {
                buffer[0] = byte;
                &buffer[..1]
            }
            Meaning::Character(character) => character.encode_utf8(&mut buffer).as_bytes(),
        };
        self.again |= matches!(bytes, [b'%' | b'\\' | b'&']);
        let units = bytes.iter().map(|&byte| Unit { byte, start, end });
        self.decoded.extend(units);
        self.decoded.pop_front()
    }
}

/// What an escape stands for.
enum Meaning {
    Byte(u8),
    Character(char),
}

impl Meaning {
    fn byte(value: u32) -> Self {
        Self::Byte(u8::try_from(value).unwrap_or_default())
    }

    fn scalar(value: u32) -> Option<Self> {
        char::from_u32(value).map(Self::Character)
    }
}
