//! The two alphabets of base64: the standard one and the one for URLs.

/// The characters that both alphabets share.
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The six bits that a character of the standard alphabet encodes.
pub(crate) fn standard_sextet(byte: u8) -> Option<u8> {
    sextet(byte).filter(|_| !matches!(byte, b'-' | b'_'))
}

/// The six bits that a character of either alphabet encodes.
#[inline]
#[must_use]
pub fn sextet(byte: u8) -> Option<u8> {
    // Comparisons instead of a table: the redactor calls this for each byte around a candidate, and
    // they stay in registers.
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

/// The characters that encode six bits: one that both alphabets share, or one of each.
///
/// # Panics
///
/// If `sextet` has more than six bits.
#[must_use]
pub fn characters(sextet: u8) -> &'static [u8] {
    match sextet {
        62 => b"+-",
        63 => b"/_",
        letter => std::slice::from_ref(&LETTERS[usize::from(letter)]),
    }
}

#[cfg(test)]
mod tests {
    use super::{characters, sextet, standard_sextet};

    #[test]
    fn each_character_stands_for_the_sextet_that_it_writes() {
        for value in 0..64 {
            assert!(
                characters(value)
                    .iter()
                    .all(|byte| sextet(*byte) == Some(value))
            );
        }
        let known = (0..=u8::MAX).filter(|byte| sextet(*byte).is_some());
        assert_eq!(known.count(), 66);
    }

    #[test]
    fn the_standard_alphabet_has_64_characters() {
        let known = (0..=u8::MAX).filter(|byte| standard_sextet(*byte).is_some());
        assert_eq!(known.count(), 64);
        assert_eq!(standard_sextet(b'-').or(standard_sextet(b'_')), None);
    }
}
