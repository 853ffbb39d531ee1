//! One walk through a message: checks, counts, findings.

use std::collections::HashSet;

use amplifier_core::{ContentBlock as KernelBlock, Json, Object};
use indexmap::IndexMap;

use super::{CanBeEmpty, MessageError, MessageProcessor};
use crate::claude::ContentBlock;
use crate::finding::{self, Stretch};
use crate::pointer::Pointer;
use crate::shown::shown;
use crate::{Finding, OnFinding, check_call_id, check_tool_name};

/// The most findings that are kept of a message.
const MOST_FINDINGS: usize = 1_000;

/// What a message holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentStatistics {
    /// How many blocks of each type there are.
    pub blocks: IndexMap<String, u64>,
    /// The characters of its texts, in Unicode code points.
    pub characters: u64,
    /// The same in bytes of UTF-8.
    pub bytes: u64,
}

/// A walk through one message.
pub(super) struct Survey<'a> {
    processor: &'a MessageProcessor,
    open_calls: Option<&'a HashSet<String>>,
    calls: HashSet<&'a str>,
    answered: HashSet<&'a str>,
    place: Place,
    statistics: ContentStatistics,
    findings: Vec<Finding>,
}

/// Which block is looked at.
#[derive(Clone, Copy)]
enum Place {
    Message,
    Block(&'static str, usize),
}

impl<'a> Survey<'a> {
    pub(super) fn new(
        processor: &'a MessageProcessor,
        open_calls: Option<&'a HashSet<String>>,
        blocks: usize,
    ) -> Result<Self, MessageError> {
        let blocks = blocks as u64;
        let most = processor.limits.max_content_blocks;
        if blocks > most {
            return Err(MessageError::TooManyBlocks { blocks, most });
        }
        if blocks == 0 && !processor.can_be_empty(CanBeEmpty::Message) {
            return Err(MessageError::NoBlock);
        }
        Ok(Self {
            processor,
            open_calls,
            calls: HashSet::new(),
            answered: HashSet::new(),
            place: Place::Message,
            statistics: ContentStatistics::default(),
            findings: Vec::new(),
        })
    }

    pub(super) fn end(self) -> Result<(Vec<Finding>, ContentStatistics), MessageError> {
        let findings = self.findings;
        if self.processor.on_finding == OnFinding::Reject && !findings.is_empty() {
            return Err(MessageError::Suspicious { findings });
        }
        Ok((findings, self.statistics))
    }

    pub(super) fn enter(&mut self, base: &'static str, index: usize) {
        self.place = Place::Block(base, index);
    }

    pub(super) fn enter_message(&mut self) {
        self.place = Place::Message;
    }

    pub(super) fn claude(&mut self, block: &'a ContentBlock) -> Result<(), MessageError> {
        self.count(
            block.block_type(),
            matches!(block, ContentBlock::Unknown(_)),
        )?;
        match block {
            ContentBlock::Text(block) => {
                self.text(CanBeEmpty::Text, "text", &block.text)?;
                self.extra(&block.extra)
            }
            ContentBlock::Code(block) => {
                self.text(CanBeEmpty::Text, "text", &block.text)?;
                self.extra(&block.extra)
            }
            ContentBlock::Thinking(block) => {
                self.text(CanBeEmpty::Thinking, "content", &block.content)?;
                self.extra(&block.extra)
            }
            ContentBlock::ToolUse(block) => {
                self.call(&block.id, &block.name)?;
                self.data("input", &block.input)?;
                self.extra(&block.extra)
            }
            ContentBlock::ToolResult(block) => {
                self.answer("tool_use_id", &block.tool_use_id)?;
                self.text(CanBeEmpty::ToolResult, "content", &block.content)?;
                self.extra(&block.extra)
            }
            ContentBlock::Table(block) => {
                let mut place = self.pointer("columns");
                for (index, column) in block.columns.iter().enumerate() {
                    place.push(&index.to_string());
                    self.string(column, &place)?;
                    place.pop();
                }
                let mut place = self.pointer("rows");
                for (index, row) in block.rows.iter().enumerate() {
                    place.push(&index.to_string());
                    self.items(row, &mut place)?;
                    place.pop();
                }
                self.extra(&block.extra)
            }
            ContentBlock::Chart(block) => {
                self.string(&block.kind, &self.pointer("kind"))?;
                self.data("data", &block.data)?;
                self.extra(&block.extra)
            }
            ContentBlock::Image(block) => self.extra(&block.extra),
            ContentBlock::Unknown(block) => self.extra(&block.extra),
        }
    }

