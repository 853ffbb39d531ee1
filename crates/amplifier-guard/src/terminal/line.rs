//! One line of a text.

use std::fmt;

use super::part::{Part, Untrusted, each, steps};
use super::writer::Writer;

/// Makes one line of a text that may come in chunks.
pub struct TerminalLine {
    writer: Writer,
    most: usize,
    tail: Vec<u8>,
    is_blank_due: bool,
    is_return_due: bool,
    is_begun: bool,
}

impl fmt::Debug for TerminalLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TerminalLine { .. }")
    }
}

impl TerminalLine {
    /// Begins a line of at most `most` characters; see [`TerminalText::line`](super::TerminalText::line).
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            writer: Writer::new(most.saturating_sub(1)),
            most,
            tail: Vec::new(),
            is_blank_due: false,
            is_return_due: false,
            is_begun: false,
        }
    }

    /// Adds text; whether there is room for more.
    pub fn feed(&mut self, text: Untrusted<'_>) -> bool {
        let mut tail = std::mem::take(&mut self.tail);
        // In steps, so that no more text is read than fits the line.
        let has_room = steps(text).all(|step| {
            each(step, &mut tail, |part| self.push(part));
            self.has_room()
        });
        self.tail = tail;
        has_room
    }

    /// Ends the line.
    #[must_use]
    pub fn finish(mut self) -> String {
        let tail = std::mem::take(&mut self.tail);
        if self.has_room() {
            if !tail.is_empty() {
                self.push(Part::NoText(&tail));
            }
            self.end_return();
            self.writer.end();
        }
        if self.has_room() {
            return self.writer.out;
        }
        let mut line = self.writer.out;
        line.truncate(self.writer.fitting);
        if self.most > 0 {
            line.push('…');
        }
        line
    }

    fn has_room(&self) -> bool {
        self.writer.characters <= self.most
    }

    fn push(&mut self, part: Part<'_>) {
        match part {
            Part::Plain(text) => {
                for piece in text.split_inclusive([' ', '\t', '\n']) {
                    let word = piece.trim_end_matches([' ', '\t', '\n']);
                    if !word.is_empty() {
                        self.begin();
                        self.writer.push_plain(word);
                    }
                    if word.len() < piece.len() {
                        if piece.ends_with('\n') && word.is_empty() {
                            self.is_return_due = false;
                        }
                        self.end_return();
                        self.is_blank_due = true;
                    }
                }
            }
            Part::Character('\r') => {
                self.end_return();
                self.is_return_due = true;
            }
            Part::Character(_) | Part::Code(_) | Part::NoText(_) => {
                self.begin();
                self.writer.push_part(part);
            }
        }
    }

    /// Writes what is due before something visible.
    fn begin(&mut self) {
        self.end_return();
        if self.is_blank_due && self.is_begun {
            self.writer.push(' ');
        }
        self.is_blank_due = false;
        self.is_begun = true;
    }

    fn end_return(&mut self) {
        if std::mem::take(&mut self.is_return_due) {
            self.begin();
            self.writer.push_escaped("\\r");
        }
    }
}
