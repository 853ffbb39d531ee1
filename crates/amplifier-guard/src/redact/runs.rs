//! Long unbroken runs of the characters that keys are made of.

use crate::steps;

/// The fewest characters of a vendor's key, its prefix among them.
pub(super) const LEAST: usize = 19;
/// Bytes that are looked at together, one bit each in a number.
const BLOCK: usize = 64;

/// The maximal runs of at least nineteen key characters, as `(start, end)`.
///
/// Of a run that goes over the end of a block, eight characters or more lie in one of the two.
pub(super) struct Runs<'text> {
    text: &'text [u8],
    /// Where the block begins that is being looked at, and which of its bytes may be in the next run.
    block: usize,
    keys: u64,
}

impl<'text> Runs<'text> {
    pub(super) fn new(text: &'text [u8]) -> Self {
        steps::count(text.len());
        Self {
            text,
            block: 0,
            keys: keys(text),
        }
    }

    /// The next run with eight characters or more in one block.
    fn candidate(&mut self) -> Option<(usize, usize)> {
        let first = loop {
            let two = self.keys & self.keys >> 1;
            let four = two & two >> 2;
            let eight = four & four >> 4;
            if eight != 0 {
                break eight.trailing_zeros();
            }
            self.block += BLOCK;
            self.keys = keys(self.text.get(self.block..)?);
        };
        let mut start = self.block + first as usize;
        if first == 0 {
            let before = self.text[..start].iter().rev();
            start -= before.take_while(|byte| is_key(**byte)).count();
        }
        let length = (self.keys >> first).trailing_ones();
        let mut end = self.block + (first + length) as usize;
        if end == self.block + BLOCK {
            end += stretch(&self.text[end..]);
            self.block = end - end % BLOCK;
            self.keys = keys(&self.text[self.block..]);
        }
        self.keys &= u64::MAX << (end - self.block);
        Some((start, end))
    }
}

impl Iterator for Runs<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (start, end) = self.candidate()?;
            if end - start >= LEAST {
                return Some((start, end));
            }
        }
    }
}

/// Which of the bytes that the text begins with are key characters, one bit each.
fn keys(text: &[u8]) -> u64 {
    /// Gathers the lowest bits of eight bytes in the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let Some(block) = text.first_chunk::<BLOCK>() else {
        let bytes = text.iter().enumerate();
        return bytes.fold(0, |keys, (place, byte)| {
            keys | u64::from(is_key(*byte)) << place
        });
    };
    let mut are_keys = [0; BLOCK];
    for (is_one, byte) in are_keys.iter_mut().zip(block) {
        *is_one = u8::from(is_key(*byte));
    }
    let (eights, _) = are_keys.as_chunks::<8>();
    eights.iter().enumerate().fold(0, |keys, (place, eight)| {
        keys | u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56 << (8 * place)
    })
}

/// How many key characters a text begins with.
pub(super) fn stretch(text: &[u8]) -> usize {
    super::random::stretch(text, is_key)
}

/// Letters, digits and `_-./+=`; without a table, so that many bytes are looked at in one step.
#[expect(clippy::needless_bitwise_bool, reason = "no branches")]
fn is_key(byte: u8) -> bool {
    let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    // These stand in one row: `-./0123456789`.
    let is_digit = byte.wrapping_sub(b'-') < 13;
    is_letter | is_digit | (byte == b'_') | (byte == b'+') | (byte == b'=')
}
