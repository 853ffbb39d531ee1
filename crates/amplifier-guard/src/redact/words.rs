//! The words that names, values and code are recognised by: lists in a table, each with its name.

use std::collections::HashMap;
use std::sync::LazyLock;

type Lists = HashMap<&'static str, Vec<&'static str>>;

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let lines = include_str!("words.tsv").lines();
    let lists = lines.filter_map(|line| line.split_once('\t'));
    lists
        .map(|(name, words)| (name, words.split(' ').collect()))
        .collect()
});

/// The lists of names that mark a secret, each named for the kind of the value.
const KINDS: [&str; 6] = [
    "password",
    "secret",
    "token",
    "key",
    "credentials",
    "signature",
];

/// The last three letters of all names, one bit each.
static ENDS: LazyLock<[u64; 512]> = LazyLock::new(|| {
    let mut ends = [0; 512];
    let lists = KINDS.into_iter().chain(["weak", "suffix", "end"]);
    for word in lists.flat_map(words) {
        for name in [(*word).to_string(), [word, "s"].concat()] {
            let end = end_of(name.as_bytes());
            ends[end / 64] |= 1 << (end % 64);
        }
    }
    ends
});

/// The words of a list.
pub(super) fn words(list: &str) -> &'static [&'static str] {
    LISTS.get(list).map_or(&[], Vec::as_slice)
}

/// Whether a word is in a list, in any case.
pub(super) fn is_word(list: &str, word: &[u8]) -> bool {
    words(list)
        .iter()
        .any(|one| word.eq_ignore_ascii_case(one.as_bytes()))
}

/// Whether a text ends in a word of a list.
pub(super) fn ends(list: &str, text: &[u8]) -> bool {
    words(list).iter().any(|end| text.ends_with(end.as_bytes()))
}

/// The name of a secret that a text ends in, and its kind.
pub(super) fn secret(text: &[u8]) -> Option<(&'static str, &'static str)> {
    KINDS.into_iter().find_map(|kind| {
        let word = words(kind)
            .iter()
            .find(|end| text.ends_with(end.as_bytes()))?;
        Some((*word, kind))
    })
}

/// Whether a name may end in these letters.
pub(super) fn may_end(letters: &[u8]) -> bool {
    let end = end_of(letters);
    ENDS[end / 64] >> (end % 64) & 1 == 1
}

/// A number below 32,768 for the last three letters in any case.
fn end_of(letters: &[u8]) -> usize {
    let last = letters.iter().rev().take(3);
    last.fold(0, |end, byte| end << 5 | usize::from(byte & 31))
}
