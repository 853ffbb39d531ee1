//! The decisions of a processed answer: what begins, goes on and ends with each chunk.

use std::collections::BTreeMap;

use amplifier_core::{Json, Object};

use super::chunk::{ChunkCall, ChunkType, StreamChunk};
use super::event::AgentEvent;
use super::native::NativeCall;
use super::result::ProcessedStream;
use crate::{CallError, ParsedCall, ToolCallEvent, ToolCallParser};

const DEFAULT_ROLE: &str = "assistant";

/// Turns the chunks of one answer into events.
///
/// Thinking ends when anything else begins, a call with its closing tag or, a native one, with its
/// block, and the message with the answer. Whatever begins, ends, in the order thinking, calls,
/// message, also where the answer breaks off.
#[derive(Debug)]
pub struct StreamProcessor {
    /// What finds calls in the message, if anything shall.
    parser: Option<ToolCallParser>,
    answer: ProcessedStream,
    is_thinking: bool,
    has_message: bool,
    /// Native calls that have not ended, by the number that their chunks bear.
    natives: BTreeMap<u64, NativeCall>,
    /// The number of the call in tags among all calls.
    tagged: u64,
    /// The place of each number in the order of beginnings.
    numbers: BTreeMap<u64, usize>,
    is_over: bool,
}

impl StreamProcessor {
    /// A processor that finds calls in the message with this parser, or none without one.
    #[must_use]
    pub fn new(parser: impl Into<Option<ToolCallParser>>) -> Self {
        Self {
            parser: parser.into(),
            answer: ProcessedStream::default(),
            is_thinking: false,
            has_message: false,
            natives: BTreeMap::new(),
            tagged: 0,
            numbers: BTreeMap::new(),
            is_over: false,
        }
    }

