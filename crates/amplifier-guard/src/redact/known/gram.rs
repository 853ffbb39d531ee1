//! A fast search for places that may contain a part of a secret, plain or encoded.
//!
//! A part of eight bytes takes eight bytes of text, at least ten whole characters of base64, or
//! sixteen digits. So every fourth or fifth place of the text lies inside it, and the few bytes
//! there (a gram) occur in the secret, its base64 form or its digits. Case is ignored.

use amplifier_core::base64::characters;
use amplifier_core::steps;

/// What may stand between the digits of two bytes.
const SEPARATORS: [&str; 9] = [" ", ":", "-", ",", ", ", "\n", " 0x", ",0x", ", 0x"];

/// Tables of the grams of all secrets, by encoding.
pub(super) struct Grams {
    /// The bytes of a gram, and the distance between the grams that are checked.
    width: usize,
    step: usize,
    /// The whole base64 characters of each part.
    sextets: usize,
    /// The digits of each part.
    digits: usize,
    any: Bits,
    plain: Bits,
    base64: Bits,
    hex: Bits,
    spaced: Bits,
}

/// A set of numbers with false positives, like a Bloom filter.
struct Bits {
    words: Box<[u64]>,
    shift: u32,
}

impl Bits {
    fn new(exponent: u32) -> Self {
        Self {
            words: vec![0; 1 << (exponent - 6)].into(),
            shift: 32 - exponent,
        }
    }

    fn place(&self, gram: u32) -> usize {
        // The golden ratio as a fraction of 2^32: the highest bits of the product depend on all bits
        // of the gram, so that similar grams do not share places.
        (gram.wrapping_mul(0x9e37_79b1) >> self.shift) as usize
    }

    fn insert(&mut self, gram: u32) {
        let place = self.place(gram);
        self.words[place / 64] |= 1 << (place % 64);
    }

    fn has(&self, gram: u32) -> bool {
        let place = self.place(gram);
        self.words[place / 64] >> (place % 64) & 1 == 1
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
        let plain: Vec<u32> = secrets
            .iter()
            .flat_map(|secret| secret.windows(width).map(gram))
            .collect();
        let mut base64 = Vec::new();
        let mut hex = Vec::new();
        let mut spaced = Vec::new();
        // Eight characters are sixteen bytes of UTF-16, so that each third of its grams will do:
        // one of three places that are five apart is at one of them, and so is each that is three
        // away.
        let third = if shortest == 8 { 3 } else { 1 };
        let wide = wide.iter().map(|secret| (secret, third));
        for (secret, every) in secrets.iter().map(|secret| (secret, 1)).chain(wide) {
            // Three bytes are four sextets: depending on where a secret begins among them, its
            // first whole sextet begins at its bit 0, 2 or 4.
            for lead in [0, 2, 4] {
                let sextets = sextets(secret, lead);
                let windows = sextets.windows(width).step_by(every);
                windows.for_each(|window| written(window, &mut base64));
            }
        }
        for secret in secrets {
            let digits: Vec<u8> = secret
                .iter()
                .flat_map(|byte| [byte >> 4, byte & 15])
                .map(|nibble| b"0123456789abcdef"[usize::from(nibble)])
                .collect();
            hex.extend(digits.windows(width).map(gram));
            let pairs: Vec<&[u8]> = digits.chunks(2).collect();
            for separator in SEPARATORS {
                let written = pairs.join(separator.as_bytes());
                spaced.extend(written.windows(width).map(gram));
            }
        }
        spaced.sort_unstable();
        spaced.dedup();
        let count = plain.len() + base64.len() + hex.len() + spaced.len();
        // Only a few percent of the bits are set, and the table fits into a core's own cache.
        let exponent = (64 * count).next_power_of_two().ilog2().clamp(13, 19);
        let set = |grams: &[&[u32]]| {
            let mut bits = Bits::new(exponent);
            grams
                .concat()
                .into_iter()
                .for_each(|gram| bits.insert(gram));
            bits
        };
        Self {
            width,
            step,
            // At worst its first four bits are in a character shared with the byte before it.
            sextets: (8 * shortest - 4) / 6,
            digits: 2 * shortest,
            any: set(&[&plain, &base64, &hex, &spaced]),
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
        match self.step {
            2 => self.find_each::<2>(text, take),
            3 => self.find_each::<3>(text, take),
            4 => self.find_each::<4>(text, take),
            _ => self.find_each::<5>(text, take),
        }
    }

    fn find_each<const STEP: usize>(&self, text: &[u8], mut take: impl FnMut(usize, u32)) {
        // The lookups of one block do not depend on each other and share one branch: without a hit,
        // as in most text, the processor runs them in parallel.
        const TOGETHER: usize = 8;
        // In a little-endian number the first bytes are the lowest.
        let mask = u32::MAX >> (32 - 8 * self.width);
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
        while let Some(bytes) = text.get(start..start + self.width) {
            if self.any.has(gram(bytes)) {
                take(start, gram(bytes));
            }
            start += STEP;
        }
    }

    pub(super) fn is_plain(&self, gram: u32) -> bool {
        self.plain.has(gram)
    }

    /// Whether the base64 form of a part may surround the gram at `place`, unbroken.
    pub(super) fn is_base64(&self, gram: u32, text: &[u8], place: usize) -> bool {
        self.base64.has(gram) && self.is_around(&self.base64, text, place, self.sextets)
    }

    /// Whether the digits of a part may surround the gram at `place`.
    pub(super) fn is_hex(&self, gram: u32, text: &[u8], place: usize) -> bool {
        self.hex.has(gram) && self.is_around(&self.hex, text, place, self.digits)
    }

    /// Whether the digits of a part, in pairs, may surround the gram at `place`.
    pub(super) fn is_spaced(&self, gram: u32, text: &[u8], place: usize) -> bool {
        self.spaced.has(gram) && self.is_around(&self.spaced, text, place, 3 * self.digits / 2)
    }

    /// Whether the gram at `place` occurs in the base64 form of a secret.
    pub(super) fn is_base64_at(&self, text: &[u8], place: usize) -> bool {
        self.has(&self.base64, text, Some(place))
    }

    /// Whether a part with this many characters may surround the gram at `place`.
    fn is_around(&self, bits: &Bits, text: &[u8], place: usize, length: usize) -> bool {
        // Wherever the gram is in the part, at least half of the rest is on one side.
        let beside = (length - self.width).div_ceil(2);
        self.has(bits, text, place.checked_sub(beside))
            || self.has(bits, text, Some(place + beside))
    }

    fn has(&self, bits: &Bits, text: &[u8], place: Option<usize>) -> bool {
        let bytes = place.and_then(|place| text.get(place..place + self.width));
        bytes.is_some_and(|bytes| bits.has(gram(bytes)))
    }
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
    let value = bytes
        .iter()
        .rev()
        .fold(0, |value, byte| value << 8 | u32::from(*byte));
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

/// The grams of sextets, in the characters of both alphabets.
fn written(sextets: &[u8], grams: &mut Vec<u32>) {
    let choices: Vec<&[u8]> = sextets.iter().map(|sextet| characters(*sextet)).collect();
    let count: usize = choices.iter().map(|choice| choice.len()).product();
    for number in 0..count {
        let mut rest = number;
        let bytes: Vec<u8> = choices
            .iter()
            .map(|choice| {
                let byte = choice[rest % choice.len()];
                rest /= choice.len();
                byte
            })
            .collect();
        grams.push(gram(&bytes));
    }
}
