//! From the kernel's messages to the dialect; what it cannot hold is named.

use amplifier_core::{
    ContentBlock as KernelBlock, Degradation, FromJson as _, Json, Message, MessageContent,
    ModelError, Object, Role, ToolResultBlock as KernelResult, UnknownBlock as KernelUnknown,
};

use super::block::{
    ContentBlock, ImageBlock, OtherType, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock,
    UnknownBlock,
};
use super::degradation::Degradations;
use super::into_kernel::KEPT_WHOLE;
use super::memo::Memo;
use super::message::ClaudeMessage;

/// The prefix for the type of an unknown kernel block whose type the dialect knows, but with other
/// fields.
const OF_THE_KERNEL: &str = "kernel/";

const RESULT_IS_TEXT: &str = "a tool result of the Claude dialect is a text";

impl ClaudeMessage {
    /// A message of the kernel in the dialect, and what the dialect cannot express of it.
    ///
    /// A message of the role `tool` or `function` with its call id becomes a message of the user with
    /// a tool result.
    #[must_use]
    pub fn from_kernel(message: Message) -> (Self, Vec<Degradation>) {
        let mut lost = Degradations::default();
        let Message {
            role,
            content,
            name,
            tool_call_id,
            mut metadata,
            mut extra,
        } = message;
        let said = match content {
            MessageContent::Text(text) => vec![KernelBlock::text(text)],
            MessageContent::Blocks(blocks) => blocks,
        };
        let memo = Memo::take(&mut metadata, role, said.len(), &extra);
        let is_result = |block: &KernelBlock| matches!(block, KernelBlock::ToolResult(_));

        let mut content = match (role, tool_call_id) {
            (Role::Tool | Role::Function, Some(id)) if !said.iter().any(is_result) => {
                let is_error = take_bool(&mut extra, "is_error");
                vec![answer(id, &said, is_error, &mut lost)]
            }
            (_, id) => {
                if let Some(id) = id {
                    let why = "in the Claude dialect a `tool_result` names the call";
                    lost.leave_out("tool_call_id", &id.into(), why);
                }
                if !matches!(role, Role::System | Role::User | Role::Assistant) {
                    let found = format!("`{}`", role.as_str());
                    let why = "the roles of the Claude dialect are `user`, `assistant`, `system`";
                    lost.name("role", &found, &format!("`{}`", dialect_role(role)), why);
                }
                let blocks = said.into_iter().enumerate();
                let blocks = blocks.map(|(index, block)| {
                    of_kernel(block, &format!("content[{index}]"), &mut lost)
                });
                blocks.collect()
            }
        };

        let why = "a message of the Claude dialect has no such key";
        if let Some(name) = name {
            lost.leave_out("name", &name.into(), why);
        }
        if let Some(metadata) = metadata {
            lost.leave_out("metadata", &metadata.into(), why);
        }
        if let Some(thinking) = extra.shift_remove("thinking") {
            let why = "in the Claude dialect `thinking` has the message's own blocks";
            lost.leave_out("thinking", &thinking, why);
        }
        let thinking = memo.thinking.map(|count| {
            let rest = content.split_off(count);
            std::mem::replace(&mut content, rest)
        });
        let message = Self {
            role: memo.role.unwrap_or_else(|| dialect_role(role).to_owned()),
            content,
            thinking,
            extra: memo.extra.unwrap_or(extra),
        };
        (message, lost.0)
    }
}

impl ContentBlock {
    /// A block of the kernel in the dialect, and what the dialect cannot hold of it; the places
    /// begin with `block`.
    ///
    /// Reasoning of other forms than `thinking` is kept whole as a block of an unknown type, and
    /// named, as readers of the dialect do not take it for reasoning.
    #[must_use]
    pub fn from_kernel(block: KernelBlock) -> (Self, Vec<Degradation>) {
        let mut lost = Degradations::default();
        let block = of_kernel(block, "block", &mut lost);
        (block, lost.0)
    }
}

/// The role of the dialect for one of the kernel.
fn dialect_role(role: Role) -> &'static str {
    match role {
        Role::System | Role::Developer => "system",
        Role::Assistant => "assistant",
        Role::User | Role::Function | Role::Tool => "user",
    }
}

