//! The places where a value may follow the name of a secret, or a token a scheme.

use memchr::memchr;

use super::class::{is_letter, is_part};
use super::look::{stretch, trimmed};
use super::name;
use super::scheme;
use super::span::Span;
use super::stem::{self, Stem};

/// What may come before a value.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// A name that may mark a secret, from and to.
    Name(usize, usize),
    /// The `://` of an address.
    Address(usize),
    /// The name of a program with options.
    Program(usize),
}

/// Places to look at, each kind in order.
#[derive(Default)]
pub(super) struct Places {
    pub(super) values: Vec<Place>,
    /// Where the dashes or the count of lines before a private key begin.
    pub(super) blocks: Vec<usize>,
    /// Tokens after authorisation schemes.
    pub(super) tokens: Vec<Span>,
}

impl Places {
    pub(super) fn of(text: &[u8]) -> Self {
        let mut places = Self::default();
        let mut done = 0;
        stem::find(text, |place, stem| {
            match stem {
                Stem::Address => places.values.push(Place::Address(place)),
                Stem::Program => places.values.push(Place::Program(place)),
                Stem::Block => places.blocks.push(place),
                Stem::Scheme => places.tokens.extend(scheme::at(text, place)),
                Stem::Word if !is_word(text, place) => return,
                Stem::Name | Stem::Word => {}
            }
            let is_name = matches!(stem, Stem::Name | Stem::Word | Stem::Scheme);
            if is_name && place >= done {
                let within = place + usize::from(!is_part(text[place]));
                done = within + stretch(&text[within..], is_part);
                let start = trimmed(&text[..within], is_part).len();
                if name::may_end(&text[..done]) {
                    places.values.push(Place::Name(start, done));
                } else if text[..start].ends_with(b"[") {
                    // The first part of the name of a section: `[credentials.db]`.
                    let first = memchr(b'.', &text[within..done]).unwrap_or(done - within);
                    places.values.push(Place::Name(start, within + first));
                }
            }
        });
        places
    }
}

/// Whether the `pw` at `place` is a word, perhaps with a number behind it, or begins a `pwd`.
fn is_word(text: &[u8], place: usize) -> bool {
    let (before, rest) = text.split_at(place);
    let is_start = match before {
        [] | [.., b'\\', b'n' | b't' | b'r'] => true,
        [.., last] => !is_letter(*last) || last.is_ascii_lowercase() && rest[0] == b'P',
    };
    let next = rest[2..].iter().find(|byte| !byte.is_ascii_digit());
    let is_end = next.is_none_or(|next| !is_letter(*next));
    is_start && is_end || matches!(rest, [_, _, b'd' | b'D', ..])
}
