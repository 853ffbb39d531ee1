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
    /// The same if no other word goes on behind it.
    Word,
    /// Part of a name, or the beginning of a scheme of authorisation.
    Scheme,
    /// The beginning of an address: `://`.
    Address,
    /// The name of a program with options.
    Program,
    /// What a private key begins with.
    Block,
}

/// What each row of the table stands for, and its stem.
///
/// They are ordered so that similar stems are eight places apart, because the searcher groups every
/// eighth one: the order with the fewest false candidates in prose, code and logs, two letters last.
static STEMS: LazyLock<Vec<(Stem, &str)>> = LazyLock::new(|| {
    let rows = include_str!("stems.tsv")
        .lines()
        .map(|row| match row.split_once('\t') {
            Some(("word", stem)) => (Stem::Word, stem),
            Some(("scheme", stem)) => (Stem::Scheme, stem),
            Some(("address", stem)) => (Stem::Address, stem),
            Some(("program", stem)) => (Stem::Program, stem),
            Some(("block", stem)) => (Stem::Block, stem),
            name => (Stem::Name, name.unwrap_or_default().1),
        });
    rows.collect()
});

static SEARCHER: LazyLock<Stems> =
    LazyLock::new(|| Stems::new(STEMS.iter().map(|(_, stem)| *stem)));

/// Calls `take` with the place of each stem, in order.
pub(super) fn find(text: &[u8], mut take: impl FnMut(usize, Stem)) {
    steps::count(text.len());
    SEARCHER.find(text, |place, stem| take(place, STEMS[stem].0));
}
