//! Native calls, whose arguments arrive in fragments of their own chunks.

use super::chunk::ChunkCall;
use super::event::AgentEvent;
use super::judgement::Identity;
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

    pub(super) fn identity(&self) -> Identity<'_> {
        let name = self.name.as_deref().unwrap_or_default();
        (self.id.as_deref(), name, &self.arguments)
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

    /// Whether a whole call differs from what was reported of this one: in id, name or arguments.
    ///
    /// `content` is the fragment that comes with it.
    pub(super) fn differs_from(&self, whole: &ToolCall, content: &str) -> bool {
        let is_other = |told: &Option<String>, found: Option<&str>| {
            told.as_deref()
                .is_some_and(|told| found.is_some_and(|found| found != told))
        };
        let name = Some(whole.name.as_str()).filter(|name| !name.is_empty());
        if is_other(&self.id, whole.id.as_deref()) || is_other(&self.name, name) {
            return true;
        }
        let told = format!("{}{content}", self.arguments);
        let (told, raw) = (told.trim_ascii(), whole.raw_arguments.trim_ascii());
        let Some(arguments) = &whole.arguments else {
            // It does not run, whatever its arguments are.
            return false;
        };
        !told.is_empty()
            && told != raw
            && parse_arguments(told).map_or(true, |(told, _)| told != *arguments)
    }

    /// Ends the call as its decoder says or, without one, by what its fragments are.
    pub(super) fn end(self, whole: Option<&ToolCall>) -> ParsedCall {
        let mut unpaired = 0;
        let whole = whole.cloned().unwrap_or_else(|| {
            let mut call = ToolCall {
                name: self.name.clone().unwrap_or_default(),
                raw_arguments: self.arguments,
                ..ToolCall::default()
            };
            unpaired = call.judge();
            call
        });
        let finding = (unpaired > 0).then(|| Finding {
            kind: "unpaired_surrogate",
            block_index: Some(self.index),
            message: format!("{unpaired} unpaired surrogate halves became U+FFFD"),
            raw: None,
        });
        ParsedCall {
            index: self.index,
            id: self.id.or(whole.id),
            name: self.name.unwrap_or(whole.name),
            server_name: "local".to_owned(),
            arguments: whole.arguments,
            raw: whole.raw_arguments,
            is_native: true,
            error: whole.error.map(CallError::Refused),
            findings: finding.into_iter().collect(),
            ..ParsedCall::default()
        }
    }
}
