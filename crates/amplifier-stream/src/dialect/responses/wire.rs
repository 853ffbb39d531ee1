//! The shapes of the wire, read without building what is not needed.

use std::borrow::Cow;

use amplifier_core::{Json, Object};

use crate::json::{InvalidJson, Piece, Scanner};

/// What the request said and the response only repeats; the caller has it.
const REPEATED: [&str; 5] = ["object", "instructions", "tool_choice", "text", "prompt"];

/// The outside of an event; nested values stay text until the type of the event is known.
#[derive(Debug, Default)]
pub(super) struct Envelope<'a> {
    pub(super) kind: Option<Cow<'a, str>>,
    pub(super) output_index: Option<u64>,
    /// The number of the part: `content_index` or `summary_index`.
    pub(super) place: Option<u64>,
    pub(super) delta: Option<Piece<'a>>,
    /// The whole text that the deltas were pieces of.
    pub(super) whole: Option<Piece<'a>>,
    pub(super) item: Option<&'a str>,
    pub(super) part: Option<&'a str>,
    pub(super) annotation: Option<&'a str>,
    pub(super) response: Option<&'a str>,
    pub(super) has_error: bool,
    pub(super) sequence_number: Option<u64>,
}

impl<'a> Envelope<'a> {
    pub(super) fn read(data: &'a str) -> Result<Self, InvalidJson> {
        let mut envelope = Self::default();
        let mut scanner = Scanner::new(data);
        scanner.object(|key, scanner| {
            match key {
                "type" if scanner.is_at_string() => envelope.kind = Some(scanner.string()?),
                "output_index" => envelope.output_index = number(scanner)?,
                "sequence_number" => envelope.sequence_number = number(scanner)?,
                "content_index" | "summary_index" => envelope.place = number(scanner)?,
                "delta" if scanner.is_at_string() => envelope.delta = Some(scanner.piece()?),
                "text" | "refusal" | "arguments" | "input" | "code" if scanner.is_at_string() => {
                    envelope.whole = Some(scanner.piece()?);
                }
                "item" => envelope.item = Some(scanner.raw()?),
                "part" => envelope.part = Some(scanner.raw()?),
                "annotation" => envelope.annotation = Some(scanner.raw()?),
                "response" => envelope.response = Some(scanner.raw()?),
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

/// The status of a whole response; `None` for anything else.
pub(super) fn status_of_whole(data: &str) -> Option<String> {
    let mut is_response = false;
    let mut status = None;
    let read = Scanner::new(data).object(|key, scanner| {
        match key {
            "object" => is_response = scanner.raw()? == r#""response""#,
            "status" if scanner.is_at_string() => status = Some(scanner.string()?),
            _ => {
                scanner.raw()?;
            }
        }
        Ok(())
    });
    let status = status.as_deref().unwrap_or("completed");
    (read.is_ok() && is_response).then(|| status.to_owned())
}

/// An index; one beyond 32 bits counts as missing.
fn number(scanner: &mut Scanner<'_>) -> Result<Option<u64>, InvalidJson> {
    Ok(scanner.raw()?.parse::<u32>().ok().map(u64::from))
}

/// A snapshot of the response.
#[derive(Debug, Default)]
pub(super) struct Response<'a> {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) status: Option<String>,
    pub(super) output: Vec<Json>,
    pub(super) usage: Option<Object>,
    pub(super) error: Option<&'a str>,
    pub(super) tools: Option<&'a str>,
    pub(super) metadata: Object,
    /// Surrogate halves that became U+FFFD.
    pub(super) unpaired: usize,
}

impl<'a> Response<'a> {
    pub(super) fn read(raw: &'a str) -> Result<Self, InvalidJson> {
        let mut response = Self::default();
        let mut scanner = Scanner::new(raw);
        scanner.object(|key, scanner| {
            if REPEATED.contains(&key) {
                scanner.raw()?;
                return Ok(());
            }
            if key == "tools" {
                response.tools = Some(scanner.raw()?);
                return Ok(());
            }
            if key == "error" {
                response.error = Some(scanner.raw()?).filter(|error| *error != "null");
                return Ok(());
            }
            match (key, scanner.value()?) {
                (_, Json::Null) => {}
                ("id", Json::Str(id)) => response.id = Some(id),
                ("model", Json::Str(model)) => response.model = Some(model),
                ("status", Json::Str(status)) => response.status = Some(status),
                ("output", Json::Array(output)) => response.output = output,
                ("usage", Json::Object(usage)) => response.usage = Some(usage),
                (key, value) => {
                    response.metadata.insert(key.to_owned(), value);
                }
            }
            Ok(())
        })?;
        response.unpaired = scanner.unpaired;
        Ok(response)
    }
}