fn of_kernel(block: KernelBlock, place: &str, lost: &mut Degradations) -> ContentBlock {
    match block {
        KernelBlock::Text(block) => {
            lost.visibility(place, block.visibility);
            ContentBlock::Text(TextBlock {
                text: block.text,
                extra: block.extra,
            })
        }
        KernelBlock::Thinking(block) => {
            lost.visibility(place, block.visibility);
            if let Some(items) = block.content {
                let why = "in the Claude dialect `content` is the text of a thought";
                lost.leave_out(&format!("{place}.content"), &items.into(), why);
            }
            ContentBlock::Thinking(ThinkingBlock {
                content: block.thinking,
                signature: block.signature,
                extra: block.extra,
            })
        }
        KernelBlock::RedactedThinking(block) => {
            lost.visibility(place, block.visibility);
            let fields = [("data", block.data.into())];
            stranger("redacted_thinking", fields, block.extra, place, lost)
        }
        KernelBlock::ToolCall(block) => {
            lost.visibility(place, block.visibility);
            ContentBlock::ToolUse(ToolUseBlock {
                id: block.id,
                name: block.name,
                input: block.input.into(),
                extra: block.extra,
            })
        }
        KernelBlock::ToolResult(block) => ContentBlock::ToolResult(result(block, place, lost)),
        KernelBlock::Image(block) => {
            lost.visibility(place, block.visibility);
            ContentBlock::Image(ImageBlock {
                source: block.source,
                extra: block.extra,
            })
        }
        KernelBlock::Reasoning(block) => {
            lost.visibility(place, block.visibility);
            let fields = [
                ("content", block.content.into()),
                ("summary", block.summary.into()),
            ];
            stranger("reasoning", fields, block.extra, place, lost)
        }
        KernelBlock::Unknown(block) => unknown(block, place, lost),
    }
}

/// A block of a type that the kernel knows and the dialect does not.
fn stranger<const N: usize>(
    block_type: &str,
    fields: [(&str, Json); N],
    extra: Object,
    place: &str,
    lost: &mut Degradations,
) -> ContentBlock {
    lost.name(
        place,
        &format!("a `{block_type}` block"),
        "kept whole as a block of an unknown type",
        "the Claude dialect has no block of this type",
    );
    let fields = fields
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value));
    ContentBlock::Unknown(UnknownBlock {
        block_type: OtherType::new(block_type).expect("a type that the dialect does not know"),
        extra: fields.chain(extra).collect(),
    })
}

fn result(mut block: KernelResult, place: &str, lost: &mut Degradations) -> ToolResultBlock {
    lost.visibility(place, block.visibility);
    let is_error = take_bool(&mut block.extra, "is_error");
    for key in ["tool_use_id", "content", "is_error"] {
        if let Some(value) = block.extra.shift_remove(key) {
            let why = "it has another meaning in a `tool_result` of the Claude dialect";
            lost.leave_out(&format!("{place}.{key}"), &value, why);
        }
    }
    ToolResultBlock {
        tool_use_id: block.tool_call_id,
        content: as_text(block.output, &format!("{place}.output"), lost),
        is_error,
        extra: block.extra,
    }
}

/// The tool result that a message of the role `tool` is.
fn answer(
    tool_use_id: String,
    said: &[KernelBlock],
    is_error: Option<bool>,
    lost: &mut Degradations,
) -> ContentBlock {
    let content = match said {
        [KernelBlock::Text(block)] if block.visibility.is_none() && block.extra.is_empty() => {
            block.text.clone()
        }
        blocks => {
            lost.name(
                "content",
                "an array of blocks",
                "its JSON as text",
                RESULT_IS_TEXT,
            );
            // No block holds a map with other keys than strings: writing it to memory cannot fail.
            serde_json::to_string(blocks).unwrap_or_default()
        }
    };
    ContentBlock::ToolResult(ToolResultBlock {
        tool_use_id,
        content,
        is_error,
        extra: Object::new(),
    })
}

/// The output of a tool as the text that the dialect holds.
fn as_text(output: Json, place: &str, lost: &mut Degradations) -> String {
    match output {
        Json::Str(text) => text,
        other => {
            lost.name(place, other.kind(), "its JSON as text", RESULT_IS_TEXT);
            other.to_string()
        }
    }
}

/// An unknown block of the kernel, which may be one that the dialect knows.
fn unknown(block: KernelUnknown, place: &str, lost: &mut Degradations) -> ContentBlock {
    let KernelUnknown { block_type, extra } = block;
    let block_type = block_type.as_str();
    if let Some(own) = block_type.strip_prefix(KEPT_WHOLE)
        && let Ok(block) = read(own, &extra)
    {
        return block;
    }
    if let Some(block_type) = OtherType::new(block_type) {
        return ContentBlock::Unknown(UnknownBlock { block_type, extra });
    }
    read(block_type, &extra).unwrap_or_else(|_| {
        let own_type = format!("{OF_THE_KERNEL}{block_type}");
        lost.name(
            place,
            &format!("a `{block_type}` block"),
            &format!("kept whole as a block of the unknown type `{own_type}`"),
            "its fields are not those that the Claude dialect has for this type",
        );
        ContentBlock::Unknown(UnknownBlock {
            block_type: OtherType::new(&own_type).expect("no known type has a slash"),
            extra,
        })
    })
}

/// The block of the dialect with this type and these other entries.
fn read(block_type: &str, entries: &Object) -> Result<ContentBlock, ModelError> {
    let mut block = entries.clone();
    block.insert("type".to_owned(), block_type.into());
    ContentBlock::from_json(block.into())
}

/// Take the truth value under a key, if it is one.
fn take_bool(entries: &mut Object, key: &str) -> Option<bool> {
    let value = entries.get(key)?.as_bool()?;
    entries.shift_remove(key);
    Some(value)
}
