//! A regular expression over one line at a time, whose cost is bounded.

use memchr::memrchr;
use regex::bytes::{Regex, RegexBuilder};
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::prefilter::Prefilter;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::Hir;

use super::many_lines::{MAX_TEXT_BYTES, ManyLines, within_line};
use super::pattern::{MAX_PATTERN_BYTES, MAX_PROGRAM_BYTES, PatternError, reason};

/// Between two questions whether to stop, within a line too.
const PIECE_BYTES: usize = 1 << 12;
/// Where the states of the automaton are kept; without room for new ones all are forgotten.
const CACHE_BYTES: usize = 4 << 20;
/// How often that may happen before each state must have been good for some bytes of text.
const FREE_CLEARS: usize = 4;
const MIN_BYTES_PER_STATE: usize = 64;
/// What an expression may have of parts for a Unicode `\b`, and, multiplied by the bytes of a line that
/// are searched in one go, of steps: about a tenth of a second, in which no question is asked.
const MAX_BOUNDARY_STATES: usize = 256;
const MAX_BOUNDARY_STEPS: usize = 1 << 24;
/// As much as is read of the text behind a match: a character.
const CONTEXT_BYTES: usize = 4;

/// A compiled regular expression that is matched against one line at a time.
///
/// The syntax is that of the `regex` crate: no look-around and no back-references, hence no pattern
/// that takes exponential time. Both `\n` and `\r\n` end a line for `$`.
///
/// With a Unicode `\b`, a line with letters beyond ASCII is searched in pieces, between which the search
/// can be stopped. An expression without a longest match, such as `\b.*x`, takes the line as one piece;
/// if that would take more than about a tenth of a second, the search fails.
#[derive(Clone, Debug)]
pub struct LineSearch {
    forward: DFA,
    backward: DFA,
    prefilter: Option<Prefilter>,
    /// Without a text that it begins with.
    many_lines: Option<ManyLines>,
    /// For lines that are not ASCII, where the expression has a Unicode `\b`.
    boundaries: Option<Boundaries>,
}

/// Why a search was given up.
pub(super) enum Halt {
    Stopped,
    /// The text needs more steps than the expression may take.
    Costly,
    Unreadable,
}

impl LineSearch {
    /// Compiles a pattern.
    pub fn new(pattern: &str, ignore_case: bool) -> Result<Self, PatternError> {
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(PatternError::TooLong {
                bytes: pattern.len(),
            });
        }
        let fail = |reason: String| PatternError::Expression {
            pattern: pattern.into(),
            reason,
        };
        let too_large = || fail("it is too large when compiled".into());
        let whole = RegexBuilder::new(pattern)
            .case_insensitive(ignore_case)
            .multi_line(true)
            .crlf(true)
            .size_limit(MAX_PROGRAM_BYTES)
            .build()
            .map_err(|error| fail(reason(&error)))?;
        let parsed = |unicode: bool| {
            let syntax = syntax::Config::new()
                .case_insensitive(ignore_case)
                .multi_line(true)
                .crlf(true)
                .unicode(unicode)
                .utf8(false);
            syntax::parse_with(pattern, &syntax).map_err(|_| too_large())
        };
        let compiled = |hir: &Hir, backward: bool| {
            let config = thompson::Config::new()
                .utf8(false)
                .reverse(backward)
                .nfa_size_limit(Some(MAX_PROGRAM_BYTES))
                .which_captures(WhichCaptures::None);
            let nfa = NFA::compiler().configure(config).build_from_hir(hir);
            nfa.map_err(|_| too_large())
        };
        let automaton = |nfa: NFA, kind| {
            let config = DFA::config()
                .match_kind(kind)
                .unicode_word_boundary(true)
                .cache_capacity(CACHE_BYTES)
                .minimum_cache_clear_count(Some(FREE_CLEARS))
                .minimum_bytes_per_state(Some(MIN_BYTES_PER_STATE));
            let built = DFA::builder().configure(config).build_from_nfa(nfa);
            built.map_err(|_| too_large())
        };
        let hir = parsed(true)?;
        let nfa = compiled(&hir, false)?;
        let mut boundaries = None;
        if nfa.look_set_any().contains_word_unicode() {
            // Letters beyond ASCII make an automaton larger, not slower.
            let plain = parsed(false).and_then(|hir| compiled(&hir, false));
            let parts = plain.map_or(nfa.states().len(), |plain| plain.states().len());
            if parts > MAX_BOUNDARY_STATES {
                let reason =
                    "it is too large for a Unicode `\\b` (write `(?-u:\\b)`, or repeat less)";
                return Err(fail(reason.into()));
            }
            boundaries = Some(Boundaries {
                whole,
                most_bytes: MAX_BOUNDARY_STEPS / parts,
                reach: hir.properties().maximum_len().unwrap_or(usize::MAX),
            });
        }
        let prefilter = Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, &hir);
        let backward = automaton(compiled(&hir, true)?, MatchKind::All)?;
        let mut many_lines = ManyLines::literal(&hir);
        if many_lines.is_none()
            && prefilter.is_none()
            && let Some(hir) = within_line(hir)
        {
            let within = automaton(compiled(&hir, false)?, MatchKind::LeftmostFirst)?;
            many_lines = Some(ManyLines::Automaton(Box::new(within)));
        }
        Ok(Self {
            forward: automaton(nfa, MatchKind::LeftmostFirst)?,
            backward,
            many_lines: many_lines.filter(|_| prefilter.is_none()),
            prefilter,
            boundaries,
        })
    }

    pub(super) fn matcher(&self) -> Matcher<'_> {
        let within = match &self.many_lines {
            Some(ManyLines::Automaton(automaton)) => Some(automaton.create_cache()),
            _ => None,
        };
        Matcher {
            search: self,
            within,
            forward: self.forward.create_cache(),
            backward: self.backward.create_cache(),
        }
    }
}

