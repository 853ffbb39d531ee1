//! What looks suspicious in a text, with its place. A text is data: nothing in it is changed.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;

use crate::shown;

/// What a suspicious part of a text looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FindingKind {
    /// Words that tell a model to leave its instructions, or that pass for those of the system.
    PromptInjection,
    /// HTML or a URL that runs a script.
    Script,
    /// A relative path that climbs.
    PathTraversal,
    /// A command that hands what it reads to a shell, or removes everything.
    ShellCommand,
    /// A key, a password or a token.
    Credential,
    /// Characters that cannot be seen or that turn the direction of the text.
    HiddenCharacter,
}

impl FindingKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::PromptInjection,
        Self::Script,
        Self::PathTraversal,
        Self::ShellCommand,
        Self::Credential,
        Self::HiddenCharacter,
    ];

    /// The kind as a word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PromptInjection => "prompt_injection",
            Self::Script => "script",
            Self::PathTraversal => "path_traversal",
            Self::ShellCommand => "shell_command",
            Self::Credential => "credential",
            Self::HiddenCharacter => "hidden_character",
        }
    }
}

/// A suspicious part of a message. It says where, and not what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it looks like.
    pub kind: FindingKind,
    /// Which text of the message, as a JSON pointer: `/content/0/text`.
    pub pointer: String,
    /// The first character, counted from 0.
    pub start: usize,
    /// The character after the last one.
    pub end: usize,
}

/// What to do about findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFinding {
    /// Tell of them.
    #[default]
    Report,
    /// Have a person decide.
    Ask,
    /// Refuse the message.
    Reject,
}

impl OnFinding {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Report, Self::Ask, Self::Reject];

    /// The setting as a word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Ask => "ask",
            Self::Reject => "reject",
        }
    }
}

/// A suspicious stretch of a text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stretch {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: FindingKind,
}

/// How many bytes around a word are looked at to tell what it is part of.
const BEFORE: usize = 120;
const AFTER: usize = 60;

/// What words begin, and the expressions that tell whether they do.
///
/// The words are looked for at once and in one way through the text; what they must stand in, only
/// around them. So the time is linear, and a text without them costs little more than reading it:
/// no more than 64 words, of three characters or more that are rare together, are looked for by
/// the vector instructions of the processor. Words in small letters are found in any case, others
/// as they are written.
const SIGNS: &[(FindingKind, &str, &[&str])] = &[
    (
        FindingKind::PromptInjection,
        r"(?i)\b(?:ignore|disregard|forget|override|bypass|neglect)\b[^.!?\n]{0,60}\b(?:instructions?|prompts?|guidelines|directives)\b",
        &["nstruction", "rompt", "uideline", "irective"],
    ),
    (
        FindingKind::PromptInjection,
        r"(?i)\b(?:reveal|print|show|repeat|output|leak|tell me)\b[^.!?\n]{0,40}\b(?:system|initial|hidden) (?:prompt|instructions|message)\b",
        &["rompt", "nstruction"],
    ),
    (
        FindingKind::PromptInjection,
        r"(?i)\byou are (?:now|no longer) \w",
        &["ou are no"],
    ),
    (
        FindingKind::PromptInjection,
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[/?INST\]|<</?SYS>>",
        &[
            "<|im_", "<|sys", "<|use", "<|ass", "<|end", "[INST]", "[/INST]", "<<SYS", "<</SYS",
        ],
    ),
    (
        FindingKind::Script,
        r"(?i)</?(?:script|iframe|object|embed)\b[^>]{0,50}>?|\bjavascript:|\bon(?:error|load|click)\s{0,3}=",
        &[
            "<script",
            "<iframe",
            "<object",
            "<embed",
            "vascript:",
            "onerror",
            "onload",
            "onclick",
        ],
    ),
    (
        FindingKind::PathTraversal,
        r"(?i)(?:\.\.[/\\]){2,}|\.\.[/\\](?:etc|proc|root|home|var|windows)\b|(?:%2e%2e|\.\.)(?:%2f|%5c|%c0%af)|%2e%2e[/\\]",
        &["../", "..\\", "..%", "%2e%2e"],
    ),
    (
        FindingKind::ShellCommand,
        r"\|\s{0,3}(?:sudo\s{1,3})?(?:/\S{1,20}/)?(?:ba|z|da|k|fi)?sh\b",
        &[
            "|sh", "| sh", "|bash", "| bash", "| zsh", "|zsh", "| sudo", "|sudo", "| /bin",
            "| dash", "| ksh", "| fish",
        ],
    ),
    (
        FindingKind::ShellCommand,
        r"\brm\s{1,3}-[a-zA-Z-]{1,20}(?:\s{1,3}-[a-zA-Z-]{1,20})*\s{1,3}(?:/|~|\*|\$HOME)",
        &["rm -"],
    ),
    (
        FindingKind::Credential,
        "",
        &[
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
    ),
];

struct Signs {
    /// The words in small letters.
    folded: AhoCorasick,
    words: Vec<&'static str>,
    /// The signs that each word may begin.
    of_word: Vec<Vec<usize>>,
    expressions: Vec<Regex>,
}

static ALL_SIGNS: LazyLock<Option<Signs>> = LazyLock::new(|| Signs::new().ok());

impl Signs {
    fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let mut words: Vec<&'static str> = Vec::new();
        let mut of_word: Vec<Vec<usize>> = Vec::new();
        for (sign, (_, _, its_words)) in SIGNS.iter().enumerate() {
            for word in *its_words {
                if let Some(place) = words.iter().position(|known| known == word) {
                    of_word[place].push(sign);
                } else {
                    words.push(word);
                    of_word.push(vec![sign]);
                }
            }
        }
        let expressions = SIGNS
            .iter()
            .map(|(_, expression, _)| Regex::new(expression));
        Ok(Self {
            folded: AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostFirst)
                .build(words.iter().map(|word| word.to_ascii_lowercase()))?,
            words,
            of_word,
            expressions: expressions.collect::<Result<_, _>>()?,
        })
    }
}

