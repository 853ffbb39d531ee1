//! The decisions of a processed answer: what begins, continues and ends with each chunk.

use std::sync::Arc;

use amplifier_core::{Json, Object};

use super::answer_text::AnswerText;
use super::calls::Calls;
use super::chunk::{ChunkCall, ChunkType, StreamChunk};
use super::event::AgentEvent;
use super::result::ProcessedStream;
use crate::{ParsedCall, ToolCall, ToolCallEvent, ToolCallParser};

mod restart;

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
    /// The thinking, and the message with its tags.
    thinking: AnswerText,
    message: AnswerText,
    calls: Calls,
    /// The number of the call in tags among all calls; `None` for one that is left out.
    tagged: Option<u64>,
    judged_calls: Vec<Arc<ToolCall>>,
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
            thinking: AnswerText::default(),
            message: AnswerText::default(),
            calls: Calls::default(),
            tagged: None,
            judged_calls: Vec::new(),
            is_over: false,
        }
    }

    /// Lets so many calls of the answer run, in the place of [`MAX_CALLS`](crate::MAX_CALLS).
    ///
    /// Further ones are refused. Far more than that are not reported either.
    #[must_use]
    pub fn with_max_calls(mut self, max_calls: usize) -> Self {
        self.calls = Calls::new(max_calls);
        self
    }

    /// Whether the answer ended; later chunks are ignored.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Takes a chunk and returns its events.
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
        self.judged_calls.clone_from(&chunk.judged_calls);
        match (chunk.kind, &chunk.call) {
            (ChunkType::Thinking | ChunkType::Message, _) if chunk.dropped => {
                self.drop_text(chunk.kind, chunk.block_index, &mut events);
            }
            (ChunkType::Thinking, _) => {
                self.think(&chunk.content, &mut events);
                self.thinking.add(chunk.block_index, &chunk.content);
            }
            (ChunkType::ToolCall, call) => {
                self.end_thinking(&mut events);
                let first = ChunkCall::default();
                let call = call.as_ref().unwrap_or(&first);
                if chunk.dropped {
                    self.calls.drop_native(call.index, &mut events);
                } else {
                    self.calls.take(call, &chunk.content, &mut events);
                }
            }
            (ChunkType::Message, _) => {
                self.message.add(chunk.block_index, &chunk.content);
                self.parse(&chunk.content, &mut events);
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

    /// Cancels the answer, which is not an error.
    pub fn cancel(&mut self) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        if !self.is_over {
            self.answer.cancelled = true;
            self.answer.truncated = true;
            self.close(Some("the answer was cancelled"), &mut events);
        }
        events
    }

    /// The result; an answer that has not ended counts as cancelled.
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

    /// Releases held text, repeats what is out of date, and ends everything that began.
    fn close(&mut self, refusal: Option<&str>, events: &mut Vec<AgentEvent>) {
        self.is_over = true;
        // Thinking ends before anything else, also where nothing was held back.
        self.end_thinking(events);
        if self.thinking.is_stale() {
            events.push(AgentEvent::Restart(ChunkType::Thinking));
            self.think(&self.thinking.text(), events);
            self.end_thinking(events);
        }
        if self.message.is_stale() {
            self.restart_message(events);
            self.tell_message(events);
        } else {
            let held = self.parser.as_mut().map(ToolCallParser::flush);
            self.tell(held.unwrap_or_default(), events);
        }
        let calls = self.calls.finish(&self.judged_calls, refusal, events);
        if std::mem::take(&mut self.has_message) {
            events.push(AgentEvent::MessageEnd);
        }
        if self.answer.role.is_empty() {
            DEFAULT_ROLE.clone_into(&mut self.answer.role);
        }
        let runnable = calls.iter().filter(|call| call.arguments.is_some());
        let written: Vec<String> = runnable.map(as_written).collect();
        self.answer.tool_call_content = written.join("\n");
        self.answer.thinking_content = self.thinking.text();
        self.answer.calls = calls;
    }

    fn think(&mut self, text: &str, events: &mut Vec<AgentEvent>) {
        if text.is_empty() {
            return;
        }
        if !std::mem::replace(&mut self.is_thinking, true) {
            events.push(AgentEvent::ThinkingStart);
        }
        events.push(AgentEvent::ThinkingContent(text.to_owned()));
    }

    fn end_thinking(&mut self, events: &mut Vec<AgentEvent>) {
        if std::mem::take(&mut self.is_thinking) {
            events.push(AgentEvent::ThinkingEnd);
        }
    }

    fn parse(&mut self, text: &str, events: &mut Vec<AgentEvent>) {
        let parsed = match &mut self.parser {
            Some(parser) => parser.feed(text),
            None if text.is_empty() => Vec::new(),
            None => vec![ToolCallEvent::Regular(text.to_owned())],
        };
        self.tell(parsed, events);
    }

    fn tell(&mut self, parsed: Vec<ToolCallEvent>, events: &mut Vec<AgentEvent>) {
        for event in parsed {
            self.end_thinking(events);
            match (event, self.tagged) {
                (ToolCallEvent::Regular(text), _) => {
                    if !std::mem::replace(&mut self.has_message, true) {
                        events.push(AgentEvent::MessageStart);
                    }
                    self.answer.assistant_content.push_str(&text);
                    events.push(AgentEvent::MessageContent(text));
                }
                (ToolCallEvent::Start { index, .. }, _) => {
                    self.tagged = self.calls.number(index);
                    if let Some(index) = self.tagged {
                        let (id, name) = (None, None);
                        events.push(AgentEvent::ToolCallStart { index, id, name });
                    }
                }
                (ToolCallEvent::Content { text, .. }, Some(index)) => {
                    let (content, name) = (text, None);
                    events.push(AgentEvent::ToolCallContent {
                        index,
                        content,
                        name,
                    });
                }
                (ToolCallEvent::Name { name, .. }, Some(index)) => {
                    let (content, name) = (String::new(), Some(name));
                    events.push(AgentEvent::ToolCallContent {
                        index,
                        content,
                        name,
                    });
                }
                (ToolCallEvent::End(mut call), Some(index)) => {
                    call.index = index;
                    for finding in &mut call.findings {
                        finding.block_index = Some(index);
                    }
                    self.calls.end(*call, events);
                }
                (_, None) => {}
            }
        }
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
