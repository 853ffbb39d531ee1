//! The shapes of the wire, read without building what is not needed.

use std::borrow::Cow;

use crate::dialect::kept::Kept;
use crate::json::{InvalidJson, Piece, Scanner};

/// The outside of a chunk; what else it says goes to [`Kept`].
#[derive(Debug, Default)]
pub(super) struct Chunk<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) model: Cow<'a, str>,
    pub(super) choices: Vec<Choice<'a>>,
    pub(super) usage: Option<&'a str>,
    /// Usage where Groq puts it besides.
    pub(super) x_groq: Option<&'a str>,
    /// Whether this is an error, in any of the forms that servers use.
    pub(super) is_error: bool,
    /// Surrogate halves that became U+FFFD.
    pub(super) unpaired: usize,
}

/// What a chunk says about one choice.
#[derive(Debug, Default)]
pub(super) struct Choice<'a> {
    pub(super) index: u64,
    pub(super) delta: Option<&'a str>,
    pub(super) finish_reason: Option<Cow<'a, str>>,
    pub(super) logprobs: Option<&'a str>,
    /// Usage where Moonshot puts it.
    pub(super) usage: Option<&'a str>,
    pub(super) rest: Vec<(String, &'a str)>,
}

impl<'a> Chunk<'a> {
    pub(super) fn read(data: &'a str, kept: &mut Kept) -> Result<Self, InvalidJson> {
        let mut chunk = Self::default();
        let mut scanner = Scanner::new(data);
        scanner.object(|key, scanner| {
            match key {
                "id" if scanner.is_at_string() => chunk.id = scanner.string()?,
                "model" if scanner.is_at_string() => chunk.model = scanner.string()?,
                "choices" if scanner.is_at(b'[') => {
                    return scanner.array(|scanner| {
                        chunk.choices.push(Choice::read(scanner)?);
                        Ok(())
                    });
                }
                "usage" => chunk.usage = value(scanner)?,
                "error" => chunk.is_error |= value(scanner)?.is_some(),
                "object" => chunk.is_error |= scanner.raw()? == r#""error""#,
                // Padding against those who measure the lengths of chunks.
                "choices" | "obfuscation" => {
                    scanner.raw()?;
                }
                key => {
                    let raw = scanner.raw()?;
                    if key == "x_groq" {
                        chunk.x_groq = Some(raw);
                    }
                    kept.note(key, raw);
                }
            }
            Ok(())
        })?;
        scanner.end()?;
        chunk.unpaired = scanner.unpaired;
        Ok(chunk)
    }
}

impl<'a> Choice<'a> {
    fn read(scanner: &mut Scanner<'a>) -> Result<Self, InvalidJson> {
        let mut choice = Self::default();
        scanner.object(|key, scanner| {
            match key {
                "index" => choice.index = scanner.raw()?.parse().unwrap_or(0),
                "delta" => choice.delta = value(scanner)?,
                "finish_reason" if scanner.is_at_string() => {
                    choice.finish_reason = Some(scanner.string()?);
                }
                "logprobs" => choice.logprobs = value(scanner)?,
                "usage" => choice.usage = value(scanner)?,
                _ => {
                    if let Some(raw) = value(scanner)? {
                        choice.rest.push((key.to_owned(), raw));
                    }
                }
            }
            Ok(())
        })?;
        Ok(choice)
    }

    /// Takes the message of an answer that is not streamed as the only delta.
    pub(super) fn take_message(&mut self) {
        if let Some(place) = self.rest.iter().position(|(key, _)| key == "message") {
            let (_, message) = self.rest.remove(place);
            self.delta = Some(message);
        }
    }
}

/// What a choice gains.
#[derive(Debug, Default)]
pub(super) struct Delta<'a> {
    pub(super) content: Option<Content<'a>>,
    pub(super) refusal: Option<Piece<'a>>,
    /// `reasoning_content`, else `reasoning`: a server that sends both means the same.
    pub(super) reasoning: Option<Piece<'a>>,
    pub(super) reasoning_details: Option<&'a str>,
    pub(super) tool_calls: Vec<Fragment<'a>>,
    pub(super) function_call: Option<Fragment<'a>>,
    pub(super) rest: Vec<(String, &'a str)>,
    /// Surrogate halves that became U+FFFD in what is not text.
    pub(super) unpaired: usize,
}

