//! One way through all parts of a message.

use amplifier_core::{ContentBlock as KernelBlock, Json, Message, MessageContent, Object, Role};

use super::place::Place;
use super::rule::CanBeEmpty;
use crate::claude::{ClaudeMessage, ContentBlock};

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

/// Walks through a message of the Claude dialect.
pub(super) fn claude<'a, V: Visit<'a>>(
    message: &'a ClaudeMessage,
    visit: &mut V,
) -> Result<(), V::Stop> {
    entries(&message.extra, Place::Message, visit)?;
    let thoughts = message.thinking.as_deref().unwrap_or_default();
    for (base, blocks) in [("content", &*message.content), ("thinking", thoughts)] {
        let base = Place::Message.name(base);
        for (index, block) in blocks.iter().enumerate() {
            claude_block(block, base.index(index), visit)?;
        }
    }
    Ok(())
}

/// Walks through a message of the kernel.
pub(super) fn kernel<'a, V: Visit<'a>>(message: &'a Message, visit: &mut V) -> Result<(), V::Stop> {
    let place = Place::Message;
    entries(&message.extra, place, visit)?;
    let is_answer = matches!(message.role, Role::Tool | Role::Function);
    if let Some(id) = &message.tool_call_id
        && is_answer
    {
        visit.answer(id, place.name("tool_call_id"))?;
    }
    match &message.content {
        MessageContent::Text(text) => {
            let what = if is_answer {
                CanBeEmpty::ToolResult
            } else {
                CanBeEmpty::Text
            };
            visit.block("text");
            visit.text(text, Part::Whole(what), place.name("content"))
        }
        MessageContent::Blocks(blocks) => {
            let base = place.name("content");
            let mut blocks = blocks.iter().enumerate();
            blocks.try_for_each(|(index, block)| kernel_block(block, base.index(index), visit))
        }
    }
}

fn claude_block<'a, V: Visit<'a>>(
    block: &'a ContentBlock,
    place: Place<'_>,
    visit: &mut V,
) -> Result<(), V::Stop> {
    visit.block(block.block_type());
    let whole = Part::Whole;
    let extra = match block {
        ContentBlock::Text(block) => {
            visit.text(&block.text, whole(CanBeEmpty::Text), place.name("text"))?;
            &block.extra
        }
        ContentBlock::Code(block) => {
            visit.text(&block.text, whole(CanBeEmpty::Text), place.name("text"))?;
            &block.extra
        }
        ContentBlock::Thinking(block) => {
            let part = whole(CanBeEmpty::Thinking);
            visit.text(&block.content, part, place.name("content"))?;
            &block.extra
        }
        ContentBlock::ToolUse(block) => {
            visit.call(&block.id, &block.name, place)?;
            value(&block.input, place.name("input"), visit)?;
            &block.extra
        }
        ContentBlock::ToolResult(block) => {
            visit.answer(&block.tool_use_id, place.name("tool_use_id"))?;
            let part = whole(CanBeEmpty::ToolResult);
            visit.text(&block.content, part, place.name("content"))?;
            &block.extra
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
            &block.extra
        }
        ContentBlock::Chart(block) => {
            visit.text(&block.kind, Part::Value, place.name("kind"))?;
            value(&block.data, place.name("data"), visit)?;
            &block.extra
        }
        ContentBlock::Image(block) => &block.extra,
        ContentBlock::Unknown(block) => {
            visit.text(block.block_type.as_str(), Part::Name, place)?;
            &block.extra
        }
    };
    entries(extra, place, visit)
}

fn kernel_block<'a, V: Visit<'a>>(
    block: &'a KernelBlock,
    place: Place<'_>,
    visit: &mut V,
) -> Result<(), V::Stop> {
    visit.block(block.block_type());
    let whole = Part::Whole;
    let extra = match block {
        KernelBlock::Text(block) => {
            visit.text(&block.text, whole(CanBeEmpty::Text), place.name("text"))?;
            &block.extra
        }
        KernelBlock::Thinking(block) => {
            let part = whole(CanBeEmpty::Thinking);
            visit.text(&block.thinking, part, place.name("thinking"))?;
            let content = block.content.as_deref().unwrap_or_default();
            items(content, place.name("content"), visit)?;
            &block.extra
        }
        KernelBlock::ToolCall(block) => {
            visit.call(&block.id, &block.name, place)?;
            entries(&block.input, place.name("input"), visit)?;
            &block.extra
        }
        KernelBlock::ToolResult(block) => {
            visit.answer(&block.tool_call_id, place.name("tool_call_id"))?;
            match &block.output {
                Json::Str(text) => {
                    let part = whole(CanBeEmpty::ToolResult);
                    visit.text(text, part, place.name("output"))?;
                }
                output => value(output, place.name("output"), visit)?,
            }
            &block.extra
        }
        KernelBlock::Reasoning(block) => {
            items(&block.content, place.name("content"), visit)?;
            items(&block.summary, place.name("summary"), visit)?;
            &block.extra
        }
        KernelBlock::RedactedThinking(block) => &block.extra,
        KernelBlock::Image(block) => &block.extra,
        KernelBlock::Unknown(block) => {
            visit.text(block.block_type.as_str(), Part::Name, place)?;
            &block.extra
        }
    };
    entries(extra, place, visit)
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