/// The search for an expression with a Unicode `\b`, which an automaton cannot decide beside other
/// letters than those of ASCII. The engine that can takes a step for each part and byte.
#[derive(Clone, Debug)]
struct Boundaries {
    whole: Regex,
    /// How much is searched in one go.
    most_bytes: usize,
    /// The bytes of the longest match.
    reach: usize,
}

impl Boundaries {
    fn find(&self, line: &[u8], stopped: &mut dyn FnMut() -> bool) -> Result<Option<usize>, Halt> {
        let mut from = 0_usize;
        loop {
            let next = from.saturating_add(self.reach.max(PIECE_BYTES));
            // What begins before `next` has ended by then.
            let end = next
                .saturating_add(self.reach)
                .saturating_add(CONTEXT_BYTES);
            let end = end.min(line.len());
            if end - from > self.most_bytes {
                return Err(Halt::Costly);
            }
            let found = self.whole.find_at(&line[..end], from);
            let start = found.map(|found| found.start());
            let is_whole = end == line.len();
            if is_whole || start.is_some_and(|start| start < next) {
                return Ok(start);
            }
            if stopped() {
                return Err(Halt::Stopped);
            }
            from = next;
        }
    }
}

/// A search with the memory of its automata.
pub(super) struct Matcher<'search> {
    search: &'search LineSearch,
    within: Option<Cache>,
    forward: Cache,
    backward: Cache,
}

impl Matcher<'_> {
    /// Where the first line of `text` begins that may match.
    pub(super) fn candidate(&mut self, text: &[u8]) -> Option<usize> {
        if let Some(many_lines) = &self.search.many_lines
            && text.len() <= MAX_TEXT_BYTES
        {
            return many_lines.find(self.within.as_mut(), text);
        }
        let Some(prefilter) = &self.search.prefilter else {
            return Some(0);
        };
        let found = prefilter.find(text, (0..text.len()).into())?;
        Some(memrchr(b'\n', &text[..found.start]).map_or(0, |newline| newline + 1))
    }

    /// Where a match in `line` begins, exactly if `exact`.
    pub(super) fn find(
        &mut self,
        line: &[u8],
        exact: bool,
        stopped: &mut dyn FnMut() -> bool,
    ) -> Result<Option<usize>, Halt> {
        if let Some(boundaries) = &self.search.boundaries
            && !line.is_ascii()
        {
            return boundaries.find(line, stopped);
        }
        let Some(end) = self.end(line, stopped)? else {
            return Ok(None);
        };
        if !exact {
            return Ok(Some(0));
        }
        let input = Input::new(line).range(..end).anchored(Anchored::Yes);
        let found = self
            .search
            .backward
            .try_search_rev(&mut self.backward, &input);
        Ok(Some(
            found.ok().flatten().map_or(end, |start| start.offset()),
        ))
    }

    /// Where the first match in `line` to end does so.
    fn end(
        &mut self,
        line: &[u8],
        stopped: &mut dyn FnMut() -> bool,
    ) -> Result<Option<usize>, Halt> {
        let (automaton, cache) = (&self.search.forward, &mut self.forward);
        let start = automaton.start_state_forward(cache, &Input::new(line));
        let mut state = start.map_err(|_| Halt::Costly)?;
        cache.search_start(0);
        for (number, piece) in line.chunks(PIECE_BYTES).enumerate() {
            let from = number * PIECE_BYTES;
            cache.search_update(from);
            if number > 0 && stopped() {
                return Err(Halt::Stopped);
            }
            for (offset, byte) in piece.iter().enumerate() {
                state = automaton
                    .next_state(cache, state, *byte)
                    .map_err(|_| Halt::Costly)?;
                if state.is_tagged() {
                    // A match is reported one byte late.
                    if state.is_match() || state.is_dead() {
                        cache.search_finish(from + offset);
                        return Ok(state.is_match().then_some(from + offset));
                    }
                }
            }
        }
        cache.search_finish(line.len());
        let state = automaton
            .next_eoi_state(cache, state)
            .map_err(|_| Halt::Costly)?;
        Ok(state.is_match().then_some(line.len()))
    }
}
