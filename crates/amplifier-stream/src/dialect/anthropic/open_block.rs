//! A block between its start and its end.

use std::sync::Arc;

use amplifier_core::{Json, Object};

use super::wire::Delta;
use crate::arguments::parse_arguments;
use crate::block::{Block, BlockType, ToolCall};
use crate::json::{JsonError, Piece, Scanner};
use crate::stream_event::Change;
use crate::text::Text;

/// What a block holds, as opposed to what is said about it.
const CONTENT: [&str; 10] = [
    "type",
    "text",
    "thinking",
    "signature",
    "data",
    "input",
    "content",
    "citations",
    "encrypted_content",
    "is_error",
];

/// A block that still grows.
#[derive(Debug, Default)]
pub(super) struct OpenBlock {
    block_type: BlockType,
    /// The block as it began, with every key.
    fields: Object,
    text: Option<Text>,
    thinking: Option<Text>,
    /// Fragments of the input of a call.
    input: Option<Text>,
    /// The input that the block began with, as it was written.
    first_input: Option<String>,
}

/// What a delta did.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) change: Option<Change>,
    pub(super) unpaired: usize,
    pub(super) finding: Option<(&'static str, String)>,
}

/// A block that grows no more.
#[derive(Debug)]
pub(super) struct Sealed {
    pub(super) block: Block,
    /// What is still to be told before its end.
    pub(super) changes: Vec<Change>,
    pub(super) unpaired: usize,
    /// Why an input that the client does not run is no JSON, and that input.
    pub(super) finding: Option<(String, String)>,
}

impl OpenBlock {
    /// Reads the block that a start event brings; also counts unpaired surrogate halves.
    pub(super) fn read(raw: &str) -> Result<(Self, usize), JsonError> {
        let mut block = Self::default();
        let mut scanner = Scanner::new(raw);
        scanner.object(|key, scanner| {
            if key == "input" {
                block.first_input = Some(scanner.clone().raw()?.to_owned());
            }
            let value = scanner.value()?;
            block.fields.insert(key.to_owned(), value);
            Ok(())
        })?;
        block.block_type = match block.fields.get("type").and_then(Json::as_str) {
            Some("text") => BlockType::Text,
            Some("thinking") => BlockType::Thinking,
            Some("redacted_thinking") => BlockType::RedactedThinking,
            Some("tool_use") => BlockType::ToolCall,
            Some(name) => BlockType::Other(Arc::from(name)),
            None => BlockType::default(),
        };
        match block.block_type {
            BlockType::Text => block.text = Some(initial_text(&block.fields, "text")),
            BlockType::Thinking => block.thinking = Some(initial_text(&block.fields, "thinking")),
            BlockType::RedactedThinking | BlockType::ToolCall | BlockType::Other(_) => {}
        }
        Ok((block, scanner.unpaired))
    }

    pub(super) fn block_type(&self) -> &BlockType {
        &self.block_type
    }

