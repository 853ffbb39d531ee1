//! Separates thinking in tags within the blocks of a decoder.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use amplifier_core::{Json, Object};

use super::block_numbers::BlockNumbers;
use super::block_parts::{content, parts, split, with_text};
use super::thinking::{ThinkingEvent, ThinkingParser};
use crate::{Block, BlockType, Change, StreamEvent, StreamResult};

/// Turns text between thinking tags in the text blocks of an answer into thinking blocks.
///
/// It follows the decoder of a model without native thinking: its events and its result go through,
/// and the numbers of the blocks are those after the split. A block that starts again keeps them.
#[derive(Debug, Clone)]
pub struct ThinkingFilter {
    parser: ThinkingParser,
    numbers: BlockNumbers,
    /// The blocks that have begun and not ended, by their numbers in the decoder.
    open: BTreeMap<u64, OpenBlock>,
    /// The ends of the blocks that each block of the decoder became, in case it is dropped.
    ended: HashMap<u64, Vec<StreamEvent>>,
}

#[derive(Debug, Clone)]
enum OpenBlock {
    Other(u64),
    Text(Box<OpenText>),
}

#[derive(Debug, Clone)]
struct OpenText {
    parser: ThinkingParser,
    /// What the provider said about the block, for the first of its parts that is text.
    about: Option<Object>,
    part: Option<Part>,
    has_parts: bool,
}

#[derive(Debug, Clone)]
struct Part {
    index: u64,
    is_thinking: bool,
    text: String,
}

impl ThinkingFilter {
    /// A filter that recognises thinking with this parser.
    #[must_use]
    pub fn new(parser: ThinkingParser) -> Self {
        Self {
            parser,
            numbers: BlockNumbers::default(),
            open: BTreeMap::new(),
            ended: HashMap::new(),
        }
    }

    /// Takes an event of the decoder and returns the events that replace it.
    pub fn feed(&mut self, event: &StreamEvent) -> Vec<StreamEvent> {
        if let Change::Drop(block) = &event.change {
            return self.drop_block(event, block);
        }
        let mut events = Vec::new();
        let mut open = self.open.remove(&event.block_index).unwrap_or_else(|| {
            if event.block_type == BlockType::Text {
                let about = match &event.change {
                    Change::Start(about) => about.clone(),
                    Change::Delta(_)
                    | Change::PartialJson(_)
                    | Change::End(_)
                    | Change::Drop(_) => Object::new(),
                };
                OpenBlock::Text(Box::new(OpenText {
                    parser: self.parser.clone(),
                    about: Some(about),
                    part: None,
                    has_parts: false,
                }))
            } else {
                OpenBlock::Other(self.numbers.next(event.block_index))
            }
        });
        let mut next = || self.numbers.next(event.block_index);
        match (&mut open, &event.change) {
            (OpenBlock::Other(index), _) => events.push(StreamEvent {
                block_index: *index,
                ..event.clone()
            }),
            (OpenBlock::Text(_), Change::Start(_) | Change::PartialJson(_) | Change::Drop(_)) => {}
            (OpenBlock::Text(text), Change::Delta(delta)) => {
                for parsed in text.parser.feed(delta) {
                    text.take(parsed, &mut next, &mut events);
                }
            }
            (OpenBlock::Text(text), Change::End(block)) => {
                text.release(&mut next, &mut events);
                text.finish(block, &mut events);
            }
        }
        if !matches!(event.change, Change::End(_)) {
            self.open.insert(event.block_index, open);
        }
        let ends = events
            .iter()
            .filter(|event| matches!(event.change, Change::End(_)));
        let ended = self.ended.entry(event.block_index).or_default();
        ended.extend(ends.cloned());
        events
    }

    /// Drops every block that a block of the decoder became.
    fn drop_block(&mut self, event: &StreamEvent, block: &Arc<Block>) -> Vec<StreamEvent> {
        self.numbers.free(event.block_index);
        let ended = self.ended.remove(&event.block_index).unwrap_or_default();
        let mut events: Vec<StreamEvent> = ended
            .into_iter()
            .map(|ended| {
                let block = match ended.change {
                    Change::End(part) if event.block_type == BlockType::Text => part,
                    _ => Arc::clone(block),
                };
                StreamEvent {
                    change: Change::Drop(block),
                    ..ended
                }
            })
            .collect();
        match self.open.remove(&event.block_index) {
            Some(OpenBlock::Other(index)) => events.push(StreamEvent {
                block_index: index,
                ..event.clone()
            }),
            Some(OpenBlock::Text(text)) => events.extend(text.part.map(|part| {
                let block = content(part.is_thinking, &part.text);
                part.event(Change::Drop(Arc::new(block)))
            })),
            None => {}
        }
        events
    }

