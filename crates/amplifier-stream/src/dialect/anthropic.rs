//! Anthropic Messages: the events of one message, folded into blocks.

use std::borrow::Cow;

use crate::answer::Answer;
use crate::dialect::decoder::DialectDecoder;
use crate::framing::SseEvent;
use crate::stream_result::StreamResult;

mod block;
mod end;
mod message;
mod state;
mod wire;

pub(crate) use state::Decoder;

use state::Phase;
use wire::{Envelope, Message};

impl DialectDecoder for Decoder {
    fn accept(&mut self, frame: &SseEvent<'_>, answer: &mut Answer) {
        let mut envelope = match Envelope::read(&frame.data) {
            Ok(envelope) => envelope,
            Err(error) => return self.take_unreadable(frame, &error.to_string(), answer),
        };
        let kind = match &envelope.kind {
            Some(kind) => kind.clone(),
            // Gateways report errors in the form of a body.
            None if envelope.has_error => Cow::Borrowed("error"),
            None => Cow::Borrowed(frame.event.as_ref()),
        };
        if let Err(problem) = self.take(&kind, &mut envelope, &frame.data, answer) {
            answer.fail_stream(&problem);
        }
    }

    fn accept_whole(&mut self, data: &str, answer: &mut Answer) -> bool {
        let is_message =
            Envelope::read(data).is_ok_and(|envelope| envelope.kind.as_deref() == Some("message"));
        if !is_message {
            return false;
        }
        let begun = Message::read(data).map_err(|error| error.to_string());
        match begun.and_then(|message| self.begin_message(message, answer)) {
            Ok(()) => self.phase = Phase::Stopped,
            Err(problem) => answer.fail_stream(&problem),
        }
        true
    }

    fn finish(self: Box<Self>, answer: Answer) -> StreamResult {
        let is_stopped = self.phase == Phase::Stopped;
        end::finish(answer.finish((!is_stopped).then_some("`message_stop`")))
    }
}

impl Decoder {
    fn take(
        &mut self,
        kind: &str,
        envelope: &mut Envelope<'_>,
        data: &str,
        answer: &mut Answer,
    ) -> Result<(), String> {
        let index = envelope.index;
        let index = || index.ok_or_else(|| format!("`{kind}` without an `index`"));
        match kind {
            "ping" => Ok(()),
            "error" => {
                answer.fail_reported(data);
                Ok(())
            }
            "message_start" => {
                let message = envelope
                    .message
                    .ok_or("`message_start` without a `message`")?;
                self.begin_message(Message::read(message).map_err(|e| e.to_string())?, answer)
            }
            _ if self.phase == Phase::Stopped => {
                let message = format!("`{kind}` after `message_stop` was ignored");
                answer.find("event_after_end", None, &message, Some(data));
                Ok(())
            }
            "content_block_delta" => {
                let delta = envelope
                    .delta
                    .take()
                    .ok_or("`content_block_delta` without a `delta`")?;
                let place = self.place(index()?);
                if answer.may_have_dropped(place) {
                    return Ok(());
                }
                block::fold(place, delta, answer)
            }
            "content_block_start" => {
                let block = envelope.content_block;
                let block = block.ok_or("`content_block_start` without a `content_block`")?;
                self.begin_block(index()?, block, answer).map(|_| ())
            }
            "content_block_stop" => {
                let index = index()?;
                let place = self.place(index);
                if !answer.end(place) && !answer.may_have_dropped(place) {
                    let message =
                        format!("an end of block {index}, which is not open, was ignored");
                    answer.find("unexpected_block_stop", Some(place), &message, None);
                }
                Ok(())
            }
            "message_delta" => message::take_delta(data, answer),
            "message_stop" => {
                self.phase = Phase::Stopped;
                Ok(())
            }
            _ => {
                let message = format!("event of unknown type `{kind}` was ignored");
                answer.find("unknown_event", None, &message, Some(data));
                Ok(())
            }
        }
    }

    /// Judges an event whose data is no JSON object: what it said is lost, which matters unless it
    /// could not have been part of the answer.
    fn take_unreadable(&mut self, frame: &SseEvent<'_>, problem: &str, answer: &mut Answer) {
        let name = frame.event.as_ref();
        match name {
            "ping" => {}
            "error" => answer.fail_reported(&frame.data),
            "message"
            | "message_start"
            | "message_delta"
            | "message_stop"
            | "content_block_start"
            | "content_block_delta"
            | "content_block_stop"
                if self.phase != Phase::Stopped =>
            {
                answer.fail_stream(&format!("the data of `{name}` is not JSON: {problem}"));
            }
            _ => {
                let message = format!("event `{name}` without JSON was ignored: {problem}");
                answer.find("unreadable_event", None, &message, Some(&frame.data));
            }
        }
    }
}
