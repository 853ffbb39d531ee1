//! The shapes of the wire, read without building what is not needed.

use std::borrow::Cow;

use amplifier_core::{Json, Object};

use crate::json::{InvalidJson, Piece, Scanner};

/// The outside of an event; nested values stay text until the type of the event is known.
#[derive(Debug, Default)]
pub(super) struct Envelope<'a> {
    pub(super) kind: Option<Cow<'a, str>>,
    pub(super) index: Option<u64>,
    pub(super) delta: Option<Delta<'a>>,
    pub(super) content_block: Option<&'a str>,
    pub(super) message: Option<&'a str>,
    pub(super) has_error: bool,
}

impl<'a> Envelope<'a> {
    pub(super) fn read(data: &'a str) -> Result<Self, InvalidJson> {
        let mut envelope = Self::default();
        let mut scanner = Scanner::new(data);
        scanner.object(|key, scanner| {
            match key {
                "type" if scanner.is_at_string() => envelope.kind = Some(scanner.string()?),
                "index" => envelope.index = scanner.raw()?.parse::<u32>().ok().map(u64::from),
                "delta" if scanner.is_at(b'{') => envelope.delta = Some(Delta::read(scanner)?),
                "content_block" => envelope.content_block = Some(scanner.raw()?),
                "message" => envelope.message = Some(scanner.raw()?),
                "error" => envelope.has_error = scanner.raw()? != "null",
                _ => {
                    scanner.raw()?;
                }
            }
            Ok(())
        })?;
        scanner.end()?;
        Ok(envelope)
    }
}

/// A change of a block.
#[derive(Debug, Default)]
pub(super) struct Delta<'a> {
    /// All of it, as it was written.
    pub(super) raw: &'a str,
    pub(super) kind: Cow<'a, str>,
    /// The last of the strings that a block may grow by, with its key.
    last: Option<(&'static str, Piece<'a>)>,
}

impl<'a> Delta<'a> {
    fn read(scanner: &mut Scanner<'a>) -> Result<Self, InvalidJson> {
        let mut delta = Self::default();
        let (read, raw) = scanner.spanned(|scanner| {
            scanner.object(|key, scanner| {
                if key == "type" && scanner.is_at_string() {
                    delta.kind = scanner.string()?;
                } else if let Some(key) = GROWING.into_iter().find(|growing| *growing == key) {
                    delta.last = read_piece(scanner)?.map(|piece| (key, piece));
                } else {
                    scanner.raw()?;
                }
                Ok(())
            })
        });
        delta.raw = raw;
        read.map(|()| delta)
    }

    /// The string under one of the keys that a block may grow by.
    pub(super) fn take_piece(&mut self, wanted: &str) -> Option<Piece<'a>> {
        if let Some((_, piece)) = self.last.take_if(|(key, _)| *key == wanted) {
            return Some(piece);
        }
        let mut found = None;
        let read = Scanner::new(self.raw).object(|key, scanner| {
            if key == wanted {
                found = read_piece(scanner)?;
            } else {
                scanner.raw()?;
            }
            Ok(())
        });
        read.ok().and(found)
    }
}

/// What a delta may add to.
const GROWING: [&str; 4] = ["text", "partial_json", "thinking", "signature"];

/// Reads a string; `null` is an empty one.
fn read_piece<'a>(scanner: &mut Scanner<'a>) -> Result<Option<Piece<'a>>, InvalidJson> {
    if scanner.is_at_string() {
        return scanner.piece().map(Some);
    }
    let raw = scanner.raw()?;
    Ok((raw == "null").then(Piece::default))
}

/// The message that `message_start` announces.
#[derive(Debug, Default)]
pub(super) struct Message<'a> {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) stop_reason: Option<String>,
    pub(super) stop_sequence: Option<String>,
    pub(super) usage: Option<Json>,
    /// Blocks that are complete already.
    pub(super) content: Vec<&'a str>,
    pub(super) extra: Object,
    /// Surrogate halves that became U+FFFD.
    pub(super) unpaired: usize,
}

impl<'a> Message<'a> {
    pub(super) fn read(raw: &'a str) -> Result<Self, InvalidJson> {
        let mut message = Self::default();
        let mut scanner = Scanner::new(raw);
        scanner.object(|key, scanner| {
            if key == "content" && scanner.is_at(b'[') {
                return scanner.array(|scanner| {
                    message.content.push(scanner.raw()?);
                    Ok(())
                });
            }
            match (key, scanner.value()?) {
                ("type" | "role" | "content", _) | (_, Json::Null) => {}
                ("id", Json::Str(id)) => message.id = Some(id),
                ("model", Json::Str(model)) => message.model = Some(model),
                ("stop_reason", Json::Str(reason)) => message.stop_reason = Some(reason),
                ("stop_sequence", Json::Str(text)) => message.stop_sequence = Some(text),
                ("usage", usage) => message.usage = Some(usage),
                (key, value) => {
                    message.extra.insert(key.to_owned(), value);
                }
            }
            Ok(())
        })?;
        message.unpaired = scanner.unpaired;
        Ok(message)
    }
}
