//! Output items as blocks.

use amplifier_core::{Json, Object};

use crate::block::{Block, BlockType, ToolCall};
use crate::open_block::{OpenBlock, Part};

/// What an item holds, as opposed to what is said about it.
const CONTENT: [&str; 11] = [
    "type",
    "content",
    "summary",
    "encrypted_content",
    "arguments",
    "input",
    "code",
    "output",
    "outputs",
    "result",
    "results",
];

/// The type of the block that an item becomes.
pub(super) fn block_type(item: &Object) -> BlockType {
    match item.get("type").and_then(Json::as_str) {
        Some("message") => BlockType::Text,
        Some("reasoning") => BlockType::Thinking,
        Some("function_call" | "custom_tool_call") => BlockType::ToolCall,
        Some(name) => BlockType::of_wire(name),
        None => BlockType::default(),
    }
}

/// What is said about an item; a call is named by its `call_id`, as its answer must name it.
fn metadata(item: &Object, kind: &BlockType) -> Object {
    let is_call = *kind == BlockType::ToolCall;
    let fields = item.iter().filter_map(|(key, value)| {
        let key = match key.as_str() {
            key if CONTENT.contains(&key) => return None,
            "id" if is_call => "item_id",
            "call_id" if is_call => "id",
            key => key,
        };
        Some((key.to_owned(), value.clone()))
    });
    fields.collect()
}

/// The open block of an item.
pub(super) fn open(item: &Object, kind: BlockType) -> OpenBlock {
    let metadata = metadata(item, &kind);
    OpenBlock::new(kind, metadata)
}

/// Whether an open block is of the type of an item and, if both are calls, has the same id and name
/// as far as it has them.
pub(super) fn is_named_as(open: &OpenBlock, item: &Object, kind: &BlockType) -> bool {
    let is_same = |key: &str, of_item: &str| {
        let known = open.fields.get(key).and_then(Json::as_str);
        known.is_none_or(|known| item.get(of_item).and_then(Json::as_str) == Some(known))
    };
    open.block_type() == kind
        && (*open.block_type() != BlockType::ToolCall
            || (is_same("id", "call_id") && is_same("name", "name")))
}

/// The text that the deltas of an item add up to, and the part of the block that they add to.
pub(super) fn told(item: &Object) -> Option<(Part, String)> {
    let field = |key: &str| item.get(key).map(written).unwrap_or_default();
    match item.get("type").and_then(Json::as_str)? {
        "message" => {
            let texts = parts(item, "content").filter_map(|part| {
                let key = match part.get("type")?.as_str()? {
                    "output_text" => "text",
                    "refusal" => "refusal",
                    _ => return None,
                };
                part.get(key)?.as_str()
            });
            Some((Part::Text, texts.collect()))
        }
        "reasoning" => Some((Part::Thinking, thinking(item))),
        "function_call" | "mcp_call" => Some((Part::Input, field("arguments"))),
        "custom_tool_call" => Some((Part::Text, field("input"))),
        "code_interpreter_call" => Some((Part::Text, field("code"))),
        _ => None,
    }
}

/// Whether two blocks are the same call, or say the same text or thinking.
pub(super) fn says_same(one: &Block, other: &Block) -> bool {
    match (one, other) {
        (Block::ToolCall(one), Block::ToolCall(other)) => {
            (&one.id, &one.name) == (&other.id, &other.name)
                && one.arguments == other.arguments
                && (one.arguments.is_some() || one.raw_arguments == other.raw_arguments)
        }
        (Block::Content(fields), Block::Content(others)) => {
            let keys = ["text", "refusal", "thinking"];
            one.block_type() == other.block_type()
                && keys.iter().all(|key| fields.get(*key) == others.get(*key))
        }
        _ => false,
    }
}

/// Makes the block of an item; also counts unpaired surrogate halves in the arguments of a call.
///
/// Text, thinking and calls have the item in addition to their content; any other block is its
/// item.
pub(super) fn from_item(item: Object, kind: BlockType) -> (Block, usize) {
    let mut fields = Object::with_capacity(4);
    match kind {
        BlockType::Text => {
            let said = |part_type: &str, key: &str| {
                let parts = parts(&item, "content").filter(|part| is_of(part, part_type));
                parts
                    .filter_map(|part| part.get(key)?.as_str())
                    .collect::<String>()
            };
            let text = said("output_text", "text");
            let refusal = said("refusal", "refusal");
            fields.insert("type".to_owned(), "text".into());
            fields.insert("text".to_owned(), text.into());
            if !refusal.is_empty() {
                fields.insert("refusal".to_owned(), refusal.into());
            }
        }
        BlockType::Thinking => {
            fields.insert("type".to_owned(), "thinking".into());
            fields.insert("thinking".to_owned(), thinking(&item).into());
        }
        BlockType::ToolCall => {
            let (call, unpaired) = call(item);
            return (Block::ToolCall(call), unpaired);
        }
        unknown if unknown == BlockType::default() => {
            fields.insert("type".to_owned(), unknown.as_str().into());
        }
        BlockType::RedactedThinking | BlockType::Other(_) => return (Block::Content(item), 0),
    }
    fields.insert("item".to_owned(), Json::Object(item));
    (Block::Content(fields), 0)
}

fn call(item: Object) -> (ToolCall, usize) {
    let text = |key: &str| item.get(key).and_then(Json::as_str).map(str::to_owned);
    let is_custom = text("type").as_deref() == Some("custom_tool_call");
    let key = if is_custom { "input" } else { "arguments" };
    let is_cut = text("status").as_deref() == Some("incomplete");
    let mut call = ToolCall {
        id: text("call_id"),
        name: text("name").unwrap_or_default(),
        raw_arguments: item.get(key).map(written).unwrap_or_default(),
        is_custom,
        extra: Object::from_iter([("item".to_owned(), Json::Object(item))]),
        ..ToolCall::default()
    };
    let unpaired = call.judge();
    if is_cut {
        call.refuse("the call is incomplete");
    }
    (call, unpaired)
}

/// The parts of the summary with a blank line between them, else the reasoning itself where the
/// server sends that.
fn thinking(item: &Object) -> String {
    let joined = |list: &str, between: &str| {
        let texts = parts(item, list).filter_map(|part| part.get("text")?.as_str());
        let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
        texts.join(between)
    };
    let summary = joined("summary", "\n\n");
    if summary.is_empty() {
        joined("content", "")
    } else {
        summary
    }
}

/// Text as it is, anything else as JSON: some servers send arguments as an object.
fn written(value: &Json) -> String {
    match value {
        Json::Str(text) => text.clone(),
        Json::Null => String::new(),
        value => value.to_string(),
    }
}

fn parts<'item>(item: &'item Object, list: &str) -> impl Iterator<Item = &'item Json> + use<'item> {
    let parts = item.get(list).and_then(Json::as_array);
    parts.into_iter().flatten()
}

fn is_of(part: &Json, part_type: &str) -> bool {
    part.get("type").and_then(Json::as_str) == Some(part_type)
}
