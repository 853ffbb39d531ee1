//! Bytes in chunks.

use proptest::sample::Index;

/// The bytes, cut at these places.
pub(crate) fn cut<'a>(wire: &'a [u8], places: &[Index]) -> Vec<&'a [u8]> {
    let mut ends: Vec<usize> = places
        .iter()
        .map(|place| place.index(wire.len() + 1))
        .collect();
    ends.sort_unstable();
    ends.push(wire.len());
    let starts = [0].into_iter().chain(ends.clone());
    starts
        .zip(ends)
        .map(|(start, end)| &wire[start..end])
        .collect()
}
