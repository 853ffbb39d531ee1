//! Text for a terminal: what a terminal would act on, and what nobody would see, shown escaped.

mod class;
mod writer;

use std::borrow::Cow;
use std::fmt;

use writer::Writer;

/// Text as it came: characters, bytes that need not be UTF-8, or code points that may be surrogates.
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

/// Shows text on a terminal, whole or in chunks, so that it can neither act nor deceive.
///
/// Escaped (`\x1b`, `\u{200b}`) are control characters but newline and tab, separators of lines,
/// bidirectional controls, what Unicode says is to be ignored, and more than 30 marks over one
/// character. A carriage return before a newline is dropped. Among the invisible characters stay
/// those that have a meaning where they stand: joiners by the rules of RFC 5892 (`CONTEXTJ`), between
/// pictographs and before the virama of a consonant, one variation selector after a character that
/// has variants, tags that make the flags of England, Scotland and Wales, blanks among braille.
///
/// What was shown stays as it is when it is shown again, and cutting the chunks differently gives
/// the same.
///
/// # Examples
///
/// ```
/// use amplifier_guard::TerminalText;
///
/// assert_eq!(TerminalText::show("safe\rrm\u{200b}"), "safe\\rrm\\u{200b}");
///
/// let mut text = TerminalText::new();
/// assert_eq!(text.feed("woman \u{1f469}\u{200d}"), "woman \u{1f469}");
/// assert_eq!(text.feed("\u{1f680}"), "\u{200d}\u{1f680}");
/// assert_eq!(text.flush(), "");
/// ```
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
        formatter
            .debug_struct("TerminalText")
            .finish_non_exhaustive()
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
    /// characters, and nothing behind is looked at.
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
            Part::Code(code) => writer.push_code(code),
            Part::NoText(bytes) => writer.push_bytes(bytes),
        });
        writer.push_bytes(&tail);
        writer.out
    }

    /// Takes a chunk and gives what is decided by now.
    #[must_use]
    pub fn feed<'text>(&mut self, chunk: impl Into<Untrusted<'text>>) -> String {
        let Self { writer, tail } = self;
        each(chunk.into(), tail, |part| match part {
            Part::Plain(text) => writer.push_plain(text),
            Part::Character(character) => writer.push(character),
            Part::Code(code) => writer.push_code(code),
            Part::NoText(bytes) => writer.push_bytes(bytes),
        });
        writer.take()
    }

    /// Ends the text and gives the rest; the next chunk begins another one.
    #[must_use]
    pub fn flush(&mut self) -> String {
        self.writer.push_bytes(&self.tail);
        std::mem::take(self).writer.take()
    }
}

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
        formatter
            .debug_struct("TerminalLine")
            .finish_non_exhaustive()
    }
}

impl TerminalLine {
    /// Begins a line of at most `most` characters; see [`TerminalText::line`].
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
        // In steps, so that no more is looked at than the line has room for.
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
            Part::Character(character) => {
                self.begin();
                self.writer.push(character);
            }
            Part::Code(code) => {
                self.begin();
                self.writer.push_code(code);
            }
            Part::NoText(bytes) => {
                self.begin();
                self.writer.push_bytes(bytes);
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

/// A part of a text as the writer takes it.
#[derive(Clone, Copy)]
enum Part<'text> {
    /// Printable ASCII, newlines and tabs.
    Plain(&'text str),
    Character(char),
    /// A surrogate.
    Code(u32),
    /// Bytes that are not UTF-8.
    NoText(&'text [u8]),
}

/// Gives each part of a text; `tail` keeps the bytes of a character that the next bytes may complete.
fn each(text: Untrusted<'_>, tail: &mut Vec<u8>, mut take: impl FnMut(Part<'_>)) {
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
    // A character that began in the chunk before is completed on its own.
    let mut bytes = bytes;
    while !tail.is_empty() {
        let Some((next, rest)) = bytes.split_first() else {
            return;
        };
        tail.push(*next);
        match str::from_utf8(tail) {
            Ok(text) => {
                each_of_text(text, &mut take);
                tail.clear();
                bytes = rest;
            }
            Err(error) if error.error_len().is_none() => bytes = rest,
            Err(_) => {
                tail.pop();
                end_tail(tail, &mut take);
            }
        }
    }
    loop {
        match str::from_utf8(bytes) {
            Ok(text) => return each_of_text(text, &mut take),
            Err(error) => {
                let (valid, rest) = bytes.split_at(error.valid_up_to());
                if let Ok(text) = str::from_utf8(valid) {
                    each_of_text(text, &mut take);
                }
                let Some(length) = error.error_len() else {
                    tail.extend_from_slice(rest);
                    return;
                };
                let (invalid, rest) = rest.split_at(length);
                take(Part::NoText(invalid));
                bytes = rest;
            }
        }
    }
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
fn steps(text: Untrusted<'_>) -> Box<dyn Iterator<Item = Untrusted<'_>> + '_> {
    const STEP: usize = 4096;
    match text {
        Untrusted::Text(text) => {
            let mut rest = text;
            Box::new(std::iter::from_fn(move || {
                let end = (STEP..rest.len()).find(|end| rest.is_char_boundary(*end));
                let (step, later) = rest.split_at(end.unwrap_or(rest.len()));
                rest = later;
                (!step.is_empty()).then_some(Untrusted::Text(step))
            }))
        }
        Untrusted::Bytes(bytes) => Box::new(bytes.chunks(STEP).map(Untrusted::Bytes)),
        Untrusted::Codes(codes) => Box::new(codes.chunks(STEP).map(Untrusted::Codes)),
    }
}

fn push_exact(writer: &mut Writer, character: char) {
    match character {
        '\n' => writer.push_escaped("\\n"),
        '\t' => writer.push_escaped("\\t"),
        '\r' => writer.push_escaped("\\r"),
        '\\' => writer.push_escaped("\\\\"),
        _ => writer.push(character),
    }
}

/// Whether a byte is text on any terminal.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\t')
}