    /// Splits the blocks of the whole answer as their events were.
    #[must_use]
    pub fn finish(mut self, mut result: StreamResult) -> StreamResult {
        let events = std::mem::take(&mut result.events);
        result.events = events.iter().flat_map(|event| self.feed(event)).collect();
        // The result has the text of blocks that never ended, too.
        for (index, open) in &mut self.open {
            if let OpenBlock::Text(text) = open {
                text.release(&mut || self.numbers.next(*index), &mut result.events);
            }
        }
        let mut blocks = Vec::with_capacity(result.blocks.len());
        for block in std::mem::take(&mut result.blocks) {
            let text = match &block {
                Block::Content(fields) if block.block_type() == BlockType::Text => {
                    fields.get("text").and_then(Json::as_str)
                }
                Block::Content(_) | Block::ToolCall(_) => None,
            };
            match text {
                Some(text) => {
                    let index = u64::try_from(blocks.len()).unwrap_or(u64::MAX);
                    let parts = parts(self.parser.clone(), text, index, &mut result.findings);
                    blocks.extend(split(&block, parts));
                }
                None => blocks.push(block),
            }
        }
        result.blocks = blocks;
        result
    }
}

impl OpenText {
    fn take(
        &mut self,
        parsed: ThinkingEvent,
        next: &mut impl FnMut() -> u64,
        events: &mut Vec<StreamEvent>,
    ) {
        match parsed {
            ThinkingEvent::Start(_) => self.begin(true, next, events),
            ThinkingEvent::Thinking(text) => self.add(true, text, next, events),
            ThinkingEvent::Message(text) => self.add(false, text, next, events),
            ThinkingEvent::End { .. } => self.end(None, events),
            ThinkingEvent::StrayClose(_) => {}
        }
    }

    fn begin(
        &mut self,
        is_thinking: bool,
        next: &mut impl FnMut() -> u64,
        events: &mut Vec<StreamEvent>,
    ) {
        self.end(None, events);
        let about = if is_thinking {
            Object::new()
        } else {
            self.about.take().unwrap_or_default()
        };
        let part = Part {
            index: next(),
            is_thinking,
            text: String::new(),
        };
        events.push(part.event(Change::Start(about)));
        self.part = Some(part);
        self.has_parts = true;
    }

    fn add(
        &mut self,
        is_thinking: bool,
        text: String,
        next: &mut impl FnMut() -> u64,
        events: &mut Vec<StreamEvent>,
    ) {
        if self
            .part
            .as_ref()
            .is_none_or(|part| part.is_thinking != is_thinking)
        {
            self.begin(is_thinking, next, events);
        }
        if let Some(part) = &mut self.part {
            part.text.push_str(&text);
            events.push(part.event(Change::Delta(text)));
        }
    }

    fn end(&mut self, whole: Option<Arc<Block>>, events: &mut Vec<StreamEvent>) {
        if let Some(part) = self.part.take() {
            let block = whole.unwrap_or_else(|| Arc::new(content(part.is_thinking, &part.text)));
            events.push(part.event(Change::End(block)));
        }
    }

    /// Takes what the parser holds back; a block in which nothing was said is a text all the same.
    fn release(&mut self, next: &mut impl FnMut() -> u64, events: &mut Vec<StreamEvent>) {
        for parsed in self.parser.flush() {
            // Thinking without its closing tag ends with its block, if that ends.
            if !matches!(parsed, ThinkingEvent::End { .. }) {
                self.take(parsed, next, events);
            }
        }
        if !self.has_parts {
            self.begin(false, next, events);
        }
    }

    /// Ends the block; its metadata about the text goes to the last part that is text.
    fn finish(&mut self, block: &Arc<Block>, events: &mut Vec<StreamEvent>) {
        let last = self.part.as_ref().filter(|part| !part.is_thinking);
        let whole = last.map(|part| {
            // The deltas of a refusal are not the `text` of its block.
            if block.is_refusal() {
                Arc::clone(block)
            } else {
                Arc::new(with_text(block, &part.text))
            }
        });
        self.end(whole, events);
    }
}

impl Part {
    fn event(&self, change: Change) -> StreamEvent {
        StreamEvent {
            block_type: if self.is_thinking {
                BlockType::Thinking
            } else {
                BlockType::Text
            },
            block_index: self.index,
            change,
        }
    }
}
