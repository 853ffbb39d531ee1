//! A content block between its start and its end, the same in every dialect.

use amplifier_core::{Json, Object};

use crate::arguments::parse_arguments;
use crate::block::{Block, BlockType, ToolCall};
use crate::json::Piece;
use crate::stream_event::Change;
use crate::text::Text;

/// What a block holds, as opposed to what is said about it.
const CONTENT: [&str; 11] = [
    "type",
    "text",
    "refusal",
    "thinking",
    "signature",
    "data",
    "input",
    "content",
    "citations",
    "encrypted_content",
    "is_error",
];

/// What a delta adds to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The text of the block; of a call, the input that is not JSON.
    Text,
    /// The thinking of the block.
    Thinking,
    /// The JSON of the input of a call.
    Input,
}

/// A block that still grows.
#[derive(Debug, Default)]
pub(crate) struct OpenBlock {
    block_type: BlockType,
    /// The block as it began, with every key; for a call the keys that are not ours too.
    pub(crate) fields: Object,
    text: Option<Text>,
    thinking: Option<Text>,
    /// Fragments of the input of a call.
    input: Option<Text>,
    /// The input that a call began with, as it was written; it counts where no fragment comes.
    pub(crate) first_input: Option<String>,
}

/// A block that grows no more.
#[derive(Debug)]
pub(crate) struct Sealed {
    pub(crate) block: Block,
    /// What is still to be reported before its end.
    pub(crate) changes: Vec<Change>,
    pub(crate) unpaired: usize,
    /// Why an input that the client does not run is not JSON, and that input.
    pub(crate) finding: Option<(String, String)>,
}

impl OpenBlock {
    /// A block that begins with these fields; a call has its `id` and its `name` among them.
    pub(crate) fn new(block_type: BlockType, fields: Object) -> Self {
        let mut block = Self {
            block_type,
            fields,
            ..Self::default()
        };
        match block.block_type {
            BlockType::Text => block.text = Some(initial_text(&block.fields, "text")),
            BlockType::Thinking => block.thinking = Some(initial_text(&block.fields, "thinking")),
            BlockType::RedactedThinking | BlockType::ToolCall | BlockType::Other(_) => {}
        }
        block
    }

    pub(crate) fn block_type(&self) -> &BlockType {
        &self.block_type
    }

