//! Places in JSON, as RFC 6901 writes them.

use std::borrow::Cow;
use std::fmt;

use amplifier_core::{Json, Object};
use percent_encoding::percent_decode_str;

/// The names on the way to a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pointer {
    text: String,
    /// Where each name begins, with its `/`.
    starts: Vec<usize>,
}

impl Pointer {
    pub(crate) fn push(&mut self, name: &str) {
        self.starts.push(self.text.len());
        self.text.push('/');
        self.text.push_str(&escaped(name));
    }

    pub(crate) fn pop(&mut self) {
        if let Some(start) = self.starts.pop() {
            self.text.truncate(start);
        }
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// The value at a pointer from a URI, such as `/$defs/a%20b`.
pub(crate) fn find<'json>(root: &'json Json, pointer: &str) -> Option<&'json Json> {
    let mut names = pointer.split('/').skip(1);
    names.try_fold(root, |value, name| child(value, &decoded(name)?))
}

/// The value at a pointer into an object; none at the object itself.
pub(crate) fn inside<'json>(entries: &'json Object, pointer: &str) -> Option<&'json Json> {
    let mut names = pointer.split('/').skip(1);
    let first = entries.get(&unescaped(names.next()?))?;
    names.try_fold(first, child)
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
