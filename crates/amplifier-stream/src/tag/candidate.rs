//! What a `<` begins, as long as it may still become a tag.

use super::names::TagNames;
use super::search;

/// How long a tag with attributes may be, in bytes; a longer one is text.
const MAX_TAG_BYTES: usize = 1024;

/// The names whose tags count just now, as sets with a bit for each name of the parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) open: u64,
    pub(super) close: u64,
}

/// A tag and the place of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Open(usize),
    Close(usize),
}

/// What became of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All bytes were taken, and it may still become a tag.
    Open,
    /// It became a tag with the byte before this place.
    Tag(Tag, usize),
    /// It cannot become a tag any more.
    Text,
}

/// A `<` with some bytes after it.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    wanted: Wanted,
    is_close: bool,
    stage: Stage,
    /// Bytes after the `<`.
    length: usize,
}

#[derive(Debug, Clone, Copy)]
enum Stage {
    Begin,
    /// The names that it may still have, and how many of their bytes were there.
    Name(u64, usize),
    /// After the name; whether the last byte was a `/`.
    Attributes(usize, bool),
    /// In an attribute's value, up to this quote.
    Quoted(usize, u8),
}

impl Candidate {
    /// A `<`.
    pub(super) fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            is_close: false,
            stage: Stage::Begin,
            length: 0,
        }
    }

    /// Takes the bytes after those taken before.
    pub(super) fn take(&mut self, bytes: &[u8], names: &TagNames) -> Verdict {
        for (place, &byte) in bytes.iter().enumerate() {
            search::count(1);
            self.length += 1;
            match self.step(byte, names) {
                Some(Step::Goes(stage)) => self.stage = stage,
                Some(Step::Closes) => self.is_close = true,
                Some(Step::Ends(name)) => {
                    let tag = if self.is_close {
                        Tag::Close(name)
                    } else {
                        Tag::Open(name)
                    };
                    return Verdict::Tag(tag, place + 1);
                }
                None => return Verdict::Text,
            }
        }
        Verdict::Open
    }

    fn step(&self, byte: u8, names: &TagNames) -> Option<Step> {
        let is_blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let stage = match self.stage {
            Stage::Begin if byte == b'/' && !self.is_close && self.wanted.close != 0 => {
                return Some(Step::Closes);
            }
            Stage::Begin => {
                let set = if self.is_close {
                    self.wanted.close
                } else {
                    self.wanted.open
                };
                Stage::Name(some(names.having(set, 0, byte))?, 1)
            }
            Stage::Name(set, length) if byte == b'>' => {
                return names.ending(set, length).map(Step::Ends);
            }
            Stage::Name(set, length) if is_blank && names.allows_attributes => {
                Stage::Attributes(names.ending(set, length)?, false)
            }
            Stage::Name(set, length) => {
                Stage::Name(some(names.having(set, length, byte))?, length + 1)
            }
            Stage::Attributes(..) | Stage::Quoted(..) if self.length >= MAX_TAG_BYTES => {
                return None;
            }
            // `<name …/>` opens nothing, so it is text.
            Stage::Attributes(name, is_after_slash) if byte == b'>' => {
                return (!is_after_slash).then_some(Step::Ends(name));
            }
            Stage::Attributes(name, _) if is_blank => Stage::Attributes(name, false),
            Stage::Attributes(..) if self.is_close => return None,
            Stage::Attributes(name, _) => match byte {
                b'"' | b'\'' => Stage::Quoted(name, byte),
                b'<' => return None,
                _ => Stage::Attributes(name, byte == b'/'),
            },
            Stage::Quoted(name, quote) if byte == quote => Stage::Attributes(name, false),
            // XML has no `<` in attributes either, and so no byte begins two candidates.
            Stage::Quoted(..) if byte == b'<' => return None,
            Stage::Quoted(name, quote) => Stage::Quoted(name, quote),
        };
        Some(Step::Goes(stage))
    }
}

enum Step {
    Goes(Stage),
    Closes,
    Ends(usize),
}

fn some(set: u64) -> Option<u64> {
    (set != 0).then_some(set)
}
