//! Places in JSON, as RFC 6901 writes them.

use std::borrow::Cow;
use std::fmt;

use amplifier_core::Json;
use percent_encoding::percent_decode_str;

/// The way to a value, from the value up; written out only where somebody reads it.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    /// The whole.
    Whole,
    /// The value of a key.
    Name(&'a Place<'a>, &'a str),
    /// One of a list.
    Index(&'a Place<'a>, usize),
}

impl<'a> Place<'a> {
    pub(crate) fn name(&'a self, name: &'a str) -> Self {
        Self::Name(self, name)
    }

    pub(crate) fn index(&'a self, index: usize) -> Self {
        Self::Index(self, index)
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Name(above, name) => write!(formatter, "{above}/{}", escaped(name)),
            Self::Index(above, index) => write!(formatter, "{above}/{index}"),
        }
    }
}

/// The value at a pointer from a URI, such as `/$defs/a%20b`.
pub(crate) fn find<'json>(root: &'json Json, pointer: &str) -> Option<&'json Json> {
    let mut names = pointer.split('/').skip(1);
    names.try_fold(root, |value, name| child(value, &decoded(name)?))
}

/// The value at a pointer.
pub(crate) fn inside<'json>(root: &'json Json, pointer: &str) -> Option<&'json Json> {
    pointer.split('/').skip(1).try_fold(root, child)
}

fn child<'json>(value: &'json Json, name: &str) -> Option<&'json Json> {
    match value {
        Json::Object(entries) => entries.get(&unescaped(name)),
        Json::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    }
}

/// A name as it is written in a pointer.
pub(crate) fn escaped(name: &str) -> Cow<'_, str> {
    if name.contains(['~', '/']) {
        Cow::Owned(name.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(name)
    }
}

fn unescaped(name: &str) -> String {
    name.replace("~1", "/").replace("~0", "~")
}

/// A part of a URI, percent-decoded; `None` if that is not UTF-8.
fn decoded(text: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(text).decode_utf8().ok()
}
