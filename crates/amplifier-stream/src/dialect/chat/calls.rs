//! The calls of a choice, distinguished although servers disagree on how to number and name them.

use std::collections::{BTreeMap, HashMap};

use amplifier_core::{Json, Object};

use super::wire::Fragment;
use crate::answer::Answer;
use crate::block::BlockType;
use crate::json::Scanner;
use crate::open_block::{OpenBlock, Part};
use crate::steps;

/// The calls so far, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Calls {
    begun: Vec<Call>,
    /// The newest call of each index.
    by_index: BTreeMap<u64, usize>,
    by_id: HashMap<String, usize>,
    /// The call of the deprecated `function_call`.
    function_call: Option<usize>,
}

#[derive(Debug)]
struct Call {
    block_index: u64,
    id: Option<String>,
    name: String,
    is_custom: bool,
    closing: Closing,
}

impl Calls {
    /// Takes the fragments of one delta.
    pub(super) fn take(&mut self, fragments: Vec<Fragment<'_>>, answer: &mut Answer) {
        let is_only = fragments.len() == 1;
        for (position, fragment) in (0..).zip(fragments) {
            let known = match fragment.index {
                Some(index) => self.by_index.get(&index).copied(),
                None => self.find_unnumbered(&fragment, (!is_only).then_some(position)),
            };
            let slot = fragment.index.unwrap_or(position);
            let place = known.and_then(|place| self.continued(place, &fragment, answer));
            if place.is_none() && fragment.is_nothing() {
                continue;
            }
            if let Some(place) = place.or_else(|| self.begin(&fragment, answer)) {
                self.by_index.insert(slot, place);
                self.extend(place, fragment, answer);
            } else {
                // What follows at this index is not of the call that was there before.
                self.by_index.remove(&slot);
            }
        }
    }

    /// Takes a fragment of the one call that the deprecated form has.
    pub(super) fn take_function_call(&mut self, fragment: Fragment<'_>, answer: &mut Answer) {
        let known = self.function_call;
        let place = known.and_then(|place| self.continued(place, &fragment, answer));
        self.function_call = place.or_else(|| self.begin(&fragment, answer));
        if let Some(place) = self.function_call {
            self.extend(place, fragment, answer);
        }
    }

    /// The call that a fragment without an index may belong to: the one with its id, the one at its
    /// place in the list, else the last.
    fn find_unnumbered(&self, fragment: &Fragment<'_>, position: Option<u64>) -> Option<usize> {
        if let Some(&place) = self.by_id.get(fragment.id.as_ref()) {
            return Some(place);
        }
        match position {
            Some(position) => self.by_index.get(&position).copied(),
            None => self.begun.len().checked_sub(1),
        }
    }

    /// The call that a fragment belongs to, if not to a new one: an index may be that of every call.
    fn continued(
        &mut self,
        place: usize,
        fragment: &Fragment<'_>,
        answer: &mut Answer,
    ) -> Option<usize> {
        let call = &mut self.begun[place];
        if let Some(id) = &call.id
            && !fragment.id.is_empty()
            && *id != fragment.id
        {
            return self.by_id.get(fragment.id.as_ref()).copied();
        }
        if fragment.name.is_empty() || call.name.is_empty() {
            return Some(place);
        }
        let written = answer.open(call.block_index).ok()?.text(Part::Input);
        let is_another = *fragment.name != call.name
            || (call.id.is_none() && !fragment.id.is_empty())
            || (!fragment.arguments.is_empty() && call.closing.is_whole(written));
        (!is_another).then_some(place)
    }

    /// Begins a call, unless there are too many.
    fn begin(&mut self, fragment: &Fragment<'_>, answer: &mut Answer) -> Option<usize> {
        if answer.drops_call() {
            return None;
        }
        let mut fields = Object::new();
        for (key, text) in [("id", &fragment.id), ("name", &fragment.name)] {
            if !text.is_empty() {
                fields.insert(key.to_owned(), text.as_ref().into());
            }
        }
        let place = self.begun.len();
        let block_index = answer.next_index();
        answer.begin(block_index, OpenBlock::new(BlockType::ToolCall, fields));
        self.begun.push(Call {
            block_index,
            id: None,
            name: String::new(),
            is_custom: fragment.is_custom,
            closing: Closing::default(),
        });
        Some(place)
    }

    /// Adds a fragment to its call: what names the call is said once, its arguments grow.
    fn extend(&mut self, place: usize, fragment: Fragment<'_>, answer: &mut Answer) {
        let call = &mut self.begun[place];
        let Ok(block) = answer.open(call.block_index) else {
            return;
        };
        if call.id.is_none() && !fragment.id.is_empty() {
            let id = fragment.id.into_owned();
            block.fields.insert("id".to_owned(), id.as_str().into());
            self.by_id.insert(id.clone(), place);
            call.id = Some(id);
        }
        if call.name.is_empty() && !fragment.name.is_empty() {
            call.name = fragment.name.into_owned();
            let name = call.name.as_str().into();
            block.fields.insert("name".to_owned(), name);
        }
        let mut unpaired = 0;
        // What names the call is said once, in its place.
        let rest = fragment.rest.into_iter();
        for (key, raw) in rest.filter(|(key, _)| !matches!(key.as_str(), "id" | "name" | "type")) {
            let mut scanner = Scanner::new(raw);
            let value = scanner.document().unwrap_or_else(|_| Json::from(raw));
            unpaired += scanner.unpaired;
            block.fields.insert(key, value);
        }
        answer.find_unpaired(Some(call.block_index), unpaired);
        let part = if call.is_custom {
            Part::Text
        } else {
            Part::Input
        };
        if call.is_custom || !fragment.arguments.is_empty() {
            // The block is open: only the end of the answer ends it.
            let _ = answer.push(call.block_index, part, fragment.arguments);
        }
    }

    /// Ends every call.
    pub(super) fn end(&mut self, answer: &mut Answer) {
        for call in &self.begun {
            answer.end(call.block_index);
        }
    }
}

/// Where the outermost object of arguments closes; continues where it stopped.
#[derive(Debug, Default)]
struct Closing {
    at: usize,
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    is_whole: bool,
}

impl Closing {
    /// Whether these arguments, which begin with those of the last time, are closed.
    fn is_whole(&mut self, arguments: &str) -> bool {
        steps::count(arguments.len() - self.at);
        for byte in &arguments.as_bytes()[self.at..] {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_in_string => self.is_escaped = true,
                b'"' => self.is_in_string = !self.is_in_string,
                _ if self.is_in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_whole |= self.depth == 0;
                }
                _ => {}
            }
        }
        self.at = arguments.len();
        self.is_whole
    }
}
