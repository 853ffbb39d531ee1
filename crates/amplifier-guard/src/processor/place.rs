//! Places in a message, written out only where somebody reads them.

use std::fmt;

use crate::text::pointer::escaped;

/// The way to a part of a message, from the part up; shown as a JSON pointer.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// The message itself.
    Message,
    /// The value of a key.
    Name(&'a Place<'a>, &'a str),
    /// One of a list.
    Index(&'a Place<'a>, usize),
}

impl<'a> Place<'a> {
    pub(super) fn name(&'a self, name: &'a str) -> Self {
        Self::Name(self, name)
    }

    pub(super) fn index(&'a self, index: usize) -> Self {
        Self::Index(self, index)
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message => Ok(()),
            Self::Name(above, name) => write!(formatter, "{above}/{}", escaped(name)),
            Self::Index(above, index) => write!(formatter, "{above}/{index}"),
        }
    }
}
