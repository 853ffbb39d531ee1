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
/// one: the order with the fewest false candidates in prose, code and logs.
const STEMS: [(&str, Stem); 25] = [
    ("pwd", Stem::Name),
    ("cook", Stem::Name),
    ("login -", Stem::Program),
    ("curl ", Stem::Program),
    ("te-lines", Stem::Block),
    ("basi", Stem::Scheme),
    ("sess", Stem::Name),
    ("oken", Stem::Name),
    ("sshp", Stem::Program),
    ("?code", Stem::Name),
    ("--begin", Stem::Block),
    ("ecre", Stem::Name),
    ("auth", Stem::Name),
    ("://", Stem::Address),
    ("pass", Stem::Name),
    ("&code", Stem::Name),
    ("sid", Stem::Name),
    ("bear", Stem::Scheme),
    ("edis-cli", Stem::Program),
    ("key", Stem::Name),
    ("jwt", Stem::Name),
    ("mysql", Stem::Program),
    ("_pw", Stem::Name),
    ("eden", Stem::Name),
    ("sig", Stem::Name),
];

static SEARCHER: LazyLock<Stems> = LazyLock::new(|| Stems::new(STEMS.map(|(stem, _)| stem)));

/// Calls `take` with the place of each stem, in order.
pub(super) fn find(text: &[u8], mut take: impl FnMut(usize, Stem)) {
    steps::count(text.len());
    SEARCHER.find(text, |place, stem| take(place, STEMS[stem].1));
}
