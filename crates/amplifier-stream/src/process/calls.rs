//! The calls of an answer: the number of each, and what became of it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::chunk::ChunkCall;
use super::event::AgentEvent;
use super::judgement::{Identity, pair};
use super::native::NativeCall;
use crate::{CallError, ParsedCall, ToolCall};

/// Why a call that its decoder dropped must not run.
const DROPPED: &str = "the provider withdrew the call";

/// Places of calls in tags, by what is between the tags and whether the closing tag is there.
pub(super) type TaggedPlaces = HashMap<(String, bool), Vec<usize>>;

/// The key of a call in [`TaggedPlaces`].
pub(super) fn text_of(call: &ParsedCall) -> (String, bool) {
    (call.raw.clone(), call.is_complete())
}

#[derive(Debug, Default)]
pub(super) struct Calls {
    ended: Vec<ParsedCall>,
    /// Native calls that have not ended, by the index in their chunks.
    open: BTreeMap<u64, NativeCall>,
    /// The place among `ended` of the last native call of each index.
    native_places: BTreeMap<u64, usize>,
    /// The places among `ended` of calls in tags that count.
    tagged_places: Vec<usize>,
    /// The place of each number in the order of beginnings.
    numbers: BTreeMap<u64, usize>,
}

impl Calls {
    /// A number for a call: the one that is wanted, or else one after all others.
    pub(super) fn number(&mut self, wanted: u64) -> u64 {
        let index = match self.numbers.last_key_value() {
            Some((&last, _)) if self.numbers.contains_key(&wanted) => last
                .checked_add(1)
                .or_else(|| (0..last).find(|index| !self.numbers.contains_key(index)))
                .unwrap_or(wanted),
            _ => wanted,
        };
        let place = self.numbers.len();
        self.numbers.insert(index, place);
        index
    }

    /// Takes what a chunk says of a native call.
    pub(super) fn take(&mut self, call: &ChunkCall, content: &str, events: &mut Vec<AgentEvent>) {
        if let Some(whole) = &call.block
            && let Some(native) = self.open.get(&call.index)
            && native.differs_from(whole, content)
        {
            // A started call keeps its id, name and arguments; another one is another call.
            self.drop_native(call.index, events);
        }
        let native = if let Some(native) = self.open.get_mut(&call.index) {
            native
        } else {
            let native = NativeCall::new(self.number(call.index), call);
            events.push(native.start());
            self.open.entry(call.index).or_insert(native)
        };
        events.extend(native.add(call, content));
        if let Some(whole) = &call.block
            && let Some(native) = self.open.remove(&call.index)
        {
            self.native_places.insert(call.index, self.ended.len());
            self.end(native.end(Some(whole)), events);
        }
    }

    /// Ends a call.
    pub(super) fn end(&mut self, call: ParsedCall, events: &mut Vec<AgentEvent>) {
        if !call.is_native {
            self.tagged_places.push(self.ended.len());
        }
        self.ended.push(call.clone());
        events.push(AgentEvent::ToolCallEnd(Box::new(call)));
    }

    /// Refuses the native call with this index in its chunks.
    pub(super) fn drop_native(&mut self, index: u64, events: &mut Vec<AgentEvent>) {
        if let Some(native) = self.open.remove(&index) {
            let mut call = native.end(None);
            call.error = None;
            call.refuse(CallError::Refused(DROPPED.to_owned()));
            self.end(call, events);
        } else if let Some(place) = self.native_places.remove(&index) {
            self.ended[place].refuse(CallError::Refused(DROPPED.to_owned()));
        }
    }

    /// Refuses every call in tags that counted.
    pub(super) fn drop_tagged(&mut self) {
        for place in std::mem::take(&mut self.tagged_places) {
            self.ended[place].refuse(CallError::Refused(DROPPED.to_owned()));
        }
    }

    /// The places of the calls in tags that count, by what identifies a call in a text; the first one
    /// is the last of its list.
    pub(super) fn take_tagged(&mut self) -> TaggedPlaces {
        let mut tagged = TaggedPlaces::new();
        for place in self.tagged_places.drain(..).rev() {
            let call = &self.ended[place];
            tagged.entry(text_of(call)).or_default().push(place);
        }
        tagged
    }

    /// Refuses these calls in tags.
    pub(super) fn drop_rest(&mut self, tagged: TaggedPlaces) {
        self.tagged_places = tagged.into_values().flatten().collect();
        self.drop_tagged();
    }

    /// Ends what is open, refuses everything if there is a `refusal`, and returns all calls in the
    /// order of their beginnings.
    ///
    /// `judged` are the native calls as their decoder judged them at the end of the answer; they say
    /// nothing where there is another number of them.
    pub(super) fn finish(
        &mut self,
        judged: &[Arc<ToolCall>],
        refusal: Option<&str>,
        events: &mut Vec<AgentEvent>,
    ) -> Vec<ParsedCall> {
        let mut refused = match refusal {
            None => self.refused(judged),
            Some(_) => BTreeMap::new(),
        };
        for (index, error) in &refused {
            let is_open = self.open.contains_key(index);
            if let Some(place) = self.native_places.get(index).filter(|_| !is_open) {
                self.ended[*place].refuse(CallError::Refused(error.clone()));
            }
        }
        let mut open: Vec<_> = std::mem::take(&mut self.open).into_iter().collect();
        open.sort_by_key(|(_, native)| self.numbers.get(&native.index));
        for (index, native) in open {
            let mut call = native.end(None);
            if let Some(error) = refused.remove(&index) {
                call.error = None;
                call.refuse(CallError::Refused(error));
            }
            if refusal.is_some() {
                call.refuse(CallError::Refused("the call never ended".to_owned()));
            }
            self.end(call, events);
        }
        let mut calls = std::mem::take(&mut self.ended);
        calls.sort_by_key(|call| self.numbers.get(&call.index));
        if let Some(reason) = refusal {
            for call in &mut calls {
                call.refuse(CallError::Refused(reason.to_owned()));
            }
        }
        calls
    }

    /// Why calls must not run, by the index in their chunks.
    fn refused(&self, judged: &[Arc<ToolCall>]) -> BTreeMap<u64, String> {
        let ended = self.native_places.iter().map(|(index, place)| {
            let call = &self.ended[*place];
            (*index, (call.id.as_deref(), &*call.name, &*call.raw))
        });
        let open = self.open.iter();
        let open = open.map(|(index, native)| (*index, native.identity()));
        // An index whose call ended may be that of a further call, which then is the one.
        let standing: BTreeMap<u64, Identity<'_>> = ended.chain(open).collect();
        if standing.len() != judged.len() {
            return BTreeMap::new();
        }
        let (indexes, calls): (Vec<u64>, Vec<Identity<'_>>) = standing.into_iter().unzip();
        let pairs = indexes.into_iter().zip(pair(&calls, judged));
        let errors = pairs.filter_map(|(index, call)| Some((index, call.error.clone()?)));
        errors.collect()
    }
}
