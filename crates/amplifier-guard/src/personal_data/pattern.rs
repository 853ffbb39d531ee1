//! Patterns of personal data, compiled within limits.

use regex_automata::meta::{self, Regex};
use regex_syntax::hir::{Hir, HirKind, Look, Repetition};

use super::kind::{Kind, TYPES};

/// Bytes of a pattern as it is written.
const MAX_PATTERN_BYTES: usize = 1000;
/// Bytes of a pattern as it is compiled.
pub(super) const MAX_PROGRAM_BYTES: usize = 1 << 20;
/// Bytes of what a search remembers of a pattern.
pub(super) const CACHE_BYTES: usize = 1 << 20;
/// Characters of the name of a type.
const MAX_NAME: usize = 32;

/// Personal data that cannot be searched for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "its message says what each field is")]
pub enum PersonalDataError {
    /// There is no built-in type of this name.
    #[error("`{name}` is not a type of personal data; there are {}", TYPES.join(", "))]
    Type { name: Box<str> },
    /// The name of a pattern could not be told from the text around it.
    #[error(
        "type `{name}` of a pattern must be at most {MAX_NAME} capital letters, digits and `_`, \
         the first one a letter"
    )]
    Name { name: Box<str> },
    /// The pattern cannot be compiled, or would match nothing at all.
    #[error("pattern `{name}` cannot be used: {reason}")]
    Pattern { name: Box<str>, reason: Box<str> },
}

/// An expression and the type that it finds.
pub(super) struct Pattern {
    pub(super) name: String,
    pub(super) expression: Hir,
}

impl Pattern {
    pub(super) fn of_kind(kind: &Kind) -> Result<Self, PersonalDataError> {
        Self::parsed(kind.name, kind.pattern)
    }

    pub(super) fn of_user(name: &str, expression: &str) -> Result<Self, PersonalDataError> {
        let is_part = |byte: &u8| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_');
        let is_name = name.starts_with(|first: char| first.is_ascii_uppercase())
            && name.len() <= MAX_NAME
            && name.as_bytes().iter().all(is_part);
        if !is_name {
            return Err(PersonalDataError::Name { name: name.into() });
        }
        if expression.len() > MAX_PATTERN_BYTES {
            let bytes = expression.len();
            let reason = format!("it has {bytes} bytes, at most {MAX_PATTERN_BYTES} are allowed");
            return Err(refused(name, &reason));
        }
        let pattern = Self::parsed(name, expression)?;
        match pattern.expression.properties().minimum_len() {
            Some(0) => Err(refused(name, "it matches the empty text")),
            None => Err(refused(name, "it matches no text")),
            Some(_) => Ok(pattern),
        }
    }

    fn parsed(name: &str, expression: &str) -> Result<Self, PersonalDataError> {
        let parsed = regex_syntax::parse(expression);
        let expression = parsed.map_err(|error| match error {
            regex_syntax::Error::Parse(error) => refused(name, &error.kind().to_string()),
            regex_syntax::Error::Translate(error) => refused(name, &error.kind().to_string()),
            _ => refused(name, "it cannot be read"),
        })?;
        Ok(Self {
            name: name.into(),
            expression,
        })
    }

    pub(super) fn regex(&self) -> Result<Regex, PersonalDataError> {
        let config = meta::Config::new()
            .nfa_size_limit(Some(MAX_PROGRAM_BYTES))
            .hybrid_cache_capacity(CACHE_BYTES);
        let built = meta::Builder::new()
            .configure(config)
            .build_from_hir(&self.expression);
        built.map_err(|_| too_large(&self.name))
    }

    /// The expression without the edges of Unicode words, which an automaton cannot see: it matches
    /// what the pattern matches, and more.
    pub(super) fn without_word_edges(&self) -> Hir {
        without_word_edges(&self.expression)
    }
}

pub(super) fn too_large(name: &str) -> PersonalDataError {
    refused(name, "it is too large when compiled (repeat less)")
}

fn refused(name: &str, reason: &str) -> PersonalDataError {
    PersonalDataError::Pattern {
        name: name.into(),
        reason: reason.into(),
    }
}

/// The depth is bounded: the parser refuses expressions that are nested too deeply.
fn without_word_edges(expression: &Hir) -> Hir {
    let each = |parts: &[Hir]| parts.iter().map(without_word_edges).collect();
    match expression.kind() {
        HirKind::Look(
            Look::WordUnicode
            | Look::WordUnicodeNegate
            | Look::WordStartUnicode
            | Look::WordEndUnicode
            | Look::WordStartHalfUnicode
            | Look::WordEndHalfUnicode,
        ) => Hir::empty(),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => {
            expression.clone()
        }
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(without_word_edges(&repetition.sub)),
            ..repetition.clone()
        }),
        HirKind::Capture(capture) => without_word_edges(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(each(parts)),
        HirKind::Alternation(parts) => Hir::alternation(each(parts)),
    }
}
