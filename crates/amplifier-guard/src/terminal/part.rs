//! Splits text of any source into parts.

/// Text from any source: characters, bytes that need not be UTF-8, or code points that may be
/// surrogates.
#[derive(Clone, Copy, Debug)]
pub enum Untrusted<'text> {
    /// Text.
    Text(&'text str),
    /// Bytes; those that are not UTF-8 are shown as `\x9b`.
    Bytes(&'text [u8]),
    /// Code points; those that are no characters are shown as `\u{d800}`.
    Codes(&'text [u32]),
}

impl<'text> From<&'text str> for Untrusted<'text> {
    fn from(text: &'text str) -> Self {
        Self::Text(text)
    }
}

impl<'text> From<&'text [u8]> for Untrusted<'text> {
    fn from(bytes: &'text [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

/// A part of a text as the writer takes it.
#[derive(Clone, Copy)]
pub(super) enum Part<'text> {
    /// Printable ASCII, newlines and tabs.
    Plain(&'text str),
    Character(char),
    /// A surrogate.
    Code(u32),
    /// Bytes that are not UTF-8.
    NoText(&'text [u8]),
}

/// Passes on each part of a text; `tail` keeps the bytes of a character that the next bytes may
/// complete.
pub(super) fn each(text: Untrusted<'_>, tail: &mut Vec<u8>, mut take: impl FnMut(Part<'_>)) {
    let bytes = match text {
        Untrusted::Bytes(bytes) => bytes,
        Untrusted::Text(text) => {
            end_tail(tail, &mut take);
            return each_of_text(text, &mut take);
        }
        Untrusted::Codes(codes) => {
            end_tail(tail, &mut take);
            return codes.iter().for_each(|code| match char::from_u32(*code) {
                Some(character) => each_of_text(character.encode_utf8(&mut [0; 4]), &mut take),
                None => take(Part::Code(*code)),
            });
        }
    };
    // A character may have begun in the chunk before.
    let begun;
    let mut bytes = bytes;
    if !tail.is_empty() {
        begun = [std::mem::take(tail).as_slice(), bytes].concat();
        bytes = &begun;
    }
    while let Err(error) = str::from_utf8(bytes) {
        let (valid, rest) = bytes.split_at(error.valid_up_to());
        each_of_text(str::from_utf8(valid).unwrap_or_default(), &mut take);
        let Some(length) = error.error_len() else {
            tail.extend_from_slice(rest);
            return;
        };
        let (invalid, rest) = rest.split_at(length);
        take(Part::NoText(invalid));
        bytes = rest;
    }
    each_of_text(str::from_utf8(bytes).unwrap_or_default(), &mut take);
}

fn end_tail(tail: &mut Vec<u8>, take: &mut impl FnMut(Part<'_>)) {
    if !tail.is_empty() {
        take(Part::NoText(tail));
        tail.clear();
    }
}

fn each_of_text(text: &str, take: &mut impl FnMut(Part<'_>)) {
    let mut rest = text;
    while !rest.is_empty() {
        let plain = rest.bytes().take_while(|byte| is_plain(*byte)).count();
        if plain > 0 {
            take(Part::Plain(&rest[..plain]));
            rest = &rest[plain..];
        }
        let mut characters = rest.chars();
        if let Some(character) = characters.next() {
            take(Part::Character(character));
        }
        rest = characters.as_str();
    }
}

/// The text in pieces of some thousand bytes.
pub(super) fn steps(text: Untrusted<'_>) -> Box<dyn Iterator<Item = Untrusted<'_>> + '_> {
    const STEP_BYTES: usize = 4096;
    match text {
        Untrusted::Text(text) => {
            let mut rest = text;
            Box::new(std::iter::from_fn(move || {
                let end = (STEP_BYTES..rest.len()).find(|end| rest.is_char_boundary(*end));
                let (step, later) = rest.split_at(end.unwrap_or(rest.len()));
                rest = later;
                (!step.is_empty()).then_some(Untrusted::Text(step))
            }))
        }
        Untrusted::Bytes(bytes) => Box::new(bytes.chunks(STEP_BYTES).map(Untrusted::Bytes)),
        Untrusted::Codes(codes) => Box::new(codes.chunks(STEP_BYTES).map(Untrusted::Codes)),
    }
}

/// Whether a byte is text on any terminal.
pub(super) fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\t')
}
