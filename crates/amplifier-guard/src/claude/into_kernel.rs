//! From the dialect to the kernel's messages, without loss.

use amplifier_core::{
    ContentBlock as KernelBlock, FromJson as _, ImageBlock, Json, Message, MessageContent, Object,
    Role, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock, UnknownBlock, UnknownType,
};

use super::block::{self, ContentBlock};
use super::memo::Memo;
use super::message::ClaudeMessage;

/// The prefix for the type of a dialect block that no variant of the kernel can hold exactly: the
/// block is kept whole as one of this unknown type.
pub(super) const KEPT_WHOLE: &str = "claude/";

impl ClaudeMessage {
    /// The message in the kernel's form; [`from_kernel`](Self::from_kernel) returns the same message.
    ///
    /// The blocks of `thinking` come before the others. The key `claude` of `metadata` holds what the
    /// kernel's message cannot express: the number of `thinking` blocks, a role that the kernel does
    /// not know (replaced by `user`), and keys that mean something else in the kernel.
    #[must_use]
    pub fn into_kernel(self) -> Message {
        let memo = Memo::of(&self).map(Json::from);
        let role = match self.role.as_str() {
            "system" => Role::System,
            "assistant" => Role::Assistant,
            _ => Role::User,
        };
        let blocks = self.thinking.into_iter().flatten().chain(self.content);
        let blocks = blocks.map(ContentBlock::into_kernel).collect();
        let extra = if Memo::keeps(&self.extra) {
            Object::new()
        } else {
            self.extra
        };
        Message {
            role,
            content: MessageContent::Blocks(blocks),
            name: None,
            tool_call_id: None,
            metadata: memo.map(|memo| Object::from([(Memo::KEY.to_owned(), memo)])),
            extra,
        }
    }
}

impl ContentBlock {
    /// The block in the kernel's form; [`from_kernel`](Self::from_kernel) returns the same block.
    ///
    /// `code`, `table`, `chart` and unknown blocks are the kernel's unknown blocks of their type.
    /// So is a block with a key that means something else in the kernel, or whose `input` is not an
    /// object: its type then begins with `claude/`, so that it is not mistaken for the kernel's.
    #[must_use]
    pub fn into_kernel(self) -> KernelBlock {
        match self {
            Self::Text(block) if is_free(&block.extra, TextBlock::KEYS) => {
                KernelBlock::Text(TextBlock {
                    text: block.text,
                    visibility: None,
                    extra: block.extra,
                })
            }
            Self::Thinking(block) if is_free(&block.extra, ThinkingBlock::KEYS) => {
                KernelBlock::Thinking(ThinkingBlock {
                    thinking: block.content,
                    signature: block.signature,
                    visibility: None,
                    content: None,
                    extra: block.extra,
                })
            }
            Self::Image(block) if is_free(&block.extra, ImageBlock::KEYS) => {
                KernelBlock::Image(ImageBlock {
                    source: block.source,
                    visibility: None,
                    extra: block.extra,
                })
            }
            Self::ToolUse(block) => match block.input {
                Json::Object(input) if is_free(&block.extra, ToolCallBlock::KEYS) => {
                    KernelBlock::ToolCall(ToolCallBlock {
                        id: block.id,
                        name: block.name,
                        input,
                        visibility: None,
                        extra: block.extra,
                    })
                }
                _ => whole(Self::ToolUse(block)),
            },
            Self::ToolResult(mut block) if is_free(&block.extra, ToolResultBlock::KEYS) => {
                if let Some(is_error) = block.is_error {
                    let is_error = Json::Bool(is_error);
                    block.extra.shift_insert(0, "is_error".to_owned(), is_error);
                }
                KernelBlock::ToolResult(ToolResultBlock {
                    tool_call_id: block.tool_use_id,
                    output: Json::Str(block.content),
                    visibility: None,
                    extra: block.extra,
                })
            }
            Self::Unknown(block) => known(&block).unwrap_or_else(|| whole(Self::Unknown(block))),
            block => whole(block),
        }
    }

    /// The keys and values of the block without its type.
    fn into_entries(mut self) -> Object {
        let extra = std::mem::take(self.extra_mut());
        let fields = match self {
            Self::Text(block) => vec![("text", block.text.into())],
            Self::ToolUse(block) => vec![
                ("id", block.id.into()),
                ("name", block.name.into()),
                ("input", block.input),
            ],
            Self::ToolResult(block) => vec![
                ("tool_use_id", block.tool_use_id.into()),
                ("content", block.content.into()),
                ("is_error", block.is_error.map_or(Json::Null, Json::Bool)),
            ],
            Self::Thinking(block) => {
                let mut fields = vec![("content", block.content.into())];
                fields.extend(block.signature.map(|text| ("signature", text.into())));
                fields
            }
            Self::Image(block) => vec![("source", block.source.into())],
            Self::Code(block) => vec![
                ("language", block.language.map_or(Json::Null, Json::Str)),
                ("text", block.text.into()),
            ],
            Self::Table(block) => {
                let columns = block.columns.into_iter().map(Json::Str).collect();
                let rows = block.rows.into_iter().map(Json::Array).collect();
                vec![
                    ("columns", Json::Array(columns)),
                    ("rows", Json::Array(rows)),
                ]
            }
            Self::Chart(block) => vec![("kind", block.kind.into()), ("data", block.data)],
            Self::Unknown(_) => vec![],
        };
        let fields = fields
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value));
        let mut entries: Object = fields.collect();
        for (key, value) in extra {
            // A key that shadows a field is not written either.
            entries.entry(key).or_insert(value);
        }
        entries
    }
}

/// Whether no key means something to the kernel.
fn is_free(extra: &Object, declared: &[&str]) -> bool {
    declared.iter().all(|&key| !extra.contains_key(key))
}

/// The kernel's unknown block that keeps a block whole.
fn whole(block: ContentBlock) -> KernelBlock {
    let own = block.block_type();
    let own_type = UnknownType::new(own).filter(|_| !own.starts_with(KEPT_WHOLE));
    let block_type = own_type.unwrap_or_else(|| {
        UnknownType::new(&format!("{KEPT_WHOLE}{own}")).expect("no known type has a slash")
    });
    let extra = block.into_entries();
    KernelBlock::Unknown(UnknownBlock { block_type, extra })
}

/// The block of a type that only the kernel knows, if it is one.
fn known(block: &block::UnknownBlock) -> Option<KernelBlock> {
    let own_type = block.block_type.as_str();
    let is_known = matches!(own_type, "redacted_thinking" | "reasoning");
    if !is_known || block.extra.contains_key("visibility") {
        return None;
    }
    let mut entries = block.extra.clone();
    entries.insert("type".to_owned(), own_type.into());
    KernelBlock::from_json(entries.into()).ok()
}
