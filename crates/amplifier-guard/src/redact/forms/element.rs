//! The text of an element: `<password>value</password>`.

use memchr::memrchr;

use crate::redact::finds::{Finds, Found};
use crate::redact::look::{ahead, behind, stretch};
use crate::redact::name::{Name, Named};
use crate::redact::value::Value;

/// The most bytes of an element's text.
pub(super) const MAX_ELEMENT_BYTES: usize = 1024;

/// Takes the text before a closing tag; behind an opening one it is still to come.
pub(super) fn find_element(text: &[u8], named: Named, finds: &mut Finds) {
    let (before, after) = (&text[..named.start], &text[named.end..]);
    if !after.starts_with(b">") {
        return;
    }
    if before.ends_with(b"</") {
        finds.take(content(text, named));
    } else if before.ends_with(b"<") {
        let content = ahead(text, named.end + 1, MAX_ELEMENT_BYTES);
        // What may occur between `<password>` and `</password>`, which are on one line.
        if stretch(content, |byte| !matches!(byte, b'>' | b'\n')) == after.len() - 1 {
            finds.wait(named.end + 1);
        }
    }
}

/// What is in the element whose closing tag has this name.
fn content(text: &[u8], named: Named) -> Option<Found> {
    let (Name::Strong(kind) | Name::Weak(kind)) = named.name else {
        return None;
    };
    let close = named.start - 2;
    let before = behind(text, close, MAX_ELEMENT_BYTES);
    let start = close - before.len() + memrchr(b'>', before)? + 1;
    Some(Found::of(text, Value::quoted(start, close), kind))
}
