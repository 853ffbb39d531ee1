//! The output items of a response, from their announcement to the terminal response.

use std::borrow::Cow;
use std::mem;

use amplifier_core::{Json, Object};

use super::block;
use super::item::Item;
use super::offered_tools::OfferedTools;
use super::source::Source;
use super::state::{Decoder, Phase};
use super::wire::Envelope;
use crate::answer::Answer;
use crate::arguments::parse_arguments;
use crate::block::{Block, BlockType};
use crate::json::Piece;
use crate::open_block::Part;

/// Where items are that are left out: at an index that no place in the output reaches.
const NOWHERE: u64 = u64::MAX;

impl Decoder {
    /// Begins the item at this index of the wire, and says where it really is; `None` for a call that
    /// is left out.
    pub(super) fn begin_item(
        &mut self,
        wire_index: Option<u64>,
        fields: Object,
        is_whole: bool,
        answer: &mut Answer,
    ) -> Option<u64> {
        if self.phase == Phase::Expected {
            self.phase = Phase::Open;
            let message = "the stream began after `response.created`";
            answer.find("missing_response_created", None, message, None);
        }
        let mut index = wire_index.unwrap_or_else(|| answer.next_index());
        if mem::take(&mut self.is_at_start) && answer.has(index) {
            self.drop_items(answer);
            let message =
                "the response came again from its start, and its first items were dropped";
            answer.find("restarted_response", None, message, None);
        }
        let kind = self.offered.block_type(&fields);
        if kind == BlockType::ToolCall && answer.drops_call() {
            if answer.has(index) {
                self.moved.insert(index, NOWHERE);
            }
            return None;
        }
        if answer.has(index) {
            let taken = index;
            index = answer.next_index();
            self.moved.insert(taken, index);
            let message = format!("a second item with index {taken} was put at index {index}");
            answer.find("repeated_index", Some(index), &message, None);
        }
        answer.begin(index, block::open(&fields, kind));
        self.items.insert(index, Item::new(fields, is_whole));
        Some(index)
    }

    /// Drops every item, because they come again.
    pub(super) fn drop_items(&mut self, answer: &mut Answer) {
        answer.drop_blocks();
        self.items.clear();
        self.moved.clear();
    }

    /// Where the item of an event is, if it began; without an index it is the last one.
    ///
    /// Ids cannot be used: some servers send a different one for the same item in each event.
    pub(super) fn find_item(&self, wire_index: Option<u64>, answer: &Answer) -> Option<u64> {
        let index = match wire_index {
            Some(index) => self.moved.get(&index).copied().unwrap_or(index),
            None => answer.next_index().checked_sub(1)?,
        };
        answer.has(index).then_some(index)
    }

    /// Adds a piece to an item, or the part that is missing from the final whole text.
    pub(super) fn extend_item(
        &mut self,
        source: &'static Source,
        is_whole: bool,
        envelope: Envelope<'_>,
        answer: &mut Answer,
    ) -> Result<(), String> {
        let given = if is_whole {
            envelope.whole
        } else {
            envelope.delta
        };
        let Some(mut piece) = given else {
            let missing = || format!("`{}.delta` without a `delta`", source.event);
            return is_whole.then_some(()).ok_or_else(missing);
        };
        let found = self.find_item(envelope.output_index, answer);
        let index = found.or_else(|| {
            let fields = Object::from_iter([("type".to_owned(), source.item_type.into())]);
            self.begin_item(envelope.output_index, fields, false, answer)
        });
        let Some(index) = index else {
            return Ok(());
        };
        let (Some(item), Ok(open)) = (self.items.get_mut(&index), answer.open(index)) else {
            let message = format!(
                "`{}` of item {index} after its end was ignored",
                source.event
            );
            answer.find("delta_after_end", Some(index), &message, None);
            return Ok(());
        };
        let told = open.text(source.part);
        let streamed = item.turn_to(source, envelope.place, told);
        if is_whole {
            match piece.text.strip_prefix(streamed) {
                Some(rest) if !rest.is_empty() => piece.text = Cow::Owned(rest.to_owned()),
                _ => return Ok(()),
            }
        }
        let is_paragraph = item.begins_paragraph(told);
        if is_whole {
            open.forget_half(source.part);
        }
        if is_paragraph {
            tell(index, source.part, "\n\n", answer);
        }
        let pushed = answer.push(index, source.part, piece);
        pushed.map_err(|_| format!("item {index} is not open"))
    }

    /// Ends an item with the content on the wire; what its deltas lack is reported first.
    pub(super) fn end_item(&mut self, index: u64, fields: Object, answer: &mut Answer) {
        let kind = self.offered.block_type(&fields);
        let Some(Item { is_whole, .. }) = self.items.remove(&index) else {
            let message = format!("a second end of item {index} replaced the first");
            answer.find("repeated_end", Some(index), &message, None);
            put(index, fields, kind, answer);
            return;
        };
        if settle(index, &fields, &kind, answer) == Deltas::Different && is_whole {
            let message = "the deltas differ from the text of the item, which counts";
            answer.find("different_deltas", Some(index), message, None);
        }
        let (block, unpaired) = block::from_item(fields, kind);
        answer.find_unpaired(Some(index), unpaired);
        answer.end_as(index, block);
    }

