//! Text that arrives in pieces, cut anywhere, also between the halves of a surrogate pair.

use crate::json::{Piece, join};

/// The pieces so far, as one text.
#[derive(Debug, Default, Clone)]
pub(crate) struct Text {
    whole: String,
    high: Option<u16>,
}

impl Text {
    /// Text that begins with something already decoded.
    pub(crate) fn starting(whole: String) -> Self {
        Self { whole, high: None }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.whole
    }

    pub(crate) fn into_string(self) -> String {
        self.whole
    }

    /// Appends a piece; returns the text it adds, and how many unpaired halves became U+FFFD.
    ///
    /// A high half at the end is held back until the next piece shows whether its low half follows.
    pub(crate) fn push(&mut self, piece: Piece<'_>) -> (String, usize) {
        let Piece {
            low,
            text,
            high,
            mut unpaired,
        } = piece;
        if self.high.is_none() && low.is_none() {
            self.whole.push_str(&text);
            self.high = high;
            return (text.into_owned(), unpaired);
        }
        if low.is_none() && text.is_empty() && high.is_none() {
            return (String::new(), unpaired);
        }
        let mut added = String::with_capacity(text.len() + 4);
        match (self.high.take(), low) {
            (Some(high), Some(low)) => added.push(join(high, low)),
            (Some(_), None) | (None, Some(_)) => {
                added.push(char::REPLACEMENT_CHARACTER);
                unpaired += 1;
            }
            (None, None) => {}
        }
        added.push_str(&text);
        self.whole.push_str(&added);
        self.high = high;
        (added, unpaired)
    }

    /// Whether nothing was pushed, not even half a character.
    pub(crate) fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.high.is_none()
    }

    /// Forgets a high half at the end.
    pub(crate) fn forget_half(&mut self) {
        self.high = None;
    }

    /// Ends the text; returns U+FFFD for an unpaired half at the end.
    pub(crate) fn finish(&mut self) -> Option<String> {
        self.high.take()?;
        self.whole.push(char::REPLACEMENT_CHARACTER);
        Some(char::REPLACEMENT_CHARACTER.to_string())
    }
}
