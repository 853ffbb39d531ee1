//! One way through all parts of a message.

use amplifier_core::{
    ContentBlock as KernelBlock, Degradation, Json, Message, MessageContent, Object, Role,
};

use super::rule::CanBeEmpty;
use super::thinking::leave_out;
use crate::claude::{ClaudeMessage, CodeBlock, ContentBlock, TextBlock};
use crate::text::pointer::Place;

/// What is done on the way.
pub(super) trait Visit<'a> {
    /// Why it ends early.
    type Stop;

    /// A block of a type.
    fn block(&mut self, _block_type: &'a str) {}

    /// A text.
    fn text(&mut self, text: &'a str, part: Part, place: Place<'_>) -> Result<(), Self::Stop>;

    /// A tool call, by its id and its name.
    fn call(&mut self, _id: &'a str, _name: &'a str, _block: Place<'_>) -> Result<(), Self::Stop> {
        Ok(())
    }

    /// The id of the call that a result is for.
    fn answer(&mut self, _id: &'a str, _place: Place<'_>) -> Result<(), Self::Stop> {
        Ok(())
    }
}

/// What a text is in a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The text of a block, which may be empty only if this can be.
    Whole(CanBeEmpty),
    /// A string in data.
    Value,
    /// A key in data or an unknown type of block: counted, and not looked through.
    Name,
}

/// A message of the Claude dialect or of the kernel.
pub(super) trait Parts {
    /// How many blocks it has.
    fn blocks(&self) -> usize;

    /// Leaves thoughts out, and names each.
    fn leave_out_thoughts(&mut self, lost: &mut Vec<Degradation>);

    /// Goes through all of its parts.
    fn walk<'a, V: Visit<'a>>(&'a self, visit: &mut V) -> Result<(), V::Stop>;
}

impl Parts for ClaudeMessage {
    fn blocks(&self) -> usize {
        self.content.len() + self.thinking.as_ref().map_or(0, Vec::len)
    }

    fn leave_out_thoughts(&mut self, lost: &mut Vec<Degradation>) {
        leave_out("content", &mut self.content, lost, |block| {
            matches!(block, ContentBlock::Thinking(_)) || block.block_type() == "redacted_thinking"
        });
        if let Some(mut thoughts) = self.thinking.take() {
            leave_out("thinking", &mut thoughts, lost, |_| true);
        }
    }

    fn walk<'a, V: Visit<'a>>(&'a self, visit: &mut V) -> Result<(), V::Stop> {
        entries(&self.extra, Place::Whole, visit)?;
        let thoughts = self.thinking.as_deref().unwrap_or_default();
        for (base, blocks) in [("content", &*self.content), ("thinking", thoughts)] {
            let base = Place::Whole.name(base);
            for (index, block) in blocks.iter().enumerate() {
                claude_block(block, base.index(index), visit)?;
            }
        }
        Ok(())
    }
}

impl Parts for Message {
    fn blocks(&self) -> usize {
        match &self.content {
            MessageContent::Text(_) => 1,
            MessageContent::Blocks(blocks) => blocks.len(),
        }
    }

    fn leave_out_thoughts(&mut self, lost: &mut Vec<Degradation>) {
        if let MessageContent::Blocks(blocks) = &mut self.content {
            leave_out("content", blocks, lost, |block| {
                use KernelBlock::{Reasoning, RedactedThinking, Thinking};
                matches!(block, Thinking(_) | RedactedThinking(_) | Reasoning(_))
            });
        }
    }