/// The content of a delta.
#[derive(Debug)]
pub(super) enum Content<'a> {
    Text(Piece<'a>),
    /// Parts with types of their own, as Mistral sends them.
    Parts(Vec<&'a str>),
}

impl<'a> Delta<'a> {
    pub(super) fn read(raw: &'a str) -> Result<Self, InvalidJson> {
        let mut delta = Self::default();
        let mut second_reasoning = None;
        let mut scanner = Scanner::new(raw);
        scanner.object(|key, scanner| {
            let is_string = scanner.is_at_string();
            match key {
                "content" if is_string => delta.content = Some(Content::Text(scanner.piece()?)),
                "content" if scanner.is_at(b'[') => {
                    let mut parts = Vec::new();
                    scanner.array(|scanner| {
                        parts.push(scanner.raw()?);
                        Ok(())
                    })?;
                    delta.content = Some(Content::Parts(parts));
                }
                "content" if scanner.is_at(b'{') => {
                    delta.content = Some(Content::Parts(vec![scanner.raw()?]));
                }
                "refusal" if is_string => delta.refusal = Some(scanner.piece()?),
                "reasoning_content" if is_string => delta.reasoning = Some(scanner.piece()?),
                "reasoning" if is_string => second_reasoning = Some(scanner.piece()?),
                "reasoning_details" => delta.reasoning_details = value(scanner)?,
                "tool_calls" if scanner.is_at(b'[') => {
                    return scanner.array(|scanner| {
                        delta.tool_calls.push(Fragment::read(scanner)?);
                        Ok(())
                    });
                }
                "tool_calls" if scanner.is_at(b'{') => {
                    delta.tool_calls.push(Fragment::read(scanner)?);
                }
                "function_call" if scanner.is_at(b'{') => {
                    let mut call = Fragment::default();
                    call.read_function(scanner)?;
                    delta.function_call = Some(call).filter(|call| !call.names_nothing());
                }
                "role" if is_string => {
                    let role = scanner.raw()?;
                    if role != r#""assistant""# && role != r#""""# {
                        delta.rest.push((key.to_owned(), role));
                    }
                }
                _ => {
                    if let Some(raw) = value(scanner)? {
                        delta.rest.push((key.to_owned(), raw));
                    }
                }
            }
            Ok(())
        })?;
        if delta.reasoning.as_ref().is_none_or(Piece::is_empty) {
            delta.reasoning = second_reasoning;
        }
        delta.unpaired = scanner.unpaired;
        Ok(delta)
    }
}

/// What a delta adds to a call.
#[derive(Debug, Default)]
pub(super) struct Fragment<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    pub(super) arguments: Piece<'a>,
    /// Whether the call takes text instead of JSON.
    pub(super) is_custom: bool,
    pub(super) rest: Vec<(String, &'a str)>,
}

impl<'a> Fragment<'a> {
    fn read(scanner: &mut Scanner<'a>) -> Result<Self, InvalidJson> {
        let mut fragment = Self::default();
        let mut custom = None;
        let mut is_named_custom = None;
        scanner.object(|key, scanner| {
            match key {
                "index" => fragment.index = scanner.raw()?.parse().ok(),
                "id" if scanner.is_at_string() => fragment.id = scanner.string()?,
                "function" if scanner.is_at(b'{') => fragment.read_function(scanner)?,
                "custom" if scanner.is_at(b'{') => {
                    let mut form = Self::default();
                    form.read_function(scanner)?;
                    custom = Some(form);
                }
                "type" => {
                    is_named_custom = match scanner.raw()? {
                        r#""custom""# => Some(true),
                        r#""function""# => Some(false),
                        _ => None,
                    };
                }
                _ => {
                    if let Some(raw) = value(scanner)? {
                        fragment.rest.push((key.to_owned(), raw));
                    }
                }
            }
            Ok(())
        })?;
        // Some servers send both forms, one of them empty: the type says which counts.
        if let Some(custom) = custom
            && is_named_custom
                .unwrap_or_else(|| fragment.names_nothing() && !custom.names_nothing())
        {
            fragment.is_custom = true;
            fragment.name = custom.name;
            fragment.arguments = custom.arguments;
            fragment.rest.extend(custom.rest);
        }
        Ok(fragment)
    }

    /// Whether it is not about any call.
    pub(super) fn is_nothing(&self) -> bool {
        self.id.is_empty() && self.names_nothing() && self.rest.is_empty()
    }

    /// Whether it names no tool and adds nothing to the arguments of one.
    pub(super) fn names_nothing(&self) -> bool {
        self.name.is_empty() && self.arguments.is_empty()
    }

    fn read_function(&mut self, scanner: &mut Scanner<'a>) -> Result<(), InvalidJson> {
        scanner.object(|key, scanner| {
            match key {
                "name" if scanner.is_at_string() => self.name = scanner.string()?,
                "arguments" | "input" if scanner.is_at_string() => {
                    self.arguments = scanner.piece()?;
                }
                // Some servers send the object itself.
                "arguments" => {
                    let raw = value(scanner)?.unwrap_or_default();
                    self.arguments = Piece::from(raw);
                }
                _ => {
                    if let Some(raw) = value(scanner)? {
                        self.rest.push((key.to_owned(), raw));
                    }
                }
            }
            Ok(())
        })
    }
}

/// The text of a value, unless it is null.
fn value<'a>(scanner: &mut Scanner<'a>) -> Result<Option<&'a str>, InvalidJson> {
    let raw = scanner.raw()?;
    Ok((raw != "null").then_some(raw))
}
