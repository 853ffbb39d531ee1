//! Finds candidates for secret names, schemes and addresses in one fast pass over the text.
//!
//! Each name of a secret contains one of the stems unbroken (`api_key`, `PassPhrase`), so text
//! without any stem is skipped at memory speed.

use std::sync::LazyLock;

use crate::text::stems::Stems;
use amplifier_core::steps;

/// What was found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stem {
    /// Part of a name that may mark a secret.
    Name,
    /// Part of a name, or the beginning of a scheme of authorisation.
    Scheme,
    /// The beginning of an address: `://`.
    Address,
    /// The name of a program with options.
    Program,
    /// What a private key begins with.
    Block,
}

/// Ordered so that similar stems are eight places apart, because the searcher groups every eighth
/// one.
const STEMS: [(&str, Stem); 28] = [
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
    ("_pw", Stem::Name),
    ("pw=", Stem::Name),
    ("tpw", Stem::Name),
    ("curl ", Stem::Program),
    ("mysql", Stem::Program),
    ("edis-cli", Stem::Program),
    ("login -", Stem::Program),
    ("---begin", Stem::Block),
    ("te-lines", Stem::Block),
    ("dpw", Stem::Name),
    ("sshpass", Stem::Program),
];

static SEARCHER: LazyLock<Stems> = LazyLock::new(|| Stems::new(STEMS.map(|(stem, _)| stem)));

/// Calls `take` with the place of each stem, in order.
pub(super) fn find(text: &[u8], mut take: impl FnMut(usize, Stem)) {
    steps::count(text.len());
    SEARCHER.find(text, |place, stem| take(place, STEMS[stem].1));
}
