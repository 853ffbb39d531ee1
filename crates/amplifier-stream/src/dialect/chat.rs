//! `OpenAI` Chat Completions, as `OpenAI`, Azure and the vendors that follow them send it.
//!
//! The answer is choice 0. Other choices, which come only if several are requested, are folded too
//! and end up in the metadata under `choices`, where none of their calls may run.

use std::collections::BTreeMap;

use amplifier_core::{Json, Object};

use crate::answer::Answer;
use crate::block::Block;
use crate::dialect::decoder::DialectDecoder;
use crate::dialect::kept::Kept;
use crate::error::ResponseError;
use crate::framing::{BodyEnd, SseEvent};
use crate::json::Scanner;
use crate::stream_result::{Finding, StreamResult};

mod calls;
mod choice;
mod content;
mod end;
mod reasoning;
mod wire;

use choice::Choice;
use wire::Chunk;

/// Choices beside the answer that are folded.
const MAX_CHOICES: usize = 128;

/// Folds the chunks of one response.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    is_done: bool,
    choice: Choice,
    /// The other choices and what they are folded into.
    others: BTreeMap<u64, (Choice, Answer)>,
    has_dropped_choices: bool,
    usage: Option<String>,
    x_groq: Option<String>,
    kept: Kept,
}

impl DialectDecoder for Decoder {
    fn accept(&mut self, frame: &SseEvent<'_>, answer: &mut Answer) {
        let data = frame.data.trim_ascii();
        if data.is_empty() {
            return;
        }
        if frame.event == "error" {
            return answer.fail_reported(data);
        }
        if self.is_done {
            let message = "a chunk after `[DONE]` was ignored";
            return answer.find("event_after_end", None, message, Some(data));
        }
        if data == "[DONE]" {
            self.is_done = true;
            return self.choice.end(answer);
        }
        let taken = Chunk::read(data, &mut self.kept)
            .map_err(|error| format!("a chunk is not JSON: {error}"))
            .and_then(|chunk| self.take(&chunk, data, answer));
        if let Err(problem) = taken {
            answer.fail_stream(&problem);
        }
    }

    fn accept_whole(&mut self, data: &str, answer: &mut Answer) -> bool {
        let Ok(mut chunk) = Chunk::read(data, &mut self.kept) else {
            return false;
        };
        if chunk.is_error || chunk.choices.is_empty() {
            return false;
        }
        for choice in &mut chunk.choices {
            choice.take_message();
        }
        if let Err(problem) = self.take(&chunk, data, answer) {
            answer.fail_stream(&problem);
        }
        self.is_done = true;
        self.choice.end(answer);
        true
    }

    fn finish(mut self: Box<Self>, mut answer: Answer) -> StreamResult {
        self.end_without_done(&mut answer);
        let own = self.choice.kept.into_object(&mut answer);
        let metadata = self.kept.into_object(&mut answer);
        let reason = self.choice.finish_reason;
        if let Some(failure @ ("error" | "insufficient_system_resource")) = reason.as_deref() {
            answer.fail(ResponseError {
                kind: "api_error".to_owned(),
                status: answer.status,
                message: format!("the answer ended with the finish reason `{failure}`"),
                retryable: true,
                ..ResponseError::default()
            });
        }
        let usage = self.usage.or(self.choice.usage);
        let own_usage = usage.as_deref().and_then(read_object);
        let of_groq = || {
            let mut fields = self.x_groq.as_deref().and_then(read_object)?;
            fields.shift_remove("usage")
        };
        let result = &mut answer.result;
        result.raw_usage = own_usage.or_else(|| match of_groq() {
            Some(Json::Object(usage)) => Some(usage),
            _ => None,
        });
        result.raw_stop_reason = reason;
        result.metadata.extend(metadata);
        result.metadata.extend(own);
        if !self.others.is_empty() {
            let others = std::mem::take(&mut self.others);
            let others = others
                .into_iter()
                .map(|(index, (choice, folded))| finish_other(index, choice, folded, &mut answer));
            let others = Json::Array(others.collect());
            answer.result.metadata.insert("choices".to_owned(), others);
        }
        end::finish(answer.finish((!self.is_done).then_some("`[DONE]`")))
    }
}

impl Decoder {
    /// Ends an answer that gave its finish reason in a body of which all came: not every server
    /// sends `[DONE]`.
    fn end_without_done(&mut self, answer: &mut Answer) {
        let is_whole = answer.body_end == BodyEnd::Complete && self.choice.finish_reason.is_some();
        if is_whole && !self.is_done {
            self.is_done = true;
            self.choice.end(answer);
            let message = "the body ended with a finish reason and without `[DONE]`";
            answer.find("missing_terminator", None, message, None);
        }
    }

    fn take(&mut self, chunk: &Chunk<'_>, data: &str, answer: &mut Answer) -> Result<(), String> {
        answer.find_unpaired(None, chunk.unpaired);
        if chunk.is_error {
            answer.fail_reported(data);
        }
        for (text, value) in [
            (&chunk.id, &mut answer.result.id),
            (&chunk.model, &mut answer.result.model),
        ] {
            if value.is_none() && !text.is_empty() {
                *value = Some(text.to_string());
            }
        }
        for (raw, last) in [
            (chunk.usage, &mut self.usage),
            (chunk.x_groq, &mut self.x_groq),
        ] {
            if let Some(raw) = raw.filter(|raw| *raw != "{}") {
                *last = Some(raw.to_owned());
            }
        }
        for choice in &chunk.choices {
            if choice.index == 0 {
                self.choice.take(choice, answer)?;
                continue;
            }
            if self.others.len() >= MAX_CHOICES && !self.others.contains_key(&choice.index) {
                if !std::mem::replace(&mut self.has_dropped_choices, true) {
                    let message = format!("choices after the first {MAX_CHOICES} were left out");
                    answer.find("dropped_choices", None, &message, None);
                }
                continue;
            }
            let (status, max_calls) = (answer.status, answer.max_calls());
            let other = self.others.entry(choice.index);
            let (other, folded) =
                other.or_insert_with(|| (Choice::default(), Answer::new(status, max_calls)));
            other.take(choice, folded)?;
            folded.events.clear();
        }
        Ok(())
    }
}

fn read_object(raw: &str) -> Option<Object> {
    match Scanner::new(raw).document() {
        Ok(Json::Object(fields)) => Some(fields),
        _ => None,
    }
}

/// The blocks of another choice; none of its calls may run.
fn finish_other(index: u64, mut choice: Choice, mut folded: Answer, answer: &mut Answer) -> Json {
    choice.end(&mut folded);
    let mut fields = choice.kept.into_object(&mut folded);
    let result = folded.finish(None);
    let findings = result.findings.into_iter().map(|finding| Finding {
        // A block of the answer has that index too.
        block_index: None,
        ..finding
    });
    answer.result.findings.extend(findings);
    let blocks = result.blocks.into_iter().map(|mut block| {
        if let Block::ToolCall(call) = &mut block {
            call.refuse("the call belongs to another choice");
        }
        block.to_json()
    });
    let blocks = blocks.collect();
    let reason = choice.finish_reason.map_or(Json::Null, Json::Str);
    fields.insert(
        "index".to_owned(),
        i64::try_from(index).unwrap_or(i64::MAX).into(),
    );
    fields.insert("finish_reason".to_owned(), reason);
    fields.insert("blocks".to_owned(), Json::Array(blocks));
    Json::Object(fields)
}
