//! Long unbroken runs of the characters that keys are made of.

use crate::steps;

/// The fewest characters of a vendor's key, its prefix among them.
pub(super) const LEAST: usize = 19;
/// Bytes that are looked at together. A run of twice as many less one holds eight that are aligned.
const GROUP: usize = 8;

/// Groups that are looked at in one step, one bit each in a number.
const BLOCK: usize = 8 * GROUP;

/// The maximal runs of at least nineteen key characters, as `(start, end)`.
///
/// Looks at many bytes at a time, and at where a run begins and ends only where eight are in one.
pub(super) struct Runs<'text> {
    text: &'text [u8],
    /// Where the block begins that is being looked at, and its groups that may be in the next run.
    block: usize,
    groups: u8,
}

impl<'text> Runs<'text> {
    pub(super) fn new(text: &'text [u8]) -> Self {
        steps::count(text.len());
        let groups = full_groups(text);
        Self {
            text,
            block: 0,
            groups,
        }
    }

    /// Where the next eight bytes begin that are all key characters.
    fn candidate(&mut self) -> Option<usize> {
        while self.groups == 0 {
            self.block += BLOCK;
            self.groups = full_groups(self.text.get(self.block..)?);
        }
        let group = self.groups.trailing_zeros();
        Some(self.block + GROUP * group as usize)
    }

    /// Passes over what ends before `place`.
    fn pass(&mut self, place: usize) {
        if place >= self.block + BLOCK {
            self.block = place - place % BLOCK;
            self.groups = full_groups(&self.text[self.block..]);
        }
        let passed = (place - self.block).div_ceil(GROUP);
        self.groups &= u8::MAX
            .checked_shl(u32::try_from(passed).unwrap_or(8))
            .unwrap_or(0);
    }
}

impl Iterator for Runs<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(place) = self.candidate() {
            let before = &self.text[..place];
            let start = before
                .iter()
                .rposition(|byte| !is_key(*byte))
                .map_or(0, |last| last + 1);
            let end = place + GROUP + stretch(&self.text[place + GROUP..]);
            self.pass(end);
            if end - start >= LEAST {
                return Some((start, end));
            }
        }
        None
    }
}

/// Which of the groups that the text begins with are key characters throughout, one bit each.
fn full_groups(text: &[u8]) -> u8 {
    const ALL: u64 = 0x0101_0101_0101_0101;
    let Some(block) = text.first_chunk::<BLOCK>() else {
        let groups = text.chunks_exact(GROUP).enumerate();
        return groups.fold(0, |full, (group, bytes)| {
            full | u8::from(bytes.iter().all(|byte| is_key(*byte))) << group
        });
    };
    let are_keys = block.map(|byte| u8::from(is_key(byte)));
    let (groups, _) = are_keys.as_chunks::<GROUP>();
    groups.iter().enumerate().fold(0, |full, (group, bytes)| {
        full | u8::from(u64::from_le_bytes(*bytes) == ALL) << group
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
