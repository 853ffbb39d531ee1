//! The last bytes of a text that is decoded from base64 and from hexadecimal digits as it goes.

use amplifier_core::base64::sextet;
use amplifier_core::steps;

use super::found::{Found, is_break};
use super::part::Parts;

/// The last sextets and nibbles, and where each came from.
pub(super) struct Rolling<'known> {
    parts: &'known [Parts],
    // Eight bytes take up to twelve sextets, which are 72 bits, and sixteen nibbles, which are 64.
    base64: Window<u128, 16>,
    hex: Window<u64, 16>,
    /// Pairs of digits with separators between them, and the digits since the last one.
    pairs: Window<u64, 16>,
    digits: usize,
}

/// The last `N` values as one number.
struct Window<T, const N: usize> {
    value: T,
    starts: [usize; N],
    count: usize,
}

impl<T: Default + Copy, const N: usize> Window<T, N> {
    fn new() -> Self {
        Self {
            value: T::default(),
            starts: [0; N],
            count: 0,
        }
    }

    fn push(&mut self, value: T, start: usize) {
        self.value = value;
        // A ring: overwritten entries are further back than the beginning of any part.
        self.starts[self.count % N] = start;
        self.count += 1;
    }

    /// Where the last `count` values begin, if there are so many.
    fn start(&self, count: usize) -> Option<usize> {
        let first = self.count.checked_sub(count)?;
        Some(self.starts[first % N])
    }
}

impl Window<u64, 16> {
    /// Finds the parts whose last digit is at `place`.
    fn find(&self, parts: &[Parts], place: usize, found: &mut Found) {
        for parts in parts {
            if let Some(start) = self.start(2 * parts.length)
                && parts.has(self.value)
            {
                found.add(start, place + 1);
            }
        }
    }
}

impl<'known> Rolling<'known> {
    pub(super) fn new(parts: &'known [Parts]) -> Self {
        Self {
            parts,
            base64: Window::new(),
            hex: Window::new(),
            pairs: Window::new(),
            digits: 0,
        }
    }

    /// Takes the byte at `place`; line ends interrupt base64 but do not end it.
    pub(super) fn push(&mut self, byte: u8, place: usize, found: &mut Found) {
        steps::count(1);
        match sextet(byte) {
            Some(sextet) => {
                let value = self.base64.value << 6 | u128::from(sextet);
                self.base64.push(value, place);
                // A byte ends after each second bit of a sextet, depending on the alignment.
                for surplus in [0, 2, 4] {
                    #[expect(clippy::cast_possible_truncation, reason = "the last eight bytes")]
                    let value = (value >> surplus) as u64;
                    for parts in self.parts {
                        let characters = (8 * parts.length + surplus).div_ceil(6);
                        if let Some(start) = self.base64.start(characters)
                            && parts.has(value)
                        {
                            found.add(start, place + 1);
                        }
                    }
                }
            }
            None if is_break(byte) => {}
            // With the count at 0, no window begins before this byte; the old bits are shifted out.
            None => self.base64.count = 0,
        }
        match char::from(byte).to_digit(16) {
            Some(nibble) => {
                let value = self.hex.value << 4 | u64::from(nibble);
                self.hex.push(value, place);
                self.hex.find(self.parts, place, found);
            }
            None => self.hex.count = 0,
        }
        self.push_pair(byte, place, found);
    }

    /// Takes the next byte of digits in pairs: `51 37`, `51:37`, `0x51, 0x37`.
    fn push_pair(&mut self, byte: u8, place: usize, found: &mut Found) {
        let pairs = &mut self.pairs;
        match (byte, char::from(byte).to_digit(16)) {
            (_, Some(nibble)) => {
                if self.digits == 2 {
                    // Of more digits the last two may begin the pairs.
                    let last = pairs.value & 15;
                    pairs.count = 0;
                    pairs.push(pairs.value << 4 | last, place - 1);
                    self.digits = 1;
                }
                pairs.push(pairs.value << 4 | u64::from(nibble), place);
                self.digits += 1;
                if self.digits == 2 {
                    pairs.find(self.parts, place, found);
                }
            }
            (b'x', _) if self.digits == 1 && pairs.value.trailing_zeros() >= 4 => {
                (pairs.value, pairs.count, self.digits) = (pairs.value >> 4, pairs.count - 1, 0);
            }
            (b' ' | b':' | b'-' | b',' | b'\n', _) if self.digits != 1 => self.digits = 0,
            _ => (pairs.count, self.digits) = (0, 0),
        }
    }
}
