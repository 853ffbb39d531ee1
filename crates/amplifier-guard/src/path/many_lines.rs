//! A search through many lines at once for the first one that may match.

use memchr::memmem::Finder;
use memchr::memrchr;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::{Input, MatchErrorKind};
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange};
use regex_syntax::hir::{Hir, HirKind, Look};

/// A longer text is searched a line at a time, between which the search can be stopped.
pub(super) const MAX_TEXT_BYTES: usize = 1 << 16;
/// A shorter text is in too many lines.
const MIN_LITERAL_BYTES: usize = 3;

/// What finds lines for an expression that does not begin with a fixed text.
#[derive(Clone, Debug)]
pub(super) enum ManyLines {
    /// A text that each match has in it.
    Literal(Box<Finder<'static>>),
    /// An expression in which nothing means a newline: no match crosses the end of a line, so that the
    /// time is linear in the text.
    Automaton(Box<DFA>),
}

impl ManyLines {
    pub(super) fn literal(hir: &Hir) -> Option<Self> {
        let longest = literals(hir).max_by_key(|literal| literal.len())?;
        let is_useful = longest.len() >= MIN_LITERAL_BYTES && !longest.contains(&b'\n');
        is_useful.then(|| Self::Literal(Box::new(Finder::new(longest).into_owned())))
    }

    /// Where the first line of `text` begins that may match; how the lines end is not looked at closely.
    pub(super) fn find(&self, cache: Option<&mut Cache>, text: &[u8]) -> Option<usize> {
        let inside = match (self, cache) {
            (Self::Literal(finder), _) => finder.find(text)?,
            (Self::Automaton(automaton), Some(cache)) => {
                let input = Input::new(text).earliest(true);
                match automaton.try_search_fwd(cache, &input) {
                    Ok(found) => found?.offset(),
                    // The search of the line itself decides.
                    Err(error) => match *error.kind() {
                        MatchErrorKind::Quit { offset, .. } | MatchErrorKind::GaveUp { offset } => {
                            offset
                        }
                        _ => 0,
                    },
                }
            }
            (Self::Automaton(_), None) => 0,
        };
        Some(memrchr(b'\n', &text[..inside]).map_or(0, |newline| newline + 1))
    }
}

/// The texts that each match of an expression has in it.
fn literals(hir: &Hir) -> Box<dyn Iterator<Item = &[u8]> + '_> {
    match hir.kind() {
        HirKind::Literal(literal) => Box::new(std::iter::once(&*literal.0)),
        HirKind::Concat(parts) => Box::new(parts.iter().flat_map(literals)),
        HirKind::Capture(capture) => literals(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => literals(&repetition.sub),
        _ => Box::new(std::iter::empty()),
    }
}

/// The expression without the newlines that it means; nothing for one that means the beginning or the
/// end of its text, which for a line are others.
pub(super) fn within_line(hir: Hir) -> Option<Hir> {
    let looks = hir.properties().look_set();
    let is_whole = looks.contains(Look::Start) || looks.contains(Look::End);
    (!is_whole).then(|| without_newlines(hir))
}

fn without_newlines(hir: Hir) -> Hir {
    match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(Class::Unicode(mut class)) => {
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(mut class)) => {
            class.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Repetition(mut repetition) => {
            *repetition.sub = without_newlines(*repetition.sub);
            Hir::repetition(repetition)
        }
        // Which part of a match is where is not asked.
        HirKind::Capture(capture) => without_newlines(*capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(without_newlines).collect()),
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.into_iter().map(without_newlines).collect())
        }
    }
}
