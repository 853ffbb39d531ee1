//! A content block of the wire, and the deltas that make it grow.

use amplifier_core::{Json, Object};

use super::wire::Delta;
use crate::answer::{Answer, NotOpen};
use crate::block::BlockType;
use crate::json::{InvalidJson, Piece, Scanner};
use crate::open_block::{OpenBlock, Part};
use crate::text::Text;

/// Reads the block that a start event brings; also counts unpaired surrogate halves.
pub(super) fn read(raw: &str) -> Result<(OpenBlock, usize), InvalidJson> {
    let mut fields = Object::new();
    let mut first_input = None;
    let mut scanner = Scanner::new(raw);
    scanner.object(|key, scanner| {
        if key == "input" {
            first_input = Some(scanner.clone().raw()?.to_owned());
        }
        let value = scanner.value()?;
        fields.insert(key.to_owned(), value);
        Ok(())
    })?;
    let block_type = match fields.get("type").and_then(Json::as_str) {
        Some("text") => BlockType::Text,
        Some("thinking") => BlockType::Thinking,
        Some("redacted_thinking") => BlockType::RedactedThinking,
        Some("tool_use") => BlockType::ToolCall,
        Some(name) => BlockType::of_wire(name),
        None => BlockType::default(),
    };
    let mut block = OpenBlock::new(block_type, fields);
    block.first_input = first_input;
    Ok((block, scanner.unpaired))
}

/// The model that answers from here on, in a block that says so.
pub(super) fn fallback_model(block: &OpenBlock) -> Option<&str> {
    if block.block_type().as_str() != "fallback" {
        return None;
    }
    block.fields.get("to")?.get("model")?.as_str()
}

/// Applies a delta to the block at `index`.
pub(super) fn fold(index: u64, mut delta: Delta<'_>, answer: &mut Answer) -> Result<(), String> {
    use BlockType::{Other, Text as TextBlock, Thinking, ToolCall};
    let not_open = |why| match why {
        NotOpen::Ended => format!("a delta for block {index} after its end"),
        NotOpen::NeverBegan => format!("a delta for block {index}, which never began"),
    };
    let block = answer.open(index).map_err(not_open)?;
    let kind = std::mem::take(&mut delta.kind);
    let mut needs = |key: &str| {
        let piece = delta.take_piece(key);
        piece.ok_or_else(|| format!("`{kind}` without a `{key}` string"))
    };
    let (part, piece) = match (kind.as_ref(), block.block_type()) {
        ("text_delta", TextBlock | Other(_)) => (Part::Text, needs("text")?),
        ("thinking_delta", Thinking | Other(_)) => (Part::Thinking, needs("thinking")?),
        ("input_json_delta", ToolCall | Other(_)) => (Part::Input, needs("partial_json")?),
        ("signature_delta", Thinking | Other(_)) => {
            let unpaired = set_signature(block, needs("signature")?);
            answer.find_unpaired(Some(index), unpaired);
            return Ok(());
        }
        ("citations_delta", TextBlock | Other(_)) | ("compaction_delta", Other(_)) => {
            let mut scanner = Scanner::new(delta.raw);
            let delta = scanner.document().map_err(|error| error.to_string())?;
            let unpaired = scanner.unpaired;
            if let Json::Object(delta) = delta {
                fold_whole(block, delta)?;
            }
            answer.find_unpaired(Some(index), unpaired);
            return Ok(());
        }
        (
            kind @ ("text_delta" | "thinking_delta" | "input_json_delta" | "signature_delta"
            | "citations_delta" | "compaction_delta"),
            block_type,
        ) => {
            let message = format!("`{kind}` does not belong to a `{block_type}` block");
            answer.find("unexpected_delta", Some(index), &message, Some(delta.raw));
            return Ok(());
        }
        (kind, _) => {
            let message = format!("delta of unknown type `{kind}` was ignored");
            answer.find("unknown_delta", Some(index), &message, Some(delta.raw));
            return Ok(());
        }
    };
    answer.push(index, part, piece).map_err(not_open)
}

/// Applies a delta that is not a piece of a text.
fn fold_whole(block: &mut OpenBlock, mut delta: Object) -> Result<(), String> {
    if delta.get("type").and_then(Json::as_str) == Some("compaction_delta") {
        let given = delta.into_iter().filter(|(key, _)| key != "type");
        block.fields.extend(given);
        return Ok(());
    }
    let citation = delta.shift_remove("citation");
    let citation = citation.ok_or("`citations_delta` without a `citation`")?;
    if let Some(Json::Array(citations)) = block.fields.get_mut("citations") {
        citations.push(citation);
    } else {
        let citations = Json::Array(vec![citation]);
        block.fields.insert("citations".to_owned(), citations);
    }
    Ok(())
}

/// The last signature is the one that counts.
fn set_signature(block: &mut OpenBlock, piece: Piece<'_>) -> usize {
    let mut signature = Text::default();
    let (_, mut unpaired) = signature.push(piece);
    unpaired += usize::from(signature.finish().is_some());
    let signature = signature.into_string().into();
    block.fields.insert("signature".to_owned(), signature);
    unpaired
}
