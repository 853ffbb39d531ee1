//! What the wire says about the message as a whole.

use amplifier_core::Json;

use super::state::{Decoder, Phase};
use super::wire::Message;
use crate::answer::Answer;
use crate::json::Scanner;
use crate::stream_result::StreamResult;

impl Decoder {
    pub(super) fn begin_message(
        &mut self,
        message: Message<'_>,
        answer: &mut Answer,
    ) -> Result<(), String> {
        match self.phase {
            Phase::Expected => {}
            Phase::Open if answer.result.id == message.id => {
                // Its blocks tell whether they follow or come again.
                self.is_start_repeated = true;
                let text = "`message_start` came twice for one message and was ignored";
                answer.find("repeated_message_start", None, text, None);
                return Ok(());
            }
            // A proxy lost its upstream and sent a second, whole answer after the part of the first.
            Phase::Open => {
                answer.restart();
                let dropped = match &answer.result.id {
                    Some(id) => format!("message `{id}`"),
                    None => "a message without an id".to_owned(),
                };
                let text = format!("{dropped} was dropped when another began in its stream");
                answer.find("restarted_message", None, &text, None);
            }
            Phase::Stopped => {
                let text = "a second message in one stream was appended to the first";
                answer.find("second_message", None, text, None);
            }
        }
        answer.find_unpaired(None, message.unpaired);
        self.moved.clear();
        self.is_start_repeated = false;
        self.phase = Phase::Open;
        let result = &mut answer.result;
        result.id = message.id;
        result.model = message.model.or(result.model.take());
        result.raw_stop_reason = message.stop_reason;
        result.stop_sequence = message.stop_sequence;
        merge_usage(result, message.usage);
        result.metadata.extend(message.extra);
        for (index, block) in (0..).zip(message.content) {
            let index = self.begin_block(index, block, answer)?;
            answer.end(index);
        }
        // What was pre-filled is complete: the wire counts its own blocks from zero again.
        self.moved.clear();
        Ok(())
    }
}

/// Takes a `message_delta`: what is given replaces what was said before.
pub(super) fn take_delta(data: &str, answer: &mut Answer) -> Result<(), String> {
    let mut scanner = Scanner::new(data);
    let document = scanner.document().map_err(|error| error.to_string())?;
    answer.find_unpaired(None, scanner.unpaired);
    let result = &mut answer.result;
    let Json::Object(event) = document else {
        return Ok(());
    };
    for (key, value) in event {
        match (key.as_str(), value) {
            ("type", _) | (_, Json::Null) => {}
            ("usage", usage) => merge_usage(result, Some(usage)),
            ("delta", Json::Object(delta)) => {
                for (key, value) in delta {
                    match (key.as_str(), value) {
                        (_, Json::Null) => {}
                        ("stop_reason", Json::Str(reason)) => result.raw_stop_reason = Some(reason),
                        ("stop_sequence", Json::Str(text)) => result.stop_sequence = Some(text),
                        (_, value) => {
                            result.metadata.insert(key, value);
                        }
                    }
                }
            }
            (_, value) => {
                result.metadata.insert(key, value);
            }
        }
    }
    Ok(())
}

/// Counts are totals: a field that is given replaces the one before. The opening tells only the
/// first token of the answer, so that a later `null` means that its length is not known.
fn merge_usage(result: &mut StreamResult, usage: Option<Json>) {
    let Some(Json::Object(usage)) = usage else {
        return;
    };
    let given = usage
        .into_iter()
        .filter(|(key, value)| key == "output_tokens" || !value.is_null());
    match &mut result.raw_usage {
        Some(total) => total.extend(given),
        None => result.raw_usage = Some(given.collect()),
    }
}
