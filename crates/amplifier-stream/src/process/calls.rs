//! The calls of an answer: the number of each, and what became of it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::chunk::ChunkCall;
use super::event::AgentEvent;
use super::judgement::{Identity, pair};
use super::native::NativeCall;
use crate::call_limit::CallLimit;
use crate::{CallError, ParsedCall, ToolCall};

/// Why a call that its decoder dropped must not run.
const DROPPED: &str = "the provider withdrew the call";

/// Numbers of calls in tags, by what is between the tags and whether the closing tag is there.
pub(super) type TaggedNumbers = HashMap<(String, bool), Vec<u64>>;

/// The key of a call in [`TaggedNumbers`].
pub(super) fn text_of(call: &ParsedCall) -> (String, bool) {
    (call.raw.clone(), call.is_complete())
}

#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Calls that ended, by their numbers.
    ended: BTreeMap<u64, ParsedCall>,
    /// Native calls that have not ended, by the index in their chunks.
    open: BTreeMap<u64, NativeCall>,
    /// The number of the last native call of each index that ended.
    native_numbers: BTreeMap<u64, u64>,
    /// The numbers of calls in tags that count.
    tagged_numbers: Vec<u64>,
    /// The place of each number in the order of beginnings.
    numbers: BTreeMap<u64, usize>,
    /// Which calls may run, by their numbers.
    limit: CallLimit,
}

impl Calls {
    pub(super) fn new(max_calls: usize) -> Self {
        Self {
            limit: CallLimit::new(max_calls),
            ..Self::default()
        }
    }

    /// A number for a call: the one that is wanted, or else one after all others; `None` where there
    /// are so many calls that a further one is left out.
    pub(super) fn number(&mut self, wanted: u64) -> Option<u64> {
        if self.limit.drops() {
            return None;
        }
        let index = match self.numbers.last_key_value() {
            Some((&last, _)) if self.numbers.contains_key(&wanted) => last
                .checked_add(1)
                .or_else(|| (0..last).find(|index| !self.numbers.contains_key(index)))
                .unwrap_or(wanted),
            _ => wanted,
        };
        let place = self.numbers.len();
        self.numbers.insert(index, place);
        self.limit.admit(index);
        Some(index)
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
        if !self.open.contains_key(&call.index) {
            let Some(number) = self.number(call.index) else {
                return;
            };
            let native = NativeCall::new(number, call);
            events.push(native.start());
            self.open.insert(call.index, native);
        }
        if let Some(native) = self.open.get_mut(&call.index) {
            let is_refused = self.limit.refuses(native.index);
            events.extend(native.add(call, if is_refused { "" } else { content }));
        }
        if let Some(whole) = &call.block
            && let Some(native) = self.open.remove(&call.index)
        {
            self.native_numbers.insert(call.index, native.index);
            self.end(native.end(Some(whole)), events);
        }
    }

    /// Ends a call.
    pub(super) fn end(&mut self, mut call: ParsedCall, events: &mut Vec<AgentEvent>) {
        if self.limit.refuses(call.index) {
            call.error = None;
            call.refuse(CallError::Refused(self.limit.refusal()));
            if call.is_native {
                call.raw = String::new();
            }
        }
        if !call.is_native {
            self.tagged_numbers.push(call.index);
        }
        self.ended.insert(call.index, call.clone());
        events.push(AgentEvent::ToolCallEnd(Box::new(call)));
    }

    /// Takes out the native call with this index in its chunks; one that is open ends first.
    pub(super) fn drop_native(&mut self, index: u64, events: &mut Vec<AgentEvent>) {
        if let Some(native) = self.open.remove(&index) {
            let mut call = native.end(None);
            call.error = None;
            call.refuse(CallError::Refused(DROPPED.to_owned()));
            self.limit.release(call.index);
            events.push(AgentEvent::ToolCallEnd(Box::new(call)));
        } else if let Some(number) = self.native_numbers.remove(&index) {
            self.remove(number);
        }
    }

    /// Takes out every call in tags that counted.
    pub(super) fn drop_tagged(&mut self) {
        for number in std::mem::take(&mut self.tagged_numbers) {
            self.remove(number);
        }
    }

    fn remove(&mut self, number: u64) {
        self.ended.remove(&number);
        self.limit.release(number);
    }

    /// The numbers of the calls in tags that count, by what identifies a call in a text; the first one
    /// is the last of its list.
    pub(super) fn take_tagged(&mut self) -> TaggedNumbers {
        let mut tagged = TaggedNumbers::new();
        for number in self.tagged_numbers.drain(..).rev() {
            if let Some(call) = self.ended.get(&number) {
                tagged.entry(text_of(call)).or_default().push(number);
            }
        }
        tagged
    }

    /// Takes out these calls in tags.
    pub(super) fn drop_rest(&mut self, tagged: TaggedNumbers) {
        self.tagged_numbers = tagged.into_values().flatten().collect();
        self.drop_tagged();
    }

    /// Ends what is open, refuses everything if there is a `refusal`, and returns the calls that no
    /// provider withdrew, in the order of their beginnings.
    ///
    /// `judged` are the native calls as their decoder judged them at the end of the answer; they say
    /// nothing where there is another number of them, unless calls were left out here.
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
            if let Some(number) = self.native_numbers.get(index).filter(|_| !is_open)
                && let Some(call) = self.ended.get_mut(number)
            {
                call.refuse(CallError::Refused(error.clone()));
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
        let ended = std::mem::take(&mut self.ended);
        let mut calls: Vec<ParsedCall> = ended.into_values().collect();
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
        let ended = self.native_numbers.iter().filter_map(|(index, number)| {
            let call = self.ended.get(number)?;
            Some((*index, (call.id.as_deref(), &*call.name, &*call.raw)))
        });
        let open = self.open.iter();
        let open = open.map(|(index, native)| (*index, native.identity()));
        // An index whose call ended may be that of a further call, which then is the one.
        let standing: BTreeMap<u64, Identity<'_>> = ended.chain(open).collect();
        let is_comparable = match standing.len().cmp(&judged.len()) {
            Ordering::Equal => true,
            Ordering::Less => self.limit.has_dropped(),
            Ordering::Greater => false,
        };
        if !is_comparable {
            return BTreeMap::new();
        }
        let (indexes, calls): (Vec<u64>, Vec<Identity<'_>>) = standing.into_iter().unzip();
        let pairs = indexes.into_iter().zip(pair(&calls, judged));
        let errors = pairs.filter_map(|(index, call)| Some((index, call.error.clone()?)));
        errors.collect()
    }
}
