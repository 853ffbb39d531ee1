//! Native calls, whose arguments arrive in fragments of their own chunks.

use super::chunk::ChunkCall;
use super::event::AgentEvent;
use crate::{CallError, Finding, ParsedCall, ToolCall, parse_arguments};

/// A call that has begun.
#[derive(Debug)]
pub(super) struct NativeCall {
    pub(super) index: u64,
    id: Option<String>,
    name: Option<String>,
    arguments: String,
}

impl NativeCall {
    pub(super) fn new(index: u64, call: &ChunkCall) -> Self {
        Self {
            index,
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: String::new(),
        }
    }

    pub(super) fn start(&self) -> AgentEvent {
        AgentEvent::ToolCallStart {
            index: self.index,
            id: self.id.clone(),
            name: self.name.clone(),
        }
    }

    /// Takes a fragment, and what is known of the call by now; the first id and name stay.
    pub(super) fn add(&mut self, call: &ChunkCall, content: &str) -> Option<AgentEvent> {
        self.id = self.id.take().or_else(|| call.id.clone());
        let name = match self.name {
            Some(_) => None,
            None => call.name.clone(),
        };
        self.name = self.name.take().or_else(|| name.clone());
        self.arguments.push_str(content);
        (!content.is_empty() || name.is_some()).then(|| AgentEvent::ToolCallContent {
            index: self.index,
            content: content.to_owned(),
            name,
        })
    }

    /// Ends the call as its decoder says or, without one, by what its fragments are.
    pub(super) fn end(self, whole: Option<&ToolCall>) -> ParsedCall {
        let mut call = ParsedCall {
            index: self.index,
            id: self.id,
            name: self.name.unwrap_or_default(),
            server_name: "local".to_owned(),
            raw: self.arguments,
            is_native: true,
            ..ParsedCall::default()
        };
        if let Some(whole) = whole {
            call.arguments.clone_from(&whole.arguments);
            call.raw.clone_from(&whole.raw_arguments);
            call.error = whole.error.clone().map(CallError::Refused);
            return call;
        }
        match parse_arguments(&call.raw) {
            Err(error) => call.refuse(CallError::Json(error)),
            Ok(_) if call.name.is_empty() => call.refuse(CallError::Nameless),
            Ok((arguments, unpaired)) => {
                call.arguments = Some(arguments);
                if unpaired > 0 {
                    call.findings.push(Finding {
                        kind: "unpaired_surrogate",
                        block_index: Some(call.index),
                        message: format!(
                            "{unpaired} unpaired halves of surrogate pairs became U+FFFD"
                        ),
                        raw: None,
                    });
                }
            }
        }
        call
    }
}
