//! Whether characters are words or look drawn at random.

use amplifier_core::steps;

use super::look::LOOK_BYTES;

/// Whether characters are not words: a digit beside letters or both cases, and some variety.
pub(super) fn is_random(characters: &[u8]) -> bool {
    let characters = &characters[..characters.len().min(LOOK_BYTES)];
    steps::count(characters.len());
    let has = |test: fn(&u8) -> bool| characters.iter().any(test);
    let capitals = characters
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
        || capitals && has(u8::is_ascii_lowercase);
    mixed && variety(characters) >= 5
}

/// How many different bytes there are, among letters and digits.
pub(super) fn variety(characters: &[u8]) -> u32 {
    let bits = characters.iter().map(|byte| 1_u128 << (byte & 0x7f));
    bits.fold(0, |seen, bit| seen | bit).count_ones()
}

/// Whether digits, small and capital letters are mixed, as in hardly any name.
pub(super) fn is_mixed(characters: &[u8]) -> bool {
    let is_in = |test: fn(&u8) -> bool| characters.iter().any(test);
    is_in(u8::is_ascii_digit) && is_in(u8::is_ascii_lowercase) && is_in(u8::is_ascii_uppercase)
}
