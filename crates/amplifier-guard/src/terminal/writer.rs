//! Writes one text for a terminal, character by character.

use super::class::{self, Class};
use super::part::Part;
use crate::text::character::Contextual;

/// The most characters drawn over one other: the limit of the stream-safe format of UAX #15.
const MAX_MARKS: usize = 30;
/// The flag that tags make the flag of a region.
const FLAG: char = '\u{1f3f4}';
/// The tags that Unicode recommends, each with its end: England, Scotland, Wales. All others hide
/// their letters.
const REGIONS: [&str; 3] = ["gbeng.", "gbsct.", "gbwls."];
/// The tag that ends the others.
const CANCEL: char = '\u{e007f}';

/// What is shown of a text so far.
///
/// `out` does not depend on chunk boundaries: characters that need the next ones for a decision
/// wait for them.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) out: String,
    /// The characters in `out`.
    pub(super) characters: usize,
    /// The longest beginning of `out`, in bytes, that ends between visible characters and has at
    /// most `room` characters.
    pub(super) fitting: usize,
    pub(super) room: usize,
    /// The last character with a place of its own; NUL where it is escaped.
    base: char,
    /// The last character of all; NUL where it is escaped.
    last: char,
    /// How many characters without a place of their own came after `base`.
    over: usize,
    /// Whether none of them is between letters that join.
    is_transparent: bool,
    /// Whether the next character belongs to the last one.
    is_joined: bool,
    wait: Wait,
    /// The characters that wait.
    held: String,
}

/// What the next characters decide.
#[derive(Default)]
enum Wait {
    #[default]
    Nothing,
    /// A carriage return: dropped before a newline.
    Return,
    /// A non-joiner and the marks after it: shown between letters that join.
    NonJoiner,
    /// A joiner: shown between pictographs, and between a consonant and its virama.
    Joiner,
    /// A selector after a digit: shown before the mark that makes a keycap.
    Keycap,
    /// The tags of a flag: shown if they name a region.
    Flag,
}

impl Writer {
    pub(super) fn new(room: usize) -> Self {
        Self {
            room,
            ..Self::default()
        }
    }

    /// Adds a character, which may give those that wait a meaning.
    pub(super) fn push(&mut self, character: char) {
        match self.wait {
            Wait::Return if character == '\n' => self.held.clear(),
            Wait::NonJoiner => {
                let class = class::class(character);
                // Letters on both sides of any marks join.
                if class == Class::Mark && self.over + self.held.chars().count() < MAX_MARKS {
                    return self.held.push(character);
                }
                if class == Class::Base && class::joins_previous(character) {
                    self.put_held();
                    self.is_joined = true;
                }
            }
            Wait::Joiner
                if class::is_pictograph(character) && class::ends_pictograph(self.base)
                    || class::is_virama(character) && class::is_letter(self.base) =>
            {
                self.put_held();
                self.is_joined = true;
            }
            Wait::Keycap if character == '\u{20e3}' => self.put_held(),
            Wait::Flag => {
                self.held.push(character);
                if is_begun_flag(&self.held) {
                    if character == CANCEL {
                        self.put_held();
                    }
                    return;
                }
                self.held.pop();
            }
            _ => {}
        }
        self.end();
        self.decide(character);
    }

    /// Adds printable ASCII, newlines and tabs.
    pub(super) fn push_plain(&mut self, text: &str) {
        let mut characters = text.chars();
        // The first one decides what waits for it, the last one is a base for what follows.
        if let Some(first) = characters.next() {
            self.push(first);
        }
        let rest = characters.as_str();
        if rest.len() > self.room.saturating_sub(self.characters) {
            rest.chars().for_each(|character| self.push(character));
        } else if let Some(last) = rest.chars().next_back() {
            self.out.push_str(&rest[..rest.len() - 1]);
            self.characters += rest.len() - 1;
            self.put(last);
        }
    }

    /// Adds a part of a text.
    pub(super) fn push_part(&mut self, part: Part<'_>) {
        match part {
            Part::Plain(text) => self.push_plain(text),
            Part::Character(character) => self.push(character),
            Part::Code(code) => {
                self.end();
                self.escape_code(code);
            }
            Part::NoText(bytes) => self.push_bytes(bytes),
        }
    }

