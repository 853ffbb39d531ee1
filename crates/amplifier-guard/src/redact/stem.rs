//! Where a text may hold a name that says secret, a scheme or an address: one quick pass for stems.
//!
//! Each name that says secret holds one of the stems in one piece (`api_key`, `PassPhrase`), so that
//! text without any of them is passed over at the speed of its memory.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Match, MatchKind, packed};

use crate::steps;

/// What was found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stem {
    /// Part of a name that may say secret.
    Name,
    /// Part of a name, or the beginning of a scheme of authorisation.
    Scheme,
    /// The beginning of an address: `://`.
    Address,
}

const STEMS: [(&str, Stem); 17] = [
    ("pass", Stem::Name),
    ("pwd", Stem::Name),
    ("ecre", Stem::Name),
    ("oken", Stem::Name),
    ("key", Stem::Name),
    ("eden", Stem::Name),
    ("sig", Stem::Name),
    ("auth", Stem::Name),
    ("cook", Stem::Name),
    ("jwt", Stem::Name),
    ("sess", Stem::Name),
    ("sid", Stem::Name),
    ("?code", Stem::Name),
    ("&code", Stem::Name),
    ("bear", Stem::Scheme),
    ("basi", Stem::Scheme),
    ("://", Stem::Address),
];

/// The bytes of the longest stem.
const LONGEST: usize = 5;
/// How much is folded at a time: it stays in a core's first cache.
const CHUNK: usize = 4096;

/// The searcher for folded stems; the first one needs a processor that it knows.
enum Searcher {
    Packed(packed::Searcher),
    Other(AhoCorasick),
}

static SEARCHER: LazyLock<Searcher> = LazyLock::new(|| {
    let folded = STEMS.map(|(stem, _)| stem.bytes().map(fold).collect::<Vec<u8>>());
    match packed::Searcher::new(&folded) {
        Some(searcher) => Searcher::Packed(searcher),
        None => Searcher::Other(
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostFirst)
                .build(&folded)
                .expect("a few short stems"),
        ),
    }
});

/// Calls `take` with the place of each stem, in order, those that overlap an earlier one left out.
pub(super) fn find(text: &[u8], mut take: impl FnMut(usize, Stem)) {
    steps::count(text.len());
    let mut buffer = [0; CHUNK + LONGEST - 1];
    for start in (0..text.len()).step_by(CHUNK) {
        let chunk = &text[start..text.len().min(start + buffer.len())];
        let folded = &mut buffer[..chunk.len()];
        for (folded, byte) in folded.iter_mut().zip(chunk) {
            *folded = fold(*byte);
        }
        let mut found = |found: Match| {
            if found.start() < CHUNK {
                take(start + found.start(), STEMS[found.pattern().as_usize()].1);
            }
        };
        match &*SEARCHER {
            Searcher::Packed(searcher) => searcher.find_iter(folded).for_each(&mut found),
            Searcher::Other(searcher) => searcher.find_iter(&*folded).for_each(&mut found),
        }
    }
}

/// Capital letters as small ones; other bytes as others, each always as the same.
fn fold(byte: u8) -> u8 {
    byte | 0x20
}