/// The suspicious parts of a text, in order; those of one kind do not overlap.
pub(crate) fn find(text: &str) -> Vec<Stretch> {
    let mut parts = hidden(text);
    let Some(signs) = ALL_SIGNS.as_ref() else {
        return parts;
    };
    let mut ends = [0; SIGNS.len()];
    let mut has_credential_word = false;
    let folded = text.to_ascii_lowercase();
    for word in signs.folded.find_iter(&folded) {
        let written = signs.words[word.pattern().as_usize()];
        let is_any_case = !written.bytes().any(|byte| byte.is_ascii_uppercase());
        if !is_any_case && &text[word.range()] != written {
            continue;
        }
        for sign in &signs.of_word[word.pattern().as_usize()] {
            let (kind, ..) = SIGNS[*sign];
            if kind == FindingKind::Credential {
                has_credential_word = true;
                continue;
            }
            let from = word.start().saturating_sub(BEFORE).max(ends[*sign]);
            let from = boundary(text, from);
            let to = boundary(text, (word.end() + AFTER).min(text.len()));
            let found = signs.expressions[*sign]
                .find_iter(&text[from..to])
                .find(|found| from + found.end() > word.start());
            if let Some(found) = found {
                let part = Stretch {
                    start: from + found.start(),
                    end: from + found.end(),
                    kind,
                };
                ends[*sign] = part.end;
                parts.push(part);
            }
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
    parts.sort_unstable();
    parts
}

/// The next place from here on that is not inside a character.
fn boundary(text: &str, mut place: usize) -> usize {
    while !text.is_char_boundary(place) {
        place += 1;
    }
    place
}

/// Runs of characters that cannot be seen.
fn hidden(text: &str) -> Vec<Stretch> {
    let is_plain = |byte: &u8| (0x20..0x7f).contains(byte) || matches!(byte, b'\n' | b'\t' | b'\r');
    // Without a branch for each byte, which is many times faster where nothing is hidden.
    if text
        .as_bytes()
        .iter()
        .fold(true, |plain, byte| plain & is_plain(byte))
    {
        return Vec::new();
    }
    let mut parts: Vec<Stretch> = Vec::new();
    for (start, character) in text.char_indices() {
        if !is_hidden(character) {
            continue;
        }
        let end = start + character.len_utf8();
        match parts.last_mut() {
            Some(part) if part.end == start => part.end = end,
            _ => parts.push(Stretch {
                start,
                end,
                kind: FindingKind::HiddenCharacter,
            }),
        }
    }
    parts
}

/// Controls, zero-width characters, marks and overrides of direction, and tags. Joiners and
/// variation selectors are none: scripts and pictographs need them.
fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}'
            | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}
