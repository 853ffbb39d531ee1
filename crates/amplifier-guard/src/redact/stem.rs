//! Where a text may hold a name that says secret, a scheme or an address: one quick pass for stems.
//!
//! Each name that says secret holds one of the stems in one piece (`api_key`, `PassPhrase`), so that
//! text without any of them is passed over at the speed of its memory.

use std::sync::LazyLock;

use crate::text::stems::Stems;
use amplifier_core::steps;

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

/// In an order that has the searcher look for those together that look alike, every eighth one.
const STEMS: [(&str, Stem); 17] = [
    ("sig", Stem::Name),
    ("&code", Stem::Name),
    ("pass", Stem::Name),
    ("auth", Stem::Name),
    ("key", Stem::Name),
    ("eden", Stem::Name),
    ("jwt", Stem::Name),
    ("ecre", Stem::Name),
    ("pwd", Stem::Name),
    ("?code", Stem::Name),
    ("sess", Stem::Name),
    ("://", Stem::Address),
    ("bear", Stem::Scheme),
    ("cook", Stem::Name),
    ("basi", Stem::Scheme),
    ("oken", Stem::Name),
    ("sid", Stem::Name),
];

static SEARCHER: LazyLock<Stems> = LazyLock::new(|| Stems::new(STEMS.map(|(stem, _)| stem)));

/// Calls `take` with the place of each stem, in order.
pub(super) fn find(text: &[u8], mut take: impl FnMut(usize, Stem)) {
    steps::count(text.len());
    SEARCHER.find(text, |place, stem| take(place, STEMS[stem].1));
}
