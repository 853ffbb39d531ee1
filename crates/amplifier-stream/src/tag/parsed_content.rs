//! The pair that a call of `parse` returns: the calls found and the rest of the text.

use super::call::ParsedCall;
use super::tool_call::ToolCallParser;
use super::tool_call_event::ToolCallEvent;

/// One half of the result of [`ToolCallParser::parse`].
#[derive(Debug, Clone, PartialEq)]
pub enum ParsedContent {
    /// The calls that ended.
    ToolCall(Vec<ParsedCall>),
    /// A call that began and has not ended.
    ToolCallStart,
    /// Text that belongs to no call.
    Regular(String),
}

impl ParsedContent {
    /// The text; of several calls, one after the other on lines of their own.
    #[must_use]
    pub fn content(&self) -> String {
        match self {
            Self::ToolCall(calls) => {
                let raw: Vec<&str> = calls.iter().map(|call| call.raw.as_str()).collect();
                raw.join("\n")
            }
            Self::ToolCallStart => String::new(),
            Self::Regular(text) => text.clone(),
        }
    }
}

impl ToolCallParser {
    /// Takes a piece of the text and returns its calls and its regular text.
    ///
    /// Which came first is lost here: [`Self::feed`] keeps it.
    pub fn parse(&mut self, text: &str) -> (Option<ParsedContent>, Option<ParsedContent>) {
        let mut calls = Vec::new();
        let mut has_begun = false;
        let mut regular = String::new();
        for event in self.feed(text) {
            match event {
                ToolCallEvent::Regular(text) => regular.push_str(&text),
                ToolCallEvent::Start { .. } => has_begun = true,
                ToolCallEvent::Content { .. } | ToolCallEvent::Name { .. } => {}
                ToolCallEvent::End(call) => calls.push(*call),
            }
        }
        let call = if calls.is_empty() {
            has_begun.then_some(ParsedContent::ToolCallStart)
        } else {
            Some(ParsedContent::ToolCall(calls))
        };
        let regular = (!regular.is_empty()).then_some(ParsedContent::Regular(regular));
        (call, regular)
    }
}