    /// Adds bytes that are not text.
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) {
        self.end();
        for byte in bytes {
            self.escape(&format!("\\x{byte:02x}"));
        }
    }

    /// Adds text that is already escaped.
    pub(super) fn push_escaped(&mut self, escaped: &str) {
        self.end();
        self.escape(escaped);
    }

    /// Escapes the first of the waiting characters, as nothing gave it a meaning, and judges the
    /// others again.
    pub(super) fn end(&mut self) {
        self.wait = Wait::Nothing;
        let held = std::mem::take(&mut self.held);
        let mut characters = held.chars();
        if let Some(first) = characters.next() {
            self.escape_code(first.into());
        }
        characters.for_each(|character| self.decide(character));
    }

    /// Returns the text shown since the last call.
    pub(super) fn take(&mut self) -> String {
        self.characters = 0;
        self.fitting = 0;
        std::mem::take(&mut self.out)
    }

    /// Shows, escapes or holds a character while none is waiting.
    fn decide(&mut self, character: char) {
        let is_full = self.over >= MAX_MARKS;
        match class::class(character) {
            Class::Base => self.put(character),
            Class::Hidden if character == '\r' => self.hold(character, Wait::Return),
            Class::Hidden => self.escape_code(character.into()),
            Class::Mark | Class::Contextual(_) if is_full => {
                self.escape_code(character.into());
                self.over = MAX_MARKS; // what follows is drawn over the same character
            }
            Class::Mark => self.put_over(character),
            Class::Contextual(contextual) => self.decide_contextual(character, contextual),
        }
    }

    fn decide_contextual(&mut self, character: char, contextual: Contextual) {
        let is_after_base = self.last == self.base && self.base != '\0';
        match contextual {
            Contextual::NonJoiner | Contextual::Joiner if class::is_virama(self.last) => {
                self.put_over(character);
                self.is_joined = true;
            }
            Contextual::NonJoiner if self.is_transparent && class::joins_next(self.base) => {
                self.hold(character, Wait::NonJoiner);
            }
            Contextual::Joiner
                if (is_after_base || self.last == '\u{fe0f}')
                    && class::ends_pictograph(self.base)
                    || is_after_base && class::is_letter(self.base) =>
            {
                self.hold(character, Wait::Joiner);
            }
            Contextual::Variation if is_after_base && class::varies(self.base, character) => {
                if self.base.is_ascii() {
                    self.hold(character, Wait::Keycap);
                } else {
                    self.put_over(character);
                }
            }
            Contextual::Tag
                if is_after_base && self.base == FLAG && is_begun_flag(&character.to_string()) =>
            {
                self.hold(character, Wait::Flag);
            }
            Contextual::BrailleBlank if matches!(self.base, '\u{2800}'..='\u{28ff}') => {
                self.put(character);
            }
            _ => self.escape_code(character.into()),
        }
    }

    fn hold(&mut self, character: char, wait: Wait) {
        self.wait = wait;
        self.held.push(character);
    }

    /// Shows the waiting characters.
    fn put_held(&mut self) {
        self.wait = Wait::Nothing;
        let held = std::mem::take(&mut self.held);
        held.chars().for_each(|character| self.put_over(character));
    }

    /// Shows a character with a place of its own.
    fn put(&mut self, character: char) {
        if !self.is_joined {
            self.mark_boundary();
        }
        self.is_joined = false;
        self.is_transparent = true;
        self.over = 0;
        self.base = character;
        self.add(character);
    }

    /// Shows a character that belongs to the one before.
    fn put_over(&mut self, character: char) {
        self.over += 1;
        self.is_transparent &= class::is_transparent(character);
        self.add(character);
    }

    fn add(&mut self, character: char) {
        self.last = character;
        self.out.push(character);
        self.characters += 1;
    }

    fn escape_code(&mut self, code: u32) {
        self.escape(&match code {
            0x0d => "\\r".to_owned(),
            0..=0x7f => format!("\\x{code:02x}"),
            _ => format!("\\u{{{code:x}}}"),
        });
    }

    fn escape(&mut self, escaped: &str) {
        self.mark_boundary();
        self.out.push_str(escaped);
        self.characters += escaped.len();
        self.base = '\0';
        self.last = '\0';
        self.over = 0;
        self.is_transparent = false;
        self.is_joined = false;
    }

    fn mark_boundary(&mut self) {
        if self.characters <= self.room {
            self.fitting = self.out.len();
        }
    }
}

/// Whether tags begin one of those that name a region.
fn is_begun_flag(tags: &str) -> bool {
    let letters: Option<String> = tags
        .chars()
        .map(|tag| match u32::from(tag).checked_sub(0xe0000) {
            Some(0x7f) => Some('.'),
            Some(code) => char::from_u32(code).filter(char::is_ascii_alphanumeric),
            None => None,
        })
        .collect();
    letters.is_some_and(|letters| REGIONS.iter().any(|region| region.starts_with(&letters)))
}
