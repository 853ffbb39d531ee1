//! The words that names, values and code are recognised by: lists in a table, each with its name.

use std::sync::LazyLock;

/// The lists, in the order of the table.
#[derive(Clone, Copy)]
pub(super) enum List {
    /// What is secret if it looks drawn at random.
    Weak = 6,
    /// Words after a name that leave its meaning: `SECRET_KEY_BASE`.
    Suffix,
    /// Ends of names with a meaning of their own.
    End,
    /// Words before `key` that make it the key of a vendor.
    Owner,
    /// Words before `token` and before `pass` that give them another meaning.
    Mark,
    Round,
    /// Words that mean that there is no value, or name its type.
    Benign,
    /// How values that are code begin.
    Code,
    /// Calls around a quoted value.
    Wrap,
    /// What stands before a name and a blank where a value follows.
    Set,
    /// Keys of pairs whose values are a name, and a secret.
    Label,
    Content,
    /// Calls of a name and its value.
    Call,
    Entity,
    /// Schemes of authorisation with one token, and with pairs.
    Scheme,
    Digest,
    /// How placeholders begin, and how those begin and end that `…` stands inside of.
    Placeholder,
    Around,
    /// Kinds of secrets that no name and no vendor gives, with `_` for blanks.
    Kind,
    /// Options of programs, and how each takes a password: behind the colon of a name, right behind
    /// the letter of the option, or as the next word.
    Option,
    /// Keys beside a secret that say whose it is, or what, or where.
    Beside,
    /// Words between the name of a secret and the secret itself.
    Copula,
    /// Keys of the secret itself in a mapping that is named as secret.
    Inner,
    /// How the names of calls begin that take a secret.
    Setter,
}

/// The lists with their names; the first ones are the kinds of secrets that their names mark.
static LISTS: LazyLock<Vec<(&str, Vec<&str>)>> = LazyLock::new(|| {
    let lines = include_str!("words.tsv").lines();
    let lists = lines.filter_map(|line| line.split_once('\t'));
    lists
        .map(|(name, words)| (name, words.split(' ').collect()))
        .collect()
});

/// The lists of names that mark a secret, each named by its kind.
fn names() -> &'static [(&'static str, Vec<&'static str>)] {
    &LISTS[..List::Weak as usize]
}

/// The kinds of secrets that names mark.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    names().iter().map(|(kind, _)| *kind)
}

/// The last three letters of all names but weak ones, and of weak ones, one bit each.
static ENDS: LazyLock<[[u64; 512]; 2]> = LazyLock::new(|| {
    let mut ends = [[0; 512]; 2];
    let mut add = |set: usize, name: &str| {
        let end = end_of(name.as_bytes());
        ends[set][end / 64] |= 1 << (end % 64);
    };
    for word in names().iter().flat_map(|(_, words)| words) {
        add(0, word);
        add(0, &[word, "s"].concat());
    }
    for word in [words(List::Suffix), words(List::End)].concat() {
        add(0, word);
    }
    for word in words(List::Weak) {
        add(1, word);
    }
    ends
});

/// The words of a list.
pub(super) fn words(list: List) -> &'static [&'static str] {
    &LISTS[list as usize].1
}

/// Whether a word is in a list, in any case.
pub(super) fn is_word(list: List, word: &[u8]) -> bool {
    words(list)
        .iter()
        .any(|one| word.eq_ignore_ascii_case(one.as_bytes()))
}

/// Whether a text ends in a word of a list.
pub(super) fn ends(list: List, text: &[u8]) -> bool {
    words(list).iter().any(|end| text.ends_with(end.as_bytes()))
}

/// The names that mark a secret with their kinds, by their last letter.
static SECRETS: LazyLock<[Vec<(&str, &str)>; 32]> = LazyLock::new(|| {
    let mut secrets = [const { Vec::new() }; 32];
    for (kind, words) in names() {
        for word in words {
            secrets[usize::from(word.as_bytes()[word.len() - 1] & 31)].push((*word, *kind));
        }
    }
    secrets
});

/// The name of a secret that a text in small letters ends in, and its kind.
pub(super) fn secret(text: &[u8]) -> Option<(&'static str, &'static str)> {
    let words = &SECRETS[usize::from(text.last()? & 31)];
    let found = words
        .iter()
        .find(|(word, _)| text.ends_with(word.as_bytes()));
    found.copied()
}

/// Whether a name may end in these letters: a weak one, or any other.
pub(super) fn may_end(letters: &[u8], is_weak: bool) -> bool {
    let (ends, end) = (&ENDS[usize::from(is_weak)], end_of(letters));
    ends[end / 64] >> (end % 64) & 1 == 1
}

/// A number below 32,768 for the last three letters in any case.
fn end_of(letters: &[u8]) -> usize {
    let last = letters.iter().rev().take(3);
    last.fold(0, |end, byte| end << 5 | usize::from(byte & 31))
}
