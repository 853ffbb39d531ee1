//! Anthropic Messages: the events of one message, folded into blocks.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use amplifier_core::{Json, Object};

use crate::block::Block;
use crate::error::ProviderError;
use crate::framing::SseEvent;
use crate::json::Scanner;
use crate::stream_event::{Change, StreamEvent};
use crate::stream_result::{Finding, StreamResult};

mod end;
mod error;
mod message;
mod open_block;
mod wire;

pub(crate) use error::decode_error;
use open_block::OpenBlock;
use wire::{Delta, Envelope, Message};

/// Folds the events of one response.
#[derive(Debug)]
pub(crate) struct Decoder {
    status: u16,
    phase: Phase,
    id: Option<String>,
    model: Option<String>,
    stop_reason: Option<String>,
    stop_sequence: Option<String>,
    usage: Option<Object>,
    metadata: Object,
    request_id: Option<String>,
    blocks: BTreeMap<u64, Slot>,
    /// Where blocks went whose index on the wire was taken.
    moved: BTreeMap<u64, u64>,
    error: Option<ProviderError>,
    findings: Vec<Finding>,
}

/// Where the message is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Expected,
    Open,
    Stopped,
}

#[derive(Debug)]
enum Slot {
    Open(Box<OpenBlock>),
    Ended(Arc<Block>),
}

impl Decoder {
    pub(crate) fn new(status: u16) -> Self {
        Self {
            status,
            phase: Phase::Expected,
            id: None,
            model: None,
            stop_reason: None,
            stop_sequence: None,
            usage: None,
            metadata: Object::new(),
            request_id: None,
            blocks: BTreeMap::new(),
            moved: BTreeMap::new(),
            error: None,
            findings: Vec::new(),
        }
    }

    /// Marks the stream as failed; the first failure is the one that is told.
    pub(crate) fn fail(&mut self, error: ProviderError) {
        self.error.get_or_insert(error);
    }

    /// Takes one framed event and appends what it means.
    pub(crate) fn accept(&mut self, frame: &SseEvent<'_>, events: &mut Vec<StreamEvent>) {
        if frame.is_lossy {
            self.find(
                "invalid_utf8",
                None,
                "bytes that are no UTF-8 became U+FFFD",
                None,
            );
        }
        let envelope = match Envelope::read(&frame.data) {
            Ok(envelope) => envelope,
            Err(error) => return self.take_unreadable(frame, &error.to_string()),
        };
        let kind = envelope.kind.clone().unwrap_or(Cow::Borrowed(&frame.event));
        if let Err(problem) = self.take(&kind, &envelope, &frame.data, events) {
            self.fail_stream(&problem);
        }
    }

    fn take(
        &mut self,
        kind: &str,
        envelope: &Envelope<'_>,
        data: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), String> {
        let index = || {
            envelope
                .index
                .ok_or_else(|| format!("`{kind}` without an `index`"))
        };
        match kind {
            "ping" => Ok(()),
            "error" => {
                self.take_error(data);
                Ok(())
            }
            "message_start" => {
                let message = envelope
                    .message
                    .ok_or("`message_start` without a `message`")?;
                self.begin_message(Message::read(message).map_err(|e| e.to_string())?, events)
            }
            _ if self.phase == Phase::Stopped => {
                let message = format!("`{kind}` after `message_stop` was ignored");
                self.find("event_after_end", None, &message, Some(data));
                Ok(())
            }
            "content_block_delta" => {
                let delta = envelope
                    .delta
                    .ok_or("`content_block_delta` without a `delta`")?;
                self.extend_block(index()?, delta, events)
            }
            "content_block_start" => {
                let block = envelope.content_block;
                let block = block.ok_or("`content_block_start` without a `content_block`")?;
                self.begin_block(index()?, block, events).map(|_| ())
            }
            "content_block_stop" => {
                self.end_block(index()?, events);
                Ok(())
            }
            "message_delta" => self.take_message_delta(data),
            "message_stop" => {
                self.phase = Phase::Stopped;
                Ok(())
            }
            _ => {
                let message = format!("event of unknown type `{kind}` was ignored");
                self.find("unknown_event", None, &message, Some(data));
                Ok(())
            }
        }
    }

