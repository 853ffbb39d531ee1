//! Long unbroken runs of the characters that keys are made of.

use amplifier_core::steps;

use super::class;
use super::look::{self, tail};

/// The fewest characters of a vendor's key, its prefix among them.
pub(super) const MIN_KEY_BYTES: usize = 19;
/// Bytes that are checked together, one bit for every four of them.
const BLOCK_BYTES: usize = 4 * 64;

/// The maximal runs of at least nineteen key characters, as `(start, end)`.
///
/// Each such run contains four consecutive groups of four bytes, counted from the beginning of the
/// text: at most three bytes precede the first group, and nineteen are sixteen plus three.
pub(super) struct Runs<'text> {
    text: &'text [u8],
    /// Where the block begins that is being looked at.
    block: usize,
    /// The groups of four that end four candidate groups in a row and are not yet checked.
    ends: u64,
    /// The groups of four that may be key characters.
    fours: u64,
    /// The end of the last run.
    done: usize,
}

impl<'text> Runs<'text> {
    pub(super) fn new(text: &'text [u8]) -> Self {
        steps::count(text.len());
        let mut runs = Self {
            text,
            block: 0,
            ends: 0,
            fours: 0,
            done: 0,
        };
        runs.enter(0);
        runs
    }

    fn enter(&mut self, block: usize) {
        let before = self.fours;
        self.block = block;
        self.fours = fours(&self.text[block..]);
        // Shifted by one, each bit is that of the group before it; the first ones come from the
        // previous block. So a bit remains only if that group and the three before it may be key
        // characters.
        let behind = |count: u32| self.fours << count | before >> (64 - count);
        self.ends = self.fours & behind(1) & behind(2) & behind(3);
    }
}

impl Iterator for Runs<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            while self.ends == 0 {
                let block = self.block + BLOCK_BYTES;
                if block >= self.text.len() {
                    return None;
                }
                self.enter(block);
            }
            let end = self.block + 4 * (self.ends.trailing_zeros() as usize + 1);
            // Clears the lowest bit, the one that was just read.
            self.ends &= self.ends - 1;
            let four_fours = &self.text[end - 16..end];
            // `fours` accepts a few other bytes, so the four groups are checked exactly here.
            if end <= self.done
                || !four_fours
                    .iter()
                    .fold(true, |all, byte| all & is_key(*byte))
            {
                continue;
            }
            let before = tail(&self.text[self.done..end - 16], class::is_key);
            let start = end - 16 - before.len();
            let after = self.text[end..]
                .iter()
                .position(|byte| !class::is_key(*byte));
            self.done = after.map_or(self.text.len(), |length| end + length);
            if self.done - start >= MIN_KEY_BYTES {
                return Some((start, self.done));
            }
        }
    }
}

/// Which groups of four bytes at the beginning of the text may be key characters, one bit each.
fn fours(text: &[u8]) -> u64 {
    /// Gathers the lowest bits of eight bytes in the highest byte: its bit `56 - 7k` moves the bit
    /// `8k` to `56 + k`. No two products of bits meet, so that nothing is carried.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let mut are_keys = [0; BLOCK_BYTES];
    for (is_one, byte) in are_keys.iter_mut().zip(text) {
        *is_one = if may_be_key(*byte) { u8::MAX } else { 0 };
    }
    let mut fours = [0; BLOCK_BYTES / 4];
    for (four, bytes) in fours.iter_mut().zip(are_keys.as_chunks().0) {
        *four = u8::from(u32::from_ne_bytes(*bytes) == u32::MAX);
    }
    let (eights, _) = fours.as_chunks::<8>();
    eights.iter().enumerate().fold(0, |bits, (place, eight)| {
        bits | u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56 << (8 * place)
    })
}

/// Whether a byte may be a key character: fast, and accepts only a few others.
fn may_be_key(byte: u8) -> bool {
    // As a signed number, a byte beyond ASCII is negative: one comparison excludes it, control
    // characters, blanks, quotation marks and brackets.
    byte.cast_signed() > b'*'.cast_signed() && byte != b':'
}

/// How many key characters a text begins with.
pub(super) fn stretch(text: &[u8]) -> usize {
    look::stretch(text, class::is_key)
}

/// Letters, digits and `_-./+=`; without a table, so that many bytes are checked in one step.
#[expect(clippy::needless_bitwise_bool, reason = "no branches")]
fn is_key(byte: u8) -> bool {
    // Below `a` the difference wraps to a large number, so that one comparison holds both bounds.
    let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    // These are consecutive in ASCII: `-./0123456789`.
    let is_digit = byte.wrapping_sub(b'-') < 13;
    is_letter | is_digit | (byte == b'_') | (byte == b'+') | (byte == b'=')
}
