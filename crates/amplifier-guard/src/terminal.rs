//! Text for a terminal, with control and invisible characters escaped.

mod class;
mod line;
mod part;
mod writer;

use std::borrow::Cow;
use std::fmt;

pub use line::TerminalLine;
pub use part::Untrusted;
use part::{Part, each, is_plain};
use writer::Writer;

/// Shows text on a terminal, whole or in chunks, so that it can neither control the terminal nor
/// deceive the reader.
///
/// Escaped (`\x1b`, `\u{200b}`) are control characters except newline and tab, line separators,
/// bidirectional controls, invisible characters, and more than 30 marks over one character. A
/// carriage return before a newline is dropped. Invisible characters are kept where they have a
/// meaning: joiners by the rules of RFC 5892 (`CONTEXTJ`), between pictographs and before the virama
/// of a consonant, one variation selector after a character that has variants, the tags of the flags
/// of England, Scotland and Wales, and blanks among braille.
///
/// Showing the result again does not change it, and chunk boundaries do not matter.
#[doc = include_str!("../docs/terminal.md")]
pub struct TerminalText {
    writer: Writer,
    /// The bytes of a character whose end has not come.
    tail: Vec<u8>,
}

impl Default for TerminalText {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for TerminalText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TerminalText { .. }")
    }
}

impl TerminalText {
    /// Starts at the beginning of a text that comes in chunks.
    #[must_use]
    pub fn new() -> Self {
        Self {
            writer: Writer::new(usize::MAX),
            tail: Vec::new(),
        }
    }

    /// A whole text, in as many lines as it has; the text itself if nothing in it is escaped.
    #[must_use]
    pub fn show<'text>(text: impl Into<Untrusted<'text>>) -> Cow<'text, str> {
        let text = text.into();
        let as_it_is = match text {
            Untrusted::Text(text) => Some(text),
            Untrusted::Bytes(bytes) => str::from_utf8(bytes).ok(),
            Untrusted::Codes(_) => None,
        };
        if let Some(text) = as_it_is
            && text.bytes().all(is_plain)
        {
            return Cow::Borrowed(text);
        }
        let mut whole = Self::new();
        let mut shown = whole.feed(text);
        shown.push_str(&whole.flush());
        match as_it_is {
            Some(text) if text == shown => Cow::Borrowed(text),
            _ => Cow::Owned(shown),
        }
    }

    /// A text as one line for messages: blanks, tabs and newlines are one space, none at the ends.
    ///
    /// Of a line of more than `most` characters the last one is `…`; it is cut between visible
    /// characters, and the rest is not read.
    #[must_use]
    pub fn line<'text>(text: impl Into<Untrusted<'text>>, most: usize) -> String {
        let mut line = TerminalLine::new(most);
        line.feed(text.into());
        line.finish()
    }

    /// A whole text as one line from which it can be read back: newlines, tabs, carriage returns
    /// and backslashes are escaped, too.
    #[must_use]
    pub fn exact<'text>(text: impl Into<Untrusted<'text>>) -> String {
        let mut writer = Writer::new(usize::MAX);
        let mut tail = Vec::new();
        each(text.into(), &mut tail, |part| match part {
            Part::Plain(text) => {
                for character in text.chars() {
                    push_exact(&mut writer, character);
                }
            }
            Part::Character(character) => push_exact(&mut writer, character),
            Part::Code(_) | Part::NoText(_) => writer.push_part(part),
        });
        writer.push_bytes(&tail);
        writer.out
    }

    /// Takes a chunk and returns the text that is certain by now.
    #[must_use]
    pub fn feed<'text>(&mut self, chunk: impl Into<Untrusted<'text>>) -> String {
        let Self { writer, tail } = self;
        each(chunk.into(), tail, |part| writer.push_part(part));
        writer.take()
    }

    /// Ends the text and returns the rest; the next chunk begins another text.
    #[must_use]
    pub fn flush(&mut self) -> String {
        self.writer.push_bytes(&self.tail);
        std::mem::take(self).writer.take()
    }
}

fn push_exact(writer: &mut Writer, character: char) {
    match character {
        '\n' => writer.push_escaped("\\n"),
        '\t' => writer.push_escaped("\\t"),
        '\\' => writer.push_escaped("\\\\"),
        // A carriage return, too, is escaped there: no newline as such comes after it.
        _ => writer.push(character),
    }
}
