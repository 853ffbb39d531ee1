//! Whether characters are words or look drawn at random.

use amplifier_core::steps;

use super::look::{LOOK_BYTES, tail};

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

/// Whether a word is one that nobody says: no word of prose, no version, date, path or name in code.
/// Where something else says that a secret is near, such a word is it.
pub(super) fn is_unspoken(word: &[u8]) -> bool {
    let count = |test: fn(&u8) -> bool| word.iter().filter(|byte| test(byte)).count();
    if !(8..=LOOK_BYTES).contains(&word.len()) || !is_random(word) {
        return false;
    }
    let has = |byte: u8| word.contains(&byte);
    let (digits, letters) = (count(u8::is_ascii_digit), count(u8::is_ascii_alphabetic));
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !b"()[]{}<>,;:\"'`$\\|&".contains(byte);
    // Names of things have dashes or underscores between their words, paths slashes.
    let is_named = !is_mixed(word) && (has(b'_') || has(b'/') || has(b'-') && digits < 4);
    let body = &word[..word.len() - tail(word, |byte| byte == b'=').len()];
    let ending = tail(word, |byte| byte != b'.').len();
    let is_other = is_named
        || body.contains(&b'=')
        || has(b'.') && ending <= 5
        || b"/.~#@-+*".contains(&word[0]);
    word.iter().all(is_plain) && !is_other && letters >= 3 && digits >= 2
}
