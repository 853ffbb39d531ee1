//! Secrets without a mark of their own, which the text around them gives away.

mod announced;
mod argument;
mod connection;
mod insert;
mod nested;
mod sentence;

use super::finds::Finds;
use super::name::Named;

pub(super) use argument::call;
pub(super) use connection::whole;
pub(super) use nested::is_secret;

/// Takes what a name says of the text around it, where no value is right behind it.
pub(super) fn find(text: &[u8], named: Named, finds: &mut Finds) {
    nested::find(text, named, finds);
    announced::find(text, named, finds);
    sentence::find(text, named, finds);
    argument::find(text, named, finds);
    insert::find(text, named, finds);
}
