//! Which escapes may be part of a secret.

use amplifier_core::base64::sextet;

use super::super::escape::Escape;
use super::found::is_break;

/// The bytes that may be part of a secret once they are decoded, or of another escape.
pub(super) struct Live {
    bytes: [bool; 256],
    /// Whether a secret contains a character that begins escapes, so that every escape matters.
    pub(super) all: bool,
    /// Whether a secret has several lines, so that each end of a line matters.
    pub(super) breaks: bool,
}

impl Live {
    pub(super) fn new(secrets: &[Vec<u8>]) -> Self {
        let mut bytes = [false; 256];
        for byte in secrets.iter().flatten() {
            bytes[usize::from(*byte)] = true;
        }
        let all = b"%\\&".iter().any(|byte| bytes[usize::from(*byte)]);
        let breaks = b"\n\r".iter().any(|byte| bytes[usize::from(*byte)]);
        for byte in 0..=u8::MAX {
            bytes[usize::from(byte)] |= sextet(byte).is_some()
                || is_break(byte)
                || matches!(byte, b'%' | b'\\' | b'&' | b';' | b'#');
        }
        Self { bytes, all, breaks }
    }

    fn has(&self, byte: u8) -> bool {
        self.bytes[usize::from(byte)]
    }

    /// Whether a secret contains a character that ends words, behind which it may go on.
    pub(super) fn has_break(&self) -> bool {
        self.breaks || b" \t\x0c,".iter().any(|byte| self.has(*byte))
    }

    /// Whether the escape at the beginning of the text decodes to any such byte.
    pub(super) fn is_in(&self, text: &[u8]) -> bool {
        Escape::of(text).is_some_and(|escape| {
            let mut buffer = [0; 4];
            self.all || escape.bytes(&mut buffer).iter().any(|byte| self.has(*byte))
        })
    }
}
