//! Tokens after the authorisation schemes `Bearer` and `Basic`.

use amplifier_core::base64::sextet;

use super::random::{LOOK_BYTES, is_random, stretch};
use super::runs;
use super::span::Span;

/// The fewest characters of a token.
const MIN_TOKEN_BYTES: usize = 11;

/// The token after the scheme whose name may begin at `place`.
pub(super) fn at(text: &[u8], place: usize) -> Option<Span> {
    let rest = &text[place..];
    let name = ["bearer", "basic"].into_iter().find(|name| {
        rest.get(..name.len())
            .is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()))
    })?;
    let after = &rest[name.len()..];
    let blanks = stretch(&after[..after.len().min(12)], |byte| {
        byte.is_ascii_whitespace()
    });
    let start = place + name.len() + blanks;
    let end = start + runs::stretch(&text[start..]);
    if end - start < MIN_TOKEN_BYTES {
        return None;
    }
    Some(Span {
        start,
        end,
        kind: before(text, start, end)?,
    })
}

/// The kind of secret that a run is, according to the scheme before it.
pub(super) fn before(text: &[u8], start: usize, end: usize) -> Option<&'static str> {
    let before = &text[start.saturating_sub(12)..start];
    let word = before.trim_ascii_end();
    if word.len() == before.len() || before[word.len()..].contains(&b'\n') {
        return None;
    }
    let named = |scheme: &str| {
        word.len() >= scheme.len()
            && word[word.len() - scheme.len()..].eq_ignore_ascii_case(scheme.as_bytes())
    };
    let run = &text[start..end];
    if named("bearer") && run.len() >= 16 && is_random(&run[..run.len().min(LOOK_BYTES)]) {
        return Some("bearer token");
    }
    (named("basic") && is_credentials(run)).then_some("basic credentials")
}

/// Whether a run is the base64 form of `user:password`.
fn is_credentials(run: &[u8]) -> bool {
    let body = &run[..stretch(run, |byte| byte != b'=')];
    // Depending on its position in three bytes, the colon ends in the second, third or fourth
    // sextet.
    let mut bits = 0_u32;
    body.iter()
        .take(LOOK_BYTES)
        .enumerate()
        .any(|(place, byte)| {
            // An invalid character counts as the last sextet, which shares no bits with a colon.
            bits = bits << 6 | u32::from(sextet(*byte).unwrap_or(63));
            match place % 4 {
                1 => bits >> 4 & 0xff == u32::from(b':'),
                2 => bits >> 2 & 0xff == u32::from(b':'),
                3 => bits & 0xff == u32::from(b':'),
                _ => false,
            }
        })
}