    /// What is said about the block besides its content.
    pub(crate) fn metadata(&self) -> Object {
        let fields = self
            .fields
            .iter()
            .filter(|(key, _)| !CONTENT.contains(&key.as_str()));
        fields
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    /// The text that the block began with, if any.
    pub(crate) fn first_text(&self) -> Option<&str> {
        let text = self.text.as_ref().or(self.thinking.as_ref())?.as_str();
        (!text.is_empty()).then_some(text)
    }

    /// Appends a piece; returns the text it adds, and how many unpaired halves became U+FFFD.
    pub(crate) fn push(&mut self, part: Part, piece: Piece<'_>) -> (Change, usize) {
        let text = match part {
            // To a call `text` is a key like any other.
            Part::Text if self.block_type == BlockType::ToolCall => {
                self.text.get_or_insert_default()
            }
            Part::Text => self
                .text
                .get_or_insert_with(|| initial_text(&self.fields, "text")),
            Part::Thinking => self
                .thinking
                .get_or_insert_with(|| initial_text(&self.fields, "thinking")),
            Part::Input => self.input.get_or_insert_default(),
        };
        let (added, unpaired) = text.push(piece);
        let change = match part {
            Part::Text | Part::Thinking => Change::Delta(added),
            Part::Input => Change::PartialJson(added),
        };
        (change, unpaired)
    }

    /// What came of the arguments of a call, and whether they are the text of a custom one.
    pub(crate) fn raw_arguments(&self) -> Option<(&str, bool)> {
        let is_call = self.block_type == BlockType::ToolCall;
        match (&self.text, &self.input) {
            (Some(text), _) if is_call => Some((text.as_str(), true)),
            (_, Some(input)) => Some((input.as_str(), false)),
            (_, None) => is_call.then_some(("", false)),
        }
    }

    /// What was pushed to a part so far.
    pub(crate) fn text(&self, part: Part) -> &str {
        let text = match part {
            Part::Text => &self.text,
            Part::Thinking => &self.thinking,
            Part::Input => &self.input,
        };
        text.as_ref().map_or("", Text::as_str)
    }

    /// Whether nothing was pushed to any part but this one.
    pub(crate) fn has_only(&self, part: Part) -> bool {
        [
            (Part::Text, &self.text),
            (Part::Thinking, &self.thinking),
            (Part::Input, &self.input),
        ]
        .into_iter()
        .all(|(other, text)| other == part || text.as_ref().is_none_or(Text::is_empty))
    }

    /// Forgets the half of a surrogate pair that a part ends with, because the whole text is known.
    pub(crate) fn forget_half(&mut self, part: Part) {
        let text = match part {
            Part::Text => &mut self.text,
            Part::Thinking => &mut self.thinking,
            Part::Input => &mut self.input,
        };
        if let Some(text) = text {
            text.forget_half();
        }
    }

    /// Completes every part; returns the U+FFFD that unpaired halves add, one for each of them.
    pub(crate) fn settle(&mut self) -> Vec<Change> {
        let texts = [&mut self.text, &mut self.thinking].into_iter().flatten();
        let texts = texts.filter_map(|text| text.finish().map(Change::Delta));
        let mut changes: Vec<Change> = texts.collect();
        let rest = self.input.as_mut().and_then(Text::finish);
        changes.extend(rest.map(Change::PartialJson));
        changes
    }

    /// Ends the block; its input is parsed here, once.
    pub(crate) fn seal(mut self) -> Sealed {
        let mut changes = self.settle();
        let mut unpaired = changes.len();
        if self.block_type == BlockType::ToolCall {
            let (call, unpaired_in_arguments) = self.into_call(&mut changes);
            return Sealed {
                block: Block::ToolCall(call),
                changes,
                unpaired: unpaired + unpaired_in_arguments,
                finding: None,
            };
        }
        for (key, text) in [
            (self.text_key(), self.text.take()),
            ("thinking", self.thinking.take()),
        ] {
            if let Some(text) = text {
                let text = text.into_string().into();
                self.fields.insert(key.to_owned(), text);
            }
        }
        if self.block_type == BlockType::Thinking && !self.fields.contains_key("signature") {
            self.fields.insert("signature".to_owned(), Json::Null);
        }
        let input = self.input.take().unwrap_or_default().into_string();
        let mut finding = None;
        if !input.trim_ascii().is_empty() {
            match parse_arguments(&input) {
                Ok((arguments, unpaired_in_arguments)) => {
                    unpaired += unpaired_in_arguments;
                    self.fields
                        .insert("input".to_owned(), Json::Object(arguments));
                }
                Err(error) => {
                    let block_type = &self.block_type;
                    let message = format!("the input of a `{block_type}` block: {error}");
                    finding = Some((message, input));
                }
            }
        }
        Sealed {
            block: Block::Content(self.fields),
            changes,
            unpaired,
            finding,
        }
    }

    /// Where the text of the block belongs: a refusal is text that is not the answer.
    fn text_key(&self) -> &'static str {
        if self.block_type == BlockType::Text && self.fields.contains_key("refusal") {
            "refusal"
        } else {
            "text"
        }
    }

    /// Makes the call; one to which text was pushed is a custom one.
    fn into_call(mut self, changes: &mut Vec<Change>) -> (ToolCall, usize) {
        let is_custom = self.text.is_some();
        let input = self.text.take().or(self.input.take());
        let mut raw_arguments = input.unwrap_or_default().into_string();
        if !is_custom && raw_arguments.trim_ascii().is_empty() {
            let first = self.first_input.take().unwrap_or_default();
            if !matches!(first.as_str(), "" | "{}" | "null") {
                changes.push(Change::PartialJson(first.clone()));
                raw_arguments = first;
            }
        }
        let mut text = |key| match self.fields.shift_remove(key) {
            Some(Json::Str(text)) => Some(text),
            _ => None,
        };
        let (id, name) = (text("id"), text("name").unwrap_or_default());
        self.fields.shift_remove("type");
        self.fields.shift_remove("input");
        let mut call = ToolCall {
            id,
            name,
            raw_arguments,
            is_custom,
            extra: self.fields,
            ..ToolCall::default()
        };
        let unpaired = call.judge();
        (call, unpaired)
    }
}

fn initial_text(fields: &Object, key: &str) -> Text {
    let first = fields.get(key).and_then(Json::as_str);
    Text::starting(first.unwrap_or_default().to_owned())
}
