//! `OpenAI` Responses: the events of one response, folded into one block for each output item.
//!
//! Deltas are for those who watch. The item that `response.output_item.done` brings replaces what
//! they add up to, and the output of the terminal response replaces those items.

use std::borrow::Cow;
use std::mem;

use amplifier_core::{Json, Object};

use crate::answer::Answer;
use crate::dialect::decoder::DialectDecoder;
use crate::framing::SseEvent;
use crate::json::Scanner;
use crate::stream_result::StreamResult;

mod block;
mod end;
mod item;
mod offered_tools;
mod output;
mod sequence;
mod source;
mod state;
mod wire;

pub(crate) use state::Decoder;

use sequence::Sequence;
use source::{List, Source};
use state::Phase;
use wire::{Envelope, Response};

impl DialectDecoder for Decoder {
    fn accept(&mut self, frame: &SseEvent<'_>, answer: &mut Answer) {
        let taken = match Envelope::read(&frame.data) {
            Ok(mut envelope) => {
                self.sequence.take(envelope.sequence_number);
                let kind = match envelope.kind.take() {
                    Some(kind) => kind,
                    // Gateways report errors in the form of a body.
                    None if envelope.has_error => Cow::Borrowed("error"),
                    None => Cow::Borrowed(frame.event.as_ref()),
                };
                self.take(&kind, envelope, &frame.data, answer)
            }
            Err(error) => self.take_unreadable(frame, &error.to_string(), answer),
        };
        if let Err(problem) = taken {
            answer.fail_stream(&problem);
        }
    }

    fn accept_whole(&mut self, data: &str, answer: &mut Answer) -> bool {
        let Some(status) = wire::status_of_whole(data) else {
            return false;
        };
        self.phase = Phase::Open;
        let kind = match status.as_str() {
            "completed" | "complete" => "response.completed",
            "incomplete" => "response.incomplete",
            "failed" => "response.failed",
            "cancelled" => "response.cancelled",
            // Such as `queued`: the answer is still to come.
            _ => {
                let status = Json::Str(status);
                answer.result.metadata.insert("status".to_owned(), status);
                "response.in_progress"
            }
        };
        let envelope = Envelope {
            response: Some(data),
            ..Envelope::default()
        };
        if let Err(problem) = self.take(kind, envelope, data, answer) {
            answer.fail_stream(&problem);
        }
        true
    }

    fn finish(mut self: Box<Self>, mut answer: Answer) -> StreamResult {
        self.sequence.report(&mut answer);
        for (index, item) in mem::take(&mut self.items) {
            output::abandon(index, item, &self.offered, &mut answer);
        }
        let is_ended = self.phase == Phase::Ended;
        let missing = "its terminal event (`response.completed`, `.incomplete` or `.failed`)";
        end::finish(answer.finish((!is_ended).then_some(missing)))
    }
}

impl Decoder {
    fn take(
        &mut self,
        kind: &str,
        envelope: Envelope<'_>,
        data: &str,
        answer: &mut Answer,
    ) -> Result<(), String> {
        if matches!(kind, "ping" | "keepalive") {
            return Ok(());
        }
        if kind == "error" {
            answer.fail_reported(data);
            return Ok(());
        }
        if self.phase == Phase::Ended {
            let message = format!("`{kind}` after the end of the response was ignored");
            answer.find("event_after_end", None, &message, Some(data));
            return Ok(());
        }
        if let Some((source, is_whole)) = Source::of(kind) {
            return self.extend_item(source, is_whole, envelope, answer);
        }
        match kind {
            "response.created" | "response.queued" | "response.in_progress" => {
                self.phase = Phase::Open;
                if let Some(response) = envelope.response {
                    let response = read_response(response)?;
                    if kind == "response.created" {
                        self.restart_for(response.id.as_deref(), answer);
                    }
                    self.take_response(response, answer);
                }
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                let response = envelope
                    .response
                    .map_or(Ok(Response::default()), read_response)?;
                let (status, output) = self.take_response(response, answer);
                self.take_output(output, answer)?;
                end::take_status(kind, status, answer);
                self.phase = Phase::Ended;
            }
            "response.output_item.added" => {
                let item = read_object("item", envelope.item, answer)?;
                self.begin_item(envelope.output_index, item, true, answer);
            }
            "response.output_item.done" => {
                let item = read_object("item", envelope.item, answer)?;
                let found = self.find_item(envelope.output_index, answer);
                let index = found.or_else(|| {
                    self.begin_item(envelope.output_index, item.clone(), false, answer)
                });
                if let Some(index) = index {
                    self.end_item(index, item, answer);
                }
            }
            "response.content_part.added" => {
                self.take_part(List::Content, false, &envelope, answer)?;
            }
            "response.content_part.done" => {
                self.take_part(List::Content, true, &envelope, answer)?;
            }
            "response.reasoning_summary_part.added" => {
                self.take_part(List::Summary, false, &envelope, answer)?;
            }
            "response.reasoning_summary_part.done" => {
                self.take_part(List::Summary, true, &envelope, answer)?;
            }
            "response.output_text.annotation.added" => {
                let annotation = read_object("annotation", envelope.annotation, answer)?;
                let index = self.find_item(envelope.output_index, answer);
                if let Some(item) = index.and_then(|index| self.items.get_mut(&index)) {
                    item.annotate(envelope.place, Json::Object(annotation));
                }
            }
            _ if is_progress(kind) => {}
            _ => {
                let message = format!("event of unknown type `{kind}` was ignored");
                answer.find("unknown_event", None, &message, Some(data));
            }
        }
        Ok(())
    }

