//! Tokens after the authorisation schemes `Bearer` and `Basic`.

use amplifier_core::base64::sextet;

use super::look::{LOOK_BYTES, ahead, stretch};
use super::random::is_random;
use super::runs;
use super::span::Span;

/// The fewest characters of credentials: eight bytes in base64.
const MIN_CREDENTIALS_BYTES: usize = 11;

/// The token after the scheme whose name may begin at `place`.
pub(super) fn at(text: &[u8], place: usize) -> Option<Span> {
    let kinds = [(6, "bearer token"), (5, "basic credentials")];
    let (length, kind) = kinds.into_iter().find(|(length, kind)| {
        let word = text.get(place..place + length);
        word.is_some_and(|word| word.eq_ignore_ascii_case(&kind.as_bytes()[..*length]))
    })?;
    // Name and blanks together have at most twelve bytes.
    let after = ahead(text, place + length, 12 - length);
    let comma = usize::from(length == 6 && after.starts_with(b", "));
    let blanks = comma
        + stretch(&after[comma..], |byte| {
            byte.is_ascii_whitespace() && byte != b'\n'
        });
    let start = place + length + blanks;
    let run = &text[start..start + runs::stretch(&text[start..])];
    let is_token = match length {
        6 => run.len() >= 16 && is_random(run),
        _ => run.len() >= MIN_CREDENTIALS_BYTES && is_credentials(run),
    };
    (blanks > 0 && is_token).then(|| Span::new(start, start + run.len(), kind))
}

/// Whether a run is the base64 form of `user:password`.
fn is_credentials(run: &[u8]) -> bool {
    let body = &run[..stretch(run, |byte| byte != b'=')];
    // Depending on its position in three bytes, the colon ends in the second, third or fourth
    // sextet.
    let mut bits = 0_u32;
    body.iter().zip(0..LOOK_BYTES).any(|(byte, place)| {
        // An invalid character counts as the last sextet, which shares no bits with a colon.
        bits = bits << 6 | u32::from(sextet(*byte).unwrap_or(63));
        let rest = [None, Some(4), Some(2), Some(0)][place % 4];
        rest.is_some_and(|rest| bits >> rest & 0xff == u32::from(b':'))
    })
}