    /// Opens a block and says at which index it really is.
    fn begin_block(
        &mut self,
        index: u64,
        raw: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<u64, String> {
        let (block, unpaired) = OpenBlock::read(raw).map_err(|error| error.to_string())?;
        if self.phase == Phase::Expected {
            self.phase = Phase::Open;
            self.find(
                "missing_message_start",
                None,
                "a block came before `message_start`",
                None,
            );
        }
        let mut place = index;
        if self.blocks.contains_key(&index) {
            place = self
                .blocks
                .keys()
                .next_back()
                .map_or(0, |last| last.saturating_add(1));
            self.moved.insert(index, place);
            let message = format!("a second block with index {index} was put at index {place}");
            self.find("repeated_index", Some(place), &message, None);
        }
        self.find_unpaired(Some(place), unpaired);
        if let Some(model) = block.fallback_model() {
            self.model = Some(model.to_owned());
        }
        let block_type = block.block_type();
        events.push(StreamEvent {
            block_type: block_type.clone(),
            block_index: place,
            change: Change::Start(block.metadata()),
        });
        if let Some(text) = block.first_text() {
            let change = Change::Delta(text.to_owned());
            events.push(StreamEvent {
                block_type: block_type.clone(),
                block_index: place,
                change,
            });
        }
        self.blocks.insert(place, Slot::Open(Box::new(block)));
        Ok(place)
    }

    fn extend_block(
        &mut self,
        index: u64,
        raw: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), String> {
        let delta = Delta::read(raw).map_err(|error| error.to_string())?;
        let block_index = self.moved.get(&index).copied().unwrap_or(index);
        let block = match self.blocks.get_mut(&block_index) {
            Some(Slot::Open(block)) => block,
            Some(Slot::Ended(_)) => return Err(format!("a delta for block {index} after its end")),
            None => return Err(format!("a delta for block {index}, which never began")),
        };
        let block_type = block.block_type().clone();
        let folded = block.fold(delta, raw)?;
        if let Some(change) = folded.change {
            events.push(StreamEvent {
                block_type,
                block_index,
                change,
            });
        }
        self.find_unpaired(Some(block_index), folded.unpaired);
        if let Some((kind, message)) = folded.finding {
            self.find(kind, Some(block_index), &message, Some(raw));
        }
        Ok(())
    }

    fn end_block(&mut self, index: u64, events: &mut Vec<StreamEvent>) {
        let place = self.moved.get(&index).copied().unwrap_or(index);
        if let Some(Slot::Open(_)) = self.blocks.get(&place) {
            self.close_block(place, events);
        } else {
            let message = format!("an end of block {index}, which is not open, was ignored");
            self.find("unexpected_block_stop", Some(place), &message, None);
        }
    }

    fn close_block(&mut self, block_index: u64, events: &mut Vec<StreamEvent>) {
        let Some(Slot::Open(block)) = self.blocks.get_mut(&block_index) else {
            return;
        };
        let block_type = block.block_type().clone();
        let sealed = mem::take(block.as_mut()).seal();
        for change in sealed.changes {
            let block_type = block_type.clone();
            events.push(StreamEvent {
                block_type,
                block_index,
                change,
            });
        }
        let block = Arc::new(sealed.block);
        let change = Change::End(Arc::clone(&block));
        events.push(StreamEvent {
            block_type,
            block_index,
            change,
        });
        self.blocks.insert(block_index, Slot::Ended(block));
        self.find_unpaired(Some(block_index), sealed.unpaired);
        if let Some((message, raw)) = sealed.finding {
            let (kind, raw) = ("invalid_input", Some(Json::Str(raw)));
            self.findings.push(Finding {
                kind,
                block_index: Some(block_index),
                message,
                raw,
            });
        }
    }

    fn take_error(&mut self, data: &str) {
        let error = error::in_stream(self.status, data);
        self.request_id = self.request_id.take().or_else(|| error.request_id.clone());
        self.fail(error);
    }

    /// Judges an event whose data is no JSON object: what it said is lost, which matters unless it
    /// could not have been part of the answer.
    fn take_unreadable(&mut self, frame: &SseEvent<'_>, problem: &str) {
        let name = frame.event.as_ref();
        match name {
            "ping" => {}
            "error" => self.take_error(&frame.data),
            "message"
            | "message_start"
            | "message_delta"
            | "message_stop"
            | "content_block_start"
            | "content_block_delta"
            | "content_block_stop"
                if self.phase != Phase::Stopped =>
            {
                self.fail_stream(&format!("the data of `{name}` is not JSON: {problem}"));
            }
            _ => {
                let message = format!("event `{name}` without JSON was ignored: {problem}");
                let raw = Some(Json::Str(frame.data.clone().into_owned()));
                self.findings.push(Finding {
                    kind: "unreadable_event",
                    block_index: None,
                    message,
                    raw,
                });
            }
        }
    }

    fn fail_stream(&mut self, problem: &str) {
        self.fail(ProviderError {
            kind: "invalid_stream".to_owned(),
            status: self.status,
            message: problem.to_owned(),
            retryable: true,
            ..ProviderError::default()
        });
    }

    fn find(&mut self, kind: &'static str, index: Option<u64>, message: &str, raw: Option<&str>) {
        let raw = raw.map(|raw| {
            Scanner::new(raw)
                .document()
                .unwrap_or_else(|_| Json::Str(raw.to_owned()))
        });
        let message = message.to_owned();
        self.findings.push(Finding {
            kind,
            block_index: index,
            message,
            raw,
        });
    }

    fn find_unpaired(&mut self, block_index: Option<u64>, unpaired: usize) {
        if unpaired > 0 {
            let message = format!("{unpaired} unpaired surrogate halves became U+FFFD");
            self.find("unpaired_surrogate", block_index, &message, None);
        }
    }

    /// Ends the stream.
    pub(crate) fn finish(self) -> StreamResult {
        end::finish(self)
    }
}
