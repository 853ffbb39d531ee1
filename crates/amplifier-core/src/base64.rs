//! The two alphabets of base64, that of MIME and that for URLs.

/// The characters that both alphabets have.
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// What a character of either alphabet stands for.
pub(super) fn sextet(byte: u8) -> Option<u8> {
    // By comparison and not by a table: it is asked for each byte around a candidate, and stays in
    // registers.
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

/// The characters that stand for a sextet, one or one of each alphabet.
pub(super) fn characters(sextet: u8) -> &'static [u8] {
    match sextet {
        62 => b"+-",
        63 => b"/_",
        letter => std::slice::from_ref(&LETTERS[usize::from(letter)]),
    }
}

#[cfg(test)]
mod tests {
    use super::{characters, sextet};

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
}
