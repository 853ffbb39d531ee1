//! Ollama's own `/api/chat`: one object per line, the last of which says `done`.

use std::borrow::Cow;

use amplifier_core::{Json, Object};

use crate::answer::Answer;
use crate::block::{Block, BlockType};
use crate::dialect::decoder::DialectDecoder;
use crate::dialect::flow::{Flow, Kind};
use crate::dialect::kept::Kept;
use crate::framing::SseEvent;
use crate::json::{InvalidJson, Piece, Scanner};
use crate::open_block::OpenBlock;
use crate::stream_result::StreamResult;
use crate::usage::{Usage, read_count};

/// Folds the lines of one response.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    is_done: bool,
    flow: Flow,
    /// Counts of tokens and nanoseconds.
    usage: Object,
    kept: Kept,
}

/// What a line says.
#[derive(Debug, Default)]
struct Line<'a> {
    model: Option<Cow<'a, str>>,
    message: Option<&'a str>,
    is_done: bool,
    done_reason: Option<Cow<'a, str>>,
    counts: Vec<(String, Json)>,
    is_error: bool,
    logprobs: Option<&'a str>,
    unpaired: usize,
}

/// What a message gains.
#[derive(Debug, Default)]
struct Message<'a> {
    content: Piece<'a>,
    thinking: Piece<'a>,
    tool_calls: Vec<&'a str>,
    rest: Vec<(String, &'a str)>,
}

impl DialectDecoder for Decoder {
    fn accept(&mut self, frame: &SseEvent<'_>, answer: &mut Answer) {
        let taken = Line::read(&frame.data, &mut self.kept)
            .and_then(|line| self.take(line, &frame.data, answer));
        if let Err(error) = taken {
            answer.fail_stream(&format!("a line is not a JSON object: {error}"));
        }
    }

    fn finish(self: Box<Self>, mut answer: Answer) -> StreamResult {
        let metadata = self.kept.into_object(&mut answer);
        answer.result.metadata.extend(metadata);
        if !self.usage.is_empty() {
            answer.result.raw_usage = Some(self.usage);
        }
        let missing = (!self.is_done).then_some("the line that says `done`");
        let mut result = answer.finish(missing);
        result.stop_reason = (!result.truncated).then(|| stop_reason(&result));
        let count = |key| read_count(result.raw_usage.as_ref()?.get(key)?);
        // Cached prompts are not counted, and thinking tokens are not reported.
        result.usage = Usage {
            input_tokens: count("prompt_eval_count"),
            output_tokens: count("eval_count"),
            ..Usage::default()
        };
        result
    }
}

impl Decoder {
    fn take(&mut self, line: Line<'_>, data: &str, answer: &mut Answer) -> Result<(), InvalidJson> {
        if line.is_error {
            answer.fail_reported(data);
            return Ok(());
        }
        if self.is_done {
            let message = "a line after the one that says `done` was ignored";
            answer.find("event_after_end", None, message, Some(data));
            return Ok(());
        }
        answer.find_unpaired(None, line.unpaired);
        if let Some(model) = line.model
            && answer.result.model.is_none()
        {
            answer.result.model = Some(model.into_owned());
        }
        self.usage.extend(line.counts);
        if let Some(raw) = line.logprobs {
            self.kept.append("logprobs", raw, answer);
        }
        if let Some(raw) = line.message {
            let message = Message::read(raw)?;
            self.flow.grow(Kind::Thinking, message.thinking, answer);
            self.flow.grow(Kind::Text, message.content, answer);
            for raw in message.tool_calls {
                self.flow.end(answer);
                take_call(raw, answer)?;
            }
            for (key, raw) in message.rest {
                self.kept.note_delta(&key, raw, answer);
            }
        }
        if let Some(reason) = line.done_reason {
            answer.result.raw_stop_reason = Some(reason.into_owned());
        }
        if line.is_done {
            self.is_done = true;
            self.flow.end(answer);
        }
        Ok(())
    }
}

/// Takes a call, which always comes whole and mostly without an id.
fn take_call(raw: &str, answer: &mut Answer) -> Result<(), InvalidJson> {
    if answer.drops_call() {
        return Ok(());
    }
    let mut fields = Object::new();
    let mut arguments = None;
    let mut scanner = Scanner::new(raw);
    let mut keep = |key: &str, value: Json| {
        if !value.is_null() {
            fields.insert(key.to_owned(), value);
        }
    };
    scanner.object(|key, scanner| {
        if key != "function" || !scanner.is_at(b'{') {
            keep(key, scanner.value()?);
            return Ok(());
        }
        scanner.object(|key, scanner| {
            match key {
                "arguments" if scanner.is_at_string() => arguments = Some(scanner.string()?),
                "arguments" => arguments = Some(Cow::Borrowed(scanner.raw()?)),
                "index" => {
                    scanner.raw()?;
                }
                _ => keep(key, scanner.value()?),
            }
            Ok(())
        })
    })?;
    let index = answer.next_index();
    answer.find_unpaired(Some(index), scanner.unpaired);
    let mut call = OpenBlock::new(BlockType::ToolCall, fields);
    call.first_input = arguments.map(Cow::into_owned);
    answer.begin(index, call);
    answer.end(index);
    Ok(())
}

/// Without a reason the turn is over too; that the model calls tools, no reason says.
fn stop_reason(result: &StreamResult) -> &'static str {
    match result.raw_stop_reason.as_deref() {
        None | Some("stop" | "") => {
            let mut blocks = result.blocks.iter();
            if blocks.any(|block| matches!(block, Block::ToolCall(_))) {
                "tool_use"
            } else {
                "end_turn"
            }
        }
        Some("length") => "max_tokens",
        Some(_) => "other",
    }
}

impl<'a> Line<'a> {
    fn read(data: &'a str, kept: &mut Kept) -> Result<Self, InvalidJson> {
        let mut line = Self::default();
        let mut scanner = Scanner::new(data);
        scanner.object(|key, scanner| {
            match key {
                "model" if scanner.is_at_string() => line.model = Some(scanner.string()?),
                "message" if scanner.is_at(b'{') => line.message = Some(scanner.raw()?),
                "done" => line.is_done = scanner.raw()? == "true",
                "done_reason" if scanner.is_at_string() => {
                    line.done_reason = Some(scanner.string()?);
                }
                "error" => line.is_error = scanner.raw()? != "null",
                "logprobs" if scanner.is_at(b'[') => line.logprobs = Some(scanner.raw()?),
                _ if key.ends_with("_count") || key.ends_with("_duration") => {
                    line.counts.push((key.to_owned(), scanner.value()?));
                }
                _ => kept.note(key, scanner.raw()?),
            }
            Ok(())
        })?;
        scanner.end()?;
        line.unpaired = scanner.unpaired;
        Ok(line)
    }
}

impl<'a> Message<'a> {
    fn read(raw: &'a str) -> Result<Self, InvalidJson> {
        let mut message = Self::default();
        Scanner::new(raw).object(|key, scanner| {
            match key {
                "content" if scanner.is_at_string() => message.content = scanner.piece()?,
                "thinking" if scanner.is_at_string() => message.thinking = scanner.piece()?,
                "tool_calls" if scanner.is_at(b'[') => {
                    return scanner.array(|scanner| {
                        message.tool_calls.push(scanner.raw()?);
                        Ok(())
                    });
                }
                _ => {
                    let raw = scanner.raw()?;
                    if !matches!((key, raw), (_, "null") | ("role", r#""assistant""#)) {
                        message.rest.push((key.to_owned(), raw));
                    }
                }
            }
            Ok(())
        })?;
        Ok(message)
    }
}