    /// What is said about the block besides its content.
    pub(super) fn metadata(&self) -> Object {
        let fields = self
            .fields
            .iter()
            .filter(|(key, _)| !CONTENT.contains(&key.as_str()));
        fields
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    /// The text that the block began with, if any.
    pub(super) fn first_text(&self) -> Option<&str> {
        let text = self.text.as_ref().or(self.thinking.as_ref())?.as_str();
        (!text.is_empty()).then_some(text)
    }

    /// The model that answers from here on, in a block that says so.
    pub(super) fn fallback_model(&self) -> Option<&str> {
        if self.block_type.as_str() != "fallback" {
            return None;
        }
        self.fields.get("to")?.get("model")?.as_str()
    }

    /// Applies a delta, of which `raw` is the text.
    pub(super) fn fold(&mut self, delta: Delta<'_>, raw: &str) -> Result<Folded, String> {
        use BlockType::{Other, Text as TextBlock, Thinking, ToolCall as Call};
        let needs = |piece: Option<_>, key: &str| {
            piece.ok_or_else(|| format!("`{}` without a `{key}` string", delta.kind))
        };
        let mut folded = Folded::default();
        match (delta.kind.as_ref(), &self.block_type) {
            ("text_delta", TextBlock | Other(_)) => {
                let piece = needs(delta.text, "text")?;
                let text = self
                    .text
                    .get_or_insert_with(|| initial_text(&self.fields, "text"));
                let (added, unpaired) = text.push(piece);
                folded.change = Some(Change::Delta(added));
                folded.unpaired = unpaired;
            }
            ("thinking_delta", Thinking | Other(_)) => {
                let piece = needs(delta.thinking, "thinking")?;
                let text = self
                    .thinking
                    .get_or_insert_with(|| initial_text(&self.fields, "thinking"));
                let (added, unpaired) = text.push(piece);
                folded.change = Some(Change::Delta(added));
                folded.unpaired = unpaired;
            }
            ("input_json_delta", Call | Other(_)) => {
                let piece = needs(delta.partial_json, "partial_json")?;
                let (added, unpaired) = self.input.get_or_insert_default().push(piece);
                folded.change = Some(Change::PartialJson(added));
                folded.unpaired = unpaired;
            }
            ("signature_delta", Thinking | Other(_)) => {
                folded.unpaired = self.set_signature(needs(delta.signature, "signature")?);
            }
            ("citations_delta", TextBlock | Other(_)) => {
                let (delta, unpaired) = read(raw)?;
                folded.unpaired = unpaired;
                let Json::Object(mut delta) = delta else {
                    return Ok(folded);
                };
                let citation = delta.shift_remove("citation");
                let citation = citation.ok_or("`citations_delta` without a `citation`")?;
                match self.fields.get_mut("citations") {
                    Some(Json::Array(citations)) => citations.push(citation),
                    _ => {
                        self.fields
                            .insert("citations".to_owned(), Json::Array(vec![citation]));
                    }
                }
            }
            ("compaction_delta", Other(_)) => {
                let (delta, unpaired) = read(raw)?;
                folded.unpaired = unpaired;
                let Json::Object(delta) = delta else {
                    return Ok(folded);
                };
                self.fields
                    .extend(delta.into_iter().filter(|(key, _)| key != "type"));
            }
            (
                kind @ ("text_delta" | "thinking_delta" | "input_json_delta" | "signature_delta"
                | "citations_delta" | "compaction_delta"),
                block_type,
            ) => {
                let message = format!("`{kind}` does not belong to a `{block_type}` block");
                folded.finding = Some(("unexpected_delta", message));
            }
            (kind, _) => {
                let message = format!("delta of unknown type `{kind}` was ignored");
                folded.finding = Some(("unknown_delta", message));
            }
        }
        Ok(folded)
    }

    /// The last signature is the one that counts.
    fn set_signature(&mut self, piece: Piece<'_>) -> usize {
        let mut signature = Text::default();
        let (_, mut unpaired) = signature.push(piece);
        unpaired += usize::from(signature.finish().is_some());
        self.fields
            .insert("signature".to_owned(), signature.into_string().into());
        unpaired
    }

    /// Ends the block; its input is parsed here, once.
    pub(super) fn seal(mut self) -> Sealed {
        let mut unpaired = 0;
        let mut changes = Vec::new();
        for (key, text) in [
            ("text", self.text.take()),
            ("thinking", self.thinking.take()),
        ] {
            let Some(mut text) = text else { continue };
            if let Some(rest) = text.finish() {
                unpaired += 1;
                changes.push(Change::Delta(rest));
            }
            self.fields
                .insert(key.to_owned(), text.into_string().into());
        }
        if self.block_type == BlockType::Thinking && !self.fields.contains_key("signature") {
            self.fields.insert("signature".to_owned(), Json::Null);
        }
        let mut input = self.input.take().unwrap_or_default();
        if let Some(rest) = input.finish() {
            unpaired += 1;
            changes.push(Change::PartialJson(rest));
        }
        let mut input = input.into_string();
        let is_call = self.block_type == BlockType::ToolCall;
        if is_call && input.trim_ascii().is_empty() {
            let first = self.first_input.take().unwrap_or_default();
            if !matches!(first.as_str(), "" | "{}" | "null") {
                changes.push(Change::PartialJson(first.clone()));
                input = first;
            }
        }
        if is_call {
            let (call, unpaired_in_arguments) = self.into_call(input);
            unpaired += unpaired_in_arguments;
            return Sealed {
                block: Block::ToolCall(call),
                changes,
                unpaired,
                finding: None,
            };
        }
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

    fn into_call(mut self, raw_arguments: String) -> (ToolCall, usize) {
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
            extra: self.fields,
            ..ToolCall::default()
        };
        let mut unpaired = 0;
        if call.name.is_empty() {
            call.refuse("the call names no tool");
        } else {
            match parse_arguments(&call.raw_arguments) {
                Ok((arguments, count)) => {
                    unpaired = count;
                    call.arguments = Some(arguments);
                }
                Err(error) => call.refuse(&format!("invalid tool arguments: {error}")),
            }
        }
        (call, unpaired)
    }
}

fn initial_text(fields: &Object, key: &str) -> Text {
    let first = fields.get(key).and_then(Json::as_str);
    Text::starting(first.unwrap_or_default().to_owned())
}

/// Reads a whole delta; also counts unpaired surrogate halves.
fn read(raw: &str) -> Result<(Json, usize), String> {
    let mut scanner = Scanner::new(raw);
    let value = scanner.document().map_err(|error| error.to_string())?;
    Ok((value, scanner.unpaired))
}
