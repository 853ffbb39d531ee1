//! The parts that a text block has, by the thinking tags in it.

use amplifier_core::Object;

use super::thinking::{ThinkingEvent, ThinkingParser};
use crate::{Block, Finding};

/// The thinking and the message of a whole text, in order.
pub(super) fn parts(
    mut parser: ThinkingParser,
    text: &str,
    first: u64,
    findings: &mut Vec<Finding>,
) -> Vec<(bool, String)> {
    let mut parts: Vec<(bool, String)> = Vec::new();
    let mut is_open = false;
    let mut find = |kind, message, parts: &[(bool, String)]| {
        let place = u64::try_from(parts.len().saturating_sub(1)).unwrap_or(u64::MAX);
        findings.push(Finding {
            kind,
            block_index: Some(first.saturating_add(place)),
            message,
            raw: None,
        });
    };
    let mut events = parser.feed(text);
    events.extend(parser.flush());
    for event in events {
        match event {
            ThinkingEvent::Start(_) => {
                parts.push((true, String::new()));
                is_open = true;
            }
            ThinkingEvent::Thinking(text) | ThinkingEvent::Message(text) => {
                match parts.last_mut() {
                    Some((is_thinking, part)) if *is_thinking == is_open => part.push_str(&text),
                    _ => parts.push((is_open, text)),
                }
            }
            ThinkingEvent::End { truncated } => {
                is_open = false;
                if truncated {
                    find(
                        "unclosed_thinking",
                        "thinking has no closing tag".to_owned(),
                        &parts,
                    );
                }
            }
            ThinkingEvent::StrayClose(tag) => {
                find(
                    "stray_closing_tag",
                    format!("closing tag `{tag}` has no opening tag"),
                    &parts,
                );
            }
        }
    }
    parts
}

pub(super) fn split(block: &Block, parts: Vec<(bool, String)>) -> Vec<Block> {
    let last = parts.len().saturating_sub(1);
    if parts.is_empty() {
        return vec![with_nothing_said(block)];
    }
    parts
        .into_iter()
        .enumerate()
        .map(|(place, (is_thinking, text))| {
            if !is_thinking && place == last {
                with_text(block, &text)
            } else {
                content(is_thinking, &text)
            }
        })
        .collect()
}

/// The same block, of whose text nothing was left but tags.
fn with_nothing_said(block: &Block) -> Block {
    match block {
        Block::Content(fields) if fields.contains_key("text") => with_text(block, ""),
        Block::Content(_) | Block::ToolCall(_) => block.clone(),
    }
}

/// The same block with another text.
pub(super) fn with_text(block: &Block, text: &str) -> Block {
    match block {
        Block::Content(fields) => {
            let mut fields = fields.clone();
            fields.insert("text".to_owned(), text.into());
            Block::Content(fields)
        }
        Block::ToolCall(_) => block.clone(),
    }
}

pub(super) fn content(is_thinking: bool, text: &str) -> Block {
    let kind = if is_thinking { "thinking" } else { "text" };
    let mut fields = Object::with_capacity(2);
    fields.insert("type".to_owned(), kind.into());
    fields.insert(kind.to_owned(), text.into());
    Block::Content(fields)
}
