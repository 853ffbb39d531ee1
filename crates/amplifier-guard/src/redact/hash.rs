//! Hashes of passwords: `$6$salt$hash`, `$2b$12$hash`.

use super::look::{behind, tail};
use super::random::is_random;
use super::span::Span;

/// The fewest characters of a hash.
const MIN_HASH_BYTES: usize = 22;
/// The longest beginning of one: its kind, its costs, its salt.
const MAX_HEAD_BYTES: usize = 96;

/// The hash of a password that a run ends in.
pub(super) fn at(text: &[u8], start: usize, end: usize) -> Option<Span> {
    if text[..start].last() != Some(&b'$') || end - start < MIN_HASH_BYTES {
        return None;
    }
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"$./,=-".contains(&byte);
    let head = tail(behind(text, start, MAX_HEAD_BYTES), is_part);
    let mut parts = head.strip_prefix(b"$")?.split(|byte| *byte == b'$');
    let kind = parts.next()?;
    let is_kind = matches!(
        kind,
        b"1" | b"2" | b"2a" | b"2b" | b"2y" | b"5" | b"6" | b"7" | b"y"
    ) || kind.starts_with(b"argon2")
        || kind == b"apr1"
        || kind.starts_with(b"pbkdf2");
    (is_kind && is_random(&text[start..end])).then(|| Span::new(start, end, "password"))
}
