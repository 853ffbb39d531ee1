//! A fast search for places that may contain a part of a secret, plain or encoded.
//!
//! A part of eight bytes takes eight bytes of text, at least ten whole characters of base64, or
//! sixteen digits. So every fourth or fifth place of the text lies inside it, and the few bytes
//! there (a gram) occur in the secret, its base64 form or its digits. Case is ignored.

use amplifier_core::base64::characters;
use amplifier_core::steps;

use super::super::look::{ahead, behind};

/// What may stand between the digits of two bytes.
const SEPARATORS: [&str; 9] = [" ", ":", "-", ",", ", ", "\n", " 0x", ",0x", ", 0x"];

/// Tables of the grams of all secrets, by encoding.
pub(super) struct Grams {
    /// The bytes of a gram, and the distance between the grams that are checked.
    width: usize,
    step: usize,
    /// The bytes of the shortest part.
    shortest: usize,
    any: Bits,
    plain: Bits,
    base64: Bits,
    hex: Bits,
    spaced: Bits,
}

/// A set of numbers with false positives, like a Bloom filter, in a power of two of words.
struct Bits {
    words: Box<[u64]>,
}

impl Bits {
    fn new(exponent: u32, sets: &[&[u32]]) -> Self {
        let mut bits = Self {
            words: vec![0; 1 << (exponent - 6)].into(),
        };
        for gram in sets.iter().copied().flatten() {
            let (word, bit) = bits.place(*gram);
            bits.words[word] |= 1 << bit;
        }
        bits
    }

    fn place(&self, gram: u32) -> (usize, u64) {
        // The golden ratio as a fraction of 2^64: the upper half of the product depends on all bits
        // of the gram, so that similar grams do not share places.
        let number = u64::from(gram).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let word = (number >> 6) as usize & (self.words.len() - 1);
        (word, number & 63)
    }

    fn has(&self, gram: u32) -> bool {
        let (word, bit) = self.place(gram);
        self.words[word] >> bit & 1 == 1
    }

    /// Whether the gram at `place` is in the set.
    fn is_at(&self, text: &[u8], place: Option<usize>, width: usize) -> bool {
        let bytes = place.and_then(|place| text.get(place..place + width));
        bytes.is_some_and(|bytes| self.has(gram(bytes)))
    }
}

