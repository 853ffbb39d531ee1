//! Long unbroken runs of the characters that keys are made of.

/// What a byte may be part of.
const KEY: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        #[expect(clippy::cast_possible_truncation, reason = "below 128")]
        let character = byte as u8;
        table[byte] = character.is_ascii_alphanumeric()
            || matches!(character, b'_' | b'-' | b'.' | b'/' | b'+' | b'=');
        byte += 1;
    }
    table
};

/// Runs shorter than this hold neither a vendor's key nor eight characters in base64.
const LEAST: usize = 11;

/// The maximal runs of at least eleven key characters, as `(start, end)`.
///
/// Looks at the eleventh byte first and goes back from there, so that in prose most bytes are never
/// looked at.
pub(super) struct Runs<'text> {
    text: &'text [u8],
    next: usize,
}

impl<'text> Runs<'text> {
    pub(super) fn new(text: &'text [u8]) -> Self {
        Self { text, next: 0 }
    }
}

impl Iterator for Runs<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let start = self.next;
            let window = self.text.get(start..start + LEAST)?;
            if let Some(gap) = window.iter().rposition(|byte| !KEY[usize::from(*byte)]) {
                self.next = start + gap + 1;
                continue;
            }
            let rest = &self.text[start + LEAST..];
            let more = rest
                .iter()
                .position(|byte| !KEY[usize::from(*byte)])
                .unwrap_or(rest.len());
            let end = start + LEAST + more;
            self.next = end;
            return Some((start, end));
        }
    }
}
