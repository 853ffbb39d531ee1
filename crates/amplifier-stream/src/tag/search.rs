//! Searches for bytes, counted as work.

pub(super) use crate::steps::count;

/// The place of the next such byte.
pub(super) fn find(wanted: u8, bytes: &[u8]) -> Option<usize> {
    let found = memchr::memchr(wanted, bytes);
    count(1 + found.unwrap_or(bytes.len()));
    found
}

/// The place of the next byte that is one of three.
pub(super) fn find3(wanted: [u8; 3], bytes: &[u8]) -> Option<usize> {
    let found = memchr::memchr3(wanted[0], wanted[1], wanted[2], bytes);
    count(1 + found.unwrap_or(bytes.len()));
    found
}