impl Grams {
    /// Takes the secrets, the same in UTF-16, and the length of their shortest part, from 4 to 8.
    pub(super) fn new(secrets: &[Vec<u8>], wide: &[Vec<u8>], shortest: usize) -> Self {
        // A part has a whole gram at one of these places, wherever it begins, because
        // `width + step - 1` is at most its length.
        let (width, step) = match shortest {
            ..=4 => (3, 2),
            5 => (3, 3),
            6 => (4, 3),
            7 => (4, 4),
            8.. => (4, 5),
        };
        let mut plain = Vec::new();
        let mut base64 = Vec::new();
        let mut hex = Vec::new();
        let mut spaced = Vec::new();
        // Eight characters are sixteen bytes of UTF-16, so that each third of its grams is enough to
        // find a candidate: one of three places that are five apart is at one of them.
        let third = if shortest == 8 { 3 } else { 1 };
        for secret in secrets {
            plain.extend(secret.windows(width).map(gram));
            written(secret, width, 1, &mut base64);
            let digits: Vec<u8> = secret
                .iter()
                .flat_map(|byte| [byte >> 4, byte & 15])
                .map(|nibble| b"0123456789abcdef"[usize::from(nibble)])
                .collect();
            hex.extend(digits.windows(width).map(gram));
            let pairs: Vec<&[u8]> = digits.chunks(2).collect();
            for separator in SEPARATORS {
                let written = pairs.join(separator.as_bytes());
                // From pair to pair, so that each of five places that are five apart is another
                // one of a pair, and those suffice that have the last character of a separator,
                // a pair and what is behind it: they are the fewest.
                let period = 2 + separator.len();
                let windows = written.windows(width);
                if shortest == 8 && period != step {
                    let windows = windows.skip(period - 1).step_by(period);
                    spaced.extend(windows.map(gram));
                } else {
                    spaced.extend(windows.map(gram));
                }
            }
        }
        let mut thirds = base64.clone();
        for secret in wide {
            written(secret, width, 1, &mut base64);
            written(secret, width, third, &mut thirds);
        }
        spaced.sort_unstable();
        spaced.dedup();
        let any = [&plain[..], &thirds, &hex, &spaced];
        let count: usize = any.iter().map(|grams| grams.len()).sum();
        // Only a few percent of the bits are set, and the table fits into a core's own cache.
        let exponent = (64 * count).next_power_of_two().ilog2().clamp(13, 20);
        let set = |grams: &[&[u32]]| Bits::new(exponent, grams);
        Self {
            width,
            step,
            shortest,
            any: set(&any),
            plain: set(&[&plain]),
            base64: set(&[&base64]),
            hex: set(&[&hex]),
            spaced: set(&[&spaced]),
        }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Calls `take` with each gram of the text that occurs in a table, and its place, in order.
    pub(super) fn find(&self, text: &[u8], take: impl FnMut(usize, u32)) {
        steps::count(text.len());
        match (self.width, self.step) {
            (3, 2) => self.find_each::<3, 2>(text, take),
            (3, _) => self.find_each::<3, 3>(text, take),
            (_, 3) => self.find_each::<4, 3>(text, take),
            (_, 4) => self.find_each::<4, 4>(text, take),
            _ => self.find_each::<4, 5>(text, take),
        }
    }

    fn find_each<const WIDTH: usize, const STEP: usize>(
        &self,
        text: &[u8],
        mut take: impl FnMut(usize, u32),
    ) {
        // The lookups of one block do not depend on each other and share one branch: without a hit,
        // as in most text, the processor runs them in parallel.
        const TOGETHER: usize = 8;
        // In a little-endian number the first bytes are the lowest.
        let mask = u32::MAX >> (32 - 8 * WIDTH);
        let mut start = 0;
        while let Some(block) = text.get(start..start + TOGETHER * STEP + 4) {
            let mut hits = 0_u32;
            for place in 0..TOGETHER {
                let gram = four(&block[place * STEP..]) & mask;
                hits |= u32::from(self.any.has(gram)) << place;
            }
            while hits != 0 {
                let place = hits.trailing_zeros() as usize * STEP;
                take(start + place, four(&block[place..]) & mask);
                hits &= hits - 1;
            }
            start += TOGETHER * STEP;
        }
        while let Some(bytes) = text.get(start..start + WIDTH) {
            if self.any.has(gram(bytes)) {
                take(start, gram(bytes));
            }
            start += STEP;
        }
    }

    pub(super) fn is_plain(&self, gram: u32) -> bool {
        self.plain.has(gram)
    }

    /// Whether a part in base64 or digits may surround the gram at `place`, unbroken.
    pub(super) fn is_dense(&self, gram: u32, text: &[u8], place: usize) -> bool {
        let is_in = |bits: &Bits, length: usize| {
            // A part has so many other grams, one at each place, before this one and behind it.
            let others = length - self.width;
            let is_at = |place| bits.is_at(text, place, self.width);
            let behind = (1..=others).take_while(|by| is_at(Some(place + by)));
            let before = (1..=others).take_while(|by| is_at(place.checked_sub(*by)));
            bits.has(gram) && behind.count() + before.count() >= others
        };
        // At worst the first four bits of a part are in a character shared with the byte before it.
        is_in(&self.base64, (8 * self.shortest - 4) / 6) || is_in(&self.hex, 2 * self.shortest)
    }

    /// Whether the digits of a part, in pairs, may surround the gram at `place`.
    pub(super) fn is_spaced(&self, gram: u32, text: &[u8], place: usize) -> bool {
        if !self.spaced.has(gram) {
            return false;
        }
        let spread = 3 * self.shortest - 1;
        let before = pairs(behind(text, place, spread).iter().rev());
        before + pairs(ahead(text, place, spread).iter()) >= spread
    }

    /// Whether the gram at `place` occurs in the base64 form of a secret.
    pub(super) fn is_base64_at(&self, text: &[u8], place: usize) -> bool {
        self.base64.is_at(text, Some(place), self.width)
    }
}

/// Whether a byte may occur in digits that are separated in pairs.
pub(super) fn is_of_pairs(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || matches!(byte, b'x' | b' ' | b':' | b',' | b'-' | b'\n')
}

/// How many bytes may be pairs of digits and separators: an id has more digits in a row.
fn pairs<'text>(bytes: impl Iterator<Item = &'text u8>) -> usize {
    let mut digits = 0;
    bytes
        .take_while(|byte| {
            digits = (digits + 1) * usize::from(byte.is_ascii_hexdigit());
            digits < 3 && is_of_pairs(**byte)
        })
        .count()
}

/// The first four bytes as a number.
fn four(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) | FOLD_CASE
}

/// Turns capital letters into small ones and maps all other bytes consistently. One operation
/// handles four bytes; comparing each would cost more than the lookup itself.
const FOLD_CASE: u32 = 0x2020_2020;

/// Three or four bytes as a number.
fn gram(bytes: &[u8]) -> u32 {
    let mask = u32::MAX >> (32 - 8 * bytes.len());
    let bytes = bytes.iter().rev();
    let value = bytes.fold(0, |value, byte| value << 8 | u32::from(*byte));
    (value | FOLD_CASE) & mask
}

/// The whole sextets of a secret that begin with its bit `lead`.
fn sextets(secret: &[u8], lead: usize) -> Vec<u8> {
    let bit = |place: usize| secret[place / 8] >> (7 - place % 8) & 1;
    (0..(8 * secret.len()).saturating_sub(lead) / 6)
        .map(|sextet| {
            let first = lead + 6 * sextet;
            (first..first + 6).fold(0, |value, place| value << 1 | bit(place))
        })
        .collect()
}

/// Takes each `every`th gram of the base64 form of a secret, in the characters of both alphabets.
fn written(secret: &[u8], width: usize, every: usize, grams: &mut Vec<u32>) {
    let mask = u32::MAX >> (32 - 8 * width);
    // Three bytes are four sextets: depending on where a secret begins among them, its first whole
    // sextet begins at its bit 0, 2 or 4.
    for lead in [0, 2, 4] {
        for window in sextets(secret, lead).windows(width).step_by(every) {
            // The first byte of a gram is the lowest.
            let mut choices = vec![0_u32];
            for sextet in window.iter().rev() {
                let bytes = characters(*sextet).iter().copied().map(u32::from);
                let longer = bytes.flat_map(|byte| choices.iter().map(move |one| one << 8 | byte));
                choices = longer.collect();
            }
            grams.extend(choices.iter().map(|gram| (gram | FOLD_CASE) & mask));
        }
    }
}