    /// Whether the answer has come to its end, so that nothing counts any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Takes a chunk and gives what it brings.
    pub fn feed(&mut self, chunk: &StreamChunk) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        if self.is_over {
            return events;
        }
        if self.answer.role.is_empty()
            && let Some(role) = &chunk.role
        {
            self.answer.role.clone_from(role);
        }
        if chunk.usage.is_some() {
            self.answer.usage.clone_from(&chunk.usage);
        }
        match (chunk.kind, &chunk.call) {
            (ChunkType::Thinking, _) => self.think(&chunk.content, &mut events),
            (ChunkType::ToolCall, Some(call)) => self.call(call, &chunk.content, &mut events),
            (ChunkType::ToolCall, None) => {
                self.call(&ChunkCall::default(), &chunk.content, &mut events);
            }
            (ChunkType::Message, _) => {
                let parsed = match &mut self.parser {
                    Some(parser) => parser.feed(&chunk.content),
                    None if chunk.content.is_empty() => Vec::new(),
                    None => vec![ToolCallEvent::Regular(chunk.content.clone())],
                };
                self.message(parsed, &mut events);
            }
        }
        if let Some(error) = &chunk.error {
            self.fail(error, &mut events);
        } else if chunk.finished {
            self.close(None, &mut events);
        }
        events
    }

    /// Ends an answer whose chunks ended without a last one.
    pub fn finish(&mut self) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        if !self.is_over {
            self.answer.truncated = true;
            self.close(Some("the answer ended before its last chunk"), &mut events);
        }
        events
    }

    /// Ends an answer whose source failed.
    pub fn raise(&mut self, error: &str) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        if !self.is_over {
            self.fail(error, &mut events);
        }
        events
    }

    /// Ends an answer that nobody waits for any more; that is no error.
    pub fn cancel(&mut self) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        if !self.is_over {
            self.answer.cancelled = true;
            self.answer.truncated = true;
            self.close(Some("the answer was given up"), &mut events);
        }
        events
    }

    /// What the answer amounts to; one that has not ended counts as given up.
    #[must_use]
    pub fn into_result(mut self) -> ProcessedStream {
        self.cancel();
        self.answer
    }

    fn fail(&mut self, error: &str, events: &mut Vec<AgentEvent>) {
        self.answer.truncated = true;
        self.answer.error = Some(error.to_owned());
        self.close(Some("the answer failed"), events);
        events.push(AgentEvent::Error(error.to_owned()));
    }

    /// Gives up what is held back, and ends whatever began.
    fn close(&mut self, refusal: Option<&str>, events: &mut Vec<AgentEvent>) {
        self.is_over = true;
        let held = self
            .parser
            .as_mut()
            .map(ToolCallParser::flush)
            .unwrap_or_default();
        // Thinking ends before anything else, also where nothing was held back.
        self.end_thinking(events);
        self.message(held, events);
        let mut natives: Vec<_> = std::mem::take(&mut self.natives).into_values().collect();
        natives.sort_by_key(|native| self.numbers.get(&native.index));
        for native in natives {
            let mut call = native.end(None);
            if refusal.is_some() {
                call.refuse(CallError::Refused("the call never ended".to_owned()));
            }
            self.end_call(call, events);
        }
        if std::mem::take(&mut self.has_message) {
            events.push(AgentEvent::MessageEnd);
        }
        if self.answer.role.is_empty() {
            DEFAULT_ROLE.clone_into(&mut self.answer.role);
        }
        self.answer
            .calls
            .sort_by_key(|call| self.numbers.get(&call.index));
        if let Some(reason) = refusal {
            for call in &mut self.answer.calls {
                call.refuse(CallError::Refused(reason.to_owned()));
            }
        }
        let runnable = self
            .answer
            .calls
            .iter()
            .filter(|call| call.arguments.is_some());
        let written: Vec<String> = runnable.map(as_written).collect();
        self.answer.tool_call_content = written.join("\n");
    }

    fn think(&mut self, text: &str, events: &mut Vec<AgentEvent>) {
        if text.is_empty() {
            return;
        }
        if !std::mem::replace(&mut self.is_thinking, true) {
            events.push(AgentEvent::ThinkingStart);
        }
        self.answer.thinking_content.push_str(text);
        events.push(AgentEvent::ThinkingContent(text.to_owned()));
    }

    fn end_thinking(&mut self, events: &mut Vec<AgentEvent>) {
        if std::mem::take(&mut self.is_thinking) {
            events.push(AgentEvent::ThinkingEnd);
        }
    }

    fn message(&mut self, parsed: Vec<ToolCallEvent>, events: &mut Vec<AgentEvent>) {
        for event in parsed {
            self.end_thinking(events);
            let index = self.tagged;
            match event {
                ToolCallEvent::Regular(text) => {
                    if !std::mem::replace(&mut self.has_message, true) {
                        events.push(AgentEvent::MessageStart);
                    }
                    self.answer.assistant_content.push_str(&text);
                    events.push(AgentEvent::MessageContent(text));
                }
                ToolCallEvent::Start { index, .. } => {
                    let index = self.number(index);
                    self.tagged = index;
                    let (id, name) = (None, None);
                    events.push(AgentEvent::ToolCallStart { index, id, name });
                }
                ToolCallEvent::Content { text, .. } => {
                    let (content, name) = (text, None);
                    events.push(AgentEvent::ToolCallContent {
                        index,
                        content,
                        name,
                    });
                }
                ToolCallEvent::Name { name, .. } => {
                    let (content, name) = (String::new(), Some(name));
                    events.push(AgentEvent::ToolCallContent {
                        index,
                        content,
                        name,
                    });
                }
                ToolCallEvent::End(mut call) => {
                    call.index = index;
                    for finding in &mut call.findings {
                        finding.block_index = Some(index);
                    }
                    self.end_call(*call, events);
                }
            }
        }
    }

    fn call(&mut self, call: &ChunkCall, content: &str, events: &mut Vec<AgentEvent>) {
        self.end_thinking(events);
        let native = if let Some(native) = self.natives.get_mut(&call.index) {
            native
        } else {
            let native = NativeCall::new(self.number(call.index), call);
            events.push(native.start());
            self.natives.entry(call.index).or_insert(native)
        };
        events.extend(native.add(call, content));
        if let Some(whole) = &call.block
            && let Some(native) = self.natives.remove(&call.index)
        {
            self.end_call(native.end(Some(whole)), events);
        }
    }

    fn end_call(&mut self, call: ParsedCall, events: &mut Vec<AgentEvent>) {
        self.answer.calls.push(call.clone());
        events.push(AgentEvent::ToolCallEnd(Box::new(call)));
    }

    /// A number for a call: the one it has, or else one after all others.
    fn number(&mut self, wanted: u64) -> u64 {
        let index = match self.numbers.last_key_value() {
            Some((&last, _)) if self.numbers.contains_key(&wanted) => last
                .checked_add(1)
                .or_else(|| (0..last).find(|index| !self.numbers.contains_key(index)))
                .unwrap_or(wanted),
            _ => wanted,
        };
        let place = self.numbers.len();
        self.numbers.insert(index, place);
        index
    }
}

/// A call as the text that an agent reads.
fn as_written(call: &ParsedCall) -> String {
    if !call.is_native {
        return call.raw.clone();
    }
    let mut fields = Object::with_capacity(3);
    fields.insert("server_name".to_owned(), call.server_name.as_str().into());
    fields.insert("tool_name".to_owned(), call.name.as_str().into());
    let arguments = call.arguments.clone().unwrap_or_default();
    fields.insert("arguments".to_owned(), Json::Object(arguments));
    Json::Object(fields).to_string()
}
