//! Content that is a list of parts, as Mistral sends it.

use std::borrow::Cow;

use amplifier_core::{Json, Object};

use crate::answer::Answer;
use crate::block::BlockType;
use crate::dialect::flow::{Flow, Kind};
use crate::json::{InvalidJson, Piece, Scanner};
use crate::open_block::OpenBlock;

/// A part, as far as it is text.
#[derive(Debug, Default)]
struct Part<'a> {
    kind: Option<Cow<'a, str>>,
    text: Option<Piece<'a>>,
    thinking: Vec<Piece<'a>>,
    /// What thinking holds besides text.
    others: Vec<&'a str>,
    rest: Object,
    unpaired: usize,
}

/// Adds a part to the text or the thinking; a part of another type is a block as it is.
pub(super) fn take(raw: &str, flow: &mut Flow, answer: &mut Answer) -> Result<(), InvalidJson> {
    if !raw.starts_with('{') {
        let message = "a part of content that is not an object was ignored";
        answer.find("unknown_content", None, message, Some(raw));
        return Ok(());
    }
    let part = Part::read(raw)?;
    let kind = match (part.kind.as_deref(), part.text) {
        (Some("text") | None, Some(text)) => {
            flow.grow(Kind::Text, text, answer);
            Kind::Text
        }
        (Some("text"), None) => Kind::Text,
        (Some("thinking"), _) => {
            for piece in part.thinking {
                flow.grow(Kind::Thinking, piece, answer);
            }
            for raw in part.others {
                let message = "thinking that is not text was ignored";
                answer.find("unknown_content", None, message, Some(raw));
            }
            Kind::Thinking
        }
        (kind, _) => {
            let kind = kind.map(BlockType::of_wire);
            return take_other(kind.unwrap_or_default(), raw, flow, answer);
        }
    };
    if !part.rest.is_empty() {
        let index = flow.block(kind, answer);
        answer.find_unpaired(Some(index), part.unpaired);
        if let Ok(block) = answer.open(index) {
            block.fields.extend(part.rest);
        }
    }
    Ok(())
}

fn take_other(
    block_type: BlockType,
    raw: &str,
    flow: &mut Flow,
    answer: &mut Answer,
) -> Result<(), InvalidJson> {
    let mut scanner = Scanner::new(raw);
    if let Json::Object(fields) = scanner.document()? {
        flow.end(answer);
        let index = answer.next_index();
        answer.find_unpaired(Some(index), scanner.unpaired);
        answer.begin(index, OpenBlock::new(block_type, fields));
        answer.end(index);
    }
    Ok(())
}

impl<'a> Part<'a> {
    fn read(raw: &'a str) -> Result<Self, InvalidJson> {
        let mut part = Self::default();
        let mut scanner = Scanner::new(raw);
        scanner.object(|key, scanner| {
            match key {
                "type" if scanner.is_at_string() => part.kind = Some(scanner.string()?),
                "text" if scanner.is_at_string() => part.text = Some(scanner.piece()?),
                "thinking" if scanner.is_at_string() => part.thinking.push(scanner.piece()?),
                "thinking" if scanner.is_at(b'[') => {
                    return scanner.array(|scanner| part.read_thought(scanner));
                }
                _ => match scanner.value()? {
                    Json::Null => {}
                    // They would change what the block is that the part is added to.
                    _ if matches!(key, "type" | "text" | "thinking" | "refusal") => {}
                    value => {
                        part.rest.insert(key.to_owned(), value);
                    }
                },
            }
            Ok(())
        })?;
        part.unpaired = scanner.unpaired;
        Ok(part)
    }

    /// Reads `{"type": "text", "text": …}` within thinking.
    fn read_thought(&mut self, scanner: &mut Scanner<'a>) -> Result<(), InvalidJson> {
        let raw = scanner.raw()?;
        let mut text = None;
        if raw.starts_with('{') {
            Scanner::new(raw).object(|key, scanner| {
                if key == "text" && scanner.is_at_string() {
                    text = Some(scanner.piece()?);
                } else {
                    scanner.raw()?;
                }
                Ok(())
            })?;
        }
        match text {
            Some(text) => self.thinking.push(text),
            None => self.others.push(raw),
        }
        Ok(())
    }
}
