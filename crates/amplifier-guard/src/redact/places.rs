//! The places where a value may follow the name of a secret, or a token a scheme.

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
                Stem::Name => {}
            }
            if matches!(stem, Stem::Name | Stem::Scheme) && place >= done {
                let within = place + usize::from(!name::is_part(text[place]));
                done = within + stretch(&text[within..], name::is_part);
                if name::may_end(&text[..done]) {
                    let start = trimmed(&text[..within], name::is_part).len();
                    places.values.push(Place::Name(start, done));
                }
            }
        });
        places
    }
}