    fn walk<'a, V: Visit<'a>>(&'a self, visit: &mut V) -> Result<(), V::Stop> {
        let place = Place::Whole;
        entries(&self.extra, place, visit)?;
        let is_answer = matches!(self.role, Role::Tool | Role::Function);
        if let Some(id) = &self.tool_call_id
            && is_answer
        {
            visit.answer(id, place.name("tool_call_id"))?;
        }
        let base = place.name("content");
        match &self.content {
            MessageContent::Text(text) => {
                let what = if is_answer {
                    CanBeEmpty::ToolResult
                } else {
                    CanBeEmpty::Text
                };
                visit.block("text");
                visit.text(text, Part::Whole(what), base)
            }
            MessageContent::Blocks(blocks) => {
                let mut blocks = blocks.iter().enumerate();
                blocks.try_for_each(|(index, block)| kernel_block(block, base.index(index), visit))
            }
        }
    }
}

fn claude_block<'a, V: Visit<'a>>(
    block: &'a ContentBlock,
    place: Place<'_>,
    visit: &mut V,
) -> Result<(), V::Stop> {
    visit.block(block.block_type());
    match block {
        ContentBlock::Text(TextBlock { text, .. }) | ContentBlock::Code(CodeBlock { text, .. }) => {
            visit.text(text, Part::Whole(CanBeEmpty::Text), place.name("text"))?;
        }
        ContentBlock::Thinking(block) => {
            let part = Part::Whole(CanBeEmpty::Thinking);
            visit.text(&block.content, part, place.name("content"))?;
        }
        ContentBlock::ToolUse(block) => {
            visit.call(&block.id, &block.name, place)?;
            value(&block.input, place.name("input"), visit)?;
        }
        ContentBlock::ToolResult(block) => {
            visit.answer(&block.tool_use_id, place.name("tool_use_id"))?;
            let part = Part::Whole(CanBeEmpty::ToolResult);
            visit.text(&block.content, part, place.name("content"))?;
        }
        ContentBlock::Table(block) => {
            let base = place.name("columns");
            for (index, column) in block.columns.iter().enumerate() {
                visit.text(column, Part::Value, base.index(index))?;
            }
            let base = place.name("rows");
            for (index, row) in block.rows.iter().enumerate() {
                items(row, base.index(index), visit)?;
            }
        }
        ContentBlock::Chart(block) => {
            visit.text(&block.kind, Part::Value, place.name("kind"))?;
            value(&block.data, place.name("data"), visit)?;
        }
        ContentBlock::Image(_) => {}
        ContentBlock::Unknown(block) => {
            visit.text(block.block_type.as_str(), Part::Name, place)?;
        }
    }
    entries(block.extra(), place, visit)
}

fn kernel_block<'a, V: Visit<'a>>(
    block: &'a KernelBlock,
    place: Place<'_>,
    visit: &mut V,
) -> Result<(), V::Stop> {
    visit.block(block.block_type());
    match block {
        KernelBlock::Text(block) => {
            let part = Part::Whole(CanBeEmpty::Text);
            visit.text(&block.text, part, place.name("text"))?;
        }
        KernelBlock::Thinking(block) => {
            let part = Part::Whole(CanBeEmpty::Thinking);
            visit.text(&block.thinking, part, place.name("thinking"))?;
            let content = block.content.as_deref().unwrap_or_default();
            items(content, place.name("content"), visit)?;
        }
        KernelBlock::ToolCall(block) => {
            visit.call(&block.id, &block.name, place)?;
            entries(&block.input, place.name("input"), visit)?;
        }
        KernelBlock::ToolResult(block) => {
            visit.answer(&block.tool_call_id, place.name("tool_call_id"))?;
            let place = place.name("output");
            match &block.output {
                Json::Str(text) => visit.text(text, Part::Whole(CanBeEmpty::ToolResult), place)?,
                output => value(output, place, visit)?,
            }
        }
        KernelBlock::Reasoning(block) => {
            items(&block.content, place.name("content"), visit)?;
            items(&block.summary, place.name("summary"), visit)?;
        }
        KernelBlock::RedactedThinking(_) | KernelBlock::Image(_) => {}
        KernelBlock::Unknown(block) => {
            visit.text(block.block_type.as_str(), Part::Name, place)?;
        }
    }
    entries(block.extra(), place, visit)
}

fn value<'a, V: Visit<'a>>(json: &'a Json, place: Place<'_>, visit: &mut V) -> Result<(), V::Stop> {
    match json {
        Json::Str(text) => visit.text(text, Part::Value, place),
        Json::Array(list) => items(list, place, visit),
        Json::Object(object) => entries(object, place, visit),
        Json::Null | Json::Bool(_) | Json::Int(_) | Json::BigInt(_) | Json::Float(_) => Ok(()),
    }
}

fn items<'a, V: Visit<'a>>(
    items: &'a [Json],
    place: Place<'_>,
    visit: &mut V,
) -> Result<(), V::Stop> {
    let mut items = items.iter().enumerate();
    items.try_for_each(|(index, item)| value(item, place.index(index), visit))
}

fn entries<'a, V: Visit<'a>>(
    entries: &'a Object,
    place: Place<'_>,
    visit: &mut V,
) -> Result<(), V::Stop> {
    entries.iter().try_for_each(|(key, item)| {
        let place = place.name(key);
        visit.text(key, Part::Name, place)?;
        value(item, place, visit)
    })
}
