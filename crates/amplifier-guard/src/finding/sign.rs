//! Words that may begin suspicious text, and the expressions that confirm it.

use std::sync::LazyLock;

use regex::Regex;

use super::kind::{FindingKind, Stretch};
use crate::shown;
use crate::text::stems::Stems;

/// How many bytes around a word its expression may match.
const BEFORE_BYTES: usize = 120;
const AFTER_BYTES: usize = 60;

/// Something suspicious.
struct Sign {
    kind: FindingKind,
    /// The regular expression; empty if the redactor detects it.
    expression: Regex,
}

/// A word of a sign.
#[derive(Clone)]
struct Word {
    sign: usize,
    text: String,
    is_any_case: bool,
    /// Where in it its stem begins.
    offset: usize,
}

#[derive(Default)]
struct Signs {
    signs: Vec<Sign>,
    /// Stems, and the words that each is part of.
    passes: Vec<(Stems, Vec<Vec<Word>>)>,
}

/// The table of signs; its head says how it is written.
static SIGNS: LazyLock<Signs> = LazyLock::new(|| {
    let mut all = Signs::default();
    let mut words = Vec::new();
    for line in include_str!("signs.txt").lines() {
        let (row, rest) = line.split_once(' ').unwrap_or((line, ""));
        let listed = rest.split(' ').map(|word| word.replace('␣', " "));
        match row {
            "sign" => all.signs.push(Sign::read(rest)),
            "words" => words.extend(listed.map(|text| Word {
                sign: all.signs.len() - 1,
                is_any_case: !text.bytes().any(|byte| byte.is_ascii_uppercase()),
                text,
                offset: 0,
            })),
            "stems" => {
                let stems: Vec<String> = listed.collect();
                let known = stems.iter().map(|stem| words_with(stem, &words)).collect();
                let searcher = Stems::new(stems.iter().map(String::as_str));
                all.passes.push((searcher, known));
            }
            _ => assert!(matches!(row, "" | "#"), "the table has the row `{line}`"),
        }
    }
    all
});

impl Sign {
    fn read(row: &str) -> Self {
        let (kind, expression) = row.split_once(' ').unwrap_or((row, ""));
        Self {
            kind: FindingKind::from_word(kind).expect("a kind"),
            expression: Regex::new(expression).expect("an expression"),
        }
    }
}

fn words_with(stem: &str, words: &[Word]) -> Vec<Word> {
    let found = words.iter().filter_map(|word| {
        let offset = word.text.to_ascii_lowercase().find(stem)?;
        Some(Word {
            offset,
            ..word.clone()
        })
    });
    found.collect()
}

impl Word {
    /// Where the word begins, if it is what a stem at `place` is part of.
    fn around(&self, text: &[u8], place: usize) -> Option<usize> {
        let start = place.checked_sub(self.offset)?;
        let found = text.get(start..start + self.text.len())?;
        let is_it = if self.is_any_case {
            found.eq_ignore_ascii_case(self.text.as_bytes())
        } else {
            found == self.text.as_bytes()
        };
        is_it.then_some(start)
    }
}

/// Adds the suspicious parts of a text that are found by words.
pub(super) fn find(text: &str, parts: &mut Vec<Stretch>) {
    let Signs { signs, passes } = &*SIGNS;
    let mut found: Vec<(usize, &Word)> = Vec::new();
    for (stems, words) in passes {
        stems.find(text.as_bytes(), |place, stem| {
            let around = words[stem].iter().filter_map(|word| {
                let start = word.around(text.as_bytes(), place)?;
                Some((start, word))
            });
            found.extend(around);
        });
    }
    found.sort_by_key(|(start, _)| *start);
    let mut ends = vec![0; signs.len()];
    let mut has_credential_word = false;
    for (start, word) in found {
        let Sign { kind, expression } = &signs[word.sign];
        if *kind == FindingKind::Credential {
            has_credential_word = true;
            continue;
        }
        let end = &mut ends[word.sign];
        if let Some((from, to)) = part_around(text, start, &word.text, expression, *end) {
            *end = to;
            parts.push(Stretch {
                start: from,
                end: to,
                kind: *kind,
            });
        }
    }
    if has_credential_word {
        let secrets = shown::secrets(text).into_iter();
        parts.extend(secrets.map(|(start, end)| Stretch {
            start,
            end,
            kind: FindingKind::Credential,
        }));
    }
}

/// The match of an expression around a word, after its previous match.
fn part_around(
    text: &str,
    start: usize,
    word: &str,
    expression: &Regex,
    done: usize,
) -> Option<(usize, usize)> {
    let from = boundary(text, start.saturating_sub(BEFORE_BYTES).max(done));
    let to = boundary(text, (start + word.len() + AFTER_BYTES).min(text.len()));
    let window = text.get(from..to)?;
    let mut matches = expression.find_iter(window);
    let part = matches.find(|part| from + part.end() > start)?;
    Some((from + part.start(), from + part.end()))
}

/// The next place from here on that is not inside a character.
fn boundary(text: &str, mut place: usize) -> usize {
    while !text.is_char_boundary(place) {
        place += 1;
    }
    place
}
