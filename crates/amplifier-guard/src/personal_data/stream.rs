//! Removal of personal data from text that comes in chunks.

use std::sync::{Mutex, PoisonError};

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::{Anchored, Input, MatchKind};

use super::pattern::{CACHE_BYTES, MAX_PROGRAM_BYTES, Pattern, too_large};
use super::{Found, PersonalData, PersonalDataError, REACH_BYTES};

/// Bytes of released text that are kept, for what patterns and checks see in front of a match.
const CONTEXT_BYTES: usize = 16;
/// Bytes of the compiled patterns of all types together.
const MAX_JOINT_BYTES: usize = 4 * MAX_PROGRAM_BYTES;

/// Where personal data may begin whose end has not come.
pub(super) struct Openings {
    automaton: DFA,
    /// What the automaton remembers, for whoever is not searching at the same time.
    cache: Mutex<Option<Cache>>,
}

impl Openings {
    pub(super) fn new<'a>(
        patterns: impl Iterator<Item = &'a Pattern>,
    ) -> Result<Self, PersonalDataError> {
        let expressions: Vec<_> = patterns.map(Pattern::without_word_edges).collect();
        let config = thompson::Config::new()
            .nfa_size_limit(Some(MAX_JOINT_BYTES))
            .which_captures(WhichCaptures::None);
        let nfa = NFA::compiler()
            .configure(config)
            .build_many_from_hir(&expressions)
            .map_err(|_| too_large("of all types"))?;
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .cache_capacity(CACHE_BYTES)
            .skip_cache_capacity_check(true);
        let built = DFA::builder().configure(config).build_from_nfa(nfa);
        Ok(Self {
            automaton: built.map_err(|_| too_large("of all types"))?,
            cache: Mutex::new(None),
        })
    }

    /// The first place from which on more text could make a match that is not there yet.
    fn first(&self, text: &[u8], from: usize) -> Option<usize> {
        let kept = self.slot().take();
        let mut cache = kept.unwrap_or_else(|| self.automaton.create_cache());
        let first = (from..text.len()).find(|start| self.is_open(&mut cache, text, *start));
        *self.slot() = Some(cache);
        first
    }

    fn is_open(&self, cache: &mut Cache, text: &[u8], start: usize) -> bool {
        // What the automaton cannot say could go on.
        let input = Input::new(text).range(start..).anchored(Anchored::Yes);
        let Ok(mut state) = self.automaton.start_state_forward(cache, &input) else {
            return true;
        };
        for byte in &text[start..] {
            match self.automaton.next_state(cache, state, *byte) {
                Ok(next) if next.is_dead() => return false,
                Ok(next) if next.is_quit() => return true,
                Ok(next) => state = next,
                Err(_) => return true,
            }
        }
        // The automaton knows of a match one byte late: it may be at its end, with nothing to come.
        let goes_on = |cache: &mut Cache, byte| {
            let next = self.automaton.next_state(cache, state, byte);
            next.map_or(true, |next| !next.is_dead())
        };
        !state.is_match() || (0..=u8::MAX).any(|byte| goes_on(cache, byte))
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<Cache>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes personal data from a stream as [`PersonalData::redact`] does from the whole text.
///
/// It holds back only what could become personal data with more text, at most 4 KiB and a chunk;
/// longer matches may be found in parts.
pub struct PersonalDataStream<P> {
    data: P,
    /// The text released last, unredacted, followed by the text held back.
    text: Vec<u8>,
    /// Where the text held back begins in `text`.
    held: usize,
    types: Vec<Box<str>>,
}

impl<P: AsRef<PersonalData>> PersonalDataStream<P> {
    /// Starts at the beginning of a stream.
    pub fn new(data: P) -> Self {
        Self {
            data,
            text: Vec::new(),
            held: 0,
            types: Vec::new(),
        }
    }

    /// The types that were found by now, each once.
    #[must_use]
    pub fn types(&self) -> &[Box<str>] {
        &self.types
    }

    /// Takes a chunk and returns what can be released, which ends between characters.
    pub fn feed(&mut self, chunk: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for chunk in chunk.chunks(REACH_BYTES) {
            self.text.extend_from_slice(chunk);
            self.release(&mut out);
        }
        out
    }

    /// Ends the stream and returns the rest; the next chunk begins another stream.
    pub fn flush(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        let found = self.data.as_ref().find(&self.text, self.held);
        self.write(&found, self.text.len(), &mut out);
        self.text.clear();
        self.held = 0;
        out
    }

    fn release(&mut self, out: &mut Vec<u8>) {
        let data = self.data.as_ref();
        let length = self.text.len();
        let found = data.find(&self.text, self.held);
        let near = self.held.max(length.saturating_sub(REACH_BYTES));
        let open = data.openings.first(&self.text, near).unwrap_or(length);
        let is_around = |found: &&Found, place: usize| found.start < place && place < found.end;
        let mut safe = open;
        if let Some(around) = found.iter().find(|found| is_around(found, safe)) {
            safe = around.start;
        }
        if length - safe > REACH_BYTES {
            safe = length - REACH_BYTES / 2;
            if let Some(around) = found.iter().find(|found| is_around(found, safe)) {
                safe = around.end;
            }
        }
        // The bytes of one character are released together.
        while safe > self.held && is_inside(&self.text, safe) {
            safe -= 1;
        }
        safe -= unfinished(&self.text[self.held..safe]);
        self.write(&found, safe, out);
        self.held = safe;
        let forgotten = self.held.saturating_sub(CONTEXT_BYTES);
        self.text.drain(..forgotten);
        self.held -= forgotten;
    }

    /// Writes what is held back up to `end`, without personal data.
    fn write(&mut self, found: &[Found], end: usize, out: &mut Vec<u8>) {
        let data = self.data.as_ref();
        let mut place = self.held;
        for found in found.iter().filter(|found| found.end <= end) {
            out.extend_from_slice(&self.text[place..found.start]);
            data.write_mark(*found, out);
            place = found.end;
            let name = data.name(*found);
            if !self.types.iter().any(|known| **known == *name) {
                self.types.push(name.into());
            }
        }
        out.extend_from_slice(&self.text[place..end]);
    }
}

/// Whether a place is within a character.
fn is_inside(text: &[u8], place: usize) -> bool {
    text.get(place).is_some_and(|byte| byte & 0xc0 == 0x80)
}

/// The bytes of the last character if not all of them have come.
fn unfinished(text: &[u8]) -> usize {
    let tail = text.iter().rev().take_while(|byte| *byte & 0xc0 == 0x80);
    let behind = tail.take(3).count();
    let Some(first) = text.len().checked_sub(behind + 1).map(|place| text[place]) else {
        return 0;
    };
    let length = match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => return 0,
    };
    if behind + 1 < length { behind + 1 } else { 0 }
}