    /// Takes the output of the terminal response; where it has none, the items that ended count.
    pub(super) fn take_output(
        &mut self,
        output: Vec<Json>,
        answer: &mut Answer,
    ) -> Result<(), String> {
        if output.is_empty() {
            return Ok(());
        }
        let known = answer.indices();
        // A number of the wire is a place in the output, unless the server counts in its own way.
        let counts_places = known.last().is_none_or(|last| *last < output.len() as u64);
        let mut left = known.clone();
        for (place, item) in output.into_iter().enumerate() {
            let Json::Object(item) = item else {
                let kind = item.kind();
                return Err(format!(
                    "item {place} of the output is {kind} instead of an object"
                ));
            };
            let index = if counts_places {
                place as u64
            } else {
                let next = || answer.next_index();
                known.get(place).copied().unwrap_or_else(next)
            };
            left.retain(|known| *known != index);
            if self.items.contains_key(&index) {
                self.end_item(index, item, answer);
            } else if answer.has(index) {
                let kind = self.offered.block_type(&item);
                put(index, item, kind, answer);
            } else {
                let begun = self.begin_item(Some(index), item.clone(), false, answer);
                if let Some(index) = begun {
                    self.end_item(index, item, answer);
                }
            }
        }
        for index in left {
            self.items.remove(&index);
            let raw = answer
                .drop_block(index)
                .map(|block| block.to_json().to_string());
            let message = format!("item {index} is not in the output of the response");
            answer.find("dropped_item", Some(index), &message, raw.as_deref());
        }
        Ok(())
    }
}

/// Makes the block of an item that never ended.
pub(super) fn abandon(index: u64, item: Item, offered: &OfferedTools, answer: &mut Answer) {
    let halves = answer.end_texts(index);
    let Ok(open) = answer.open(index) else {
        return;
    };
    let part = match open.block_type() {
        BlockType::Thinking => Part::Thinking,
        BlockType::ToolCall | BlockType::Other(_) if open.text(Part::Text).is_empty() => {
            Part::Input
        }
        _ => Part::Text,
    };
    let fields = item.into_fields(open.text(part));
    let kind = offered.block_type(&fields);
    settle(index, &fields, &kind, answer);
    let (mut block, unpaired) = block::from_item(fields, kind);
    if let Block::ToolCall(call) = &mut block {
        call.error = None;
        call.refuse("the call never ended");
    }
    answer.find_unpaired(Some(index), halves + unpaired);
    answer.replace(index, block);
}

/// What the deltas of an item were, compared with the item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deltas {
    /// The same, or the beginning of it.
    Same,
    /// Something else.
    Different,
    /// Something else, as is usual for thinking: a server may stream the reasoning and its summary,
    /// and the summary alone counts.
    DifferentThinking,
}

/// Makes the deltas of an open item add up to it: adds what they lack or, if they are something else,
/// begins the block again.
fn settle(index: u64, fields: &Object, kind: &BlockType, answer: &mut Answer) -> Deltas {
    let Ok(open) = answer.open(index) else {
        return Deltas::Same;
    };
    let text = block::told(fields);
    let mut is_same = block::is_named_as(open, fields, kind);
    let mut deltas = Deltas::Same;
    if let Some((part, text)) = &text {
        is_same &= open.has_only(*part);
        let streamed = open.text(*part);
        match text.strip_prefix(streamed) {
            Some(rest) => {
                let rest = rest.to_owned();
                open.forget_half(*part);
                if is_same && !rest.is_empty() {
                    tell(index, *part, &rest, answer);
                }
            }
            None if *part == Part::Thinking => deltas = Deltas::DifferentThinking,
            None => {
                deltas = Deltas::Different;
                is_same &= *part == Part::Input && are_same_arguments(streamed, text);
            }
        }
        is_same &= deltas != Deltas::DifferentThinking;
    }
    if !is_same {
        let halves = answer.end_texts(index);
        answer.find_unpaired(Some(index), halves);
        answer.begin_again(index, block::open(fields, kind.clone()), text.as_ref());
    }
    deltas
}

/// Whether two texts are the same arguments, written differently.
fn are_same_arguments(one: &str, other: &str) -> bool {
    match (parse_arguments(one), parse_arguments(other)) {
        (Ok((one, _)), Ok((other, _))) => one == other,
        _ => false,
    }
}

/// Puts an item in the place of one that has ended, and begins the block again if it says something
/// else now.
fn put(index: u64, fields: Object, kind: BlockType, answer: &mut Answer) {
    let text = block::told(&fields);
    let open = block::open(&fields, kind.clone());
    let (block, unpaired) = block::from_item(fields, kind);
    answer.find_unpaired(Some(index), unpaired);
    let ended = answer.ended(index);
    if ended.is_some_and(|ended| block::says_same(ended, &block)) {
        answer.replace(index, block);
    } else {
        answer.begin_again(index, open, text.as_ref());
        answer.end_as(index, block);
    }
}

/// Adds text to a block that is open.
fn tell(index: u64, part: Part, text: &str, answer: &mut Answer) {
    let piece = Piece {
        text: Cow::Borrowed(text),
        ..Piece::default()
    };
    // The caller has checked this: a block that is not open has nothing to report.
    let _ = answer.push(index, part, piece);
}