    pub(super) fn kernel(&mut self, block: &'a KernelBlock) -> Result<(), MessageError> {
        self.count(block.block_type(), matches!(block, KernelBlock::Unknown(_)))?;
        match block {
            KernelBlock::Text(block) => {
                self.text(CanBeEmpty::Text, "text", &block.text)?;
                self.extra(&block.extra)
            }
            KernelBlock::Thinking(block) => {
                self.text(CanBeEmpty::Thinking, "thinking", &block.thinking)?;
                if let Some(items) = &block.content {
                    self.items(items, &mut self.pointer("content"))?;
                }
                self.extra(&block.extra)
            }
            KernelBlock::ToolCall(block) => {
                self.call(&block.id, &block.name)?;
                self.entries(&block.input, &mut self.pointer("input"))?;
                self.extra(&block.extra)
            }
            KernelBlock::ToolResult(block) => {
                self.answer("tool_call_id", &block.tool_call_id)?;
                match &block.output {
                    Json::Str(text) => self.text(CanBeEmpty::ToolResult, "output", text)?,
                    output => self.data("output", output)?,
                }
                self.extra(&block.extra)
            }
            KernelBlock::Reasoning(block) => {
                self.items(&block.content, &mut self.pointer("content"))?;
                self.items(&block.summary, &mut self.pointer("summary"))?;
                self.extra(&block.extra)
            }
            KernelBlock::RedactedThinking(block) => self.extra(&block.extra),
            KernelBlock::Image(block) => self.extra(&block.extra),
            KernelBlock::Unknown(block) => self.extra(&block.extra),
        }
    }

    /// A text that may not be empty, unless it is of a kind that can be.
    pub(super) fn text(
        &mut self,
        what: CanBeEmpty,
        field: &str,
        text: &str,
    ) -> Result<(), MessageError> {
        if text.is_empty() {
            return self.empty(what, field);
        }
        self.measure(text)?;
        let found = finding::find(text);
        if !found.is_empty() {
            self.note(text, &found, &self.pointer(field));
        }
        Ok(())
    }

    /// The id of the call that a result is for.
    pub(super) fn answer(&mut self, field: &str, id: &'a str) -> Result<(), MessageError> {
        self.id(field, id)?;
        if let Some(open) = self.open_calls {
            let is_open = open.contains(id) || self.calls.contains(id);
            if !is_open || !self.answered.insert(id) {
                return Err(MessageError::UnknownCall {
                    pointer: self.pointer(field).to_string(),
                    id: shown(id),
                });
            }
        }
        Ok(())
    }

    /// The keys of a block or message that are not declared.
    pub(super) fn extra(&mut self, extra: &Object) -> Result<(), MessageError> {
        if extra.is_empty() {
            return Ok(());
        }
        let mut place = self.pointer_to_block();
        self.entries(extra, &mut place)
    }

    /// Counts a block of a type; the name of an unknown type is text of someone else.
    pub(super) fn count(&mut self, block_type: &str, is_unknown: bool) -> Result<(), MessageError> {
        if is_unknown {
            self.measure(block_type)?;
        }
        if let Some(count) = self.statistics.blocks.get_mut(block_type) {
            *count += 1;
        } else {
            self.statistics.blocks.insert(block_type.to_owned(), 1);
        }
        Ok(())
    }

