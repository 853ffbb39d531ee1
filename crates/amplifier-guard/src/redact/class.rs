//! Classes of bytes, a bit each, in a table: loops from byte to byte ask it faster than they compare.

const LETTER: u8 = 1;
const PART: u8 = 2;
const KEY: u8 = 4;

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => LETTER | PART | KEY,
            b'_' | b'-' | b'.' => PART | KEY,
            b'/' | b'+' | b'=' => KEY,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// Whether a byte is a letter or a digit of ASCII.
pub(super) fn is_letter(byte: u8) -> bool {
    CLASSES[usize::from(byte)] & LETTER != 0
}

/// Whether a byte may occur in a name: letters, digits and `_-.`.
pub(super) fn is_part(byte: u8) -> bool {
    CLASSES[usize::from(byte)] & PART != 0
}

/// Whether a byte may occur in a vendor's key: letters, digits and `_-./+=`.
pub(super) fn is_key(byte: u8) -> bool {
    CLASSES[usize::from(byte)] & KEY != 0
}
