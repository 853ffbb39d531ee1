//! The parts of secrets that have one length.

use std::collections::HashSet;

use memchr::memmem;

/// Parts of at most eight bytes, each as a number, the first byte highest.
pub(super) struct Parts {
    pub(super) length: usize,
    values: HashSet<u64>,
    /// One bit for each value, possibly shared: most numbers need only this lookup.
    bits: Vec<u64>,
}

impl Parts {
    pub(super) fn new(length: usize) -> Self {
        Self {
            length,
            values: HashSet::new(),
            bits: vec![0; 1024],
        }
    }

    /// Adds the parts of a secret, except those contained in `exempt`.
    pub(super) fn add(&mut self, secret: &[u8], exempt: &[u8]) {
        for part in secret.windows(self.length) {
            if memmem::find(exempt, part).is_none() {
                let value = number(part);
                let bit = bit(value);
                self.bits[bit / 64] |= 1 << (bit % 64);
                self.values.insert(value);
            }
        }
    }

    /// Whether the last bytes of a number are a part.
    pub(super) fn has(&self, value: u64) -> bool {
        // Only the last `length` bytes of the rolling number are the part.
        let value = value & (u64::MAX >> (64 - 8 * self.length));
        let bit = bit(value);
        self.bits[bit / 64] >> (bit % 64) & 1 == 1 && self.values.contains(&value)
    }
}

/// At most eight bytes as a number, the first one highest.
pub(super) fn number(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter();
    bytes.fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// The place of a number in a table of 65,536 bits.
fn bit(value: u64) -> usize {
    // The golden ratio as a fraction of 2^64; the highest 16 bits depend on all bits of the number.
    (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
}
