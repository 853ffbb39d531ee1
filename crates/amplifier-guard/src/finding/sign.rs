//! Words that may begin suspicious text, and the expressions that confirm it.

use std::sync::LazyLock;

use regex::Regex;

use super::kind::{FindingKind, Stretch};
use crate::shown;
use crate::text::stems::Stems;

/// How many bytes around a word its expression may match.
pub(super) const BEFORE_BYTES: usize = 120;
pub(super) const AFTER_BYTES: usize = 60;

/// Something suspicious.
pub(super) struct Sign {
    pub(super) kind: FindingKind,
    /// The regular expression; empty if the redactor detects it.
    pub(super) expression: &'static str,
    /// Words that are in it; those in small letters are found in any case, others as they are written.
    pub(super) words: &'static [&'static str],
}

/// All signs.
///
/// A search finds the stems of the words; expressions are tried only around them. So the time is
/// linear, and a text without stems costs little more than reading it.
pub(super) const SIGNS: &[Sign] = &[
    Sign {
        kind: FindingKind::PromptInjection,
        expression: r"(?i)\b(?:ignore|disregard|forget|override|bypass|neglect)\b[^.!?\n]{0,60}\b(?:instructions?|prompts?|guidelines|directives)\b",
        words: &["nstruction", "rompt", "uideline", "irective"],
    },
    Sign {
        kind: FindingKind::PromptInjection,
        expression: r"(?i)\b(?:reveal|print|show|repeat|output|leak|tell me)\b[^.!?\n]{0,40}\b(?:system|initial|hidden) (?:prompt|instructions|message)\b",
        words: &["rompt", "nstruction"],
    },
    Sign {
        kind: FindingKind::PromptInjection,
        expression: r"(?i)\byou are (?:now|no longer) \w",
        words: &["ou are no"],
    },
    Sign {
        kind: FindingKind::PromptInjection,
        expression: r"<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[/?INST\]|<</?SYS>>",
        words: &[
            "<|im_", "<|sys", "<|use", "<|ass", "<|end", "[INST]", "[/INST]", "<<SYS", "<</SYS",
        ],
    },
    Sign {
        kind: FindingKind::Script,
        expression: r"(?i)</?(?:script|iframe|object|embed)\b[^>]{0,50}>?|\bjavascript:|\bon(?:error|load|click)\s{0,3}=",
        words: &[
            "<script",
            "<iframe",
            "<object",
            "<embed",
            "vascript:",
            "onerror",
            "onload",
            "onclick",
        ],
    },
    Sign {
        kind: FindingKind::PathTraversal,
        expression: r"(?i)(?:\.\.[/\\]){2,}|\.\.[/\\](?:etc|proc|root|home|var|windows)\b|(?:%2e%2e|\.\.)(?:%2f|%5c|%c0%af)|%2e%2e[/\\]",
        words: &["../", "..\\", "..%", "%2e%2e"],
    },
    Sign {
        kind: FindingKind::ShellCommand,
        expression: r"\|\s{0,3}(?:sudo\s{1,3})?(?:/\S{1,20}/)?(?:ba|z|da|k|fi)?sh\b",
        words: &[
            "|sh", "| sh", "|bash", "| bash", "| zsh", "|zsh", "| sudo", "|sudo", "| /bin",
            "| dash", "| ksh", "| fish",
        ],
    },
    Sign {
        kind: FindingKind::ShellCommand,
        expression: r"\brm\s{1,3}-[a-zA-Z-]{1,20}(?:\s{1,3}-[a-zA-Z-]{1,20})*\s{1,3}(?:/|~|\*|\$HOME)",
        words: &["rm -"],
    },
    Sign {
        kind: FindingKind::Credential,
        expression: "",
        words: &[
            "sk-",
            "ghp_",
            "gho_",
            "ghu_",
            "ghs_",
            "ghr_",
            "github_pat_",
            "glpat-",
            "xox",
            "AKIA",
            "ASIA",
            "AIza",
            "hf_",
            "eyJ",
            "-----BEGIN",
            "assword",
            "asswd",
            "api_key",
            "pi-key",
            "_secret",
            "_token",
            "earer ",
        ],
    },
];

/// Of each word the part that other text holds rarely, in small letters, as they are looked for
/// together.
///
/// A pass is as selective as its shortest stem. The searcher groups every eighth stem, so similar
/// stems are eight places apart.
pub(super) const STEMS: [&[&str]; 2] = [
    &[
        "| fish", "| sh", "../", "<|end", "|sh", "<|sys", "<object", "sk-", "<iframe", "|zsh",
        "hf_", "<|use", "xox", "</sys", "<script", "<embed", "| dash", "| sudo", "..%", "eyj",
        "| zsh", "<<sys", "<|im_", "|bash", "| ksh", "| /bin", "..\\", "<|ass", "| bash", "|sudo",
    ],
    &[
        "akia", "onerror", "_token", "rompt", "-begin", "pi-key", "aiza", "ghp_", "hub_pat_",
        "onload", "_secret", "ghs_", "irectiv", "u are no", "rm -", "inst]", "onclick", "earer ",
        "pi_key", "assw", "ghu_", "uideli", "glpat-", "nstruc", "asia", "%2e%2e", "vascript",
        "gho_", "ghr_",
    ],
];

/// A word of a sign.
struct Word {
    sign: usize,
    text: &'static str,
    is_any_case: bool,
    /// Where in it its stem begins.
    offset: usize,
}

struct Signs {
    /// Stems, and the words that each is part of.
    passes: Vec<(Stems, Vec<Vec<Word>>)>,
    expressions: Vec<Regex>,
}

static ALL_SIGNS: LazyLock<Signs> = LazyLock::new(Signs::new);

impl Signs {
    fn new() -> Self {
        let expressions = SIGNS
            .iter()
            .map(|sign| Regex::new(sign.expression).expect("an expression that is written here"));
        let passes = STEMS.iter().map(|stems| {
            let words = stems.iter().map(|stem| words_with(stem));
            (Stems::new(stems.iter().copied()), words.collect())
        });
        Self {
            passes: passes.collect(),
            expressions: expressions.collect(),
        }
    }
}

fn words_with(stem: &str) -> Vec<Word> {
    let signs = SIGNS.iter().enumerate();
    let words = signs.flat_map(|(sign, its)| its.words.iter().map(move |word| (sign, word)));
    let words = words.filter_map(|(sign, word)| {
        Some(Word {
            sign,
            text: word,
            is_any_case: !word.bytes().any(|byte| byte.is_ascii_uppercase()),
            offset: word.to_ascii_lowercase().find(stem)?,
        })
    });
    words.collect()
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
    let signs = &*ALL_SIGNS;
    let mut found: Vec<(usize, &Word)> = Vec::new();
    for (stems, words) in &signs.passes {
        stems.find(text.as_bytes(), |place, stem| {
            let around = words[stem].iter().filter_map(|word| {
                let start = word.around(text.as_bytes(), place)?;
                Some((start, word))
            });
            found.extend(around);
        });
    }
    found.sort_by_key(|(start, _)| *start);
    let mut ends = [0; SIGNS.len()];
    let mut has_credential_word = false;
    for (start, word) in found {
        let kind = SIGNS[word.sign].kind;
        if kind == FindingKind::Credential {
            has_credential_word = true;
            continue;
        }
        let end = &mut ends[word.sign];
        let expression = &signs.expressions[word.sign];
        if let Some((from, to)) = part_around(text, start, word.text, expression, *end) {
            *end = to;
            parts.push(Stretch {
                start: from,
                end: to,
                kind,
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