    fn call(&mut self, id: &'a str, name: &str) -> Result<(), MessageError> {
        self.id("id", id)?;
        if !id.is_empty() && !self.calls.insert(id) {
            return Err(MessageError::CallTwice {
                pointer: self.pointer("id").to_string(),
                id: shown(id),
            });
        }
        if name.is_empty() {
            return self.empty(CanBeEmpty::Name, "name");
        }
        check_tool_name(name, self.processor.longest_name()).map_err(|error| MessageError::Name {
            pointer: self.pointer("name").to_string(),
            error,
        })
    }

    fn id(&self, field: &str, id: &str) -> Result<(), MessageError> {
        if id.is_empty() {
            return self.empty(CanBeEmpty::Id, field);
        }
        check_call_id(id).map_err(|error| MessageError::Name {
            pointer: self.pointer(field).to_string(),
            error,
        })
    }

    fn empty(&self, what: CanBeEmpty, field: &str) -> Result<(), MessageError> {
        if self.processor.can_be_empty(what) {
            return Ok(());
        }
        Err(MessageError::Empty {
            what,
            pointer: self.pointer(field).to_string(),
        })
    }

    fn data(&mut self, field: &str, value: &Json) -> Result<(), MessageError> {
        self.value(value, &mut self.pointer(field))
    }

    fn value(&mut self, value: &Json, place: &mut Pointer) -> Result<(), MessageError> {
        match value {
            Json::Str(text) => self.string(text, place),
            Json::Array(items) => self.items(items, place),
            Json::Object(entries) => self.entries(entries, place),
            Json::Null | Json::Bool(_) | Json::Int(_) | Json::BigInt(_) | Json::Float(_) => Ok(()),
        }
    }

    fn items(&mut self, items: &[Json], place: &mut Pointer) -> Result<(), MessageError> {
        for (index, item) in items.iter().enumerate() {
            place.push(&index.to_string());
            self.value(item, place)?;
            place.pop();
        }
        Ok(())
    }

    fn entries(&mut self, entries: &Object, place: &mut Pointer) -> Result<(), MessageError> {
        for (key, value) in entries {
            place.push(key);
            self.measure(key)?;
            self.value(value, place)?;
            place.pop();
        }
        Ok(())
    }

    fn string(&mut self, text: &str, place: &Pointer) -> Result<(), MessageError> {
        self.measure(text)?;
        let found = finding::find(text);
        self.note(text, &found, place);
        Ok(())
    }

    fn measure(&mut self, text: &str) -> Result<(), MessageError> {
        self.statistics.bytes += text.len() as u64;
        self.statistics.characters += text.chars().count() as u64;
        let most = self.processor.limits.message_max_chars;
        if self.statistics.characters > most {
            let characters = self.statistics.characters;
            return Err(MessageError::TooLong { characters, most });
        }
        Ok(())
    }

    /// Keeps what was found in a text, its places counted in characters.
    fn note(&mut self, text: &str, found: &[Stretch], place: &Pointer) {
        let mut at = (0, 0);
        let mut characters = |byte: usize| {
            at = if byte < at.0 { (0, 0) } else { at };
            at = (byte, at.1 + text[at.0..byte].chars().count());
            at.1
        };
        for stretch in found {
            if self.findings.len() == MOST_FINDINGS {
                return;
            }
            let start = characters(stretch.start);
            let end = start + text[stretch.start..stretch.end].chars().count();
            self.findings.push(Finding {
                kind: stretch.kind,
                pointer: place.to_string(),
                start,
                end,
            });
        }
    }

    fn pointer(&self, field: &str) -> Pointer {
        let mut pointer = self.pointer_to_block();
        pointer.push(field);
        pointer
    }

    fn pointer_to_block(&self) -> Pointer {
        let mut pointer = Pointer::default();
        if let Place::Block(base, index) = self.place {
            pointer.push(base);
            pointer.push(&index.to_string());
        }
        pointer
    }
}
