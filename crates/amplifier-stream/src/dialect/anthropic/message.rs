//! What the wire says about the message as a whole.

use amplifier_core::Json;

use super::wire::Message;
use super::{Decoder, Phase};
use crate::json::Scanner;
use crate::stream_event::StreamEvent;

impl Decoder {
    pub(super) fn begin_message(
        &mut self,
        message: Message<'_>,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), String> {
        match self.phase {
            Phase::Expected => {}
            Phase::Open if self.id == message.id => {
                let text = "`message_start` came twice for one message and was ignored";
                self.find("repeated_message_start", None, text, None);
                return Ok(());
            }
            // A proxy lost its upstream and sent a second, whole answer after the part of the first.
            Phase::Open => {
                self.blocks.clear();
                self.metadata.clear();
                self.stop_reason = None;
                self.stop_sequence = None;
                self.usage = None;
                let id = self.id.as_deref().unwrap_or_default();
                let text = format!("message `{id}` was dropped when another began in its stream");
                self.find("restarted_message", None, &text, None);
            }
            Phase::Stopped => {
                let text = "a second message in one stream was appended to the first";
                self.find("second_message", None, text, None);
            }
        }
        self.find_unpaired(None, message.unpaired);
        self.moved.clear();
        self.phase = Phase::Open;
        self.id = message.id;
        self.model = message.model.or(self.model.take());
        self.stop_reason = message.stop_reason;
        self.stop_sequence = message.stop_sequence;
        self.merge_usage(message.usage);
        self.metadata.extend(message.extra);
        for (index, block) in (0..).zip(message.content) {
            let index = self.begin_block(index, block, events)?;
            self.close_block(index, events);
        }
        // What was pre-filled is complete: the wire counts its own blocks from zero again.
        self.moved.clear();
        Ok(())
    }

    pub(super) fn take_message_delta(&mut self, data: &str) -> Result<(), String> {
        let mut scanner = Scanner::new(data);
        let document = scanner.document().map_err(|error| error.to_string())?;
        self.find_unpaired(None, scanner.unpaired);
        let Json::Object(event) = document else {
            return Ok(());
        };
        for (key, value) in event {
            match (key.as_str(), value) {
                ("type", _) | (_, Json::Null) => {}
                ("usage", usage) => self.merge_usage(Some(usage)),
                ("delta", Json::Object(delta)) => {
                    for (key, value) in delta {
                        match (key.as_str(), value) {
                            (_, Json::Null) => {}
                            ("stop_reason", Json::Str(reason)) => self.stop_reason = Some(reason),
                            ("stop_sequence", Json::Str(text)) => self.stop_sequence = Some(text),
                            (_, value) => {
                                self.metadata.insert(key, value);
                            }
                        }
                    }
                }
                (_, value) => {
                    self.metadata.insert(key, value);
                }
            }
        }
        Ok(())
    }

    /// Counts are totals: a field that is given replaces the one before.
    fn merge_usage(&mut self, usage: Option<Json>) {
        let Some(Json::Object(usage)) = usage else {
            return;
        };
        let given = usage.into_iter().filter(|(_, value)| !value.is_null());
        match &mut self.usage {
            Some(total) => total.extend(given),
            None => self.usage = Some(given.collect()),
        }
    }
}