    /// Drops everything that came before the creation of another response: a proxy lost its upstream
    /// and sent a second, whole answer after the part of the first.
    fn restart_for(&mut self, id: Option<&str>, answer: &mut Answer) {
        self.is_at_start = true;
        let Some(known) = answer.result.id.as_deref() else {
            return;
        };
        if id.is_none_or(|id| id == known) {
            return;
        }
        let message = format!("response `{known}` was dropped when another began in its stream");
        answer.find("restarted_response", None, &message, None);
        answer.restart();
        self.drop_items(answer);
        self.sequence = Sequence::default();
    }

    /// Takes a snapshot and returns its status and its output.
    fn take_response(
        &mut self,
        response: Response<'_>,
        answer: &mut Answer,
    ) -> (Option<String>, Vec<Json>) {
        if let Some(tools) = response.tools {
            self.offered.take(tools);
        }
        answer.find_unpaired(None, response.unpaired);
        if let Some(error) = response.error {
            answer.fail_reported(error);
        }
        let result = &mut answer.result;
        result.id = response.id.or(result.id.take());
        result.model = response.model.or(result.model.take());
        result.raw_usage = response.usage.or(result.raw_usage.take());
        result.metadata.extend(response.metadata);
        (response.status, response.output)
    }

    fn take_part(
        &mut self,
        list: List,
        is_final: bool,
        envelope: &Envelope<'_>,
        answer: &mut Answer,
    ) -> Result<(), String> {
        let part = read_object("part", envelope.part, answer)?;
        let index = self.find_item(envelope.output_index, answer);
        if let Some(item) = index.and_then(|index| self.items.get_mut(&index)) {
            item.set_part(list, envelope.place, Json::Object(part), is_final);
        }
        Ok(())
    }

    /// Judges an event whose data is no JSON object: what it said is lost, which matters unless it
    /// could not have been part of the answer.
    fn take_unreadable(
        &mut self,
        frame: &SseEvent<'_>,
        problem: &str,
        answer: &mut Answer,
    ) -> Result<(), String> {
        let name = frame.event.as_ref();
        let is_of_answer = name == "message" || name.starts_with("response.");
        match name {
            "ping" | "keepalive" => {}
            // What ends a stream of Chat Completions ends that of some servers here too.
            _ if frame.data == "[DONE]" => {}
            "error" => answer.fail_reported(&frame.data),
            _ if is_of_answer && self.phase != Phase::Ended && !is_progress(name) => {
                return Err(format!("the data of `{name}` is not JSON: {problem}"));
            }
            _ => {
                let message = format!("event `{name}` without JSON was ignored: {problem}");
                answer.find("unreadable_event", None, &message, Some(&frame.data));
            }
        }
        Ok(())
    }
}

fn read_response(raw: &str) -> Result<Response<'_>, String> {
    match raw {
        "null" => Ok(Response::default()),
        raw => Response::read(raw).map_err(|error| error.to_string()),
    }
}

/// Reads a nested value of an event.
fn read_object(key: &str, raw: Option<&str>, answer: &mut Answer) -> Result<Object, String> {
    let mut scanner = Scanner::new(raw.unwrap_or("null"));
    let value = scanner.document().map_err(|error| error.to_string())?;
    answer.find_unpaired(None, scanner.unpaired);
    match value {
        Json::Object(object) => Ok(object),
        other => Err(format!("`{key}` is {} instead of an object", other.kind())),
    }
}

/// Whether an event only reports the progress of a hosted tool, whose item is complete at its end.
fn is_progress(kind: &str) -> bool {
    let family = kind.strip_prefix("response.").unwrap_or_default();
    let family = family.split('.').next().unwrap_or_default();
    family.ends_with("_call")
        || family.contains("_call_")
        || matches!(family, "mcp_list_tools" | "compaction")
}
